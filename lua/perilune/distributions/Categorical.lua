--- Categorical(probs) or Categorical{logits = ...}: one of the outcomes 1, ..., K.
local Distribution = require "perilune.distribution"
local constraints  = require "perilune.constraints"
local core         = require "perilune.core"
local functions    = require "perilune.functions"
local tensor       = require "perilune.tensor"

local Categorical = Distribution:extend("Categorical", {
  kernels = "categorical",
  params = {   -- the last dimension holds the outcomes; neither need be normalised
    { "probs",  constraints.nonnegative, event = 1, gives = { logits = functions.log } },
    { "logits", constraints.real,        event = 1, gives = { probs = tensor.softmax } },
  },
  operands = { "logits" },
  help = {
    summary = "one of the outcomes 1, ..., K",
    params  = { probs = "probability of each outcome, up to a factor", logits = "their logarithms, instead" },
    formula = "log P(j) = log(probs[j]/sum of probs)",
    example = { "Categorical{1, 2, 5}:log_prob(3):item()", -0.47000362924574 },
  },
  init = function (self)
    local shape = core.shape(self.logits)
    self.support = constraints.integer_interval(1, shape[#shape])
  end,
})

local function expectation (self, values)
  return (tensor.softmax(self.logits) * values):sum(-1)
end

function Categorical:mean () return expectation(self, tensor.arange(1, self.support.high + 1)) end

function Categorical:variance ()
  local outcomes = tensor.arange(1, self.support.high + 1)
  return expectation(self, (outcomes - self:mean():unsqueeze(-1)) ^ 2)
end

function Categorical:mode () return self.logits:argmax(-1) end
function Categorical:median () return self:icdf(0.5) end

return Categorical
