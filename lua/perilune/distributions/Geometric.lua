--- Geometric(probs) or Geometric{logits = ...}: failures before the first success.
local Distribution = require "perilune.distribution"
local constraints  = require "perilune.constraints"
local functions    = require "perilune.functions"
local one_sided    = require "perilune.one_sided"

local at, on, INF = one_sided.at, one_sided.on, math.huge

-- A zero with this derivative at probs = 1.
local function last (probs, slope) return one_sided.ends(probs, 0, slope) end

local Geometric = Distribution:extend("Geometric", {
  kernels = "geometric",
  params = {
    { "probs",  constraints.left_open_interval(0, 1), gives = { logits = functions.logit } },
    { "logits", constraints.real,                     gives = { probs = functions.sigmoid }, infinite = "above" },
  },
  operands = { "logits" },
  support = constraints.nonnegative_integer,
  one_sided = {
    log_prob = function (_, x, probs) return last(probs, at(x, 0, 1)) end,
    prob     = function (_, x, probs) return last(probs, at(x, 1, -1)) end,
    cdf      = function (_, x, probs) return last(probs, on(x, 0, 1, 1)) end,
    sf       = function (_, x, probs) return last(probs, on(x, 0, 1, -1)) end,
    log_cdf  = function (_, x, probs) return last(probs, on(x, 0, 1, 1)) end,
    log_sf   = function (_, x, probs) return last(probs, on(x, 0, INF, -INF)) end,
    entropy  = function (_, _, probs) return last(probs, -INF) end,
    stddev   = function (_, _, probs) return last(probs, -INF) end,
    mean     = function (_, _, probs) return last(probs, -1) end,
  },
  help = {
    summary = "failures before the first success",
    params  = { probs = "probability of success", logits = "log(probs/(1 - probs)), instead" },
    formula = "log P(k) = log(probs) + k log(1 - probs) for k = 0, 1, 2, ...",
    example = { "Geometric(0.5):prob(2)", 0.125 },
  },
})

function Geometric:mean () return functions.exp(-self.logits) end
function Geometric:mode () return self:batched(0) end

function Geometric:variance ()
  local mean = self:mean()
  return mean * (1 + mean)
end

return Geometric
