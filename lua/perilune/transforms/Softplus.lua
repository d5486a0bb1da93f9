--- Softplus: log(1 + e^x).
local constraints = require "perilune.constraints"
local functions   = require "perilune.functions"
local transform   = require "perilune.transform"

return transform.kind("Softplus", {
  codomain = constraints.positive, sign = 1,
  forward = transform.plain(functions.softplus),
  inverse = function (_, y) return y + functions.log1mexp(-y) end,
  log_det = function (_, x) return -functions.softplus(-x) end,
})
