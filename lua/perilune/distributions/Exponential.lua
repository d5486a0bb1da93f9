--@ peri.Exponential
-- The waiting time without memory.
--   rate     events per unit of time, 1/mean
--   formula  log p(x) = log(rate) - rate x for x >= 0
-- > Exponential(2):sf(1)
-- 0.13533528323661
local Distribution = require "perilune.distribution"
local constraints  = require "perilune.constraints"

local Exponential = Distribution:extend("Exponential", {
  kernels = "exponential",
  params = { { "rate", constraints.positive, default = 1 } },
  support = constraints.nonnegative,
})

function Exponential:mean () return 1 / self.rate end
function Exponential:stddev () return 1 / self.rate end
function Exponential:mode () return self:batched(0) end

function Exponential:variance ()
  local mean = 1 / self.rate
  return mean * mean
end

return Exponential
