--- Sums over the components of a mixture, with its weights.
local core      = require "perilune.core"
local functions = require "perilune.functions"
local lazy      = require "perilune.lazy"
local tails     = require "perilune.tails"

local one_sided = lazy "one_sided"

local where, exp = functions.where, functions.exp
local INF = math.huge
local FEW = 32           -- components that are added one by one
local SIDE_BY_SIDE = 8   -- those for which logsumexp is fast

local mixture_sums = {}

-- w + v and w v, and -inf and 0 for a component of no weight, whatever v is.
local log_term = core.bind("mixture", "log_term", "log_term", { "w", "v" }, { "w", "v" })
local term     = core.bind("mixture", "term", "term", { "w", "v" }, { "w", "v" })

--- x with a dimension for the components, before those of the event. Each component has its copy, so
-- that loops run along x and not along the few components.
function mixture_sums.padded (self, x)
  if type(x) == "number" then return x end
  x = core.is_tensor(x) and x or core.tensor(x)
  local shape, k, last = core.shape(x), self.mixture_distribution.support.high, #self.event_shape
  local order = {}
  for d = 1, #shape do order[d] = d + 1 end
  table.insert(order, #shape - last + 1, 1)
  return x:expand(k, table.unpack(shape)):contiguous():permute(table.unpack(order))
end

-- The components' values put together: one by one where they are few, which is faster than a
-- reduction of short rows; logsumexp of fewer still is faster than that.
local function folded (values, dim, pair, all)
  local shape = core.shape(values)
  local k = shape[#shape + dim + 1]
  if k > FEW or all == "logsumexp" and k <= SIDE_BY_SIDE then return values[all](values, dim) end
  local total = values:select(dim, 1)
  for j = 2, k do total = pair(total, values:select(dim, j)) end
  return total
end

--- log of the sum of exp(values) with the weights, without components of no weight.
function mixture_sums.log_mixed (self, values)
  local total = folded(log_term(self.log_weights, values), -1, functions.logaddexp, "logsumexp")
  if not self.lost_slopes then return total end
  local share = exp(one_sided.held(values) - one_sided.beside(total))
  return total + (self.lost_slopes * where(functions.lt(share, INF), share, 0)):sum(-1)
end

--- The weighted sum of values of shape { batch..., K, event... }.
function mixture_sums.mixed (self, values)
  local w, lost = self.weights, self.lost_slopes
  for _ = 1, #self.event_shape do w, lost = w:unsqueeze(-1), lost and lost:unsqueeze(-1) end
  local terms = term(w, values)
  if lost then
    local held = one_sided.held(values)
    terms = terms + lost * where(functions.lt(functions.abs(held), INF), held, 0)
  end
  return folded(terms, -1 - #self.event_shape, functions.add, "sum")
end

--- log P(X <= x) and log P(X > x); the one that is near 0 comes from the other.
function mixture_sums.log_tails (self, x)
  local below, above = tails.logarithms(self.component_distribution, mixture_sums.padded(self, x))
  below, above = mixture_sums.log_mixed(self, below), mixture_sums.log_mixed(self, above)
  return where(functions.le(above, below), functions.log1p(-exp(above)), below),
         where(functions.lt(below, above), functions.log1p(-exp(below)), above)
end

--- P(X <= x) and P(X > x); the larger is what the smaller leaves.
function mixture_sums.tails (self, x)
  local below, above = tails.plain(self.component_distribution, mixture_sums.padded(self, x))
  below, above = mixture_sums.mixed(self, below), mixture_sums.mixed(self, above)
  return where(functions.le(above, below), 1 - above, below), where(functions.lt(below, above), 1 - below, above)
end

return mixture_sums
