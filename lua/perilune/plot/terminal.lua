--- A picture as text: braille for lines, blocks for bars, shades for cells; or ASCII.
local Canvas     = require "perilune.plot.canvas"
local characters = require "perilune.characters"
local draw       = require "perilune.plot.text_marks"
local glyphs_of  = require "perilune.plot.glyphs"
local scene      = require "perilune.plot.scene"
local texts      = require "perilune.plot.texts"
local ticks      = require "perilune.plot.ticks"

local terminal = {}

local HEIGHT, HEIGHT_OF_MANY = 12, 6   -- rows of a panel,
local SQUARE = 18                      -- and of one that is to be square
local NARROWEST = 34                   -- panel of several abreast
local WIDEST_BAR = 9

local COLOURS = { 39, 208, 35, 170, 45, 220, 203, 105 }   -- of the 256 that terminals know

local floor, max, min = math.floor, math.max, math.min

local length, shortened, wrapped, trim_end = texts.length, texts.shorten, texts.wrap, characters.trim_end

local function spaces (n) return string.rep(" ", max(0, n)) end
local function left_aligned (text, n) return text .. spaces(n - length(text)) end
local function right_aligned (text, n) return spaces(n - length(text)) .. text end


-- A panel -------------------------------------------------------------------------------

-- Columns for a bar, of those that n of them may take.
local function bar_pitch (mark, n, columns)
  local most = floor(columns / n)
  if not mark.gap then return most end
  if mark.of > 1 then return mark.of * max(1, min(4, floor((most - 1) / mark.of))) + 1 end
  for pitch = WIDEST_BAR, 3, -2 do
    if pitch <= most then return pitch end
  end
  return min(most, 2)
end

-- Bars are all of one width: the canvas is as wide as they are together.
local function fit_columns (panel, columns, rows)
  for _, mark in ipairs(panel.marks) do
    local n = mark.kind == "bars" and #mark.heights
    if n and mark.edges[1] == panel.x.low and mark.edges[n + 1] == panel.x.high then
      local pitch = bar_pitch(mark, n, columns)
      if pitch >= 1 then return min(columns, pitch * n) end
    end
  end
  if panel.matrix then   -- cells of one width, about square
    local n = panel.matrix[2]
    return min(columns, n * max(1, min(floor(columns / n), floor(2 * rows / panel.matrix[1] + 0.5))))
  end
  return panel.is_square and min(columns, floor(2.6 * rows)) or columns
end

-- Rows such that ticks fall on rows, about as many as wanted.
local function fit_rows (panel, wanted, width)
  if panel.rows then return panel.rows end
  if panel.matrix and panel.matrix[1] <= 2 * wanted then   -- rows of one height, not higher than they are wide
    local n = panel.matrix[1]
    return n * max(1, min(floor(wanted / n + 0.5), math.ceil(width / panel.matrix[2] / 2)))
  end
  if panel.is_square then return wanted end
  local at = scene.y_ticks(panel)
  local n = #at - 1
  for i, y in ipairs(at) do   -- are they even, from one end to the other?
    if math.abs(ticks.place(panel.y, y) - (i - 1) / n) > 1e-6 then return wanted end
  end
  return n > 0 and n * max(1, floor(wanted / n + 0.5)) or wanted
end

-- Texts of the y axis by row, from 0 at the axis below.
local function y_texts (panel, rows)
  local at, words = scene.y_ticks(panel)
  local found, widest = {}, 0
  for i, y in ipairs(at) do
    local place = ticks.place(panel.y, y)
    if panel.y.down then place = 1 - place end
    local has_rows = panel.y.at or panel.is_square
    local row = has_rows and min(rows, floor(place * rows + 1e-9) + 1) or floor(place * rows + 0.5)
    found[row] = found[row] or words[i]
    widest = max(widest, length(words[i]))
  end
  return found, widest
end

-- The line of ticks and the line of their texts, which begin `margin` columns before the canvas.
local function x_lines (panel, columns, margin, glyphs)
  local at, words = ticks.of(panel.x, max(4, floor(columns / (panel.x.integer and 5 or 9))))
  local line, below, free = {}, "", 0
  for column = 1, columns do line[column] = glyphs.bottom end
  for i, x in ipairs(at) do
    local column = min(columns, floor(ticks.place(panel.x, x) * columns) + 1)
    local n = length(words[i])
    local from = min(max(0, margin + column - 1 - floor(n / 2)), margin + columns - n)
    if from >= free and from >= 0 then
      line[column] = glyphs.mark
      below = left_aligned(below, from) .. words[i]
      free = from + n + 2
    end
  end
  return table.concat(line), below
end

