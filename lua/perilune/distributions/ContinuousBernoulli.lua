--@ peri.ContinuousBernoulli
-- An exponential slope on [0, 1].
--   probs    p(1)/(p(0) + p(1)); not the mean
--   logits   log(probs/(1 - probs)), instead
--   formula  log p(x) = x log(probs) + (1 - x) log(1 - probs) + constant
-- > ContinuousBernoulli(0.5004):cdf(0.3)
-- 0.299832017891693
local Distribution = require "perilune.distribution"
local constraints  = require "perilune.constraints"
local functions    = require "perilune.functions"

local ContinuousBernoulli = Distribution:extend("ContinuousBernoulli", {
  kernels = "continuousbernoulli",
  params = {
    { "probs",  constraints.unit_interval, gives = { logits = functions.logit } },
    { "logits", constraints.real,          gives = { probs = functions.sigmoid }, infinite = true },
  },
  operands = { "logits" },
  support = constraints.unit_interval,
})

function ContinuousBernoulli:mode () return functions.gt(self.logits, 0) end   -- any point if probs is 1/2

return ContinuousBernoulli
