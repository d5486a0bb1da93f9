--@ peri.Multinomial
-- How often each of K outcomes came in a number of trials.
--   total_count  number of trials
--   probs        probability of each outcome, up to a factor
--   logits       their logarithms, instead
--   formula      log P(x) = log(n!/(x[1]! ... x[K]!)) + sum of x[j] log(probs[j]/sum of probs), n = total_count
-- > Multinomial(4, {1, 1, 2}):prob({1, 1, 2})
-- 0.1875
local Categorical       = require "perilune.distributions.Categorical"
local Distribution      = require "perilune.distribution"
local OneHotCategorical = require "perilune.distributions.OneHotCategorical"
local constraints       = require "perilune.constraints"
local core              = require "perilune.core"

-- total_count beside the counts of an event
local function trials (self)
  return core.is_tensor(self.total_count) and self.total_count:unsqueeze(-1) or self.total_count
end

local Multinomial = Distribution:extend("Multinomial", {
  kernels = "multinomial",
  params = {
    { "total_count", constraints.nonnegative_integer, default = 1 }, table.unpack(Categorical.params),
  },
  operands = { "total_count", "logits" },
  one_sided = "Multinomial",
  init = function (self, checking)
    self.event_shape = { Categorical.outcomes(self, checking) }
    self.support = constraints.multinomial(self.total_count)
  end,
})

function Multinomial:mean () return trials(self) * OneHotCategorical.mean(self) end
function Multinomial:variance () return trials(self) * OneHotCategorical.variance(self) end

--- All rows of counts along a new first dimension.
function Multinomial:enumerate_support () return require "perilune.enumeration".counts(self) end

return Multinomial
