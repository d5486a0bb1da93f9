--- Sigmoid: 1/(1 + e^-x).
local constraints = require "perilune.constraints"
local functions   = require "perilune.functions"
local transform   = require "perilune.transform"

--@ peri.transforms.Sigmoid() -> Transform
-- 1/(1 + e^-x): from the line to (0, 1).
-- > transforms.Sigmoid()(0)
-- 0.5
return transform.kind("Sigmoid", {
  codomain = constraints.unit_interval, sign = 1,
  forward = transform.plain(functions.sigmoid),
  inverse = transform.plain(functions.logit),
  log_det = function (_, x) return -functions.softplus(-x) - functions.softplus(x) end,
})
