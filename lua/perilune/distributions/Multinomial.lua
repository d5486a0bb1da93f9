--- Multinomial(total_count, probs) or Multinomial{total_count =, logits =}: how often each outcome came.
local Binomial          = require "perilune.distributions.Binomial"
local Distribution      = require "perilune.distribution"
local OneHotCategorical = require "perilune.distributions.OneHotCategorical"
local constraints       = require "perilune.constraints"
local core              = require "perilune.core"
local functions         = require "perilune.functions"
local tensor            = require "perilune.tensor"

-- total_count beside the counts of an event
local function trials (self)
  return core.is_tensor(self.total_count) and self.total_count:unsqueeze(-1) or self.total_count
end

local Multinomial = Distribution:extend("Multinomial", {
  kernels = "multinomial",
  params = {   -- the last dimension of probs holds the outcomes; neither need be normalised
    { "total_count", constraints.nonnegative_integer, default = 1 },
    { "probs",  constraints.nonnegative, event = 1, gives = { logits = functions.log } },
    { "logits", constraints.real,        event = 1, gives = { probs = tensor.softmax } },
  },
  operands = { "total_count", "logits" },
  help = {
    summary = "how often each of K outcomes came in a number of trials",
    params  = {
      total_count = "number of trials", probs = "probability of each outcome, up to a factor",
      logits = "their logarithms, instead",
    },
    formula = "log P(x) = log(n!/(x[1]! ... x[K]!)) + sum of x[j] log(probs[j]/sum of probs), n = total_count",
    example = { "Multinomial(4, {1, 1, 2}):prob({1, 1, 2}):item()", 0.1875 },
  },
  init = function (self)
    local shape = core.shape(self.logits)
    self.event_shape = { shape[#shape] }
    self.support = constraints.integer_interval(0, trials(self))   -- of each element
  end,
})

function Multinomial:mean () return trials(self) * OneHotCategorical.mean(self) end
function Multinomial:variance () return trials(self) * OneHotCategorical.variance(self) end

--- Outcome by outcome, a binomial share of the trials that are left.
function Multinomial:sample (shape, rng)
  local logits, left, counts = OneHotCategorical.conditional_logits(self), self.total_count, {}
  for j = 1, self.event_shape[1] do
    counts[j] = Binomial { total_count = left, logits = logits:select(-1, j), validate = false }:sample(shape, rng)
    left, shape = left - counts[j], nil
  end
  return tensor.stack(counts, -1)
end

return Multinomial
