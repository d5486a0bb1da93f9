--@ peri.Weibull
-- Waiting with a hazard that grows or fades as a power of time.
--   scale          the 63 % quantile
--   concentration  shape; below 1 the hazard fades
--   formula        log p(x) = log(k/scale) + (k - 1) log(x/scale) - (x/scale)^k,  k = concentration
-- > Weibull(2, 1.5):sf(3)
-- 0.15927590849002
local Distribution = require "perilune.distribution"
local constraints  = require "perilune.constraints"
local functions    = require "perilune.functions"

local Weibull = Distribution:extend("Weibull", {
  kernels = "weibull",
  params = {
    { "scale",         constraints.positive, default = 1 },
    { "concentration", constraints.positive, default = 1 },
  },
  support = constraints.nonnegative,
})

function Weibull:variance ()
  local sd = self:stddev()
  return sd * sd
end

--- 0 where the density falls throughout, concentration <= 1.
function Weibull:mode ()
  local y = 1 / self.concentration
  return self.scale * functions.exp(y * functions.log1p(-functions.minimum(y, 1)))
end

return Weibull
