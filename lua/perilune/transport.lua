--- The least cost of moving the mass of one discrete distribution of single numbers to another: E |X - Y|^order
-- with X and Y at the same level of their quantile functions.
local batches   = require "perilune.batches"
local core      = require "perilune.core"
local functions = require "perilune.functions"
local outcomes  = require "perilune.outcomes"
local summation = require "perilune.summation"

local where, maximum, minimum, abs = functions.where, functions.maximum, functions.minimum, functions.abs

local transport = {}

local MOST     = 2 ^ 17       -- outcomes whose masses are moved one by one
local ROUNDING = 2.0 ^ -42    -- of the tails of a distribution

local function range (p, q)
  local from_p, to_p, below_p, above_p = outcomes.range(p)
  local from_q, to_q, below_q, above_q = outcomes.range(q)
  return minimum(from_p, from_q), maximum(to_p, to_q), maximum(below_p, below_q), maximum(above_p, above_q)
end


-- Order 1 ---------------------------------------------------------------------

-- |P(X <= x) - P(Y <= x)|, from the smaller tails; and the larger of these, in units of which it is rounded.
local function gap (p, q)
  return function (x, n)
    local below_p, below_q = p:cdf(x), q:cdf(x)
    local upper = functions.gt(below_p + below_q, 1)
    local a, b = where(upper, p:sf(x), below_p), where(upper, q:sf(x), below_q)
    return batches.rows(p, n, abs(a - b)), batches.rows(p, n, maximum(a, b))
  end
end

--- E |X - Y| and its error, for each element of the batch of both: the sum of |P(X <= x) - P(Y <= x)| over all x.
function transport.distance (p, q)
  local terms = gap(p, q)
  local from, to, below, above = range(p, q)
  local sum, tails = table.unpack(outcomes.sum(terms, from, to, { p, q }, {}))
  local value, error = sum.value, sum.error + ROUNDING * tails.size
  for _, side in ipairs { { from, to, below }, { to, from, above } } do
    local rest, rest_error = summation.beyond(terms, p.batch_shape, side[1], side[2], sum.size)
    value, error = value + where(side[3], rest, 0), error + where(side[3], rest_error, 0)
  end
  return value:reshape(p.batch_shape), error:reshape(p.batch_shape)
end


-- Other orders ----------------------------------------------------------------

-- The cost of moving the masses a[1], a[2], ... to the masses b at the same places, in order.
local function moved (a, b, order)
  local i, j, sum, left, right = 1, 1, 0, a[1], b[1]
  while left and right do
    local mass = math.min(left, right)
    sum = sum + mass * math.abs(i - j) ^ order
    left, right = left - mass, right - mass
    if left <= right then i, left = i + 1, a[i + 1] else j, right = j + 1, b[j + 1] end
  end
  return sum
end

-- The probabilities of n outcomes from these on, as a list for each element.
local function masses (d, from, n)
  local x = from + core.arange(0, n):unsqueeze(-1)
  local p = d:prob(x:reshape(n, table.unpack(d.batch_shape)))
  return p:reshape(n, -1):transpose(1, 2):contiguous():totable()
end

--- E |X - Y|^order and its error, for each element of the batch of both; or nil where there are too many outcomes.
function transport.cost (p, q, order)
  local from, to = range(p, q)
  local n = core.item((to - from):max()) + 1
  if n > MOST then return nil end
  local a, b, values = masses(p, from, n), masses(q, from, n), {}
  for k in ipairs(a) do values[k] = moved(a[k], b[k], order) end
  local value = core.tensor(values):reshape(p.batch_shape)
  local rounding = ROUNDING + 2 ^ -53 * n   -- of all masses together, which are moved by one more, or less
  return value, rounding * (value + order * value ^ (1 - 1 / order))
end

return transport
