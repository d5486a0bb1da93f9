--@ peri.LKJCholesky
-- The Cholesky factor L of a correlation matrix with density proportional to det^(concentration - 1).
--   dim            rows and columns
--   concentration  above 1 for weak correlations, 1 for all alike
--   formula        log p(L) = sum over rows i > 1 of (dim - i + 2 concentration - 2) log L[i][i] - constant, over
--                  the elements below the diagonal
-- > LKJCholesky(2, 3):log_prob({ { 1, 0 }, { 0.6, 0.8 } })
-- -0.9571127263944103
local Distribution = require "perilune.distribution"
local constraints  = require "perilune.constraints"
local lkj          = require "perilune.lkj"

local LKJCholesky = Distribution:extend("LKJCholesky", {
  kernels = "lkjcholesky",
  params = lkj.params, operands = lkj.operands, init = lkj.init,
  support = constraints.corr_cholesky,
})

LKJCholesky.expand, LKJCholesky.mode = lkj.expand, lkj.mode

return LKJCholesky
