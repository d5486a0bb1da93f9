--- PositiveDefinite: a positive-definite matrix, from its Cholesky factor. Of x the lower triangle counts.
local constraints    = require "perilune.constraints"
local transform_rows = require "perilune.transform_rows"

return transform_rows.kind("PositiveDefinite", "positive_definite", {
  domain = constraints.lower_triangular, codomain = constraints.positive_definite,
})
