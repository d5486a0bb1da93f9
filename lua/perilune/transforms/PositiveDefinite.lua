--- PositiveDefinite: a positive-definite matrix, from its Cholesky factor. Of x the lower triangle counts.
local constraints    = require "perilune.constraints"
local transform_rows = require "perilune.transform_rows"

--@ peri.transforms.PositiveDefinite() -> Transform
-- A positive-definite matrix, from its Cholesky factor with logarithms on the diagonal. Of x only the lower triangle
-- counts.
-- > transforms.PositiveDefinite() { { 0, 9 }, { 2, 0 } }
-- Tensor(2, 2)
--   1  2
--   2  5
return transform_rows.kind("PositiveDefinite", "positive_definite", {
  domain = constraints.lower_triangular, codomain = constraints.positive_definite,
})
