--- What is missing of a Bernoulli where probs are 0 or 1.
local one_sided = require "perilune.one_sided"

return one_sided.trials(function () return 1 end)
