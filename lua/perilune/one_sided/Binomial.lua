--- What is missing of a Binomial where probs are 0 or 1.
local one_sided = require "perilune.one_sided"

local count  = one_sided.constant(function (self) return self.total_count end)
local trials = one_sided.trials(count)

-- The product n p (1 - p) keeps the slope at 0.
function trials.variance (self, _, probs) return one_sided.ends(probs, 0, -count(self)) end

return trials
