--@ peri.Independent
-- The last dimensions of a batch as one event: a vector of independent numbers.
--   base_distribution          of the single parts
--   reinterpreted_batch_ndims  how many dimensions of its batch make up an event
--   formula                    log p(x) = sum of the base's log p over those dimensions
-- > Independent(require 'perilune'.Normal({ 0, 1 }, 1), 1):log_prob({ 0, 0 })
-- -2.3378770664093453
local Distribution = require "perilune.distribution"

return Distribution:extend("Independent", {
  lazy_methods = "construct log_prob entropy with_batch __tostring enumerate_support mean variance stddev mode"
                 .. " sample rsample",
})
