--- UnitVector: the direction of a vector.
local constraints = require "perilune.constraints"
local functions   = require "perilune.functions"
local transform   = require "perilune.transform"

--@ peri.transforms.UnitVector() -> Transform
-- The direction of a vector: it divided by its length. It is not one to one.
-- > transforms.UnitVector() { 0, 4 }
-- Tensor(2)
--   0  1
return transform.kind("UnitVector", {
  domain = constraints.real_vector, codomain = constraints.sphere, bijective = false,
  forward = function (_, x) return x / functions.sqrt((x * x):sum(-1, true)) end,
  inverse = function (_, y) return y end,
})
