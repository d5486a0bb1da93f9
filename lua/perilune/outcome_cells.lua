--- The cost of moving many outcomes to a law with a density, or back.
--
-- Outcomes k against a law with density g: sum over k of int |k - x|^order g(x) dx, between the quantiles at the
-- levels before and after k. Rules of Gauss measure either side of k; a shorter one, and the mass there, which is
-- known, tell their errors. What is before the first of these levels and after the last is an integral over levels.
local Distribution  = require "perilune.distribution"
local batches       = require "perilune.batches"
local core          = require "perilune.core"
local effort        = require "perilune.effort"
local ends          = require "perilune.ends"
local fallback      = require "perilune.kl_fallback"
local functions     = require "perilune.functions"
local quadrature    = require "perilune.quadrature"
local quantile_gaps = require "perilune.quantile_gaps"
local tensor        = require "perilune.tensor"

local where, maximum, minimum, abs = functions.where, functions.maximum, functions.minimum, functions.abs
local log, exp, gt = functions.log, functions.exp, functions.gt
local any = batches.any
local INF = math.huge
local FEW = 64                  -- outcomes are many if they are more
local SHARE = 0.5               -- of what there is to spend, for quantiles between them, and for cells
local CELL = 2                  -- in tails: a dozen densities cost as much as one
local PANELS, ROUNDS = 32, 16   -- that are cut beyond the levels, and how often

local outcome_cells = {}

local function is_discrete (d) return d.support and d.support.is_discrete or false end

local function powered (x, order) return order == 1 and x or order == 2 and x * x or x ^ order end

-- Nodes in (0, 1) and weights of the rules with eight and with five points.
local RULES = {
  { { 0.019855071751231884158, 0.050614268145188129576 }, { 0.10166676129318663020, 0.11119051722668723527 },
    { 0.23723379504183550709, 0.15685332293894364367 }, { 0.40828267875217509753, 0.18134189168918099148 },
    { 0.59171732124782490247, 0.18134189168918099148 }, { 0.76276620495816449291, 0.15685332293894364367 },
    { 0.89833323870681336980, 0.11119051722668723527 }, { 0.98014492824876811584, 0.050614268145188129576 } },
  { { 0.046910077030668003601, 0.11846344252809454376 }, { 0.23076534494715845448, 0.23931433524968323402 },
    { 0.5, 0.28444444444444444444 }, { 0.76923465505284154552, 0.23931433524968323402 },
    { 0.95308992296933199640, 0.11846344252809454376 } },
}
local MASSES, TAILS = 2 ^ -50, 2 ^ -46   -- are rounded by this part of them
local SAME, CELL_ROUNDS = 1e-13, 8   -- what a cell may be off by, as a part of the average; how often they are cut

-- The integrals of |k - x|^order g and of g from a to b by a rule; in log x where a and b are far apart.
local function measured (law, order, rule, k, a, b)
  local wide = gt(a * b, 0) * maximum(gt(abs(a), 2 * abs(b)), gt(abs(b), 2 * abs(a)))
  local ratio = where(wide, log(b / a), 0)
  local sum, mass = 0, 0
  for _, node in ipairs(rule) do
    local x = where(wide, a * exp(node[1] * ratio), a + node[1] * (b - a))
    local density = law:prob(x) * node[2] * where(wide, x * ratio, b - a)
    density = where(gt(b, a), density, 0)
    sum, mass = sum + density * powered(abs(k - x), order), mass + density
  end
  return sum, mass
end

-- How far a mass from a to b is from that which tails tell, but for their rounding.
local function mass_off (law, a, b, mass)
  local below, above = law:cdf(b), law:sf(a)
  local is_upper = gt(below, 0.5) * functions.lt(above, below)
  local known = where(is_upper, above - law:sf(b), below - law:cdf(a))
  return maximum(abs(mass - known) - TAILS * where(is_upper, above, below), 0)
end

-- Cells, { n, batch... } each: the outcome k, and the ends a and b of a stretch on one side of it.
local function cells_of (k, a, b) return { k = k, a = a, b = b } end

-- Both halves of those cells that are flagged for an element.
local function halves_of (cells, flags)
  local n = #flags
  local bad = flags:reshape(n, -1):max(2)
  local count = math.tointeger(core.item(bad:sum()))
  local some = bad:argsort():narrow(1, n - count + 1, count)
  local k, a, b = cells.k[some], cells.a[some], cells.b[some]
  local middle = 0.5 * a + 0.5 * b
  return cells_of(tensor.cat { k, k }, tensor.cat { a, middle }, tensor.cat { middle, b })
end

