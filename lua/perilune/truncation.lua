--- What a Truncated distribution is made of: construction, tails, quantiles and the mode.
local Distribution = require "perilune.distribution"
local batches      = require "perilune.batches"
local class        = require "perilune.class"
local constraints  = require "perilune.constraints"
local construction = require "perilune.construction"
local core         = require "perilune.core"
local functions    = require "perilune.functions"
local lazy         = require "perilune.lazy"
local levels       = require "perilune.levels"
local show         = require "perilune.show"

local effort     = lazy "effort"
local masses     = lazy "interval_mass"
local one_sided  = lazy "one_sided"
local peaks      = lazy "peaks"
local points     = lazy "points"
local quadrature = lazy "quadrature"
local settling   = lazy "settling"
local slivers    = lazy "slivers"
local tensor     = lazy "tensor"

local any, any_now = batches.any, batches.any_now
local where, maximum, minimum, abs = functions.where, functions.maximum, functions.minimum, functions.abs
local exp, log, log1p              = functions.exp, functions.log, functions.log1p
local lt, le, gt, eq               = functions.lt, functions.le, functions.gt, functions.eq
local INF    = math.huge
local DEEP   = -705    -- masses below e^DEEP have quantiles by logarithms only
local BLURRED = 2 ^ 50 -- logarithms of tails beyond tell no slopes, and those of a Normal will do
local NARROW = 1e-3    -- a difference of tails smaller than this part of them has lost digits,
local LOST   = 1e-12   -- and so many that it does not tell outcomes apart
local MISSED = 1e-3    -- a part of its level that no quantile misses, however rough masses are,
local COARSE = 2 ^ -20 -- but where masses jump for being so rough it is searched for no closer than this part of it

local truncation = {}

-- The tails of the base at x, which is moved to the interval, and at both ends.
local function places (self, x)
  return masses.at(self.base, minimum(maximum(x, self.from), self.last)),
         { x = self.from, below = self.below_first, above = self.above_first },
         { x = self.last, below = self.below_last, above = self.above_last }
end

-- The logarithm of the lower tail, or where `upper` of the upper one, and about how wrong it is, where it is more than
-- rounding; what is far from the goal is so roughly.
local function log_tail (self, x, upper, goal)
  local here, from, to = places(self, x)
  local first, last = {}, {}
  for name in pairs(here) do
    first[name], last[name] = where(upper, here[name], from[name]), where(upper, to[name], here[name])
  end
  local mass, error = masses.log(self.base, first, last, goal + self.log_mass)
  return mass - self.log_mass, error
end

--- log P(X <= x) and log P(X > x); the one that is near 0 comes from the other. And about how wrong the smaller is,
-- where it is more than rounding.
function truncation.log_tails (self, x)
  local base = self.base
  local here, from, to = places(self, x)
  local below, low_error = masses.log(base, from, here)
  local above, high_error = masses.log(base, here, to)
  below, above = below - self.log_mass, above - self.log_mass
  return where(le(above, below), log1p(-exp(above)), below), where(lt(below, above), log1p(-exp(below)), above),
         where(lt(above, below), high_error, low_error)
end


-- Quantiles ----------------------------------------------------------------------

local MANY = 64   -- levels that are worth a selection, or fewer of a dear law

local function few (base) return math.min(MANY, effort.few(base)) end

-- Quantiles x of which those that are `near` an end are at this distance from it, unless that is beyond an end; and
-- whether they are.
local function mended (self, x, near, first, side, last, target)
  if not batches.any_may_be(near) then return x, 0 end
  local found = first + side * slivers.distances(self, first, side, target, near)
  local is_found = near * gt(side * (last - found), 0) * functions.ge(side * (found - first), 0)
  return where(is_found, found, x), is_found
end

local AGREED = 1e-6   -- logarithms of tails that differ by no more, or by no more than this part

-- Which quantiles x of those that are `found` from the density have the levels that they should: all, unless it may
-- have peaks that were not seen.
local function confirmed (self, x, log_p, log_q, found)
  if not (masses.has_peaks(self.base) and batches.any_may_be(found)) then return found end
  effort.count(self.base, x, 4)
  local below, above = truncation.log_tails(self, where(found, x, self.first))
  local goal = minimum(log_p, log_q)
  local off = abs(where(lt(log_q, log_p), above, below) - goal)
  return found * le(off, AGREED * maximum(1, abs(goal)))
