--- Ordered: a row in increasing order, from its first element and the logarithms of its steps.
local constraints    = require "perilune.constraints"
local transform_rows = require "perilune.transform_rows"

--@ peri.transforms.Ordered() -> Transform
-- A row in increasing order, from its first element and the logarithms of its steps.
-- > transforms.Ordered() { 1, 0, 0 }
-- Tensor(3)
--   1  2  3
return transform_rows.kind("Ordered", "ordered", {
  domain = constraints.real_vector, codomain = constraints.ordered_vector,
})
