--- What is missing of a OneHotCategorical where one of probs is 0. Values with an element for each outcome have a row
-- of slopes for each.
local constraints = require "perilune.constraints"
local functions   = require "perilune.functions"
local one_sided   = require "perilune.one_sided"

local where, eq, INF = functions.where, functions.eq, math.huge

return {
  log_prob = function (_, x, probs)
    return one_sided.row(probs, -where(one_sided.beside(constraints.one_hot:holds(x)), eq(x, 0), 0))
  end,
  prob     = function (_, x, probs)
    return one_sided.row(probs, where(one_sided.beside(constraints.one_hot:holds(x)), x, 0))
  end,
  entropy  = require "perilune.one_sided.Categorical".entropy,
  mean     = function (_, _, probs) return one_sided.row(probs, (one_sided.share_slopes(probs)), true) end,
  variance = function (_, _, probs)
    local slopes, share = one_sided.share_slopes(probs)
    return one_sided.row(probs, (1 - 2 * share) * slopes, true)
  end,
  stddev   = function (_, _, probs)   -- of what is certain, or impossible
    local slopes, share = one_sided.share_slopes(probs)
    local certain = eq(share * (1 - share), 0)
    return one_sided.row(probs, where(certain * functions.ne((1 - 2 * share) * slopes, 0), INF, 0), true)
  end,
}