end

-- x that is not at an end: there a tail is nothing, or all, which does not tell a search where to go.
local function inside (self, x)
  local above, below = points.after(self.first), points.before(self.last)
  return where(lt(above, below), minimum(maximum(x, above), below), x)
end

-- Quantiles x, searched for by tails of what is left where they are `lost`.
local function searched (self, x, log_p, log_q, lost)
  if not batches.any_may_be(lost) then return x end
  local is_discrete = self.support.is_discrete
  return quadrature.root(function (at, s)
    if is_discrete then at = functions.round(at) end
    effort.count(self.base, at, 4)
    if self.base.component_distribution then effort.spend(0, 0) end   -- masses of slivers, as long as another round
    local goal, reached, error = s.goal, log_tail(self, at, s.upper, s.goal)
    local rounding = 2 ^ -50 * maximum(maximum(1, abs(goal)), 0.25 * abs(goal + self.log_mass))
    local noise = minimum(maximum(rounding, where(functions.isfinite(error), error, 0)), MISSED)
    if not is_discrete then s.grain = where(functions.ge(noise, MISSED), COARSE * abs(at), 0) end
    return where(s.upper, -1, 1) * (reached - goal), nil, noise, self:log_prob(at) - reached
  end, where(lost, self.first, x), where(lost, self.last, x), where(lost, inside(self, x), x),
  { goal = minimum(log_p, log_q), upper = lt(log_q, log_p), grain = is_discrete and 0.25 or nil },
  #self.batch_shape, few(self.base))
end

-- Are levels so close to an end that cuts the base that the mass between is less than this part of its tails there? To
-- the lower end, and to the upper.
local function near_ends (self, log_p, log_q, part)
  local target, other, least = log_p + self.log_mass, log_q + self.log_mass, math.log(part)
  return lt(target, least + minimum(self.below_first, self.above_first)) * gt(target, -INF),
         lt(other, least + minimum(self.below_last, self.above_last)) * gt(other, -INF)
end

-- The logarithm of the lower tail of the base, or where `upper` of the upper one; of those only that are asked for.
local function one_tail (base, x, upper)
  local function asked (method)
    effort.count(base, x)
    return base[method](base, x)
  end
  if not any(upper) then return asked "log_cdf" end
  if not any(1 - upper) then return asked "log_sf" end
  return where(upper, asked "log_sf", asked "log_cdf")
end

-- The quantile of the base whose lower or upper tail has this logarithm, too small for a number, where it is `deep`. It
-- is not searched for beyond all numbers.
local function deep_quantile (self, target, upper, deep)
  local base, least = self.base, math.exp(DEEP)
  local start = where(upper, maximum(self.first, base:isf(least)), minimum(self.last, base:icdf(least)))
  deep = deep * functions.isfinite(start)
  if not any(deep) then return start end
  local off = abs(where(upper, self.above_first, self.below_last) - target)
  start = where(deep * gt(off, 2 ^ -49 * abs(target)), inside(self, start), start)
  local outermost = inside(self, where(upper, self.last, self.first))   -- beyond it there are no numbers to search
  local is_there = deep * functions.ge(one_tail(base, outermost, upper), target)
  start, deep = where(is_there, outermost, start), deep * (1 - is_there)
  if not any(deep) then return start end
  return quadrature.root(function (x, at)
    x = where(at.deep, x, 0 / 0)   -- which costs nothing
    local reached, goal = one_tail(base, x, at.upper), at.goal
    local hazard = where(lt(abs(goal), BLURRED), base:log_prob(x) - reached, log(2 * abs(goal)) - log(abs(x)))
    return where(at.upper, -1, 1) * (reached - goal), nil, 2 ^ -51 * abs(goal), hazard
  end, where(deep, self.from, start), where(deep, self.last, start), start,
  { goal = target, upper = upper, deep = deep, grain = self.support.is_discrete and 0.25 or nil }, #self.batch_shape)
end

-- The quantiles of the base that have these tails, lower ones or where `upper` upper ones: each is asked for once, if
-- the base is a single law.
local function inverted (self, mass, upper)
  local base = self.base
  if not any(upper) then return base:icdf(mass) end
  if not any(1 - upper) then return base:isf(mass) end
  local is_single = core.is_tensor(mass) and core.numel(mass) > MANY and batches.size(self) == 1
  if not is_single or core.tracked(mass) then return where(upper, base:isf(mass), base:icdf(mass)) end
  local n, order = core.numel(mass), upper:expand(core.shape(mass)):reshape(-1):argsort()
  local low = n - math.tointeger(core.item(upper:expand(core.shape(mass)):sum()))
  local sorted = mass:reshape(-1)[order]:reshape(n, table.unpack(self.batch_shape))
  local x = tensor.cat { base:icdf(sorted:narrow(1, 1, low)), base:isf(sorted:narrow(1, low + 1, n - low)) }
  return x:reshape(-1)[order:argsort()]:reshape(core.shape(mass))
end

-- Quantiles x of the base, whose tails have these logarithms, with the slopes along those: of tails themselves they
-- overflow where x is huge, or the tail next to nothing.
local function attached (self, x, target, upper)
  local level = core.bare(target)
  local pace = where(upper, -1, 1) * exp(level - core.bare(self.base:log_prob(core.bare(x))))
  local is_known = functions.isfinite(pace) * functions.isfinite(level)
  return x + where(is_known, pace, 0) * where(is_known, target - level, 0)
end

-- Quantiles of the base whose lower tails, or where `upper` upper ones, have these logarithms.
local function based (self, target, upper)
  local is_smooth = not self.support.is_discrete and #self.points == 0
  if not (is_smooth and core.tracked(target)) then return inverted(self, exp(target), upper) end
  return attached(self, inverted(self, exp(core.bare(target)), upper), target, upper)
end

--- The quantile at which P(X <= x) = p and P(X > x) = q = 1 - p, both given as logarithms. Either tail of
-- the base there is an average of those at the ends; the smaller is inverted, but for those that are `skipped`.
function truncation.quantile (self, log_p, log_q, skipped)
  local average = functions.logaddexp
  local below = average(log_q + self.below_first, log_p + self.below_last)
  local above = average(log_q + self.above_first, log_p + self.above_last)
  local upper = lt(above, below)
  local target = where(upper, above, below)
  if skipped and not core.tracked(target) then target = where(skipped, -INF, target) end   -- which has no slope
  local x = based(self, target, upper)
  local deep = lt(target, DEEP) * gt(target, -INF) * gt(minimum(log_p, log_q), -INF)
  if any(deep) then x = where(deep, deep_quantile(self, target, upper, deep), x) end
  x = minimum(maximum(x, self.first), self.last)
  return where(eq(log_p, -INF), self.first, where(eq(log_q, -INF), self.last, x))
end

--- The smallest outcome that reaches p, or whose upper tail is at most q; x is off by one at most. `level` is
-- the one of p and q that was asked for.
function truncation.settled (self, x, log_p, log_q, level)
  local upper, small = lt(log_q, log_p), minimum(level, 1 - level)
  local function enough (k)
    effort.count(self.base, k, 2)
    local below, above = truncation.log_tails(self, k)
    return levels.reached(self, k, exp(where(upper, above, below)), small, upper, level)
  end
  x = functions.round(x)
  local less = maximum(x - 1, self.first)
  x = where(enough(less), less, x)
  return where(enough(x), x, minimum(x + 1, self.last))
end

-- Quantiles x, of which those next to a point of mass are there.
local function snapped (self, x)
  for _, point in ipairs(self.points) do
    local is_there = le(abs(x - point), 2 ^ -50 * abs(point)) * functions.isfinite(point)
    x = where(is_there, minimum(maximum(point, self.first), self.last), x)
  end
  return x
end

-- Of a density.
local function continuous_inverse (self, log_p, log_q)
  local low, high = near_ends(self, log_p, log_q, NARROW)
  local x, from_low = mended(self, 0 * log_p, low, self.first, 1, self.last, log_p + self.log_mass)
  local is_lower = from_low * le(log_p, log_q)   -- those keep their digits from there
  local from_high
  x, from_high = mended(self, x, high * (1 - is_lower), self.last, -1, self.first, log_q + self.log_mass)
  local is_found = confirmed(self, x, log_p, log_q, maximum(from_low, from_high))
  x = settling.run(function (s)
    s.x, s.ended = where(s.ended, s.x, truncation.quantile(self, s.log_p, s.log_q, s.ended)), 1
  end, { x = x, log_p = log_p, log_q = log_q, ended = is_found }, 1, #self.batch_shape, few(self.base))
  return snapped(self, searched(self, x, log_p, log_q, maximum(low, high) * (1 - is_found)))
end

-- Of outcomes, but for one. Between the peaks of a mixture there may be next to nothing.
local function outcome_inverse (self, log_p, log_q)
  local x = truncation.quantile(self, log_p, log_q)
  if not masses.has_peaks(self.base) then return x end
  local low, high = near_ends(self, log_p, log_q, LOST)
  if not batches.any_may_be(maximum(low, high)) then return x end
  local is_first = functions.ge(self:log_prob(self.first), log_p)
  local is_last = functions.ge(self:log_prob(self.last), log_q)
  x = where(is_first, self.first, where(is_last, self.last, x))
  return searched(self, x, log_p, log_q, maximum(low, high) * (1 - maximum(is_first, is_last)))
end

--- The same for all laws: outcomes, and quantiles close to an end, are put right.
function truncation.inverse (self, log_p, log_q, level)
  if not self.support.is_discrete then return continuous_inverse(self, log_p, log_q) end
  return truncation.settled(self, outcome_inverse(self, log_p, log_q), log_p, log_q, level)
end

--- The same for draws, of which those between ends that are close together need not be exact.
function truncation.drawn (self, u)
  local log_p, log_q = log(u), log1p(-u)
  if self.support.is_discrete or masses.has_peaks(self.base) then return truncation.inverse(self, log_p, log_q, u) end
  return truncation.quantile(self, log_p, log_q)
end


-- Mode ---------------------------------------------------------------------------

local function highest_peak (self)
  return self.support.is_discrete and peaks.outcome(self, self.base) or peaks.mode(self, self)
end

-- May there be peaks other than the highest? So it is of classes that say `is_multimodal`, of transforms, which bend
-- densities, and of a density alone.
local function may_have_peaks (d)
  local inner = d.base or d.base_dist
  return masses.has_peaks(d) or d.is_multimodal or d.transforms ~= nil or not batches.own(d, "mode")
         or class.of(inner) ~= nil and may_have_peaks(inner)
end

--- That of the base, or of a base with one mode the end nearest to it, else the highest peak that is left. An
-- end that lies higher is preferred.
function truncation.mode (self)
  local mode = self.base:mode()
  local best = minimum(maximum(mode, self.first), self.last)
  if may_have_peaks(self.base) and any(functions.ne(mode, best)) then
    best = where(functions.eq(mode, best), best, highest_peak(self))
  end
  for _, x in ipairs { self.first, self.last } do
    best = where(gt(self:log_prob(x), self:log_prob(best)), x, best)
  end
  return best
end


-- Construction -------------------------------------------------------------------

-- The quantile of the base at level 0 or 1, which is an end: one that is in its support does not move with parameters.
local function outermost (base, level, bound)
  local x = base:icdf(level)
  local is_fixed = core.tracked(x) and bound ~= nil and not core.tracked(bound) and not any_now(functions.ne(x, bound))
  return is_fixed and core.bare(x) or x
end

-- Tails of the base at the end x, which do not change if that is the end of the base itself.
local function tails_at_end (base, x, is_own)
  local at = masses.at(base, x)
  for _, name in ipairs { "below", "above" } do
    if core.tracked(at[name]) then at[name] = where(is_own, one_sided.held(at[name]), at[name]) end
  end
  return at
end

-- What methods need: the ends within the base's support, the mass, and the tails of the base at the
-- ends. `from` is where the mass begins: below the first outcome, or a point of mass at the lower end.
local function complete (self)
  local base = self.base
  local support = base.support or {}
  local least, most = outermost(base, 0, support.low), outermost(base, 1, support.high)
  local first, last = maximum(self.low, least), minimum(self.high, most)
  local discrete = base.support and base.support.is_discrete
  if discrete then first, last = functions.ceil(first), functions.floor(last) end
  self.first, self.last, self.points = first, last, discrete and {} or points.of(base)
  self.from = discrete and first - 1 or points.begin(self.points, first)
  self.support = (discrete and constraints.integer_interval or constraints.interval)(first, last)
  local from = tails_at_end(base, self.from, le(first, least))
  local to = tails_at_end(base, last, functions.ge(last, most))
  self.log_mass = (masses.log(base, from, to))
  self.below_first, self.above_first = from.below, from.above
  self.below_last, self.above_last = to.below, to.above
  self.has_rsample = base.has_rsample
  return self
end

-- An end for each element of the batch; a recorded one stays recorded.
local function spread (x, batch) return (core.is_tensor(x) and x or core.tensor(x)):expand(batch) end

--- A law of this class, its parts not checked.
function truncation.assemble (c, base, low, high, batch)
  if batch then base, low, high = base:expand(batch), spread(low, batch), spread(high, batch) end
  return complete(setmetatable({ base = base, low = low, high = high, batch_shape = batch }, c))
end

local fail = construction.fail

local function check_base (c, base)
  if not class.is_instance(base, Distribution) then
    fail(c, "base must be a distribution, got %s", show.value(base))
  end
  if #base.event_shape > 0 or class.of(base).icdf == Distribution.icdf then
    fail(c, "base must be a distribution of single numbers that has icdf, got %s", tostring(base))
  end
  if base.support and base.support.is_discrete and not points.has_integers(base) then
    fail(c, "base must have a density or integers as outcomes, got %s: cut it before it is transformed", tostring(base))
  end
end

-- An end of the interval as it is kept.
local function end_of (c, name, x, default)
  if x == nil then return default end
  x = core.operand(x, class.name(c), name)
  if any_now(functions.isnan(x)) then fail(c, "%s must be a real number, got nan", name) end
  return x
end

local function as_tensor (x) return core.is_tensor(x) and x or core.tensor(x) end

-- The shape of base, low and high together, or nil where all are plain numbers.
local function batch_of (c, base, low, high)
  if rawget(base, "batch_shape") == nil and type(low) == "number" and type(high) == "number" then return nil end
  local zero = core.tensor(0)
  local shape, why = core.broadcast_shape(zero:expand(base.batch_shape), as_tensor(low), as_tensor(high))
  if not shape then fail(c, "base, low and high of %s", why) end
  return shape
end

local function check_order (c, base, low, high)
  if base.support and base.support.is_discrete then return end
  local rule = constraints.greater_than(low)
  local bad = rule:violation(high)
  if bad then fail(c, "high must be %s, got %s", rule:rule(), show.number(bad)) end
end

local function check_mass (c, self)
  if any_now(1 - gt(self.log_mass, -INF)) then
    fail(c, "%s has no mass between low=%s and high=%s", tostring(self.base), show.parameter(self.low),
         show.parameter(self.high))
  end
end

-- What is left of what is left of a law: that of the law itself, between the inner ends. (A class of one's own may have
-- another density.)
local function flattened (base, low, high)
  local Truncated = require "perilune.distributions.Truncated"
  while class.of(base) == Truncated do
    base, low, high = base.base, maximum(low, base.low), minimum(high, base.high)
  end
  return base, low, high
end

--- A law of this class, for `construct`.
function truncation.make (c, ...)
  local base, low, high = construction.arguments(c, { "base", "low", "high" }, ...)
  check_base(c, base)
  if base.is_circular then base = require "perilune.one_turn"(base) end
  low, high = end_of(c, "low", low, -INF), end_of(c, "high", high, INF)
  local batch = batch_of(c, base, low, high)
  check_order(c, base, low, high)
  base, low, high = flattened(base, low, high)
  local self = truncation.assemble(c, base, low, high, batch)
  check_mass(c, self)
  return self
end

return truncation
