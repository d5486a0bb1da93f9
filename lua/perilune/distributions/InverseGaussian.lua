--@ peri.InverseGaussian
-- The time at which a particle that drifts and jitters first arrives (Wald's law).
--   loc            mean
--   concentration  shape; variance is loc^3/concentration
--   formula        log p(x) = log(l/(2 pi x^3))/2 - l (x - m)^2/(2 m^2 x) for x > 0,  m = loc, l = concentration
-- > InverseGaussian(1, 2):cdf(1.5)
-- 0.8244079562051371
local Distribution = require "perilune.distribution"
local constraints  = require "perilune.constraints"
local functions    = require "perilune.functions"

local InverseGaussian = Distribution:extend("InverseGaussian", {
  kernels = "inversegaussian",
  params = {
    { "loc",           constraints.positive, default = 1, infinite = true },
    { "concentration", constraints.positive, default = 1 },
  },
  support = constraints.positive,
})

function InverseGaussian:mean () return self:batched(self.loc) end
function InverseGaussian:stddev () return self.loc * functions.sqrt(self.loc / self.concentration) end
function InverseGaussian:variance () return functions.square(self.loc) * (self.loc / self.concentration) end

--- loc, or a mean so large that it is as good as none where loc is infinite.
function InverseGaussian:finite_mean ()
  return functions.minimum(self.loc, functions.minimum(1e200 * self.concentration, 1e300))
end

function InverseGaussian:mode ()   -- loc/(c + sqrt(1 + c^2)), without the square of a large c
  local loc = self:finite_mean()
  local c = 1.5 * (loc / self.concentration)
  local small = functions.minimum(c, 1 / c)
  return loc / (c + functions.maximum(c, 1) * functions.sqrt(1 + small * small))
end

return InverseGaussian
