--- Methods of Truncated.
local Uniform   = require "perilune.distributions.Uniform"
local batches   = require "perilune.batches"
local class     = require "perilune.class"
local core      = require "perilune.core"
local raise     = require "perilune.errors".raise
local functions = require "perilune.functions"
local lazy      = require "perilune.lazy"
local show      = require "perilune.show"
local tails     = require "perilune.tails"

local effort            = lazy "effort"
local higher_moments    = lazy "higher_moments"
local points            = lazy "points"
local truncation        = lazy "truncation"
local truncated_mixture = lazy "truncated_mixture"

local where, maximum, abs = functions.where, functions.maximum, functions.abs
local lt, gt = functions.lt, functions.gt
local exp, log, log1p        = functions.exp, functions.log, functions.log1p
local INF = math.huge
local ROUNDING = 2 ^ -51   -- part of the logarithm of a mass that it is off by

local function argument (self, name, x) return core.operand(x, class.name(class.of(self)), name) end

local Truncated = {}

function Truncated.construct (c, ...) return truncation.make(c, ...) end

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

tails.say(require "perilune.distributions.Truncated", "log_cdf", "log_sf", truncation.log_tails)


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

-- Is all of the mass at one point, for all elements?
local function is_point (self) return #self.points > 0 and not batches.any(functions.ne(self.first, self.last)) end

-- What is left of a Censored law is the same as Censored of what is left of its base: masses at its ends are cut off
-- with what lies beyond them, or not at all. nil for other laws.
local function censored (self)
  local base = self.base
  local Censored, Plain = require "perilune.distributions.Censored", require "perilune.distributions.Truncated"
  if class.of(base) ~= Censored or base.support.is_discrete then return nil end
  local low, high = where(gt(self.low, base.low), self.low, -INF), where(lt(self.high, base.high), self.high, INF)
  local law = Censored(Plain(base.base, low, high), base.low, base.high)
  return rawget(self, "batch_shape") and law:expand(self.batch_shape) or law
end

function Truncated:expectation (...)
  local expectation = require "perilune.expectation"
  local f, opts = expectation.checked(self, ...)
  if is_point(self) then return self:batched(f(batches.rows(self, 1, self.first)):select(1, 1)), self:batched(0) end
  local value, error = truncated_mixture.expectation(self, f, opts)
  if value then return value, error end
  local same = censored(self)
  if same then return same:expectation(f, opts) end
  value, error = expectation.of(self, f, opts)
  local blur = ROUNDING * abs(core.bare(self.log_mass))   -- of densities and levels, differences of logarithms
  return value, error + where(functions.isfinite(blur), blur, 0) * abs(core.bare(value))
end

function Truncated:mean () return require "perilune.expectation".mean(self) end

function Truncated:variance ()
  local expectation = require "perilune.expectation"
  local purse, pieces = expectation.purse(self, 2), truncated_mixture.parts(self)
  local mean = expectation.mean(self, { purse = purse:share(0.5), pieces = pieces })
  return (self:expectation(function (x) return (x - mean) ^ 2 end, { purse = purse, pieces = pieces }))
end

function Truncated:entropy ()
  local jumps = not self.support.is_discrete and points.inner_jumps(self) or nil
  return -self:expectation(function (x) return self:log_prob(x) end, { beside = effort.density(self), points = jumps })
end

function Truncated:mode () return truncation.mode(self) end

local function drawn (self, shape, rng)
  local u = Uniform(0, 1)
  if rawget(self, "batch_shape") then u = u:expand(self.batch_shape) end
  u = u:sample(shape, rng)
  local x = truncation.drawn(self, u)
  return self.support.is_discrete and type(x) == "number" and math.tointeger(x) or x
end

function Truncated:sample (shape, rng) return core.no_grad(drawn, self, shape, rng) end

--- The draws of `sample`.
function Truncated:rsample (shape, rng)
  if not self.has_rsample then
    raise("%s has no rsample: %s has none", class.name(class.of(self)), tostring(self.base))
  end
  return drawn(self, shape, rng)
end

function Truncated:moments_below () return higher_moments.orders_within(self.base, self.low, self.high) end

return Truncated
