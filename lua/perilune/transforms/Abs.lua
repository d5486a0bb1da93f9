--- Abs: the magnitude. Of its two preimages `inverse` gives the positive one.
local constraints = require "perilune.constraints"
local functions   = require "perilune.functions"
local transform   = require "perilune.transform"

return transform.kind("Abs", {
  codomain = constraints.nonnegative, bijective = false,
  forward = transform.plain(functions.abs),
  inverse = function (_, y) return y end,
})
