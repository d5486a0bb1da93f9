--@ peri.DiscreteUniform
-- Every integer from low to high alike.
--   low      first outcome
--   high     last outcome
--   formula  log P(k) = -log(high - low + 1) for low <= k <= high
-- > DiscreteUniform(1, 6):cdf(2)
-- 0.3333333333333333
local Distribution = require "perilune.distribution"
local constraints  = require "perilune.constraints"

local DiscreteUniform = Distribution:extend("DiscreteUniform", {
  kernels = "discreteuniform",
  params = {
    { "low",  constraints.integer },
    { "high", function (self) return constraints.integer_interval(self.low, math.huge) end },
  },
  init = function (self) self.support = constraints.integer_interval(self.low, self.high) end,
})

function DiscreteUniform:mean () return 0.5 * self.low + 0.5 * self.high end
function DiscreteUniform:mode () return self:batched(self.low) end   -- any outcome is a mode

function DiscreteUniform:variance ()
  local width = self.high - self.low
  return 1.0 * width * (width + 2) / 12
end

return DiscreteUniform
