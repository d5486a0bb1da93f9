--@ peri.AsymmetricLaplace
-- Two exponential laws back to back.
--   loc        mode, where the two meet
--   scale      width
--   asymmetry  square root of the odds of falling below loc; 1 is Laplace
--   formula    log p(x) = t - log(scale (k + 1/k)),  t = (x - loc)/(scale k) below loc, -(x - loc) k/scale above,  k
--              = asymmetry
-- > AsymmetricLaplace(0, 1, 2):cdf(0)
-- 0.8
local Distribution = require "perilune.distribution"
local constraints  = require "perilune.constraints"
local functions    = require "perilune.functions"

local AsymmetricLaplace = Distribution:extend("AsymmetricLaplace", {
  kernels = "asymmetriclaplace",
  has_cusp = true,
  params = {
    { "loc",       constraints.real,     default = 0 },
    { "scale",     constraints.positive, default = 1 },
    { "asymmetry", constraints.positive, default = 1 },
  },
  support = constraints.real,
})

function AsymmetricLaplace:mode () return self:batched(self.loc) end

-- The mean distances are scale/k above and scale k below; 1/k - k without cancellation.
function AsymmetricLaplace:mean ()
  local k = self.asymmetry
  return self.loc + self.scale * ((1 - k) / k * (1 + k))
end

function AsymmetricLaplace:variance ()
  local below, above = 1.0 * self.scale * self.asymmetry, self.scale / self.asymmetry
  return self:batched(functions.square(below) + functions.square(above))
end

function AsymmetricLaplace:stddev ()
  local k = self.asymmetry
  local lesser = functions.minimum(k, 1 / k)
  return self:batched(self.scale * (functions.sqrt(1 + lesser ^ 4) / lesser))
end

return AsymmetricLaplace
