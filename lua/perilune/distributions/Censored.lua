--- Censored(base, low, high): any distribution of single numbers, of which values beyond an interval are seen at its
-- ends.
--
-- The law of min(max(X, low), high): the mass below low is at low, that above high at high. log_prob gives the
-- logarithm of that mass at the ends and of the density between them, as likelihoods want it.
local Distribution = require "perilune.distribution"
local batches      = require "perilune.batches"
local class        = require "perilune.class"
local constraints  = require "perilune.constraints"
local core         = require "perilune.core"
local f            = require "perilune.functions"
local lazy         = require "perilune.lazy"
local raise        = require "perilune.errors".raise
local show         = require "perilune.show"

local where, maximum, minimum, lt, gt, ge = f.where, f.maximum, f.minimum, f.lt, f.gt, f.ge
local INF = math.huge


-- Construction -------------------------------------------------------------------

local construction   = lazy "construction"
local higher_moments = lazy "higher_moments"
local points         = lazy "points"

local function fail (...) construction.fail(...) end

-- An end of the interval as it is kept.
local function end_of (c, name, x, default)
  if x == nil then return default end
  x = core.operand(x, class.name(c), name)
  if batches.any_now(f.isnan(x)) then fail(c, "%s must be a real number, got nan", name) end
  return x
end

local function clamped (self, x) return minimum(maximum(x, self.low), self.high) end

local function as_tensor (x) return core.is_tensor(x) and x or core.tensor(x) end

local function assemble (c, base, low, high, batch)
  local self = setmetatable({ base = base, low = low, high = high }, c)
  if batch then
    self.base, self.batch_shape = base:expand(batch), batch
    self.low, self.high = as_tensor(low):expand(batch), as_tensor(high):expand(batch)
  end
  local discrete = base.support and base.support.is_discrete
  -- the ends that are seen: those of the base where it does not reach as far
  local first, last = clamped(self, self.base:icdf(0)), clamped(self, self.base:icdf(1))
  self.support = (discrete and constraints.integer_interval or constraints.interval)(first, last)
  self.has_rsample = base.has_rsample
  return self
end

-- What is seen of a discrete law are integers.
local function check_outcomes (c, base, low, high)
  if not (base.support and base.support.is_discrete) then return end
  if not points.has_integers(base) then
    fail(c, "base must have a density or integers as outcomes, got %s: censor it before it is transformed",
         tostring(base))
  end
  for name, x in pairs { low = low, high = high } do
    local bad = constraints.integer:violation(where(f.isinf(x), 0, x))
    if bad then fail(c, "%s must be an integer where outcomes are, got %s", name, show.number(bad)) end
  end
end

local function make (c, ...)
  local base, low, high = construction.arguments(c, { "base", "low", "high" }, ...)
  if not class.is_instance(base, Distribution) then fail(c, "base must be a distribution, got %s", show.value(base)) end
  if #base.event_shape > 0 then
    fail(c, "base must be a distribution of single numbers, got %s", tostring(base))
  end
  if base.is_circular then base = require "perilune.one_turn"(base) end
  low, high = end_of(c, "low", low, -INF), end_of(c, "high", high, INF)
  check_outcomes(c, base, low, high)
  local rule = constraints.greater_than(low)
  local bad = rule:violation(high)
  if bad then fail(c, "high must be %s, got %s", rule:rule(), show.number(bad)) end
  local batch = nil
  if rawget(base, "batch_shape") or core.is_tensor(low) or core.is_tensor(high) then
    local why
    batch, why = core.broadcast_shape(core.zeros(base.batch_shape) + 0, as_tensor(low), as_tensor(high))
    if not batch then fail(c, "base, low and high of %s", why) end
  end
  return assemble(c, base, low, high, batch)
end

local Censored = Distribution:extend("Censored", {
  construct = make,
  has_mass_at_ends = true,   -- see points.lua
  help = {
    summary = "any distribution of single numbers, of which values beyond an interval are seen at its ends",
    arguments = { "base", "low", "high" },
    params  = { base = "the law of what is there", low = "lower end, -inf unless told",
                high = "upper end, inf unless told" },
    formula = "log p(x) = log P(X <= low) at low, log P(X >= high) at high, base log p(x) between",
    example = { "Censored(peri.Normal(0, 1), -1, 2):prob(2)", 0.022750131948179207 },
  },
})

