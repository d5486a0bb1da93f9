--- StickBreaking: shares of a whole, broken off one after the other.
local constraints    = require "perilune.constraints"
local transform_rows = require "perilune.transform_rows"

local last_of, with_last = transform_rows.last_of, transform_rows.with_last

--@ peri.transforms.StickBreaking() -> Transform
-- K shares of a whole from K - 1 free numbers, broken off one after the other; 0 gives equal shares.
-- > transforms.StickBreaking() { 0 }
-- Tensor(2)
--   0.5  0.5
return transform_rows.resizing_kind("StickBreaking", "stick_breaking", {
  domain = constraints.real_vector, codomain = constraints.simplex,
  forward_shape = function (self, shape) return with_last(shape, last_of(self, shape, 1) + 1) end,
  inverse_shape = function (self, shape) return with_last(shape, last_of(self, shape, 1) - 1) end,
})
