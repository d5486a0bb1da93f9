--@ peri.LogitNormal
-- The logistic function of a Normal.
--   loc      mean of logit x
--   scale    standard deviation of logit x
--   formula  log p(x) = -z^2/2 - log(2 pi)/2 - log(scale) - log(x (1 - x)),  z = (logit(x) - loc)/scale
-- > LogitNormal(1, 2):median()
-- 0.7310585786300049
local Distribution = require "perilune.distribution"
local constraints  = require "perilune.constraints"
local functions    = require "perilune.functions"

local LogitNormal = Distribution:extend("LogitNormal", {
  kernels = "logitnormal",
  params = {
    { "loc",   constraints.real,     default = 0 },
    { "scale", constraints.positive, default = 1 },
  },
  support = constraints.unit_interval,
  is_multimodal = true,
})

function LogitNormal:median () return self:batched(functions.sigmoid(self.loc)) end

function LogitNormal:variance ()
  local deviation = self:stddev()
  return deviation * deviation
end

return LogitNormal
