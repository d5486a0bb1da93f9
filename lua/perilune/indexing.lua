--- Tensors indexed by tensors.
local core     = require "perilune.core"
local no_more  = require "perilune.errors".no_more
local operands = require "perilune.operands"
local show     = require "perilune.show"

local fail, as_tensor, dimension = operands.fail, operands.tensor, operands.dimension

local indexing = {}

local gather = core.bind("row/gather", "gather", "Tensor[index]", { "t", "index" }, { "t", "index" })
local not_a_place = core.bind_predicate("constraint", "place", "place", { "x", "n" }, { "x", "n" })

-- An index of rows as a tensor, having seen that each of n rows it names is there.
local function index_of (who, index, n)
  index = as_tensor(who, index)
  local found = { not_a_place(index, n) }
  if #found == 0 then return index end
  local place = #found > 1 and " at [" .. table.concat(found, ", ", 2) .. "]" or ""
  fail(who, "an index must be an integer between 1 and %d (or -1 and -%d), got %s%s", n, n, show.number(found[1]),
       place)
end

-- The rows of t that a flat index names, in its order.
local function rows_of (t, index)
  local shape, width = core.shape(t), 1
  for d = 2, #shape do width = width * shape[d] end
  local rows = gather(t:reshape(shape[1], width), index)
  shape[1] = core.numel(index)
  return rows:reshape(shape)
end

--- t[index]: the rows of t that an index of any shape names, in that shape.
function indexing.rows (t, index)
  local shape = core.shape(t)
  if #shape == 0 then fail("Tensor[index]", "a tensor of rank 0 has no rows") end
  index = index_of("Tensor[index]", index, shape[1])
  local whole = core.shape(index)
  for d = 2, #shape do whole[#whole + 1] = shape[d] end
  return rows_of(t, index:reshape(-1)):reshape(whole)
end

--@ Tensor:index_select(dim, index) -> Tensor
-- The slices along a dimension that an index names, in its order; t[index] does it for the first. Gradients go back to
-- where slices came from.
--   index  list or tensor of integers, from 1
-- > tensor({ { 1, 2, 3 }, { 4, 5, 6 } }):index_select(2, { 3, 1 })
-- Tensor(2, 2)
--   3  1
--   6  4
function indexing.index_select (t, dim, index, ...)
  no_more("index_select(dim, index)", ...)
  local who = "Tensor:index_select"
  local shape = core.shape(t)
  dim = dimension(who, dim, #shape)
  index = index_of(who, index, shape[dim])
  if core.rank(index) ~= 1 then
    fail(who, "index must be a list of integers, got shape %s", show.shape(index.shape))
  end
  if dim == 1 then return rows_of(t, index) end
  return rows_of(t:transpose(1, dim), index):transpose(1, dim)
end

return indexing
