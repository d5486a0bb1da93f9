--- Reductions of lines: as functions of rows, the dimensions that are reduced being lined up as the last one; and of
-- few elements each, side by side.
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

-- Many lines of few elements are taken side by side: element j of each is operand j of a kernel. Values have the
-- same bits either way.
local FEW, MANY = 8, 32   -- elements of a line that there are kernels for; elements of all lines
local of_few = {}

local function bind_few (k)
  local names = {}
  for j = 1, k do names[j] = "element " .. j end
  of_few[k] = core.bind("few", "logsumexp" .. k, "Tensor:logsumexp", names, names)
  return of_few[k]
end

--- t:logsumexp(dim, keep), as `plain` does it.
function lines.logsumexp (plain, t, dim, keep, ...)
  if math.type(dim) ~= "integer" or not core.is_tensor(t) or core.numel(t) < MANY or select("#", ...) > 0 then
    return plain(t, dim, keep, ...)
  end
  local shape = core.shape(t)
  local d = dim < 0 and dim + #shape + 1 or dim
  local k = shape[d]
  if not k or k < 2 or k > FEW then return plain(t, dim, keep) end
  local values = (of_few[k] or bind_few(k))(core.slices(t, d))
  return keep and values:unsqueeze(d) or values
end

return lines
