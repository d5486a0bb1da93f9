--- A canvas of characters: dots (two by four in a character, as braille; one in ASCII), and characters of their own.
--
-- Places are parts of the canvas, from 0 to 1, to the right and upwards. The upper end of a character row is where an
-- axis marks it, so a bar that fills k of H rows and a line at k/H have the same height.
local Canvas = {}
Canvas.__index = Canvas

local LEFT, RIGHT = { 0x01, 0x02, 0x04, 0x40 }, { 0x08, 0x10, 0x20, 0x80 }   -- bits of dots from the top
local ASCII = { "*", "o", "+", "x", "%", "@", "=", "~" }
-- Lengths of strokes and gaps, in dots, by which lines differ where there is no colour.
local DASHES = { false, { 1, 2 }, { 5, 3 }, { 1, 5 }, { 6, 2, 1, 2 }, { 3, 2 }, { 1, 1 }, { 8, 4 } }

local floor, max, min, abs = math.floor, math.max, math.min, math.abs

function Canvas.new (columns, rows, ascii)
  return setmetatable({
    columns = columns, rows = rows, ascii = ascii, across = ascii and 1 or 2, up = ascii and 1 or 4,
    dots = {}, characters = {}, series = {}, above = {},
  }, Canvas)
end

--- A character at a column and a row, from 1, rows from below; `series` is its colour. Dots hide it, unless it is
-- `above` them.
function Canvas:put (column, row, character, series, above)
  if column < 1 or column > self.columns or row < 1 or row > self.rows then return end
  local at = (row - 1) * self.columns + column
  self.characters[at], self.series[at], self.above[at] = character, series, above
end

local function dot (self, x, y, series)
  local wide = self.columns * self.across
  self.dots[(y - 1) * wide + x] = series
end

-- Dots of a place.
local function dot_column (self, x)
  local wide = self.columns * self.across
  return min(wide, floor(x * wide) + 1)
end

local function dot_row (self, y) return floor(y * self.rows * self.up + 0.5) end   -- 0 is the axis

--- A dot, if the place is within the canvas.
function Canvas:point (x, y, series)
  if x >= 0 and x <= 1 and y >= 0 and y <= 1 then dot(self, dot_column(self, x), max(1, dot_row(self, y)), series) end
end

--- A character at a place within the canvas.
function Canvas:bullet (x, y, character, series)
  if not (x >= 0 and x <= 1 and y >= 0 and y <= 1) then return end
  local column, row = min(self.columns, floor(x * self.columns) + 1), max(1, math.ceil(y * self.rows - 1e-9))
  self:put(column, row, character, series, true)
end

-- The part of a segment within the canvas, or nothing (Liang and Barsky).
local function clipped (x1, y1, x2, y2)
  local from, to = 0, 1
  local function cut (step, room)
    if step == 0 then return room >= 0 end
    local r = room / step
    if step < 0 then from = max(from, r) else to = min(to, r) end
    return from <= to
  end
  local dx, dy = x2 - x1, y2 - y1
  if cut(-dx, x1) and cut(dx, 1 - x1) and cut(-dy, y1) and cut(dy, 1 - y1) then
    return x1 + from * dx, y1 + from * dy, x1 + to * dx, y1 + to * dy
  end
end

-- How far along a pattern of strokes and gaps: is there a stroke?
local function is_stroke (dashes, at)
  if not dashes then return true end
  local whole = 0
  for _, n in ipairs(dashes) do whole = whole + n end
  at = at % whole
  for i, n in ipairs(dashes) do
    if at < n then return i % 2 == 1 end
    at = at - n
  end
end

local function bounded (v) return max(-1e6, min(1e6, v)) end   -- far outside, and finite

--- A line through places, interrupted by NaN. It is dashed by its series, unless it is solid; where one that is filled
-- comes down to the axis, the axis is what is seen.
function Canvas:line (xs, ys, mark)
  local length, last_x, last_y, series = 0, nil, nil, mark.series
  local dashes = not self.ascii and not mark.solid and DASHES[series == 0 and 4 or (series - 1) % #DASHES + 1]
  local function stroke (x, y)
    if x == last_x and y == last_y then return end
    if is_stroke(dashes, length) and (y > 0 or not mark.filled) then dot(self, x, max(1, y), series) end
    length, last_x, last_y = length + 1, x, y
  end
  -- Is this part of a column of dots there already? If not, it will be: long data go up and down in one column.
  local lowest, top = {}, {}
  local function is_drawn (x, y1, y2)
    local low, high = min(y1, y2), max(y1, y2)
    local from, to = lowest[x], top[x]
    if from and from <= low and to >= high then return true end
    if not from or high >= from and low <= to then
      lowest[x], top[x] = min(from or low, low), max(to or high, high)
    end
    return false
  end
  local function segment (x1, y1, x2, y2)
    local a, b, c, d = clipped(bounded(x1), bounded(y1), bounded(x2), bounded(y2))
    if not a then return end
    local from_x, from_y, to_x, to_y = dot_column(self, a), dot_row(self, b), dot_column(self, c), dot_row(self, d)
    if from_x == to_x and not dashes and is_drawn(from_x, from_y, to_y) then
      last_x, last_y = to_x, to_y
      return
    end
    local n = max(abs(to_x - from_x), abs(to_y - from_y))
    for i = 0, n do
      local part = n == 0 and 0 or i / n
      stroke(floor(from_x + part * (to_x - from_x) + 0.5), floor(from_y + part * (to_y - from_y) + 0.5))
    end
  end
  for i = 1, #xs do
    local x, y, next_x, next_y = xs[i], ys[i], xs[i + 1], ys[i + 1]
    local is_here, goes_on = x == x and y == y, next_x and next_x == next_x and next_y == next_y
    if is_here and goes_on then segment(x, y, next_x, next_y)
    elseif is_here and (i == 1 or ys[i - 1] ~= ys[i - 1]) then self:point(x, y, series)   -- alone
    end
  end
end

-- The character of the dots at a cell, and their series.
local function of_dots (self, column, row)
  local wide, bits, series = self.columns * self.across, 0, nil
  if self.ascii then
    series = self.dots[(row - 1) * wide + column]
    return series and (series == 0 and "." or ASCII[(series - 1) % #ASCII + 1]), series
  end
  for k = 1, 4 do
    local at = (row * 4 - k) * wide + column * 2
    local left, right = self.dots[at - 1], self.dots[at]
    if left then bits, series = bits + LEFT[k], max(series or 0, left) end
    if right then bits, series = bits + RIGHT[k], max(series or 0, right) end
  end
  if bits > 0 then return string.char(0xE2, 0xA0 + floor(bits / 64), 0x80 + bits % 64), series end
end

--- The character at a cell, and its series.
function Canvas:cell (column, row)
  local at = (row - 1) * self.columns + column
  local character, series = of_dots(self, column, row)
  if character and not self.above[at] then return character, series end
  return self.characters[at] or " ", self.series[at]
end

return Canvas
