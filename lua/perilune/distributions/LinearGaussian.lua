--@ peri.LinearGaussian
-- A series seen through noise, of a hidden state that moves linearly.
--   transition              A, n by n: the next state is A z and noise
--   process_covariance      of that noise; or process_scale_tril
--   observation             C, d by n: what is seen is C z and noise
--   observation_covariance  of that noise; or observation_scale_tril
--   initial_mean            of the first state
--   initial_covariance      of the first state; or initial_scale_tril
--   length                  of the series
--   formula                 z[1] ~ N(initial), z[t+1] ~ N(A z[t], process), x[t] ~ N(C z[t], observation)
-- > LinearGaussian({ { 0.9 } }, { { 0.5 } }, { { 1 } }, { { 1 } }, { 0 }, { { 1 } }, 3):log_prob(
-- >   { { 0.3 }, { 1 }, { -0.2 } })
-- -4.0882165746701

-- Each covariance may be given by a triangle instead: process_scale_tril, observation_scale_tril, initial_scale_tril.
local Distribution = require "perilune.distribution"
local constraints  = require "perilune.constraints"

return Distribution:extend("LinearGaussian", {
  lazy_methods = "construct with_batch __tostring log_prob filter smooth mean mode variance entropy sample",
  support   = constraints.independent(constraints.real, 2),
})
