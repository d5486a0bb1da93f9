--@ peri.Gamma
-- The waiting time for several events.
--   concentration  number of events, a, or any shape > 0
--   rate           events per unit of time
--   formula        log p(x) = a log(rate) + (a - 1) log x - rate x - log Gamma(a)
-- > Gamma(3, 2):cdf(1)
-- 0.32332358381693654
local Distribution = require "perilune.distribution"
local constraints  = require "perilune.constraints"
local functions    = require "perilune.functions"

local Gamma = Distribution:extend("Gamma", {
  kernels = "gamma",
  params = {
    { "concentration", constraints.positive },
    { "rate",          constraints.positive, default = 1 },
  },
  support = constraints.nonnegative,
})

function Gamma:mean () return self.concentration / self.rate end
function Gamma:variance () return self.concentration / self.rate / self.rate end
function Gamma:stddev () return functions.sqrt(self.concentration) / self.rate end
function Gamma:mode () return functions.maximum(self.concentration - 1, 0) / self.rate end

return Gamma
