--- Counting: how many draws are in each bin, and which bins are to be. What is NaN is in none.
local core      = require "perilune.core"
local functions = require "perilune.functions"
local gradient  = require "perilune.gradient"
local ticks     = require "perilune.plot.ticks"

local where = functions.where

local bins = {}

local MOST     = 60      -- bins, unless told
local ENOUGH   = 20000   -- draws that say where the others are
local FAR      = 8       -- interquartile ranges from the median, where a picture ends
local FEW      = 40      -- whole numbers that get a bin each
local FEWEST   = 5       -- bins for draws that differ
local ROUNDING = 1e-9    -- of a bin
local SAME     = 21      -- bins about draws that do not: an odd number, so that one is in the midst

-- The sum of weights at each of the places 1 to n: how the sum of v[places] changes with v.
local function tally (places, weights, n)
  return gradient.grad(function (v)
    local picked = v[places]
    return (weights and picked * weights or picked):sum()
  end)(core.zeros(n))
end

-- Which of n equal bins each x is in, from 1; n + 1 for those outside. The last bin has its upper end. What is at an
-- edge but for rounding, 0.3 with bins of 0.1, is in the bin that begins there.
local function places (x, low, high, n)
  local at = functions.minimum(((x - low) / (high - low) * n + ROUNDING):floor() + 1, n)
  return where(at:ge(1) * x:le(high), at, n + 1)
end

--- The weight in each of n equal bins, or the number of draws: a list.
function bins.count (x, low, high, n, weights)
  if core.numel(x) == 0 then return core.zeros(n):totable() end
  return tally(places(x, low, high, n), weights, n + 1):narrow(1, 1, n):totable()
end

--- The same between edges of any distance.
function bins.count_between (x, edges, weights)
  local sums, below = {}, nil
  for i, edge in ipairs(edges) do
    local under = i == #edges and x:le(edge) or x:lt(edge)
    local total = core.item((weights and under * weights or under):sum())
    if below then sums[i - 1] = total - below end
    below = total
  end
  return sums
end

--- Counts of pairs in nx times ny equal cells: a list of rows, y upwards; and all of them together.
function bins.count_pairs (x, y, xs, ys, nx, ny, weights)
  local i, j = places(x, xs[1], xs[2], nx), places(y, ys[1], ys[2], ny)
  local at = where(i:le(nx) * j:le(ny), (j - 1) * nx + i, nx * ny + 1)
  local counts = tally(at, weights, nx * ny + 1):narrow(1, 1, nx * ny)
  return counts:reshape(ny, nx):totable(), core.item(counts:sum())
end

--- The elements that are not NaN.
function bins.compact (x)
  local sorted = x:sort()   -- NaN comes last
  return sorted:narrow(1, 1, core.numel(x) - math.tointeger(core.item(functions.isnan(x):sum())))
end

-- Some of the draws, evenly spread, if there are many: enough to say where they are.
local function some (x)
  local n = core.numel(x)
  local few = n > ENOUGH and bins.compact(x[core.arange(1, n + 1, math.floor(n / ENOUGH))])
  return few and core.numel(few) > 0 and few or bins.compact(x)
end

--- The least and the largest number.
function bins.ends (x)
  local low = core.item(x:min())   -- NaN, if there is one
  if low == low then return low, core.item(x:max()) end
  local is_nan = functions.isnan(x)
  return core.item(where(is_nan, math.huge, x):min()), core.item(where(is_nan, -math.huge, x):max())
end

--- Where a picture of these draws, finite or NaN, begins and ends: everywhere, but for what lies far out. And how far
-- the quartiles are apart.
function bins.window (x)
  local low, high = bins.ends(x)
  local q = some(x):quantile { 0.05, 0.25, 0.5, 0.75, 0.95 } :totable()
  local spread = q[4] - q[2]
  local reach = FAR * (spread > 0 and spread or q[5] - q[1])
  if not (reach > 0 and reach < math.huge) then return low, high, spread end
  return math.max(low, q[3] - reach), math.min(high, q[3] + reach), spread
end

local function all_whole (x) return core.item(where(functions.isnan(x), 1, x:eq(x:floor())):min()) == 1 end

-- Of many, some tell soon.
local function is_whole (x) return all_whole(some(x)) and all_whole(x) end

--- Edges for a histogram: a bin for each whole number if they are few, else steps that are easy to read, the widest
-- that are hardly wider than Freedman and Diaconis say (2 IQR n^(-1/3)). Returns low, high, how many, and whether they
-- are whole numbers.
function bins.choose (x, n, low, high, spread, wanted)
  if not wanted and high - low < FEW and is_whole(x) then
    low, high = math.ceil(low), math.floor(high)
    return low - 0.5, high + 0.5, math.tointeger(high - low + 1), true
  end
  if low == high then
    low, high = ticks.ends(low, high)
    return low, high, wanted or SAME
  end
  low, high = ticks.ends(low, high)
  if wanted then return low, high, wanted end
  local width = 1.15 * 2 * spread * n ^ (-1 / 3)
  local fewest = math.max(FEWEST, math.min(10, math.ceil(math.sqrt(n))))
  width = math.min((high - low) / fewest, width > 0 and width or math.huge)
  local step = ticks.nice_step(width, true)
  if (high - low) / step > MOST then step = ticks.nice_step((high - low) / MOST) end
  local first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
  if last - first > 2 * MOST or first * step < -8e307 or last * step > 8e307 then return low, high, fewest end
  return first * step, last * step, math.max(1, math.tointeger(last - first) or 1)
end

return bins
