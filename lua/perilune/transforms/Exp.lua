--- Exp: e^x.
local constraints = require "perilune.constraints"
local functions   = require "perilune.functions"
local transform   = require "perilune.transform"

return transform.kind("Exp", {
  codomain = constraints.positive, sign = 1,
  forward = transform.plain(functions.exp),
  inverse = transform.plain(functions.log),
  log_det = function (_, x) return x end,
})
