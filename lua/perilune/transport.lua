--- The least cost of moving the mass of one discrete distribution of single numbers to another: E |X - Y|^order
-- with X and Y at the same level of their quantile functions.
local batches    = require "perilune.batches"
local core       = require "perilune.core"
local functions  = require "perilune.functions"
local outcomes   = require "perilune.outcomes"
local summation  = require "perilune.summation"
local tensor     = require "perilune.tensor"

local has_integers = require "perilune.points".has_integers

local where, maximum, minimum, abs = functions.where, functions.maximum, functions.minimum, functions.abs
local sign, gt                     = functions.sign, functions.gt

local transport = {}

local INF      = math.huge
local FEW      = 4096         -- outcomes whose masses are added up one by one
local MOST     = 2 ^ 15       -- outcomes whose masses are moved one by one
local ROUNDING = 2.0 ^ -42    -- of the tails of a distribution
local SLIGHT   = 2.0 ^ -47    -- a mass that may be rounding
local HALVINGS = 30           -- of the way to where they are equal
local CROSSING = 200          -- steps to where the gap is 0
local FAR      = 1e100        -- a distance at which products are taken by logarithms
local GRAVE    = 4            -- orders beyond which tails of 1e-25 may weigh more

-- A tensor { n, element } as it is for functions of p, and back.
local function shaped (p, x) return x:reshape(#x, table.unpack(p.batch_shape)) end
local function rows (p, n, x) return batches.rows(p, n, x):reshape(n, -1) end

-- The first and the last outcome that matter to p or q.
local function range (p, q, places)
  local from_p, to_p = outcomes.range(p)
  local from_q, to_q = outcomes.range(q)
  if not places then return minimum(from_p, from_q), maximum(to_p, to_q) end
  return minimum(maximum(from_p, places[1].first), maximum(from_q, places[2].first)),
         maximum(minimum(to_p, places[1].last), minimum(to_q, places[2].last))
end

-- The probabilities of n outcomes from these on, { n, element }.
local function masses (d, from, n) return rows(d, n, d:prob(shaped(d, from + core.arange(0, n):unsqueeze(-1)))) end


-- Order 1, few outcomes ---------------------------------------------------------

-- P(X <= x) and P(X > x) of masses in order.
local function tails (mass)
  local order = core.arange(#mass, 0, -1)
  local above = mass:index_select(1, order):cumsum(1):index_select(1, order)
  return mass:cumsum(1), above - mass
end

-- The sum of |P(X <= x) - P(Y <= x)| over n outcomes, from the smaller tails.
local function one_by_one (p, q, _, from, n)
  local below_p, above_p = tails(masses(p, from, n))
  local below_q, above_q = tails(masses(q, from, n))
  local upper = gt(below_p + below_q, 1)
  local a, b = where(upper, above_p, below_p), where(upper, above_q, below_q)
  return abs(a - b):sum(1), ROUNDING * maximum(a, b):detach():sum(1)
end


-- Order 1, many outcomes ----------------------------------------------------------

-- P(X <= x) - P(Y <= x), from the smaller tails, for { n, element } outcomes; and by what that may be rounded.
local function gap (p, q, x)
  local n, at = #x, shaped(p, x)
  local a, b = rows(p, n, p:cdf(at)):detach(), rows(p, n, q:cdf(at)):detach()
  local upper = gt(a + b, 1)
  if batches.any(upper) then a, b = where(upper, -rows(p, n, p:sf(at)), a), where(upper, -rows(p, n, q:sf(at)), b) end
  return a - b, ROUNDING * maximum(abs(a), abs(b))
end

-- A tensor { n, element } as a list for each element.
local function columns (t) return t:transpose(1, 2):contiguous():totable() end

-- The sign of log p - log q.
local function which_is_higher (p, q, x)
  local ratio = rows(p, #x, p:log_prob(shaped(p, x)) - q:log_prob(shaped(p, x))):detach()
  return where(ratio:isnan(), 0, sign(ratio))
end

-- Lists of numbers for each element as a tensor { longest, element }, with `missing` after their ends.
local function padded (lists, missing)
  local longest, flat = 0, {}
  for _, list in ipairs(lists) do longest = math.max(longest, #list) end
  for i = 1, longest do
    for k, list in ipairs(lists) do flat[(i - 1) * #lists + k] = list[i] or missing end
  end
  return longest > 0 and core.tensor(flat):reshape(longest, #lists) or nil
end

-- Neighbours among the elements' places x whose signs are opposite, zeros left out, as { from, to } lists.
local function changes (x, signs)
  local from, to = {}, {}
  for k, list in ipairs(x) do
    local before
    from[k], to[k] = {}, {}
    for i, place in ipairs(list) do
      local now = signs[k][i]
      if now ~= 0 then
        if before and signs[k][before] ~= now then
          from[k][#from[k] + 1], to[k][#to[k] + 1] = list[before], place
        end
        before = i
      end
    end
  end
  return from, to
end

local ordered = core.bind("row/panel", "order", "order", { "x" }, { "x" })

-- Runs of outcomes x at which `gains`, p - q, has one sign: { first, last, sign, mass }, the mass but roughly. They are
-- in the order of the places `order`.
local function runs_of (x, gains, order)
  local runs, run, before = {}, nil, x[order[1]]
  for i, k in ipairs(order) do
    local place, value = x[k], gains[k]
    local now = value > 0 and 1 or value < 0 and -1 or 0
    if now ~= 0 then
      if not run or run[3] ~= now then
        run = { place, place, now, 0 }
        runs[#runs + 1] = run
      end
      run[2], run[4] = place, run[4] + 0.5 * math.abs(value) * ((x[order[i + 1]] or place) - before)
    end
    before = place
  end
  return runs
end

-- Pairs of outcomes { from, to } between which p - q changes its sign, and moves more mass before and after than
-- rounding does.
local function turns (runs)
  local total, from, to, before = 0, {}, {}, nil
  for _, run in ipairs(runs) do total = total + run[4] end
  for _, run in ipairs(runs) do
    if run[4] > SLIGHT * (1 + total) then
      if before and before[3] ~= run[3] then from[#from + 1], to[#to + 1] = before[2], run[1] end
      before = run
    end
  end
  return from, to
end

-- The same for all elements, of which outcomes were `seen` and p - q there: lists of tensors { n, element }.
local function all_turns (seen, gains)
  local x, from, to = tensor.cat(seen), {}, {}
  local order, values = ordered(x:transpose(1, 2)):totable(), columns(tensor.cat(gains))
  for k, list in ipairs(columns(x)) do
    for i, place in ipairs(order[k]) do order[k][i] = math.tointeger(place) end
    from[k], to[k] = turns(runs_of(list, values[k], order[k]))
  end
  return from, to
end

-- The last outcomes before the density of p passes that of q, for each element: there the gap is at its extremes, and
-- it is monotonic in between. They lie between outcomes that were seen.
local function extremes (p, q, seen, gains)
  local from, to = all_turns(seen, gains)
  local low, high = padded(from, 0), padded(to, 0)
  if not low then return nil end
  local start = which_is_higher(p, q, low)
  for _ = 1, HALVINGS do
    local middle = functions.floor(0.5 * low + 0.5 * high)
    local is_before = which_is_higher(p, q, middle):eq(start)
    low, high = where(is_before, middle, low), where(is_before, high, middle)
  end
  for k, list in ipairs(columns(low)) do
    for i = 1, #from[k] do from[k][i] = list[i] end
  end
  return from
end

-- The first outcomes after which a gap that has one sign at `low` has the other, as it has at `high`: Newton's method,
-- with a halving of the way where that leaves it or does not halve the gap. It ends where the gap times the way
-- to its zero is nothing beside `error`.
local function crossing (p, q, low, high, error)
  local start, x, before = sign((gap(p, q, low))), functions.floor(0.5 * low + 0.5 * high), INF
  for _ = 1, CROSSING do
    local value, at = gap(p, q, x), shaped(p, x)
    local size, is_low = abs(value), functions.eq(sign(value), start)
    low, high = where(is_low, x, low), where(is_low, high, x)
    local step = value / rows(p, #x, p:prob(at) - q:prob(at)):detach()
    local is_near = functions.le(size * maximum(1, abs(step)), 2 ^ -7 * error)
    local done = maximum(is_near, functions.le(high - low, maximum(1, 2 ^ -52 * abs(high))))
    high = where(is_near, x, high)
    if not batches.any(1 - done) then break end
    local newton = functions.floor(x - step + 0.5)
    local inside = gt(newton, low) * gt(high, newton) * functions.le(size, 0.5 * before)
    x = where(done, x, where(inside, newton, functions.floor(0.5 * low + 0.5 * high)))
    before = size
  end
  return high
end

-- Where the gap changes its sign, { zeros, element }, INF where an element has fewer; or nil.
local function zeros (p, q, seen, gains, error)
  local extreme = extremes(p, q, seen, gains)
  if not extreme then return nil end
  local value, noise = gap(p, q, padded(extreme, 0))
  local from, to = changes(extreme, columns(where(gt(abs(value), 4 * noise), sign(value), 0)))
  local low, high, is_there = padded(from, 0), padded(to, 0), padded(from, INF)
  return low and where(is_there:eq(INF), INF, crossing(p, q, low, high, error))
end

-- E g(X) - E g(Y) and its error, where g rises by 1 with every outcome, but from one kink to the next falls. What it
-- sees is written down.
local function difference (p, q, places, kinks, seen, gains)
  local shape, centre, points = p.batch_shape, 0.5 * places[1].mode + 0.5 * places[2].mode, {}
  for i = 1, kinks and #kinks or 0 do points[i] = kinks:select(1, i):reshape(shape) end
  local function potential (x)
    local g, turn = x - centre, 2
    for i = 1, #points do
      turn = -turn
      g = g + turn * maximum(x - kinks:select(1, i), 0)
    end
    return g
  end
  local function terms (x, n)
    local mass_p, mass_q, at = rows(p, n, p:prob(x)), rows(p, n, q:prob(x)), x:reshape(n, -1)
    local gain, sum, g = mass_p - mass_q, (mass_p + mass_q):detach(), potential(at)
    seen[#seen + 1], gains[#gains + 1] = at, gain:detach()
    if batches.any(gt(abs(g), FAR)) then   -- where probabilities of a heavy tail may be too small for a double
      local from_p = outcomes.products(mass_p, rows(p, n, p:log_prob(x)), g)
      local from_q = outcomes.products(mass_q, rows(p, n, q:log_prob(x)), g)
      return from_p - from_q, (from_p + from_q):detach()
    end
    return where(sum:eq(0), 0, g * gain), where(sum:eq(0), 0, g * sum)
  end
  local sums, sides = outcomes.total(terms, { p, q }, { points = points, places = places })
  local value, error = sums[1].value, sums[1].error + ROUNDING * sums[2].size
  for _, side in ipairs(sides) do
    local rest, rest_error = summation.beyond(terms, shape, side[1], side[2], sums[2].size)
    value, error = value + where(side[3], rest, 0), error + where(side[3], rest_error, 0)
  end
  return abs(value), error
end

-- The distance is E g(X) - E g(Y) for g that rises or falls by 1 with every outcome as the gap has one sign or the
-- other: no other g that moves as slowly has more. A zero of the gap that is off by a little costs next to nothing.
local function by_potential (p, q, places)
  local seen, gains = {}, {}
  local value, error = difference(p, q, places, nil, seen, gains)
  local kinks = zeros(p, q, seen, gains, error:detach())
  if not kinks then return value, error end
  return difference(p, q, places, kinks, {}, {})
end

--- E |X - Y| and its error, for each element of the batch of both: the sum of |P(X <= x) - P(Y <= x)| over all x.
function transport.distance (p, q)
  local from, to = range(p, q)
  local n, places = core.item((to - from):max()) + 1, nil
  if n > FEW then
    places = { outcomes.places(p), outcomes.places(q) }
    from, to = range(p, q, places)
    n = core.item((to - from):max()) + 1
  end
  local method = n <= FEW and one_by_one or by_potential
  local value, error = method(p, q, places, from, n)
  return value:reshape(p.batch_shape), error:reshape(p.batch_shape)
end


-- Outcomes that are no integers --------------------------------------------------

-- Rows of x and mass, { n, element }, in the order of x.
local function sorted (x, mass)
  local n, size = #x, core.shape(x)[2]
  local place = ordered(core.bare(x):transpose(1, 2)) + n * core.arange(0, size):unsqueeze(-1)   -- in { element, n }
  local function taken (t) return t:transpose(1, 2):reshape(-1)[place:reshape(-1)]:reshape(size, n):transpose(1, 2) end
  return taken(x), taken(mass)
end

--- All outcomes that matter to d and their masses, { n, element } both, and in order if so told; nil where there are
-- too many, or d is made of a law whose outcomes are no integers otherwise than by transforms.
function transport.all_of (d, in_order)
  if d.transforms then
    local x, mass = transport.all_of(d.base_dist)
    if not x then return nil end
    x = shaped(d, x)
    for _, map in ipairs(d.transforms) do x = map:forward(x) end
    x = rows(d, #mass, x)
    if in_order then return sorted(x, mass) end
    return x, mass
  end
  if not has_integers(d) then return nil end
  local from, to = outcomes.range(d)
  local n = core.item((to - from):max()) + 1
  if n > MOST then return nil end
  return from + core.arange(0, n):unsqueeze(-1), masses(d, from, n)
end

-- Places and masses of each element as lists in order of the places, without those of no mass.
local function in_order (x, mass)
  local order, places, weights = ordered(core.bare(x):transpose(1, 2)):totable(), columns(x), columns(mass)
  local lists = {}
  for k, indices in ipairs(order) do
    local list = { x = {}, mass = {} }
    for _, at in ipairs(indices) do
      at = math.tointeger(at)
      if weights[k][at] > 0 then list.x[#list.x + 1], list.mass[#list.mass + 1] = places[k][at], weights[k][at] end
    end
    lists[k] = list
  end
  return lists
end

-- The cost of moving the lower half of the mass of `a` to that of `b`, such lists, or the upper half from the other
-- end; and what it changes by if tails are rounded by a part of 1, which moves mass to the place before or after.
local function half_moved (a, b, order, is_upper)
  local function at (list, i) return list[is_upper and #list + 1 - i or i] end
  local i, j, left, right, done, sum, change = 1, 1, at(a.mass, 1), at(b.mass, 1), 0, 0, 0
  local function cost () return math.abs(at(a.x, i) - at(b.x, j)) ^ order end
  while left and right and done < 0.5 do
    local mass, before = math.min(left, right, 0.5 - done), cost()
    sum, done, left, right = sum + mass * before, done + mass, left - mass, right - mass
    if left <= 0 then i, left = i + 1, at(a.mass, i + 1) else j, right = j + 1, at(b.mass, j + 1) end
    if left and right then change = change + done * math.abs(cost() - before) end
  end
  return sum, change
end

--- E |X - Y|^order and its error for outcomes that need not be integers, as above; nil where there are too many.
function transport.between_places (p, q, order)
  local x, mass_p = transport.all_of(p)
  if not x then return nil end
  local y, mass_q = transport.all_of(q)
  if not y then return nil end
  local a, b, values, errors = in_order(x, mass_p), in_order(y, mass_q), {}, {}
  for k in ipairs(a) do
    local below, off_below = half_moved(a[k], b[k], order, false)
    local above, off_above = half_moved(a[k], b[k], order, true)
    local rounding = ROUNDING + 2 ^ -53 * (#a[k].mass + #b[k].mass)
    local error = rounding * (below + above + off_below + off_above)
    values[k], errors[k] = below + above, error == error and error or INF
  end
  return core.tensor(values):reshape(p.batch_shape), core.tensor(errors):reshape(p.batch_shape)
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

--- E |X - Y|^order and its error, for each element of the batch of both; or nil where there are too many outcomes.
function transport.cost (p, q, order)
  local from, to = range(p, q, order <= GRAVE and { outcomes.places(p), outcomes.places(q) } or nil)
  local n = core.item((to - from):max()) + 1
  if n > MOST then return nil end
  local a, b, values = columns(masses(p, from, n)), columns(masses(q, from, n)), {}
  for k in ipairs(a) do values[k] = moved(a[k], b[k], order) end
  local value = core.tensor(values):reshape(p.batch_shape)
  local rounding = ROUNDING + 2 ^ -53 * n   -- of all masses together, which are moved by one more, or less
  return value, rounding * (value + order * value ^ (1 - 1 / order))
end

return transport
