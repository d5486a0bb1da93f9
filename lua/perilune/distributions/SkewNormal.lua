--@ peri.SkewNormal
-- A bell curve that leans: skewness 0 is Normal, large ones near half of one.
--   loc       location, the mean for skewness 0
--   scale     scale
--   skewness  how far it leans, to the right if positive; this field hides the method d:skewness()
--   formula   p(x) = 2/scale phi(z) Phi(skewness z),  z = (x - loc)/scale
-- > SkewNormal(0, 1, 4):cdf(0.5)
-- 0.3843496785881371
local Distribution = require "perilune.distribution"
local constraints  = require "perilune.constraints"
local functions    = require "perilune.functions"

local SkewNormal = Distribution:extend("SkewNormal", {
  kernels = "skewnormal",
  params = {
    { "loc",      constraints.real,     default = 0 },
    { "scale",    constraints.positive, default = 1 },
    { "skewness", constraints.real,     default = 0 },
  },
  support = constraints.real,
})

-- skewness/sqrt(1 + skewness^2), however large it is
local function lean (self) return functions.sin(functions.atan(self.skewness)) end

function SkewNormal:mean () return self.loc + self.scale * lean(self) * (2 / math.pi) ^ 0.5 end

function SkewNormal:variance ()
  local d = lean(self)
  return self:batched(functions.square(self.scale) * (1 - 2 / math.pi * d * d))
end

return SkewNormal
