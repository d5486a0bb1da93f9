--- RelaxedOneHotCategorical(temperature, probs) or RelaxedOneHotCategorical{temperature =, logits =}:
-- shares of a whole that come near a row with a single 1.
local Categorical  = require "perilune.distributions.Categorical"
local Distribution = require "perilune.distribution"
local constraints  = require "perilune.constraints"

return Distribution:extend("RelaxedOneHotCategorical", {
  kernels = "relaxedonehotcategorical",
  params = { { "temperature", constraints.positive }, table.unpack(Categorical.params) },
  operands = { "temperature", "logits" },
  support = constraints.simplex,
  help = {
    summary = "shares of a whole that come near a row with a single 1 as the temperature falls",
    params  = {
      temperature = "T, how far from a single 1 rows stray",
      probs  = "probability of each place of the largest share, up to a factor; not the mean",
      logits = "their logarithms, instead",
    },
    formula = "x = softmax((logits + Gumbel noise)/T);  log p(x) = log Gamma(K) + (K - 1) log T"
              .. " + sum of (v - log x) - K log(sum of e^v),  v = logits - T log x",
    example = { "RelaxedOneHotCategorical(0.5, {1, 1, 2}):log_prob({0.25, 0.25, 0.5}):item()", -0.56467921937879315 },
  },
  init = function (self, checking) self.event_shape = { Categorical.outcomes(self, checking) } end,
})
