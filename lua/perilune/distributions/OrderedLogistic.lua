--@ peri.OrderedLogistic
-- One of 1, ..., K in their order: the interval between cutpoints that a Logistic variable falls into.
--   predictor  where the Logistic variable is centred
--   cutpoints  K - 1 numbers in increasing order, or rows of them
--   formula    P(j) = s(cutpoints[j] - predictor) - s(cutpoints[j - 1] - predictor),  s(t) = 1/(1 + e^-t)
-- > OrderedLogistic(0.3, {-1, 0, 2}):prob(2)
-- 0.21139246623089963

-- Which interval between the K - 1 cutpoints a Logistic variable about the predictor falls into.
local Categorical = require "perilune.distributions.Categorical"
local class       = require "perilune.class"
local constraints = require "perilune.constraints"
local core        = require "perilune.core"
local f           = require "perilune.functions"
local tensor      = require "perilune.tensor"

local softplus = f.softplus

-- log P(j) = log s(b) + log s(-a) + log(1 - e^(a - b)), s the logistic function, a and b the cutpoints about j
-- less the predictor.
local function log_probs (self)
  local cuts = self.cutpoints
  local eta = core.is_tensor(self.predictor) and self.predictor:unsqueeze(-1) or self.predictor
  local c = cuts - eta
  local shape = core.shape(c)
  local n = shape[#shape]
  cuts = cuts:expand(shape)
  local parts = { -softplus(-c:narrow(-1, 1, 1)) }
  if n > 1 then
    local gap = cuts:narrow(-1, 2, n - 1) - cuts:narrow(-1, 1, n - 1)
    parts[2] = f.log1mexp(-gap) - softplus(-c:narrow(-1, 2, n - 1)) - softplus(c:narrow(-1, 1, n - 1))
  end
  parts[#parts + 1] = -softplus(c:narrow(-1, n, 1))
  return tensor.cat(parts, -1)
end

local OrderedLogistic = Categorical:extend("OrderedLogistic", {
  help = true,
  params = {
    { "predictor", constraints.real },
    { "cutpoints", constraints.ordered_vector, event = 1 },
  },
  operands = { "logits" },
  one_sided = false,
  derived = { probs = function (self) return f.exp(self.logits) end },
  init = function (self)
    self.logits = log_probs(self)
    self.support = constraints.integer_interval(1, self:outcomes(false))
  end,
})

--- The logits of a larger batch follow from its predictors.
function OrderedLogistic:with_batch (shape)
  shape = core.to_shape(shape, "OrderedLogistic:with_batch")
  local predictor = core.is_tensor(self.predictor) and self.predictor or core.tensor(self.predictor)
  return class.of(self) { predictor = predictor:expand(shape), cutpoints = self.cutpoints, validate = false }
end

return OrderedLogistic
