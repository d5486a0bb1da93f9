--@ peri.TruncatedNormal
-- A Normal cut to an interval, either end of which may be infinite.
--   loc      centre of the Normal
--   scale    standard deviation of the Normal
--   low      lower end
--   high     upper end
--   formula  log p(x) = log phi(z) - log(scale) - log(Phi(b) - Phi(a)),  z = (x - loc)/scale, low <= x <= high
-- > TruncatedNormal(0, 1, 40, math.huge):mean()
-- 40.02496884720726
local Distribution = require "perilune.distribution"
local constraints  = require "perilune.constraints"
local functions    = require "perilune.functions"

local TruncatedNormal = Distribution:extend("TruncatedNormal", {
  kernels = "truncatednormal",
  params = {
    { "loc",   constraints.real,     default = 0 },
    { "scale", constraints.positive, default = 1 },
    { "low",   constraints.real,     default = -math.huge, infinite = true },
    { "high",  function (self) return constraints.greater_than(self.low) end, default = math.huge, infinite = true },
  },
  init = function (self) self.support = constraints.interval(self.low, self.high) end,
})

function TruncatedNormal:mode ()
  return self:batched(functions.minimum(functions.maximum(self.loc, self.low), self.high))
end

return TruncatedNormal
