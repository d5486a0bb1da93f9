--- What is missing of a NegativeBinomial where probs are 0.
local functions = require "perilune.functions"
local one_sided = require "perilune.one_sided"

local at, on, INF = one_sided.at, one_sided.on, math.huge
local count = one_sided.constant(function (self) return self.total_count end)

-- A zero with this derivative at probs = 0.
local first = one_sided.ends

local function infinite (self, _, probs) return first(probs, functions.where(functions.gt(count(self), 0), INF, 0)) end
local function by_count (self, _, probs) return first(probs, count(self)) end
local function less_by_count (self, x, probs) return first(probs, on(x, 0, 1, -count(self))) end

return {
  log_prob = function (self, x, probs) return first(probs, at(x, 0, -count(self))) end,
  prob     = function (self, x, probs) return first(probs, at(x, 1, count(self))) end,
  cdf      = less_by_count,
  log_cdf  = less_by_count,
  sf       = function (self, x, probs) return first(probs, on(x, 0, 1, count(self))) end,
  entropy  = infinite,
  stddev   = infinite,
  mean     = by_count,
  variance = by_count,
}
