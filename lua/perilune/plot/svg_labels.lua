--- Names of curves in SVG: beside them where there is room, else in lines above.
local Page  = require "perilune.plot.svg_page"
local scene = require "perilune.plot.scene"
local texts = require "perilune.plot.texts"

local at, series_of, width_of, x_of, y_of = Page.at, Page.series_of, Page.width_of, Page.x_of, Page.y_of
local SMALL, CHARACTER = Page.SMALL, Page.CHARACTER
local floor, min = math.floor, math.min

local CLEAR = 40   -- pixels from other curves that are enough

local labels = {}

-- Does a box of text meet a point of any curve, or another text?
local function is_free (label, panel, box, others)
  for _, other in ipairs(others) do
    local meet = label[1] < other[3] and other[1] < label[3]
                 and label[2] < other[4] + 3 and other[2] < label[4] + 3
    if meet then return false end
  end
  for _, mark in ipairs(panel.marks) do
    for i = 1, #mark.x do
      local x, y = x_of(panel, box, mark.x[i]), y_of(panel, box, mark.y[i])
      if x > label[1] - 4 and x < label[3] + 4 and y > label[2] - 2 and y < label[4] + 2 then return false end
    end
  end
  return true
end

-- Boxes beside a point for a text that is so wide: left, top, right, bottom.
local function candidates (x, y, wide)
  local function box (left, lift) return { left, y - lift - SMALL * 0.6, left + wide, y - lift + SMALL * 0.5 } end
  return { box(x + 8, 0), box(x - 8 - wide, 0), box(x - wide / 2, 9), box(x + 6, 10), box(x - 6 - wide, 10) }
end

-- How far point i of a curve is from the others, in pixels; they have the same places, or are far.
local function distance (panel, box, mark, i)
  local y, least = y_of(panel, box, mark.y[i]), CLEAR
  for _, other in ipairs(panel.marks) do
    if other ~= mark and other.x == mark.x and other.y[i] == other.y[i] then
      least = min(least, math.abs(y_of(panel, box, other.y[i]) - y))
    end
  end
  return least
end

-- Points of a curve in the order in which its name may stand beside them: clear of other curves, and high.
local function best_points (panel, box, mark)
  local order, score = {}, {}
  for i = 1, #mark.x do
    local y = y_of(panel, box, mark.y[i])
    if y >= 0 and y <= box.height then
      order[#order + 1] = i
      score[i] = distance(panel, box, mark, i) - CLEAR * y / box.height
    end
  end
  table.sort(order, function (i, j) return score[i] > score[j] or score[i] == score[j] and i < j end)
  return order
end

-- A place for a name beside its curve: to the right of a point, to the left, or above.
local function label_place (panel, box, mark, others)
  local wide = width_of(mark.name)
  for _, i in ipairs(best_points(panel, box, mark)) do
    for _, candidate in ipairs(candidates(x_of(panel, box, mark.x[i]), y_of(panel, box, mark.y[i]), wide)) do
      local is_inside = candidate[1] >= 2 and candidate[3] <= box.width - 2 and candidate[2] >= -6
                        and candidate[4] <= 0.9 * box.height
      if is_inside and is_free(candidate, panel, box, others) then return candidate end
    end
  end
end

--- Names beside their curves, if there is room for all of them: boxes { left, top, right, bottom }.
function labels.direct (panel, box)
  local entries, places = scene.legend(panel), {}
  if #entries < 2 or #entries > 4 then return end
  for _, mark in ipairs(panel.marks) do
    if mark.kind ~= "line" or not mark.name or #mark.x > 1200 or mark.thin then return end
  end
  for i, mark in ipairs(entries) do
    places[i] = label_place(panel, box, mark, places)
    if not places[i] then return end
  end
  return places
end

--- The names of marks in lines: lists of { x, mark, name }.
function labels.rows (marks, width)
  local rows, x = { {} }, 0
  for _, mark in ipairs(marks) do
    local name = texts.shorten(mark.name, floor(width / SMALL / CHARACTER) - 4)
    local wide = 22 + width_of(name) + 16
    if x + wide > width + 16 and #rows[#rows] > 0 then
      rows[#rows + 1], x = {}, 0
    end
    table.insert(rows[#rows], { x, mark, name })
    x = x + wide
  end
  return rows
end

function labels.draw (page, rows, left, top)
  for r, row in ipairs(rows) do
    local y = top + (r - 1) * 17
    for _, entry in ipairs(row) do
      local x, mark = left + entry[1], entry[2]
      if mark.kind == "bars" then
        page:add('<path class="f%d" fill-opacity=".85" d="M%s %sh12v9h-12z"/>', series_of(mark), at(x), at(y - 9))
      else page:add('<path class="l%d" stroke-width="%s" stroke-linecap="round" d="M%s %sh%s"/>', series_of(mark),
                    mark.kind == "points" and "6" or "2.5", at(x + 1), at(y - 4), mark.kind == "points" and "0" or "14")
      end
      page:write(x + 20, y, "ink", "start", entry[3])
    end
  end
end

return labels
