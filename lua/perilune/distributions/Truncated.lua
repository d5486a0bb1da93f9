--- Truncated(base, low, high): any distribution of single numbers, cut to an interval.
--
-- With Z = P(low <= X <= high) of the base, p(x) = base p(x)/Z within. Masses of intervals are differences
-- of whichever tail of the base is the smaller, in logarithms, so that an interval far out in a tail is
-- as good as any other.
local Categorical  = require "perilune.distributions.Categorical"
local Distribution = require "perilune.distribution"
local Mixture      = require "perilune.distributions.MixtureSameFamily"
local Transformed  = require "perilune.distributions.TransformedDistribution"
local Uniform      = require "perilune.distributions.Uniform"
local class        = require "perilune.class"
local constraints  = require "perilune.constraints"
local construct    = require "perilune.construct"
local core         = require "perilune.core"
local raise        = require "perilune.errors".raise
local functions    = require "perilune.functions"
local levels       = require "perilune.levels"
local peaks        = require "perilune.peaks"
local quadrature   = require "perilune.quadrature"
local show         = require "perilune.show"
local transforms   = require "perilune.transforms"

local where, maximum, minimum, abs = functions.where, functions.maximum, functions.minimum, functions.abs
local exp, log, log1p              = functions.exp, functions.log, functions.log1p
local lt, le, gt, eq               = functions.lt, functions.le, functions.gt, functions.eq
local INF    = math.huge
local DEEP   = -690    -- masses below e^DEEP have quantiles by logarithms only
local NARROW = 1e-3    -- a difference of tails smaller than this part of them has lost digits

local function any (x)
  if core.is_tensor(x) then return core.numel(x) > 0 and core.item(x:max()) ~= 0 end
  return x ~= 0
end

local function argument (self, name, x) return core.operand(x, class.name(class.of(self)), name) end


-- Masses of intervals ------------------------------------------------------------

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

-- log P(a < X <= b) of the base.
local function log_mass (base, a, b)
  local below, above = base:log_cdf(b), base:log_sf(a)
  local upper = lt(above, below)
  local large, small = where(upper, above, below), where(upper, base:log_sf(b), base:log_cdf(a))
  local gap = small - large
  local mass = where(eq(large, -INF), large, large + functions.log1mexp(gap))
  if base.support and base.support.is_discrete then return mass end
  local narrow = gt(gap, maximum(-0.5, -NARROW * (1 + abs(large)))) * lt(a, b)
  return any(narrow) and where(narrow, log_sliver(base, a, b), mass) or mass
end


-- Construction -------------------------------------------------------------------

local function fail (c, ...) raise("%s: %s", class.name(c), string.format(...)) end

local function check_base (c, base)
  local of = class.of(base)
  if not (of and class.descends(of, Distribution)) then
    fail(c, "base must be a distribution, got %s", show.value(base))
  end
  if #base.event_shape > 0 or of.icdf == Distribution.icdf then
    fail(c, "base must be a distribution of single numbers that has icdf, got %s", tostring(base))
  end
end

-- An end of the interval as it is kept.
local function end_of (c, name, x, default)
  if x == nil then return default end
  x = core.operand(x, class.name(c), name)
  if any(functions.isnan(x)) then fail(c, "%s must be a real number, got nan", name) end
  return x
end

-- The shape of base, low and high together, or nil where all are plain numbers.
local function batch_of (c, base, low, high)
  if rawget(base, "batch_shape") == nil and type(low) == "number" and type(high) == "number" then return nil end
  local zero = core.tensor(0)
  local shape, why = core.broadcast_shape(zero:expand(base.batch_shape), core.tensor(low), core.tensor(high))
  if not shape then fail(c, "base, low and high of %s", why) end
  return shape
end

-- What methods need: the ends within the base's support, the mass, and the tails of the base at the
-- ends. `from` is where the mass begins: below the first outcome, for discrete ones.
local function complete (self)
  local base = self.base
  local first, last = maximum(self.low, base:icdf(0)), minimum(self.high, base:icdf(1))
  local discrete = base.support and base.support.is_discrete
  if discrete then first, last = functions.ceil(first), functions.floor(last) end
  self.first, self.last, self.from = first, last, discrete and first - 1 or first
  self.support = (discrete and constraints.integer_interval or constraints.interval)(first, last)
  self.log_mass = log_mass(base, self.from, last)
  self.below_first, self.above_first = base:log_cdf(self.from), base:log_sf(self.from)
  self.below_last, self.above_last = base:log_cdf(last), base:log_sf(last)
  self.has_rsample = base.has_rsample
  return self
