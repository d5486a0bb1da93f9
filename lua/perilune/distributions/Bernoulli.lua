--@ peri.Bernoulli
-- One throw of a coin.
--   probs    probability of 1
--   logits   log(probs/(1 - probs)), instead
--   formula  log P(1) = log(probs),  log P(0) = log(1 - probs)
-- > Bernoulli(0.25):log_prob(1)
-- -1.3862943611199
local Distribution = require "perilune.distribution"
local constraints  = require "perilune.constraints"
local functions    = require "perilune.functions"

local Bernoulli = Distribution:extend("Bernoulli", {
  kernels = "bernoulli",
  params = {
    { "probs",  constraints.unit_interval, gives = { logits = functions.logit } },
    { "logits", constraints.real,          gives = { probs = functions.sigmoid }, infinite = true },
  },
  operands = { "logits" },
  support = constraints.boolean,
  one_sided = "Bernoulli",
})

function Bernoulli:mean () return self.probs end
function Bernoulli:mode () return functions.gt(self.logits, 0) end   -- 0 for a fair coin
function Bernoulli:median () return self:mode() end

return Bernoulli
