--- Tensors: methods and operators, on top of the C core.
local core      = require "perilune.core"
local functions = require "perilune.functions"
local lazy      = require "perilune.lazy"

local along, comparing, indexing, joining = lazy "along", lazy "comparing", lazy "indexing", lazy "joining"
local lines, lists, shapes                = lazy "lines", lazy "names", lazy "shapes"

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

local logsumexp = methods.logsumexp
function methods.logsumexp (...) return lines.logsumexp(logsumexp, ...) end

for name in core.each_kernel "reduce" do public[name] = methods[name] end   -- of tables too


--- Functions in other files, each of which is loaded when a function of it is first called.
local function add_late (module, name)
  local function call (...) return module[name](...) end
  methods[name], public[name] = call, call
end

local elsewhere = {
  comparing        = "equal allclose",
  ordering         = "sort argsort quantile median one_hot",
  matrix_functions = "diag diag_embed diagonal tril triu cholesky logdet solve_triangular cholesky_solve",
  products         = "matmul",
  statistics       = "histogram unique cov corr",
}
for file, names in pairs(elsewhere) do
  local module = lazy(file)
  for name in names:gmatch("%S+") do add_late(module, name) end
end

for _, file in ipairs { "row/softmax", "row/along" } do
  for name in core.each_kernel(file) do add_late(along, name) end
end

function methods.flatten (...) return shapes.flatten(...) end
function methods.squeeze (...) return shapes.squeeze(...) end

-- t[index]: the rows of t that an index of any shape names, in that shape.
local function indexed (t, index) return indexing.rows(t, index) end

function methods.index_select (...) return indexing.index_select(...) end

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
