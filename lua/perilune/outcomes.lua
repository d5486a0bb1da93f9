--- E[f(X)] of discrete distributions of single numbers: the sum over all outcomes, or where there are many
-- over blocks of them (summation.lua) between quantiles. What lies beyond the outermost quantiles is added
-- by its asymptotics, and probabilities that do not sum to 1 count as errors.
local Distribution = require "perilune.distribution"
local core         = require "perilune.core"
local functions    = require "perilune.functions"
local summation    = require "perilune.summation"
local tensor       = require "perilune.tensor"

local where, maximum, minimum, abs = functions.where, functions.maximum, functions.minimum, functions.abs
local exp, log, floor              = functions.exp, functions.log, functions.floor
local INF    = math.huge
local FAR    = 2.0 ^ 1000   -- no outcome further than this
local LEAST  = 1e-300       -- the mass beyond the outermost quantiles
local EXACT  = 4096         -- outcomes that are summed one by one
local LEVELS = { 1e-12, 0.25, 0.5 }   -- of either tail: where the mass is
local GROSS  = 1e-9         -- what is missing from a mass of 1 not by rounding

-- The method of d, or nil where there is only the one that says it is missing.
local function own (d, name) return d[name] ~= Distribution[name] and d[name] or nil end

-- The value of a method, or nil where it is missing or refuses.
local function attempt (d, name, ...)
  local ok, value = pcall(d[name], d, ...)
  return ok and value or nil
end

-- x for n rows of the batch, whatever f or a quantile made of it.
local function rows (d, n, x)
  local t = core.is_tensor(x) and x or core.tensor(x)
  return t:expand(n, table.unpack(d.batch_shape))
end

-- A number for each element of the batch, in a row.
local function flat (d, x) return rows(d, 1, x):detach():reshape(-1) end


-- Where to sum ------------------------------------------------------------------

-- The first and the last outcome to be summed, and whether the support goes on there.
local function range (d)
  local support = d.support
  local low, high = flat(d, support.low or -INF), flat(d, support.high or INF)
  local from, to = low, high
  if own(d, "icdf") and core.item((high - low):max()) >= EXACT then
    from, to = maximum(low, flat(d, d:icdf(LEAST))), minimum(high, flat(d, d:isf(LEAST)))
  end
  from, to = maximum(from, -FAR), minimum(to, FAR)
  from, to = where(from:isnan(), 0, from), where(to:isnan(), 0, to)
  return from, to, from:gt(low), to:lt(high)
end

-- Places where something may happen: quantiles, the mode, 0 and what the caller knows. Outcomes there are
-- kept apart from those before and after.
local function places (d, points)
  local list = { core.zeros(core.numel(flat(d, 0))) }
  local function put (x) list[#list + 1], list[#list + 2] = floor(x), floor(x) + 1 end
  if own(d, "icdf") then
    for _, level in ipairs(LEVELS) do
      list[#list + 1], list[#list + 2] = flat(d, d:icdf(level)), flat(d, d:isf(level))
    end
  end
  local mode = own(d, "mode") and attempt(d, "mode")
  if mode then put(flat(d, mode)) end
  for _, x in ipairs(points or {}) do put(flat(d, x)) end
  return tensor.stack(list, -1):totable()
end

-- Those between two outcomes and these themselves, in order.
local function ordered (list, from, to)
  local inside, cuts = { from, to }, {}
  for _, x in ipairs(list) do
    if x > from and x < to then inside[#inside + 1] = x end
  end
  table.sort(inside)
  for _, x in ipairs(inside) do
    if x ~= cuts[#cuts] then cuts[#cuts + 1] = x end
  end
  return cuts
end

local function cuts_of (d, from, to, opts)
  local lists, first, last = places(d, opts.points), from:totable(), to:totable()
  for k, list in ipairs(lists) do lists[k] = ordered(list, first[k], last[k]) end
  return lists
end


-- What is not summed --------------------------------------------------------------

-- What follows after the last of three terms g at distances z - 2 s, z - s, z from the centre: a geometric
-- series, or a power of the distance, whichever they are closer to; and how far they are from it.
local function followed (g, z, s)
  local first, second, last = g:select(1, 1), g:select(1, 2), g:select(1, 3)
  local before, after = log(first / second), log(second / last)
  local rate, power = after / s, after / log(z / (z - s))
  local earlier_power = before / log((z - s) / (z - 2 * s))
  local off_rate, off_power = abs(1 - before / after), abs(1 - earlier_power / power)
  local endless = functions.sign(last) * INF
  local series = where(functions.gt(after, 1e-10), last / functions.expm1(rate), endless)
  local powers = where(functions.gt(power, 1 + 1e-6), last * z / (power - 1), endless)
  local is_series = functions.le(off_rate, off_power) * functions.gt(after, 1e-10)
  return where(is_series, series, powers), where(is_series, off_rate, off_power)
end

-- The sum of `terms` beyond `last` for the elements that go on there, and its error; `size` is what it is
-- compared with. The distance is from `centre`.
local function remainder (d, terms, last, centre, goes_on, size)
  local z = abs(last - centre)
  local s = maximum(1, floor(z / 16))
  local step = functions.sign(last - centre) * s
  local x = tensor.stack({ last - 2 * step, last - step, last }, 1)
  local _, g = terms(x:reshape(3, table.unpack(d.batch_shape)), 3)
  g = g:reshape(3, -1)
  local reach = abs(g:select(1, 3)) * (z + 1)
  local rest, off = followed(g, z, s)
  local matters = goes_on * functions.gt(reach, 1e-17 * size)
  local known = matters * (1 - rest:isnan())
  local error = where(known, abs(rest) * (10 * off + 2 ^ -40), where(matters, INF, reach))
  return where(known, rest, 0), where(goes_on, error, 0)
end


local function any (x) return core.item(x:max()) ~= 0 end

-- P(x) and f(x) P(x) for n rows of outcomes.
local function terms_of (d, f)
  return function (x, n)
    local p, values = exp(rows(d, n, d:log_prob(x))), rows(d, n, f(x))
    return p, where(functions.eq(p, 0), 0, p * values)
  end
end

--- E[f(X)] and a bound of its error; f gets x of shape { n, batch... }. opts: rtol, atol, points, outcomes.
return function (d, f, opts)
  local terms = terms_of(d, f)
  local from, to, below, above = range(d)
  local few = core.item((to - from):max()) < EXACT
  local mass, sum
  if few then mass, sum = table.unpack(summation.direct(terms, d.batch_shape, from, to))
  else mass, sum = table.unpack(summation.sum(terms, d.batch_shape, cuts_of(d, from, to, opts), opts)) end
  local off = abs(1 - mass.value)   -- rounding of all probabilities, or else outcomes that were not found
  local found = off:le(GROSS)
  local value, error = sum.value, sum.error + (2 ^ -50 + off) * sum.size
  for _, side in ipairs { { from, to, below }, { to, from, above } } do
    if any(side[3]) then
      local rest, rest_error = remainder(d, terms, side[1], side[2], side[3] * found, sum.size)
      value, error = value + rest, error + rest_error
    end
  end
  return value, where(functions.isfinite(value) * found, error, INF)
end
