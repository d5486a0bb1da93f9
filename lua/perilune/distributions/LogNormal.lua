--@ peri.LogNormal
-- The exponential of a Normal.
--   loc      mean of log x
--   scale    standard deviation of log x
--   formula  log p(x) = -z^2/2 - log(2 pi)/2 - log(scale) - log(x),  z = (log(x) - loc)/scale
-- > LogNormal(0, 0.5):mean()
-- 1.1331484530668263
local Distribution = require "perilune.distribution"
local constraints  = require "perilune.constraints"
local functions    = require "perilune.functions"

local LogNormal = Distribution:extend("LogNormal", {
  kernels = "lognormal",
  params = {
    { "loc",   constraints.real,     default = 0 },
    { "scale", constraints.positive, default = 1 },
  },
  support = constraints.positive,
})

function LogNormal:median () return self:batched(functions.exp(self.loc)) end

function LogNormal:variance ()
  local deviation = self:stddev()
  return deviation * deviation
end

return LogNormal
