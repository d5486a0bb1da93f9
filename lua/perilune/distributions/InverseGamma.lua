--@ peri.InverseGamma
-- One over a Gamma variable.
--   concentration  shape, a: the k-th moment exists for a > k
--   rate           scale of x
--   formula        log p(x) = a log(rate) - (a + 1) log x - rate/x - log Gamma(a)
-- > InverseGamma(3, 2):cdf(1)
-- 0.6766764161830635
local Distribution = require "perilune.distribution"
local constraints  = require "perilune.constraints"
local functions    = require "perilune.functions"

local where, INF = functions.where, math.huge

local InverseGamma = Distribution:extend("InverseGamma", {
  kernels = "inversegamma",
  params = {
    { "concentration", constraints.positive },
    { "rate",          constraints.positive, default = 1 },
  },
  support = constraints.positive,
})

-- Infinite up to a concentration of 2.
local function second_moment (self, finite) return where(functions.gt(self.concentration, 2), finite, INF) end

function InverseGamma:mean ()
  local a = self.concentration
  return where(functions.gt(a, 1), self.rate / (a - 1), INF)
end

function InverseGamma:variance ()
  local mean = self.rate / (self.concentration - 1)
  return second_moment(self, mean / (self.concentration - 2) * mean)
end

function InverseGamma:stddev ()
  local mean = self.rate / (self.concentration - 1)
  return second_moment(self, mean / functions.sqrt(self.concentration - 2))
end

function InverseGamma:mode () return self.rate / (self.concentration + 1) end

function InverseGamma:moments_below () return self.concentration end

return InverseGamma
