--- OneHotCategoricalStraightThrough(probs): a OneHotCategorical whose draws have the slopes of probs.
local OneHotCategorical = require "perilune.distributions.OneHotCategorical"

return OneHotCategorical:extend("OneHotCategoricalStraightThrough", {
  kernels = "onehotcategoricalstraightthrough",
  one_sided = "OneHotCategorical",
  help = {
    summary = "a one-hot row that is differentiated as if it were its mean",
    params  = OneHotCategorical.help.params,
    formula = "rsample: value the draw x, derivative that of probs/sum of probs",
    example = { "OneHotCategoricalStraightThrough{1, 2, 5}:entropy()", 0.90025605126853687 },
  },
})
