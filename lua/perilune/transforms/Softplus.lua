--- Softplus: log(1 + e^x).
local constraints = require "perilune.constraints"
local functions   = require "perilune.functions"
local transform   = require "perilune.transform"

--@ peri.transforms.Softplus() -> Transform
-- log(1 + e^x): from the line to positive numbers, almost x where that is large.
-- > transforms.Softplus()(0)
-- 0.69314718055995
return transform.kind("Softplus", {
  codomain = constraints.positive, sign = 1,
  forward = transform.plain(functions.softplus),
  inverse = function (_, y) return y + functions.log1mexp(-y) end,
  log_det = function (_, x) return -functions.softplus(-x) end,
})
