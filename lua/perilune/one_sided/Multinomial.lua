--- What is missing of a Multinomial where one of probs is 0: that of a single trial, for each of them.
local core      = require "perilune.core"
local functions = require "perilune.functions"
local one_sided = require "perilune.one_sided"
local single    = require "perilune.one_sided.OneHotCategorical"

-- total_count beside the counts of an event
local function trials_of (self) return one_sided.beside(self.total_count) end

-- dP(x)/dp_k where p_k = 0: P without that outcome, if it came once and no other of those that cannot come did.
local function missing_of_prob (self, x, probs)
  local f, beside = functions, one_sided.beside
  local share = one_sided.held(probs) / beside(probs:sum(-1))
  local dead = f.eq(share, 0)
  local terms = f.where(dead, 0, f.xlogy(x, f.where(dead, 1, share))) - f.lgamma(x + 1)
  local once = f.eq(x, 1) * f.eq(beside((dead * x):sum(-1)), 1)
  local rest = f.exp(f.lgamma(trials_of(self) + 1) + beside(terms:sum(-1)))
  return one_sided.row(probs, f.where(once * beside(self.support:holds(x)), rest, 0))
end

local function times_trials (missing)
  return function (self, x, probs, value) return trials_of(self) * missing(self, x, probs, value) end
end

return {
  log_prob = function (self, x, probs)
    local possible = one_sided.beside(self.support:holds(x))
    return one_sided.row(probs, -functions.where(possible, functions.eq(x, 0), 0) * trials_of(self))
  end,
  prob     = function (self, x, probs) return missing_of_prob(self, core.tensor(x), probs) end,
  entropy  = function (self, _, probs)
    return one_sided.row(probs, functions.where(functions.gt(trials_of(self), 0), math.huge, 0))
  end,
  mean     = times_trials(single.mean),
  variance = times_trials(single.variance),
  stddev   = single.stddev,
}
