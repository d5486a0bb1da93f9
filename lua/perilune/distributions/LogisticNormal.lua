--@ peri.LogisticNormal
-- Shares of a whole that Normals cut off one after another.
--   loc      means of the logits of the cuts
--   scale    their standard deviations
--   formula  u = inverse stick-breaking of x,  log p(x) = log p(u) - log|det dx/du|
-- > LogisticNormal({ 0, 0 }, 1):log_prob({ 0.25, 0.25, 0.5 })
-- 1.3054313524847

-- Cut j of K takes the share z_j = sigmoid(u_j - log(K - j + 1)) of what is left, u_j
-- from Normal(loc_j, scale_j), so that x_j = z_j (1 - z_1) ... (1 - z_(j-1)); the last of
-- the K + 1 shares is what remains.
local Distribution            = require "perilune.distribution"
local TransformedDistribution = require "perilune.distributions.TransformedDistribution"
local constraints             = require "perilune.constraints"

return TransformedDistribution:extend("LogisticNormal", {
  lazy_methods = "construct init with_batch mean variance mode entropy",
  params = {
    { "loc",   constraints.real,     event = 1 },               -- one for each cut
    { "scale", constraints.positive, event = 1, default = 1 },
  },
  __tostring = Distribution.__tostring,
  stddev     = Distribution.stddev,
})
