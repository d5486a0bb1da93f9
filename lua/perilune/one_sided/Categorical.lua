--- What is missing of a Categorical where one of probs is 0.
local core      = require "perilune.core"
local functions = require "perilune.functions"
local one_sided = require "perilune.one_sided"
local tensor    = require "perilune.tensor"

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
return {
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
