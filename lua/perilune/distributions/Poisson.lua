--@ peri.Poisson
-- The number of rare events.
--   rate     mean and variance; 0 is a point mass at 0
--   formula  log P(k) = k log(rate) - rate - log k!
-- > Poisson(4):cdf(2)
-- 0.238103305553544
local Distribution = require "perilune.distribution"
local constraints  = require "perilune.constraints"
local functions    = require "perilune.functions"

local Poisson = Distribution:extend("Poisson", {
  kernels = "poisson",
  params = {
    { "rate", constraints.nonnegative },
  },
  support = constraints.nonnegative_integer,
})

function Poisson:mean () return self.rate end
function Poisson:variance () return self.rate end
function Poisson:mode () return functions.floor(self.rate) end

return Poisson
