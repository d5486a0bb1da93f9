--- StickBreaking: shares of a whole, broken off one after the other.
local constraints    = require "perilune.constraints"
local transform_rows = require "perilune.transform_rows"

local last_of, with_last = transform_rows.last_of, transform_rows.with_last

return transform_rows.resizing_kind("StickBreaking", "stick_breaking", {
  domain = constraints.real_vector, codomain = constraints.simplex,
  forward_shape = function (self, shape) return with_last(shape, last_of(self, shape, 1) + 1) end,
  inverse_shape = function (self, shape) return with_last(shape, last_of(self, shape, 1) - 1) end,
})
