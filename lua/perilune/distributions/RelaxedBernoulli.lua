--@ peri.RelaxedBernoulli
-- A coin whose outcome may lie between 0 and 1, near these ends if the temperature is low.
--   temperature  T, how far from 0 and 1 outcomes stray
--   probs        probability of an outcome above 1/2; not the mean
--   logits       log(probs/(1 - probs)), instead
--   formula      log p(x) = log T - log(x (1 - x)) - z - 2 log(1 + e^-z),  z = T logit(x) - logits
-- > RelaxedBernoulli(0.5, 0.75):sf(0.5)
-- 0.75
local Distribution = require "perilune.distribution"
local constraints  = require "perilune.constraints"
local functions    = require "perilune.functions"

return Distribution:extend("RelaxedBernoulli", {
  kernels = "relaxedbernoulli",
  params = {
    { "temperature", constraints.positive },
    { "probs",  constraints.unit_interval, gives = { logits = functions.logit } },
    { "logits", constraints.real,          gives = { probs = functions.sigmoid }, infinite = true },
  },
  operands = { "temperature", "logits" },
  support = constraints.unit_interval,
  kl_moments = false,   -- its mean and variance are integrals themselves
})
