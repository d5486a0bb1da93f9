--- What a Truncated distribution is made of: construction, masses of intervals, tails, quantiles and the mode.
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
local peaks      = lazy "peaks"
local quadrature = lazy "quadrature"
local settling   = lazy "settling"
local tensor     = lazy "tensor"

local any, any_now = batches.any, batches.any_now
local where, maximum, minimum, abs = functions.where, functions.maximum, functions.minimum, functions.abs
local exp, log, log1p              = functions.exp, functions.log, functions.log1p
local lt, le, gt, eq               = functions.lt, functions.le, functions.gt, functions.eq
local INF    = math.huge
local DEEP   = -690    -- masses below e^DEEP have quantiles by logarithms only
local NARROW = 1e-3    -- a difference of tails smaller than this part of them has lost digits

local truncation = {}

-- Nodes and weights of the five-point rule of Gauss on [-1, 1].
local RULE = {
  { 0, 0.56888888888888888889 },
  { -0.53846931010568309104, 0.47862867049936646804 }, { 0.53846931010568309104, 0.47862867049936646804 },
  { -0.90617984593866399280, 0.23692688505618908751 }, { 0.90617984593866399280, 0.23692688505618908751 },
}

-- log of the mass between a and b where the density hardly changes.
local function log_sliver (base, a, b)
  local centre, half = 0.5 * a + 0.5 * b, 0.5 * b - 0.5 * a
  local sum = -INF
  for _, node in ipairs(RULE) do
    sum = functions.logaddexp(sum, base:log_prob(centre + node[1] * half) + math.log(node[2]))
  end
  return sum + log(half)
end

-- The logarithms of both tails of the base at x.
local function tails_at (base, x) return { x = x, below = base:log_cdf(x), above = base:log_sf(x) } end

-- log P(a < X <= b) of the base, whose tails at both are known.
local function log_between (base, first, last)
  local a, b, below, above = first.x, last.x, last.below, first.above
  local upper = lt(above, below)
  local large, small = where(upper, above, below), where(upper, last.above, first.below)
  local gap = small - large
  local mass = where(eq(large, -INF), large, large + functions.log1mexp(gap))
  if base.support and base.support.is_discrete then return mass end
  local narrow = gt(gap, maximum(-0.5, -NARROW * (1 + abs(large)))) * lt(a, b)
  return batches.any_may_be(narrow) and where(narrow, log_sliver(base, a, b), mass) or mass
end

--- log P(a < X <= b) of the base.
function truncation.log_mass (base, a, b) return log_between(base, tails_at(base, a), tails_at(base, b)) end

--- log P(X <= x) and log P(X > x); the one that is near 0 comes from the other.
function truncation.log_tails (self, x)
  x = minimum(maximum(x, self.from), self.last)
  local base, here = self.base, tails_at(self.base, x)
  local below = log_between(base, { x = self.from, below = self.below_first, above = self.above_first }, here)
                - self.log_mass
  local above = log_between(base, here, { x = self.last, below = self.below_last, above = self.above_last })
                - self.log_mass
  return where(le(above, below), log1p(-exp(above)), below), where(lt(below, above), log1p(-exp(below)), above)
end


-- Quantiles ----------------------------------------------------------------------

-- The distance from an end to the quantile of a small mass there, of density nearly constant: Newton
-- steps on the mass of the sliver. `side` is 1 at the lower end and -1 at the upper.
local function distance (self, start, side, target)
  local step = exp(target - self.base:log_prob(start))
  for _ = 1, 3 do
    local x = start + side * step
    local found = log_sliver(self.base, minimum(start, x), maximum(start, x))
    step = step - functions.expm1(found - target) * exp(target - self.base:log_prob(x))
  end
  return step
end

