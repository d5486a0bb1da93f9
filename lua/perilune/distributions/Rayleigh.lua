--@ peri.Rayleigh
-- The length of a plane vector of two Normals.
--   scale    standard deviation of the coordinates, the mode
--   formula  log p(x) = log(x) - 2 log(scale) - (x/scale)^2/2 for x >= 0
-- > Rayleigh(1):sf(2)
-- 0.1353352832366127
local Distribution = require "perilune.distribution"
local constraints  = require "perilune.constraints"

local Rayleigh = Distribution:extend("Rayleigh", {
  kernels = "rayleigh",
  params = { { "scale", constraints.positive, default = 1 } },
  support = constraints.nonnegative,
})

-- sqrt(pi/2), sqrt(2 - pi/2) and sqrt(2 log 2)
local MEAN, DEVIATION, MEDIAN = 1.2533141373155002512, 0.65513637756203355309, 1.1774100225154746910

function Rayleigh:mean () return MEAN * self.scale end
function Rayleigh:mode () return self:batched(self.scale) end
function Rayleigh:median () return MEDIAN * self.scale end
function Rayleigh:stddev () return DEVIATION * self.scale end

function Rayleigh:variance ()
  local deviation = DEVIATION * self.scale
  return deviation * deviation
end

return Rayleigh
