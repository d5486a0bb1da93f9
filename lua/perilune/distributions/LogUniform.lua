--@ peri.LogUniform
-- Every order of magnitude between the two ends alike.
--   low      lower end, positive
--   high     upper end
--   formula  log p(x) = -log(x) - log(log(high/low)) for low <= x <= high
-- > LogUniform(0.01, 100):cdf(0.1)
-- 0.25
local Distribution = require "perilune.distribution"
local constraints  = require "perilune.constraints"

local LogUniform = Distribution:extend("LogUniform", {
  kernels = "loguniform",
  params = {
    { "low",  constraints.positive },
    { "high", function (self) return constraints.greater_than(self.low) end },
  },
  range = "bounded",
  init = function (self) self.support = constraints.interval(self.low, self.high) end,
})

function LogUniform:mode () return self:batched(self.low) end

function LogUniform:variance ()
  local deviation = self:stddev()
  return deviation * deviation
end

return LogUniform
