--- CorrCholesky: the Cholesky factor of a correlation matrix, d by d, from d (d - 1)/2 numbers, row after row
-- below the diagonal.
local constraints    = require "perilune.constraints"
local raise          = require "perilune.errors".raise
local transform_rows = require "perilune.transform_rows"

local last_of, with_last = transform_rows.last_of, transform_rows.with_last

--@ peri.transforms.CorrCholesky() -> Transform
-- The Cholesky factor of a correlation matrix, d by d, from d (d - 1)/2 free numbers, row after row below the
-- diagonal.
-- > transforms.CorrCholesky() { 0 }
-- Tensor(2, 2)
--   1  0
--   0  1
return transform_rows.resizing_kind("CorrCholesky", "corr_cholesky", {
  domain = constraints.real_vector, codomain = constraints.corr_cholesky,
  forward_shape = function (self, shape)
    local k = last_of(self, shape, 1)
    local d = math.floor(0.5 + math.sqrt(0.25 + 2 * k) + 0.5)
    if d * (d - 1) ~= 2 * k then
      raise("%s: x must have d (d - 1)/2 elements in its last dimension, got %s", self.name, k)
    end
    local matrix = with_last(shape, d)
    matrix[#matrix + 1] = d
    return matrix
  end,
  inverse_shape = function (self, shape)
    local d = last_of(self, shape, 2)
    return with_last(shape, math.floor(d * (d - 1) / 2), 1)
  end,
})