function Censored:__tostring ()
  return string.format("%s(%s, low=%s, high=%s)", class.name(class.of(self)), tostring(self.base),
                       show.parameter(self.low), show.parameter(self.high))
end

function Censored:with_batch (shape)
  shape = core.to_shape(shape, "Censored:with_batch")
  return assemble(class.of(self), self.base, self.low, self.high, shape)
end


-- Densities, tails and quantiles ------------------------------------------------------

local function argument (self, name, x) return core.operand(x, class.name(class.of(self)), name) end

-- log P(X >= high)
local function log_above (self)
  local at = self.support.is_discrete and points.outcome_before(self.high)
             or points.exist(self.base) and points.before(self.high) or self.high
  return self.base:log_sf(at)
end

local function log_density (self, x)
  local base, low, high = self.base, self.low, self.high
  local value = where(f.eq(x, high), log_above(self), where(f.eq(x, low), base:log_cdf(low), base:log_prob(x)))
  return where(maximum(lt(x, self.low), gt(x, self.high)), -INF, value)
end

function Censored:log_prob (x) return core.fused(log_density, self, argument(self, "x", x)) end

-- A tail of the base between the ends, `below` before low and `above` from high on.
local function tail (self, name, x, below, above)
  x = argument(self, "x", x)
  return where(lt(x, self.low), below, where(ge(x, self.high), above, self.base[name](self.base, x)))
end

function Censored:cdf (x) return tail(self, "cdf", x, 0.0, 1.0) end
function Censored:sf (x) return tail(self, "sf", x, 1.0, 0.0) end
function Censored:log_cdf (x) return tail(self, "log_cdf", x, -INF, 0.0) end
function Censored:log_sf (x) return tail(self, "log_sf", x, 0.0, -INF) end

function Censored:icdf (p)
  local x = self.base:icdf(argument(self, "p", p))
  return where(f.isnan(x), x, clamped(self, x))
end

function Censored:isf (q)
  local x = self.base:isf(argument(self, "q", q))
  return where(f.isnan(x), x, clamped(self, x))
end

function Censored:median () return self:icdf(0.5) end


-- Moments and samples ----------------------------------------------------------------

--- E[f(min(max(X, low), high))], an integral over the base.
function Censored:expectation (...)
  local fn, opts = require "perilune.expectation".checked(self, ...)
  local options = {}
  for key, value in pairs(opts) do options[key] = value end
  options.points, options.parts = { table.unpack(opts.points or {}) }, nil
  for _, x in ipairs { self.low, self.high } do
    if core.is_tensor(x) or math.abs(x) < INF then table.insert(options.points, x) end
  end
  return self.base:expectation(function (x) return fn(clamped(self, x)) end, options)
end

function Censored:mean ()
  if not batches.own(self.base, "icdf") then return (self:expectation(function (x) return x end)) end
  return require "perilune.expectation".mean(self)
end

function Censored:variance ()
  local mean = self:mean()
  return (self:expectation(function (x) return f.square(x - mean) end))
end

--- -E log p, of masses at the ends and of the density between.
function Censored:entropy ()
  local jumps = not self.support.is_discrete and points.inner_jumps(self) or nil
  return -self:expectation(function (x) return self:log_prob(x) end, { points = jumps })
end

--- Where log_prob is largest, of the masses at the ends and the density between.
function Censored:mode ()
  local best = clamped(self, self.base:mode())
  for _, x in ipairs { self.low, self.high } do
    local is_end = f.isfinite(x)
    local place = where(is_end, x, best)
    best = where(gt(self:log_prob(place), self:log_prob(best)), place, best)
  end
  return best
end

function Censored:sample (shape, rng)
  return core.no_grad(function () return clamped(self, self.base:sample(shape, rng)) end)
end

function Censored:rsample (shape, rng)
  if not self.has_rsample then
    raise("%s has no rsample: %s has none", class.name(class.of(self)), tostring(self.base))
  end
  return clamped(self, self.base:rsample(shape, rng))
end

function Censored:moments_below () return higher_moments.orders_within(self.base, self.low, self.high) end

return Censored
