--@ peri.InverseWishart
-- The inverse of a Wishart matrix.
--   df            degrees of freedom, more than d - 1; the k-th moment needs more than d - 1 + 2k
--   scale_matrix  S, the inverse of that Wishart's covariance_matrix, or instead of it:
--   scale_tril    its Cholesky factor L, a lower triangle
--   formula       log p(x) = df/2 log det S - (df + d + 1)/2 log det x - tr(S x^-1)/2 - df d/2 log 2 - log
--                 Gamma_d(df/2)
-- > InverseWishart(3, { { 2, 1 }, { 1, 2 } }):log_prob({ { 1, 0 }, { 0, 1 } })
-- -2.883105813967126
local Distribution = require "perilune.distribution"
local constraints  = require "perilune.constraints"
local functions    = require "perilune.functions"
local matrices     = require "perilune.matrices"
local tensor       = require "perilune.tensor"

local where, gt, INF, NAN = functions.where, functions.gt, math.huge, 0 / 0
local DEFINITE            = { "scale_matrix" }

local InverseWishart = Distribution:extend("InverseWishart", {
  kernels = "inversewishart",
  params = {
    { "df", constraints.positive },
    { "scale_matrix", constraints.real, event = 2, gives = { scale_tril = matrices.factor(matrices.cholesky) } },
    { "scale_tril",   constraints.real, event = 2, gives = { scale_matrix = matrices.outer } },
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

-- df - d - 1, which the mean divides by.
local function excess (self) return matrices.beside(self.df) - (self.event_shape[1] + 1) end

--- Without it the diagonal is infinite, and nothing can be said of the rest.
function InverseWishart:mean ()
  local e = excess(self)
  local none = where(tensor.eye(self.event_shape[1]), INF, NAN)
  return where(gt(e, 0), self.scale_matrix / e, none)
end

--- Infinite where only the mean exists; nothing where that does not, except for a single number.
function InverseWishart:variance ()
  local e, s = excess(self), self.scale_matrix
  local diagonal = matrices.diagonal(s)
  local products = diagonal:unsqueeze(-1) * diagonal:unsqueeze(-2)
  local finite = (s / e * (s / e) * (e + 2) + products / e) / (e + 1) / (e - 2)
  local none = self.event_shape[1] == 1 and INF or NAN
  return where(gt(e, 2), finite, where(gt(e, 0), INF, none))
end

function InverseWishart:mode () return self.scale_matrix / (matrices.beside(self.df) + (self.event_shape[1] + 1)) end

return InverseWishart
