--- Functions and data as curves: plot(f, a, b), plot(x, y), plot(x).
local bins      = require "perilune.plot.bins"
local core      = require "perilune.core"
local errors    = require "perilune.errors"
local functions = require "perilune.functions"
local options   = require "perilune.plot.options"
local scene     = require "perilune.plot.scene"
local show      = require "perilune.show"
local tensor    = require "perilune.tensor"
local ticks     = require "perilune.plot.ticks"

local raise = errors.raise

local POINTS  = 401     -- of a function
local MOST    = 2000    -- points of a line that are drawn one by one
local CROWD   = 4000    -- points that become counts
local CELLS   = 64      -- of those, along each side
local SERIES  = 8

local curves = {}

-- Functions --------------------------------------------------------------------------------

--- Places from a to b, as even as the axis is.
function curves.grid (a, b, n, is_log)
  if is_log then return functions.exp(core.linspace(math.log(a), math.log(b), n)) end
  local half = 0.5 * a + 0.5 * b   -- b - a may be too large a number
  return half + (0.5 * b - 0.5 * a) * core.linspace(-1, 1, n)
end

local function number_of (y)
  if core.is_tensor(y) and core.numel(y) == 1 then y = core.item(y) end
  if type(y) ~= "number" then raise("plot: the function must return a number, got %s", show.value(y)) end
  return y
end

-- What f says of tensors, if it takes them and has an answer for each element.
local function at_once (f, x)
  local ok, y = pcall(f, table.unpack(x))
  if not ok and type(y) == "string" and y:find("interrupted", 1, true) then error(y, 0) end
  local is_answer = ok and core.is_tensor(y) and core.rank(y) == 1 and core.numel(y) == core.numel(x[1])
  return is_answer and y:detach():totable() or nil
end

--- Values of a function at these places, a list of vectors of its arguments: by one call if it takes tensors, else by
-- one for each.
function curves.values (f, x)
  local found = at_once(f, x)
  if found then return found end
  local first, second, list = x[1]:totable(), x[2] and x[2]:totable(), {}
  for i = 1, #first do
    if second then list[i] = number_of(f(first[i], second[i])) else list[i] = number_of(f(first[i])) end
  end
  return list
end

