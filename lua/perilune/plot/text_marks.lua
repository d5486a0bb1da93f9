--- Marks on a canvas of characters: draw.line(canvas, panel, mark, glyphs) and so on, one function for each kind.
local scene = require "perilune.plot.scene"
local ticks = require "perilune.plot.ticks"

local floor, max, min = math.floor, math.max, math.min

local FEW_POINTS = 100

local function places (axis, list)
  local found = {}
  for i = 1, #list do
    local place = ticks.place(axis, list[i])
    found[i] = axis.down and 1 - place or place
  end
  return found
end

local draw = {}

function draw.line (canvas, panel, mark)
  canvas:line(places(panel.x, mark.x), places(panel.y, mark.y), mark)
end

function draw.steps (canvas, panel, mark)
  local x, y = scene.corners(mark)
  canvas:line(places(panel.x, x), places(panel.y, y), mark)
end

--- The character of a point.
function draw.bullet (mark, glyphs) return glyphs.points[((mark.glyph or mark.series) - 1) % #glyphs.points + 1] end

-- Few points are large.
function draw.points (canvas, panel, mark, glyphs)
  local x, y = places(panel.x, mark.x), places(panel.y, mark.y)
  local bullet = (mark.is_large or #x <= FEW_POINTS) and draw.bullet(mark, glyphs)
  for i = 1, #x do
    if bullet then canvas:bullet(x[i], y[i], bullet, mark.series) else canvas:point(x[i], y[i], mark.series) end
  end
end

-- A column of blocks up to a place: at least the smallest block, if it is more than nothing.
local function column_of_blocks (canvas, column, place, series, glyphs, body)
  local n = #glyphs.parts
  local filled = max(1, floor(min(place, 1) * canvas.rows * n + 0.5))
  local whole = floor(filled / n)
  for row = 1, min(whole, canvas.rows) do canvas:put(column, row, body, series) end
  if filled % n > 0 then canvas:put(column, whole + 1, glyphs.parts[filled % n], series) end
end

-- Columns first to last of a bar between two edges. Bars of a group share them.
local function columns_of (canvas, mark, from, to)
  local first, last = floor(from * canvas.columns + 0.5) + 1, floor(to * canvas.columns + 0.5)
  local wide = last - first + 1
  if not mark.gap then return first, max(first, last) end
  if mark.of == 1 then
    if wide >= 3 then return first + 1, last - 1 end
    return max(first, last), max(first, last)
  end
  local each = max(1, floor((wide - 1) / mark.of))
  first = first + (mark.place - 1) * each
  return first, first + each - 1
end

function draw.bars (canvas, panel, mark, glyphs)
  local body, highest = glyphs.bodies[(mark.place - 1) % #glyphs.bodies + 1], {}
  for i, height in ipairs(mark.heights) do
    local place = height > 0 and ticks.place(panel.y, height) or 0
    if place > 0 then
      local first, last = columns_of(canvas, mark, ticks.place(panel.x, mark.edges[i]),
                                     ticks.place(panel.x, mark.edges[i + 1]))
      for column = max(1, first), min(canvas.columns, last) do
        highest[column] = max(highest[column] or 0, place)   -- of bars that share a column
      end
    end
  end
  for column, place in pairs(highest) do column_of_blocks(canvas, column, place, mark.series, glyphs, body) end
end

-- The first and the last cell, of those between edges, that lie in the n-th of `of` equal parts of an axis.
local function cells_in (axis, edges, n, of)
  local low, high = edges[1], edges[#edges]
  local size = axis.high - axis.low
  local from, to = axis.low + (n - 1) / of * size, axis.low + n / of * size
  local k = #edges - 1
  local first, last = (from - low) / (high - low) * k, (to - low) / (high - low) * k
  if last <= 0 or first >= k then return 1, 0 end
  first, last = floor(first + 0.5) + 1, floor(last + 0.5)
  if last < first then first = floor(((from + to) / 2 - low) / (high - low) * k) + 1 last = first end
  return max(1, first), min(k, last)
end

-- The glyph of a value: none for the least, and a faint one for whatever was counted.
local function shade (mark, value, glyphs)
  local n = #glyphs.shades
  local level = floor((value - mark.least) / (mark.most - mark.least) * (n + 1))
  if mark.counts and value > 0 then level = max(1, level) end
  level = min(n, level)
  if level >= 1 then return glyphs.shades[level] end
end

-- Of the cells that share a character the mean, or the largest count; nothing if there is none.
local function value_of (mark, from, to, first, last)
  local sum, n, most = 0, 0, 0
  for j = first, last do
    for i = from, to do
      local v = mark.values[j][i]
      if v == v then sum, n, most = sum + v, n + 1, math.max(most, v) end
    end
  end
  if n > 0 then return mark.counts and most or sum / n end
end

function draw.cells (canvas, panel, mark, glyphs)
  if mark.most <= mark.least then return end
  for row = 1, canvas.rows do
    local first, last = cells_in(panel.y, mark.ys, panel.y.down and canvas.rows + 1 - row or row, canvas.rows)
    for column = 1, canvas.columns do
      local from, to = cells_in(panel.x, mark.xs, column, canvas.columns)
      local value = value_of(mark, from, to, first, last)
      local glyph = value and shade(mark, value, glyphs)
      if glyph then canvas:put(column, row, glyph, mark.series) end
    end
  end
end

function draw.spans (canvas, panel, mark, glyphs)
  local function column (x) return min(canvas.columns, floor(ticks.place(panel.x, x) * canvas.columns) + 1) end
  for j, row in ipairs(mark.rows) do
    local at = #mark.rows + 1 - j
    for c = column(row.outer[1]), column(row.outer[2]) do canvas:put(c, at, glyphs.outer, mark.series) end
    for c = column(row.inner[1]), column(row.inner[2]) do canvas:put(c, at, glyphs.inner, mark.series) end
    canvas:put(column(row.middle), at, glyphs.middle, mark.series)
  end
end

return draw
