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
local PROBES    = 16           -- outcomes, twice as many, by which the rest is judged
local SMALL     = 1024         -- outcomes of all elements together that are summed without looking for those
local NOTHING   = 2 ^ -60      -- what may be left out, as a part of the sum of |f|
local LEVELS    = { 1e-12, 0.25, 0.5 }   -- of either tail: where the mass is
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

--- The first and the last outcome of d that matter, for each element of the batch in a row, and whether the
-- support goes on beyond them.
function outcomes.range (d)
  local low, high = flat(d, d.support.low or -INF), flat(d, d.support.high or INF)
  local from, to = low, high
  if core.item((high - low):max()) >= FEW then
    local known = own(d, "icdf")
    from = maximum(low, known and flat(d, d:icdf(LEAST)) or outermost(d, -1))
    to   = minimum(high, known and flat(d, d:isf(LEAST)) or outermost(d, 1))
  end
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

-- Adds places where something may happen in d: quantiles, and the mode, which is kept apart from what is
-- before and after it.
local function add_places (list, d)
  if own(d, "icdf") then
    for _, level in ipairs(LEVELS) do
      list[#list + 1], list[#list + 2] = flat(d, d:icdf(level)), flat(d, d:isf(level))
    end
  end
  local mode = inside(d)
  list[#list + 1], list[#list + 2] = mode, mode + 1
end

-- The numbers of a list between two and these themselves, in order.
local function ordered (list, from, to)
  local between, cuts = { from, to }, {}
  for _, x in ipairs(list) do
    if x > from and x < to then between[#between + 1] = x end
  end
  table.sort(between)
  for _, x in ipairs(between) do
    if x ~= cuts[#cuts] then cuts[#cuts + 1] = x end
  end
  return cuts
end

-- For each element of the batch: cuts between two outcomes where something may happen in one of the
-- distributions, or where the caller knows that something does.
local function cuts_of (from, to, distributions, points)
  local list = { core.zeros(core.numel(from)) }
  for _, d in ipairs(distributions) do add_places(list, d) end
  for _, point in ipairs(points or {}) do
    local x = floor(flat(distributions[1], point))
    list[#list + 1], list[#list + 2] = x, x + 1
  end
  local first, last, lists = from:totable(), to:totable(), tensor.stack(list, -1):totable()
  for k, numbers in ipairs(lists) do lists[k] = ordered(numbers, first[k], last[k]) end
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

-- Places between two outcomes: evenly, and ever closer to the first.
local function probes (near, far)
  local part, span = core.linspace(0, 1, PROBES):unsqueeze(-1), abs(far - near)
  return near + functions.sign(far - near) * floor(tensor.cat { span * part, span ^ part })
end

-- Adds to sums those of the outcomes from the one after `near` to `far`, where there are any: if terms at some of them
-- are not so small that they cannot matter.
local function add_rest (d, terms, near, far, sums, opts)
  local is_there = functions.ne(near, far)
  if not any(is_there) then return end
  local start = near + functions.sign(far - near) * maximum(1, 2 ^ -52 * abs(near))
  local x, n = where(is_there, probes(start, far), near), 2 * PROBES
  local most = abs((terms(x:reshape(n, table.unpack(d.batch_shape)), n)):detach()):reshape(n, -1):max(1)
  local vanishes = functions.le(most * (abs(far - near) + 1), NOTHING * sums[1].size)
  if not any(is_there * (1 - vanishes)) then return end
  local from, to = where(is_there, minimum(start, far), near), where(is_there, maximum(start, far), near)
  for i, rest in ipairs(outcomes.sum(terms, from, to, { d }, opts)) do
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
