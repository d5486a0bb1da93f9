--- A picture as SVG: readable on white and on black, in colours that colour-blind people tell apart too (Okabe and
-- Ito).
--
-- Nothing has an id, so that several pictures can stand in one page.
local scene = require "perilune.plot.scene"
local show  = require "perilune.show"
local texts = require "perilune.plot.texts"
local ticks = require "perilune.plot.ticks"

local svg = {}

local WIDTH, HEIGHT = 640, 400            -- of a picture of one panel
local SQUARE        = 440                 -- height of one that is to be square
local PANEL_WIDTH, PANEL_HEIGHT = 300, 220 -- of several
local SMALL, TITLE  = 12, 15              -- sizes of letters
local CHARACTER, BOLD_CHARACTER = 0.56, 0.63   -- width of one, about, by its height
local LEVELS        = 16                  -- shades of cells
local PAD           = 14
local CLEAR         = 40                  -- pixels from other curves that are enough

local LIGHT = {
  back = "#ffffff", ink = "#1f2328", soft = "#59636e", axis = "#8b949e", grid = "#e6eaef", heat = "#0b5394",
  "#0072b2", "#d55e00", "#009e73", "#b0568c", "#3a9bd9", "#b07d00", "#6a5acd", "#7f7f7f",
}
local DARK = {
  back = "#0d1117", ink = "#e6edf3", soft = "#9198a1", axis = "#6e7681", grid = "#21262d", heat = "#79c0ff",
  "#58b4f0", "#ff9a56", "#3ddbac", "#e89ac7", "#9ad4ff", "#f2c14e", "#a99bff", "#b0b0b0",
}

local floor, max, min = math.floor, math.max, math.min


-- Pieces of text --------------------------------------------------------------------------

local ESCAPES = { ["&"] = "&amp;", ["<"] = "&lt;", [">"] = "&gt;", ['"'] = "&quot;" }
local function escaped (text) return (texts.clean(text):gsub('[&<>"]', ESCAPES)) end

-- A coordinate: a tenth is less than is seen.
local function at (x)
  local text = show.format("%.1f", x):gsub("%.0$", "")
  return text == "-0" and "0" or text
end

-- How much is seen through a shade.
local function opacity (level) return show.format("%.3g", level / LEVELS) end

-- A list of texts with methods that add to it.
local Page = {}
Page.__index = Page

