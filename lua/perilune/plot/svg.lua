--- A picture as SVG, readable on white and on black. Nothing has an id, so that several can stand in one page.
local draw   = require "perilune.plot.svg_marks"
local labels = require "perilune.plot.svg_labels"
local Page   = require "perilune.plot.svg_page"
local scene  = require "perilune.plot.scene"
local texts  = require "perilune.plot.texts"
local ticks  = require "perilune.plot.ticks"

local at, series_of, width_of, x_of, y_of = Page.at, Page.series_of, Page.width_of, Page.x_of, Page.y_of
local SMALL, CHARACTER, LEVELS = Page.SMALL, Page.CHARACTER, Page.LEVELS
local floor, max, min = math.floor, math.max, math.min

local svg = {}

local WIDTH, HEIGHT = 640, 400               -- of a picture of one panel
local SQUARE = 440                           -- height of one that is to be square
local PANEL_WIDTH, PANEL_HEIGHT = 300, 220   -- of several
local TITLE, BOLD_CHARACTER = 15, 0.63       -- size of letters, and about how wide they are by that
local PAD = 14


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
             Page.opacity(level), at(x), at(y), at(height / LEVELS))
  end
  page:add('<path class="axis" stroke-width=".5" d="M%s %sh10v%sh-10z"/>', at(x), at(top), at(height))
  local within = mark.most * 5e-3 - mark.least * 5e-3
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
  local notes, rows = wrapped_notes(panel.notes, width), labels.rows(scene.legend(panel), width)
  local count = #rows[1] > 0 and #rows or 0
  local box = box_of(panel, x, y, width, height, 0, notes)
  local direct = count > 0 and labels.direct(panel, box)
  if not direct then box = box_of(panel, x, y, width, height, count, notes) end
  local line = y + 4
  if panel.title then
    line = line + 14
    local most = floor((x + width - box.left) / 13 / CHARACTER)
    page:write(box.left, line, "ink", "start", texts.shorten(panel.title, most), 13)
  end
  if count > 0 and not direct then
    labels.draw(page, rows, x, line + 14)
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
  local legend = figure.legend and labels.rows(figure.legend, width - 2 * PAD) or {}
  local head, foot = figure.title and 26 or 0, 15 * #notes + 20 * #legend
  local height = options.height or usual_height + head + foot
  local page = Page.new()
  page:add('<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" role="img" font-family='
           .. '"system-ui, -apple-system, \'Segoe UI\', Roboto, Helvetica, Arial, sans-serif" font-size="%d">',
           width, height, width, height, SMALL)
  page:add("<title>%s</title>", Page.escaped(figure.title or figure.kind or "plot"))
  page:add("<style>%s</style>", Page.style(options.theme))
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
  labels.draw(page, legend, PAD, height - PAD - foot + 12)
  for i, note in ipairs(notes) do
    page:write(PAD, height - PAD - 15 * (#notes - i) - 3, "soft", "start", note, 11)
  end
  page:add("</svg>")
  return table.concat(page, "\n") .. "\n"
end

return svg
