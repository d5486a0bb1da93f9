--- What is missing of a Geometric where probs are 1.
local one_sided = require "perilune.one_sided"

local at, on, INF = one_sided.at, one_sided.on, math.huge

-- A zero with this derivative at probs = 1.
local function last (probs, slope) return one_sided.ends(probs, 0, slope) end

return {
  log_prob = function (_, x, probs) return last(probs, at(x, 0, 1)) end,
  prob     = function (_, x, probs) return last(probs, at(x, 1, -1)) end,
  cdf      = function (_, x, probs) return last(probs, on(x, 0, 1, 1)) end,
  sf       = function (_, x, probs) return last(probs, on(x, 0, 1, -1)) end,
  log_cdf  = function (_, x, probs) return last(probs, on(x, 0, 1, 1)) end,
  log_sf   = function (_, x, probs) return last(probs, on(x, 0, INF, -INF)) end,
  entropy  = function (_, _, probs) return last(probs, -INF) end,
  stddev   = function (_, _, probs) return last(probs, -INF) end,
  mean     = function (_, _, probs) return last(probs, -1) end,
}
