--@ peri.Gumbel
-- The limit law of maxima.
--   loc      mode
--   scale    width; the standard deviation is pi/sqrt(6) times as large
--   formula  log p(x) = -z - e^-z - log(scale),  z = (x - loc)/scale
-- > Gumbel(0, 1):sf(40)
-- 4.248354255291589e-18
local Distribution = require "perilune.distribution"
local constraints  = require "perilune.constraints"

local Gumbel = Distribution:extend("Gumbel", {
  kernels = "gumbel",
  params = {
    { "loc",   constraints.real,     default = 0 },
    { "scale", constraints.positive, default = 1 },
  },
  support = constraints.real,
})

local EULER  = 0.57721566490153286061   -- the mean of the standard law
local MEDIAN = 0.36651292058166432701   -- -log(log 2)
local STDDEV = math.pi / 6 ^ 0.5

function Gumbel:mean () return self.loc + EULER * self.scale end
function Gumbel:mode () return self:batched(self.loc) end
function Gumbel:median () return self.loc + MEDIAN * self.scale end
function Gumbel:stddev () return self:batched(STDDEV * self.scale) end
function Gumbel:variance () return self:batched(math.pi ^ 2 / 6 * self.scale * self.scale) end

return Gumbel
