--@ peri.MatrixNormal
-- The bell curve of matrices whose rows and columns are correlated.
--   loc                mean, n by p
--   row_covariance     U, n by n: the covariance of rows, or instead of it:
--   column_covariance  V, p by p: that of columns, or instead of it:
--   row_scale_tril     the Cholesky factor of U, a lower triangle
--   column_scale_tril  that of V
--   formula            log p(x) = -tr(V^-1 (x - loc)^T U^-1 (x - loc))/2 - p/2 log det U - n/2 log det V - n p/2
--                      log(2 pi)
-- > MatrixNormal({ { 0, 0 } }, { { 2 } }, { { 2, 1 }, { 1, 2 } }):log_prob({ { 1, 0 } })
-- -3.2469970579700123
local Distribution = require "perilune.distribution"
local constraints  = require "perilune.constraints"
local core         = require "perilune.core"
local matrices     = require "perilune.matrices"

local factor, outer = matrices.factor(matrices.cholesky), matrices.outer
local ROWS, COLUMNS = { "row_covariance" }, { "column_covariance" }

local MatrixNormal = Distribution:extend("MatrixNormal", {
  kernels = "matrixnormal",
  params = {
    { "loc", constraints.real, event = 2 },
    { "row_covariance",    constraints.real, event = 2, gives = { row_scale_tril = factor } },
    { "column_covariance", constraints.real, event = 2, gives = { column_scale_tril = factor } },
    { "row_scale_tril",    constraints.real, event = 2, gives = { row_covariance = outer } },
    { "column_scale_tril", constraints.real, event = 2, gives = { column_covariance = outer } },
  },
  operands = { "loc", "row_scale_tril", "column_scale_tril" },
  support = constraints.independent(constraints.real, 2),
  init = function (self, checking)
    local shape = core.shape(self.loc)
    local n, p = shape[#shape - 1], shape[#shape]
    local rows = matrices.side(self, ROWS, "row_scale_tril")
    local columns = matrices.side(self, COLUMNS, "column_scale_tril")
    if rows ~= n or columns ~= p then
      matrices.fail(self, "loc of %d by %d needs matrices of sides %d and %d, got %d and %d", n, p, n, p, rows,
                    columns)
    end
    self.event_shape = { n, p }
    if not checking then return end
    matrices.check(self, ROWS, "row_scale_tril")
    matrices.check(self, COLUMNS, "column_scale_tril")
  end,
})

-- A matrix for each element of the batch.
local function each (self, value)
  local shape = { table.unpack(self.batch_shape) }
  shape[#shape + 1], shape[#shape + 2] = table.unpack(self.event_shape)
  return value:expand(shape)
end

local function variances (l) return (l * l):sum(-1) end

function MatrixNormal:mean () return each(self, self.loc) end
function MatrixNormal:mode () return each(self, self.loc) end

function MatrixNormal:variance ()
  return each(self, variances(self.row_scale_tril):unsqueeze(-1) * variances(self.column_scale_tril):unsqueeze(-2))
end

return MatrixNormal
