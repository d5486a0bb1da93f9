--- What laws of single numbers say of themselves: the elements of batches, where they are, and values at many places.
--
-- The window of a law holds 99.8 % of it, but never goes further than REACH interquartile ranges from its median, which
-- for heavy tails (Cauchy) is less.
local attempt  = require "perilune.attempt"
local class    = require "perilune.class"
local core     = require "perilune.core"
local errors   = require "perilune.errors"
local gradient = require "perilune.gradient"
local show     = require "perilune.show"

local raise = errors.raise

local law_values = {}

local TAIL, REACH = 0.001, 6
local LEVELS = 64     -- quantiles that curves go through
local DRAWS  = 4000   -- of a law without quantiles
local LARGEST_BATCH = 10000

-- A tensor with a dimension at the end for each of a batch's.
local function beside (x, d)
  for _ = 1, #d.batch_shape do x = x:unsqueeze(-1) end
  return x
end

--- How many laws a batch has.
function law_values.batch_size (d)
  local n = 1
  for _, size in ipairs(d.batch_shape) do n = n * size end
  return n
end

-- What a method has given, which may be a user's: a tensor with a row for each place.
local function answer (d, method, values, rows)
  if not core.is_tensor(values) or core.numel(values) == 0 or core.numel(values) % rows ~= 0 then
    raise("plot: %s:%s must give a number for each of %d places, got %s", class.name(class.of(d)), method, rows,
          show.value(values))
  end
  return values:detach():reshape(rows, -1)
end

-- Of values with a row for each place, and for each element of the batch a column: lists for the first `most` elements.
local function lists (values, most)
  return values:narrow(2, 1, math.min(most, core.shape(values)[2])):transpose():contiguous():totable()
end

-- Values of a method at each of the places: a list for each of the first elements of the batch.
local function evaluate (d, method, x, most)
  local values = gradient.no_grad(function () return d[method](d, beside(x, d)) end)
  return lists(answer(d, method, values, core.numel(x)), most)
end

-- An end of the support for each of the first n elements of a batch.
local function support_end (d, name, n)
  local value, list = (d.support or {})[name], {}
  if core.is_tensor(value) then
    value = value:detach()
    if core.numel(value) == law_values.batch_size(d) then return value:reshape(-1):narrow(1, 1, n):totable() end
    value = core.item((name == "low") and value:min() or value:max())
  end
  for i = 1, n do list[i] = type(value) == "number" and value or (name == "low" and -math.huge or math.huge) end
  return list
end

-- Quantiles at these levels, by element of the batch. A class without icdf is asked for draws; one without those is
-- shown where it is told to be.
local function quantiles (d, levels, range, most)
  local q = core.tensor(levels)
  local found = attempt.method(d, "icdf", beside(q, d))
  if found then return lists(answer(d, "icdf", found, #levels), most) end
  local draws = attempt.method(d, "sample", DRAWS, core.rng(1))
  if not draws and not range then
    raise("plot: %s has neither icdf nor sample: give range = {low, high}", tostring(d))
  elseif not draws then
    draws = beside(core.linspace(range[1], range[2], DRAWS), d):expand(DRAWS, table.unpack(d.batch_shape))
  end
  return lists(answer(d, "sample", draws, DRAWS):quantile(q, 1), most)
end

local function levels_of ()
  local levels = { TAIL, 0.25, 0.5, 0.75, 1 - TAIL }
  for i = 1, LEVELS do levels[#levels + 1] = i / (LEVELS + 1) end
  return levels
end

--- Each element of a batch, `most` at most: its law and index there, its window (low, high), the ends of its support
-- (first, last), quantiles, and a name.
function law_values.elements (d, name, range, most)
  local size = law_values.batch_size(d)
  if size > LARGEST_BATCH then
    raise("plot: a batch must have %d laws at most, got shape %s", LARGEST_BATCH, show.shape(d.batch_shape))
  elseif size == 0 or most == 0 then return {}
  end
  local list = gradient.no_grad(function () return quantiles(d, levels_of(), range, most) end)
  local n = #list
  local lows, highs, found = support_end(d, "low", n), support_end(d, "high", n), {}
  for i, q in ipairs(list) do
    local reach = REACH * (q[4] - q[2])
    local low, high = q[1], q[5]
    if reach > 0 then low, high = math.max(low, q[3] - reach), math.min(high, q[3] + reach) end
    if low - lows[i] < 0.25 * (high - low) then low = lows[i] end
    if highs[i] - high < 0.25 * (high - low) then high = highs[i] end
    found[i] = { law = d, index = i, low = low, high = high, first = lows[i], last = highs[i], at = q,
                 name = size > 1 and name .. "[" .. i .. "]" or name }
  end
  return found
end

function law_values.is_discrete (d) return d.support ~= nil and d.support.is_discrete == true end

function law_values.check_single (d)
  if #d.event_shape > 0 then
    raise("plot: laws that share a picture must be of single numbers, got %s with events of shape %s", tostring(d),
          show.shape(d.event_shape))
  end
end

--- The values of all elements at these places: lists in their order.
function law_values.heights (list, method, x)
  local of_law, found = {}, {}
  for i, e in ipairs(list) do
    of_law[e.law] = of_law[e.law] or evaluate(e.law, method, core.tensor(x), #list)
    found[i] = of_law[e.law][e.index]
  end
  return found
end

--- How much of an element lies outside of low to high, or nil where that is not known.
function law_values.outside (e, low, high)
  local x = core.tensor { law_values.is_discrete(e.law) and math.ceil(low) - 1 or low, high }
  local cdf = attempt.method(e.law, "cdf", beside(x, e.law))
  if not cdf then return nil end
  local ends = lists(answer(e.law, "cdf", cdf, 2), e.index)[e.index]
  return ends[1] + 1 - ends[2]
end

return law_values