-- Where values end that are to be shown: without those few that are far from all others. Two ends, and whether
-- something is beyond them.
local function vertical_window (lists)
  local finite = {}
  for _, y in ipairs(lists) do
    for i = 1, #y do
      if y[i] - y[i] == 0 then finite[#finite + 1] = y[i] end
    end
  end
  if #finite == 0 then return end
  table.sort(finite)
  local function quantile (q) return finite[1 + math.floor(q * (#finite - 1) + 0.5)] end
  local low, high = quantile(0.03), quantile(0.97)
  local span = high - low
  local bottom, top = finite[1], finite[#finite]
  local is_cut_below, is_cut_above = bottom < low - 6 * span, top > high + 6 * span
  if is_cut_below then bottom = low - 0.5 * span end
  if is_cut_above then top = high + 0.5 * span end
  return bottom, top, is_cut_below or is_cut_above
end

-- A curve that leaves through one end and comes back through the other is interrupted there.
local function interrupt (x, y, low, high)
  local xs, ys = {}, {}
  for i = 1, #x do
    if i > 1 and (y[i - 1] > high and y[i] < low or y[i - 1] < low and y[i] > high) then
      xs[#xs + 1], ys[#ys + 1] = x[i], 0 / 0
    end
    xs[#xs + 1], ys[#ys + 1] = x[i], y[i]
  end
  return xs, ys
end

local function check_ends (a, b, is_log)
  local ends = { a, b }
  for i = 1, 2 do
    local x = ends[i]
    if type(x) ~= "number" or x - x ~= 0 then
      raise("plot: %s must be a finite number, got %s", ("ab"):sub(i, i), show.value(x))
    end
  end
  if a >= b then raise("plot: a must be less than b, got %s and %s", show.number(a), show.number(b)) end
  if is_log and a <= 0 then raise("plot: a must be positive on a logarithmic axis, got %s", show.number(a)) end
end

--- A panel of functions between a and b.
function curves.functions (list, a, b, read)
  local is_log = options.is_log(read, "x")
  check_ends(a, b, is_log)
  local grid, lists = curves.grid(a, b, POINTS, is_log), {}
  for i, f in ipairs(list) do lists[i] = curves.values(errors.check_function("plot", "f", f), { grid }) end
  local x, panel = grid:totable(), { marks = {}, notes = {} }
  panel.x, panel.y = options.axis(read, "x", { low = a, high = b }), options.axis(read, "y")
  local low, high, is_cut = vertical_window(lists)
  if not low then panel.notes[1] = "nothing to draw: no value is a finite number"
  elseif is_cut and not read.yrange and not panel.y.log then
    panel.y.low, panel.y.high = ticks.widen(low, high, 5)
    panel.is_cut = true
    panel.notes[1] = string.format("values below %s or above %s are cut off", ticks.text(panel.y.low),
                                   ticks.text(panel.y.high))
  end
  for i, y in ipairs(lists) do
    local xs, ys = x, y
    if low then xs, ys = interrupt(x, y, panel.y.low or low, panel.y.high or high) end
    panel.marks[i] = { kind = "line", x = xs, y = ys, series = i,
                       name = read.names and read.names[i] or #list > 1 and tostring(i) or nil }
  end
  return scene.panel(panel)
end


-- Data ---------------------------------------------------------------------------------------

-- The least and the largest of each row, without what is NaN; NaN of nothing.
local function extremes (rows)
  local is_nan = functions.isnan(rows)
  local least = functions.where(is_nan, math.huge, rows):min(2)
  local most = functions.where(is_nan, -math.huge, rows):max(2)
  local is_empty = functions.isinf(least)
  return functions.where(is_empty, 0 / 0, least), functions.where(is_empty, 0 / 0, most)
end

--- A long line as the least and the largest of each k points that follow each other; and k, if it was long.
function curves.thinned (x, y)
  local n = core.numel(x)
  if n <= MOST then return x:totable(), y:totable() end
  local k = math.ceil(n / (MOST / 2))
  local m = n // k
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
  panel.marks[#panel.marks + 1] = curves.cells(counts, x_low, x_high, y_low, y_high, "points", true)
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

--- A mark of cells, rows from below, with what it takes to shade them.
function curves.cells (rows, x_low, x_high, y_low, y_high, label, are_counts)
  local least, most = math.huge, -math.huge
  for _, row in ipairs(rows) do
    for _, v in ipairs(row) do
      if v - v == 0 then least, most = math.min(least, v), math.max(most, v) end
    end
  end
  if least > most then least, most = 0, 0 end
  local function edges (low, high, n)
    local list = {}
    for i = 0, n do list[i + 1] = low * (1 - i / n) + high * (i / n) end
    return list
  end
  return { kind = "cells", xs = edges(x_low, x_high, #rows[1]), ys = edges(y_low, y_high, #rows), values = rows,
           least = least > 0 and 0 or least, most = most, label = label, counts = are_counts, series = 1 }
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
  local n, xs, ys, every = core.numel(x), nil, nil, nil
  if n <= MOST or rises(x) then xs, ys, every = curves.thinned(x, y)
  else
    local some = core.arange(1, n + 1, math.ceil(n / MOST))
    xs, ys = x[some]:totable(), y[some]:totable()
    panel.notes[#panel.notes + 1] = string.format("one of %d points is drawn", math.ceil(n / MOST))
  end
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
  if low then panel.y.low, panel.y.high = ticks.widen(low, high, 5) end
end

--- A panel of a vector y, or rows of a matrix, over x; over 1, 2, ... without x.
function curves.data (x, y, read)
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

return curves
