--- Data as lines and points: plot(x, y), plot(y). What is too long to be drawn point by point is made less by tensors.
local bins      = require "perilune.plot.bins"
local core      = require "perilune.core"
local functions = require "perilune.functions"
local options   = require "perilune.plot.options"
local raise     = require "perilune.errors".raise
local scene     = require "perilune.plot.scene"
local show      = require "perilune.show"
local tensor    = require "perilune.tensor"
local ticks     = require "perilune.plot.ticks"

local MOST   = 2000   -- points of a line that are drawn one by one
local CROWD  = 4000   -- points that become counts
local CELLS  = 64     -- of those, along each side
local SERIES = 8      -- in one picture

local points = {}

-- The least and the largest of each row, without what is NaN; NaN of nothing.
local function extremes (rows)
  local is_nan = functions.isnan(rows)
  local least = functions.where(is_nan, math.huge, rows):min(2)
  local most = functions.where(is_nan, -math.huge, rows):max(2)
  local is_empty = functions.isinf(least)
  return functions.where(is_empty, 0 / 0, least), functions.where(is_empty, 0 / 0, most)
end

--- A long line as the least and the largest of each k points that follow each other; and k, if it was long.
function points.thinned (x, y)
  local n = core.numel(x)
  if n <= MOST then return x:totable(), y:totable() end
  local k = math.ceil(n / (MOST / 2))
  local m = math.floor(n / k)
  local xs = x:narrow(1, 1, m * k):reshape(m, k)
  local least, most = extremes(y:narrow(1, 1, m * k):reshape(m, k))
  local along = tensor.stack({ xs:select(2, 1), xs:select(2, k) }, 2):reshape(-1)
  local between = tensor.stack({ least, most }, 2):reshape(-1)
  if m * k < n then
    along, between = tensor.cat { along, x:narrow(1, m * k + 1, n - m * k) },
                     tensor.cat { between, y:narrow(1, m * k + 1, n - m * k) }
  end
  return along:totable(), between:totable(), k
end

-- Do they rise from one to the next?
local function rises (x)
  local n = core.numel(x)
  return n < 2 or core.item(x:narrow(1, 2, n - 1):gt(x:narrow(1, 1, n - 1)):min()) == 1
end

-- Points that are too many to be told apart, as counts in cells.
local function crowd (panel, x, y, n)
  local x_low, x_high = ticks.ends(bins.window(x))
  local y_low, y_high = ticks.ends(bins.window(y))
  local counts, inside = bins.count_pairs(x, y, { x_low, x_high }, { y_low, y_high }, CELLS, CELLS)
  panel.marks[#panel.marks + 1] = scene.cells(counts, x_low, x_high, y_low, y_high, "points", true)
  panel.notes[#panel.notes + 1] = string.format("%d points, as counts in %d by %d cells", n, CELLS, CELLS)
  if inside < n then
    panel.notes[#panel.notes + 1] = string.format("%d of them lie outside", math.tointeger(n - inside))
  end
end

-- Points one by one: all of them, or some.
local function scatter (panel, x, y, good, n, series, name)
  local order = (1 - good):argsort():narrow(1, 1, n)
  if n > CROWD then
    local every = math.ceil(n / CROWD)
    order = order[core.arange(1, n + 1, every)]
    panel.notes[#panel.notes + 1] = string.format("one of %d points is drawn", every)
  end
  panel.marks[#panel.marks + 1] = { kind = "points", x = x[order]:totable(), y = y[order]:totable(), series = series,
                                    name = name }
end

-- Both coordinates of points that can be shown.
local function shown (x, y, read)
  local good = functions.isfinite(x) * functions.isfinite(y)
  if options.is_log(read, "x") then good = good * x:gt(0) end
  if options.is_log(read, "y") then good = good * y:gt(0) end
  return good
end

-- A line through points in their order: all of them, or what shows their extent.
local function add_line (panel, kind, x, y, series, name)
  local n = core.numel(x)
  if n > MOST and not rises(x) then
    local every = math.ceil(n / MOST)
    local some = core.arange(1, n + 1, every)
    x, y = x[some], y[some]
    panel.notes[#panel.notes + 1] = string.format("one of %d points is drawn", every)
  end
  local xs, ys, every = points.thinned(x, y)
  if every then
    panel.notes[#panel.notes + 1] = string.format("of each %d points the least and the largest are drawn", every)
  end
  panel.marks[#panel.marks + 1] = { kind = kind, x = xs, y = ys, series = series, name = name }
end

local function add_series (panel, x, y, read, i, count)
  local good = shown(x, y, read)
  local n = math.tointeger(core.item(good:sum()))
  if n < core.numel(x) then
    panel.notes[#panel.notes + 1] = string.format("%d of %d points left out: no finite numbers%s", core.numel(x) - n,
                                                  core.numel(x), read.log and ", or not positive" or "")
  end
  local kind = read.mark or (rises(x) and "line" or "points")
  local name = read.names and read.names[i] or count > 1 and tostring(i) or nil
  if kind == "points" then
    if n > CROWD and not read.log and count == 1 then
      crowd(panel, functions.where(good, x, 0 / 0), functions.where(good, y, 0 / 0), n)
    else scatter(panel, x, y, good, n, i, name)
    end
    return
  end
  add_line(panel, kind, x, functions.where(good, y, 0 / 0), i, name)
end

-- Ends of points along "x" or "y", with room around them: none is to be cut in half, or to lie on the axis.
local function padded (panel, name)
  local low, high = math.huge, -math.huge
  for _, mark in ipairs(panel.marks) do
    if mark.kind ~= "points" then return end
    for _, v in ipairs(mark[name]) do low, high = math.min(low, v), math.max(high, v) end
  end
  if panel[name].low or panel[name].log or low >= high then return end
  low, high = ticks.ends(low, high)
  return ticks.ends(low - 0.02 * (high - low), high + 0.02 * (high - low))
end

local function pad (panel)
  local low, high = padded(panel, "x")
  if low then panel.x.low, panel.x.high = low, high end
  low, high = padded(panel, "y")
  if low then panel.y.low, panel.y.high = ticks.widen(low, high, 10) end
end

--- A panel of a vector y, or rows of a matrix, over x; over 1, 2, ... without x.
function points.panel (x, y, read)
  local series = core.rank(y) == 2 and y or y:reshape(1, -1)
  local k, n = table.unpack(core.shape(series))
  if core.rank(y) > 2 then raise("plot: y must be a vector or a matrix, got shape %s", show.shape(core.shape(y))) end
  if x and (core.rank(x) ~= 1 or core.numel(x) ~= n) then
    raise("plot: x must be a vector as long as y, %d, got shape %s", n, show.shape(core.shape(x)))
  end
  local panel = { marks = {}, notes = {}, x = options.axis(read, "x"), y = options.axis(read, "y") }
  if not x then
    x = core.arange(1, n + 1)
    panel.x.integer = true
  end
  if n == 0 then panel.notes[1] = "nothing to draw: there are no points"
  else
    for i = 1, math.min(k, SERIES) do add_series(panel, x, series[i], read, i, k) end
    pad(panel)
    if k > SERIES then panel.notes[#panel.notes + 1] = string.format("... and %d more", k - SERIES) end
  end
  return scene.panel(panel), n
end

return points
