--- Marks as SVG: draw.line(page, panel, box, mark) and so on, one function for each kind.
local Page  = require "perilune.plot.svg_page"
local scene = require "perilune.plot.scene"

local at, series_of, x_of, y_of, LEVELS = Page.at, Page.series_of, Page.x_of, Page.y_of, Page.LEVELS
local floor, max, min = math.floor, math.max, math.min

-- Far outside, and finite.
local function bounded (v, size) return max(-2 * size, min(3 * size, v)) end

-- Points of a line in pixels, in pieces that NaN separates; and stretches of nothing, if it is not to be drawn.
local function pieces (panel, box, xs, ys, without_nothing)
  local found, piece = {}, {}
  for i = 1, #xs do
    local x, y = x_of(panel, box, xs[i]), y_of(panel, box, ys[i])
    local is_nothing = without_nothing and ys[i] == 0 and (i == 1 or ys[i - 1] == 0)
    if (x ~= x or y ~= y or is_nothing) and #piece > 0 then found[#found + 1], piece = piece, {} end
    if x == x and y == y then piece[#piece + 1] = { bounded(x, box.width), bounded(y, box.height) } end
  end
  if #piece > 0 then found[#found + 1] = piece end
  return found
end

local function path (piece)
  local parts = {}
  for i, p in ipairs(piece) do parts[i] = (i == 1 and "M" or i == 2 and "L" or " ") .. at(p[1]) .. " " .. at(p[2]) end
  return table.concat(parts)
end

local draw = {}

local function draw_line (page, panel, box, mark, xs, ys)
  local series, strokes, areas = series_of(mark), {}, {}
  for _, piece in ipairs(pieces(panel, box, xs, ys, mark.filled)) do
    if #piece > 1 then strokes[#strokes + 1] = path(piece)
    elseif not mark.filled then strokes[#strokes + 1] = path { piece[1], piece[1] }
    end
    if mark.filled and #piece > 1 then
      areas[#areas + 1] = path(piece) .. "L" .. at(piece[#piece][1]) .. " " .. at(box.height)
                          .. "L" .. at(piece[1][1]) .. " " .. at(box.height) .. "z"
    end
  end
  if #strokes == 0 then return end
  if #areas > 0 then page:add('<path class="f%d" fill-opacity=".13" d="%s"/>', series, table.concat(areas)) end
  local look = 'stroke-width="2"'
  if mark.series == 0 then look = 'stroke-width="1" stroke-dasharray="4 3"'
  elseif mark.thin or #xs > 1200 then look = 'stroke-width="0.8" stroke-opacity=".8"'
  end
  page:add('<path class="l%d" fill="none" %s stroke-linejoin="round" stroke-linecap="round" d="%s"/>', series, look,
           table.concat(strokes))
end

function draw.line (page, panel, box, mark) draw_line(page, panel, box, mark, mark.x, mark.y) end

function draw.steps (page, panel, box, mark)
  local x, y = scene.corners(mark)
  draw_line(page, panel, box, mark, x, y)
end

function draw.points (page, panel, box, mark)
  local parts, n = {}, #mark.x
  for i = 1, n do
    local x, y = x_of(panel, box, mark.x[i]), y_of(panel, box, mark.y[i])
    local is_inside = x >= 0 and x <= box.width and y >= 0 and y <= box.height
    if is_inside then parts[#parts + 1] = "M" .. at(x) .. " " .. at(y) .. "h0" end
  end
  if #parts == 0 then return end
  page:add('<path class="l%d" fill="none" stroke-width="%s" stroke-opacity="%s" stroke-linecap="round" d="%s"/>',
           series_of(mark), n > 500 and "3" or "5", n > 500 and not mark.is_large and ".5" or ".8",
           table.concat(parts))
end

-- Left and right of a bar between two edges in pixels.
local function sides (mark, from, to)
  local wide = to - from
  if not mark.gap then
    local gap = wide > 4 and 0.5 or 0
    return from + gap, to - gap
  end
  local group = 0.76 * wide
  local each = group / mark.of
  local left = from + 0.12 * wide + (mark.place - 1) * each
  local most = 48                                         -- few bars are not walls
  if mark.of == 1 and each > most then return (from + to - most) / 2, (from + to + most) / 2 end
  return left, left + each
end

-- Bars; what is nothing has none, and what is more can be seen.
function draw.bars (page, panel, box, mark)
  local parts = {}
  for i, height in ipairs(mark.heights) do
    if height > 0 then
      local left, right = sides(mark, x_of(panel, box, mark.edges[i]), x_of(panel, box, mark.edges[i + 1]))
      left, right = bounded(left, box.width), bounded(right, box.width)
      local top = max(-1, min(box.height - 0.8, y_of(panel, box, height)))
      parts[#parts + 1] = string.format("M%s %sh%sV%sh%sz", at(left), at(top), at(right - left), at(box.height),
                                        at(left - right))
    end
  end
  if #parts > 0 then page:add('<path class="f%d" fill-opacity=".85" d="%s"/>', series_of(mark), table.concat(parts)) end
end

-- The shade of a value, 0 for none.
local function level_of (mark, value)
  if value ~= value or mark.most <= mark.least then return 0 end
  local by = mark.most - mark.least < math.huge and 1 or 0.5   -- differences of halves are finite
  local share = (by * value - by * mark.least) / (by * mark.most - by * mark.least)
  local level = floor(share * LEVELS + 0.5)
  if mark.counts and value > 0 or mark.least < 0 then level = max(1, level) end   -- white is nothing
  return max(0, min(LEVELS, level))
end

-- Cells of one shade are one path; those beside each other one rectangle.
function draw.cells (page, panel, box, mark)
  local paths = {}
  for j, row in ipairs(mark.values) do
    local y1, y2 = y_of(panel, box, mark.ys[j]), y_of(panel, box, mark.ys[j + 1])
    local i = 1
    while i <= #row do
      local level, first = level_of(mark, row[i]), i
      while i <= #row and level_of(mark, row[i]) == level do i = i + 1 end
      if level > 0 then
        local x1, x2 = x_of(panel, box, mark.xs[first]), x_of(panel, box, mark.xs[i])
        paths[level] = paths[level] or {}
        table.insert(paths[level], string.format("M%s %sH%sV%sH%sz", at(x1), at(y1), at(x2), at(y2), at(x1)))
      end
    end
  end
  for level = 1, LEVELS do
    if paths[level] then
      page:add('<path class="heat" fill-opacity="%s" shape-rendering="crispEdges" d="%s"/>', Page.opacity(level),
               table.concat(paths[level]))
    end
  end
end

function draw.spans (page, panel, box, mark)
  local series = series_of(mark)
  for j, row in ipairs(mark.rows) do
    local y = y_of(panel, box, j)
    local function x (v) return bounded(x_of(panel, box, v), box.width) end
    local function bar (span, look)
      page:add('<path class="l%d" %s d="M%s %sH%s"/>', series, look, at(x(span[1])), at(y), at(x(span[2])))
    end
    bar(row.outer, 'stroke-width="1.5"')
    bar(row.inner, 'stroke-width="5" stroke-linecap="round"')
    page:add('<circle class="back l%d" stroke-width="2" cx="%s" cy="%s" r="4"/>', series, at(x(row.middle)), at(y))
  end
end

return draw
