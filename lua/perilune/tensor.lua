--- Tensors: methods and operators, on top of the C core.
local core      = require "perilune.core"
local errors    = require "perilune.errors"
local functions = require "perilune.functions"
local lazy      = require "perilune.lazy"
local operands  = require "perilune.operands"

local comparing, indexing, joining = lazy "comparing", lazy "indexing", lazy "joining"
local lines, lists                = lazy "lines", lazy "names"

local fail, as_tensor, dimension = operands.fail, operands.tensor, operands.dimension

local no_more = errors.no_more

--@ Tensor
-- Numbers of double precision in any number of dimensions, row by row. Dimensions and positions count from 1, or from
-- -1 backwards; shapes of operands are broadcast. t[i] is row i, or a number if t is a vector; t[index] gathers the
-- rows that a list of integers names; t[i] = value writes; #t is the first size. The operators + - * / ^ % work
-- element by element, with numbers and tables too. A result that is a single number without a gradient is a Lua
-- number.
-- > t = tensor { { 1, 2 }, { 3, 4 } }
-- > #t, t[2][1], (10 * t):sum()
-- 2  3.0  100.0

local methods = core.methods   -- t:name(...), here those of C
local public  = core.public    -- peri.name(...)

for name, fn in next, functions do methods[name] = fn end

for name in core.each_kernel "reduce" do methods[name] = core.reduction(name, "Tensor:" .. name) end
-- Those whose derivative needs a whole line at once are functions of rows where there is a gradient.
for name in core.each_kernel "row/reduce" do
  local plain = methods[name]
  methods[name] = function (t, ...)
    if not core.tracked(t) then return plain(t, ...) end
    return lines.reduce(name, plain, t, ...)
  end
end

-- Many lines of few elements are taken side by side: element j of each is operand j of a kernel. Values have the
-- same bits either way.
local FEW, MANY = 8, 32   -- elements of a line that there are kernels for; elements of all lines
local logsumexp, of_few = methods.logsumexp, {}

local function bind_few (k)
  local names = {}
  for j = 1, k do names[j] = "element " .. j end
  of_few[k] = core.bind("few", "logsumexp" .. k, "Tensor:logsumexp", names, names)
  return of_few[k]
end

function methods.logsumexp (t, dim, keep, ...)
  if math.type(dim) ~= "integer" or not core.is_tensor(t) or core.numel(t) < MANY or select("#", ...) > 0 then
    return logsumexp(t, dim, keep, ...)
  end
  local shape = core.shape(t)
  local d = dim < 0 and dim + #shape + 1 or dim
  local k = shape[d]
  if not k or k < 2 or k > FEW then return logsumexp(t, dim, keep) end
  local values = (of_few[k] or bind_few(k))(core.slices(t, d))
  return keep and values:unsqueeze(d) or values
end

for name in core.each_kernel "reduce" do public[name] = methods[name] end   -- of tables too


--- Functions of rows, along the dimension `dim` (the last unless told).
local function along (file, name)
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
  for name in core.each_kernel(file) do
    methods[name] = along(file, name)
    public[name] = methods[name]
  end
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
  local rows, call = methods[name], name .. "(t, dim)"
  methods[name] = function (t, dim, ...)
    no_more(call, ...)
    t = as_tensor(name, t)
    return rows(dim and t or t:reshape(-1), dim)
  end
  public[name] = methods[name]
end


--- Functions that are loaded when one of them is first called.
local elsewhere = {
  comparing        = "equal allclose",
  ordering         = "sort argsort quantile median one_hot",
  matrix_functions = "diag diag_embed diagonal tril triu cholesky logdet solve_triangular cholesky_solve",
  statistics       = "histogram unique cov corr",
}
for module, names in pairs(elsewhere) do
  local functions_of = lazy(module)
  for name in names:gmatch("%S+") do
    methods[name] = function (...) return functions_of[name](...) end
    public[name] = methods[name]
  end
