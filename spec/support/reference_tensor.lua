--- A slow tensor in plain Lua, to compare the real one with.
--
-- A model is { shape = {...}, ... }, its elements in row-major order in the
-- array part. Views are copies here; nothing is clever.
local core = require "perilune.core"

local model = {}

local unpack, huge = table.unpack, math.huge


-- Making ----------------------------------------------------------------------

function model.count (shape)
  local n = 1
  for _, extent in ipairs(shape) do n = n * extent end
  return n
end

-- Calls visit(index) for every index of the shape, in row-major order.
local function each (shape, visit)
  local index = {}
  for d = 1, #shape do index[d] = 1 end
  for _ = 1, model.count(shape) do
    visit(index)
    local d = #shape
    while d > 0 and index[d] == shape[d] do
      index[d] = 1
      d = d - 1
    end
    if d > 0 then index[d] = index[d] + 1 end
  end
end

--- The model whose element at `index` is element(index).
function model.build (shape, element)
  local m = { shape = { unpack(shape) } }
  each(shape, function (index) m[#m + 1] = element(index) end)
  return m
end

--- The element at an index; dimensions of one element are stretched, and
-- leading dimensions that the model does not have are ignored.
function model.at (m, index)
  local place, skip = 0, #index - #m.shape
  for d, extent in ipairs(m.shape) do
    local i = extent == 1 and 1 or index[d + skip]
    place = place * extent + i - 1
  end
  return m[place + 1]
end

local function flatten (list, depth, out)
  for _, x in ipairs(list) do
    if depth > 1 then flatten(x, depth - 1, out) else out[#out + 1] = x end
  end
  return out
end

--- What a tensor says it holds.
function model.of (t)
  if type(t) == "number" then return { shape = {}, t } end
  local shape = t.shape
  local m = #shape == 0 and { core.item(t) } or flatten(t:totable(), #shape, {})
  m.shape = shape
  return m
end

--- The nested table of a model.
function model.totable (m)
  local function nested (d, first)
    if d > #m.shape then return m[first] end
    local list, size = {}, model.count { unpack(m.shape, d + 1) }
    for i = 1, m.shape[d] do list[i] = nested(d + 1, first + (i - 1) * size) end
    return list
  end
  return nested(1, 1)
end


-- Views -----------------------------------------------------------------------

function model.permute (m, ...)
  local order, shape = { ... }, {}
  for d, source in ipairs(order) do shape[d] = m.shape[source] end
  return model.build(shape, function (index)
    local from = {}
    for d, source in ipairs(order) do from[source] = index[d] end
    return model.at(m, from)
  end)
end

function model.transpose (m, a, b)
  local order = {}
  for d = 1, #m.shape do order[d] = d end
  order[a], order[b] = b, a
  return model.permute(m, unpack(order))
end

function model.narrow (m, dim, first, length)
  local shape = { unpack(m.shape) }
  shape[dim] = length
  return model.build(shape, function (index)
    local from = { unpack(index) }
    from[dim] = from[dim] + first - 1
    return model.at(m, from)
  end)
end

function model.select (m, dim, i)
  local shape = { unpack(m.shape) }
  table.remove(shape, dim)
  return model.build(shape, function (index)
    local from = { unpack(index) }
    table.insert(from, dim, i)
    return model.at(m, from)
  end)
end

function model.expand (m, shape)
  return model.build(shape, function (index) return model.at(m, index) end)
end

function model.reshape (m, shape)
  return table.move(m, 1, #m, 1, { shape = { unpack(shape) } })
end


-- Arithmetic --------------------------------------------------------------------

local function broadcast (models)
  local rank, shape = 0, {}
  for _, m in ipairs(models) do rank = math.max(rank, #m.shape) end
  for d = 1, rank do
    shape[d] = 1
    for _, m in ipairs(models) do
      local extent = m.shape[d - rank + #m.shape]
      if extent and extent ~= 1 then shape[d] = extent end
    end
  end
  return shape
end

--- f of every element, operands broadcast.
function model.map (f, ...)
  local models = { ... }
  return model.build(broadcast(models), function (index)
    local x = {}
    for k, m in ipairs(models) do x[k] = model.at(m, index) end
    return f(unpack(x))
  end)
end

--- f(list of elements) along a set of dimensions, { [dim] = true }.
function model.reduce (f, m, dims, keep)
  local kept, shape = {}, {}
  for d, extent in ipairs(m.shape) do
    if not dims[d] then
      kept[#kept + 1] = d
      shape[#shape + 1] = extent
    elseif keep then
      shape[#shape + 1] = 1
    end
  end
  local lists, extents = {}, {}
  for k, d in ipairs(kept) do extents[k] = m.shape[d] end
  for i = 1, model.count(shape) do lists[i] = {} end
  each(m.shape, function (index)
    local place = 0
    for k, d in ipairs(kept) do place = place * extents[k] + index[d] - 1 end
    local list = lists[place + 1]
    list[#list + 1] = model.at(m, index)
  end)
  local out = { shape = shape }
  for i, list in ipairs(lists) do out[i] = f(list) end
  return out
end

--- f(list) -> list along one dimension.
function model.along (f, m, dim)
  local order = {}
  for d = 1, #m.shape do order[d] = d end
  order[dim], order[#order] = #order, dim
  local rows, n = model.permute(m, unpack(order)), m.shape[dim]
  for first = 1, #rows, n do
    local list = f(table.move(rows, first, first + n - 1, 1, {}))
    for i = 1, n do rows[first + i - 1] = list[i] end
  end
  return model.permute(rows, unpack(order))
end

--- Matrices in the last two dimensions, batches broadcast.
function model.matmul (a, b)
  local m, k, n = a.shape[#a.shape - 1], a.shape[#a.shape], b.shape[#b.shape]
  local shape = broadcast { { shape = { unpack(a.shape, 1, #a.shape - 2) } },
                            { shape = { unpack(b.shape, 1, #b.shape - 2) } } }
  local rank = #shape
  shape[rank + 1], shape[rank + 2] = m, n
  return model.build(shape, function (index)
    local i, j, sum = index[rank + 1], index[rank + 2], 0
    local left, right = { unpack(index) }, { unpack(index) }
    for q = 1, k do
      left[rank + 1], left[rank + 2] = i, q
      right[rank + 1], right[rank + 2] = q, j
      sum = sum + model.at(a, left) * model.at(b, right)
    end
    return sum
  end)
end


-- Comparing ---------------------------------------------------------------------

--- Same bits; NaN is NaN whatever its payload.
function model.same_bits (x, y)
  if x ~= x or y ~= y then return x ~= x and y ~= y end
  return x == y and 1 / x == 1 / y
end

--- The same within `tolerance`, relative to the larger of |y| and `scale`.
function model.near (tolerance, scale)
  return function (x, y)
    if x ~= x or y ~= y then return x ~= x and y ~= y end
    if x == y then return true end
    return math.abs(x - y) <= tolerance * math.max(math.abs(y), scale or 0) and math.abs(y) < huge
  end
end

--- Nil when the tensor (or number) agrees with the model, else where and how
-- it differs: so that assert.is_nil shows what is wrong.
function model.difference (t, m, agree)
  agree = agree or model.same_bits
  local got = model.of(t)
  local shape, wanted = table.concat(got.shape, ", "), table.concat(m.shape, ", ")
  if shape ~= wanted or #got.shape ~= #m.shape then
    return "shape (" .. shape .. ") instead of (" .. wanted .. ")"
  end
  if #got ~= #m then return #got .. " elements instead of " .. #m end
  for i = 1, #m do
    if not agree(got[i], m[i]) then
      return string.format("element %d of shape (%s) is %.17g instead of %.17g", i, shape, got[i], m[i])
    end
  end
end


-- Random cases --------------------------------------------------------------------

--- A source of repeatable choices: source(n) gives an integer from 1 to n.
function model.source (seed)
  local state = seed % 2147483646 + 1   -- Lehmer's generator, exact in doubles
  return function (n)
    for _ = 1, 2 do state = state * 48271 % 2147483647 end
    return math.floor(state / 8) % n + 1
  end
end

--- A number that adds, multiplies and divides with rounding: 16 bits of it.
function model.random_number (source)
  return (source(65536) - 32768) / 9973
end

function model.random_shape (source, rank, largest)
  local shape = {}
  for d = 1, rank do shape[d] = source(largest + 1) - 1 end
  return shape
end

--- A tensor of the given shape with strides of its own, and its model. It is
-- a view: of a permuted, larger or smaller tensor.
function model.random_view (peri, source, shape, number)
  number = number or model.random_number
  local rank, order = #shape, {}
  for d = 1, rank do table.insert(order, source(d), d) end
  local base, first, stretched = {}, {}, {}
  for d = 1, rank do
    local extent = shape[order[d]]
    stretched[d] = source(4) == 1
    base[d] = stretched[d] and 1 or extent + source(3) - 1
    first[d] = source(base[d] - (stretched[d] and 1 or extent) + 1)
  end
  local m = model.build(base, function () return number(source) end)
  if rank == 0 then return peri.tensor(m[1]), m end
  local t = peri.tensor(table.move(m, 1, #m, 1, {})):reshape(base)
  local back = {}
  for d = 1, rank do
    if not stretched[d] then
      t = t:narrow(d, first[d], shape[order[d]])
      m = model.narrow(m, d, first[d], shape[order[d]])
    end
    back[order[d]] = d
  end
  local full = {}
  for d = 1, rank do full[d] = shape[order[d]] end
  t, m = t:expand(full), model.expand(m, full)
  return t:permute(unpack(back)), model.permute(m, unpack(back))
end

return model
