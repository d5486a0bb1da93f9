--@ peri.Frechet
-- The limit law of maxima of heavy-tailed variables; the reciprocal of a Weibull variable.
--   scale          the 37 % quantile
--   concentration  shape; the tail falls as x^-concentration
--   formula        log p(x) = log(k/scale) - (1 + k) log(x/scale) - (x/scale)^-k,  k = concentration
-- > Frechet(2, 1.5):cdf(3)
-- 0.58022979597467
local Distribution = require "perilune.distribution"
local constraints  = require "perilune.constraints"
local functions    = require "perilune.functions"

local Frechet = Distribution:extend("Frechet", {
  kernels = "frechet",
  params = {
    { "scale",         constraints.positive, default = 1 },
    { "concentration", constraints.positive, default = 1 },
  },
  support = constraints.nonnegative,
})

function Frechet:variance ()
  local sd = self:stddev()
  return sd * sd
end

function Frechet:mode ()
  local y = 1 / self.concentration
  local root = functions.exp(-0.5 * y * functions.log1p(y))   -- in two steps, each within range
  return self.scale * root * root
end

function Frechet:moments_below () return self.concentration end

return Frechet
