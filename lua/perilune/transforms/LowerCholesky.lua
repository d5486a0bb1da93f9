--- LowerCholesky: a lower triangle with positive diagonal. Of x the lower triangle counts.
local constraints    = require "perilune.constraints"
local transform_rows = require "perilune.transform_rows"

return transform_rows.kind("LowerCholesky", "lower_cholesky", {
  domain = constraints.lower_triangular, codomain = constraints.lower_cholesky,
})
