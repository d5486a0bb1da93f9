--- Independent(base, n): the last n dimensions of a batch seen as one event.
local Distribution = require "perilune.distribution"

return Distribution:extend("Independent", {
  late = "construct log_prob entropy with_batch __tostring enumerate_support mean variance stddev mode sample"
         .. " rsample",
  help = {
    summary = "the last dimensions of a batch as one event: a vector of independent numbers",
    arguments = { "base_distribution", "reinterpreted_batch_ndims" },
    params  = { base_distribution = "of the single parts",
                reinterpreted_batch_ndims = "how many dimensions of its batch make up an event" },
    formula = "log p(x) = sum of the base's log p over those dimensions",
    example = { "Independent(require 'perilune'.Normal({ 0, 1 }, 1), 1):log_prob({ 0, 0 })",
                -2.3378770664093453 },
  },
})
