--@ peri.ZeroInflatedPoisson
-- A Poisson count that may be shut off.
--   gate     probability that it is shut off, and 0
--   rate     mean of the count otherwise
--   formula  P(0) = gate + (1 - gate) exp(-rate),  P(k) = (1 - gate) rate^k exp(-rate)/k!
-- > ZeroInflatedPoisson(0.25, 2):prob(0)
-- 0.35150146242746
local Distribution = require "perilune.distribution"
local Poisson      = require "perilune.distributions.Poisson"
local constraints  = require "perilune.constraints"
local core         = require "perilune.core"
local functions    = require "perilune.functions"

local ZeroInflatedPoisson = Distribution:extend("ZeroInflatedPoisson", {
  kernels = "zeroinflatedpoisson",
  params = {
    { "gate", constraints.unit_interval },
    { "rate", constraints.nonnegative },
  },
  support = constraints.nonnegative_integer,
  is_multimodal = true,
})

--- Not exp(log_prob), which has no slope in the gate where it is 1.
function ZeroInflatedPoisson:prob (x)
  x = core.operand(x, "ZeroInflatedPoisson:prob", "x")
  return (1 - self.gate) * functions.exp(Poisson.log_prob(self, x)) + self.gate * functions.eq(x, 0)
end

function ZeroInflatedPoisson:mean () return (1 - self.gate) * self.rate end
function ZeroInflatedPoisson:variance () return (1 - self.gate) * self.rate * (1 + self.gate * self.rate) end

function ZeroInflatedPoisson:mode ()
  local peak = functions.floor(self.rate)
  return functions.where(functions.gt(self:log_prob(peak), self:log_prob(0)), peak, 0)
end

return ZeroInflatedPoisson
