--@ peri.JohnsonSU
-- Johnson's unbounded law: gamma + delta asinh(z) is a standard Normal.
--   gamma    skew: to the left if positive
--   delta    lightness of the tails
--   loc      location
--   scale    scale
--   formula  log p(x) = log(delta/scale) - log(1 + z^2)/2 - r^2/2 - log(2 pi)/2,  z = (x - loc)/scale,  r = gamma +
--            delta asinh(z)
-- > JohnsonSU(1, 2):cdf(0)
-- 0.8413447460685429
local Distribution = require "perilune.distribution"
local constraints  = require "perilune.constraints"
local f            = require "perilune.functions"

local JohnsonSU = Distribution:extend("JohnsonSU", {
  kernels = "johnsonsu",
  params = {
    { "gamma", constraints.real,     default = 0 },
    { "delta", constraints.positive, default = 1 },
    { "loc",   constraints.real,     default = 0 },
    { "scale", constraints.positive, default = 1 },
  },
  support = constraints.real,
  affine = function (d, loc, scale)
    return f.sign(scale) * d.gamma, d.delta, loc + scale * d.loc, f.abs(scale) * d.scale
  end,
})

local function sinh (x) return 0.5 * (f.expm1(x) - f.expm1(-x)) end

function JohnsonSU:mean ()
  return self.loc - self.scale * f.exp(0.5 / f.square(self.delta)) * sinh(self.gamma / self.delta)
end

--- scale^2 (w - 1) (w cosh(2 gamma/delta) + 1)/2, w = e^(1/delta^2)
function JohnsonSU:stddev ()
  local odd = f.expm1(1 / f.square(self.delta))
  local half = f.exp(f.abs(self.gamma / self.delta))
  local cosh = 0.5 * (f.square(half) + 1 / f.square(half))
  return self:batched(self.scale * f.sqrt(0.5 * odd) * f.sqrt((1 + odd) * cosh + 1))
end

function JohnsonSU:variance () return f.square(self:stddev()) end

function JohnsonSU:median () return self.loc - self.scale * sinh(self.gamma / self.delta) end

return JohnsonSU
