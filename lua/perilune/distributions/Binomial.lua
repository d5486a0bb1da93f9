--@ peri.Binomial
-- Successes in a number of trials.
--   total_count  number of trials
--   probs        probability of success
--   logits       log(probs/(1 - probs)), instead
--   formula      log P(k) = log(n!/(k! (n - k)!)) + k log(probs) + (n - k) log(1 - probs), n = total_count
-- > Binomial(4, 0.5):prob(2)
-- 0.375
local Distribution = require "perilune.distribution"
local constraints  = require "perilune.constraints"
local functions    = require "perilune.functions"

local Binomial = Distribution:extend("Binomial", {
  kernels = "binomial",
  params = {
    { "total_count", constraints.nonnegative_integer, default = 1 },
    { "probs",  constraints.unit_interval, gives = { logits = functions.logit } },
    { "logits", constraints.real,          gives = { probs = functions.sigmoid }, infinite = true },
  },
  operands = { "total_count", "logits" },
  one_sided = "Binomial",
  init = function (self) self.support = constraints.integer_interval(0, self.total_count) end,
})

function Binomial:mean () return self.total_count * self.probs end
function Binomial:variance () return self.total_count * self.probs * functions.sigmoid(-self.logits) end

function Binomial:mode ()
  return functions.minimum(functions.floor((self.total_count + 1) * self.probs), self.total_count)
end

return Binomial
