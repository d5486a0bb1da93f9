--- Pictures of several quantities against each other: histograms on the diagonal, counts of pairs below it.
local bins      = require "perilune.plot.bins"
local core      = require "perilune.core"
local histogram = require "perilune.plot.histogram"
local functions = require "perilune.functions"
local scene     = require "perilune.plot.scene"
local ticks     = require "perilune.plot.ticks"

local pairs_of = {}

local MOST, CELLS = 5, 24
local ROWS = { 12, 12, 9 }   -- of text for panels of so many quantities, 6 for more

-- Those of the draws that are marked, as points over the counts.
local function marked_points (x, y, marked)
  local places = {}
  for i, is_marked in ipairs(marked:totable()) do
    if is_marked == 1 then places[#places + 1] = i end
  end
  return { kind = "points", x = x[places]:totable(), y = y[places]:totable(), series = 2, glyph = 3, is_large = true }
end

-- Counts of pairs of two columns, where both are finite.
local function crossing (x, y, weights, marked)
  local good = functions.isfinite(x) * functions.isfinite(y)
  x, y = functions.where(good, x, 0 / 0), functions.where(good, y, 0 / 0)
  if core.item(good:sum()) == 0 then
    return scene.panel { notes = { "nothing to draw: there are no finite numbers" } }
  end
  local xs, ys = { ticks.ends(bins.window(x)) }, { ticks.ends(bins.window(y)) }
  local counts, inside = bins.count_pairs(x, y, xs, ys, CELLS, CELLS, weights or nil)
  local all = core.item((weights and weights * good or good):sum())
  local part = 1 - inside / all
  local marks = { scene.cells(counts, xs[1], xs[2], ys[1], ys[2], nil, true) }
  marks[2] = marked and marked_points(x, y, marked)
  return scene.panel { marks = marks, is_square = true,
                       x = { low = xs[1], high = xs[2] }, y = { low = ys[1], high = ys[2] },
                       outside = part > 1e-9 and part or 0 }
end

--- A figure of columns { tensors } with these names; all weights or false. `marked` has 1 for draws that get a mark of
-- their own, whose name is `mark_name`; nil if there are none.
function pairs_of.figure (new, columns, names, weights, title, marked, mark_name)
  local n, panels, notes, outside = math.min(#columns, MOST), {}, {}, 0
  for row = 1, n do
    for column = 1, n do
      local panel = false
      if row == column then
        panel = histogram.panel({ columns[row] }, { weights }, {}, "")
        for _, note in ipairs(panel.notes) do
          if note:find "^left out" then notes[#notes + 1] = names[row] .. ": " .. note end
        end
        panel.y.label, panel.y.at, panel.title, panel.notes = nil, {}, names[row], nil
      elseif row > column then
        panel = crossing(columns[column], columns[row], weights, marked)
        panel.x.label = row == n and names[column] or nil
        panel.title = names[row] .. " by " .. names[column]
      end
      if panel then
        panel.is_plain = true
        outside = math.max(outside, panel.outside or 0)
      end
      panels[#panels + 1] = panel
    end
  end
  if outside > 0 then
    notes[#notes + 1] = string.format("of the draws, %s at most lie outside of a panel", histogram.percent(outside))
  end
  if #columns > n then notes[#notes + 1] = string.format("... and %d more", #columns - n) end
  local legend = marked and n > 1 and { { kind = "points", series = 2, glyph = 3, name = mark_name } } or nil
  return new { kind = "pairs", panels = panels, columns = n, title = title, notes = notes, n = core.numel(columns[1]),
               legend = legend, panel_rows = ROWS[n] }
end

--- Of draws in rows.
function pairs_of.of_draws (new, draws, read, title)
  local columns, names = {}, {}
  for j = 1, core.shape(draws)[2] do
    columns[j] = draws:select(2, j):contiguous()
    names[j] = read.names and read.names[j] or "x[" .. j .. "]"
  end
  local figure = pairs_of.figure(new, columns, names, false, read.title or title)
  table.insert(figure.notes, 1, string.format("%d draws", core.shape(draws)[1]))
  return figure
end

return pairs_of
