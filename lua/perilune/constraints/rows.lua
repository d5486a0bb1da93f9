--- Constraints of rows.
local rows = require "perilune.constraint_rows"
local show = require "perilune.show"

--@ peri.constraints.simplex -> Constraint
-- Rows of numbers from 0 on that sum to 1.
-- > constraints.simplex:check { 0.25, 0.75 }
-- true

--@ peri.constraints.one_hot -> Constraint
-- Rows with a single 1 among zeros.
-- > constraints.one_hot:check { 0, 1, 0 }
-- true

--@ peri.constraints.multinomial(total_count) -> Constraint
-- Rows of counts that sum to total_count.
--   total_count  integer, or a tensor of integers
-- > constraints.multinomial(4):check { 1, 3 }
-- true

--@ peri.constraints.ordered_vector -> Constraint
-- Rows in increasing order.
-- > constraints.ordered_vector:check { 1, 2, 4 }
-- true

--@ peri.constraints.ordered -> Constraint
-- Rows in increasing order: another name of ordered_vector.
-- > constraints.ordered == constraints.ordered_vector
-- true

--@ peri.constraints.positive_ordered -> Constraint
-- Rows of positive numbers in increasing order.
-- > constraints.positive_ordered:check { 1, 2 }, constraints.positive_ordered:check { -1, 2 }
-- true  false

--@ peri.constraints.sphere -> Constraint
-- Rows of length 1: directions.
-- > constraints.sphere:check { 0.6, 0.8 }
-- true
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