end

-- An end for each element of the batch; a recorded one stays recorded.
local function spread (x, batch) return (core.is_tensor(x) and x or core.tensor(x)):expand(batch) end

local function assemble (c, base, low, high, batch)
  if batch then base, low, high = base:expand(batch), spread(low, batch), spread(high, batch) end
  return complete(setmetatable({ base = base, low = low, high = high, batch_shape = batch }, c))
end

local function check_order (c, base, low, high)
  if base.support and base.support.is_discrete then return end
  local rule = constraints.greater_than(low)
  local bad = rule:violation(high)
  if bad then fail(c, "high must be %s, got %s", rule:rule(), show.number(bad)) end
end

local function check_mass (c, self)
  if any(1 - gt(self.log_mass, -INF)) then
    fail(c, "%s has no mass between low=%s and high=%s", tostring(self.base), show.parameter(self.low),
         show.parameter(self.high))
  end
end

local Truncated

local function make (c, ...)
  local base, low, high = construct.arguments(c, { "base", "low", "high" }, ...)
  check_base(c, base)
  low, high = end_of(c, "low", low, -INF), end_of(c, "high", high, INF)
  local batch = batch_of(c, base, low, high)
  check_order(c, base, low, high)
  local self = assemble(c, base, low, high, batch)
  check_mass(c, self)
  return self
end

Truncated = Distribution:extend("Truncated", {
  construct = make,
  help = {
    summary = "any distribution of single numbers, cut to an interval",
    params  = { base = "the distribution to cut", low = "lower end, -inf unless told",
                high = "upper end, inf unless told" },
    formula = "log p(x) = base log p(x) - log P(low <= X <= high) for low <= x <= high",
    example = { "Truncated(peri.Normal(0, 1), 8, math.huge):mean()", 8.1213681122361127 },
  },
})

function Truncated:__tostring ()
  return string.format("%s(%s, low=%s, high=%s)", class.name(class.of(self)), tostring(self.base),
                       show.parameter(self.low), show.parameter(self.high))
end

function Truncated:with_batch (shape)
  shape = core.to_shape(shape, "Truncated:with_batch")
  return assemble(class.of(self), self.base, self.low, self.high, shape)
end


-- Densities and tails --------------------------------------------------------------

local function log_density (self, x)
  local outside = maximum(lt(x, self.first), gt(x, self.last))
  return where(outside, -INF, self.base:log_prob(x) - self.log_mass)
end

function Truncated:log_prob (x) return core.fused(log_density, self, argument(self, "x", x)) end

-- log P(X <= x) and log P(X > x); the one that is near 0 comes from the other.
local function log_tails (self, x)
  x = minimum(maximum(argument(self, "x", x), self.from), self.last)
  local below = log_mass(self.base, self.from, x) - self.log_mass
  local above = log_mass(self.base, x, self.last) - self.log_mass
  return where(le(above, below), log1p(-exp(above)), below), where(lt(below, above), log1p(-exp(below)), above)
end

function Truncated:log_cdf (x) return (log_tails(self, x)) end
function Truncated:log_sf (x) return (select(2, log_tails(self, x))) end
function Truncated:cdf (x) return exp(self:log_cdf(x)) end
function Truncated:sf (x) return exp(self:log_sf(x)) end


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

-- Quantiles close to an end that cuts the base, where the tails of the base say little.
local function mend (self, x, log_p, log_q)
  local target, other = log_p + self.log_mass, log_q + self.log_mass
  local low = lt(target, math.log(NARROW) + minimum(self.below_first, self.above_first))
  local high = lt(other, math.log(NARROW) + minimum(self.below_last, self.above_last))
  if any(low) then
    local found = self.first + distance(self, self.first, 1, target)
    x = where(low * lt(found, self.last), found, x)
  end
  if any(high) then
    local found = self.last - distance(self, self.last, -1, other)
    x = where(high * gt(found, self.first), found, x)
  end
  return x
end

