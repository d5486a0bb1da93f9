--@ peri.HiddenMarkov
-- A sequence whose parts depend on a chain of hidden states.
--   initial     probabilities of the first state, or a Categorical
--   transition  a matrix: row i has the probabilities of going from state i, or a Categorical of rows
--   emission    the law of a part in each state, the last dimension of its batch; before it there may be one for the
--               time
--   length      of the sequence, unless emission has a dimension for the time
--   formula     p(x) = sum over states z of p(z[1]) product over t of p(z[t+1] | z[t]) p(x[t] | z[t])
-- > HiddenMarkov({ 0.5, 0.5 }, { { 0.9, 0.1 }, { 0.2, 0.8 } }, peri.Normal({ 0, 3 }, 1), 3):log_prob({ 0, 0.5, 3 })
-- -5.8422611850848

-- The kernels of src/kernel/hiddenmarkov.c work on a table of the log densities of each part in each state: any
-- distribution with a log_prob can be the emission.
local Distribution = require "perilune.distribution"

return Distribution:extend("HiddenMarkov", {
  lazy_methods = "construct with_batch __tostring log_prob posterior viterbi mean variance sample",
})
