--@ peri.OneHotCategorical
-- A row of K numbers, one of them 1 and the others 0.
--   probs    probability of each place of the 1, up to a factor
--   logits   their logarithms, instead
--   formula  log P(row with its 1 at j) = log(probs[j]/sum of probs)
-- > OneHotCategorical{1, 2, 5}:log_prob({0, 0, 1})
-- -0.47000362924574
local Categorical  = require "perilune.distributions.Categorical"
local Distribution = require "perilune.distribution"
local constraints  = require "perilune.constraints"

local OneHotCategorical = Distribution:extend("OneHotCategorical", {
  kernels = "onehotcategorical",
  params = Categorical.params,
  operands = { "logits" },
  support = constraints.one_hot,
  one_sided = "OneHotCategorical",
  init = function (self, checking) self.event_shape = { Categorical.outcomes(self, checking) } end,
})

--- The K rows along a new first dimension.
function OneHotCategorical:enumerate_support () return require "perilune.enumeration".one_hot(self) end

return OneHotCategorical
