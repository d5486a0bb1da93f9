--- How far mass has to be moved to make one law of another: peri.wasserstein.
local Distribution = require "perilune.distribution"
local batches      = require "perilune.batches"
local class        = require "perilune.class"
local core         = require "perilune.core"
local effort       = require "perilune.effort"
local ends         = require "perilune.ends"
local errors       = require "perilune.errors"
local fallback     = require "perilune.kl_fallback"
local functions    = require "perilune.functions"
local integral     = require "perilune.expectation"
local quadrature   = require "perilune.quadrature"
local settling     = require "perilune.settling"
local show         = require "perilune.show"
local tensor       = require "perilune.tensor"
local transforms   = require "perilune.transforms"
local transport    = require "perilune.transport"

local where, maximum, minimum, abs = functions.where, functions.maximum, functions.minimum, functions.abs
local log, exp, sqrt, gt           = functions.log, functions.exp, functions.sqrt, functions.gt
local raise = errors.raise
local any   = batches.any
local INF   = math.huge
local LOG_2 = math.log(2)

local wasserstein = {}

local function is_discrete (d) return d.support and d.support.is_discrete or false end

-- Without what leads back to parameters.
local function bare (x) return core.is_tensor(x) and core.bare(x) or x end

local function powered (x, order) return order == 1 and x or order == 2 and x * x or x ^ order end

