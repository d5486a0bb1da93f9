--- Poisson(rate): the number of rare events.
local Distribution = require "perilune.distribution"
local constraints  = require "perilune.constraints"
local functions    = require "perilune.functions"

local Poisson = Distribution:extend("Poisson", {
  kernels = "poisson",
  params = {
    { "rate", constraints.nonnegative },
  },
  support = constraints.nonnegative_integer,
  help = {
    summary = "the number of rare events",
    params  = { rate = "mean and variance; 0 is a point mass at 0" },
    formula = "log P(k) = k log(rate) - rate - log k!",
    example = { "Poisson(4):cdf(2)", 0.238103305553544 },
  },
})

function Poisson:mean () return self.rate end
function Poisson:variance () return self.rate end
function Poisson:mode () return functions.floor(self.rate) end

return Poisson
