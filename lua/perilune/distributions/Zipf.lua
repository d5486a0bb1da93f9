--- Zipf(exponent): ranks whose probabilities fall like a power.
local Distribution = require "perilune.distribution"
local constraints  = require "perilune.constraints"

local Zipf = Distribution:extend("Zipf", {
  kernels = "zipf",
  params = { { "exponent", constraints.greater_than(1) } },
  support = constraints.positive_integer,
  help = {
    summary = "ranks 1, 2, ... without end whose probabilities fall like a power, as of words (the zeta law)",
    params  = { exponent = "s, above 1: there is a mean for s > 2, a variance for s > 3" },
    formula = "P(k) = k^-s/zeta(s),  s = exponent",
    example = { "Zipf(2):prob(1)", 0.60792710185402662866 },
  },
})

function Zipf:mode () return self:batched(1) end

return Zipf
