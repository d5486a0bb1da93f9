--@ peri.LKJ
-- A correlation matrix R with density proportional to det^(concentration - 1).
--   dim            rows and columns
--   concentration  above 1 for weak correlations, 1 for all alike
--   formula        log p(R) = (concentration - 1) log det R - constant, over the elements below the diagonal
-- > LKJ(2, 3):log_prob({ { 1, 0.6 }, { 0.6, 1 } })
-- -0.9571127263944102
local Distribution = require "perilune.distribution"
local constraints  = require "perilune.constraints"
local core         = require "perilune.core"
local lkj          = require "perilune.lkj"
local matrices     = require "perilune.matrices"

local LKJ = Distribution:extend("LKJ", {
  kernels = "lkj",
  params = lkj.params, operands = lkj.operands, init = lkj.init,
  support = constraints.corr_matrix,
})

LKJ.expand, LKJ.mode = lkj.expand, lkj.mode

function LKJ:mean ()
  return matrices.beside(self:batched(1)) * core.eye(self.dim)
end

--- (1 + a correlation)/2 is Beta(c, c) with c = concentration + dim/2 - 1.
function LKJ:variance ()
  return (1 - core.eye(self.dim)) / matrices.beside(2 * self.concentration + (self.dim - 1))
end

return LKJ
