--@ peri.HalfNormal
-- The magnitude of a centred Normal.
--   scale    standard deviation of that Normal
--   formula  log p(x) = log(2/pi)/2 - (x/scale)^2/2 - log(scale) for x >= 0
-- > HalfNormal(1):cdf(1.96)
-- 0.950004209703559
local Distribution = require "perilune.distribution"
local constraints  = require "perilune.constraints"

local HalfNormal = Distribution:extend("HalfNormal", {
  kernels = "halfnormal",
  params = { { "scale", constraints.positive, default = 1 } },
  support = constraints.nonnegative,
})

local MEAN, DEVIATION = 0.79788456080286535588, 0.60281027498908697428   -- sqrt(2/pi), sqrt(1 - 2/pi)

function HalfNormal:mean () return MEAN * self.scale end
function HalfNormal:mode () return self:batched(0) end
function HalfNormal:stddev () return DEVIATION * self.scale end

function HalfNormal:variance ()
  local deviation = DEVIATION * self.scale
  return deviation * deviation
end

return HalfNormal
