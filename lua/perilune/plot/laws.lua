--- Distributions of single numbers: plot(d), plot{p, q}. Curves and bars, what lies outside, divergences of two.
local attempt    = require "perilune.attempt"
local histogram  = require "perilune.plot.histogram"
local law_bars   = require "perilune.plot.law_bars"
local law_curves = require "perilune.plot.law_curves"
local law_values = require "perilune.plot.law_values"
local options    = require "perilune.plot.options"
local scene      = require "perilune.plot.scene"
local show       = require "perilune.show"
local ticks      = require "perilune.plot.ticks"

local laws = {}

local SERIES = 8             -- curves in one picture
local WORTH_SAYING = 0.005   -- of the mass, outside

local LABELS = { prob = "density", cdf = "P(X <= x)", sf = "P(X > x)", log_prob = "log density" }

-- The mass outside of a window, where it is worth saying.
local function outside_notes (list, low, high, notes)
  for _, e in ipairs(list) do
    local outside = law_values.outside(e, low, high)
    if outside and outside > WORTH_SAYING then
      notes[#notes + 1] = string.format("%s of the mass%s lies outside", histogram.percent(outside),
                                        law_curves.of_which(e, list))
    end
  end
end

-- Both divergences of two laws, as far as they are to be had.
local function divergence (p, q, names)
  local ok, found = attempt.call("kl_", " has no ", require "perilune.kl".kl_explain, p, q)
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
    law_values.check_single(d)
    local label = #list == 1 and not (read.names and read.names[1]) and "" or names[i][2]
    count = count + law_values.batch_size(d)
    for _, e in ipairs(law_values.elements(d, label, read.range, SERIES - #all)) do
      e.series, e.label, e.short = #all + 1, e.name, names[i][1]
      all[#all + 1] = e
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
    if law_values.is_discrete(d) and method == "prob" then return "probability" end
    if law_values.is_discrete(d) and method == "log_prob" then return "log probability" end
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
    local group = law_values.is_discrete(e.law) and discrete or continuous
    group[#group + 1] = e
  end
  if #continuous > 0 then
    panel.x.low, panel.x.high = law_curves.window(all, read, panel.x.log)
    law_curves.add(panel, continuous, read, method)
  end
  if #discrete > 0 then
    local low, high = panel.x.low, panel.x.high
    law_bars.add(panel, discrete, read, method)
    if #continuous > 0 then panel.x.low, panel.x.high = math.min(low, panel.x.low), math.max(high, panel.x.high) end
  end
  panel = scene.panel(panel)
  outside_notes(all, panel.x.low, panel.x.high, panel.notes)
  if count > #all then panel.notes[#panel.notes + 1] = string.format("... and %d more", count - #all) end
  panel.notes[#panel.notes + 1] = divergence_note(list, { names[1][1], names[2] and names[2][1] })
  return panel
end

return laws
