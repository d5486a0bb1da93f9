--@ peri.Rice
-- The length of a vector of two Normals about a point at distance nu; Rayleigh for 0.
--   nu       distance of the point
--   sigma    standard deviation of either coordinate
--   formula  p(x) = x/sigma^2 exp(-(x^2 + nu^2)/(2 sigma^2)) I0(x nu/sigma^2) for x >= 0
-- > Rice(1, 1):cdf(1)
-- 0.2671201962031798
local Distribution = require "perilune.distribution"
local constraints  = require "perilune.constraints"
local f            = require "perilune.functions"

local Rice = Distribution:extend("Rice", {
  kernels = "rice",
  params = {
    { "nu",    constraints.nonnegative },
    { "sigma", constraints.positive, default = 1 },
  },
  support = constraints.nonnegative,
  affine = function (d, loc, scale)
    if loc == 0 and type(scale) == "number" and scale > 0 then return scale * d.nu, scale * d.sigma end
  end,
})

function Rice:variance () return f.square(self:stddev()) end

return Rice
