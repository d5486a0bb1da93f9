--@ peri.Geometric
-- Failures before the first success.
--   probs    probability of success
--   logits   log(probs/(1 - probs)), instead
--   formula  log P(k) = log(probs) + k log(1 - probs) for k = 0, 1, 2, ...
-- > Geometric(0.5):prob(2)
-- 0.125
local Distribution = require "perilune.distribution"
local constraints  = require "perilune.constraints"
local functions    = require "perilune.functions"

local Geometric = Distribution:extend("Geometric", {
  kernels = "geometric",
  params = {
    { "probs",  constraints.left_open_interval(0, 1), gives = { logits = functions.logit } },
    { "logits", constraints.real,                     gives = { probs = functions.sigmoid }, infinite = "above" },
  },
  operands = { "logits" },
  support = constraints.nonnegative_integer,
  one_sided = "Geometric",
})

function Geometric:mean () return functions.exp(-self.logits) end
function Geometric:mode () return self:batched(0) end

function Geometric:variance ()
  local mean = self:mean()
  return mean * (1 + mean)
end

return Geometric
