--- Multinomial(total_count, probs) or Multinomial{total_count =, logits =}: how often each outcome came.
local Categorical       = require "perilune.distributions.Categorical"
local Distribution      = require "perilune.distribution"
local OneHotCategorical = require "perilune.distributions.OneHotCategorical"
local class             = require "perilune.class"
local constraints       = require "perilune.constraints"
local core              = require "perilune.core"
local raise             = require "perilune.errors".raise

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
  help = {
    summary = "how often each of K outcomes came in a number of trials",
    params  = {
      total_count = "number of trials", probs = "probability of each outcome, up to a factor",
      logits = "their logarithms, instead",
    },
    formula = "log P(x) = log(n!/(x[1]! ... x[K]!)) + sum of x[j] log(probs[j]/sum of probs), n = total_count",
    example = { "Multinomial(4, {1, 1, 2}):prob({1, 1, 2})", 0.1875 },
  },
  init = function (self, checking)
    self.event_shape = { Categorical.outcomes(self, checking) }
    self.support = constraints.multinomial(self.total_count)
  end,
})

function Multinomial:mean () return trials(self) * OneHotCategorical.mean(self) end
function Multinomial:variance () return trials(self) * OneHotCategorical.variance(self) end

local LARGEST = 2 ^ 20   -- rows of a support that are enumerated

-- Appends the rows of k counts that sum to n after `row`, the first `done` counts of each.
local function add_rows (rows, row, done, n, k)
  if done == k - 1 then
    row[k] = n
    rows[#rows + 1] = { table.unpack(row, 1, k) }
    return
  end
  for count = n, 0, -1 do
    row[done + 1] = count
    add_rows(rows, row, done + 1, n - count, k)
  end
end

-- n + k - 1 over k - 1, how many such rows there are.
local function number_of_rows (n, k)
  local product = 1
  for i = 1, k - 1 do product = product * (n + i) / i end
  return product
end

--- All rows of counts along a new first dimension.
function Multinomial:enumerate_support ()
  local n, k = core.tensor(self.total_count), self.event_shape[1]
  local count = core.item(n:max())
  if core.item(n:min()) ~= count or number_of_rows(count, k) > LARGEST then
    raise("%s:enumerate_support: total_count must be the same throughout the batch, and there must be a million rows "
          .. "at most", class.name(class.of(self)))
  end
  local rows = {}
  add_rows(rows, {}, 0, math.floor(count), k)
  local events, shape = core.tensor(rows), { #rows, table.unpack(self.batch_shape) }
  for _ = 1, #self.batch_shape do events = events:unsqueeze(2) end
  shape[#shape + 1] = k
  return events:expand(shape)
end

return Multinomial
