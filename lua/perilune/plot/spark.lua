--- A picture in one line.
local glyphs_of = require "perilune.plot.glyphs"
local ticks     = require "perilune.plot.ticks"

local floor, max, min = math.floor, math.max, math.min

local spark = {}

-- The numbers of a mark, of which each is a character: all, or the largest of each part of the axis.
local function numbers_of (panel, mark, width)
  local y = mark.heights or mark.y
  if mark.heights or #y <= width then return y end
  local found = {}
  for i = 1, #y do
    local place = ticks.place(panel.x, mark.x[i])
    local at = place >= 0 and place <= 1 and min(width, floor(place * width) + 1)
    if at and y[i] == y[i] then found[at] = max(found[at] or y[i], y[i]) end
  end
  for i = 1, width do found[i] = found[i] or 0 / 0 end
  return found
end

-- The ends of a scale: those that were asked for, else from nothing (bars) or the least (lines) to the largest.
local function ends_of (panel, mark, numbers)
  if panel.y.is_given then return panel.y.low, panel.y.high end
  local low, high = math.huge, -math.huge
  for _, y in ipairs(numbers) do
    if y - y == 0 then low, high = min(low, y), max(high, y) end
  end
  if mark.heights or mark.filled then low = min(low, 0) end
  return low, high
end

--- The first mark that has heights as a line of blocks: { width = most characters, ascii = }. Nothing is a space.
function spark.text (figure, options)
  local panel, glyphs = figure.panels[1], glyphs_of(options.ascii)
  for _, mark in ipairs(panel.marks) do
    if mark.heights or mark.y then
      local numbers, parts, n = numbers_of(panel, mark, options.width or 60), {}, #glyphs.parts
      local low, high = ends_of(panel, mark, numbers)
      local unit = high - low == math.huge and 0.5 or 1   -- in which the difference is a number
      for i, y in ipairs(numbers) do
        local place = high > low and (y * unit - low * unit) / (high * unit - low * unit) or 0.5
        local is_nothing = y ~= y or place < 0 or y == 0 and low == 0
        parts[i] = is_nothing and " " or glyphs.parts[max(1, min(n, floor(place * n + 0.5)))]
      end
      return table.concat(parts)
    end
  end
  return ""
end

return spark
