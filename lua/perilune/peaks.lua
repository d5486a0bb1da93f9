--- Where a density of single numbers is highest, for classes without a formula for it.
local any       = require "perilune.batches".any
local core      = require "perilune.core"
local functions = require "perilune.functions"
local lazy      = require "perilune.lazy"
local tensor    = require "perilune.tensor"

local truncated_mixture = lazy "truncated_mixture"

local where, maximum, minimum, abs, exp = functions.where, functions.maximum, functions.minimum, functions.abs,
                                          functions.exp
local INF = math.huge

local peaks = {}

--- The highest of candidates { n, batch... } and its log density.
function peaks.highest (self, x)
  local height = self:log_prob(x)
  height = where(height:isnan(), -INF, height)
  local top = height:max(1)
  return where(height:eq(top), x, -INF):max(1), top
end

-- A height but for rounding.
local function nearly (height) return height - 2 ^ -50 * maximum(1, abs(height)) end

-- Central differences of eighth order, for 1 to 4 steps to either side: the first derivative, and the second
-- with its own for no step.
local SLOPE, BEND, BEND_HERE = { 4 / 5, -1 / 5, 4 / 105, -1 / 280 }, { 8 / 5, -1 / 5, 8 / 315, -1 / 560 }, -205 / 72

-- f at x - 4 h, ..., x + 4 h, by the number of steps: asked for at once, since f may be a search.
local function values_beside (f, x, h)
  local list, values = {}, {}
  for k = 1, 4 do list[2 * k - 1], list[2 * k] = x - k * h, x + k * h end
  local heights = core.is_tensor(list[1]) and f(tensor.stack(list))
  for k = 1, 4 do
    for i, steps in ipairs { -k, k } do
      values[steps] = heights and heights:select(1, 2 * k - 2 + i) or f(list[2 * k - 2 + i])
    end
  end
  return values
end

-- A Newton step to the top of f, by differences over h; taken where it is shorter than `most` of h and does not
-- lead down.
local function climb (f, x, top, h, most)
  local slope, bend, beside = 0, BEND_HERE * top, values_beside(f, x, h)
  for k = 1, 4 do
    local left, right = beside[-k], beside[k]
    slope, bend = slope + SLOPE[k] * (right - left), bend + BEND[k] * (left + right)
  end
  local step = slope / bend
  local better = x - step * h
  local height = f(better)
  local good = functions.lt(bend, 0) * functions.lt(abs(step), most) * functions.ge(height, nearly(top))
  return where(good, better, x), where(good, height, top)
end

--- The top of the peak close to x, where the log density is `top`; a pole is one already. Differences
-- are those over a small part of the width 1/p.
function peaks.summit (self, x, top, most)
  local function height (y) return self:log_prob(y) end
  local better, found = x, top
  for _ = 1, 3 do better, found = climb(height, better, found, 2e-3 * exp(-found), most or 1e-2) end
  return where(functions.isinf(top), x, better)
end


-- Search -----------------------------------------------------------------------------

local FARTHEST = 689   -- beyond it quantiles of what is left of a law are by logarithms
local GRID, ZOOMS, NARROWER = 65, 12, 0.1

--- The quantile at which the odds of the lower tail are e^s.
function peaks.quantile (d, s)
  local tail, lower = functions.sigmoid(-abs(s)), functions.lt(s, 0)
  if not any(lower) then return d:isf(tail) end
  if not any(1 - lower) then return d:icdf(tail) end
  return where(lower, d:icdf(tail), d:isf(tail))
end

-- -1, ..., 1 at GRID places, closest about 0, before the dimensions of a batch.
local function places (rank)
  local list = core.linspace(-1, 1, GRID) ^ 3
  for _ = 1, rank do list = list:unsqueeze(-1) end
  return list
end

--- Where height(x) is highest for |x - centre| <= reach, and that: ever finer grids about the best. It may return the
-- outcomes at x as well: where there are none between those of a grid, finer ones say no more.
function peaks.search (height, centre, reach)
  local offsets, low, high, top = places(#core.shape(centre)), centre - reach, centre + reach, nil
  for _ = 1, ZOOMS do
    local grid = maximum(minimum(centre + reach * offsets, high), low)
    local heights, outcomes = height(grid)
    heights = where(heights:isnan(), -INF, heights)
    top = heights:max(1)
    centre, reach = where(heights:eq(top), grid, -INF):max(1), NARROWER * reach
    if outcomes and not any(functions.gt(outcomes:max(1) - outcomes:min(1), 1)) then break end
  end
  return centre, top
end

-- x after all maps in turn.
local function mapped (maps, x)
  for _, map in ipairs(maps) do x = map:forward(x) end
  return x
end

-- One list after the other.
local function joined (first, second) return table.move(second, 1, #second, #first + 1, { table.unpack(first) }) end

-- The highest peak of a density between the ends of its support, or at one. place(s) goes through the support as
-- quantiles do, e^s being odds.
local function peak_along (d, place)
  local function height (s) return d:log_prob(place(s)) end
  local s, top = peaks.search(height, core.zeros(d.batch_shape), FARTHEST)
  for _ = 1, 2 do s, top = climb(height, s, top, 3e-3, 1) end
  local best = peaks.summit(d, place(s), top, 1)
  for _, name in ipairs { "high", "low" } do
    local limit = d.support[name]
    best = where(functions.ge(d:log_prob(limit), nearly(top)), limit, best)
  end
  return best
end

-- The last dimension of x first, or the first last.
local function turned (x, forth)
  local rank, order = #core.shape(x), {}
  for k = 1, rank do order[k] = forth and (k - 2) % rank + 1 or k % rank + 1 end
  return x:permute(table.unpack(order))
end

-- f for values with a dimension of components at their end, which f does not know.
local function each_of (f) return function (x) return turned(f(turned(x, true)), false) end end

-- The same along the quantiles of each component of a mixture, of which the best is taken: those of the mixture are
-- slow, and leave a narrow component little room.
local function peak_of_mixture (d, mixture, maps)
  local component = mixture.component_distribution
  local density, image = each_of(function (x) return d:log_prob(x) end),
                         each_of(function (x) return mapped(maps, x) end)
  local function each (limit)
    limit = core.is_tensor(limit) and limit or core.tensor(limit)
    return limit:unsqueeze(-1):expand(component.batch_shape)
  end
  local view = {
    batch_shape = component.batch_shape, support = { low = each(d.support.low), high = each(d.support.high) },
    log_prob = function (_, x) return density(x) end,
  }
  local best = peak_along(view, function (s) return image(peaks.quantile(component, s)) end)
  return (peaks.highest(d, turned(best, true)))
end

--- The highest peak of the density of d, which is the law of values of `law` after `maps`. Of several peaks a narrow
-- one may be missed.
function peaks.mode (d, law, maps)
  maps = maps or {}
  while law.transforms do   -- quantiles of what is behind them may be searches
    law, maps = law.base_dist, joined(law.transforms, maps)
  end
  if law.component_distribution then return peak_of_mixture(d, law, maps) end
  local found = {}
  for i, part in ipairs(truncated_mixture.parts(law) or {}) do
    found[i] = peak_of_mixture(d, part.law, joined(part.maps, maps))
  end
  if #found > 0 then return (peaks.highest(d, tensor.stack(found))) end
  local best = peak_along(d, function (s) return mapped(maps, peaks.quantile(law, s)) end)
  return rawget(d, "batch_shape") == nil and core.item(best) or best
end

return peaks
