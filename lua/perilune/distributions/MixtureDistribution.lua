--@ peri.MixtureDistribution
-- One of several distributions of any families, chosen at random. Directions (VonMises) beside laws of numbers are
-- those of one turn.
--   mixing      a Categorical with the weights
--   components  a table of distributions, one for each outcome
--   formula     p(x) = sum over k of w[k] p_k(x)
-- > MixtureDistribution(peri.Categorical{ 0.3, 0.7 }, { peri.Normal(0, 1), peri.Gamma(2, 1) }):cdf(1)
-- 0.43737220618054

-- It is a MixtureSameFamily whose components lie side by side (side_by_side.lua).
local MixtureSameFamily = require "perilune.distributions.MixtureSameFamily"

return MixtureSameFamily:extend("MixtureDistribution", {
  lazy_methods = "construct expectation",
  derived = {
    mixing     = function (self) return rawget(self, "mixture_distribution") end,
    components = function (self) return rawget(self, "component_distribution").list end,
  },
})
