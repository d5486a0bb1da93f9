--- Distributions as curves and bars: plot(d), plot{p, q}.
--
-- The window holds 99.8 % of a law, but never goes further than REACH interquartile ranges from its median, which for
-- heavy tails (Cauchy) is less; what lies outside is said. Curves are computed at even places and at quantiles, so
-- that narrow peaks are met, and on both sides of the ends of supports.
local attempt  = require "perilune.attempt"
local core     = require "perilune.core"
local curves   = require "perilune.plot.curves"
local errors   = require "perilune.errors"
local gradient = require "perilune.gradient"
local histogram = require "perilune.plot.histogram"
local options  = require "perilune.plot.options"
local scene    = require "perilune.plot.scene"
local show     = require "perilune.show"
local ticks    = require "perilune.plot.ticks"

local raise = errors.raise

local laws = {}

local TAIL, REACH = 0.001, 6
local EVEN, LEVELS = 321, 64      -- places of a curve: even ones, and quantiles of each law
local MOST_BARS, MOST_VALUES = 100, 300
local SERIES = 8                  -- curves in one picture
local WORTH_SAYING = 0.005        -- of the mass, outside
local LARGEST = 8e307             -- end of a window
local DRAWS = 4000                -- of a law without quantiles

local LABELS = { prob = "density", cdf = "P(X <= x)", sf = "P(X > x)", log_prob = "log density" }


-- What laws say ------------------------------------------------------------------------------

-- A tensor with a dimension at the end for each of a batch's.
local function beside (x, d)
  for _ = 1, #d.batch_shape do x = x:unsqueeze(-1) end
  return x
end

-- Values of a method at each of the places: a list for each element of the batch.
local function evaluate (d, method, x)
  local value = gradient.no_grad(function () return d[method](d, beside(x, d)) end)
  return value:detach():reshape(core.numel(x), -1):transpose():contiguous():totable()
end

-- An end of the support for each of n elements of a batch.
local function support_end (d, name, n)
  local value, list = (d.support or {})[name], {}
  if core.is_tensor(value) then
    value = value:detach()
    if core.numel(value) == n then return value:reshape(-1):totable() end
    value = core.item((name == "low") and value:min() or value:max())
  end
  for i = 1, n do list[i] = type(value) == "number" and value or (name == "low" and -math.huge or math.huge) end
  return list
end

