--- E[f(X)] of discrete distributions of single numbers: the sum over all outcomes, or where there are many
-- over blocks of them (summation.lua) between quantiles. What lies beyond the outermost quantiles is added
-- by its asymptotics, and probabilities that do not sum to 1 count as errors.
local attempt   = require "perilune.attempt"
local batches   = require "perilune.batches"
local core      = require "perilune.core"
local functions = require "perilune.functions"
local summation = require "perilune.summation"
local tensor    = require "perilune.tensor"

local where, maximum, minimum, abs = functions.where, functions.maximum, functions.minimum, functions.abs
local exp, floor                   = functions.exp, functions.floor

local outcomes = {}

local INF       = math.huge
local FAR       = 2.0 ^ 1000   -- no outcome further than this
local DISTANCES = 2.0 ^ core.arange(0, 1001):unsqueeze(-1)
local LEAST     = 1e-300       -- the mass beyond the outermost quantiles
local USUAL     = 1e-25        -- the mass beyond those that matter to most f
local PROBES    = 16           -- outcomes by which the rest is judged, twice
local SMALL     = 1024         -- outcomes of all elements together that are summed without looking for those
local NOTHING   = 2 ^ -60      -- what may be left out, as a part of the sum of |f|
local FEW       = 4096         -- outcomes that are summed one by one
local GROSS     = 1e-9         -- a mass that is missing from 1, and not by rounding

local own, rows, any = batches.own, batches.rows, batches.any

-- A number for each element of the batch, in a row.
local function flat (d, x) return rows(d, 1, x):detach():reshape(-1) end


-- Where to sum ------------------------------------------------------------------

-- A place among the outcomes of d.
local function inside (d)
  local mode = own(d, "mode") and attempt.method(d, "mode")
  local low = flat(d, d.support.low or 0)
  return mode and flat(d, mode) or where(low:isfinite(), low, 0)
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

-- Those of them that matter to most f.
local function usual_range (d, from, to)
  if not own(d, "icdf") or core.item((to - from):max()) * core.numel(from) < SMALL then return from, to end
  local first, last = flat(d, d:icdf(USUAL)), flat(d, d:isf(USUAL))
  return where(first:gt(from) * first:le(to), first, from), where(last:lt(to) * last:ge(from), last, to)
end

