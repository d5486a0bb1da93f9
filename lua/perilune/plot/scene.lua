--- A picture as data: panels with axes, and marks in them. terminal.lua and svg.lua draw it.
--
--   figure  { panels = { panel or false ... }, title =, notes = { text ... } }
--           columns = panels abreast, or as many as fit; panel_size = { width, height } of each in SVG,
--           panel_rows in text;
--           legend = { mark ... } whose names stand below all panels
--   panel   { x = axis, y = axis, marks = { mark ... }, title =, notes =, cuts = { x ... } }
--           cuts are where a curve goes on beyond the upper end; rows, if there is a line of text for each whole y;
--           is_square: as high as wide, cells; is_plain: one of many, without a scale; is_cut: marks go on outside;
--           matrix = { rows, columns } of cells that are elements
--   axis    { low =, high =, log =, label =, integer =, at = { values }, texts = { ... }, down =, is_given = }
--   mark    { kind =, series = 1.. or 0 for grey, name =, ... } of the kinds
--     line     x, y: lists; NaN interrupts; filled: down to the axis; thin; solid: no dashes where colours lack
--     steps    the same, y[i] from x[i] to x[i + 1]
--     points   x, y; glyph: its number in texts, that of the series unless told; is_large however many there are
--     bars     edges: n + 1, heights: n; gap = true: bars apart; place, of: the place-th of `of` in a group
--     cells    edges of columns xs, of rows ys, values: rows from below, least, most; counts = true
--     spans    rows: { outer = { low, high }, inner = { low, high }, middle = }, the j-th at y = j
local texts = require "perilune.plot.texts"
local ticks = require "perilune.plot.ticks"

local scene = {}

local STEPS = 5   -- on the y axis, about

local function each_number (list, visit)
  for i = 1, #list do
    local v = list[i]
    if v == v and v < math.huge and v > -math.huge then visit(v) end
  end
end

-- The least and the largest number that a mark has along "x" or "y", positive ones if only those count.
local function extend (mark, name, range, only_positive)
  local function visit (v)
    if only_positive and v <= 0 then return end
    range[1], range[2] = math.min(range[1], v), math.max(range[2], v)
  end
  if mark.kind == "bars" then
    each_number(name == "x" and mark.edges or mark.heights, visit)
    if name == "y" then visit(0) end
  elseif mark.kind == "cells" then each_number(mark[name .. "s"], visit)
  elseif mark.kind == "spans" then
    for j, row in ipairs(mark.rows) do
      if name == "x" then each_number(row.outer, visit) else visit(j - 0.5) visit(j + 0.5) end
    end
  else
    each_number(mark[name], visit)
    if mark.filled and name == "y" then visit(0) end
  end
end

local function fitted (panel, name, axis)
  local range = { math.huge, -math.huge }
  for _, mark in ipairs(panel.marks) do extend(mark, name, range, axis.log) end
  if range[1] > range[2] then return axis.log and 1 or 0, axis.log and 10 or 1 end
  return range[1], range[2]
end

-- Ends at powers of ten, such that ticks are there.
local function widen_log (low, high)
  local first, last = math.floor(math.log(low, 10) + 1e-9), math.ceil(math.log(high, 10) - 1e-9)
  local every = math.max(1, math.ceil((last - first) / STEPS))
  first, last = math.floor(first / every) * every, math.ceil(last / every) * every
  if first == last then last = first + 1 end
  local from, to = 10.0 ^ first, 10.0 ^ last
  return from > 0 and from or low, to < math.huge and to or high
end

-- On a logarithmic axis even the lowest bar is to be seen.
local function has_bars (panel)
  for _, mark in ipairs(panel.marks) do
    if mark.kind == "bars" then return true end
  end
end

-- A number that a logarithmic axis can end at, with others on both sides.
local function positive (x) return math.max(1e-307, math.min(8e307, x)) end

-- Gives an axis the ends that it lacks. Those of y lie on ticks.
local function complete (panel, name)
  local axis = panel[name] or {}
  panel[name] = axis
  local low, high = fitted(panel, name, axis)
  local is_free = axis.low == nil and axis.high == nil
  low, high = axis.low or low, axis.high or high
  if axis.log then
    if is_free and name == "y" then low, high = widen_log(has_bars(panel) and low / 2 or low, high) end
    if low <= 0 then low = high > 0 and high * 1e-6 or 1 end
    low, high = positive(low), positive(high)
    if high <= low then low, high = positive(low / 10), positive(low * 10) end
  elseif is_free and name == "y" and not axis.at then low, high = ticks.widen(low, high, STEPS, axis.integer)
  else low, high = ticks.ends(low, high)
  end
  axis.low, axis.high = low, high
end

--- A panel whose axes have ends.
function scene.panel (panel)
  panel.marks = panel.marks or {}
  complete(panel, "x")
  complete(panel, "y")
  return panel
end

local function clean_fields (owner, ...)
  for _, name in ipairs { ... } do
    if owner[name] then owner[name] = texts.clean(owner[name]) end
  end
end

local function clean_list (list)
  for i, text in ipairs(list or {}) do list[i] = texts.clean(text) end
end

--- The figure, its texts such that they can be shown.
function scene.cleaned (figure)
  clean_fields(figure, "title")
  clean_list(figure.notes)
  for _, mark in ipairs(figure.legend or {}) do clean_fields(mark, "name") end
  for _, panel in ipairs(figure.panels) do
    if panel then
      clean_fields(panel, "title")
      clean_fields(panel.x, "label")
      clean_fields(panel.y, "label")
      clean_list(panel.notes)
      clean_list(panel.y.texts)
      for _, mark in ipairs(panel.marks) do clean_fields(mark, "name", "label") end
    end
  end
  return figure
end

--- A mark of cells, rows from below, with what it takes to shade them.
function scene.cells (rows, x_low, x_high, y_low, y_high, label, are_counts)
  local least, most = math.huge, -math.huge
  for _, row in ipairs(rows) do
    for _, v in ipairs(row) do
      if v - v == 0 then least, most = math.min(least, v), math.max(most, v) end
    end
  end
  if least > most then least, most = 0, 0 end
  local function edges (low, high, n)
    local list = {}
    for i = 0, n do list[i + 1] = low * (1 - i / n) + high * (i / n) end
    return list
  end
  return { kind = "cells", xs = edges(x_low, x_high, #rows[1]), ys = edges(y_low, y_high, #rows), values = rows,
           least = least > 0 and 0 or least, most = most, label = label, counts = are_counts, series = 1 }
end

--- The names in a panel, with their series: what a legend shows.
function scene.legend (panel)
  local entries = {}
  for _, mark in ipairs(panel.marks) do
    if mark.name then entries[#entries + 1] = mark end
  end
  return entries
end

--- The corners of steps, as a line.
function scene.corners (mark)
  local x, y = {}, {}
  for i = 1, #mark.x do
    if i > 1 then x[#x + 1], y[#y + 1] = mark.x[i], mark.y[i - 1] end
    x[#x + 1], y[#y + 1] = mark.x[i], mark.y[i]
  end
  return x, y
end

--- Ticks of the y axis, the same wherever it is drawn.
function scene.y_ticks (panel) return ticks.of(panel.y, STEPS) end

return scene