-- All outcomes between levels, with the error. Cells are cut until a rule measures them, and their mass; but densities
-- that do not agree with tails would have them cut for ever.
local function between_levels (law, order, k, bounds, purse)
  local n = #k
  local left = SHARE * purse:left() / (CELL * effort.tail(law))
  local first, last = bounds:narrow(1, 1, n), bounds:narrow(1, 2, n)
  local middle = maximum(first, minimum(k, last))
  local cells = cells_of(tensor.cat { k, k }, tensor.cat { first, middle }, tensor.cat { middle, last })
  local value, error, total = 0, 0, nil
  for round = 1, CELL_ROUNDS do
    effort.count(law, cells.k, CELL)
    local sum, mass = measured(law, order, RULES[1], cells.k, cells.a, cells.b)
    local other = measured(law, order, RULES[2], cells.k, cells.a, cells.b)
    local far = powered(maximum(abs(cells.k - cells.a), abs(cells.k - cells.b)), order)
    local off = abs(sum - other) + mass_off(law, cells.a, cells.b, mass) * far
    total = total or sum:sum(1)
    local rounding = MASSES * mass * far
    left = left - #cells.k * batches.size(law)
    local is_bad = gt(off, maximum(SAME * total / n, rounding))
    local next_cells = 2 * batches.size(law) * core.item(is_bad:sum())
    is_bad = is_bad * (round < CELL_ROUNDS and next_cells <= left and 1 or 0)
    value = value + where(is_bad, 0, sum):sum(1)
    error = error + where(is_bad, 0, off + rounding):sum(1)
    if not any(is_bad) then break end
    cells.b = where(is_bad, cells.b, cells.a)   -- of other elements nothing is left
    cells = halves_of(cells, is_bad)
  end
  return value, error
end

-- The break points of first panels, from the list of this number on, whose quantiles can be paid for, at these prices.
local function affordable_breaks (first, prices, purse)
  local function is_paid (list) return prices(quadrature.POINTS * (#list + 1)) < SHARE * purse:left() end
  return ends.affordable(first, is_paid) or ends.FEWEST_BREAKS
end

-- The cost at levels beyond these, x = log(u/(1 - u)) of one for each element: below (side = -1) or above; beside
-- the `value` of the others. Quantiles meet where the tail beyond is e^-meeting. Where those of outcomes are not all
-- known first panels are fewer.
local function beyond_level (p, q, order, steps, x, side, value, meeting, are_known, prices, purse)
  local shape = p.batch_shape
  local start = functions.softplus(side * x)   -- -log of that tail
  local function cost (v)
    local t = start + v
    local gap = quantile_gaps.at(p, q, side * (t + functions.log1p(-exp(-t))), steps)
    return powered(exp(-t / order) * abs(batches.rows(p, #v, gap)), order)
  end
  local points = { meeting - start, table.unpack(affordable_breaks(are_known and 1 or 2, prices, purse)) }
  local sum, error = quadrature.integrate(cost, 0, ends.REACH, {
    shape = shape, as_tensor = true, points = points, panels = PANELS, rounds = ROUNDS, rtol = 1e-10, purse = purse,
    atol = 1e-12 * (core.is_tensor(value) and core.item(value:min()) or value),
  })
  local rest, doubt = ends.remainder(cost, shape, sum, 0)
  return sum + rest, error + doubt
end

-- Quantiles are rounded: mass that belongs to an outcome is given to the one before or after.
local function misplaced (law, order, k, bounds)
  local n = #k
  local at, before, after = bounds:narrow(1, 2, n - 1), k:narrow(1, 1, n - 1), k:narrow(1, 2, n - 1)
  local mass = 2 ^ -52 * abs(at) * law:prob(at)
  return (mass * abs(powered(abs(before - at), order) - powered(abs(after - at), order))):sum(1)
end

--- d has outcomes with these steps, the other law a density: the cost and its error; nil where that is not found.
function outcome_cells.cost (d, other, p, q, order, steps, purse)
  local known = steps[d]
  local n = #known.levels
  local levels = known.levels:narrow(1, 2, n - 2)
  if any(functions.isinf(levels)) then return nil end
  purse:lap(#levels)
  local bounds = core.bare(quantile_gaps.quantiles_at(other, levels))
  local prices = purse:prices()
  local outcomes = known.after:narrow(1, 2, n - 3)
  local value, error = between_levels(other, order, outcomes, bounds, purse)
  local farthest = abs(outcomes - bounds:narrow(1, 1, n - 3)):max(1)
  error = error + misplaced(other, order, outcomes, bounds) + known.lack * powered(farthest, order)
  local first = quantile_gaps.log_odds(other, bounds:select(1, 1))
  local last = quantile_gaps.log_odds(other, bounds:select(1, n - 2))
  local sides = { { -1, first, -core.bare(other:log_cdf(known.after:select(1, 1))) },
                  { 1, last, -core.bare(other:log_sf(known.after:select(1, n - 1))) } }
  for i, side in ipairs(sides) do
    local its_purse = i < #sides and purse:share(0.5) or purse
    local are_known = not any(1 - functions.isinf(known.levels:select(1, side[1] < 0 and 1 or n)))
    local part, its_error = beyond_level(p, q, order, steps, side[2], side[1], value, side[3], are_known, prices,
                                         its_purse)
    value, error = value + part, error + its_error
  end
  if not any(1 - functions.eq(value, INF)) then return fallback.infinite(p, q), INF end
  if any(1 - functions.isfinite(value + error)) then return nil end
  return value, error
end

--- Does one of these laws have many outcomes, all known, and the other one a density that is not too dear?
function outcome_cells.are_known (d, other, steps, purse)
  local known = steps[d]
  if not known or known.is_tracked ~= false or #known.levels <= FEW or any(1 - known.are_all) then return false end
  if is_discrete(other) or other.log_prob == Distribution.log_prob then return false end
  local n, quantile, cells = #known.levels * batches.size(d), effort.search(other), 2 * CELL * effort.tail(other)
  return n * quantile < SHARE * purse:left() and n * (quantile + cells) < purse:left()
         and not core.tracked(other:log_prob(0))
end

return outcome_cells
