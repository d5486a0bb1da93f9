--- Constraints of matrices.
local constraint = require "perilune.constraint"
local core       = require "perilune.core"
local rows       = require "perilune.constraint_rows"

local lower_triangular = rows.kind("lower_triangular", 2, "a lower-triangular matrix", "nan above")()
local lower_cholesky   = rows.kind("lower_cholesky", 2, "a lower-triangular matrix with positive diagonal",
                                  "nan above diagonal")()
local corr_cholesky    = rows.kind("corr_cholesky", 2,
                                  "a lower-triangular matrix with positive diagonal and rows of length 1",
                                  "nan above diagonal long_row")()
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
  corr_cholesky = corr_cholesky, positive_definite = positive_definite, positive_semidefinite = positive_semidefinite,
}
