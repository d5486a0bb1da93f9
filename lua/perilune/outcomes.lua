--- E[f(X)] of discrete distributions of single numbers: the sum over all outcomes, or where there are many
-- over blocks of them (summation.lua) between quantiles. What lies beyond the outermost quantiles is added
-- by its asymptotics, and probabilities that do not sum to 1 count as errors.
local batches   = require "perilune.batches"
local core      = require "perilune.core"
local effort    = require "perilune.effort"
local functions = require "perilune.functions"
local lazy      = require "perilune.lazy"
local modes     = require "perilune.modes"
local summation = require "perilune.summation"
local tensor    = require "perilune.tensor"

local where, maximum, minimum, abs = functions.where, functions.maximum, functions.minimum, functions.abs
local exp, floor                   = functions.exp, functions.floor

local tabulated = lazy "tabulated"

local outcomes = {}

local INF       = math.huge
local FAR       = 2.0 ^ 1000   -- no outcome further than this
local DISTANCES = 2.0 ^ core.arange(0, 1001):unsqueeze(-1)
local LEAST     = 1e-300       -- the mass beyond the outermost quantiles
local USUAL     = 1e-25        -- the mass beyond those that matter to most f
local PROBES    = 32           -- outcomes by which the rest is judged, at ever longer distances and at even ones,
local LONGER    = 64           -- and at more of the first where they lead beyond VAST
local NARROW    = 64           -- outcomes that are summed without looking for those,
local SMALL     = 1024         -- and of all elements together
local NOTHING   = 2 ^ -60      -- what may be left out, as a part of the sum of |f|
local ROUNDING  = 2 ^ -46      -- what the rest may be off by, as a part of that sum
local VAST      = 2.0 ^ 90     -- a width of more outcomes, or of what only heavy tails reach, has an end nowhere
local FEW       = 4096         -- outcomes that are summed one by one
local FAINT     = 1e-290       -- a probability below which products are taken by logarithms
local MOST, FEWEST = 2 ^ 14, 2 ^ 10   -- outcomes of an element after which blocks are cut no more
local GROSS     = 1e-9         -- a mass that is missing from 1, and not by rounding

local own, rows, any = batches.own, batches.rows, batches.any

-- A number for each element of the batch, in a row.
local function flat (d, x) return rows(d, 1, x):detach():reshape(-1) end


-- Where to sum ------------------------------------------------------------------

-- A place among the outcomes of d.
local function inside (d)
  local mode = own(d, "mode") and modes.of(d)
  return mode and flat(d, mode) or tabulated.likeliest(d)
end

-- The outermost outcome above (side = 1) or below that place whose probability is more than LEAST, but for a
-- factor of 2 in their distance: for distributions that do not know their quantiles.
local function outermost (d, side)
  local start, n = inside(d), #DISTANCES
  local x = start + side * DISTANCES
  local log_p = rows(d, n, d:log_prob(x:reshape(n, table.unpack(d.batch_shape)))):detach():reshape(n, -1)
  return start + side * where(log_p:gt(math.log(LEAST)), DISTANCES, 0):max(1)
end

-- An end of the support for each element in a row, and the outcomes beyond which there is a mass of LEAST, if it
-- is infinite: above (side = 1) or below.
local function far_end (d, stop, side, method)
  local limit = flat(d, d.support[stop] or side * INF)
  if core.item(limit:isinf():max()) == 0 then return limit, limit end
  local quantile = own(d, "icdf") and flat(d, d[method](d, LEAST)) or outermost(d, side)
  return limit, where(limit:isinf(), quantile, limit)
end

--- The first and the last outcome of d that matter, for each element of the batch in a row, and whether the
-- support goes on beyond them.
function outcomes.range (d)
  local low, from = far_end(d, "low", -1, "icdf")
  local high, to  = far_end(d, "high", 1, "isf")
  from, to = maximum(from, -FAR), minimum(to, FAR)
  from, to = where(from:isnan(), 0, from), where(to:isnan(), 0, to)
  return from, to, from:gt(low), to:lt(high)
end

--- Where the mass of d is, for each element in a row: the mode, and if d knows them quartiles, and the outcomes `first`
-- to `last` that matter to most f. 0 for what is NaN.
function outcomes.places (d)
  local found = { mode = inside(d) }
  if own(d, "icdf") then
    found.low, found.high = flat(d, d:icdf(0.25)), flat(d, d:isf(0.25))
    found.first, found.last = flat(d, d:icdf(USUAL)), flat(d, d:isf(USUAL))
  end
  for name, x in pairs(found) do found[name] = where(x:isnan(), 0, x) end
  return found
