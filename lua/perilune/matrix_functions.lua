--- Functions of matrices, the last two dimensions of tensors: their parts, determinants, and what triangles divide.
local core     = require "perilune.core"
local errors   = require "perilune.errors"
local operands = require "perilune.operands"
local show     = require "perilune.show"

local no_more = errors.no_more
local fail, as_tensor = operands.fail, operands.tensor

local matrix_functions = {}

local function bind (file, kernel, who, names) return core.bind(file, kernel, who, names, names) end

local embed    = bind("row/matrix", "diag_embed", "diag_embed", { "t" })
local factor   = bind("row/linalg", "cholesky", "cholesky", { "t" })
local logdet   = bind("row/logdet", "logdet", "logdet", { "t" })
local diagonal = core.diagonal

--@ peri.diag_embed(t) -> Tensor
-- Matrices with the rows of t, its last dimension, on their diagonals, and zeros.
-- > diag_embed({ 1, 2 })
-- Tensor(2, 2)
--   1  0
--   0  2
function matrix_functions.diag_embed (t, ...)
  no_more("diag_embed(t)", ...)
  return embed(as_tensor("diag_embed", t))
end

--@ peri.diagonal(t) -> Tensor
-- The diagonals of matrices, the last two dimensions of t: a view.
-- > diagonal({ { 1, 2 }, { 3, 4 } })
-- Tensor(2)
--   1  4
function matrix_functions.diagonal (t, ...)
  no_more("diagonal(t)", ...)
  return diagonal(as_tensor("diagonal", t))
end

--@ peri.diag(t) -> Tensor
-- Of a vector the matrix with it on its diagonal; of a matrix, or a batch of them, the diagonal, a view.
-- > diag({ 1, 2 })
-- Tensor(2, 2)
--   1  0
--   0  2
function matrix_functions.diag (t, ...)
  no_more("diag(t)", ...)
  t = as_tensor("diag", t)
  if core.rank(t) == 0 then fail("diag", "a tensor of rank 0 has no diagonal") end
  if core.rank(t) == 1 then return embed(t) end
  return diagonal(t)
end

local function triangle (name)
  local part, call = bind("row/matrix", name, name, { "t", "k" }), name .. "(t, k)"
  return function (t, k, ...)
    no_more(call, ...)
    k = k == nil and 0 or k
    if math.type(k) ~= "integer" then fail(name, "k must be an integer, got %s", core.describe(k)) end
    return part(as_tensor(name, t), k)
  end
end

--@ peri.tril(t, k) -> Tensor
-- Matrices with zeros above the k-th diagonal to the right of the main one.
--   k  integer; 0 unless told
-- > tril({ { 1, 2 }, { 3, 4 } })
-- Tensor(2, 2)
--   1  0
--   3  4
matrix_functions.tril = triangle "tril"
--@ peri.triu(t, k) -> Tensor
-- Matrices with zeros below the k-th diagonal to the right of the main one.
--   k  integer; 0 unless told
-- > triu({ { 1, 2 }, { 3, 4 } })
-- Tensor(2, 2)
--   1  2
--   0  4
matrix_functions.triu = triangle "triu"

--@ peri.cholesky(t) -> Tensor
-- The lower triangle l with l l^T = t, for the symmetric part of t; NaN on the diagonal where that is not positive
-- definite.
--   t  tensor of matrices, or a table of rows
-- > cholesky({ { 4, 2 }, { 2, 10 } })
-- Tensor(2, 2)
--   2  0
--   1  3
function matrix_functions.cholesky (t, ...)
  no_more("cholesky(t)", ...)
  return factor(as_tensor("cholesky", t))
end

--@ peri.logdet(t) -> number or Tensor
-- The logarithm of the determinant of any square matrix: NaN where that is negative, -inf where it is 0.
--   t  tensor of matrices, or a table of rows
-- > logdet({ { 2, 0 }, { 0, 3 } })
-- 1.7917594692281
function matrix_functions.logdet (t, ...)
  no_more("logdet(t)", ...)
  return logdet(as_tensor("logdet", t))
end


local solvers = {}
for _, name in ipairs { "lower", "upper", "lower_transposed", "upper_transposed" } do
  solvers[name] = bind("row/matrix", name, "solve_triangular", { "t", "b" })
end

-- One of them. A vector b is a column, as in matmul.
local function solve (who, solver, t, b)
  t, b = as_tensor(who, t), as_tensor(who, b)
  local rank_t, rank_b = core.rank(t), core.rank(b)
  if rank_t < 2 then fail(who, "t must be a matrix, or a batch of them, got shape %s", show.shape(core.shape(t))) end
  if rank_b == 0 then fail(who, "b must be a vector, a matrix or a batch of them, got shape ()") end
  if rank_b > 1 then return solvers[solver](t, b) end
  return solvers[solver](t, b:unsqueeze(-1)):select(-1, 1)
end

local function option (who, options, name)
  local value = options and options[name]
  if value ~= nil and type(value) ~= "boolean" then
    fail(who, "%s must be true or false, got %s", name, core.describe(value))
  end
  return value
end

--@ peri.solve_triangular(t, b, options) -> Tensor
-- x with t x = b, where t is a lower triangle: what stands above its diagonal is not read. Batches are broadcast.
--   t        tensor of matrices, or a table of rows
--   b        vector, if it has rank 1; else matrices
--   options  upper = true: t is an upper triangle (false); transpose = true: x with t^T x = b (false)
-- > solve_triangular({ { 2, 0 }, { 1, 1 } }, { 4, 5 })
-- Tensor(2)
--   2  3
function matrix_functions.solve_triangular (t, b, options, ...)
  local who = "solve_triangular"
  no_more("solve_triangular(t, b, options)", ...)
  errors.check_options(who, options, { "upper", "transpose" })
  local name = option(who, options, "upper") and "upper" or "lower"
  return solve(who, option(who, options, "transpose") and name .. "_transposed" or name, t, b)
end

--@ peri.cholesky_solve(l, b) -> Tensor
-- x with l l^T x = b, where l is a lower triangle such as cholesky gives.
--   l  tensor of matrices, or a table of rows
--   b  vector, if it has rank 1; else matrices
-- > cholesky_solve({ { 2, 0 }, { 0, 1 } }, { 4, 5 })
-- Tensor(2)
--   1  5
function matrix_functions.cholesky_solve (l, b, ...)
  no_more("cholesky_solve(l, b)", ...)
  return solve("cholesky_solve", "lower_transposed", l, solve("cholesky_solve", "lower", l, b))
end

return matrix_functions
