--- Reductions as functions of rows: the dimensions that are reduced are lined up as the last one.
local core = require "perilune.core"

local of_rows = {}   -- name -> what reduces rows
for name in core.each_kernel "row/reduce" do
  of_rows[name] = core.bind("row/reduce", name, "Tensor:" .. name, { "self" }, { "self" })
end

local lines = {}

--- t:name(dims, keep), as `plain` does it, with a derivative.
function lines.reduce (name, plain, t, dims, keep, ...)
  local shape, reduced, lengths, order, count = core.shape(t), {}, {}, {}, 1
  local result = core.shape(plain(core.bare(t), dims, keep, ...))
  local list = type(dims) == "table" and dims or { dims }
  for i = 1, rawlen(list) do
    local dim = rawget(list, i)
    reduced[dim > 0 and dim or dim + #shape + 1] = true
  end
  for d = 1, #shape do
    if dims and not reduced[d] then order[#order + 1], lengths[#lengths + 1] = d, shape[d] end
  end
  for d = 1, #shape do
    if not dims or reduced[d] then order[#order + 1], count = d, count * shape[d] end
  end
  lengths[#lengths + 1] = count
  local lined_up = #shape == 0 and t or t:permute(table.unpack(order))
  local values = of_rows[name](lined_up:reshape(lengths))
  return #result == 0 and values or values:reshape(result)
end

return lines
