--- Discrete laws: bars, or steps and lines where they are many.
local law_curves = require "perilune.plot.law_curves"
local law_values = require "perilune.plot.law_values"
local options    = require "perilune.plot.options"
local raise      = require "perilune.errors".raise
local ticks      = require "perilune.plot.ticks"

local law_bars = {}

local MOST_BARS, MOST_VALUES = 100, 300
local LARGEST = 8e307   -- end of a window

-- The whole numbers to show, the first and the last.
local function whole_window (list, read)
  if read.range then
    local low, high = math.ceil(read.range[1]), math.floor(read.range[2])
    if low > high then raise "plot: range must hold a whole number, the law being discrete" end
    return low, high
  end
  local low, high = math.huge, -math.huge
  for _, e in ipairs(list) do
    local from, to = math.floor(e.low), math.ceil(e.high)
    if e.last - e.first <= 24 then from, to = e.first, e.last end
    low, high = math.min(low, from), math.max(high, to)
  end
  if low ~= low or high ~= high then raise "plot: this law has no window: give range = {low, high}" end
  local function bounded (x) return math.max(-LARGEST, math.min(LARGEST, x)) end
  return bounded(low), bounded(math.max(low, high))
end

-- Whole numbers from low to high, all or some.
local function whole_places (low, high, panel)
  local n, x = high - low + 1, {}
  if n > MOST_VALUES then
    panel.notes[#panel.notes + 1] = string.format("one in about %s whole numbers is drawn",
                                                  ticks.text(n / MOST_VALUES, n / MOST_VALUES * 0.05))
    n = MOST_VALUES
  end
  for i = 1, n do
    local v = n == 1 and low or math.floor(low + (high - low) * ((i - 1) / (n - 1)) + 0.5) + 0.0
    if v ~= x[#x] then x[#x + 1] = v end
  end
  return x
end

local function add_bars (panel, list, x, heights)
  local edges = { x[1] - 0.5 }
  for i, v in ipairs(x) do edges[i + 1] = v + 0.5 end
  for i, e in ipairs(list) do
    panel.marks[#panel.marks + 1] = { kind = "bars", edges = edges, heights = heights[i], gap = #x * #list <= 60,
                                      place = i, of = #list, series = e.series, name = e.label }
  end
  panel.x.low, panel.x.high, panel.x.integer = edges[1], edges[#edges], true
end

--- Probabilities of whole numbers: bars if they are few, else a line; other curves as steps.
function law_bars.add (panel, list, read, method)
  local low, high = whole_window(list, read)
  local x = whole_places(low, high, panel)
  local heights = law_values.heights(list, method, x)
  local is_log = options.is_log(read, "x")
  local are_apart = x[1] - 0.5 < x[1] and x[#x] + 0.5 > x[#x]   -- numbers above 2^53 have no room for bars
  if method == "prob" and #x * #list <= MOST_BARS and are_apart and not is_log then
    add_bars(panel, list, x, heights)
    return
  end
  local kind = (method == "cdf" or method == "sf") and "steps" or "line"
  for i, e in ipairs(list) do
    local y = law_curves.without_infinities(heights[i])
    panel.marks[#panel.marks + 1] = { kind = kind, x = x, y = y, series = e.series, name = e.label,
                                      filled = method == "prob" and not panel.y.log }
  end
  if not read.range then panel.x.low, panel.x.high = ticks.ends(x[1], x[#x]) end
  panel.x.integer = true
end

return law_bars
