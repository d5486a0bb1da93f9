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

--- Matrices with these rows on their diagonals.
function matrix_functions.diag_embed (t, ...)
  no_more("diag_embed(t)", ...)
  return embed(as_tensor("diag_embed", t))
end

--- The diagonals of matrices: a view.
function matrix_functions.diagonal (t, ...)
  no_more("diagonal(t)", ...)
  return diagonal(as_tensor("diagonal", t))
end

--- A vector as the diagonal of a matrix; of a matrix, or a batch of them, the diagonal.
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

--- A matrix with zeros above its diagonal, or below; above or below the k-th one to the right of it.
matrix_functions.tril = triangle "tril"
matrix_functions.triu = triangle "triu"

--- The lower triangle l with l l^T = t, for the symmetric part of t; NaN on the diagonal where that is not positive
-- definite.
function matrix_functions.cholesky (t, ...)
  no_more("cholesky(t)", ...)
  return factor(as_tensor("cholesky", t))
end

--- The logarithm of the determinant of any square matrix: NaN where that is negative, -inf where it is 0.
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

--- x with t x = b, where t is a lower triangle: what stands above its diagonal is not read. { upper = true }: t is an
-- upper triangle; { transpose = true }: x with t^T x = b. Batches are broadcast; b is a vector only if it has rank 1.
function matrix_functions.solve_triangular (t, b, options, ...)
  local who = "solve_triangular"
  no_more("solve_triangular(t, b, options)", ...)
  errors.check_options(who, options, { "upper", "transpose" })
  local name = option(who, options, "upper") and "upper" or "lower"
  return solve(who, option(who, options, "transpose") and name .. "_transposed" or name, t, b)
end

--- x with l l^T x = b, where l is a lower triangle such as cholesky gives.
function matrix_functions.cholesky_solve (l, b, ...)
  no_more("cholesky_solve(l, b)", ...)
  return solve("cholesky_solve", "lower_transposed", l, solve("cholesky_solve", "lower", l, b))
end

return matrix_functions
