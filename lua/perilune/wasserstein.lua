--- How far mass has to be moved to make one law of another: peri.wasserstein.
local Distribution  = require "perilune.distribution"
local attempt       = require "perilune.attempt"
local batches       = require "perilune.batches"
local class         = require "perilune.class"
local core          = require "perilune.core"
local crossings     = require "perilune.crossings"
local effort        = require "perilune.effort"
local ends          = require "perilune.ends"
local errors        = require "perilune.errors"
local fallback      = require "perilune.kl_fallback"
local functions     = require "perilune.functions"
local integral      = require "perilune.expectation"
local lazy          = require "perilune.lazy"
local points        = require "perilune.points"
local quadrature    = require "perilune.quadrature"
local quantile_gaps = require "perilune.quantile_gaps"
local show          = require "perilune.show"
local tensor        = require "perilune.tensor"
local transforms    = require "perilune.transforms"
local transport     = require "perilune.transport"

local higher_moments = lazy "higher_moments"
local level_slopes   = lazy "level_slopes"
local outcome_cells  = lazy "outcome_cells"

local bare = core.bare
local where, maximum, minimum, abs = functions.where, functions.maximum, functions.minimum, functions.abs
local exp, sqrt, gt                = functions.exp, functions.sqrt, functions.gt
local raise = errors.raise
local any   = batches.any
local INF   = math.huge
local LOG_2 = math.log(2)

local wasserstein = {}

local function is_discrete (d) return d.support and d.support.is_discrete or false end

-- Without what leads back to parameters.
local function powered (x, order) return order == 1 and x or order == 2 and x * x or x ^ order end

local CUTS = 64                -- panels that are cut, and jumps that are ends of panels
local COMMON = 30              -- log(u/(1 - u)) of levels beyond are rare
local MANY, APART = 16, 1e-10  -- components whose gaps are looked for, and what they may have in one
local BUDGET = 32000           -- of an element, in units of effort.lua
local LITTLE = BUDGET / 4      -- that is left, and not enough for quantiles at levels
local CUTTING = 1.5                                             -- first panels, and some that are cut
local FEWER, ROUNDS = 32, 16   -- panels that are cut, and how often, of quantiles that are searched for

-- The trapezoidal rule in s, x = 2 sinh(s/2): if quantiles are smooth, an error of d with steps of 2h is one of
-- about d^2 with steps of h (Takahasi and Mori 1974).
local LAST, WIDEST, FINEST = 12, 2, 1 / 16   -- s, where levels are e^-403; and steps
local FINER = 1 / 256                        -- steps if there is nothing else
local SLOW  = 1 / 4                          -- differences of smooth integrands fall faster than that
local FAINT = 2 ^ -70                        -- terms of no account, as a part of all
local STEPPED = 1e-7                         -- the error of quantiles with steps, as a part of all
local FINE = 1 / 4                           -- steps that show whether quantiles are smooth
local PAIRED  = 100                          -- two quantiles that cost less, to search for, cost less than the rounds
local BEYOND  = 6                            -- quantiles beyond all levels
local EDGE = 2 * (ends.REACH - math.exp(0.5 * LAST)) / math.exp(0.5 * LAST)   -- from LAST to e^-REACH, in s

