--- OneHotCategorical(probs) or OneHotCategorical{logits = ...}: a row with a single 1 among zeros.
local Categorical  = require "perilune.distributions.Categorical"
local Distribution = require "perilune.distribution"
local constraints  = require "perilune.constraints"
local functions    = require "perilune.functions"
local one_sided    = require "perilune.one_sided"
local tensor       = require "perilune.tensor"

local where, eq, INF = functions.where, functions.eq, math.huge

-- What is missing where one of probs is 0: see Categorical. Values with an element for each outcome
-- have a row of slopes for each.
local at_zero = {
  log_prob = function (_, x, probs)
    return one_sided.row(probs, -where(one_sided.beside(constraints.one_hot:holds(x)), eq(x, 0), 0))
  end,
  prob     = function (_, x, probs)
    return one_sided.row(probs, where(one_sided.beside(constraints.one_hot:holds(x)), x, 0))
  end,
  entropy  = Categorical.one_sided.entropy,
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

local OneHotCategorical = Distribution:extend("OneHotCategorical", {
  kernels = "onehotcategorical",
  params = Categorical.params,
  operands = { "logits" },
  support = constraints.one_hot,
  one_sided = at_zero,
  help = {
    summary = "a row of K numbers, one of them 1 and the others 0",
    params  = { probs = "probability of each place of the 1, up to a factor", logits = "their logarithms, instead" },
    formula = "log P(row with its 1 at j) = log(probs[j]/sum of probs)",
    example = { "OneHotCategorical{1, 2, 5}:log_prob({0, 0, 1})", -0.47000362924574 },
  },
  init = function (self, checking) self.event_shape = { Categorical.outcomes(self, checking) } end,
})

--- The K rows along a new first dimension.
function OneHotCategorical:enumerate_support ()
  local k, shape, whole = self.event_shape[1], {}, {}
  for d, size in ipairs(self.batch_shape) do shape[d], whole[d] = 1, size end
  table.insert(shape, 1, k)
  table.insert(whole, 1, k)
  shape[#shape + 1], whole[#whole + 1] = k, k
  return tensor.eye(k):reshape(shape):expand(whole)
end

return OneHotCategorical