local function painter (colour)
  if not colour then return function (text) return text end end
  return function (text, series)
    if not series or series == 0 or text:find "^ *$" then return text end
    local body = trim_end(text)
    return "\27[38;5;" .. COLOURS[(series - 1) % #COLOURS + 1] .. "m" .. body .. "\27[0m" .. text:sub(#body + 1)
  end
end

-- A row of a canvas: cells of one colour together.
local function row_text (canvas, row, paint)
  local parts, run, of = {}, {}, nil
  for column = 1, canvas.columns do
    local character, series = canvas:cell(column, row)
    if character == " " then series = of end
    if series ~= of and #run > 0 then
      parts[#parts + 1], run = paint(table.concat(run), of), {}
    end
    of = series
    run[#run + 1] = character
  end
  parts[#parts + 1] = paint(table.concat(run), of)
  return table.concat(parts)
end

-- What a legend shows of a mark.
local function sample (mark, ascii, glyphs)
  if mark.kind == "bars" then return glyphs.bodies[(mark.place - 1) % #glyphs.bodies + 1] end
  if mark.kind == "points" then return draw.bullet(mark, glyphs) end
  local canvas, ends = Canvas.new(ascii and 2 or 4, 1, ascii), { 0, 1 }
  canvas:line(ends, { 0.5, 0.5 }, mark)
  local parts = {}
  for column = 1, canvas.columns do parts[column] = canvas:cell(column, 1) end
  return table.concat(parts)
end

local function add_legend (lines, marks, width, ascii, glyphs, paint)
  local line = ""
  for _, mark in ipairs(marks) do
    local look = sample(mark, ascii, glyphs)
    local entry = paint(look, mark.series) .. " " .. shortened(mark.name, width - length(look) - 1)
    if line ~= "" and length(line) + 3 + length(entry) > width then
      lines[#lines + 1], line = line, ""
    end
    line = line == "" and entry or line .. "   " .. entry
  end
  if line ~= "" then lines[#lines + 1] = line end
end

-- What the shades of cells mean.
local function add_scale (lines, panel, glyphs, paint)
  for _, mark in ipairs(panel.marks) do
    if mark.kind == "cells" and mark.most > mark.least then
      local within = (mark.most - mark.least) * 1e-3
      lines[#lines + 1] = string.format("%s [ %s] %s%s", ticks.text(mark.least, within),
        paint(table.concat(glyphs.shades), mark.series), ticks.text(mark.most, within),
        mark.label and "  " .. mark.label or "")
    end
  end
end

-- Lines of a panel, each `width` columns.
local function panel_lines (panel, width, height, ascii, paint)
  local glyphs = glyphs_of(ascii)
  local rows = fit_rows(panel, height, width)
  local words, margin = y_texts(panel, rows)
  margin = min(margin, floor(width / 3))
  local columns = fit_columns(panel, max(1, width - margin - 2), rows)
  local canvas = Canvas.new(columns, rows, ascii)
  for _, mark in ipairs(panel.marks) do draw[mark.kind](canvas, panel, mark, glyphs) end
  for _, x in ipairs(panel.cuts or {}) do
    canvas:put(min(columns, floor(ticks.place(panel.x, x) * columns) + 1), rows, glyphs.cut, nil, true)
  end
  local lines, indent = {}, spaces(margin + 2)
  if panel.title then   -- which moves to the left where that makes room for it
    local title = shortened(panel.title, width)
    lines[1] = spaces(min(margin + 2, width - length(title))) .. title
  end
  if panel.y.label then
    lines[#lines + 1] = right_aligned(shortened(panel.y.label, width), margin + 2)
  end
  for row = rows, 1, -1 do
    local text = words[row] and shortened(words[row], margin)
    lines[#lines + 1] = right_aligned(text or "", margin) .. " " .. (text and glyphs.tick or glyphs.left)
                        .. row_text(canvas, row, paint)
  end
  local axis, below = x_lines(panel, columns, margin + 2, glyphs)
  local corner = words[0] and glyphs.zero or glyphs.corner
  lines[#lines + 1] = right_aligned(words[0] or "", margin) .. " " .. corner .. axis
  lines[#lines + 1] = below
  if panel.x.label then
    local label = shortened(panel.x.label, width - margin - 2)
    lines[#lines + 1] = indent .. spaces(floor((columns - length(label)) / 2)) .. label
  end
  add_legend(lines, scene.legend(panel), width, ascii, glyphs, paint)
  if not panel.is_plain then add_scale(lines, panel, glyphs, paint) end
  for _, note in ipairs(panel.notes or {}) do
    for _, line in ipairs(wrapped(note, width)) do lines[#lines + 1] = line end
  end
  return lines
end


-- The figure -------------------------------------------------------------------------------

-- Panels side by side.
local function add_abreast (lines, panels, width, gap)
  local most = 0
  for _, panel in ipairs(panels) do most = max(most, #panel) end
  for i = 1, most do
    local parts = {}
    for p, panel in ipairs(panels) do
      parts[p] = p < #panels and left_aligned(panel[i] or "", width) or panel[i] or ""
    end
    lines[#lines + 1] = table.concat(parts, spaces(gap))
  end
end

--- Text of a figure: { width = columns, height = rows of a panel, ascii =, colour = }.
function terminal.text (figure, options)
  local width, ascii = options.width, options.ascii
  local n, gap = #figure.panels, 2
  local abreast = figure.columns or max(1, min(n, floor((width + gap) / (NARROWEST + gap))))
  local each = max(8, floor((width + gap) / abreast) - gap)
  local height = options.height or figure.panel_rows
                 or (n > 1 and HEIGHT_OF_MANY or figure.panels[1].is_square and SQUARE or HEIGHT)
  local lines, paint = {}, painter(options.colour)
  for _, line in ipairs(figure.title and wrapped(figure.title, width) or {}) do lines[#lines + 1] = line end
  for first = 1, n, abreast do
    local row = {}
    for i = first, min(n, first + abreast - 1) do
      row[#row + 1] = figure.panels[i] and panel_lines(figure.panels[i], each, height, ascii, paint) or {}
    end
    if first > 1 then lines[#lines + 1] = "" end
    add_abreast(lines, row, each, gap)
  end
  add_legend(lines, figure.legend or {}, width, ascii, glyphs_of(ascii), paint)
  for _, note in ipairs(figure.notes or {}) do
    for _, line in ipairs(wrapped(note, width)) do lines[#lines + 1] = line end
  end
  for i, line in ipairs(lines) do lines[i] = trim_end(line) end
  return table.concat(lines, "\n")
end

return terminal
