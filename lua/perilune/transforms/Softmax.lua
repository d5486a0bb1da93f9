--- Softmax: shares of a whole in proportion to e^x.
local constraints = require "perilune.constraints"
local functions   = require "perilune.functions"
local tensor      = require "perilune.tensor"
local transform   = require "perilune.transform"

return transform.kind("Softmax", {
  domain = constraints.real_vector, codomain = constraints.simplex, bijective = false,
  forward = transform.plain(tensor.softmax),
  inverse = transform.plain(functions.log),
})