-- The quantile of the base whose lower or upper tail has this logarithm, too small for a number, where it is `deep`. It
-- is not searched for beyond all numbers.
local function deep_quantile (self, target, upper, deep)
  local base, sign, least = self.base, where(upper, -1, 1), math.exp(DEEP)
  local start = where(upper, maximum(self.first, base:isf(least)), minimum(self.last, base:icdf(least)))
  deep = deep * functions.isfinite(start)
  if not any(deep) then return start end
  return quadrature.root(function (x)
    local reached = where(upper, base:log_sf(x), base:log_cdf(x))
    return sign * (reached - target), exp(base:log_prob(x) - reached), 2 ^ -51 * abs(target)
  end, where(deep, self.from, start), where(deep, self.last, start), start)
end

-- The quantile at which P(X <= x) = p and P(X > x) = q = 1 - p, both given as logarithms. Either tail of
-- the base there is an average of those at the ends; the smaller is inverted.
local function quantile (self, log_p, log_q)
  local base, average = self.base, functions.logaddexp
  local below = average(log_q + self.below_first, log_p + self.below_last)
  local above = average(log_q + self.above_first, log_p + self.above_last)
  local upper = lt(above, below)
  local target = where(upper, above, below)
  local mass = exp(target)
  local x
  if not any(upper) then x = base:icdf(mass)
  elseif not any(1 - upper) then x = base:isf(mass)
  else x = where(upper, base:isf(mass), base:icdf(mass)) end
  local deep = lt(target, DEEP) * gt(target, -INF)
  if any(deep) then x = where(deep, deep_quantile(self, target, upper, deep), x) end
  x = minimum(maximum(x, self.first), self.last)
  return where(eq(log_p, -INF), self.first, where(eq(log_q, -INF), self.last, x))
end

-- The smallest outcome that reaches p, or whose upper tail is at most q; x is off by one at most. `level` is
-- the one of p and q that was asked for.
local function settled (self, x, log_p, log_q, level)
  local upper, small = lt(log_q, log_p), minimum(level, 1 - level)
  local function enough (k)
    local below, above = log_tails(self, k)
    return levels.reached(self, k, exp(where(upper, above, below)), small, upper, level)
  end
  x = functions.round(x)
  local less = maximum(x - 1, self.first)
  x = where(enough(less), less, x)
  return where(enough(x), x, minimum(x + 1, self.last))
end

local function inverse (self, log_p, log_q, level)
  local x = quantile(self, log_p, log_q)
  return self.support.is_discrete and settled(self, x, log_p, log_q, level) or mend(self, x, log_p, log_q)
end

function Truncated:icdf (p)
  p = argument(self, "p", p)
  return inverse(self, log(p), log1p(-p), p)
end

function Truncated:isf (q)
  q = argument(self, "q", q)
  return inverse(self, log1p(-q), log(q), q)
end


-- What is left of a mixture ------------------------------------------------------------
--
-- Its quantiles are a search, and those of what is made of it are searches within searches. So whatever is cut and
-- transformed on the way is traced back to the mixture itself.

