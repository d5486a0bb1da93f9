--@ peri.Kumaraswamy
-- Like Beta on the unit interval, with a cdf and its inverse that are powers.
--   concentration1  exponent a at 0
--   concentration0  exponent b at 1
--   formula         log p(x) = log(a b) + (a - 1) log x + (b - 1) log(1 - x^a)
-- > Kumaraswamy(2, 3):cdf(0.5)
-- 0.578125
local Distribution = require "perilune.distribution"
local constraints  = require "perilune.constraints"
local functions    = require "perilune.functions"

local Kumaraswamy = Distribution:extend("Kumaraswamy", {
  kernels = "kumaraswamy",
  params = {
    { "concentration1", constraints.positive, default = 1 },
    { "concentration0", constraints.positive, default = 1 },
  },
  support = constraints.unit_interval,
})

function Kumaraswamy:variance ()
  local sd = self:stddev()
  return sd * sd
end

--- ((a - 1)/(a b - 1))^(1/a) for a, b >= 1; a pole where there is one, the stronger of two.
function Kumaraswamy:mode ()
  local a, b = self.concentration1, self.concentration0
  local rise, fall = functions.maximum(a - 1, 0), functions.maximum(b - 1, 0)
  local top = (rise / (rise * functions.maximum(b, 1) + fall)) ^ (1 / a)
  local pole = functions.where(functions.gt(a, b), 1, 0)
  return functions.where(functions.le(functions.maximum(a, b), 1), pole, top)
end

return Kumaraswamy
