--@ peri.BetaBinomial
-- Successes in trials whose probability is a Beta number.
--   concentration1  shape at 1 of the Beta, successes seen before
--   concentration0  shape at 0 of the Beta, failures seen before
--   total_count     number of trials
--   formula         P(k) = n!/(k! (n - k)!) B(k + concentration1, n - k + concentration0)/B(concentration1,
--                   concentration0), n = total_count
-- > BetaBinomial(1, 1, 9):prob(4)
-- 0.1
local Distribution = require "perilune.distribution"
local constraints  = require "perilune.constraints"
local functions    = require "perilune.functions"

local BetaBinomial = Distribution:extend("BetaBinomial", {
  kernels = "betabinomial",
  params = {
    { "concentration1", constraints.positive },
    { "concentration0", constraints.positive },
    { "total_count",    constraints.nonnegative_integer, default = 1 },
  },
  init = function (self) self.support = constraints.integer_interval(0, self.total_count) end,
})

function BetaBinomial:mean ()
  return self.total_count * (self.concentration1 / (self.concentration1 + self.concentration0))
end

function BetaBinomial:variance ()
  local a, b, n = self.concentration1, self.concentration0, self.total_count
  local s = a + b
  return n * (a / s) * (b / s) * ((s + n) / (s + 1))
end

--- Inside for a single peak; for two, or none, the end of the larger concentration.
function BetaBinomial:mode ()
  local a, b, n = self.concentration1, self.concentration0, self.total_count
  local above = 1.0 * n * (a - 1)
  local share = functions.where(functions.isinf(above), n * ((a - 1) / (a + b - 2)), (above - (b - 1)) / (a + b - 2))
  local peak = functions.floor(share) + 1
  local inside = functions.maximum(functions.minimum(peak, n), 0)
  return functions.where(functions.gt(a + b, 2), inside, functions.where(functions.gt(a, b), n, 0))
end

return BetaBinomial
