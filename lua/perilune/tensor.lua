--- Tensors: methods, operators, joining and printing, on top of the C core.
local core      = require "perilune.core"
local functions = require "perilune.functions"
local show      = require "perilune.show"

local methods = {}   -- t:name(...)
local public  = {}   -- peri.name(...)

for name, fn in pairs(functions) do methods[name] = fn end

for _, name in ipairs { "totable", "item", "numel", "select", "narrow", "transpose", "permute",
                        "expand", "reshape", "contiguous", "clone", "at", "copy" } do
  methods[name] = core[name]
end

for _, name in ipairs { "tensor", "zeros", "ones", "full", "arange", "linspace", "eye",
                        "is_tensor" } do
  public[name] = core[name]
end

for _, name in ipairs { "sum", "mean", "prod", "logsumexp", "std", "var", "all", "any" } do
  methods[name] = core.reduction(name, "Tensor:" .. name, false)
end
for _, name in ipairs { "max", "min", "argmax", "argmin" } do   -- these choose an element
  methods[name] = core.reduction(name, "Tensor:" .. name, true)
end


local function as_tensor (x) return core.is_tensor(x) and x or core.tensor(x) end

local function fail (who, ...) error(who .. ": " .. string.format(...), 3) end

local function rank (t) return #core.shape(t) end

-- A dimension counted from 1, or from -1 backwards.
local function dimension (who, dim, n)
  if math.type(dim) ~= "integer" or dim == 0 or dim > n or dim < -n then
    fail(who, "dim must be an integer between 1 and %d (or -1 and -%d), got %s", n, n, tostring(dim))
  end
  return dim > 0 and dim or dim + n + 1
end


--- Functions of rows, along the dimension `dim` (the last unless told).
local function along (name)
  local rows = core.bind_rows("row/softmax", name, name)
  return function (t, dim)
    t = as_tensor(t)
    local n = rank(t)
    if n == 0 then fail(name, "a tensor of rank 0 has no rows") end
    dim = dimension(name, dim or -1, n)
    if dim == n then return rows(t) end
    return rows(t:transpose(dim, -1)):transpose(dim, -1)
  end
end

methods.softmax     = along "softmax"
methods.log_softmax = along "log_softmax"
local cumsum        = along "cumsum"

--- t:cumsum(dim), or of all elements in order.
function methods.cumsum (t, dim)
  t = as_tensor(t)
  return cumsum(dim and t or t:reshape(-1), dim)
end


local product = core.bind_rows("row/matmul", "matmul", "matmul")

--- Product of matrices, batches broadcast; a vector is a row on the left and a
-- column on the right, and its dimension is dropped from the result.
function methods.matmul (a, b)
  a, b = as_tensor(a), as_tensor(b)
  local rank_a, rank_b = rank(a), rank(b)
  if rank_a == 0 or rank_b == 0 then fail("matmul", "both operands need at least one dimension") end
  if rank_a > 1 and rank_b > 1 then return product(a, b) end
  local left  = rank_a == 1 and a:reshape(1, -1) or a
  local right = rank_b == 1 and b:reshape(-1, 1) or b
  local c = product(left, right)
  if rank_b == 1 then c = c:select(-1, 1) end
  if rank_a == 1 then c = c:select(rank_b == 1 and -1 or -2, 1) end
  return c
end


--- Dimensions of one element: taken away, or put in before `dim`.
function methods.squeeze (t, dim)
  local shape = core.shape(t)
  if dim then
    dim = dimension("Tensor:squeeze", dim, #shape)
    return shape[dim] == 1 and t:select(dim, 1) or t
  end
  local kept = {}
  for _, n in ipairs(shape) do if n ~= 1 then kept[#kept + 1] = n end end
  return t:reshape(kept)
end

function methods.unsqueeze (t, dim)
  local shape = core.shape(t)
  table.insert(shape, dimension("Tensor:unsqueeze", dim, #shape + 1), 1)
  return t:reshape(shape)
end

function methods.flatten (t) return t:reshape(-1) end


local function list_of_tensors (who, list)
  if type(list) ~= "table" or #list == 0 then
    fail(who, "tensors must be a table of at least one tensor, got %s", show.value(list))
  end
  local tensors = {}
  for i, t in ipairs(list) do tensors[i] = as_tensor(t) end
  return tensors
end

local function same_shape (who, a, b, except)
  for d = 1, math.max(#a, #b) do
    if d ~= except and a[d] ~= b[d] then
      error(who .. ": shapes " .. show.shape(a) .. " and " .. show.shape(b) .. " do not fit", 4)
    end
  end
end

--- Joins tensors along a dimension that they have.
function public.cat (list, dim)
  local tensors = list_of_tensors("cat", list)
  local shape = core.shape(tensors[1])
  dim = dimension("cat", dim or 1, #shape)
  local total = 0
  for _, t in ipairs(tensors) do
    same_shape("cat", shape, core.shape(t), dim)
    total = total + core.shape(t)[dim]
  end
  shape[dim] = total
  local out, at = core.zeros(shape), 1
  for _, t in ipairs(tensors) do
    local n = core.shape(t)[dim]
    out:narrow(dim, at, n):copy(t)
    at = at + n
  end
  return out
end

--- Joins tensors of one shape along a new dimension.
function public.stack (list, dim)
  local tensors = list_of_tensors("stack", list)
  local shape = core.shape(tensors[1])
  dim = dimension("stack", dim or 1, #shape + 1)
  for i, t in ipairs(tensors) do
    same_shape("stack", shape, core.shape(t))
    tensors[i] = t:unsqueeze(dim)
  end
  return public.cat(tensors, dim)
end


--- Same shape, same elements.
function methods.equal (a, b)
  a, b = as_tensor(a), as_tensor(b)
  local sa, sb = core.shape(a), core.shape(b)
  if #sa ~= #sb then return false end
  for d = 1, #sa do if sa[d] ~= sb[d] then return false end end
  return a:eq(b):all():item() == 1
end

--- Elements that differ by at most atol + rtol |b|.
function methods.allclose (a, b, rtol, atol)
  return as_tensor(functions.isclose(a, b, rtol or 1e-9, atol or 0)):all():item() == 1
end

public.equal, public.allclose = methods.equal, methods.allclose
public.matmul, public.softmax, public.log_softmax = methods.matmul, methods.softmax, methods.log_softmax
public.logsumexp = methods.logsumexp


-- One-element tensors compare as their numbers do.
local function number (x)
  if type(x) == "number" then return x end
  if core.is_tensor(x) and core.numel(x) == 1 then return core.item(x) end
  error("only numbers and tensors of one element can be ordered; t:lt(u) compares element by element", 3)
end

local metatable = core.tensor_metatable()
for event, name in pairs { __add = "add", __sub = "sub", __mul = "mul", __div = "div",
                           __pow = "pow", __mod = "mod" } do
  metatable[event] = functions[name]
end
function metatable.__unm (t) return functions.neg(t) end
function metatable.__lt (a, b) return number(a) < number(b) end
function metatable.__le (a, b) return number(a) <= number(b) end
function metatable.__concat (a, b) return tostring(a) .. tostring(b) end
function metatable.__eq (a, b) return core.is_tensor(a) and core.is_tensor(b) and methods.equal(a, b) end
metatable.__len      = core.length
metatable.__index    = core.indexer(methods, core.shape)
metatable.__newindex = core.newindex
metatable.__tostring = show.tensor

return public