-- Intervals { low, high } of x with images under map in the given ones.
local function preimages (map, intervals)
  local list = {}
  for _, ends in ipairs(intervals) do
    if getmetatable(map) == transforms.Abs then
      list[#list + 1], list[#list + 2] = ends, { -ends[2], -ends[1] }
    else
      local low, high, rises = map:inverse(ends[1]), map:inverse(ends[2]), gt(map.sign, 0)
      list[#list + 1] = { where(rises, low, high), where(rises, high, low) }
    end
  end
  return list
end

-- The mixture that self is left of, a list of the transforms on the way, first to last, and the intervals of the
-- mixture that are left; nil where there is none, or the whole is needed for derivatives of weights that are 0.
local function traced (self)
  local law, maps, intervals = self.base, {}, { { self.first, self.last } }
  while class.of(law) == Truncated or class.of(law) == Transformed do
    if class.of(law) == Truncated then
      for _, ends in ipairs(intervals) do
        ends[1], ends[2] = maximum(ends[1], law.first), minimum(ends[2], law.last)
      end
    end
    for i = #(law.transforms or {}), 1, -1 do
      intervals = preimages(law.transforms[i], intervals)
      table.insert(maps, 1, law.transforms[i])
    end
    law = law.base or law.base_dist
  end
  local is_discrete = law.support and law.support.is_discrete
  if class.of(law) == Mixture and not is_discrete and not law.lost_slopes then return law, maps, intervals end
end

-- A mixture cut to an interval, as a mixture of components that are, and the logarithm of the mass there. Components
-- that have no part in it have no weight, and stay whole.
local function piece (law, low, high, batch)
  local shape, component = { table.unpack(batch) }, law.component_distribution
  shape[#shape + 1] = law.mixture_distribution.support.high
  low  = (core.is_tensor(low) and low or core.tensor(low)):unsqueeze(-1)
  high = (core.is_tensor(high) and high or core.tensor(high)):unsqueeze(-1)
  local cut = assemble(Truncated, component, low, high, shape)
  local weights = law.log_weights + where(gt(cut.log_mass, -INF), cut.log_mass, -INF)
  local top = weights:max(-1, true)
  local dead = 1 - gt(exp(weights - top), 0)
  if any(dead) then
    cut = assemble(Truncated, component, where(dead, -INF, low), where(dead, INF, high), shape)
    weights = where(dead, -INF, weights)
  end
  return Mixture(Categorical { logits = where(eq(top, -INF), 0, weights) }, cut), weights:logsumexp(-1)
end

--- The law as that of mixtures after a list of transforms, { law =, maps =, share = } each, with their shares of the
-- mass; nil for laws that are not left of a mixture.
function Truncated:in_parts ()
  local law, maps, intervals = traced(self)
  if not law then return nil end
  local list, total, batch = {}, -INF, self.batch_shape
  for i, ends in ipairs(intervals) do
    local part, mass = piece(law:expand(batch), ends[1], ends[2], batch)
    list[i] = { law = part, maps = maps, log_mass = mass }
    total = functions.logaddexp(total, mass)
  end
  for _, part in ipairs(list) do part.share = exp(part.log_mass - total) end
  return list
end

-- Values that rounding has moved out of the interval are moved back before f sees them.
local function within (self, f) return function (x) return f(minimum(maximum(x, self.first), self.last)) end end

--- E[f(X)]: of what is left of a mixture, that of each component.
function Truncated:expected (f, opts)
  local list = self:in_parts()
  if not list then return Distribution.expected(self, f, opts) end
  local options, sum, error = {}, 0, 0
  for key, value in pairs(opts) do options[key] = value end
  if opts.parts then options.parts = { inner = within(self, opts.parts.inner), outer = opts.parts.outer } end
  for _, part in ipairs(list) do
    if any(part.share) then
      local value, its_error = Transformed(part.law, part.maps):expected(within(self, f), options)
      local dead = eq(part.share, 0)
      sum, error = sum + where(dead, 0, part.share * value), error + where(dead, 0, part.share * its_error)
    end
  end
  return sum, error
end


-- Moments and samples ----------------------------------------------------------------

function Truncated:mean () return (self:expectation(function (x) return x end)) end

function Truncated:variance ()
  local mean = self:mean()
  return (self:expectation(function (x) return (x - mean) ^ 2 end))
end

function Truncated:entropy ()
  return -self:expectation(function (x) return self:log_prob(x) end)
end

-- Is this a mixture, or made of one, so that what is left of it may have peaks other than its highest?
local function has_peaks (d)
  local inner = d.base or d.base_dist
  return d.mixture_distribution ~= nil or class.of(inner) ~= nil and has_peaks(inner)
end

local function highest_peak (self)
  if not self.support.is_discrete then return peaks.mode(self, self) end
  local function place (s) return peaks.quantile(self, s) end
  return place((peaks.search(function (s) return self:log_prob(place(s)) end, core.zeros(self.batch_shape), 700)))
end

--- That of the base, or of a base with one mode the end nearest to it, else the highest peak that is left. An
-- end that lies higher is preferred.
function Truncated:mode ()
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

local function drawn (self, shape, rng)
  local u = Uniform(0, 1)
  if rawget(self, "batch_shape") then u = u:expand(self.batch_shape) end
  u = u:sample(shape, rng)
  local x = quantile(self, log(u), log1p(-u))
  if not self.support.is_discrete then return x end
  x = settled(self, x, log(u), log1p(-u), u)
  return type(x) == "number" and math.tointeger(x) or x
end

function Truncated:sample (shape, rng) return core.no_grad(drawn, self, shape, rng) end

--- The draws of `sample`.
function Truncated:rsample (shape, rng)
  if not self.has_rsample then
    raise("%s has no rsample: %s has none", class.name(class.of(self)), tostring(self.base))
  end
  return drawn(self, shape, rng)
end

return Truncated