end


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
function methods.matmul (a, b, ...)
  no_more("matmul(a, b)", ...)
  a, b = as_tensor("matmul", a), as_tensor("matmul", b)
  local rank_a, rank_b = core.rank(a), core.rank(b)
  if rank_a == 0 or rank_b == 0 then fail("matmul", "both operands need at least one dimension") end
  local product = rank_a == 1 and (rank_b == 1 and dot or vecmat) or rank_b == 1 and matvec or matmul
  return product(a, b)
end

public.matmul = methods.matmul


--@ Tensor:squeeze(dim) -> Tensor
-- Without a dimension of size 1, or without all of them: a view.
--   dim  integer, from 1, or from -1 backwards; all of size 1 unless told
-- > #zeros(1, 3, 1):squeeze().shape
-- 1
function methods.squeeze (t, dim, ...)
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

--@ Tensor:unsqueeze(dim) -> Tensor
-- With a new dimension of size 1 at this place: a view.
-- > table.unpack(zeros(2, 3):unsqueeze(-1).shape)
-- 2  3  1
function methods.unsqueeze (t, dim, ...)
  no_more("unsqueeze(dim)", ...)
  local shape = core.shape(t)
  dim = dimension("Tensor:unsqueeze", dim, #shape + 1)
  local order = {}   -- the new dimension comes first, and goes to its place
  for d = 1, #shape do order[d] = d + 1 end
  table.insert(order, dim, 1)
  table.insert(shape, 1, 1)
  return t:expand(shape):permute(table.unpack(order))
end

--@ Tensor:flatten() -> Tensor
-- All elements as a vector, in their order.
-- > tensor({ { 1, 2 }, { 3, 4 } }):flatten()
-- Tensor(4)
--   1  2  3  4
function methods.flatten (t, ...)
  no_more("flatten()", ...)
  return t:reshape(-1)
end


-- t[index]: the rows of t that an index of any shape names, in that shape.
local function indexed (t, index) return indexing.rows(t, index) end

--@ Tensor:index_select(dim, index) -> Tensor
-- The slices along a dimension that an index names, in its order; t[index] does it for the first. Gradients go back to
-- where slices came from.
--   index  list or tensor of integers, from 1
-- > tensor({ { 1, 2, 3 }, { 4, 5, 6 } }):index_select(2, { 3, 1 })
-- Tensor(2, 2)
--   3  1
--   6  4
function methods.index_select (...) return indexing.index_select(...) end

--- Tensors joined along a dimension that they have, or along a new one.
function public.cat (...) return joining.cat(...) end
function public.stack (...) return joining.stack(...) end



local metatable = core.tensor_metatable()
for event, name in pairs { __add = "add", __sub = "sub", __mul = "mul", __div = "div",
                           __pow = "pow", __mod = "mod" } do
  metatable[event] = core.bind_operator("op/arithmetic", name, name, { "x", "y" }, { "x", "y" })
end
metatable.__unm = core.bind("op/arithmetic", "neg", "neg", { "x", "same" }, { "x" })   -- Lua passes it twice
function metatable.__lt (a, b) return comparing.number(a) < comparing.number(b) end
function metatable.__le (a, b) return comparing.number(a) <= comparing.number(b) end
function metatable.__concat (a, b) return tostring(a) .. tostring(b) end
function metatable.__eq (a, b) return core.is_tensor(a) and core.is_tensor(b) and comparing.equal(a, b) end
metatable.__len      = core.length
metatable.__index    = core.indexer(methods, core.fields, indexed)
metatable.__newindex = core.newindex

-- What a tensor answers to: its methods, and fields such as shape.
function metatable.__names () return lists.of_tables(methods, core.fields) end

--- pairs(t) lists methods and fields; elements are t[i], or t:totable().
function metatable.__pairs (t) return lists.answers(t, metatable.__names()) end
function metatable.__tostring (t) return require "perilune.columns"(t) end

return public
