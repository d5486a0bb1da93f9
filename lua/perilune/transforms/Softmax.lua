--- Softmax: shares of a whole in proportion to e^x.
local constraints = require "perilune.constraints"
local functions   = require "perilune.functions"
local tensor      = require "perilune.tensor"
local transform   = require "perilune.transform"

--@ peri.transforms.Softmax() -> Transform
-- Shares of a whole in proportion to e^x. It is not one to one.
-- > transforms.Softmax() { 0, 0 } :sum()
-- 1.0
return transform.kind("Softmax", {
  domain = constraints.real_vector, codomain = constraints.simplex, bijective = false,
  forward = transform.plain(tensor.softmax),
  inverse = transform.plain(functions.log),
})
