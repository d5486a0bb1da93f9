--- LowerCholesky: a lower triangle with positive diagonal. Of x the lower triangle counts.
local constraints    = require "perilune.constraints"
local transform_rows = require "perilune.transform_rows"

--@ peri.transforms.LowerCholesky() -> Transform
-- A lower triangle with a positive diagonal, the exponential of what is there. Of x only the lower triangle counts.
-- > transforms.LowerCholesky() { { 0, 9 }, { 2, 0 } }
-- Tensor(2, 2)
--   1  0
--   2  1
return transform_rows.kind("LowerCholesky", "lower_cholesky", {
  domain = constraints.lower_triangular, codomain = constraints.lower_cholesky,
})
