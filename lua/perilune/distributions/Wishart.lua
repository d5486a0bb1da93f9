--@ peri.Wishart
-- Sums of squares of normal vectors.
--   df                 degrees of freedom, more than d - 1
--   covariance_matrix  V, of the vectors, or instead of it:
--   precision_matrix   its inverse
--   scale_tril         its Cholesky factor L, a lower triangle
--   formula            log p(x) = (df - d - 1)/2 log det x - tr(V^-1 x)/2 - df d/2 log 2 - df/2 log det V - log
--                      Gamma_d(df/2)
-- > Wishart(3, { { 2, 1 }, { 1, 2 } }):log_prob({ { 1, 0 }, { 0, 1 } })
-- -4.845609346638122
local Distribution = require "perilune.distribution"
local constraints  = require "perilune.constraints"
local functions    = require "perilune.functions"
local matrices     = require "perilune.matrices"

local cholesky, cholesky_inverse = matrices.cholesky, matrices.cholesky_inverse
local outer, precision_of        = matrices.outer, matrices.precision_of
local DEFINITE                   = { "covariance_matrix", "precision_matrix" }

local Wishart = Distribution:extend("Wishart", {
  kernels = "wishart",
  params = {
    { "df", constraints.positive },
    { "covariance_matrix", constraints.real, event = 2,
      gives = { scale_tril = matrices.factor(cholesky),
                precision_matrix = function (c) return precision_of(cholesky(c)) end } },
    { "precision_matrix", constraints.real, event = 2,
      gives = { scale_tril = matrices.factor(cholesky_inverse),
                covariance_matrix = function (p) return outer(cholesky_inverse(p)) end } },
    { "scale_tril", constraints.real, event = 2,
      gives = { covariance_matrix = outer, precision_matrix = precision_of } },
  },
  operands = { "df", "scale_tril" },
  support = constraints.positive_definite,
  init = function (self, checking)
    local d = matrices.side(self, DEFINITE, "scale_tril")
    self.event_shape = { d, d }
    if not checking then return end
    matrices.check(self, DEFINITE, "scale_tril")
    matrices.check_df(self, d)
  end,
})

function Wishart:mean () return matrices.beside(self.df) * self.covariance_matrix end

function Wishart:variance ()
  local v = self.covariance_matrix
  local diagonal = matrices.diagonal(v)
  return matrices.beside(self.df) * (v * v + diagonal:unsqueeze(-1) * diagonal:unsqueeze(-2))
end

--- Where the density is bounded: df >= d + 1.
function Wishart:mode ()
  local excess = matrices.beside(self.df) - (self.event_shape[1] + 1)
  return functions.where(functions.ge(excess, 0), excess, 0 / 0) * self.covariance_matrix
end

return Wishart
