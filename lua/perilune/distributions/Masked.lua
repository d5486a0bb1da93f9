--@ peri.Masked
-- A distribution that counts only where the mask is 1.
--   base     the distribution
--   mask     true or 1 where it counts, false or 0 where log_prob is to be 0
--   formula  log p(x) = base log p(x) where mask is 1, 0 where it is 0
-- > Masked(peri.Normal({ 0, 0 }, 1), { true, false }):log_prob(1):sum()
-- -1.4189385332046727
local Distribution = require "perilune.distribution"

return Distribution:extend("Masked", {
  lazy_methods = "construct __tostring with_batch log_prob entropy cdf log_cdf sf log_sf icdf isf mean variance"
                 .. " stddev mode median sample rsample enumerate_support expectation",
})
