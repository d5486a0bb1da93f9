--@ peri.GeneralizedNormal
-- A symmetric law with tails of any power: shape 1 is Laplace, 2 Normal, large ones near uniform.
--   loc      centre and mean
--   scale    width, sqrt(2) standard deviations for shape 2
--   shape    power of |z| in the exponent
--   formula  log p(x) = -|z|^shape - log(2 scale Gamma(1 + 1/shape)),  z = (x - loc)/scale
-- > GeneralizedNormal(0, 1, 4):cdf(0.5)
-- 0.7724269697809583
local Distribution = require "perilune.distribution"
local constraints  = require "perilune.constraints"

local GeneralizedNormal = Distribution:extend("GeneralizedNormal", {
  kernels = "generalizednormal",
  has_cusp = true,
  params = {
    { "loc",   constraints.real,     default = 0 },
    { "scale", constraints.positive, default = 1 },
    { "shape", constraints.positive, default = 2 },
  },
  support = constraints.real,
})

local function centre (self) return self:batched(self.loc) end

GeneralizedNormal.mean, GeneralizedNormal.median, GeneralizedNormal.mode = centre, centre, centre

return GeneralizedNormal