end

-- The outcomes that matter to one of these distributions, as above: from, to, below, above. The support goes on beyond
-- them if it does for the distribution that has the last one; others have next to nothing there.
local function joint_range (distributions)
  local from, to, below, above = outcomes.range(distributions[1])
  for i = 2, #distributions do
    local first, last, before, beyond = outcomes.range(distributions[i])
    below = where(first:lt(from), before, where(first:gt(from), below, maximum(below, before)))
    above = where(last:gt(to), beyond, where(last:lt(to), above, maximum(above, beyond)))
    from, to = minimum(from, first), maximum(to, last)
  end
  return from, to, below, above
end

-- Those of them that matter to most f, by the places of all distributions.
local function usual_range (from, to, places)
  local first, last = to, from
  for _, place in ipairs(places) do
    if not place.first then return from, to end
    first, last = minimum(first, place.first), maximum(last, place.last)
  end
  return maximum(first, from), minimum(last, to)
end

-- The cuts of an element, see summation.lua: the numbers of two lists between `from` and `to`, and these themselves.
local function ordered (hard, smooth, from, to)
  local cuts, kept, is_smooth = { from, to }, {}, {}
  local function add (list, flag)
    for _, x in ipairs(list) do
      if x > from and x < to then cuts[#cuts + 1], is_smooth[x] = x, flag end
    end
  end
  add(smooth, true)
  add(hard, nil)
  table.sort(cuts)
  for _, x in ipairs(cuts) do
    if x ~= kept[#kept] then kept[#kept + 1] = x end
  end
  kept.smooth = is_smooth
  return kept
end

-- Those of each element of the batch: modes, each kept apart from what is before and after it, and points that the
-- caller knows of; quartiles, where only mass is, are smooth ones.
local function cuts_of (from, to, places, points, is_open_below, is_open_above)
  local hard, smooth = { core.zeros(core.numel(from)) }, { from }
  local function keep_apart (x) hard[#hard + 1], hard[#hard + 2] = x, x + 1 end
  for _, place in ipairs(places) do
    keep_apart(place.mode)
    smooth[#smooth + 1], smooth[#smooth + 2] = place.low, place.high
  end
  for _, x in ipairs(points) do keep_apart(x) end
  local first, last, lists = from:totable(), to:totable(), {}
  hard, smooth = tensor.stack(hard, -1):totable(), tensor.stack(smooth, -1):totable()
  local below, above = is_open_below:totable(), is_open_above:totable()
  for k in ipairs(first) do
    lists[k] = ordered(hard[k], smooth[k], first[k], last[k])
    lists[k].is_open_below, lists[k].is_open_above = below[k] ~= 0, above[k] ~= 0
  end
  return lists
end

-- Distances from the first of two outcomes to others up to the second: ever longer steps, and then even ones.
local function probes (span, count)
  local long, even = core.linspace(0, 1, count):unsqueeze(-1), core.linspace(0, 1, PROBES + 1):narrow(1, 2, PROBES)
  return floor(tensor.cat { span ^ long, span * even:unsqueeze(-1) })
end

-- How much there may be in the terms between two outcomes, by those at PROBES places of either kind.
local function amount (terms, shape, from, to)
  local span = abs(to - from)
  local count = core.item(span:max()) > VAST and LONGER or PROBES
  local n, steps = count + PROBES, probes(span, count)
  local x = from + functions.sign(to - from) * steps
  local sizes = abs((terms(x:reshape(n, table.unpack(shape)), n)):detach()):reshape(n, -1)
  local ends = maximum(sizes:narrow(1, 1, count - 1), sizes:narrow(1, 2, count - 1))
  local widths = steps:narrow(1, 2, count - 1) - steps:narrow(1, 1, count - 1)
  return 2 * sizes:select(1, 1) + (ends * widths):sum(1) + span * sizes:narrow(1, count + 1, PROBES):max(1)
end

-- Adds to sums those of the outcomes from the one after `near` to `far`, where there are any and they may matter.
local function add_rest (sum, terms, shape, near, far, sums)
  local is_there = functions.ne(near, far)
  if not any(is_there) then return end
  local start = where(is_there, near + functions.sign(far - near) * maximum(1, 2 ^ -52 * abs(near)), near)
  local vanishes = functions.le(amount(terms, shape, start, far), NOTHING * sums[1].size)
  if not any(is_there * (1 - vanishes)) then return end
  local least = sums[1].size
  for i = 2, #sums do least = minimum(least, sums[i].size) end
  for i, rest in ipairs(sum(minimum(start, far), maximum(start, far), ROUNDING * least)) do
    for key, value in pairs(rest) do sums[i][key] = sums[i][key] + where(is_there, value, 0) end
  end
end

--- Sums terms(x, n), see summation.lua, over all outcomes of these distributions, of one batch. Returns the sums, and
-- for either side where they end, seen from where, and whether outcomes go on there. opts: points, where the caller
-- knows of a jump or kink; places, those of the distributions if they are known; and those of summation.sum.
function outcomes.total (terms, distributions, opts)
  local shape, places, points = distributions[1].batch_shape, opts.places, {}
  local from, to, below, above = joint_range(distributions)
  local first, last, width = from, to, core.item((to - from):max())
  if width >= NARROW and width * core.numel(from) >= SMALL then
    places = places or {}
    for i, d in ipairs(distributions) do places[i] = places[i] or outcomes.places(d) end
    first, last = usual_range(from, to, places)
  end
  for i, point in ipairs(opts.points or {}) do points[i] = floor(flat(distributions[1], point)) end
  local function sum (a, b, atol)
    if core.item((b - a):max()) < FEW then return summation.direct(terms, shape, a, b) end
    local is_vast = maximum(functions.gt(b - a, VAST), atol and 1 or 0)
    local is_open_below = is_vast * maximum(functions.gt(a, from), below)
    local is_open_above = is_vast * maximum(functions.lt(b, to), above)
    return summation.sum(terms, shape, cuts_of(a, b, places, points, is_open_below, is_open_above), {
      rtol = opts.rtol, atol = maximum(opts.atol or 0, atol or 0), outcomes = opts.outcomes, enough = opts.enough,
    })
  end
  local sums = sum(first, last)
  add_rest(sum, terms, shape, first, from, sums)
  add_rest(sum, terms, shape, last, to, sums)
  return sums, { { from, to, below }, { to, from, above } }
end


-- Expectations --------------------------------------------------------------------

local POINT = 0.5   -- what an outcome costs, in units of effort.lua, beside its probability and f

--- f(x) P(x), by the sum of their logarithms where P(x) is too small for a double, or has lost digits: far out in a
-- heavy tail f may make up for it.
function outcomes.products (p, log_p, values)
  local plain = where(functions.eq(p, 0), 0, p * values)
  local faint = functions.lt(p, FAINT) * functions.gt(log_p, -INF)
  faint = faint * functions.isfinite(values) * functions.ne(values, 0)
  if not any(faint) then return plain end
  local l, y = where(faint, log_p, 0), where(faint, values, 1)
  return where(faint, functions.sign(y) * exp(l + functions.log(abs(y))), plain)
end

-- f(x) P(x) and P(x) for n rows of outcomes, which cost so much each.
local function terms_of (d, f, each)
  local size = batches.size(d)
  return function (x, n)
    effort.spend(each, n * size)
    local log_p, values = rows(d, n, d:log_prob(x)), rows(d, n, f(x))
    local p = exp(log_p)
    return outcomes.products(p, log_p, values), p:detach()
  end
end

-- opts with as many outcomes as a purse affords, and for components those errors that matter to their sum.
local function affordable (d, opts, each)
  local options, size = {}, batches.size(d)
  for key, value in pairs(opts) do options[key] = value end
  local most = math.ceil(math.max(FEWEST, opts.purse:left() / (each * size)))
  options.outcomes = math.min(opts.outcomes or MOST, most)
  options.enough = opts.weights and batches.enough(core.bare(opts.weights), opts.rtol or 1e-13, d.batch_shape)
  return options
end

--- E[f(X)] and a bound of its error; f gets x of shape { n, batch... }. opts: rtol, atol, points, outcomes; purse, and
-- beside and weights as in expectation.lua.
function outcomes.expectation (d, f, opts)
  local each = POINT + effort.density(d) + (opts.beside or 0)
  local terms = terms_of(d, f, each)
  local sums, sides = outcomes.total(terms, { d }, affordable(d, opts, each))
  local sum, mass = table.unpack(sums)
  local off = abs(1 - mass.value)   -- rounding of all probabilities, or else outcomes that were not found
  local found = off:le(GROSS)
  local value, error = sum.value, sum.error + (2 ^ -50 + off) * sum.size
  for _, side in ipairs(sides) do
    if any(side[3]) then
      local rest, rest_error = summation.beyond(terms, d.batch_shape, side[1], side[2], sum.size)
      local goes_on = side[3] * found
      value, error = value + where(goes_on, rest, 0), error + where(goes_on, rest_error, 0)
    end
  end
  return value, where(functions.isfinite(value) * found, error, INF)
end

return outcomes
