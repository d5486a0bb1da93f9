--@ peri.Flat
-- The same density everywhere on its support, without a total: an improper prior.
--   constraint  the support, one of peri.constraints; real unless told
--   shape       of the values: batch, and event where the constraint is one of rows or matrices
--   formula     log p(x) = 0 on the support, -inf elsewhere
-- > Flat(peri.constraints.positive):log_prob(3)
-- 0

-- The last dimensions of the shape are an event, as many as the constraint has; those before are the batch.
local Distribution = require "perilune.distribution"

return Distribution:extend("Flat", {
  lazy_methods = "construct __tostring with_batch log_prob sample rsample expectation",
})
