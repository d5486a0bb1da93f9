--- Parts along a dimension: what `cat` and `stack` of constraints and transforms are given beside their lists.
local core  = require "perilune.core"
local raise = require "perilune.errors".raise
local show  = require "perilune.show"

local layout = {}

--- A dimension of tensors whose rank is not known yet: from 1, or from -1 backwards.
function layout.dimension (who, dim)
  if math.type(dim) ~= "integer" or dim == 0 then
    raise("%s: dim must be an integer other than 0, got %s", who, show.value(dim))
  end
  return dim
end

--- A length for each of n parts, 1 unless told.
function layout.lengths (who, lengths, n)
  local each = {}
  if lengths ~= nil and core.table_kind(lengths) ~= "data" then
    raise("%s: lengths must be a table of integers, got %s", who, show.value(lengths))
  end
  for i = 1, n do
    each[i] = lengths and lengths[i] or 1
    if math.type(each[i]) ~= "integer" or each[i] < 0 then
      raise("%s: lengths must be non-negative integers, got %s at [%d]", who, show.value(each[i]), i)
    end
  end
  return each
end

return layout
