--- Parameters at which the likelihood has a kink wherever they meet one of the data: the peak of a Triangular, the loc
-- of a GeneralizedNormal with a sharp peak. The best value is likely to be one of the data, which no slope shows.
local core    = require "perilune.core"
local maximum = require "perilune.fit.maximum"

local TRIED  = 200    -- data that are tried as the place of a kink
local PASSES = 20     -- of such trials
local NEARBY = 1e-7   -- of the width of the data
local PLACES = 8      -- steps from the smallest to the largest of the data, from where maxima are looked for

-- Of places `first` to `last` the one with the largest value: TRIED of them are tried, and then those between the
-- neighbours of the best.
local function best_between (value_at, first, last)
  local step = math.max((last - first) // TRIED, 1)
  local best, best_value = first, -math.huge
  for i = first, last, step do
    local value = value_at(i)
    if value > best_value then best, best_value = i, value end
  end
  if step == 1 then return best end
  return best_between(value_at, math.max(best - step, first), math.min(best + step, last))
end

-- The parameter of a kink at the one of the data that is best, others being fixed.
local function best_place (likelihood, values, name)
  local c, x, w = likelihood.class, likelihood.x, likelihood.w
  local sorted, trial = x:sort(), { validate = false }
  for key, value in pairs(values) do trial[key] = value end
  local at = best_between(function (i)
    trial[name] = sorted[i]
    local terms = c(trial):log_prob(x)
    return (w and w * terms or terms):sum()
  end, 1, core.numel(x))
  return sorted[at]
end

-- Of two ends, { end, likelihood, higher end }: the better one, with the highest end that is above it and no maximum.
local function better (a, b)
  local best = a.found and (not b.found or not maximum.is_better(b.found, a.found)) and a or b
  local higher
  for _, other in ipairs { a.found or false, b.found or false, a.higher or false, b.higher or false } do
    if other and best.found and other.value > best.found.value + 1e-6
       and (not higher or other.value > higher.value) then higher = other end
  end
  return { found = best.found, own = best.own, higher = higher }
end

-- Is the likelihood smaller on either side of a place?
local function is_kink (likelihood, name, place, values)
  local x, w, trial = likelihood.x, likelihood.w, { validate = false }
  for key, value in pairs(values) do trial[key] = value end
  local function value_at (at)
    trial[name] = at
    local terms = likelihood.class(trial):log_prob(x)
    return (w and w * terms or terms):sum()
  end
  local step, here = NEARBY * (x:max() - x:min()), value_at(place)
  return value_at(place - step) <= here and value_at(place + step) <= here
end

-- The maximum with parameter `name` at `place`, or, where slopes lead on from there to another one, that; `values` are
-- parameters to start from.
local function at_place (likelihood, name, place, values, starts)
  local own = likelihood:with { [name] = place }
  local found, higher = maximum.of(own, { values or starts[1], starts[1] })
  if found and found.is_level then
    values = own:plain_values(found.u)
    if not is_kink(likelihood, name, place, values) then
      local uphill, beyond = maximum.of(likelihood, { values })
      if uphill and uphill.is_level then own, found, higher = likelihood, uphill, beyond
      else found.is_peak, found.is_level = false, false end
    end
  end
  return { found = found, own = own, higher = higher }
end

-- Moves from one of the data to another as long as that is better.
local function follow (likelihood, best, name, starts)
  local place
  for _ = 1, PASSES do
    local values = best.found and best.own:plain_values(best.found.u)
    local try = values and best_place(likelihood, values, name) or likelihood.x:median()
    if try == place then break end
    place = try
    local before = best.found
    best = better(best, at_place(likelihood, name, place, values, starts))
    if best.found == before then break end
  end
  return best
end

-- There are local maxima at many of the data: the one that is met from the best of some quantiles.
local function explore (likelihood, name, starts)
  local sorted, n, best = likelihood.x:sort(), core.numel(likelihood.x), {}
  for i = 0, PLACES do
    best = better(best, at_place(likelihood, name, sorted[1 + (n - 1) * i // PLACES], nil, starts))
  end
  return follow(likelihood, best, name, starts)
end

--- The best maximum with parameter `name` at one of the data, or `found`, the one that slopes led to (or nil); the
-- likelihood it belongs to; and an end that is higher and no maximum, if one was met: `higher` is what was met before.
return function (likelihood, found, higher, name, starts)
  local best = follow(likelihood, { found = found, own = likelihood, higher = higher }, name, starts)
  local some = likelihood:part()
  local other = explore(some, name, starts)
  if some ~= likelihood and other.found then
    local values = other.own:plain_values(other.found.u)
    other = follow(likelihood, at_place(likelihood, name, values[name], values, starts), name, starts)
  end
  best = better(best, other)
  return best.found, best.own, best.higher
end
