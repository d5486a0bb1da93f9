--- Products of matrices and vectors.
local core     = require "perilune.core"
local no_more  = require "perilune.errors".no_more
local operands = require "perilune.operands"

local fail, as_tensor = operands.fail, operands.tensor

local products = {}

local function bind_product (kernel) return core.bind("row/matmul", kernel, "matmul", { "a", "b" }, { "a", "b" }) end
local matmul, matvec, vecmat, dot =
  bind_product "matmul", bind_product "matvec", bind_product "vecmat", bind_product "dot"

--@ peri.matmul(a, b) -> number or Tensor
-- The product of matrices; batches are broadcast. A vector is a row on the left and a column on the right, and its
-- dimension is dropped from the result.
--   a  tensor, or a table of numbers
--   b  tensor, or a table of numbers
-- > matmul({ { 1, 2 }, { 3, 4 } }, { 1, 1 })
-- Tensor(2)
--   3  7
-- > matmul({ 1, 2 }, { 3, 4 })
-- 11.0
function products.matmul (a, b, ...)
  no_more("matmul(a, b)", ...)
  a, b = as_tensor("matmul", a), as_tensor("matmul", b)
  local rank_a, rank_b = core.rank(a), core.rank(b)
  if rank_a == 0 or rank_b == 0 then fail("matmul", "both operands need at least one dimension") end
  local product = rank_a == 1 and (rank_b == 1 and dot or vecmat) or rank_b == 1 and matvec or matmul
  return product(a, b)
end

return products
