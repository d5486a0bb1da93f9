--- Exp: e^x.
local constraints = require "perilune.constraints"
local functions   = require "perilune.functions"
local transform   = require "perilune.transform"

--@ peri.transforms.Exp() -> Transform
-- e^x: from the line to positive numbers.
-- > transforms.Exp()(0)
-- 1.0
return transform.kind("Exp", {
  codomain = constraints.positive, sign = 1,
  forward = transform.plain(functions.exp),
  inverse = transform.plain(functions.log),
  log_det = function (_, x) return x end,
})
