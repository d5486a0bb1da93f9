--- Constraints of matrices.
local constraint = require "perilune.constraint"
local core       = require "perilune.core"
local rows       = require "perilune.constraint_rows"

--@ peri.constraints.lower_triangular -> Constraint
-- Matrices with zeros above their diagonal.
-- > constraints.lower_triangular:check { { 1, 0 }, { 2, 3 } }
-- true

--@ peri.constraints.lower_cholesky -> Constraint
-- Lower triangles with a positive diagonal: Cholesky factors.
-- > constraints.lower_cholesky:check { { 1, 0 }, { 2, 3 } }
-- true

--@ peri.constraints.corr_cholesky -> Constraint
-- Cholesky factors of correlation matrices: lower triangles with a positive diagonal and rows of length 1.
-- > constraints.corr_cholesky:check { { 1, 0 }, { 0.6, 0.8 } }
-- true

--@ peri.constraints.corr_matrix -> Constraint
-- Correlation matrices: symmetric, with positive eigenvalues and ones on the diagonal.
-- > constraints.corr_matrix:check { { 1, 0.6 }, { 0.6, 1 } }
-- true

--@ peri.constraints.symmetric -> Constraint
-- Symmetric matrices.
-- > constraints.symmetric:check { { 1, 2 }, { 2, 3 } }
-- true

--@ peri.constraints.positive_definite -> Constraint
-- Symmetric matrices with positive eigenvalues.
-- > constraints.positive_definite:check { { 2, 1 }, { 1, 2 } }
-- true

--@ peri.constraints.positive_semidefinite -> Constraint
-- Symmetric matrices without negative eigenvalues.
-- > constraints.positive_semidefinite:check { { 1, 1 }, { 1, 1 } }
-- true

--@ peri.constraints.square -> Constraint
-- Matrices with as many rows as columns.
-- > constraints.square:check { { 1, 2 }, { 3, 4 } }
-- true
local lower_triangular = rows.kind("lower_triangular", 2, "a lower-triangular matrix", "nan above")()
local lower_cholesky   = rows.kind("lower_cholesky", 2, "a lower-triangular matrix with positive diagonal",
                                  "nan above diagonal")()
local corr_cholesky    = rows.kind("corr_cholesky", 2,
                                  "a lower-triangular matrix with positive diagonal and rows of length 1",
                                  "nan above diagonal long_row")()
local corr_matrix      = rows.kind("corr_matrix", 2, "a positive-definite matrix with ones on the diagonal",
                                  "nan asymmetry other_diagonal indefinite")()
local symmetric        = rows.kind("symmetric", 2, "a symmetric matrix", "nan asymmetry")()

local positive_definite = rows.kind("positive_definite", 2, "a positive-definite matrix",
                                    "nan asymmetry indefinite")()
local positive_semidefinite = rows.kind("positive_semidefinite", 2, "a positive-semidefinite matrix",
                                        "nan asymmetry indefinite")()

local square = constraint.kind("square", {
  event_dim = 2,
  rule = function () return "a square matrix" end,
  holds = function (self, x)
    local shape = core.shape(constraint.as_tensor(x))
    local answer, batch = rows.misfit(self, shape) and 0 or 1, { table.unpack(shape, 1, #shape - 2) }
    return #batch == 0 and answer or core.full(batch, answer)
  end,
  violation = function (self, x) return rows.misfit(self, core.shape(constraint.as_tensor(x))) end,
})()

return {
  square = square, symmetric = symmetric, lower_triangular = lower_triangular, lower_cholesky = lower_cholesky,
  corr_cholesky = corr_cholesky, corr_matrix = corr_matrix,
  positive_definite = positive_definite, positive_semidefinite = positive_semidefinite,
}