-- Quantiles x of which those that are `near` an end are at this distance from it, unless that is beyond an end.
local function mended (self, x, near, first, side, last, target)
  return settling.run(function (s)
    local found = first + side * distance(self, first, side, s.target)
    local is_inside = gt(side * (last - found), 0) * functions.ge(side * (found - first), 0)
    s.x = where((1 - s.ended) * is_inside, found, s.x)
    s.ended = 1
  end, { x = x, target = target, ended = 1 - near }, 1, #self.batch_shape)
end

-- Quantiles close to an end that cuts the base, where the tails of the base say little.
local function mend (self, x, log_p, log_q)
  local target, other = log_p + self.log_mass, log_q + self.log_mass
  local low = lt(target, math.log(NARROW) + minimum(self.below_first, self.above_first))
  local high = lt(other, math.log(NARROW) + minimum(self.below_last, self.above_last))
  x = mended(self, x, low, self.first, 1, self.last, target)
  return mended(self, x, high, self.last, -1, self.first, other)
end

-- The quantile of the base whose lower or upper tail has this logarithm, too small for a number, where it is `deep`. It
-- is not searched for beyond all numbers.
local function deep_quantile (self, target, upper, deep)
  local base, least = self.base, math.exp(DEEP)
  local start = where(upper, maximum(self.first, base:isf(least)), minimum(self.last, base:icdf(least)))
  deep = deep * functions.isfinite(start)
  if not any(deep) then return start end
  return quadrature.root(function (x, at)
    effort.count(base, x, 2)
    local reached, goal = where(at.upper, base:log_sf(x), base:log_cdf(x)), at.goal
    return where(at.upper, -1, 1) * (reached - goal), exp(base:log_prob(x) - reached), 2 ^ -51 * abs(goal)
  end, where(deep, self.from, start), where(deep, self.last, start), start,
  { goal = target, upper = upper, grain = self.support.is_discrete and 0.25 or nil }, #self.batch_shape)
end

local MANY = 64   -- levels that are worth a selection

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

--- The quantile at which P(X <= x) = p and P(X > x) = q = 1 - p, both given as logarithms. Either tail of
-- the base there is an average of those at the ends; the smaller is inverted.
function truncation.quantile (self, log_p, log_q)
  local average = functions.logaddexp
  local below = average(log_q + self.below_first, log_p + self.below_last)
  local above = average(log_q + self.above_first, log_p + self.above_last)
  local upper = lt(above, below)
  local target = where(upper, above, below)
  local mass = exp(target)
  local x = inverted(self, mass, upper)
  local deep = lt(target, DEEP) * gt(target, -INF)
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

--- The same for all laws: outcomes, and quantiles close to an end, are put right.
function truncation.inverse (self, log_p, log_q, level)
  local x = truncation.quantile(self, log_p, log_q)
  return self.support.is_discrete and truncation.settled(self, x, log_p, log_q, level) or mend(self, x, log_p, log_q)
end


-- Mode ---------------------------------------------------------------------------

-- Is this a mixture, or made of one, so that what is left of it may have peaks other than its highest?
local function has_peaks (d)
  local inner = d.base or d.base_dist
  return d.mixture_distribution ~= nil or class.of(inner) ~= nil and has_peaks(inner)
end

local function highest_peak (self)
  if not self.support.is_discrete then return peaks.mode(self, self) end
  local function place (s) return peaks.quantile(self, s) end
  return place((peaks.search(function (s)
    local x = place(s)
    return self:log_prob(x), x
  end, core.zeros(self.batch_shape), 700)))
end

--- That of the base, or of a base with one mode the end nearest to it, else the highest peak that is left. An
-- end that lies higher is preferred.
function truncation.mode (self)
  local mode = self.base:mode()
  local best = minimum(maximum(mode, self.first), self.last)
  if has_peaks(self.base) and any(functions.ne(mode, best)) then
    best = where(functions.eq(mode, best), best, highest_peak(self))
  end
  for _, x in ipairs { self.first, self.last } do
    best = where(gt(self:log_prob(x), self:log_prob(best)), x, best)
  end
  return best
end


-- Construction -------------------------------------------------------------------

-- What methods need: the ends within the base's support, the mass, and the tails of the base at the
-- ends. `from` is where the mass begins: below the first outcome, for discrete ones.
local function complete (self)
  local base = self.base
  local first, last = maximum(self.low, base:icdf(0)), minimum(self.high, base:icdf(1))
  local discrete = base.support and base.support.is_discrete
  if discrete then first, last = functions.ceil(first), functions.floor(last) end
  self.first, self.last, self.from = first, last, discrete and first - 1 or first
  self.support = (discrete and constraints.integer_interval or constraints.interval)(first, last)
  self.log_mass = truncation.log_mass(base, self.from, last)
  self.below_first, self.above_first = base:log_cdf(self.from), base:log_sf(self.from)
  self.below_last, self.above_last = base:log_cdf(last), base:log_sf(last)
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

--- A law of this class, for `construct`.
function truncation.make (c, ...)
  local base, low, high = construction.arguments(c, { "base", "low", "high" }, ...)
  check_base(c, base)
  low, high = end_of(c, "low", low, -INF), end_of(c, "high", high, INF)
  local batch = batch_of(c, base, low, high)
  check_order(c, base, low, high)
  local self = truncation.assemble(c, base, low, high, batch)
  check_mass(c, self)
  return self
end

return truncation