-- Where the quantile function of a discrete d jumps, at log(u/(1 - u)), for all outcomes that matter, and where between
-- two jumps it may meet that of a continuous law: there the difference has a kink. Of more outcomes than JUMPS but not
-- than LISTED the jumps only serve to find quantiles; of more, nil. Then steps are not resolved, and CUTS of panels
-- have to do.
local JUMPS, LISTED, LEAST, CUTS = 256, 4096, 1e-13, 64
local COMMON = 30              -- log(u/(1 - u)) of levels beyond are rare
local MANY, APART = 16, 1e-10  -- components whose gaps are looked for, and what they may have in one
local BUDGET = 40000           -- of an element, in units of effort.lua
local BREAKS = { ends.BREAKS, ends.FEW_BREAKS, { 3, 16 } }   -- of first panels, as levels t of expectation.lua
local QUANTILES = 23                                            -- of a panel
local FIRST = 2 * QUANTILES * (#ends.BREAKS + 1)                -- of the usual ones
local FEWER, ROUNDS = 32, 16   -- panels that are cut, and how often, of quantiles that are searched for

local NEXT, SOON = 2 ^ -40, 1 / 16   -- more than the tails of any law are off by; a part of the way to the next jump
local COMPLETE = 1e-9                -- what outcomes may lack that are all of a law

local function log_odds (d, x) return d:log_cdf(x) - d:log_sf(x) end

-- Outcomes soon after each of these jumps, { n, batch... }; -INF after the last.
local function outcomes_after (d, jumps)
  local n = #jumps - 1
  local from, to = jumps:narrow(1, 1, n), jumps:narrow(1, 2, n)
  local x = where(functions.eq(to, INF), where(functions.eq(from, -INF), 0, from + 1),
                  where(functions.eq(from, -INF), to - 1, from + SOON * (to - from)))
  local tail = functions.sigmoid(-abs(x))
  local found = where(gt(x, 0), d:isf(tail), d:icdf(tail))
  return tensor.cat { batches.rows(d, n, found), batches.rows(d, 1, -INF) }
end

-- Are all outcomes of d integers? Of laws that are not made of ours nobody knows.
local function is_whole (d)
  if d.transforms then return false end
  for _, part in ipairs(d.list or {}) do
    if not is_whole(part) then return false end
  end
  local inner = d.component_distribution or d.base
  if inner then return is_whole(inner) end
  return d.kernels ~= nil or d.list ~= nil
end

-- log(u/(1 - u)) at outcomes x, { n, batch... }, u being their cdf, from the probabilities between.
local function summed_odds (d, x, mass)
  local n = #x
  local order = core.arange(n, 0, -1)
  local inner = mass:narrow(1, 2, n - 1)
  local below = tensor.cat { batches.rows(d, 1, d:cdf(x:narrow(1, 1, 1))), inner }:cumsum(1)
  local above = tensor.cat { inner, batches.rows(d, 1, d:sf(x:narrow(1, n, 1))) }
  return log(below) - log(above:index_select(1, order):cumsum(1):index_select(1, order))
end

-- Where quantiles of d jump and where they meet those of another law, as lists.
local function listed (jumps, d, other, x)
  local n, lists = #jumps, { jumps = {}, kinks = {} }
  local met = not is_discrete(other) and minimum(batches.rows(d, n, log_odds(other, x)), jumps)
  for k = 1, n do
    lists.jumps[k] = jumps:select(1, k)
    if met then lists.kinks[k] = maximum(lists.jumps[k - 1] or -INF, met:select(1, k)) end
  end
  return lists
end

local function steps_of (d, other)
  local first, whole = d:icdf(LEAST) - 1, is_whole(d)   -- the outcome before those that count
  local span = d:isf(LEAST) - first
  span = core.is_tensor(span) and core.item(span:max()) or span
  if span ~= span or span > (whole and LISTED or JUMPS) then return nil end
  local n = math.floor(span) + 1
  local count = core.arange(0, n)
  for _ = 1, #d.batch_shape do count = count:unsqueeze(-1) end
  local x = batches.rows(d, n, first + count)
  local probs = d:prob(x)
  local mass = batches.rows(d, n, core.bare(probs))
  local levels = span > JUMPS and summed_odds(d, x, mass) or batches.rows(d, n, log_odds(d, x))
  local steps = span > JUMPS and { jumps = {}, kinks = {} } or listed(levels, d, other, x)
  steps.levels, steps.are_listed, steps.are_all = core.bare(levels), span <= JUMPS, 0
  if not whole then
    steps.after = core.bare(outcomes_after(d, steps.levels))
    return steps
  end
  steps.after = tensor.cat { core.bare(x):narrow(1, 2, n - 1), batches.rows(d, 1, -INF) }
  steps.is_tracked = core.tracked(probs)
  local total = mass:narrow(1, 2, n - 1):sum(1) + bare(d:cdf(x:select(1, 1)) + d:sf(x:select(1, n)))
  steps.lack = abs(total - 1)
  steps.are_all = functions.le(steps.lack, COMPLETE)
  return steps
end

-- How many of the levels of a law are below x, { n, batch... }: by halving, as they are in order.
local function count_below (d, levels, x)
  local n, size, k = #x, batches.size(d), #levels
  local flat, element = levels:reshape(-1), core.arange(1, size + 1)
  local at = core.bare(batches.rows(d, n, x)):reshape(n, size)
  local low, high = core.zeros(n, size), core.full({ n, size }, k)
  for _ = 1, math.ceil(math.log(k + 1, 2)) do
    local middle = functions.floor(0.5 * (low + high))
    local index = minimum(middle, k - 1)
    local is_below = functions.lt(flat[index * size + element], at) * functions.lt(middle, high)
    low, high = where(is_below, middle + 1, low), where(is_below, high, middle)
  end
  return low:reshape(n, table.unpack(d.batch_shape))
end

-- Quantiles of d by icdf or isf, which cost some tails; searches count more.
local function asked (d, method, tail)
  effort.count(d, tail, 2)
  return d[method](d, tail)
end

-- Quantiles of d by icdf or isf, { n, batch... }, at levels u = sigmoid(x) where that tail is `tail`. Between the first
-- jump and the last they are known if all jumps are. A level past a jump by rounding alone may have the quantile
-- before it, which panels that begin there must not see: it has the next at least.
local function quantiles (d, steps, method, x, tail)
  if not steps then return asked(d, method, tail) end
  local n, size, shape = #x, batches.size(d), { #x, table.unpack(d.batch_shape) }
  local place = count_below(d, steps.levels, x)
  local index = maximum(place - 1, 0):reshape(n, size) * size + core.arange(1, size + 1)
  local past = x - steps.levels:reshape(-1)[index]:reshape(shape)
  local known = steps.are_all * gt(place, 0) * functions.lt(place, #steps.levels)
  local is_next = gt(past, 0) * functions.lt(past, NEXT)
  local least = where(maximum(known, is_next), steps.after:reshape(-1)[index]:reshape(shape), -INF)
  return settling.run(function (s)
    s.x = where(s.ended, s.x, maximum(s.x, asked(d, method, s.tail)))
    s.ended = 1
  end, { x = least, tail = tail, ended = known }, 1, #d.batch_shape)
end

-- quantile of p - quantile of q at levels u = sigmoid(x), from the end that is nearer: expectations ask for both
-- halves of the mass, one after the other.
local function quantile_gap (p, q, x, steps)
  local function from (method, part)
    local tail = functions.sigmoid(-abs(part))
    return quantiles(p, steps[p], method, part, tail) - quantiles(q, steps[q], method, part, tail)
  end
  local n = #x
  local low = core.item(functions.le(x, 0):reshape(n, -1):min(2):sum())
  local parts = {}
  if low > 0 then parts[1] = from("icdf", x:narrow(1, 1, low)) end
  if low == n then return parts[1] end
  local high = x:narrow(1, low + 1, n - low)
  if core.item(high:min()) < 0 then return where(functions.gt(x, 0), from("isf", x), from("icdf", x)) end
  parts[#parts + 1] = from("isf", high)
  return #parts == 1 and parts[1] or tensor.cat(parts)
end

-- The trapezoidal rule in s, x = 2 sinh(s/2): if quantiles are smooth, an error of d with steps of 2h is one of
-- about d^2 with steps of h (Takahasi and Mori 1974).
local LAST, WIDEST, FINEST = 12, 2, 1 / 16   -- s, where levels are e^-403; and steps
local FINER = 1 / 256                        -- steps if there is nothing else
local SLOW  = 1 / 4                          -- differences of smooth integrands fall faster than that
local FAINT = 2 ^ -70                        -- terms of no account, as a part of all
local STEPPED = 1e-7                         -- the error of quantiles with steps, as a part of all

-- |quantile of p - quantile of q|^order times weights, at a list of s: { n, batch... }.
local function costs_at (p, q, order, list, steps)
  local s = core.tensor(list)
  for _ = 1, #p.batch_shape do s = s:unsqueeze(-1) end
  local up, down = exp(0.5 * s), exp(-0.5 * s)
  local x = up - down
  local weight = functions.sigmoid(x) * functions.sigmoid(-x) * 0.5 * (up + down)
  return weight * powered(abs(batches.rows(p, #s, quantile_gap(p, q, x, steps))), order)
end

-- Are costs at some level infinite, for all elements? Then they are at all levels beyond, which have mass.
local function are_infinite (costs) return not any(1 - functions.eq(bare(costs), INF):max(1)) end

-- The places k h from -far to far, or those alone that steps of 2h do not meet.
local function places (h, far, is_first)
  local list = {}
  for k = -math.floor(far / h), math.floor(far / h) do
    if is_first or k % 2 == 1 then list[#list + 1] = k * h end
  end
  return list
end

-- How far out terms count, of which those at `list` are known.
local function outermost (list, terms)
  local counts, far = gt(terms, FAINT * terms:sum(1)):reshape(#list, -1):max(2):totable(), 0
  for i, s in ipairs(list) do far = counts[i] ~= 0 and math.max(far, math.abs(s)) or far end
  return far + WIDEST
end

-- Steps of quantile functions that are not resolved: either law may be off by half of one, besides the error of a rule.
local function unresolved (p, q) return (is_discrete(p) and 0.5 or 0) + (is_discrete(q) and 0.5 or 0) end

-- By what a cost may be off if either quantile is off by `step` in all.
local function blurred (value, order, step) return step == 0 and 0 or order * step * bare(value) ^ (1 - 1 / order) end

-- The error of the trapezoidal rule whose value has changed by `now` with the last halving of h, and by `before` with
-- the one before that. Of quantiles with steps both count alike, since differences are partly chance.
local function trapezoidal_error (now, before, has_steps)
  if has_steps then return maximum(4 * now, before) end
  return 10 * now * minimum(now / before, 1)
end

-- E |quantile of p - quantile of q|^order and its error; or nil where quantiles are not smooth enough, or those at
-- the ends count, and what is known of it, and the error of that: INF if quantiles overflow. The error is at most the
-- part `rtol` of all, or a part of what a `step` of quantiles amounts to, which need not be smooth then. Neither need
-- they be where panels, of so many `panel_points`, are too dear.
local function by_steps (p, q, order, rtol, step, steps, purse, panel_points)
  local h, list = WIDEST, places(WIDEST, LAST, true)
  local terms = costs_at(p, q, order, list, steps)
  local far, sum = outermost(list, terms), terms:sum(1)
  if are_infinite(terms) then return nil, INF, INF end
  if far > LAST or any(1 - functions.isfinite(sum)) then return nil, sum end
  local before, difference, doubt = h * sum, INF, nil
  local function goes_on ()
    if doubt == nil or h > FINEST then return doubt == nil or purse:affords(2 * #list) end
    return h > FINER and purse:affords(2 * #list) and not purse:affords(panel_points)
  end
  while goes_on() do
    h = h / 2
    list = places(h, far)
    purse:lap(#list)
    sum = sum + costs_at(p, q, order, list, steps):sum(1)
    local value = h * sum
    local now, rounding, blur = bare(abs(value - before)), 2 ^ -48 * bare(value), blurred(value, order, step)
    if difference ~= INF then
      local error = where(functions.le(now, rounding), now, trapezoidal_error(now, difference, step > 0)) + rounding
      local share = h > FINEST and 0.25 or 1
      if not any(1 - functions.le(error, rtol * bare(value) + share * blur)) then return value, error + blur end
      local is_slow = 1 - maximum(functions.le(now, SLOW * difference), functions.le(now, rounding))
      doubt = trapezoidal_error(now, difference, true) + rounding + blur
      local is_vain = step == 0 and h < 1 / 2 and any(is_slow)
      if is_vain and purse:affords(panel_points) then return nil, value, doubt end
    end
    before, difference = value, now
  end
  return nil, before, doubt
end

-- Is the cost of all elements infinite, by how it goes on beyond the last levels? `value` is what is known of it.
local function is_endless (p, q, order, value)
  local shape = { 2, table.unpack(p.batch_shape) }
  local function terms (t)   -- { 3, 2, batch... }: of both ends, at levels e^-t/2
    local low, high = t:select(2, 1), t:select(2, 2)
    local gaps = tensor.stack({ batches.rows(p, #t, quantile_gap(p, q, -(low + LOG_2), {})),
                                batches.rows(p, #t, quantile_gap(p, q, high + LOG_2, {})) }, 2)
    return core.bare(0.5 * exp(-t) * powered(abs(gaps), order))
  end
  local rest = ends.remainder(terms, shape, where(functions.isfinite(value), bare(value), 0), 0)
  return core.is_tensor(rest) and not any(1 - functions.eq(rest, INF):max(1))
end

-- Are quantiles of d those of kernels, or known, and not searched for?
local function is_quick (d, steps)
  if steps and not any(1 - steps.are_all) then return true end
  for _, map in ipairs(d.transforms or {}) do
    if getmetatable(map) == transforms.Abs then return false end
  end
  local base = d.base_dist or d.base
  return d.kernels ~= nil or base ~= nil and is_quick(base)
end

-- E |quantile of p - quantile of q|^order over all levels u = sigmoid(x): X is Logistic. `breaks` are those of the
-- first panels, unless the usual ones.
local function by_panels (p, q, order, steps, gaps, is_resolved, purse, breaks)
  local carrier = require "perilune.distributions.Logistic"(0, 1)
  local is_fast = is_quick(p, steps[p]) and is_quick(q, steps[q])
  local points = { table.unpack(gaps) }
  if rawget(p, "batch_shape") then carrier = carrier:expand(p.batch_shape) end
  for _, known in pairs(steps) do
    for _, list in ipairs { known.jumps, known.kinks } do table.move(list, 1, #list, #points + 1, points) end
  end
  local function cost (x) return powered(abs(quantile_gap(p, q, x, steps)), order) end
  return integral.of(carrier, cost, {
    points = points, breaks = breaks, panels = is_fast and CUTS or FEWER, rounds = not is_fast and ROUNDS or nil,
    purse = purse, rtol = is_resolved and 1e-11 or 1e-9,
  })
end

-- Between outcomes -----------------------------------------------------------------

-- Many outcomes k against a law with density g: sum over k of int |k - x|^order g(x) dx, between the quantiles at the
-- levels before and after k. Rules of Gauss measure either side of k; a shorter one, and the mass there, which is
-- known, tell their errors. What is before the first of these levels and after the last is an integral over levels.

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

-- Quantiles of a continuous law at levels u = sigmoid(x), { n, batch... } in order.
local function quantiles_at (d, x)
  local n = #x
  local low = math.tointeger(core.item(functions.le(x, 0):reshape(n, -1):min(2):sum()))
  local parts = {}
  local function add (method, part)
    parts[#parts + 1] = batches.rows(d, #part, asked(d, method, functions.sigmoid(-abs(part))))
  end
  if low > 0 then add("icdf", x:narrow(1, 1, low)) end
  if low < n then
    local rest = x:narrow(1, low + 1, n - low)
    if core.item(rest:min()) < 0 then
      local tail = functions.sigmoid(-abs(rest))
      parts[#parts + 1] = batches.rows(d, #rest, where(gt(rest, 0), asked(d, "isf", tail), asked(d, "icdf", tail)))
    else add("isf", rest) end
  end
  return #parts == 1 and parts[1] or tensor.cat(parts)
end

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

-- How many cells a law may be cut to: densities that do not agree with tails would have them cut for ever.
local function most_cells (law, n)
  local points = 0.5 * BUDGET * effort.elements(law) / effort.price(law)
  return batches.size(law) * math.max(6 * n, points / (#RULES[1] + #RULES[2] + 4))
end

-- All outcomes between levels, with the error. Cells are cut until a rule measures them, and their mass.
local function between_levels (law, order, k, bounds)
  local n = #k
  local left = most_cells(law, n)
  local first, last = bounds:narrow(1, 1, n), bounds:narrow(1, 2, n)
  local middle = maximum(first, minimum(k, last))
  local cells = cells_of(tensor.cat { k, k }, tensor.cat { first, middle }, tensor.cat { middle, last })
  local value, error, total = 0, 0, nil
  for round = 1, CELL_ROUNDS do
    local sum, mass = measured(law, order, RULES[1], cells.k, cells.a, cells.b)
    local other = measured(law, order, RULES[2], cells.k, cells.a, cells.b)
    local far = powered(maximum(abs(cells.k - cells.a), abs(cells.k - cells.b)), order)
    local off = abs(sum - other) + mass_off(law, cells.a, cells.b, mass) * far
    total = total or sum:sum(1)
    local rounding = MASSES * mass * far
    left = left - #cells.k * batches.size(law)
    local is_bad = gt(off, maximum(SAME * total / n, rounding)) * (round < CELL_ROUNDS and left > 0 and 1 or 0)
    value = value + where(is_bad, 0, sum):sum(1)
    error = error + where(is_bad, 0, off + rounding):sum(1)
    if not any(is_bad) then break end
    cells.b = where(is_bad, cells.b, cells.a)   -- of other elements nothing is left
    cells = halves_of(cells, is_bad)
  end
  return value, error
end

-- The cost at levels beyond these, x = log(u/(1 - u)) of one for each element: below (side = -1) or above; beside
-- the `value` of the others. Quantiles meet where the tail beyond is e^-meeting. Where those of outcomes are not all
-- known first panels are fewer.
local function beyond_level (p, q, order, steps, x, side, value, meeting, are_known)
  local shape = p.batch_shape
  local start = functions.softplus(side * x)   -- -log of that tail
  local function cost (v)
    local t = start + v
    local gap = quantile_gap(p, q, side * (t + functions.log1p(-exp(-t))), steps)
    return powered(exp(-t / order) * abs(batches.rows(p, #v, gap)), order)
  end
  local points = { meeting - start, table.unpack(BREAKS[are_known and 1 or 2]) }
  local sum, error = quadrature.integrate(cost, 0, ends.REACH, {
    shape = shape, as_tensor = true, points = points, panels = FEWER, rounds = ROUNDS, rtol = 1e-10,
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

-- d has outcomes with these steps, the other law a density: the cost and its error; nil where that is not found.
local function by_outcomes (d, other, p, q, order, steps)
  local known = steps[d]
  local n = #known.levels
  local levels = known.levels:narrow(1, 2, n - 2)
  if any(functions.isinf(levels)) then return nil end
  local bounds = core.bare(quantiles_at(other, levels))
  local outcomes = known.after:narrow(1, 2, n - 3)
  local value, error = between_levels(other, order, outcomes, bounds)
  local farthest = abs(outcomes - bounds:narrow(1, 1, n - 3)):max(1)
  error = error + misplaced(other, order, outcomes, bounds) + known.lack * powered(farthest, order)
  local first, last = log_odds(other, bounds:select(1, 1)), log_odds(other, bounds:select(1, n - 2))
  local sides = { { -1, first, -bare(other:log_cdf(known.after:select(1, 1))) },
                  { 1, last, -bare(other:log_sf(known.after:select(1, n - 1))) } }
  for _, side in ipairs(sides) do
    local are_known = not any(1 - functions.isinf(known.levels:select(1, side[1] < 0 and 1 or n)))
    local part, its_error = beyond_level(p, q, order, steps, side[2], side[1], value, side[3], are_known)
    value, error = value + part, error + its_error
  end
  if not any(1 - functions.eq(value, INF)) then return fallback.infinite(p, q), INF end
  if any(1 - functions.isfinite(value + error)) then return nil end
  return value, error
end

-- Does one of these laws have many outcomes, all known, and the other one a density that is not too dear?
local function has_known_outcomes (d, other, steps)
  local known = steps[d]
  if not known or known.is_tracked ~= false or #known.levels <= CUTS or any(1 - known.are_all) then return false end
  if is_discrete(other) or other.log_prob == Distribution.log_prob then return false end
  return #known.levels * effort.price(other) < 0.1 * BUDGET * effort.elements(other)
         and not core.tracked(other:log_prob(0))
end

-- Where quantiles of a mixture leap from one component to the next, at log(u/(1 - u)): a list, INF where they do not.
local function add_gaps (d, list)
  local parts = d.component_distribution
  if not parts or d.mixture_distribution.support.high > MANY then return end
  local low, high = core.bare(parts:icdf(APART)), core.bare(parts:isf(APART))
  for k = 1, d.mixture_distribution.support.high do
    local from = high:narrow(-1, k, 1)
    local is_above = gt(low, from)
    local spans = (1 - is_above) * gt(high, from)
    local to = where(is_above, low, INF):min(-1)
    local is_gap = (1 - spans:max(-1)) * functions.lt(to, INF)
    if any(is_gap) then
      local x = quadrature.middle(from:select(-1, 1), to)
      list[#list + 1] = where(is_gap, log_odds(d, where(is_gap, x, 0)), INF)
      list.matter = list.matter or any(functions.lt(abs(list[#list]), COMMON))
    end
  end
end

-- First panels from this list on that there is enough for, with so many quantiles `more`; or nil.
local function affordable (purse, first, more)
  for k = first, #BREAKS do
    if purse:affords(2 * QUANTILES * (#BREAKS[k] + 1) + more) then return BREAKS[k] end
  end
  return nil
end

local function between_quantiles (p, q, order)
  local gaps = {}
  local steps, count, are_known = {}, 0, true
  if batches.size(p) == 0 then return core.zeros(p.batch_shape), core.zeros(p.batch_shape) end
  for d, other in pairs { [p] = q, [q] = p } do
    steps[d] = is_discrete(d) and steps_of(d, other) or nil
    are_known = are_known and (not is_discrete(d) or steps[d] ~= nil and steps[d].are_listed)
    count = count + (steps[d] and #steps[d].jumps or 0)
  end
  for d, other in pairs { [p] = q, [q] = p } do
    if has_known_outcomes(d, other, steps) then
      local value, error = by_outcomes(d, other, p, q, order, steps)
      if value then return value, error end
    end
  end
  add_gaps(p, gaps)
  add_gaps(q, gaps)
  local is_resolved = are_known and count <= CUTS
  local purse = effort.purse(BUDGET * batches.size(p) * math.max(effort.elements(p), effort.elements(q)))
  local step = are_known and 0 or unresolved(p, q)
  if gaps.matter or is_resolved and count > 0 then
    local list = places(WIDEST, LAST, true)
    purse:lap(#list)
    local terms = costs_at(p, q, order, list, steps)
    if are_infinite(terms) then return fallback.infinite(p, q), INF end
    local known = terms:sum(1)
    local breaks = affordable(purse, gaps.matter and 2 or 1, QUANTILES * count)
    if breaks then
      if is_endless(p, q, order, gaps.matter and known or 0) then return fallback.infinite(p, q), INF end
      local value, error = by_panels(p, q, order, steps, gaps, is_resolved, purse, breaks)
      return value, error + blurred(value, order, step)
    end
  end
  local value, error, doubt = by_steps(p, q, order, is_resolved and 1e-13 or STEPPED, step, steps, purse,
                                        FIRST + QUANTILES * count)
  if value and are_known and not is_resolved then error = error + blurred(value, order, unresolved(p, q)) end
  if value then return value, error end
  if doubt == INF then return fallback.infinite(p, q), INF end
  local is_last = doubt and not purse:affords(FIRST + QUANTILES * count)
  if is_endless(p, q, order, error) then return fallback.infinite(p, q), INF end
  if is_last then return error, doubt end
  value, error = by_panels(p, q, order, steps, gaps, is_resolved, purse)
  return value, error + blurred(value, order, step)
end

-- The same between outcomes.
local function between_outcomes (p, q, order)
  local value, error
  if batches.size(p) == 0 then return between_quantiles(p, q, order) end
  if not (transport.has_integers(p) and transport.has_integers(q)) then
    value, error = transport.between_places(p, q, order)
  elseif order == 1 then value, error = transport.distance(p, q)
  else value, error = transport.cost(p, q, order) end
  if not value then return between_quantiles(p, q, order) end
  if rawget(p, "batch_shape") then return value, error end
  return core.item(value), core.item(error)
end

-- The rotation u that brings l u closest to k, for square matrices as tables: the orthogonal factor of
-- m = l^T k. Columns of m are turned in pairs until all are orthogonal (Hestenes 1958): m v = w s, u = w v^T.
local function turned (m, v, n, i, j)
  local a, b, c = 0, 0, 0
  for r = 1, n do a, b, c = a + m[r][i] ^ 2, b + m[r][j] ^ 2, c + m[r][i] * m[r][j] end
  if c ~= c or math.abs(c) <= 2 ^ -52 * math.sqrt(a * b) then return false end
  local z = (b - a) / (2 * c)
  local t = (z < 0 and -1 or 1) / (math.abs(z) + math.sqrt(1 + z * z))
  local cosine = 1 / math.sqrt(1 + t * t)
  local sine = cosine * t
  for _, rows in ipairs { m, v } do
    for r = 1, n do
      local row = rows[r]
      row[i], row[j] = cosine * row[i] - sine * row[j], sine * row[i] + cosine * row[j]
    end
  end
  return true
end

local SWEEPS = 60

local function rotation (m)
  local n, v = #m, core.eye(#m):totable()
  for _ = 1, SWEEPS do
    local changed = false
    for i = 1, n - 1 do
      for j = i + 1, n do changed = turned(m, v, n, i, j) or changed end
    end
    if not changed then break end
  end
  local w = core.tensor(m)
  return (w / sqrt((w * w):sum(1))):matmul(core.tensor(v):transpose(1, 2))
end

-- |mean p - mean q|^2 and min over rotations u of |k - l u|^2, k and l being factors of the covariances:
-- the formula of Bures, as a sum of squares.
local function bures (p, q)
  local k, l, gap = p.scale_tril, q.scale_tril, p.loc - q.loc
  local n = p.event_shape[1]
  local shape = { table.unpack(p.batch_shape) }
  shape[#shape + 1], shape[#shape + 2] = n, n
  k, l = k:expand(shape):reshape(-1, n, n), l:expand(shape):reshape(-1, n, n)
  local values = {}
  for e = 1, #k do
    local a, b = k:select(1, e), l:select(1, e)
    local rest = a - b:matmul(rotation(b:transpose(1, 2):matmul(a):totable()))
    values[e] = (rest * rest):sum()
  end
  local spread = tensor.stack(values):reshape(#p.batch_shape > 0 and p.batch_shape or { 1 })
  if #p.batch_shape == 0 then spread = spread:select(1, 1) end
  return (gap * gap):sum(-1) + spread
end

local function both_are (p, q, name)
  local c = require("perilune.distributions." .. name)
  return class.of(p) == c and class.of(q) == c
end

local function check_order (order)
  if type(order) ~= "number" or not (order >= 1 and order < INF) then
    raise("wasserstein: order must be a number of at least 1, got %s", show.value(order))
  end
end

-- The distance to the power of `order`, and its error; nil for rounding only.
local function cost (p, q, order)
  if order == 2 and both_are(p, q, "Normal") then
    return functions.square(p.loc - q.loc) + functions.square(p.scale - q.scale)
  elseif order == 2 and both_are(p, q, "MultivariateNormal") then
    return bures(p, q)
  elseif is_discrete(p) and is_discrete(q) then
    return between_outcomes(p, q, order)
  end
  return between_quantiles(p, q, order)
end

-- The root of a cost, and what its error is then; |x^(1/n) - y^(1/n)| <= |x - y|^(1/n).
local function rooted (value, error, order)
  local root = order == 1 and value or order == 2 and sqrt(value) or value ^ (1 / order)
  error = error or 2 ^ -50 * value
  if order == 1 then return root, error end
  local slope = where(functions.gt(value, 0), root / (order * value), INF)
  local off = where(functions.eq(error, 0), 0, minimum(2 * error * slope, error ^ (1 / order)))
  return root, where(functions.isfinite(value), off, error)
end

--@ peri.wasserstein(p, q, order) -> number or Tensor, number or Tensor
-- How far mass has to be moved to make p of q: (E |X - Y|^order)^(1/order) at its least, and an estimate of its error.
-- Of single numbers by their quantiles; of MultivariateNormals for order 2.
--   order  positive number; 1 unless told
-- > string.format("%.6f", (wasserstein(Normal(0, 1), Normal(3, 1))))
-- 3.000000
function wasserstein.wasserstein (p, q, order, ...)
  errors.no_more("wasserstein(p, q, order)", ...)
  fallback.check("wasserstein", p, q)
  order = order or 1
  check_order(order)
  if #p.event_shape > 0 and not (order == 2 and both_are(p, q, "MultivariateNormal")) then
    raise("wasserstein: of vectors only MultivariateNormals and order 2 are known, got %s and order %s",
          class.name(class.of(p)), show.number(order))
  end
  for _, d in ipairs { p, q } do
    if #d.event_shape == 0 and d.icdf == Distribution.icdf then
      raise("wasserstein: %s has no icdf", class.name(class.of(d)))
    end
  end
  p, q = fallback.alike(p, q)
  local value, error = cost(p, q, order)
  return rooted(value, error, order)
end

return wasserstein
