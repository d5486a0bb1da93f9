--@ peri.MultivariateNormal
-- The bell curve of vectors.
--   loc                mean
--   covariance_matrix  variances and covariances, or instead of it:
--   precision_matrix   its inverse
--   scale_tril         its Cholesky factor L, a lower triangle
--   formula            log p(x) = -|z|^2/2 - log det L - d/2 log(2 pi),  L z = x - loc
-- > MultivariateNormal({ 0, 0 }, { { 2, 1 }, { 1, 2 } }):log_prob({ 1, 0 })
-- -2.7205165440767334
local Distribution = require "perilune.distribution"
local constraints  = require "perilune.constraints"
local core         = require "perilune.core"
local matrices     = require "perilune.matrices"

local cholesky, cholesky_inverse = matrices.cholesky, matrices.cholesky_inverse
local outer, precision_of        = matrices.outer, matrices.precision_of
local DEFINITE                   = { "covariance_matrix", "precision_matrix" }

-- Refuses matrices that are not square, or not of the size of loc; their side.
local function check_shapes (self)
  local shape, dims = core.shape(self.scale_tril), core.shape(self.loc)
  local d = dims[#dims]
  if shape[#shape] ~= shape[#shape - 1] or shape[#shape] ~= d then
    matrices.fail(self, "loc of %d dimensions needs a matrix of %d by %d, got %d by %d", d, d, d,
                  shape[#shape - 1], shape[#shape])
  end
  return d
end

local MultivariateNormal = Distribution:extend("MultivariateNormal", {
  kernels = "multivariatenormal",
  params = {
    { "loc", constraints.real, event = 1 },
    { "covariance_matrix", constraints.real, event = 2,
      gives = { scale_tril = matrices.factor(cholesky),
                precision_matrix = function (c) return precision_of(cholesky(c)) end } },
    { "precision_matrix", constraints.real, event = 2,
      gives = { scale_tril = matrices.factor(cholesky_inverse),
                covariance_matrix = function (p) return outer(cholesky_inverse(p)) end } },
    { "scale_tril", constraints.real, event = 2,
      gives = { covariance_matrix = outer, precision_matrix = precision_of } },
  },
  operands = { "loc", "scale_tril" },
  support = constraints.real_vector,
  init = function (self, checking)
    self.event_shape = { check_shapes(self) }
    if checking then matrices.check(self, DEFINITE, "scale_tril") end
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
