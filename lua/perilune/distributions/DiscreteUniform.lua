--- DiscreteUniform(low, high): every integer from low to high alike.
local Distribution = require "perilune.distribution"
local constraints  = require "perilune.constraints"
local core         = require "perilune.core"

local DiscreteUniform = Distribution:extend("DiscreteUniform", {
  kernels = "discreteuniform",
  params = {
    { "low",  constraints.integer_interval(-math.huge, math.huge) },
    { "high", function (self) return constraints.integer_interval(self.low, math.huge) end },
  },
  init = function (self) self.support = constraints.integer_interval(self.low, self.high) end,
  help = {
    summary = "every integer from low to high alike",
    params  = { low = "first outcome", high = "last outcome" },
    formula = "log P(k) = -log(high - low + 1) for low <= k <= high",
    example = { "DiscreteUniform(1, 6):cdf(2)", 1 / 3 },
  },
})

function DiscreteUniform:mean () return 0.5 * self.low + 0.5 * self.high end
function DiscreteUniform:mode () return self:batched(self.low) end   -- any outcome is a mode

function DiscreteUniform:variance ()
  local width = self.high - self.low
  return width * (width + 2) / 12
end

-- An end of the support as a plain number, if a batch has only one.
local function common (self, name)
  local value = self[name]
  if not core.is_tensor(value) then return value end
  local least = value:min():item()
  if least == value:max():item() then return least end
  error("DiscreteUniform:enumerate_support: " .. name .. " must be the same throughout the batch", 3)
end

--- All outcomes, along a new first dimension.
function DiscreteUniform:enumerate_support ()
  local outcomes = require "perilune.tensor".arange(common(self, "low"), common(self, "high") + 1)
  local n = outcomes:numel()
  for _ = 1, #self.batch_shape do outcomes = outcomes:unsqueeze(-1) end
  return outcomes:expand(n, table.unpack(self.batch_shape))
end

return DiscreteUniform