-- Adds places where something may happen in d, the mode, which is kept apart from what is before and after it; and
-- to `smooth` the quartiles, where only its mass is.
local function add_places (list, smooth, d)
  local mode = inside(d)
  list[#list + 1], list[#list + 2] = mode, mode + 1
  if own(d, "icdf") then smooth[#smooth + 1], smooth[#smooth + 2] = flat(d, d:icdf(0.25)), flat(d, d:isf(0.25)) end
end

-- The cuts of an element, see summation.lua: the numbers of two lists between `from` and `to`, and these themselves.
local function ordered (hard, smooth, from, to)
  local cuts, is_smooth = { from, to }, {}
  for _, x in ipairs(smooth) do
    cuts[#cuts + 1], is_smooth[x] = x, true
  end
  for _, x in ipairs(hard) do
    cuts[#cuts + 1], is_smooth[x] = x, nil
  end
  table.sort(cuts)
  local kept = { smooth = is_smooth }
  for _, x in ipairs(cuts) do
    if x >= from and x <= to and x ~= kept[#kept] then kept[#kept + 1] = x end
  end
  return kept
end

-- Those of each element of the batch: where something may happen in one of the distributions, or where the caller
-- knows that something does.
local function cuts_of (from, to, distributions, points)
  local hard, smooth = { core.zeros(core.numel(from)) }, { from }
  for _, d in ipairs(distributions) do add_places(hard, smooth, d) end
  for _, point in ipairs(points or {}) do
    local x = floor(flat(distributions[1], point))
    hard[#hard + 1], hard[#hard + 2] = x, x + 1
  end
  local first, last = from:totable(), to:totable()
  hard, smooth = tensor.stack(hard, -1):totable(), tensor.stack(smooth, -1):totable()
  local lists = {}
  for k in ipairs(first) do lists[k] = ordered(hard[k], smooth[k], first[k], last[k]) end
  return lists
end

--- Sums terms(x, n), see summation.lua, over the outcomes between two of each element, where these distributions
-- have their mass. opts: points, where the caller knows of a jump or kink, and those of summation.sum.
function outcomes.sum (terms, from, to, distributions, opts)
  local shape = distributions[1].batch_shape
  if core.item((to - from):max()) < FEW then return summation.direct(terms, shape, from, to) end
  return summation.sum(terms, shape, cuts_of(from, to, distributions, opts.points), opts)
end


-- Expectations --------------------------------------------------------------------

-- f(x) P(x) and P(x) for n rows of outcomes.
local function terms_of (d, f)
  return function (x, n)
    local p, values = exp(rows(d, n, d:log_prob(x))), rows(d, n, f(x))
    return where(functions.eq(p, 0), 0, p * values), p:detach()
  end
end

-- Distances from the first of two outcomes to others up to the second: ever longer steps, and then even ones.
local function probes (span)
  local long, even = core.linspace(0, 1, PROBES):unsqueeze(-1), core.linspace(0, 1, PROBES + 1):narrow(1, 2, PROBES)
  return floor(tensor.cat { span ^ long, span * even:unsqueeze(-1) })
end

-- How much there may be in the terms between two outcomes, by those at PROBES places of either kind.
local function amount (d, terms, from, to)
  local span, n = abs(to - from), 2 * PROBES
  local steps = probes(span)
  local x = from + functions.sign(to - from) * steps
  local sizes = abs((terms(x:reshape(n, table.unpack(d.batch_shape)), n)):detach()):reshape(n, -1)
  local ends = maximum(sizes:narrow(1, 1, PROBES - 1), sizes:narrow(1, 2, PROBES - 1))
  local widths = steps:narrow(1, 2, PROBES - 1) - steps:narrow(1, 1, PROBES - 1)
  return 2 * sizes:select(1, 1) + (ends * widths):sum(1) + span * sizes:narrow(1, PROBES + 1, PROBES):max(1)
end

-- Adds to sums those of the outcomes from the one after `near` to `far`, where there are any and they may matter.
local function add_rest (d, terms, near, far, sums, opts)
  local is_there = functions.ne(near, far)
  if not any(is_there) then return end
  local start = where(is_there, near + functions.sign(far - near) * maximum(1, 2 ^ -52 * abs(near)), near)
  local vanishes = functions.le(amount(d, terms, start, far), NOTHING * sums[1].size)
  if not any(is_there * (1 - vanishes)) then return end
  for i, rest in ipairs(outcomes.sum(terms, minimum(start, far), maximum(start, far), { d }, opts)) do
    for key, value in pairs(rest) do sums[i][key] = sums[i][key] + where(is_there, value, 0) end
  end
end

--- E[f(X)] and a bound of its error; f gets x of shape { n, batch... }. opts: rtol, atol, points, outcomes.
function outcomes.expectation (d, f, opts)
  local terms = terms_of(d, f)
  local from, to, below, above = outcomes.range(d)
  local first, last = usual_range(d, from, to)
  local sums = outcomes.sum(terms, first, last, { d }, opts)
  add_rest(d, terms, first, from, sums, opts)
  add_rest(d, terms, last, to, sums, opts)
  local sum, mass = table.unpack(sums)
  local off = abs(1 - mass.value)   -- rounding of all probabilities, or else outcomes that were not found
  local found = off:le(GROSS)
  local value, error = sum.value, sum.error + (2 ^ -50 + off) * sum.size
  for _, side in ipairs { { from, to, below }, { to, from, above } } do
    if any(side[3]) then
      local rest, rest_error = summation.beyond(terms, d.batch_shape, side[1], side[2], sum.size)
      local goes_on = side[3] * found
      value, error = value + where(goes_on, rest, 0), error + where(goes_on, rest_error, 0)
    end
  end
  return value, where(functions.isfinite(value) * found, error, INF)
end

return outcomes
