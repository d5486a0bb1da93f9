--@ peri.Laplace
-- An exponential law on either side.
--   loc      centre and mean
--   scale    mean distance from loc
--   formula  log p(x) = -|x - loc|/scale - log(2 scale)
-- > Laplace(0, 1):cdf(-50)
-- 9.643749239819589e-23
local Distribution = require "perilune.distribution"
local constraints  = require "perilune.constraints"
local functions    = require "perilune.functions"

local Laplace = Distribution:extend("Laplace", {
  kernels = "laplace",
  has_cusp = true,
  params = {
    { "loc",   constraints.real,     default = 0 },
    { "scale", constraints.positive, default = 1 },
  },
  support = constraints.real,
})

function Laplace:mean () return self:batched(self.loc) end
function Laplace:mode () return self:batched(self.loc) end
function Laplace:median () return self:batched(self.loc) end
function Laplace:stddev () return self:batched(2 ^ 0.5 * self.scale) end
function Laplace:variance () return self:batched(2 * functions.square(self.scale)) end

return Laplace
