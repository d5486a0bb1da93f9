--- Ordered: a row in increasing order, from its first element and the logarithms of its steps.
local constraints    = require "perilune.constraints"
local transform_rows = require "perilune.transform_rows"

return transform_rows.kind("Ordered", "ordered", {
  domain = constraints.real_vector, codomain = constraints.ordered_vector,
})
