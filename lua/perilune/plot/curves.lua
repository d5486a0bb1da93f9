--- Functions as curves: plot(f, a, b).
local attempt   = require "perilune.attempt"
local core      = require "perilune.core"
local errors    = require "perilune.errors"
local functions = require "perilune.functions"
local options   = require "perilune.plot.options"
local scene     = require "perilune.plot.scene"
local show      = require "perilune.show"
local ticks     = require "perilune.plot.ticks"

local raise = errors.raise

local POINTS = 401   -- of a function

local curves = {}

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
  local ok, y = attempt.any(f, table.unpack(x))
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

return curves
