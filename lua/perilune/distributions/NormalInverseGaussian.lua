--@ peri.NormalInverseGaussian
-- Normals whose variance is an inverse Gaussian variable: tails between those of Normal and Cauchy.
--   tail     a: large for light tails
--   skew     b, between -a and a: positive for a long tail to the right
--   loc      location
--   scale    scale
--   formula  p(x) = a K1(a r)/(pi r scale) exp(sqrt(a^2 - b^2) + b z),  z = (x - loc)/scale,  r = sqrt(1 + z^2)
-- > NormalInverseGaussian(1, 0):log_prob(0)
-- -0.6523818340601525
local Distribution = require "perilune.distribution"
local constraints  = require "perilune.constraints"
local f            = require "perilune.functions"

local NormalInverseGaussian = Distribution:extend("NormalInverseGaussian", {
  kernels = "normalinversegaussian",
  params = {
    { "tail",  constraints.positive },
    { "skew",  function (self) return constraints.interval(-self.tail, self.tail) end, default = 0 },
    { "loc",   constraints.real,     default = 0 },
    { "scale", constraints.positive, default = 1 },
  },
  support = constraints.real,
  affine = function (d, loc, scale)
    return d.tail, f.sign(scale) * d.skew, loc + scale * d.loc, f.abs(scale) * d.scale
  end,
})

-- sqrt(a^2 - b^2)
local function root (self) return f.sqrt(self.tail - self.skew) * f.sqrt(self.tail + self.skew) end

function NormalInverseGaussian:mean () return self.loc + self.scale * (self.skew / root(self)) end

function NormalInverseGaussian:stddev ()
  local c = root(self)
  return self:batched(self.scale * (self.tail / c) / f.sqrt(c))
end

function NormalInverseGaussian:variance () return f.square(self:stddev()) end

--- One tail falls like x^(-3/2) where skew is as large as tail.
function NormalInverseGaussian:moments_below ()
  return f.where(f.eq(self.skew, self.tail), 0.5, math.huge), f.where(f.eq(self.skew, -self.tail), 0.5, math.huge)
end

return NormalInverseGaussian