-- |quantile of p - quantile of q|^order times weights, at a list of s: { n, batch... }. What is `seen` is noted.
local function costs_at (p, q, order, list, steps, seen)
  local s = core.tensor(list)
  for _ = 1, #p.batch_shape do s = s:unsqueeze(-1) end
  local up, down = exp(0.5 * s), exp(-0.5 * s)
  local x = up - down
  local weight = functions.sigmoid(x) * functions.sigmoid(-x) * 0.5 * (up + down)
  local gaps = batches.rows(p, #s, quantile_gaps.at(p, q, x, steps))
  local terms = weight * powered(abs(gaps), order)
  crossings.note(seen, list, gaps, terms)
  return terms
end

-- Costs at two lists of places, of which the other one may be empty; they are searched for together.
local function costs_at_both (p, q, order, list, others, steps, seen)
  if #others == 0 then return costs_at(p, q, order, list, steps, seen), nil end
  local all, is_first, at_first, at_others = { table.unpack(list) }, {}, {}, {}
  table.move(others, 1, #others, #all + 1, all)
  table.sort(all)
  for _, s in ipairs(list) do is_first[s] = true end
  for i, s in ipairs(all) do table.insert(is_first[s] and at_first or at_others, i) end
  local terms = costs_at(p, q, order, all, steps, seen)
  return terms:index_select(1, core.tensor(at_first)), terms:index_select(1, core.tensor(at_others))
end

-- Are some of the costs infinite, for all elements? At levels beyond they are as well, which have mass.
local function is_infinite (costs) return not any(1 - functions.eq(bare(costs), INF):max(1)) end

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

-- The costs, added up, at places that steps of h add to those of 2h: a function of h, and of whether they are known.
-- Where rounds of searches cost more than points, those of h/2 are asked for together with them.
local function added_costs (p, q, order, first, far, steps, purse)
  local known = { [WIDEST / 2] = first.finer }
  return function (h)
    if known[h] then return known[h] end
    local list, others = places(h, far), first.in_pairs and h > FINE and places(h / 2, far) or {}
    if not purse:affords(2 * (#list + #others)) then others = {} end
    purse:lap(#list + #others)
    local terms, finer = costs_at_both(p, q, order, list, others, steps, first.seen)
    known[h / 2] = finer and finer:sum(1)
    return terms:sum(1)
  end, known
end

-- The trapezoidal rule from the costs at the widest steps on. E |quantile of p - quantile of q|^order and its error; or
-- nil where quantiles are not smooth enough, or those at the ends count, and what is known of it, and the error of
-- that. The error is at most the part `rtol` of all, or a part of what a `step` of quantiles amounts to, which need not
-- be smooth then. Neither need they be where panels, of so many `panel_points`, are too dear; where they are so in any
-- case, `is_last`, quantiles at the ends may count, and what is left out is an error.
local function by_steps (p, q, order, first, rtol, step, steps, purse, panel_points, is_last)
  local h, sum, far = WIDEST, first.sum, first.far
  local is_cut = far > LAST
  if is_cut and not is_last or any(1 - functions.isfinite(sum)) then return nil, h * sum end
  far = math.min(far, LAST)
  local before, difference, doubt = h * sum, first.difference, nil
  local added, known = added_costs(p, q, order, first, far, steps, purse)
  local function goes_on ()
    if known[h / 2] then return true end
    if not purse:affords(#places(h / 2, far)) then return false end
    return h > (purse:affords(panel_points) and FINEST or FINER)
  end
  while goes_on() do
    h = h / 2
    sum = sum + added(h)
    local value = h * sum
    local now, rounding, blur = bare(abs(value - before)), 2 ^ -48 * bare(value), blurred(value, order, step)
    doubt = trapezoidal_error(now, difference, true) + rounding + blur
    if h < WIDEST / 2 and not is_cut then
      local error = where(functions.le(now, rounding), now, trapezoidal_error(now, difference, step > 0)) + rounding
      local share = h > FINEST and 0.25 or 1
      local enough = rtol * bare(value) + share * blur
      if not any(1 - functions.le(error, enough)) then
        local kinks = crossings.doubt(first.seen, order)
        if not any(1 - functions.le(error + kinks, enough)) then return value, error + blur + kinks end
        return nil, value, doubt + kinks
      end
      local is_slow = 1 - maximum(functions.le(now, SLOW * difference), functions.le(now, rounding))
      local is_vain = step == 0 and h <= FINE and any(is_slow)
      if is_vain and purse:affords(panel_points) then
        return nil, value, doubt + crossings.doubt(first.seen, order)
      end
    end
    before, difference = value, now
  end
  doubt = doubt or 16 * difference + blurred(before, order, step)   -- four times what every second place differs by
  return nil, before, doubt + crossings.doubt(first.seen, order) + (is_cut and first.edge or 0)
end

-- Do both laws end at a number, below (side = 1) or above (side = 2)?
local function are_bounded (p, q, side)
  for _, d in ipairs { p, q } do
    if any(functions.isinf(bare((select(side, ends.of(d.support)))))) then return false end
  end
  return true
end

-- The cost beyond the last levels, { 2, batch... } for both ends, and its error, by how it goes on there; `value` is
-- what is known of the others. Where `is_dear`, nothing is asked for at an end that both laws have.
local function beyond_levels (p, q, order, value, is_dear)
  local shape = { 2, table.unpack(p.batch_shape) }
  local function gaps (side, x)
    if is_dear and are_bounded(p, q, side) then return batches.rows(p, #x, 0) end
    return batches.rows(p, #x, quantile_gaps.at(p, q, x, {}))
  end
  local function terms (t)   -- { 3, 2, batch... }: of both ends, at levels e^-t/2
    local both = tensor.stack({ gaps(1, -(t:select(2, 1) + LOG_2)), gaps(2, t:select(2, 2) + LOG_2) }, 2)
    return 0.5 * exp(-t) * powered(abs(both), order)
  end
  local rest, error = ends.remainder(terms, shape, where(functions.isfinite(value), bare(value), 0), 0)
  local zero = core.zeros(shape)
  return rest + zero, error + zero
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

-- Either law beside the other.
local function both_ways (p, q) return { { p, q }, p ~= q and { q, p } or nil } end

-- E |quantile of p - quantile of q|^order over all levels u = sigmoid(x): X is Logistic. First panels end at `breaks`,
-- levels of expectation.lua, where quantiles jump, and at `gaps`. `rest` and its error are beyond all levels.
local function by_panels (p, q, order, steps, gaps, is_resolved, purse, breaks, rest, rest_error)
  local carrier = require "perilune.distributions.Logistic"(0, 1)
  local is_fast = is_quick(p, steps[p]) and is_quick(q, steps[q])
  local edges = { table.unpack(gaps) }
  if rawget(p, "batch_shape") then carrier = carrier:expand(p.batch_shape) end
  for _, pair in ipairs(both_ways(p, q)) do
    local known = steps[pair[1]] or { jumps = {}, kinks = {} }
    for _, list in ipairs { known.jumps, known.kinks } do table.move(list, 1, #list, #edges + 1, edges) end
  end
  local function cost (x) return powered(abs(quantile_gaps.at(p, q, x, steps)), order) end
  return integral.of(carrier, cost, {
    points = edges, breaks = breaks, panels = is_fast and CUTS or FEWER, rounds = not is_fast and ROUNDS or nil,
    purse = purse, rtol = is_resolved and 1e-11 or 1e-9, rest = rest, rest_error = rest_error,
  })
end

-- Where quantiles of a mixture leap from one component to the next, at log(u/(1 - u)): a list, INF where they do not.
local function add_gaps (d, list)
  local parts = d.component_distribution
  if not parts or d.mixture_distribution.support.high > MANY then return end
  for _ = 1, 2 do effort.count_quantiles(parts, parts:mean()) end
  local low, high = core.bare(parts:icdf(APART)), core.bare(parts:isf(APART))
  for k = 1, d.mixture_distribution.support.high do
    local from = high:narrow(-1, k, 1)
    local is_above = gt(low, from)
    local spans = (1 - is_above) * gt(high, from)
    local to = where(is_above, low, INF):min(-1)
    local is_gap = (1 - spans:max(-1)) * functions.lt(to, INF)
    if any(is_gap) then
      local x = quadrature.middle(from:select(-1, 1), to)
      list[#list + 1] = where(is_gap, quantile_gaps.log_odds(d, where(is_gap, x, 0)), INF)
      list.matter = list.matter or any(functions.lt(abs(list[#list]), COMMON))
    end
  end
end

local function quantiles_of (breaks) return 2 * quadrature.POINTS * (#breaks + 1) end

-- First panels from this list on that there is enough for, with so many quantiles `more`, and for some cuts; or nil.
local function affordable (purse, first, more)
  return ends.affordable(first, function (list) return purse:affords(CUTTING * quantiles_of(list) + more) end)
end

-- What is known of discrete laws: their steps by law, how many jumps have to be ends of panels, and whether all jumps
-- that matter are listed.
local function known_steps (p, q)
  local steps, count, are_known = {}, 0, true
  for _, pair in ipairs(both_ways(p, q)) do
    local d, other = pair[1], pair[2]
    steps[d] = is_discrete(d) and quantile_gaps.steps(d, other) or nil
    are_known = are_known and (not is_discrete(d) or steps[d] ~= nil and steps[d].are_listed)
    count = count + (steps[d] and #steps[d].jumps or 0)
  end
  return steps, count, are_known
end

-- Do rounds of searches for quantiles of both laws cost more than their points?
local function are_paired (p, q, steps)
  if is_quick(p, steps[p]) and is_quick(q, steps[q]) then return false end
  return effort.search(p) + effort.search(q) < PAIRED
end

-- The costs at the widest steps of the trapezoidal rule, added up, how far out they count, and a quarter of what their
-- value differs by from that of every second of them: so much is left with steps of a quarter, if quantiles jump. And
-- what the outermost ones would be up to where `beyond_levels` begins, and perhaps those at steps of half the width.
local function first_costs (p, q, order, steps, purse)
  local in_pairs = are_paired(p, q, steps)
  local list, others = places(WIDEST, LAST, true), in_pairs and places(WIDEST / 2, LAST) or {}
  purse:lap(#list + #others)
  local seen = next(steps) == nil and crossings.new(order) or nil
  local terms, finer = costs_at_both(p, q, order, list, others, steps, seen)
  local sum, second = terms:sum(1), terms:index_select(1, core.arange(1, #list + 1, 2)):sum(1)
  return { seen = seen, sum = sum, far = outermost(list, terms), is_infinite = is_infinite(terms), in_pairs = in_pairs,
           finer = finer and finer:sum(1), difference = 0.25 * bare(abs(WIDEST * (2 * second - sum))),
           edge = EDGE * bare(terms:select(1, 1) + terms:select(1, #list)) }
end

-- By many outcomes one by one, if either law has such.
local function by_outcomes (p, q, order, steps, purse)
  for _, pair in ipairs(both_ways(p, q)) do
    local d, other = pair[1], pair[2]
    if outcome_cells.are_known(d, other, steps, purse) then
      local value, error = outcome_cells.cost(d, other, p, q, order, steps, purse)
      if value then return value, error end
    end
  end
end

-- Of two values that which is known better, and its error.
local function better (value, error, other, other_error)
  local is_other = functions.lt(other_error, error)
  return where(is_other, other, value), where(is_other, other_error, error)
end

-- By steps or by panels, whichever quantiles are for and the purse is.
local function by_levels (p, q, order, steps, count, are_known, purse)
  local first, gaps = first_costs(p, q, order, steps, purse), {}
  if first.is_infinite then return fallback.infinite(p, q), INF end
  if not any(1 - functions.isnan(first.sum)) then return first.sum, first.sum end
  add_gaps(p, gaps)
  add_gaps(q, gaps)
  local is_resolved, step = are_known and count <= CUTS, are_known and 0 or unresolved(p, q)
  local value, error, doubt
  local more = quadrature.POINTS * count
  local breaks = (gaps.matter or is_resolved and count > 0) and affordable(purse, gaps.matter and 2 or 1, more)
  if not breaks then
    local least = step == 0 and ends.FEW_BREAKS or ends.BREAKS   -- panels are for what is smooth
    value, error, doubt = by_steps(p, q, order, first, is_resolved and 1e-13 or STEPPED, step, steps, purse,
                                   CUTTING * quantiles_of(least) + more, not affordable(purse, 1, more))
    if value then
      return value, error + (are_known and not is_resolved and blurred(value, order, unresolved(p, q)) or 0)
    end
    breaks = affordable(purse, 1, more) or not doubt and ends.FEWEST_BREAKS
  end
  local known = error or WIDEST * first.sum   -- by steps
  local is_dear = doubt and first.far <= LAST and not purse:affords(BEYOND)
  local rest, rest_error = beyond_levels(p, q, order, known, is_dear)
  if is_infinite(rest) then return fallback.infinite(p, q), INF end
  if doubt then known, doubt = known + rest:sum(1), doubt + rest_error:sum(1) end
  if not breaks then return known, doubt end
  crossings.add(first.seen, p, q, gaps, purse, quantiles_of(breaks) + more)
  value, error = by_panels(p, q, order, steps, gaps, is_resolved, purse, breaks, rest, rest_error)
  error = error + blurred(value, order, step)
  if not doubt then return value, error end
  return better(value, error, known, doubt)
end

local function between_quantiles (p, q, order)
  if batches.size(p) == 0 then return core.zeros(p.batch_shape), core.zeros(p.batch_shape) end
  local purse = effort.begin(BUDGET * batches.size(p) * math.max(effort.elements(p), effort.elements(q)))
  local steps, count, are_known = known_steps(p, q)
  local value, error = by_outcomes(p, q, order, steps, purse)
  local is_known = value and not any(gt(error, STEPPED * bare(value)))
  if is_known or value and purse:left() < LITTLE * batches.size(p) then return value, error end
  local other, other_error = by_levels(p, q, order, steps, count, are_known, purse)
  if not value then return other, other_error end
  return better(value, error, other, other_error)
end

local RARE, VAST = 1e-13, 1e6   -- a level, and outcomes there that make one ask whether there is a mean

-- Are tails of all elements of outcomes p or q so heavy that no cost is finite?
local function has_no_mean (p, q, order)
  local function is_vast (d) return any(gt(bare(d:isf(RARE) - d:icdf(RARE)), VAST)) end
  local function is_known (d) return not any(functions.isinf(d:icdf(0.5))) end
  for _, d in ipairs { p, q } do   -- magnitudes of outcomes have no quantiles
    if not attempt.method(d, "icdf", 0.5) then return false end
  end
  if not ((is_vast(p) or is_vast(q)) and is_known(p) and is_known(q)) then return false end
  return is_infinite(beyond_levels(p, q, order, 0))
end

-- The same between outcomes.
local function between_outcomes (p, q, order)
  local value, error
  if batches.size(p) == 0 then return between_quantiles(p, q, order) end
  if has_no_mean(p, q, order) then return fallback.infinite(p, q), INF end
  if not (points.has_integers(p) and points.has_integers(q)) then
    value, error = transport.between_places(p, q, order)
  elseif order == 1 then value, error = transport.distance(p, q)
  else value, error = transport.cost(p, q, order) end
  if not value then return between_quantiles(p, q, order) end
  if rawget(p, "batch_shape") then return value, error, order == 1 and core.tracked(value) end
  return core.item(value), core.item(error)
end

-- The rotation u that brings l u closest to k, for square matrices as tables: the orthogonal factor of
-- m = l^T k. Columns of m are turned in pairs until all are orthogonal (Hestenes 1958): m v = w s, u = w v^T.
local function turned (m, v, n, i, j)
  local a, b, c = 0, 0, 0
  for r = 1, n do a, b, c = a + m[r][i] ^ 2, b + m[r][j] ^ 2, c + m[r][i] * m[r][j] end
  if c ~= c or math.abs(c) <= 2 ^ -52 * math.sqrt(a) * math.sqrt(b) then return false end
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
local LEAST  = 2 ^ -1022   -- normal number

-- Columns of length 1.
local function directions (w)
  local most = w:abs():max(1)
  w = w / where(functions.lt(most, 2 ^ -500), maximum(most, LEAST), 1)   -- squares are not lost
  return w / maximum(sqrt((w * w):sum(1)), LEAST)
end

local function rotation (product)
  local largest = math.max(core.item(product:abs():max()), LEAST)
  local m = (product / 2 ^ math.floor(math.log(largest, 2))):totable()
  local n, v = #m, core.eye(#m):totable()
  for _ = 1, SWEEPS do
    local changed = false
    for i = 1, n - 1 do
      for j = i + 1, n do changed = turned(m, v, n, i, j) or changed end
    end
    if not changed then break end
  end
  return directions(core.tensor(m)):matmul(core.tensor(v):transpose(1, 2))
end

local function size_of (matrix) return math.sqrt(core.item((matrix * matrix):sum())) end

-- |mean p - mean q|^2 and min over rotations u of |k - l u|^2, k and l being factors of the covariances:
-- the formula of Bures, as a sum of squares. What is squared there is off by the rounding of k and l.
local function bures (p, q)
  local k, l, gap = p.scale_tril, q.scale_tril, p.loc - q.loc
  local n = p.event_shape[1]
  local shape = { table.unpack(p.batch_shape) }
  shape[#shape + 1], shape[#shape + 2] = n, n
  k, l = k:expand(shape):reshape(-1, n, n), l:expand(shape):reshape(-1, n, n)
  local values, offs = {}, {}
  for e = 1, #k do
    local a, b = k:select(1, e), l:select(1, e)
    local bare_a, bare_b = core.bare(a), core.bare(b)
    local rest = a - b:matmul(rotation(bare_b:transpose(1, 2):matmul(bare_a)))
    values[e], offs[e] = (rest * rest):sum(), 2 ^ -50 * n * (size_of(bare_a) + size_of(bare_b))
  end
  local function shaped (list)
    local all = tensor.stack(list):reshape(#p.batch_shape > 0 and p.batch_shape or { 1 })
    return #p.batch_shape == 0 and all:select(1, 1) or all
  end
  local spread, off = shaped(values), shaped(offs)
  local value = (gap * gap):sum(-1) + spread
  return value, 2 ^ -50 * value + off * (2 * sqrt(spread) + off)
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

-- Which elements have tails that differ, and are so heavy that the heavier one alone has no finite cost?
local function is_endless (p, q, order)
  local upper, lower = higher_moments.orders(p)
  local other_upper, other_lower = higher_moments.orders(q)
  local function differ (a, b) return functions.ne(a, b) * functions.le(minimum(a, b), order) end
  return maximum(differ(upper, other_upper), differ(lower, other_lower))
end

-- The distance to the power of `order`, and its error; nil for rounding only.
local function cost (p, q, order)
  local value, error, has_slopes
  if order == 2 and both_are(p, q, "Normal") then
    return functions.square(p.loc - q.loc) + functions.square(p.scale - q.scale)
  elseif order == 2 and both_are(p, q, "MultivariateNormal") then
    return bures(p, q)
  end
  local endless = is_endless(p, q, order)
  if any(endless) and not any(1 - endless) then return fallback.infinite(p, q), INF end
  if is_discrete(p) and is_discrete(q) then
    value, error, has_slopes = between_outcomes(p, q, order)
  else
    value, error = between_quantiles(p, q, order)
  end
  if not has_slopes then value = level_slopes.added(value, p, q, order) end
  if not any(endless) then return value, error end
  return where(endless, INF, value), where(endless, INF, error)
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
