--- Tanh: the hyperbolic tangent.
--
-- log(1 - tanh(x)^2), directly near 0 and by log 2 - |x| - log(1 + e^(-2|x|)) elsewhere
local constraints = require "perilune.constraints"
local functions   = require "perilune.functions"
local transform   = require "perilune.transform"

--@ peri.transforms.Tanh() -> Transform
-- The hyperbolic tangent: from the line to (-1, 1).
-- > transforms.Tanh()(0.5)
-- 0.46211715726001
return transform.kind("Tanh", {
  codomain = constraints.interval(-1, 1), sign = 1,
  forward = transform.plain(functions.tanh),
  inverse = function (_, y) return 0.5 * (functions.log1p(y) - functions.log1p(-y)) end,
  log_det = function (_, x)
    local t, a = functions.tanh(x), functions.abs(x)
    local far = 2 * (math.log(2) - a - functions.softplus(-2 * a))
    return functions.where(functions.lt(a, 0.5), functions.log1p(-t * t), far)
  end,
})
