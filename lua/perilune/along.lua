--- Functions of rows, along the dimension `dim` (the last unless told): softmax, sums so far and others.
local core     = require "perilune.core"
local no_more  = require "perilune.errors".no_more
local operands = require "perilune.operands"

local fail, as_tensor, dimension = operands.fail, operands.tensor, operands.dimension

local along = {}

local function bind_along (file, name)
  local rows = core.bind(file, name, name, { "self" }, { "self" })
  return function (t, dim, ...)
    no_more(name .. "(t, dim)", ...)
    t = as_tensor(name, t)
    local n = core.rank(t)
    if n == 0 then fail(name, "a tensor of rank 0 has no rows") end
    dim = dimension(name, dim or -1, n)
    if dim == n then return rows(t) end
    return rows(t:transpose(dim, -1)):transpose(dim, -1)
  end
end

for _, file in ipairs { "row/softmax", "row/along" } do
  for name in core.each_kernel(file) do along[name] = bind_along(file, name) end
end

--@ peri.cumsum(t, dim) -> Tensor
-- Sums of the elements so far along a dimension, or of all elements in their order, as a vector.
--   dim  integer, from 1, or from -1 backwards; all elements unless told
-- > cumsum({ 1, 2, 3 })
-- Tensor(3)
--   1  3  6

--@ peri.cumprod(t, dim) -> Tensor
-- Products of the elements so far along a dimension, or of all elements in their order, as a vector.
--   dim  integer, from 1, or from -1 backwards; all elements unless told
-- > cumprod({ 1, 2, 3 })
-- Tensor(3)
--   1  2  6
for _, name in ipairs { "cumsum", "cumprod" } do
  local rows, call = along[name], name .. "(t, dim)"
  along[name] = function (t, dim, ...)
    no_more(call, ...)
    t = as_tensor(name, t)
    return rows(dim and t or t:reshape(-1), dim)
  end
end

return along
