--@ peri.HalfCauchy
-- The magnitude of a centred Cauchy.
--   scale    the median
--   formula  log p(x) = log(2/pi) - log(1 + (x/scale)^2) - log(scale) for x >= 0
-- > HalfCauchy(2):cdf(2)
-- 0.5
local Distribution = require "perilune.distribution"
local constraints  = require "perilune.constraints"

local HalfCauchy = Distribution:extend("HalfCauchy", {
  kernels = "halfcauchy",
  params = { { "scale", constraints.positive, default = 1 } },
  support = constraints.nonnegative,
})

function HalfCauchy:mean () return self:batched(math.huge) end
function HalfCauchy:variance () return self:batched(math.huge) end
function HalfCauchy:stddev () return self:batched(math.huge) end
function HalfCauchy:mode () return self:batched(0) end
function HalfCauchy:median () return self:batched(self.scale) end

function HalfCauchy.moments_below () return 1 end

return HalfCauchy
