--- Slopes of wasserstein in what masses of outcomes depend on.
--
-- The cost between outcomes x[1] < x[2] < ... and a law with quantiles Q is the sum over k of int |x[k] - Q(u)|^order
-- du, u from P(X < x[k]) to P(X <= x[k]). A mass that moves from x[k] to x[k+1] moves the level L = P(X <= x[k]), and
-- changes this by
--
--   |x[k+1] - Q(L)|^order - |x[k] - Q(L)|^order,
--
-- of which quantiles at a level, that stand still, know nothing.
local batches   = require "perilune.batches"
local class     = require "perilune.class"
local core      = require "perilune.core"
local functions = require "perilune.functions"
local raise     = require "perilune.errors".raise
local tails     = require "perilune.tails"
local transport = require "perilune.transport"

local where, maximum, minimum, abs = functions.where, functions.maximum, functions.minimum, functions.abs

local level_slopes = {}

local function is_discrete (d) return d.support and d.support.is_discrete or false end

local function fail (d, why)
  raise("wasserstein has no gradient here: %s %s; peri.no_grad gives the value alone", class.name(class.of(d)), why)
end

-- Has a discrete law parameters that its masses lead back to?
local function is_tracked (d) return is_discrete(d) and core.tracked(d:prob(core.bare(d:icdf(0.5)))) end

-- What a cost changes by if a mass moves from x to `after`, whose levels meet at the quantile `other`.
local function change (x, after, other, order)
  if order == 1 then return minimum(maximum(x + after - 2 * other, x - after), after - x) end
  return abs(after - other) ^ order - abs(x - other) ^ order
end

-- Quantiles of a law at P(X <= x) of d, from the smaller tail, { n, batch... }; and where there is one.
local function quantiles_at (d, law, x)
  local below, above = tails.plain(d, x)
  below, above = core.bare(below), core.bare(above)
  local is_upper = functions.gt(below, 0.5)
  local tail = where(is_upper, above, below)
  return where(is_upper, law:isf(tail), law:icdf(tail)), functions.gt(tail, 0)
end

-- 0, with the slopes of the cost between d and another law in masses of d.
local function slopes (d, other, order)
  local x, mass = transport.all_of(d, true)
  if not x then fail(d, "has too many outcomes") end
  if core.tracked(x) and is_discrete(other) then fail(d, "has outcomes that move") end
  local n, shape = #mass, { #mass, table.unpack(d.batch_shape) }
  if n < 2 or not core.tracked(mass) then return 0 end
  x, mass = core.bare(x):reshape(shape), mass:reshape(shape)
  local from, to = x:narrow(1, 1, n - 1), x:narrow(1, 2, n - 1)
  local quantile, is_there = quantiles_at(d, other, from)
  local steps = batches.rows(d, n - 1, change(from, to, core.bare(quantile), order))
  local potential = where(is_there * functions.isfinite(steps), steps, 0):cumsum(1)
  local sum = (mass:narrow(1, 2, n - 1) * potential):sum(1)
  return sum - sum:detach()
end

--- The cost between p and q with its slopes in masses of outcomes.
function level_slopes.added (value, p, q, order)
  if not (is_tracked(p) or is_tracked(q)) then return value end
  if not batches.any(functions.isfinite(core.bare(value))) then return value end
  if is_tracked(p) then value = value + slopes(p, q, order) end
  return is_tracked(q) and value + slopes(q, p, order) or value
end

return level_slopes