function Page:add (...) self[#self + 1] = string.format(...) end

function Page:write (x, y, class, anchor, text, size, is_bold)
  self:add('<text x="%s" y="%s" class="%s"%s%s%s>%s</text>', at(x), at(y), class,
           anchor ~= "start" and ' text-anchor="' .. anchor .. '"' or "",
           size and ' font-size="' .. size .. '"' or "", is_bold and ' font-weight="600"' or "", escaped(text))
end

function Page:line (x1, y1, x2, y2, class)
  self:add('<path class="%s" d="M%s %sL%s %s"/>', class, at(x1), at(y1), at(x2), at(y2))
end

local function rules (theme)
  local list = {}
  local function add (pattern, ...) list[#list + 1] = string.format(pattern, ...) end
  for _, name in ipairs { "back", "ink", "soft", "heat" } do add(".%s{fill:%s}", name, theme[name]) end
  for _, name in ipairs { "axis", "grid" } do add(".%s{stroke:%s;fill:none}", name, theme[name]) end
  add(".l0{stroke:%s}", theme.soft)
  for i, colour in ipairs(theme) do add(".l%d{stroke:%s}.f%d{fill:%s}", i, colour, i, colour) end
  return table.concat(list)
end

local function style (theme)
  if theme == "dark" then return rules(DARK) end
  if theme == "light" then return rules(LIGHT) end
  return rules(LIGHT) .. "@media (prefers-color-scheme:dark){" .. rules(DARK) .. "}"
end

local function width_of (text, size) return texts.length(text) * (size or SMALL) * CHARACTER end

local function series_of (mark) return mark.series == 0 and 0 or (mark.series - 1) % #LIGHT + 1 end


-- Marks ---------------------------------------------------------------------------------------

-- Within a box, whose corner is the origin: pixels of a place.
local function x_of (panel, box, x) return ticks.place(panel.x, x) * box.width end
local function y_of (panel, box, y)
  local place = ticks.place(panel.y, y)
  return (panel.y.down and place or 1 - place) * box.height
end

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
           series_of(mark), n > 500 and "3" or "5", n > 500 and ".5" or ".8", table.concat(parts))
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
  local level = floor((value - mark.least) / (mark.most - mark.least) * LEVELS + 0.5)
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
      page:add('<path class="heat" fill-opacity="%s" shape-rendering="crispEdges" d="%s"/>', opacity(level),
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


-- Labels ---------------------------------------------------------------------------------------

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

-- Names beside their curves, if there is room for all of them.
local function direct_labels (panel, box)
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

-- The names in lines above a panel: what is drawn for each, and how many lines.
local function legend_rows (panel, width)
  local rows, x = { {} }, 0
  for _, mark in ipairs(scene.legend(panel)) do
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

local function draw_legend (page, rows, left, top)
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


-- Panels -----------------------------------------------------------------------------------------

local function cells_of (panel)
  for _, mark in ipairs(panel.marks) do
    if mark.kind == "cells" then return mark end
  end
end

-- What shades mean: a bar at the right.
local function draw_scale (page, mark, x, top, height)
  if mark.most <= mark.least then return end
  for level = 1, LEVELS do
    local y = top + height * (1 - level / LEVELS)
    page:add('<path class="heat" fill-opacity="%s" shape-rendering="crispEdges" d="M%s %sh10v%sh-10z"/>',
             opacity(level), at(x), at(y), at(height / LEVELS))
  end
  page:add('<path class="axis" stroke-width=".5" d="M%s %sh10v%sh-10z"/>', at(x), at(top), at(height))
  local within = (mark.most - mark.least) * 5e-3
  page:write(x + 15, top + 8, "soft", "start", ticks.text(mark.most, within), 11)
  page:write(x + 15, top + height, "soft", "start", ticks.text(mark.least, within), 11)
end

local function draw_x_axis (page, panel, box)
  local positions, words = ticks.of(panel.x, max(3, floor(box.width / 75)))
  local free = -math.huge
  page:line(box.left, box.top + box.height, box.left + box.width, box.top + box.height, "axis")
  for i, v in ipairs(positions) do
    local x, wide = box.left + x_of(panel, box, v), width_of(words[i], 11)
    if x - wide / 2 >= free then
      if box.has_columns then page:line(x, box.top, x, box.top + box.height, "grid") end
      page:line(x, box.top + box.height, x, box.top + box.height + 4, "axis")
      page:write(x, box.top + box.height + 16, "soft", "middle", words[i], 11)
      free = x + wide / 2 + 6
    end
  end
  if panel.x.label then
    page:write(box.left + box.width / 2, box.top + box.height + 33, "soft", "middle", panel.x.label, SMALL)
  end
end

local function draw_y_axis (page, panel, box)
  local positions, words = scene.y_ticks(panel)
  for i, v in ipairs(positions) do
    local y = box.top + y_of(panel, box, v)
    if not box.has_columns and not box.has_cells then page:line(box.left, y, box.left + box.width, y, "grid") end
    if box.has_cells then page:line(box.left - 4, y, box.left, y, "axis") end
    page:write(box.left - 7, y + 4, "soft", "end", texts.shorten(words[i], 24), 11)
  end
  if box.has_cells then page:line(box.left, box.top, box.left, box.top + box.height, "axis") end
end

-- How many pixels are needed around the box of a panel; and lines of notes.
local function margins (panel, width, legend, notes)
  local _, words = scene.y_ticks(panel)
  local left, top, bottom = 0, 4, 22
  for _, word in ipairs(words) do left = max(left, width_of(texts.shorten(word, 24), 11)) end
  if panel.title then top = top + 18 end
  if panel.y.label then top = top + 22 end
  top = top + 17 * legend
  if panel.x.label then bottom = bottom + 17 end
  return { left = min(left + 10, width / 2), top = top + 4, bottom = bottom + 15 * #notes, right = 12 }
end

local function wrapped_notes (list, width)
  local lines = {}
  for _, note in ipairs(list or {}) do
    for _, line in ipairs(texts.wrap(texts.clean(note), floor(width / 11 / CHARACTER))) do lines[#lines + 1] = line end
  end
  return lines
end

-- The box for the marks of a panel that has this room.
local function box_of (panel, x, y, width, height, legend, notes)
  local m, mark = margins(panel, width, legend, notes), cells_of(panel)
  local scale = mark and not panel.is_plain and 58 or 0
  local box = { left = x + m.left, top = y + m.top, width = max(20, width - m.left - m.right - scale),
                height = max(10, height - m.top - m.bottom), has_cells = mark ~= nil, scale = scale > 0 and mark,
                has_columns = panel.rows ~= nil }
  if panel.is_square and not panel.is_plain then
    box.width = min(box.width, 1.25 * box.height)
  end
  return box
end

-- Do marks go on outside of the axes?
local function is_cut (panel) return panel.is_cut or panel.cuts or panel.x.is_given or panel.y.is_given end

local function draw_panel (page, panel, x, y, width, height)
  local notes, rows = wrapped_notes(panel.notes, width), legend_rows(panel, width)
  local count = #rows[1] > 0 and #rows or 0
  local box = box_of(panel, x, y, width, height, 0, notes)
  local direct = count > 0 and direct_labels(panel, box)
  if not direct then box = box_of(panel, x, y, width, height, count, notes) end
  local line = y + 4
  if panel.title then
    line = line + 14
    page:write(box.left, line, "ink", "start", texts.shorten(panel.title, floor(box.width / 13 / CHARACTER)), 13)
  end
  if count > 0 and not direct then
    draw_legend(page, rows, x, line + 14)
    line = line + 17 * count
  end
  if panel.y.label then page:write(x, line + 14, "soft", "start", panel.y.label, SMALL) end
  draw_y_axis(page, panel, box)
  if box.has_columns then draw_x_axis(page, panel, box) end
  page:add('<svg x="%s" y="%s" width="%s" height="%s"%s>', at(box.left), at(box.top), at(box.width), at(box.height),
           is_cut(panel) and "" or ' overflow="visible"')
  for _, mark in ipairs(panel.marks) do draw[mark.kind](page, panel, box, mark) end
  page:add("</svg>")
  for i, place in ipairs(direct or {}) do
    local mark = scene.legend(panel)[i]
    page:write(box.left + place[1], box.top + place[4] - 2, "f" .. series_of(mark), "start", mark.name)
  end
  for _, v in ipairs(panel.cuts or {}) do
    page:add('<path class="soft" d="M%s %sl-4 7h8z"/>', at(box.left + x_of(panel, box, v)), at(box.top - 8))
  end
  if not box.has_columns then draw_x_axis(page, panel, box) end
  if box.scale then draw_scale(page, box.scale, box.left + box.width + 14, box.top, min(box.height, 140)) end
  local base = box.top + box.height + 22 + (panel.x.label and 17 or 0)
  for i, note in ipairs(notes) do page:write(x, base + 15 * i - 3, "soft", "start", note, 11) end
end


-- The figure -----------------------------------------------------------------------------------

-- The size of a picture, unless it was told.
local function size_of (figure, columns, rows)
  if figure.panel_size then
    return columns * figure.panel_size[1], rows * figure.panel_size[2] + 2 * PAD
  elseif #figure.panels > 1 then
    local each = columns > 3 and 190 or PANEL_WIDTH
    return columns * each + 2 * PAD, rows * (columns > 3 and 170 or PANEL_HEIGHT) + 2 * PAD
  end
  local panel = figure.panels[1]
  if panel.rows then return WIDTH, 70 + 24 * panel.rows end
  return WIDTH, panel.is_square and SQUARE or HEIGHT
end

--- The SVG of a figure: { width =, height =, theme = "auto", "light" or "dark" }.
function svg.text (figure, options)
  local n = #figure.panels
  local columns = figure.columns or min(3, n)
  local rows = math.ceil(n / columns)
  local usual_width, usual_height = size_of(figure, columns, rows)
  local width = options.width or usual_width
  local notes = wrapped_notes(figure.notes, width - 2 * PAD)
  local head, foot = figure.title and 26 or 0, 15 * #notes
  local height = options.height or usual_height + head + foot
  local page = setmetatable({}, Page)
  page:add('<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" role="img" font-family='
           .. '"system-ui, -apple-system, \'Segoe UI\', Roboto, Helvetica, Arial, sans-serif" font-size="%d">',
           width, height, width, height, SMALL)
  page:add("<title>%s</title>", escaped(figure.title or figure.kind or "plot"))
  page:add("<style>%s</style>", style(options.theme))
  page:add('<rect class="back" width="%d" height="%d"/>', width, height)
  if figure.title then
    local title = texts.shorten(figure.title, floor((width - 2 * PAD) / TITLE / BOLD_CHARACTER))
    page:write(PAD, PAD + 14, "ink", "start", title, TITLE, true)
  end
  local each = (width - 2 * PAD) / columns
  local high = (height - 2 * PAD - head - foot) / rows
  for i, panel in ipairs(figure.panels) do
    local column, row = (i - 1) % columns, floor((i - 1) / columns)
    if panel then
      draw_panel(page, panel, PAD + column * each, PAD + head + row * high, each - (columns > 1 and 10 or 0),
                 high - (rows > 1 and 8 or 0))
    end
  end
  for i, note in ipairs(notes) do
    page:write(PAD, height - PAD - foot + 15 * i - 3, "soft", "start", note, 11)
  end
  page:add("</svg>")
  return table.concat(page, "\n") .. "\n"
end

return svg
