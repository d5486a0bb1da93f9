--- CorrMatrix: a correlation matrix, d by d, from d (d - 1)/2 numbers: the product of the factor that CorrCholesky
-- makes of them.
local CorrCholesky = require "perilune.transforms.CorrCholesky"
local constraints  = require "perilune.constraints"
local core         = require "perilune.core"
local matrices     = require "perilune.matrices"
local transform    = require "perilune.transform"

local factor  = CorrCholesky()
local log_det = core.bind("row/corr_cholesky", "matrix_log_det", "CorrMatrix", { "x" }, { "x" })

--@ peri.transforms.CorrMatrix() -> Transform
-- A correlation matrix, d by d, from d (d - 1)/2 free numbers: the product of the factor that CorrCholesky makes of
-- them.
-- > transforms.CorrMatrix() { 0 }
-- Tensor(2, 2)
--   1  0
--   0  1
return transform.kind("CorrMatrix", {
  domain = constraints.real_vector, codomain = constraints.corr_matrix,
  forward = function (self, x)
    self:forward_shape(core.shape(x))
    local product = matrices.outer(factor:forward(x))
    local one = core.eye(product.shape[#product.shape])
    return product * (1 - one) + one
  end,
  inverse       = function (_, y) return factor:inverse(matrices.cholesky(y)) end,
  log_det       = transform.plain(log_det),
  forward_shape = CorrCholesky.forward_shape,
  inverse_shape = CorrCholesky.inverse_shape,
})
