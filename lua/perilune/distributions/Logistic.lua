--@ peri.Logistic
-- The law whose distribution function is the sigmoid.
--   loc      centre and mean
--   scale    width; the standard deviation is pi/sqrt(3) times as large
--   formula  log p(x) = -z - 2 log(1 + e^-z) - log(scale),  z = (x - loc)/scale
-- > Logistic(0, 2):cdf(2)
-- 0.7310585786300049
local Distribution = require "perilune.distribution"
local constraints  = require "perilune.constraints"

local Logistic = Distribution:extend("Logistic", {
  kernels = "logistic",
  params = {
    { "loc",   constraints.real,     default = 0 },
    { "scale", constraints.positive, default = 1 },
  },
  support = constraints.real,
})

local STDDEV = math.pi / 3 ^ 0.5

function Logistic:mean () return self:batched(self.loc) end
function Logistic:mode () return self:batched(self.loc) end
function Logistic:median () return self:batched(self.loc) end
function Logistic:stddev () return self:batched(STDDEV * self.scale) end
function Logistic:variance () return self:batched(math.pi ^ 2 / 3 * self.scale * self.scale) end

return Logistic
