--@ peri.NegativeBinomial
-- Successes before a number of failures.
--   total_count  number of failures, not necessarily an integer
--   probs        probability of success
--   logits       log(probs/(1 - probs)), instead
--   formula      log P(k) = log(Gamma(r + k)/(Gamma(r) k!)) + k log(probs) + r log(1 - probs), r = total_count
-- > NegativeBinomial(2, 0.5):prob(2)
-- 0.1875
local Distribution = require "perilune.distribution"
local constraints  = require "perilune.constraints"
local functions    = require "perilune.functions"

local NegativeBinomial = Distribution:extend("NegativeBinomial", {
  kernels = "negativebinomial",
  params = {
    { "total_count", constraints.nonnegative },
    { "probs",  constraints.half_open_interval(0, 1), gives = { logits = functions.logit } },
    { "logits", constraints.real,                     gives = { probs = functions.sigmoid }, infinite = "below" },
  },
  operands = { "total_count", "logits" },
  support = constraints.nonnegative_integer,
  one_sided = "NegativeBinomial",
})

function NegativeBinomial:mean () return self.total_count * functions.exp(self.logits) end

function NegativeBinomial:variance ()
  local odds = functions.exp(self.logits)
  return self.total_count * odds * (1 + odds)
end

function NegativeBinomial:mode ()
  return functions.maximum(functions.floor((self.total_count - 1) * functions.exp(self.logits)), 0)
end

return NegativeBinomial
