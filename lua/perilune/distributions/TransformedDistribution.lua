--@ peri.TransformedDistribution
-- The law of a transform, or of several in a row, of a random variable.
--   base_distribution  the law of x
--   transforms         one of peri.transforms, or a list of them
--   formula            log p(y) = log p(x) - log|det dy/dx|,  x = inverse of y
-- > TransformedDistribution(require 'perilune'.Normal(0, 1), require 'perilune'.transforms.Exp()):cdf(1)
-- 0.5

-- Each transform is one stage (stages.lua) on top of the law below it, a distribution or another stage; a chain of
-- them is all there is to several transforms.
local Distribution = require "perilune.distribution"

return Distribution:extend("TransformedDistribution", {
  lazy_methods = "construct log_prob median mode expectation rsample sample with_batch enumerate_support __tostring"
                 .. " cdf sf log_cdf log_sf icdf isf mean variance stddev entropy complete moments_below",
})
