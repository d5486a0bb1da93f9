--- Continuous laws as curves. They are computed at even places and at quantiles, so that narrow peaks are met, and on
-- both sides of the ends of supports.
local curves     = require "perilune.plot.curves"
local law_values = require "perilune.plot.law_values"
local options    = require "perilune.plot.options"
local raise      = require "perilune.errors".raise
local show       = require "perilune.show"
local ticks      = require "perilune.plot.ticks"

local law_curves = {}

local EVEN = 321   -- places of a curve, beside quantiles

--- The window of all curves; a little more than the support, where that ends within.
function law_curves.window (list, read, is_log)
  if read.range then return read.range[1], read.range[2] end
  local low, high = math.huge, -math.huge
  for _, e in ipairs(list) do low, high = math.min(low, e.low), math.max(high, e.high) end
  low, high = ticks.ends(low, high)
  if is_log then
    for _, e in ipairs(list) do
      if low <= 0 and e.at[1] > 0 then low = e.at[1] end
    end
    if high <= 0 then raise "plot: a logarithmic axis has positive numbers only, and this law has none" end
    if low <= 0 then low = high * 1e-4 end
    return low < high and low or high / 10, high
  end
  local room = 0.04 * (high - low)
  local ends_low, ends_high = false, false
  for _, e in ipairs(list) do
    ends_low, ends_high = ends_low or e.first == low, ends_high or e.last == high
  end
  return ends_low and low - room or low, ends_high and high + room or high
end

--- " of p", where there are several.
function law_curves.of_which (e, list) return #list > 1 and " of " .. e.short or "" end

-- Places for curves between low and high: even ones, quantiles, both sides of ends of supports; in order.
local function places (list, low, high, is_log)
  local all = curves.grid(low, high, EVEN, is_log):totable()
  all[1], all[EVEN] = low, high
  local function add (x)
    if x > low and x < high then all[#all + 1] = x end
  end
  for _, e in ipairs(list) do
    local tiny = 1e-7 * (high - low)
    for _, x in ipairs(e.at) do add(x) end
    for _, x in ipairs { e.first, e.last } do
      if x > low - tiny and x < high + tiny then
        add(x - tiny) add(x) add(x + tiny)
      end
    end
  end
  table.sort(all)
  local kept = {}
  for i = 1, #all do
    if all[i] ~= kept[#kept] then kept[#kept + 1] = all[i] end
  end
  return kept
end

local function quantile_of (y, q)
  local finite = {}
  for i = 1, #y do
    if y[i] - y[i] == 0 then finite[#finite + 1] = y[i] end
  end
  table.sort(finite)
  return finite[1 + math.floor(q * (#finite - 1))]
end

-- Where curves go to infinity; and how high the picture is then: as high as other curves, and as most of this one.
local function poles (heights, x, even)
  local cuts, top = {}, 0
  for _, y in ipairs(heights) do
    local is_pole = false
    for i = 1, #y do
      if y[i] == math.huge then
        cuts[#cuts + 1], is_pole = x[i], true
      end
    end
    local highest = 0
    for i = 1, #y do
      if y[i] > highest and y[i] < math.huge then highest = y[i] end
    end
    if is_pole then
      local on_even = {}
      for i = 1, #y do
        if even[x[i]] then on_even[#on_even + 1] = y[i] end
      end
      highest = 1.25 * (quantile_of(on_even, 0.96) or 1)
    end
    top = math.max(top, highest)
  end
  return cuts, top
end

-- Laws whose mass is at one place: a line up to 1.
local function add_atoms (panel, list)
  local others = {}
  for _, e in ipairs(list) do
    if e.first == e.last and e.first - e.first == 0 then
      panel.marks[#panel.marks + 1] = { kind = "line", x = { e.first, e.first }, y = { 0, 1 }, series = e.series,
                                        name = e.label }
      panel.notes[#panel.notes + 1] = string.format("all mass%s is at %s: the line is a probability, no density",
                                                    law_curves.of_which(e, list), ticks.text(e.first))
    else others[#others + 1] = e
    end
  end
  return others
end

-- A curve that comes from nothing to a pole is not drawn on its way there: it would be a second line beside the pole.
local function leave_at_poles (y)
  for i = 2, #y - 1 do
    if y[i] == math.huge then
      if y[i - 1] == 0 then y[i - 1] = 0 / 0 end
      if y[i + 1] == 0 then y[i + 1] = 0 / 0 end
    end
  end
end

--- Values that no axis can show do not count.
function law_curves.without_infinities (y)
  local list = {}
  for i = 1, #y do list[i] = y[i] > -math.huge and y[i] or 0 / 0 end
  return list
end

--- Adds curves of continuous laws.
function law_curves.add (panel, list, read, method)
  local is_log = options.is_log(read, "x")
  local low, high = panel.x.low, panel.x.high
  list = add_atoms(panel, list)
  if #list == 0 then return end
  local x, even = places(list, low, high, is_log), {}
  for _, v in ipairs(curves.grid(low, high, EVEN, is_log):totable()) do even[v] = true end
  local heights = law_values.heights(list, method, x)
  if method == "prob" and not read.yrange then
    local cuts, top = poles(heights, x, even)
    if #cuts > 0 then
      panel.cuts = cuts
      for _, y in ipairs(heights) do leave_at_poles(y) end
      if not panel.y.log then panel.y.low, panel.y.high = 0, select(2, ticks.widen(0, top, 5)) end
      panel.notes[#panel.notes + 1] = "the density goes to infinity where it is cut off"
    end
  end
  for i, e in ipairs(list) do
    local y = method == "log_prob" and law_curves.without_infinities(heights[i]) or heights[i]
    panel.marks[#panel.marks + 1] = { kind = "line", x = x, y = y, series = e.series, name = e.label,
                                      filled = method == "prob" and not panel.y.log }
  end
end

--- x and the density of a law of single numbers between two numbers, for a histogram.
function law_curves.density_between (d, low, high)
  law_values.check_single(d)
  if #d.batch_shape > 0 then
    raise("hist: law must be a single distribution, got a batch of shape %s", show.shape(d.batch_shape))
  end
  local list = law_values.elements(d, "", { low, high }, 1)
  if law_values.is_discrete(d) then
    local x = {}
    for v = math.ceil(low), math.min(math.floor(high), math.ceil(low) + 1000) do x[#x + 1] = v end
    return x, law_values.heights(list, "prob", x)[1]
  end
  local x = places(list, low, high, false)
  return x, law_values.heights(list, "prob", x)[1]
end

return law_curves
