--- Where a density of single numbers is highest, for classes without a formula for it.
local batches   = require "perilune.batches"
local core      = require "perilune.core"
local functions = require "perilune.functions"
local lazy      = require "perilune.lazy"
local tensor    = require "perilune.tensor"

local effort            = lazy "effort"
local modes             = lazy "modes"
local quantile_path     = lazy "quantile_path"
local support_line      = lazy "support_line"
local truncated_mixture = lazy "truncated_mixture"
local truncation        = lazy "truncation"

local where, maximum, minimum, abs, exp = functions.where, functions.maximum, functions.minimum, functions.abs,
                                          functions.exp
local any = batches.any
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

local FINE = { grid = 65, zooms = 12, narrower = 0.1 }
local FIRST, FURTHER = { grid = 65, zooms = 1, narrower = 0.1 }, { grid = 17, zooms = 11, narrower = 0.35 }
peaks.SPARSE = { grid = 17, zooms = 6, narrower = 0.35 }

--- The quantile at which the odds of the lower tail are e^s.
function peaks.quantile (d, s)
  local tail, lower = functions.sigmoid(-abs(s)), functions.lt(s, 0)
  if not any(lower) then return d:isf(tail) end
  if not any(1 - lower) then return d:icdf(tail) end
  return where(lower, d:icdf(tail), d:isf(tail))
end

local LOG_2 = math.log(2)

-- A function of numbers or tensors from one of rows { n, batch... }.
local function by_rows (d, fn)
  return function (s)
    local x = fn((core.is_tensor(s) and s or core.tensor(s)):reshape(-1, table.unpack(d.batch_shape)))
    return core.is_tensor(s) and x:reshape(core.shape(s)) or core.item(x)
  end
end

-- Points near quantiles, by a path (quantile_path.lua).
local function along (path)
  return function (s)
    local t = functions.softplus(abs(s)) - LOG_2
    local x = path(tensor.stack({ t, t }, 2))
    return where(functions.lt(s, 0), x:select(2, 1), x:select(2, 2))
  end
end

local WIDTHS = 2.0 ^ -core.arange(0, 64)

-- How far from its mode a density falls by e, on one side at least; no further than by its height, to a factor of 2.
local function width_of (d, mode)
  local parts, top = WIDTHS, d:log_prob(mode)
  for _ = 1, #d.batch_shape do parts = parts:unsqueeze(-1) end
  local width = batches.rows(d, #parts, parts * minimum(maximum(exp(-top), 1e-300), 1e300))
  local height = maximum(d:log_prob(mode - width), d:log_prob(mode + width))
  return where(functions.ge(height, top - 1), width, 1e-300):max(1)
end

-- Points of the line of the support (support_line.lua) about the mode of a law.
local function around (d, mode)
  local function flat (x) return core.bare(batches.rows(d, 1, x)):reshape(-1) end
  local support = d.support or {}
  local low, high = flat(support.low or -INF), flat(support.high or INF)
  local line = support_line.new(low, high, flat(mode), flat(width_of(d, mode)))
  return function (s) return line.x(s:reshape(#s, -1)):reshape(core.shape(s)) end
end

-- A function of s that gives quantiles, or where these are dear other points: any that go through the support do.
local function places_of (d)
  local is_worth = quantile_path.is_worth(d)
  local path = is_worth and quantile_path.along(d)
  if path then return by_rows(d, along(path)) end
  local mode = is_worth and d.kernels and modes.of(d)
  if mode then return by_rows(d, around(d, mode)) end
  return d.log_mass and function (s) return truncation.quantile(d, -functions.softplus(-s), -functions.softplus(s)) end
         or function (s) return peaks.quantile(d, s) end
end

-- -1, ..., 1 at n places, closest about 0, before the dimensions of a batch.
local function places (n, rank)
  local list = core.linspace(-1, 1, n) ^ 3
  for _ = 1, rank do list = list:unsqueeze(-1) end
  return list
end

--- Where height(x) is highest for |x - centre| <= reach, and that: ever finer grids about the best. It may return the
-- outcomes at x as well: where there are none between those of a grid, finer ones say no more. `how` may be SPARSE.
function peaks.search (height, centre, reach, how)
  how = how or FINE
  local offsets, low, high, top = places(how.grid, #core.shape(centre)), centre - reach, centre + reach, nil
  for _ = 1, how.zooms do
    local grid = maximum(minimum(centre + reach * offsets, high), low)
    local heights, outcomes = height(grid)
    heights = where(heights:isnan(), -INF, heights)
    top = heights:max(1)
    centre, reach = where(heights:eq(top), grid, -INF):max(1), how.narrower * reach
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

-- The highest peak of a density between the ends of its support, or at one, which costs what that of `law` does.
-- place(s) goes through the support as quantiles do, e^s being odds.
local function peak_along (d, law, place)
  local function height (s)
    effort.count_densities(law, s)
    return d:log_prob(place(s))
  end
  local first = peaks.search(height, core.zeros(d.batch_shape), FARTHEST, FIRST)
  local s, top = peaks.search(height, first, FIRST.narrower * FARTHEST, FURTHER)
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

-- d, once for each of these components.
local function for_each (d, component)
  local density = each_of(function (x) return d:log_prob(x) end)
  local function each (limit)
    limit = core.is_tensor(limit) and limit or core.tensor(limit)
    return limit:unsqueeze(-1):expand(component.batch_shape)
  end
  return {
    batch_shape = component.batch_shape, support = { low = each(d.support.low), high = each(d.support.high) },
    log_prob = function (_, x) return density(x) end,
  }
end

-- The same along the quantiles of each component of a mixture, of which the best is taken: those of the mixture are
-- slow, and leave a narrow component little room.
local function peak_of_mixture (d, mixture, maps)
  local component = mixture.component_distribution
  local view, image, place = for_each(d, component), each_of(function (x) return mapped(maps, x) end),
                             places_of(component)
  local best = peak_along(view, d, function (s) return image(place(s)) end)
  return (peaks.highest(d, turned(best, true)))
end

-- The highest peak of d among images of places of the law.
local function peak_of_law (d, law, maps)
  local place = places_of(law)
  return peak_along(d, d, function (s) return mapped(maps, place(s)) end)
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
    local all = joined(part.maps, maps)
    found[i] = part.point and batches.rows(d, 1, mapped(all, part.point)):select(1, 1)
               or part.law.component_distribution and peak_of_mixture(d, part.law, all)
               or peak_of_law(d, part.law, all)
  end
  if #found > 0 then return (peaks.highest(d, tensor.stack(found))) end
  local best = peak_of_law(d, law, maps)
  return rawget(d, "batch_shape") == nil and core.item(best) or best
end

-- The likeliest outcome of d among quantiles of the law that are outcomes of d.
local function outcome_along (d, law)
  local function place (s) return minimum(maximum(peaks.quantile(law, s), d.support.low), d.support.high) end
  return place((peaks.search(function (s)
    local x = place(s)
    return d:log_prob(x), x
  end, core.zeros(d.batch_shape), FARTHEST)))
end

--- The likeliest outcome of d, what is left of the law.
function peaks.outcome (d, law)
  local component = law.component_distribution
  if not component then return outcome_along(d, d) end
  local best = outcome_along(for_each(d, component), component)
  return (peaks.highest(d, turned(best, true)))
end

return peaks
