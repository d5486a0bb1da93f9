--@ peri.ExGaussian
-- A Normal and an Exponential variable added, as reaction times.
--   loc      mean of the Normal
--   scale    standard deviation of the Normal
--   rate     of the Exponential
--   formula  p(x) = rate e^(k^2/2 - k z) Phi(z - k),  z = (x - loc)/scale, k = rate scale
-- > ExGaussian(0, 1, 1):cdf(0)
-- 0.23842170813487662
local Distribution = require "perilune.distribution"
local constraints  = require "perilune.constraints"
local f            = require "perilune.functions"

local ExGaussian = Distribution:extend("ExGaussian", {
  kernels = "exgaussian",
  params = {
    { "loc",   constraints.real,     default = 0 },
    { "scale", constraints.positive, default = 1 },
    { "rate",  constraints.positive, default = 1 },
  },
  support = constraints.real,
  affine = function (d, loc, scale)
    if type(scale) == "number" and scale > 0 then return loc + scale * d.loc, scale * d.scale, d.rate / scale end
  end,
})

function ExGaussian:mean () return self:batched(self.loc + 1 / self.rate) end
function ExGaussian:stddev () return self:batched(f.hypot(self.scale, 1 / self.rate)) end
function ExGaussian:variance () return f.square(self:stddev()) end

return ExGaussian