-- Quantiles at these levels, by element of the batch. A class without icdf is asked for draws; one without those is
-- shown where it is told to be.
local function quantiles (d, levels, range)
  local q = core.tensor(levels)
  local found = attempt.method(d, "icdf", beside(q, d))
  if found then return found:detach():reshape(#levels, -1):transpose():contiguous():totable() end
  local draws = attempt.method(d, "sample", DRAWS, core.rng(1))
  if not draws and not range then
    raise("plot: %s has neither icdf nor sample: give range = {low, high}", tostring(d))
  elseif not draws then
    draws = beside(core.linspace(range[1], range[2], DRAWS), d):expand(DRAWS, table.unpack(d.batch_shape))
  end
  return draws:reshape(DRAWS, -1):quantile(q, 1):transpose():contiguous():totable()
end

local function levels_of ()
  local levels = { TAIL, 0.25, 0.5, 0.75, 1 - TAIL }
  for i = 1, LEVELS do levels[#levels + 1] = i / (LEVELS + 1) end
  return levels
end

-- Each element of a batch: its law and index there, its window (low, high), the ends of its support (first, last),
-- quantiles, and a name.
local function elements (d, name, range)
  local list = gradient.no_grad(function () return quantiles(d, levels_of(), range) end)
  local n = #list
  local lows, highs, found = support_end(d, "low", n), support_end(d, "high", n), {}
  for i, q in ipairs(list) do
    local reach = REACH * (q[4] - q[2])
    local low, high = q[1], q[5]
    if reach > 0 then low, high = math.max(low, q[3] - reach), math.min(high, q[3] + reach) end
    if low - lows[i] < 0.25 * (high - low) then low = lows[i] end
    if highs[i] - high < 0.25 * (high - low) then high = highs[i] end
    found[i] = { law = d, index = i, low = low, high = high, first = lows[i], last = highs[i], at = q,
                 name = n > 1 and name .. "[" .. i .. "]" or name }
  end
  return found
end

local function is_discrete (d) return d.support ~= nil and d.support.is_discrete == true end

local function check_single (d)
  if #d.event_shape > 0 then
    raise("plot: laws that share a picture must be of single numbers, got %s with events of shape %s", tostring(d),
          show.shape(d.event_shape))
  end
end


-- Windows ------------------------------------------------------------------------------------

-- The window of all curves; a little more than the support, where that ends within.
local function window (list, read, is_log)
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

local function of_which (e, list) return #list > 1 and " of " .. e.short or "" end

-- The mass outside of a window, where it is worth saying.
local function outside_notes (list, low, high, notes)
  local seen = {}
  for _, e in ipairs(list) do
    local x = core.tensor { is_discrete(e.law) and math.ceil(low) - 1 or low, high }
    if not seen[e.law] then
      seen[e.law] = attempt.method(e.law, "cdf", beside(x, e.law))
      seen[e.law] = seen[e.law] and seen[e.law]:detach():reshape(2, -1):transpose():contiguous():totable()
    end
    local cdf = seen[e.law] and seen[e.law][e.index]
    local outside = cdf and cdf[1] + 1 - cdf[2] or 0
    if outside > WORTH_SAYING then
      notes[#notes + 1] = string.format("%s of the mass%s lies outside", histogram.percent(outside),
                                        of_which(e, list))
    end
  end
end


-- Curves ---------------------------------------------------------------------------------------

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

-- The values of all elements at these places: lists in their order.
local function heights_of (list, method, x)
  local of_law, found = {}, {}
  for i, e in ipairs(list) do
    of_law[e.law] = of_law[e.law] or evaluate(e.law, method, core.tensor(x))
    found[i] = of_law[e.law][e.index]
  end
  return found
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
                                                    of_which(e, list), ticks.text(e.first))
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

-- Values that no axis can show do not count.
local function without_infinities (y)
  local list = {}
  for i = 1, #y do list[i] = y[i] > -math.huge and y[i] or 0 / 0 end
  return list
end

local function add_curves (panel, list, read, method)
  local is_log = options.is_log(read, "x")
  local low, high = panel.x.low, panel.x.high
  list = add_atoms(panel, list)
  if #list == 0 then return end
  local x, even = places(list, low, high, is_log), {}
  for _, v in ipairs(curves.grid(low, high, EVEN, is_log):totable()) do even[v] = true end
  local heights = heights_of(list, method, x)
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
    local y = method == "log_prob" and without_infinities(heights[i]) or heights[i]
    panel.marks[#panel.marks + 1] = { kind = "line", x = x, y = y, series = e.series, name = e.label,
                                      filled = method == "prob" and not panel.y.log }
  end
end

--- x and the density of a law of single numbers between two numbers, for a histogram.
function laws.density_between (d, low, high)
  check_single(d)
  if #d.batch_shape > 0 then
    raise("hist: law must be a single distribution, got a batch of shape %s", show.shape(d.batch_shape))
  end
  local list = elements(d, "", { low, high })
  if is_discrete(d) then
    local x = {}
    for v = math.ceil(low), math.min(math.floor(high), math.ceil(low) + 1000) do x[#x + 1] = v end
    return x, heights_of(list, "prob", x)[1]
  end
  local x = places(list, low, high, false)
  return x, heights_of(list, "prob", x)[1]
end


-- Bars -----------------------------------------------------------------------------------------

-- The whole numbers to show, the first and the last.
local function whole_window (list, read)
  if read.range then return math.ceil(read.range[1]), math.floor(read.range[2]) end
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

-- Probabilities of whole numbers: bars if they are few, else a line; other curves as steps.
local function add_discrete (panel, list, read, method)
  local low, high = whole_window(list, read)
  local x = whole_places(low, high, panel)
  local heights = heights_of(list, method, x)
  local is_log = options.is_log(read, "x")
  local are_apart = x[1] - 0.5 < x[1] and x[#x] + 0.5 > x[#x]   -- numbers above 2^53 have no room for bars
  if method == "prob" and #x * #list <= MOST_BARS and are_apart and not is_log then
    add_bars(panel, list, x, heights)
    return
  end
  local kind = (method == "cdf" or method == "sf") and "steps" or "line"
  for i, e in ipairs(list) do
    panel.marks[#panel.marks + 1] = { kind = kind, x = x, y = without_infinities(heights[i]), series = e.series,
                                      name = e.label, filled = method == "prob" and not panel.y.log }
  end
  if not read.range then panel.x.low, panel.x.high = ticks.ends(x[1], x[#x]) end
  panel.x.integer = true
end


-- The picture --------------------------------------------------------------------------------------

-- Both divergences of two laws, as far as they are to be had.
local function divergence (p, q, names)
  local ok, found = attempt.call("kl_", nil, require "perilune.kl".kl_explain, p, q)
  local value = ok and found.value
  if type(value) ~= "number" then return nil end
  local text = string.format("KL(%s || %s) = %s", names[1], names[2],
                             value - value == 0 and show.format("%.4g", value) or ticks.text(value))
  if found.method == "monte carlo" and type(found.error) == "number" then
    text = text .. show.format(" +- %.1g", found.error)
  end
  return text
end

local function divergence_note (list, names)
  if #list ~= 2 or #list[1].batch_shape + #list[2].batch_shape > 0 then return nil end
  local forth, back = divergence(list[1], list[2], names), divergence(list[2], list[1], { names[2], names[1] })
  return forth and back and forth .. ",  " .. back or nil
end

-- How laws are called: { short, long } for each.
local function called (list, read)
  local names = {}
  for i, d in ipairs(list) do
    local own = read.names and read.names[i]
    local letter = #list == 2 and ({ "p", "q" })[i]
    names[i] = { own or letter or tostring(d), own or letter and letter .. " = " .. tostring(d) or tostring(d) }
  end
  return names
end

-- Elements of all laws, not more than can be told apart.
local function all_elements (list, names, read)
  local all, count = {}, 0
  for i, d in ipairs(list) do
    check_single(d)
    local label = #list == 1 and not (read.names and read.names[1]) and "" or names[i][2]
    for _, e in ipairs(elements(d, label, read.range)) do
      count = count + 1
      if #all < SERIES then
        e.series, e.label, e.short = #all + 1, e.name, names[i][1]
        all[#all + 1] = e
      end
    end
  end
  if #all == 1 and not read.names then all[1].label = nil end
  if #list == 1 and read.names then
    for i, e in ipairs(all) do e.label = read.names[i] or e.label end
  end
  return all, count
end

-- The label of the y axis.
local function label_of (list, method)
  for _, d in ipairs(list) do
    if is_discrete(d) and method == "prob" then return "probability" end
    if is_discrete(d) and method == "log_prob" then return "log probability" end
  end
  return LABELS[method]
end

--- A panel of laws of single numbers.
function laws.panel (list, read)
  local method = read.what or "prob"
  local names = called(list, read)
  local all, count = all_elements(list, names, read)
  local panel = { marks = {}, notes = {}, x = options.axis(read, "x"),
                  y = options.axis(read, "y", { label = label_of(list, method) }) }
  local is_probability = method == "cdf" or method == "sf"
  if is_probability and not panel.y.log and not read.yrange then panel.y.low, panel.y.high = 0, 1 end
  local discrete, continuous = {}, {}
  for _, e in ipairs(all) do
    local group = is_discrete(e.law) and discrete or continuous
    group[#group + 1] = e
  end
  if #continuous > 0 then
    panel.x.low, panel.x.high = window(all, read, panel.x.log)
    add_curves(panel, continuous, read, method)
  end
  if #discrete > 0 then
    local low, high = panel.x.low, panel.x.high
    add_discrete(panel, discrete, read, method)
    if #continuous > 0 then panel.x.low, panel.x.high = math.min(low, panel.x.low), math.max(high, panel.x.high) end
  end
  panel = scene.panel(panel)
  outside_notes(all, panel.x.low, panel.x.high, panel.notes)
  if count > #all then panel.notes[#panel.notes + 1] = string.format("... and %d more", count - #all) end
  panel.notes[#panel.notes + 1] = divergence_note(list, { names[1][1], names[2] and names[2][1] })
  return panel
end

return laws
