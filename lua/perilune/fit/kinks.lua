--- Parameters at which the likelihood has a kink wherever they meet one of the data: the peak of a Triangular, the loc
-- of a GeneralizedNormal with a sharp peak. The best value is likely to be one of the data, which no slope shows.
local core    = require "perilune.core"
local maximum = require "perilune.fit.maximum"

local TRIED  = 200    -- data that are tried as the place of a kink
local PASSES = 20     -- of such trials

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

--- The best maximum with parameter `name` at one of the data, or `found`, the one that slopes led to (or nil); the
-- likelihood it belongs to; and an end that is higher and no maximum, if one was met: `higher` is what was met before.
return function (likelihood, found, higher, name, starts)
  local best, own, place = found, likelihood, nil
  for _ = 1, PASSES do
    local values = best and own:plain_values(best.u)
    local try = values and best_place(likelihood, values, name) or likelihood.x:median()
    if try == place then break end
    place = try
    local other = likelihood:with { [name] = place }
    local again, beyond = maximum.of(other, { values or starts[1], starts[1] })
    if beyond and (not higher or beyond.value > higher.value) then higher = beyond end
    if not again or best and not maximum.is_better(again, best) then
      if again and again.value > best.value + 1e-6 then higher = again end
      break
    end
    best, own = again, other
  end
  if higher and best and higher.value <= best.value then higher = nil end
  return best, own, higher
end
