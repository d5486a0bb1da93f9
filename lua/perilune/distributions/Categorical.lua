--@ peri.Categorical
-- One of the outcomes 1, ..., K.
--   probs    probability of each outcome, up to a factor
--   logits   their logarithms, instead
--   formula  log P(j) = log(probs[j]/sum of probs)
-- > Categorical{1, 2, 5}:log_prob(3)
-- -0.47000362924574
local Distribution = require "perilune.distribution"
local class        = require "perilune.class"
local constraints  = require "perilune.constraints"
local core         = require "perilune.core"
local raise        = require "perilune.errors".raise
local functions    = require "perilune.functions"
local show         = require "perilune.show"
local tensor       = require "perilune.tensor"

local finite = constraints.left_open_interval(-math.huge, 1.7976931348623157e308)

-- Refuses rows in which nothing is possible, or something infinitely more than all else.
local function check_rows (self)
  local bad = { finite:violation(self.logits:max(-1)) }
  if bad[1] == nil then return end
  local name, rule, value = "logits", "a finite maximum", bad[1]
  if rawget(self, "probs") ~= nil then
    name, rule, value = "probs", value < 0 and "a positive sum" or "a finite sum", functions.exp(value)
  end
  local place = #bad > 1 and " at [" .. table.concat(bad, ", ", 2) .. "]" or ""
  raise("%s: %s must have %s, got %s%s", class.name(class.of(self)), name, rule, show.number(value), place)
end

local Categorical = Distribution:extend("Categorical", {
  kernels = "categorical",
  params = {   -- the last dimension holds the outcomes; neither need be normalised
    { "probs",  constraints.nonnegative, event = 1, gives = { logits = functions.log }, infinite = true },
    { "logits", constraints.real,        event = 1, gives = { probs = tensor.softmax }, infinite = true },
  },
  operands = { "logits" },
  one_sided = "Categorical",
  is_multimodal = true,
  init = function (self, checking)
    self.support = constraints.integer_interval(1, self:outcomes(checking))
  end,
})

--- How many outcomes there are, for all families with these logits; rows are checked first
-- if told. Probs that were passed are kept as shares of their sum.
function Categorical:outcomes (checking)
  if checking then check_rows(self) end
  local probs = rawget(self, "probs")
  if probs ~= nil then self.probs = probs / probs:sum(-1, true) end
  local shape = core.shape(self.logits)
  return shape[#shape]
end

local function expectation (self, values, keep)
  return (tensor.softmax(self.logits) * values):sum(-1, keep)
end

function Categorical:mean () return expectation(self, tensor.arange(1, self.support.high + 1)) end

function Categorical:variance ()
  local outcomes = tensor.arange(1, self.support.high + 1)
  return expectation(self, (outcomes - expectation(self, outcomes, true)) ^ 2)
end

function Categorical:mode () return self.logits:argmax(-1) end
function Categorical:median () return self:icdf(0.5) end

return Categorical
