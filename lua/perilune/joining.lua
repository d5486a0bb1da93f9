--- Tensors joined: `cat` and `stack`.
local core     = require "perilune.core"
local no_more  = require "perilune.errors".no_more
local operands = require "perilune.operands"
local show     = require "perilune.show"

local fail, as_tensor, dimension = operands.fail, operands.tensor, operands.dimension

local joining = {}

local function list_of_tensors (who, list)
  if type(list) ~= "table" or rawlen(list) == 0 then
    fail(who, "tensors must be a table of at least one tensor, got %s", show.value(list))
  end
  local tensors = core.check_list(who, "tensors", list)
  for i, t in ipairs(tensors) do tensors[i] = as_tensor(who, t) end
  return tensors
end

local function same_shape (who, a, b, except)
  local same = #a == #b
  for d = 1, #a do same = same and (d == except or a[d] == b[d]) end
  if not same then fail(who, "shapes %s and %s do not fit", show.shape(a), show.shape(b)) end
end

local MOST = 8   -- tensors that core.join and core.stack take

-- Joins many tensors in groups, so that each step has few.
local function cat_groups (tensors, dim)
  local groups = {}
  for i = 1, #tensors, MOST do
    groups[#groups + 1] = joining.cat({ table.unpack(tensors, i, math.min(i + MOST - 1, #tensors)) }, dim)
  end
  return joining.cat(groups, dim)
end

--@ peri.cat(tensors, dim) -> Tensor
-- Joins tensors along a dimension that they have; the other sizes must be the same.
--   tensors  list of tensors
--   dim      integer, from 1, or from -1 backwards; 1 unless told
-- > cat { { 1, 2 }, { 3 } }
-- Tensor(3)
--   1  2  3
function joining.cat (list, dim, ...)
  no_more("cat(tensors, dim)", ...)
  local tensors = list_of_tensors("cat", list)
  local shape = core.shape(tensors[1])
  if #shape == 0 then fail("cat", "single numbers have no dimension to be joined along; stack makes one") end
  if #tensors <= MOST then return core.join(dim or 1, table.unpack(tensors)) end
  dim = dimension("cat", dim or 1, #shape)
  local total, tracked = 0, false
  for _, t in ipairs(tensors) do
    same_shape("cat", shape, core.shape(t), dim)
    total, tracked = total + core.shape(t)[dim], tracked or core.tracked(t)
  end
  if tracked then return cat_groups(tensors, dim) end
  shape[dim] = total
  local out, at = core.zeros(shape), 1
  for _, t in ipairs(tensors) do
    local n = core.shape(t)[dim]
    out:narrow(dim, at, n):copy(t)
    at = at + n
  end
  return out
end

--@ peri.stack(tensors, dim) -> Tensor
-- Joins tensors, or numbers, of one shape along a new dimension.
--   tensors  list of tensors or numbers
--   dim      integer: where the new dimension is; 1 unless told
-- > stack { { 1, 2 }, { 3, 4 } }
-- Tensor(2, 2)
--   1  2
--   3  4
function joining.stack (list, dim, ...)
  no_more("stack(tensors, dim)", ...)
  local tensors = list_of_tensors("stack", list)
  if #tensors <= MOST then return core.stack(dim or 1, table.unpack(tensors)) end
  local shape = core.shape(tensors[1])
  dim = dimension("stack", dim or 1, #shape + 1)
  for i, t in ipairs(tensors) do
    same_shape("stack", shape, core.shape(t))
    tensors[i] = t:unsqueeze(dim)
  end
  return joining.cat(tensors, dim)
end

return joining
