--- Abs: the magnitude. Of its two preimages `inverse` gives the positive one.
local constraints = require "perilune.constraints"
local functions   = require "perilune.functions"
local transform   = require "perilune.transform"

--@ peri.transforms.Abs() -> Transform
-- The magnitude |x|. Of its two preimages the inverse gives the positive one.
-- > transforms.Abs()(-2)
-- 2.0
return transform.kind("Abs", {
  codomain = constraints.nonnegative, bijective = false,
  forward = transform.plain(functions.abs),
  inverse = function (_, y) return y end,
})
