--- Matrices as parameters: a symmetric positive definite one, its inverse or its Cholesky
-- factor, of which a distribution takes any and its kernels the factor.
local class       = require "perilune.class"
local constraints = require "perilune.constraints"
local core        = require "perilune.core"
local raise       = require "perilune.errors".raise
local show        = require "perilune.show"
local tensor      = require "perilune.tensor"

local matrices = {}

local EPS = 2.0 ^ -52

local function of_matrix (name) return core.bind("row/linalg", name, name, { "self" }, { "self" }) end

matrices.cholesky, matrices.cholesky_inverse = of_matrix "cholesky", of_matrix "cholesky_inverse"
matrices.triangular_inverse                  = of_matrix "triangular_inverse"

--- The lower triangle l with l l^T = w w^T + diag(d).
matrices.low_rank_factor = core.bind("row/linalg", "low_rank_factor", "low_rank_factor", { "w", "d" }, { "w", "d" })

--- l l^T, and (l l^T)^-1.
function matrices.outer (l) return l:matmul(l:transpose(-1, -2)) end

function matrices.precision_of (l)
  local inverse = matrices.triangular_inverse(l)
  return inverse:transpose(-1, -2):matmul(inverse)
end

--- A factor before shapes are checked: what cannot be factored is left as it is.
function matrices.factor (by)
  return function (matrix)
    local shape = core.shape(matrix)
    return shape[#shape] == shape[#shape - 1] and by(matrix) or matrix
  end
end

--- A parameter of the batch beside matrices.
function matrices.beside (value)
  return core.is_tensor(value) and value:unsqueeze(-1):unsqueeze(-1) or value
end

--- The diagonals of matrices, as vectors.
function matrices.diagonal (m)
  local shape = core.shape(m)
  return (m * tensor.eye(shape[#shape])):sum(-1)
end

--- Raises an error of a distribution.
function matrices.fail (self, ...) raise("%s: %s", class.name(class.of(self)), string.format(...)) end

local function of_factored (name) return core.bind("row/linalg", name, name, { "a", "l" }, { "a", "l" }) end

local spread, inverse_spread = of_factored "spread", of_factored "inverse_spread"

-- Could the rounding of its elements have made a singular matrix into this one?
local function is_nearly_singular (name, matrix, l)
  local by = name == "precision_matrix" and inverse_spread or spread
  local reach = by(matrix, l)
  local largest = core.item(core.is_tensor(reach) and reach:max() or reach)
  return core.shape(matrix)[core.rank(matrix)] * EPS * largest * largest >= 1
end

-- The factor of a matrix that is not positive definite has a NaN for the first bad pivot.
local function check_definite (self, name, factor)
  local matrix, l = core.bare(rawget(self, name)), core.bare(self[factor])
  local bad = { constraints.real:violation(l) }
  if bad[1] ~= nil then
    matrices.fail(self, "%s must be positive definite, its pivot at [%s] is not positive", name,
                  table.concat(bad, ", ", 2, #bad))
  end
  if is_nearly_singular(name, matrix, l) then
    matrices.fail(self, "%s must be positive definite, got one that is singular up to rounding", name)
  end
  local largest = core.item(matrix:abs():max())
  if not matrix:allclose(matrix:transpose(-1, -2), 1e-8, 1e-8 * largest) then
    matrices.fail(self, "%s must be symmetric and positive definite, got one that is not symmetric", name)
  end
end

local function check_triangle (self, name)
  local triangle = core.bare(self[name])
  local shape = core.shape(triangle)
  local index = tensor.arange(1, shape[#shape] + 1)
  local above = index:unsqueeze(-1):lt(index)
  local bad = constraints.positive:violation(matrices.diagonal(triangle))
  if bad then matrices.fail(self, "%s must have a positive diagonal, got %s", name, show.number(bad)) end
  if core.item((triangle:abs() * above):max()) > 0 then
    matrices.fail(self, "%s must be lower triangular, got an element above the diagonal", name)
  end
end

-- The one of these names that was passed, or `factor`.
local function passed (self, names, factor)
  for _, name in ipairs(names) do
    if rawget(self, name) then return name end
  end
  return factor
end

--- Refuses a matrix that cannot be what its name says: one of `names`, which are positive
-- definite, or else the triangle `factor`.
function matrices.check (self, names, factor)
  local name = passed(self, names, factor)
  if name == factor then check_triangle(self, name) else check_definite(self, name, factor) end
end

--- The side of the matrix given by one of `names` or by `factor`, which must be square.
function matrices.side (self, names, factor)
  local name = passed(self, names, factor)
  local shape = core.shape(self[name])
  if shape[#shape] ~= shape[#shape - 1] then
    matrices.fail(self, "%s must be square, got %d by %d", name, shape[#shape - 1], shape[#shape])
  end
  return shape[#shape]
end

--- Refuses a df for which d by d matrices would have no density.
function matrices.check_df (self, d)
  local bad = { constraints.greater_than(d - 1):violation(self.df) }
  if bad[1] == nil then return end
  local place = #bad > 1 and " at [" .. table.concat(bad, ", ", 2) .. "]" or ""
  matrices.fail(self, "df must be greater than %d, got %s%s", d - 1, show.number(bad[1]), place)
end

return matrices
