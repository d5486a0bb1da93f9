--- MultivariateNormal(loc, covariance_matrix), or precision_matrix, or scale_tril: the bell
-- curve of vectors.
local Distribution = require "perilune.distribution"
local class        = require "perilune.class"
local constraints  = require "perilune.constraints"
local core         = require "perilune.core"
local show         = require "perilune.show"
local tensor       = require "perilune.tensor"

local function of_matrix (name) return core.bind("row/linalg", name, name, { "self" }, { "self" }) end

local cholesky, cholesky_inverse = of_matrix "cholesky", of_matrix "cholesky_inverse"
local triangular_inverse         = of_matrix "triangular_inverse"

local function outer (l) return l:matmul(l:transpose(-1, -2)) end      -- l l^T
local function inner (l) return l:transpose(-1, -2):matmul(l) end      -- l^T l
local function precision_of (l) return inner(triangular_inverse(l)) end

-- Level 6: the caller of the constructor, seen from a function that `init` calls.
local function fail (self, ...) error(class.name(class.of(self)) .. ": " .. string.format(...), 6) end

-- Refuses matrices that are not square, or not of the size of loc; their side.
local function check_shapes (self)
  local shape, dims = core.shape(self.scale_tril), core.shape(self.loc)
  local d = dims[#dims]
  if shape[#shape] ~= shape[#shape - 1] or shape[#shape] ~= d then
    fail(self, "loc of %d dimensions needs a matrix of %d by %d, got %d by %d", d, d, d, shape[#shape - 1],
         shape[#shape])
  end
  return d
end

-- The factor of a matrix that is not positive definite has a NaN for the first bad pivot.
local function check_definite (self, name)
  local matrix, bad = rawget(self, name), { constraints.real:violation(self.scale_tril) }
  if bad[1] ~= nil then
    fail(self, "%s must be positive definite, its pivot at [%s] is not positive", name,
         table.concat(bad, ", ", 2, #bad))
  end
  local largest = matrix:abs():max():item()
  if not matrix:allclose(matrix:transpose(-1, -2), 1e-8, 1e-8 * largest) then
    fail(self, "%s must be symmetric and positive definite, got one that is not symmetric", name)
  end
end

local function check_triangle (self, d)
  local index = tensor.arange(1, d + 1)
  local above = index:unsqueeze(-1):lt(index)
  local diagonal = (self.scale_tril * tensor.eye(d)):sum(-1)
  local bad = constraints.positive:violation(diagonal)
  if bad then fail(self, "scale_tril must have a positive diagonal, got %s", show.number(bad)) end
  if (self.scale_tril:abs() * above):max():item() > 0 then
    fail(self, "scale_tril must be lower triangular, got an element above the diagonal")
  end
end

-- A factor before shapes are checked: what cannot be factored is left as it is.
local function factor (by)
  return function (matrix)
    local shape = core.shape(matrix)
    return shape[#shape] == shape[#shape - 1] and by(matrix) or matrix
  end
end

local MultivariateNormal = Distribution:extend("MultivariateNormal", {
  kernels = "multivariatenormal",
  params = {
    { "loc", constraints.real, event = 1 },
    { "covariance_matrix", constraints.real, event = 2,
      gives = { scale_tril = factor(cholesky),
                precision_matrix = function (c) return precision_of(cholesky(c)) end } },
    { "precision_matrix", constraints.real, event = 2,
      gives = { scale_tril = factor(cholesky_inverse),
                covariance_matrix = function (p) return outer(cholesky_inverse(p)) end } },
    { "scale_tril", constraints.real, event = 2,
      gives = { covariance_matrix = outer, precision_matrix = precision_of } },
  },
  operands = { "loc", "scale_tril" },
  support = constraints.real,
  help = {
    summary = "the bell curve of vectors",
    params  = { loc = "mean", covariance_matrix = "variances and covariances, or instead of it:",
                precision_matrix = "its inverse", scale_tril = "its Cholesky factor L, a lower triangle" },
    formula = "log p(x) = -|z|^2/2 - log det L - d/2 log(2 pi),  L z = x - loc",
    example = { "MultivariateNormal({ 0, 0 }, { { 2, 1 }, { 1, 2 } }):log_prob({ 1, 0 }):item()", -2.7205165440767336 },
  },
  init = function (self, checking)
    local d = check_shapes(self)
    self.event_shape = { d }
    if not checking then return end
    if rawget(self, "covariance_matrix") then check_definite(self, "covariance_matrix")
    elseif rawget(self, "precision_matrix") then check_definite(self, "precision_matrix")
    else check_triangle(self, d) end
  end,
})

-- A vector for each element of the batch.
local function vectors (self, value)
  local shape = { table.unpack(self.batch_shape) }
  shape[#shape + 1] = self.event_shape[1]
  return value:expand(shape)
end

function MultivariateNormal:mean () return vectors(self, self.loc) end
function MultivariateNormal:mode () return vectors(self, self.loc) end
function MultivariateNormal:variance () return vectors(self, (self.scale_tril * self.scale_tril):sum(-1)) end

return MultivariateNormal
