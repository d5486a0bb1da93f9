--@ peri.Cauchy
-- Tails so heavy that there is no mean.
--   loc      centre, mode and median
--   scale    half the distance between the quartiles
--   formula  log p(x) = -log(pi scale (1 + z^2)),  z = (x - loc)/scale
-- > Cauchy(0, 1):cdf(-1)
-- 0.25
local Distribution = require "perilune.distribution"
local constraints  = require "perilune.constraints"
local core         = require "perilune.core"

local Cauchy = Distribution:extend("Cauchy", {
  kernels = "cauchy",
  params = {
    { "loc",   constraints.real,     default = 0 },
    { "scale", constraints.positive, default = 1 },
  },
  support = constraints.real,
})

function Cauchy:mean () return self:batched(core.nan) end   -- the integral does not exist
function Cauchy:mode () return self:batched(self.loc) end
function Cauchy:median () return self:batched(self.loc) end
function Cauchy:stddev () return self:batched(math.huge) end
function Cauchy:variance () return self:batched(math.huge) end

function Cauchy.moments_below () return 1, 1 end

return Cauchy
