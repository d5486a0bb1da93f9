--- Constraints of rows.
local rows = require "perilune.constraint_rows"
local show = require "perilune.show"

local simplex = rows.kind("simplex", 1, "a simplex (non-negative, summing to 1)", "negative sum")()
local one_hot = rows.kind("one_hot", 1, "one-hot (a single 1 among zeros)", "no_bit sum")()
one_hot.is_discrete = true

local multinomial = rows.kind("multinomial", 1, function (self)
  return "counts that sum to " .. show.parameter(self.total_count)
end, "no_count sum", { "total_count" })
multinomial.is_discrete = true

local ordered_vector   = rows.kind("ordered_vector", 1, "in increasing order", "nan descent")()
local positive_ordered = rows.kind("positive_ordered", 1, "positive and in increasing order", "not_positive descent")()
local sphere           = rows.kind("sphere", 1, "a unit vector", "nan length")()

return {
  simplex = simplex, one_hot = one_hot, multinomial = multinomial, sphere = sphere,
  ordered_vector = ordered_vector, ordered = ordered_vector, positive_ordered = positive_ordered,
}
