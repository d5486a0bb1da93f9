--- Histograms: hist(x).
local bins      = require "perilune.plot.bins"
local core      = require "perilune.core"
local functions = require "perilune.functions"
local options   = require "perilune.plot.options"
local scene     = require "perilune.plot.scene"
local tensor    = require "perilune.tensor"
local ticks     = require "perilune.plot.ticks"

local histogram = {}

local function percent (part) return ticks.text(100 * part, 100 * part * 0.01) .. " %" end

histogram.percent = percent

local function total (t) return math.tointeger(core.item(t:sum())) end

-- What is not shown, as a note.
local function left_out_note (x, n)
  local nan, infinite = total(functions.isnan(x)), total(functions.isinf(x))
  local parts, kinds = {}, { nan = nan, infinite = infinite, ["not positive"] = core.numel(x) - n - nan - infinite }
  for _, kind in ipairs { "nan", "infinite", "not positive" } do
    if kinds[kind] > 0 then parts[#parts + 1] = string.format("%d %s", kinds[kind], kind) end
  end
  return string.format("left out: %s of %d", table.concat(parts, ", "), core.numel(x))
end

-- A sample: x with NaN for all that is not finite, or not positive if only that can be shown; n others, their weights
-- and the sum of those.
local function sample_of (x, weights, only_positive, notes)
  local good = functions.isfinite(x)
  if only_positive then good = good * x:gt(0) end
  local n = core.numel(x) > 0 and total(good) or 0
  local sample = { x = x, n = n, weights = weights or nil, total = n }
  if n < core.numel(x) then
    notes[#notes + 1] = left_out_note(x, n)
    sample.x = functions.where(good, x, 0 / 0)
  end
  if weights then sample.total = core.item((weights * good):sum()) end
  return sample
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

-- Bins for n draws: edges; free if they are the caller's, whole if each is of a whole number; same, the one value of
-- all draws.
local function choose (x, n, read, is_log)
  if type(read.bins) == "table" then return { edges = read.bins, free = true } end
  local y = is_log and functions.log(x) / math.log(10) or x
  local low, high, spread = bins.window(y)
  if read.window then low, high = read.window[1], read.window[2] end
  if read.range then
    low, high = read.range[1], read.range[2]
    if is_log then low, high = math.log(low, 10), math.log(high, 10) end
    local count = read.bins or select(3, bins.choose(y, n, low, high, spread))
    return { low = low, high = high, n = count, edges = edges_of(low, high, count, is_log) }
  end
  if is_log and high - low < 0.1 then low, high = low - 0.5, high + 0.5 end
  local from, to, count, whole = bins.choose(y, n, low, high, spread, read.bins)
  if is_log then from, to, whole = math.max(from, -307), math.min(to, 307.9), false end
  return { low = from, high = to, n = count, edges = edges_of(from, to, count, is_log), whole = whole,
           same = low == high and not whole and low or nil }
end

local function counted (sample, chosen, is_log)
  if chosen.free then return bins.count_between(sample.x, chosen.edges, sample.weights) end
  local y = is_log and functions.log(sample.x) / math.log(10) or sample.x
  return bins.count(y, chosen.low, chosen.high, chosen.n, sample.weights)
end

local function sum (list)
  local s = 0
  for i = 1, #list do s = s + list[i] end
  return s
end

-- Counts as densities: divided by all there is and by the width of the bin.
local function densities (counts, edges, of)
  local heights = {}
  for i, n in ipairs(counts) do heights[i] = of > 0 and n / of / (edges[i + 1] - edges[i]) or 0 end
  return heights
end

-- The part of a sample that is in no bin.
local function outside (counts, sample)
  local part = sample.total > 0 and 1 - sum(counts) / sample.total or 0
  return part * sample.n >= 1e-3 and part or 0   -- but for rounding
end

local function outside_note (name, part, edges)
  local low, high = edges[1], edges[#edges]
  return string.format("%s of the draws%s outside %s to %s", percent(part), name and " of " .. name or "",
                       ticks.text(low, math.abs(low) * 1e-3), ticks.text(high, math.abs(high) * 1e-3))
end

-- A curve of the density of a law, over a histogram.
local function overlay (law, edges)
  local x, y = require "perilune.plot.law_curves".density_between(law, edges[1], edges[#edges])
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

--- A panel for vectors, in common bins: { vectors }, { weights or false }, options that were read; and how many
-- numbers are finite.
function histogram.panel (vectors, weights, read, default_label)
  local is_log, all, samples, notes, n = options.is_log(read, "x"), {}, {}, {}, 0
  for i, x in ipairs(vectors) do
    samples[i] = sample_of(x, weights[i], is_log, notes)
    all[i], n = samples[i].x, n + samples[i].n
  end
  local panel = { marks = {}, notes = notes, x = options.axis(read, "x") }
  if n == 0 then
    panel.y = options.axis(read, "y")
    table.insert(notes, 1, "nothing to draw: there are no finite numbers")
    return scene.panel(panel), 0
  end
  local chosen = choose(#all == 1 and all[1] or tensor.cat(all), n, read, is_log)
  -- Samples of different sizes, laws and bins of different widths can only be compared as densities.
  local as_density = read.law ~= nil or #vectors > 1 or chosen.free and default_label == nil
  local heights = {}
  for i, sample in ipairs(samples) do
    local counts = counted(sample, chosen, is_log)
    local name = #samples > 1 and (read.names and read.names[i] or tostring(i))
    local part = outside(counts, sample)
    if part > 0 then notes[#notes + 1] = outside_note(name, part, chosen.edges) end
    panel.outside = math.max(panel.outside or 0, part)
    heights[i] = as_density and densities(counts, chosen.edges, sample.total) or counts
  end
  panel.marks = marks_of(vectors, chosen, heights, (#vectors > 1 or read.law) and (read.names or { "draws" }))
  if read.law then panel.marks[#panel.marks + 1] = overlay(read.law, chosen.edges) end
  panel.x.low, panel.x.high = panel.x.low or chosen.edges[1], panel.x.high or chosen.edges[#chosen.edges]
  panel.x.integer, panel.x.at = chosen.whole, chosen.same and { chosen.same }
  panel.y = options.axis(read, "y", {
    integer = not (as_density or weights[1]),
    label = as_density and "density" or default_label or weights[1] and "share" or "count",
  })
  return scene.panel(panel), n
end

return histogram
