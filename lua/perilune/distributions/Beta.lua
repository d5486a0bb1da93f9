--@ peri.Beta
-- A share between 0 and 1.
--   concentration1  weight of 1, a
--   concentration0  weight of 0, b
--   formula         log p(x) = (a - 1) log x + (b - 1) log(1 - x) - log B(a, b)
-- > Beta(2, 5):cdf(0.25)
-- 0.466064453125
local Distribution = require "perilune.distribution"
local constraints  = require "perilune.constraints"
local functions    = require "perilune.functions"

local Beta = Distribution:extend("Beta", {
  kernels = "beta",
  params = {
    { "concentration1", constraints.positive },
    { "concentration0", constraints.positive },
  },
  support = constraints.unit_interval,
})

function Beta:mean ()
  return self.concentration1 / (self.concentration1 + self.concentration0)
end

function Beta:variance ()
  local a, b = self.concentration1, self.concentration0
  local n = a + b
  return (a / n) * (b / n) / (n + 1)
end

--- Where a shape below 1 makes the density infinite, the end at which it grows
-- faster; any point is a mode of Beta(1, 1), so its middle is given.
function Beta:mode ()
  local where = functions.where
  local a, b = self.concentration1, self.concentration0
  local inside = (a - 1) / ((a - 1) + (b - 1))
  local edge = where(functions.eq(a, b), where(functions.eq(a, 1), 0.5, 1), where(functions.lt(a, b), 0, 1))
  return where(functions.le(functions.minimum(a, b), 1), edge, inside)
end

return Beta
