--@ peri.MixtureSameFamily
-- One of K distributions of a family, chosen at random.
--   mixture_distribution    a Categorical with the weights
--   component_distribution  K distributions, the last dimension of the batch of one object
--   formula                 p(x) = sum over k of w[k] p(x | k)
-- > MixtureSameFamily(peri.Categorical{ 0.3, 0.7 }, peri.Normal({ -1, 2 }, 0.5)):cdf(0)
-- 0.29319713028483

-- The rightmost dimension of the component's batch is the mixture. Whatever is asked of the mixture is
-- asked of all components, with a dimension put in for them, and summed with the weights (mixture_sums.lua).
local Distribution = require "perilune.distribution"

return Distribution:extend("MixtureSameFamily", {
  lazy_methods = "construct __tostring with_batch log_prob log_cdf log_sf cdf sf mean variance expectation entropy"
                 .. " icdf isf mode sample rsample moments_below",
})
