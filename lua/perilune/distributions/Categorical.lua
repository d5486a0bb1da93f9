--- Categorical(probs) or Categorical{logits = ...}: one of the outcomes 1, ..., K.
local Distribution = require "perilune.distribution"
local class        = require "perilune.class"
local constraints  = require "perilune.constraints"
local core         = require "perilune.core"
local raise        = require "perilune.errors".raise
local functions    = require "perilune.functions"
local one_sided    = require "perilune.one_sided"
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

local where, eq, INF = functions.where, functions.eq, math.huge

local beside = one_sided.beside

-- The outcomes.
local function numbered (probs) return tensor.arange(1, core.shape(probs)[core.rank(probs)] + 1) end

-- What is missing of the mass of outcomes `within`, or of its logarithm, where one of probs is 0.
local function of_mass (probs, within, mass) return one_sided.row(probs, within - beside(mass)) end
local function of_log_mass (probs, within, mass)
  local slopes = where(within, 1 / beside(mass) - 1, -1)
  return one_sided.row(probs, where(beside(within:max(-1)), slopes, 0))   -- none of no outcomes
end

local function just (x, probs) return eq(numbered(probs), beside(x)) end
local function upto (x, probs) return functions.le(numbered(probs), beside(x)) end
local function above (x, probs) return functions.gt(numbered(probs), beside(x)) end

-- The slope of log P(x) along that of x itself is infinite by the chain rule.
local at_zero = {
  log_prob = function (_, x, probs) return of_log_mass(probs, just(x, probs), 1) end,
  prob     = function (_, x, probs) return one_sided.row(probs, just(x, probs)) end,
  cdf      = function (_, x, probs, value) return of_mass(probs, upto(x, probs), value) end,
  sf       = function (_, x, probs, value) return of_mass(probs, above(x, probs), value) end,
  log_cdf  = function (_, x, probs, value) return of_log_mass(probs, upto(x, probs), functions.exp(value)) end,
  log_sf   = function (_, x, probs, value) return of_log_mass(probs, above(x, probs), functions.exp(value)) end,
  entropy  = function (_, _, probs) return one_sided.row(probs, INF) end,
  mean     = function (_, _, probs, value) return one_sided.row(probs, numbered(probs) - beside(value)) end,
  variance = function (self, _, probs, value)
    return one_sided.row(probs, (numbered(probs) - beside(self:mean())) ^ 2 - beside(value))
  end,
  stddev   = function (self, _, probs, value)   -- of a certain outcome
    local other = functions.ne(numbered(probs), beside(self:mean()))
    return one_sided.row(probs, where(eq(beside(value), 0) * other, INF, 0))
  end,
}

local Categorical = Distribution:extend("Categorical", {
  kernels = "categorical",
  params = {   -- the last dimension holds the outcomes; neither need be normalised
    { "probs",  constraints.nonnegative, event = 1, gives = { logits = functions.log }, infinite = true },
    { "logits", constraints.real,        event = 1, gives = { probs = tensor.softmax }, infinite = true },
  },
  operands = { "logits" },
  one_sided = at_zero,
  help = {
    summary = "one of the outcomes 1, ..., K",
    params  = { probs = "probability of each outcome, up to a factor", logits = "their logarithms, instead" },
    formula = "log P(j) = log(probs[j]/sum of probs)",
    example = { "Categorical{1, 2, 5}:log_prob(3)", -0.47000362924574 },
  },
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
