--- Truncated(base, low, high): any distribution of single numbers, cut to an interval.
--
-- With Z = P(low <= X <= high) of the base, p(x) = base p(x)/Z within. Masses of intervals are differences
-- of whichever tail of the base is the smaller, in logarithms, so that an interval far out in a tail is
-- as good as any other.
local Distribution = require "perilune.distribution"
local Uniform      = require "perilune.distributions.Uniform"
local batches      = require "perilune.batches"
local class        = require "perilune.class"
local constraints  = require "perilune.constraints"
local construct    = require "perilune.construct"
local core         = require "perilune.core"
local raise        = require "perilune.errors".raise
local functions    = require "perilune.functions"
local lazy         = require "perilune.lazy"
local show         = require "perilune.show"

local peaks      = lazy "peaks"
local truncation = lazy "truncation"
local truncated_mixture = lazy "truncated_mixture"

local any, any_now = batches.any, batches.any_now
local where, maximum, minimum = functions.where, functions.maximum, functions.minimum
local exp, log, log1p         = functions.exp, functions.log, functions.log1p
local lt, gt                  = functions.lt, functions.gt
local INF = math.huge

local function argument (self, name, x) return core.operand(x, class.name(class.of(self)), name) end


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

local function make (c, ...)
  local base, low, high = construct.arguments(c, { "base", "low", "high" }, ...)
  check_base(c, base)
  low, high = end_of(c, "low", low, -INF), end_of(c, "high", high, INF)
  local batch = batch_of(c, base, low, high)
  check_order(c, base, low, high)
  local self = truncation.assemble(c, base, low, high, batch)
  check_mass(c, self)
  return self
end

local Truncated = Distribution:extend("Truncated", {
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
  return truncation.assemble(class.of(self), self.base, self.low, self.high, shape)
end


-- Densities and tails --------------------------------------------------------------

local function log_density (self, x)
  local outside = maximum(lt(x, self.first), gt(x, self.last))
  return where(outside, -INF, self.base:log_prob(x) - self.log_mass)
end

function Truncated:log_prob (x) return core.fused(log_density, self, argument(self, "x", x)) end

function Truncated:log_cdf (x) return (truncation.log_tails(self, argument(self, "x", x))) end
function Truncated:log_sf (x) return (select(2, truncation.log_tails(self, argument(self, "x", x)))) end
function Truncated:cdf (x) return exp(self:log_cdf(x)) end
function Truncated:sf (x) return exp(self:log_sf(x)) end


-- Quantiles ----------------------------------------------------------------------

function Truncated:icdf (p)
  p = argument(self, "p", p)
  return truncation.inverse(self, log(p), log1p(-p), p)
end

function Truncated:isf (q)
  q = argument(self, "q", q)
  return truncation.inverse(self, log1p(-q), log(q), q)
end


-- Moments and samples ----------------------------------------------------------------

function Truncated:expectation (...)
  local expectation = require "perilune.expectation"
  local f, opts = expectation.checked(self, ...)
  local value, error = truncated_mixture.expectation(self, f, opts)
  if value then return value, error end
  return expectation.of(self, f, opts)
end

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
  local x = truncation.quantile(self, log(u), log1p(-u))
  if not self.support.is_discrete then return x end
  x = truncation.settled(self, x, log(u), log1p(-u), u)
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
