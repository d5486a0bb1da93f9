--@ peri.Truncated
-- Any distribution of single numbers, cut to an interval.
--   base     the distribution to cut
--   low      lower end, -inf unless told
--   high     upper end, inf unless told
--   formula  log p(x) = base log p(x) - log P(low <= X <= high) for low <= x <= high
-- > Truncated(peri.Normal(0, 1), 8, math.huge):mean()
-- 8.121368112236112

-- With Z = P(low <= X <= high) of the base, p(x) = base p(x)/Z within. Masses of intervals are differences
-- of whichever tail of the base is the smaller, in logarithms, so that an interval far out in a tail is
-- as good as any other.
local Distribution = require "perilune.distribution"

return Distribution:extend("Truncated", {
  lazy_methods = "construct __tostring with_batch log_prob log_cdf log_sf cdf sf icdf isf expectation mean variance"
                 .. " entropy mode sample rsample moments_below",
})
