--@ peri.OneHotCategoricalStraightThrough
-- A one-hot row that is differentiated as if it were its mean.
--   probs    probability of each place of the 1, up to a factor
--   logits   their logarithms, instead
--   formula  rsample: value the draw x, derivative that of probs/sum of probs
-- > OneHotCategoricalStraightThrough{1, 2, 5}:entropy()
-- 0.9002560512685369
local OneHotCategorical = require "perilune.distributions.OneHotCategorical"

return OneHotCategorical:extend("OneHotCategoricalStraightThrough", {
  kernels = "onehotcategoricalstraightthrough",
  one_sided = "OneHotCategorical",
})
