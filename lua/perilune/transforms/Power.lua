--- Power(exponent): x^exponent, for positive x.
local constraints = require "perilune.constraints"
local functions   = require "perilune.functions"
local transform   = require "perilune.transform"

local function shape_of (self, shape) return transform.broadcast_with(self, shape, self.exponent) end

--@ peri.transforms.Power(exponent) -> Transform
-- x^exponent, of positive x.
--   exponent  number, table or tensor, finite and not 0
-- > transforms.Power(2)(3)
-- 9.0
return transform.kind("Power", {
  params = { "exponent" }, domain = constraints.positive, codomain = constraints.positive,
  forward = function (self, x) return functions.pow(x, self.exponent) end,
  inverse = function (self, y) return functions.pow(y, 1 / self.exponent) end,
  log_det = function (self, x)
    return functions.log(functions.abs(self.exponent)) + functions.xlogy(self.exponent - 1, x)
  end,
  forward_shape = shape_of, inverse_shape = shape_of,
}, function (self, exponent)
  self.exponent = transform.number_or_tensor("Power", "exponent", exponent)
  transform.check_factor("Power", "exponent", self.exponent)
  self.sign = transform.sign_of(self.exponent)
end)
