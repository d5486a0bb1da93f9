--- Tensors with the same elements in another shape.
local core      = require "perilune.core"
local no_more   = require "perilune.errors".no_more
local dimension = require "perilune.operands".dimension

local shapes = {}

--@ Tensor:squeeze(dim) -> Tensor
-- Without a dimension of size 1, or without all of them: a view.
--   dim  integer, from 1, or from -1 backwards; all of size 1 unless told
-- > #zeros(1, 3, 1):squeeze().shape
-- 1
function shapes.squeeze (t, dim, ...)
  no_more("squeeze(dim)", ...)
  local shape = core.shape(t)
  if dim then
    dim = dimension("Tensor:squeeze", dim, #shape)
    return shape[dim] == 1 and t:select(dim, 1) or t
  end
  for d = #shape, 1, -1 do
    if shape[d] == 1 then t = t:select(d, 1) end
  end
  return t
end

--@ Tensor:flatten() -> Tensor
-- All elements as a vector, in their order.
-- > tensor({ { 1, 2 }, { 3, 4 } }):flatten()
-- Tensor(4)
--   1  2  3  4
function shapes.flatten (t, ...)
  no_more("flatten()", ...)
  return t:reshape(-1)
end

return shapes
