--@ peri.LowRankMultivariateNormal
-- The bell curve of vectors whose covariance is of low rank, but for a diagonal.
--   loc         mean
--   cov_factor  W, a few columns
--   cov_diag    D, a diagonal
--   formula     log p(x) = -y^T S^-1 y/2 - log det(S)/2 - d/2 log(2 pi),  S = W W^T + diag(D),  y = x - loc
-- > LowRankMultivariateNormal({ 0, 0 }, { { 1 }, { 1 } }, { 1, 1 }):log_prob({ 1, 0 })
-- -2.7205165440767334
local Distribution = require "perilune.distribution"
local class        = require "perilune.class"
local constraints  = require "perilune.constraints"
local core         = require "perilune.core"
local raise        = require "perilune.errors".raise
local matrices     = require "perilune.matrices"
local tensor       = require "perilune.tensor"

-- Refuses factors and diagonals that have not a row for each dimension of loc.
local function check_shapes (self)
  local loc, factor, diag = core.shape(self.loc), core.shape(self.cov_factor), core.shape(self.cov_diag)
  local d = loc[#loc]
  local function fail (...) raise("%s: %s", class.name(class.of(self)), string.format(...)) end
  if factor[#factor - 1] ~= d then
    fail("loc of %d dimensions needs a cov_factor of %d rows, got %d by %d", d, d, factor[#factor - 1], factor[#factor])
  elseif diag[#diag] ~= d then
    fail("loc of %d dimensions needs a cov_diag of %d, got %d", d, d, diag[#diag])
  end
  return d
end

-- A vector or a matrix for each element of the batch.
local function batched (self, value, ...)
  local shape = { table.unpack(self.batch_shape) }
  for _, size in ipairs { ... } do shape[#shape + 1] = size end
  return value:expand(shape)
end

-- W W^T + diag(D), its inverse and its Cholesky factor, as fields.
local derived = {}

function derived.covariance_matrix (self)
  local d, w = self.event_shape[1], self.cov_factor
  return batched(self, matrices.outer(w) + self.cov_diag:unsqueeze(-1) * tensor.eye(d), d, d)
end

-- Not from the covariance, in whose rounding a small D is lost.
function derived.scale_tril (self)
  local d = self.event_shape[1]
  return batched(self, matrices.low_rank_factor(self.cov_factor, self.cov_diag), d, d)
end

function derived.precision_matrix (self) return matrices.precision_of(self.scale_tril) end

local LowRankMultivariateNormal = Distribution:extend("LowRankMultivariateNormal", {
  kernels = "lowrankmultivariatenormal",
  params = {
    { "loc",        constraints.real,     event = 1 },
    { "cov_factor", constraints.real,     event = 2 },
    { "cov_diag",   constraints.positive, event = 1 },
  },
  derived = derived,
  support = constraints.real_vector,
  init = function (self) self.event_shape = { check_shapes(self) } end,
})

function LowRankMultivariateNormal:mean () return batched(self, self.loc, self.event_shape[1]) end
function LowRankMultivariateNormal:mode () return self:mean() end

function LowRankMultivariateNormal:variance ()
  return batched(self, (self.cov_factor * self.cov_factor):sum(-1) + self.cov_diag, self.event_shape[1])
end

return LowRankMultivariateNormal
