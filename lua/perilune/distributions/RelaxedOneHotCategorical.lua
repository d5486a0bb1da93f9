--@ peri.RelaxedOneHotCategorical
-- Shares of a whole that come near a row with a single 1 as the temperature falls.
--   temperature  T, how far from a single 1 rows stray
--   probs        probability of each place of the largest share, up to a factor; not the mean
--   logits       their logarithms, instead
--   formula      x = softmax((logits + Gumbel noise)/T);  log p(x) = log Gamma(K) + (K - 1) log T + sum of (v - log
--                x) - K log(sum of e^v),  v = logits - T log x
-- > RelaxedOneHotCategorical(0.5, {1, 1, 2}):log_prob({0.25, 0.25, 0.5})
-- -0.5646792193787932
local Categorical  = require "perilune.distributions.Categorical"
local Distribution = require "perilune.distribution"
local constraints  = require "perilune.constraints"
local functions    = require "perilune.functions"
local lazy         = require "perilune.lazy"
local tensor       = require "perilune.tensor"

local relaxed = lazy "relaxed"

local log, maximum = functions.log, functions.maximum

local RelaxedOneHotCategorical = Distribution:extend("RelaxedOneHotCategorical", {
  kernels = "relaxedonehotcategorical",
  params = { { "temperature", constraints.positive }, table.unpack(Categorical.params) },
  operands = { "temperature", "logits" },
  support = constraints.simplex,
  init = function (self, checking) self.event_shape = { Categorical.outcomes(self, checking) } end,
})


local EULER = 0.57721566490153286061

function RelaxedOneHotCategorical:mode () return relaxed.mode(self) end

function RelaxedOneHotCategorical:mean ()
  return relaxed.integral(self, function (_, product, slope) return slope * product end)
end

-- E x^2 and E x, next to each other, by one integral.
function RelaxedOneHotCategorical:variance ()
  local k = self.event_shape[1]
  local both = relaxed.integral(self, function (_, product, slope, bend)
    return tensor.cat({ bend * product, slope * product }, -1)
  end, true)
  return maximum(both:narrow(-1, 1, k) - functions.square(both:narrow(-1, k + 1, k)), 0)
end

--- sum of logits/T - log Gamma(K) - (K - 1) log T + K ((1 + 1/T) gamma + psi(K) - E log W)
function RelaxedOneHotCategorical:entropy ()
  local k, temperature = self.event_shape[1], self.temperature
  local log_sum = relaxed.integral(self, function (t, product, slope) return -t * slope * product end):sum(-1) - EULER
  return (self.logits:sum(-1) / temperature - functions.lgamma(k) - (k - 1) * log(temperature))
         + k * ((1 + 1 / temperature) * EULER + functions.digamma(k) - log_sum)
end

return RelaxedOneHotCategorical
