--- Histograms: hist(x).
local bins      = require "perilune.plot.bins"
local core      = require "perilune.core"
local functions = require "perilune.functions"
local options   = require "perilune.plot.options"
local scene     = require "perilune.plot.scene"
local ticks     = require "perilune.plot.ticks"

local histogram = {}

local function percent (part) return ticks.text(100 * part, 100 * part * 0.05) .. " %" end

histogram.percent = percent

-- The finite elements of x, positive ones if only those can be shown, with their weights; and how many others there are
-- of each kind.
local function finite (x, weights, only_positive)
  local good = functions.isfinite(x)
  if only_positive then good = good * x:gt(0) end
  local n = math.tointeger(core.item(good:sum()))
  local left_out = {}
  if n < core.numel(x) then
    left_out.nan = math.tointeger(core.item(functions.isnan(x):sum()))
    left_out.infinite = math.tointeger(core.item(functions.isinf(x):sum()))
    left_out["not positive"] = core.numel(x) - n - left_out.nan - left_out.infinite
    local order = (1 - good):argsort():narrow(1, 1, n)   -- those that are good, in their order
    x, weights = x[order], weights and weights[order]
  end
  return x, weights, left_out
end

histogram.finite = finite

--- Sentences about what is not shown.
function histogram.left_out_notes (left_out, of)
  local parts = {}
  for _, kind in ipairs { "nan", "infinite", "not positive" } do
    if (left_out[kind] or 0) > 0 then parts[#parts + 1] = string.format("%d %s", left_out[kind], kind) end
  end
  return #parts > 0 and { string.format("left out: %s of %d", table.concat(parts, ", "), of) } or {}
end

-- Edges from low to high, n bins.
local function edges_of (low, high, n, is_log)
  local edges = {}
  for i = 0, n do
    local x = i == n and high or low + i * ((high - low) / n)
    edges[i + 1] = is_log and 10.0 ^ x or x
  end
  return edges
end

-- The sums of columns of weights, or how many draws there are.
local function total_of (x, weights) return weights and core.item(weights:sum()) or core.numel(x) end

-- Bins for all of these finite vectors: edges, whether they are equal in x (or log x), and whole numbers.
local function choose (x, read, is_log)
  if type(read.bins) == "table" then return { edges = read.bins, free = true } end
  local y = is_log and functions.log(x) / math.log(10) or x
  local low, high, spread = bins.window(y)
  if read.window then low, high = read.window[1], read.window[2] end
  if read.range then
    low, high = read.range[1], read.range[2]
    if is_log then low, high = math.log(low, 10), math.log(high, 10) end
    local n = read.bins or select(3, bins.choose(y, low, high, spread))
    return { low = low, high = high, n = n, edges = edges_of(low, high, n, is_log) }
  end
  if is_log and high - low < 0.1 then low, high = low - 0.5, high + 0.5 end
  local from, to, n, whole = bins.choose(y, low, high, spread, read.bins)
  if is_log then from, to, whole = math.max(from, -307), math.min(to, 307.9), false end
  return { low = from, high = to, n = n, edges = edges_of(from, to, n, is_log), whole = whole }
end

local function count (x, weights, chosen, is_log)
  if chosen.free then return bins.count_between(x, chosen.edges, weights) end
  local y = is_log and functions.log(x) / math.log(10) or x
  return bins.count(y, chosen.low, chosen.high, chosen.n, weights)
end

local function sum (list)
  local s = 0
  for i = 1, #list do s = s + list[i] end
  return s
end

-- Counts as densities: divided by all there is and by the width of the bin.
local function densities (counts, edges, total)
  local heights = {}
  for i, n in ipairs(counts) do heights[i] = n / total / (edges[i + 1] - edges[i]) end
  return heights
end

-- What lies outside of the bins, as a note.
local function outside_note (name, counts, total, edges, are_weights)
  local part = 1 - sum(counts) / total
  if part * total < (are_weights and 1e-9 or 0.5) then return nil end
  local low, high = edges[1], edges[#edges]
  return string.format("%s of the draws%s outside %s to %s", percent(part), name and " of " .. name or "",
                       ticks.text(low, math.abs(low) * 1e-3), ticks.text(high, math.abs(high) * 1e-3))
end

-- A curve of the density of a law, over a histogram.
local function overlay (law, edges)
  local laws = require "perilune.plot.laws"
  local x, y = laws.density_between(law, edges[1], edges[#edges])
  return { kind = "line", x = x, y = y, series = 2, solid = true, name = tostring(law) }
end

local function marks_of (vectors, chosen, heights, names)
  local marks = {}
  for i in ipairs(vectors) do
    if #vectors == 1 then
      marks[i] = { kind = "bars", edges = chosen.edges, heights = heights[i], gap = chosen.whole, place = 1, of = 1,
                   series = 1, name = names and names[i] }
    else   -- outlines
      local y = { table.unpack(heights[i]) }
      y[#y + 1] = 0
      local x = { chosen.edges[1], table.unpack(chosen.edges) }
      table.insert(y, 1, 0)
      marks[i] = { kind = "steps", x = x, y = y, series = i, name = names and names[i] or tostring(i), filled = true }
    end
  end
  return marks
end

--- A panel for vectors, in common bins: { vectors }, { weights or false }, options that were read.
function histogram.panel (vectors, weights, read, default_label)
  local is_log, all, good, notes = options.is_log(read, "x"), {}, {}, {}
  for i, x in ipairs(vectors) do
    local kept, w, left_out = finite(x:reshape(-1), weights[i] or nil, is_log)
    good[i] = { kept, w }
    all[i] = kept
    for _, note in ipairs(histogram.left_out_notes(left_out, core.numel(x))) do notes[#notes + 1] = note end
  end
  local x = #all == 1 and all[1] or require "perilune.tensor".cat(all)
  local panel = { marks = {}, notes = notes, x = options.axis(read, "x") }
  if core.numel(x) == 0 then
    panel.y = options.axis(read, "y")
    table.insert(notes, 1, "nothing to draw: there are no finite numbers")
    return scene.panel(panel), 0
  end
  local chosen = choose(x, read, is_log)
  -- Samples of different sizes, laws and bins of different widths can only be compared as densities.
  local as_density = read.law ~= nil or #vectors > 1 or chosen.free and default_label == nil
  local heights = {}
  for i, one in ipairs(good) do
    local total = total_of(one[1], one[2])
    local counts = core.numel(one[1]) > 0 and count(one[1], one[2], chosen, is_log) or {}
    for b = 1, #chosen.edges - 1 do counts[b] = counts[b] or 0 end
    notes[#notes + 1] = total > 0 and outside_note(#good > 1 and (read.names and read.names[i] or tostring(i)), counts,
                                                   total, chosen.edges, one[2] ~= nil) or nil
    heights[i] = as_density and densities(counts, chosen.edges, total) or counts
  end
  panel.marks = marks_of(vectors, chosen, heights, (#vectors > 1 or read.law) and (read.names or { "draws" }))
  if read.law then panel.marks[#panel.marks + 1] = overlay(read.law, chosen.edges) end
  panel.x.low, panel.x.high = panel.x.low or chosen.edges[1], panel.x.high or chosen.edges[#chosen.edges]
  panel.x.integer = chosen.whole
  panel.y = options.axis(read, "y", {
    integer = not (as_density or weights[1]),
    label = as_density and "density" or default_label or weights[1] and "share" or "count",
  })
  return scene.panel(panel), core.numel(x)
end

return histogram
