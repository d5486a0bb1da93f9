--@ peri.Normal
-- The bell curve.
--   loc      centre and mean
--   scale    standard deviation
--   formula  log p(x) = -z^2/2 - log(2 pi)/2 - log(scale),  z = (x - loc)/scale
-- > Normal(0, 1):cdf(1.96)
-- 0.97500210485178
local Distribution = require "perilune.distribution"
local constraints  = require "perilune.constraints"
local functions    = require "perilune.functions"

local Normal = Distribution:extend("Normal", {
  kernels = "normal",
  params = {   -- in the order of the kernels' operands
    { "loc",   constraints.real,     default = 0 },
    { "scale", constraints.positive, default = 1 },
  },
  support = constraints.real,
})

function Normal:mean () return self:batched(self.loc) end
function Normal:mode () return self:batched(self.loc) end
function Normal:median () return self:batched(self.loc) end
function Normal:stddev () return self:batched(self.scale) end
function Normal:variance () return self:batched(functions.square(self.scale)) end

return Normal
