--- Draws what is being typed: a text of any number of lines behind a prompt, with lines below it, in a window of any
-- size.
local characters = require "perilune.characters"
local colour     = require "perilune.repl.colour"
local terminal   = require "perilune.terminal"
local width      = require "perilune.repl.width"

local Screen = {}
Screen.__index = Screen

function Screen.new () return setmetatable({ above = {}, column = 0 }, Screen) end

local function window ()
  local columns, rows = terminal.size()
  return math.max(columns or 80, 8), math.max(rows or 24, 3)
end

-- What a character looks like, and how many cells it takes.
local function looks (c, code)
  if c == "\t" then return "  ", 2 end
  if code < 32 then return "^" .. string.char(code + 64), 2 end
  if code == 127 then return "^?", 2 end
  return c, width.of_code(code)
end

-- The text as rows { text, cells }, and where the cursor is: row, column.
local function layout (view, columns)
  local rows, cells, parts, run, kind = {}, 0, {}, "", nil
  local at_row, at_column
  local function end_run ()
    parts[#parts + 1] = colour.paint(kind, run)
    run = ""
  end
  local function end_row ()
    end_run()
    rows[#rows + 1] = { text = table.concat(parts), cells = cells }
    parts, cells = {}, 0
  end
  local function put_prompt (prompt)
    parts[#parts + 1] = colour.paint("prompt", prompt)
    cells = width.of(prompt)
  end
  put_prompt(view.prompt)
  local kinds = view.kinds or {}
  for at, code in utf8.codes(view.text, true) do
    local c = utf8.char(code)
    local shown, n = looks(c, code)
    if c ~= "\n" and cells + n > columns then end_row() end
    if at == view.cursor then at_row, at_column = #rows + 1, cells end
    if c == "\n" then
      end_row()
      put_prompt(view.continuation)
    else
      if kinds[at] ~= kind then
        end_run()
        kind = kinds[at]
      end
      run, cells = run .. shown, cells + n
    end
  end
  if cells >= columns then end_row() end
  if not at_row then at_row, at_column = #rows + 1, cells end
  end_row()
  return rows, at_row, at_column
end

-- The part of the rows that fits into a window, the cursor's row among them: first and last.
local function visible (n, at_row, height)
  if n <= height then return 1, n end
  local first = math.max(1, math.min(at_row - math.floor(height / 2), n - height + 1))
  return first, first + height - 1
end

-- How many rows of the window are above the cursor, now that it has so many columns.
local function rows_above (self, columns)
  local n = 0
  for _, cells in ipairs(self.above) do n = n + math.max(1, math.floor((cells + columns - 1) / columns)) end
  return n + math.floor(math.max(0, self.column - 1) / columns)
end

local function up (n) return n > 0 and string.format("\27[%dA", n) or "" end
local function right (n) return n > 0 and string.format("\27[%dC", n) or "" end

--- Draws a view { prompt, continuation, text, cursor (a byte), kinds (of bytes), below (lines) } over the last one.
function Screen:draw (view, is_final)
  local columns, height = window()
  local rows, at_row, at_column = layout(view, columns)
  local below = is_final and {} or view.below or {}
  local kept = math.min(#below, math.max(height - 2, 0))
  local first, last = 1, #rows
  if not is_final then first, last = visible(#rows, at_row, height - kept) end
  local lines, above = {}, {}
  for i = first, last do
    lines[#lines + 1] = rows[i].text
    if i < at_row then above[#above + 1] = rows[i].cells end
  end
  for i = 1, kept do lines[#lines + 1] = below[i] end
  io.stdout:write(up(rows_above(self, columns)), "\r\27[J", table.concat(lines, "\r\n"),
                  up(#lines - 1 - #above), "\r", right(at_column))
  io.stdout:flush()
  self.above, self.column = above, at_column
end

--- Draws it for the last time: all of it, and the next output comes below.
function Screen:finish (view)
  view.cursor = #view.text + 1
  self:draw(view, true)
  io.stdout:write("\r\n")
  io.stdout:flush()
  self:forget()
end

--- What was drawn is somebody else's now: the next drawing begins where the cursor is.
function Screen:forget () self.above, self.column = {}, 0 end

--- Goes to the start of a line, a new one if something stands in this one: blanks as wide as a line go on into the
-- next, unless they begin at its start.
function Screen.start_line ()
  io.stdout:write(string.rep(" ", window() - 1), "\r\27[K")
  io.stdout:flush()
end

--- An empty window.
function Screen:clear ()
  io.stdout:write("\27[H\27[2J")
  self:forget()
end

--- Names in columns, as lines: as many as fit into the window.
function Screen.columns (names)
  local columns, widest = window(), 0
  for _, name in ipairs(names) do widest = math.max(widest, width.of(name)) end
  local across = math.max(1, math.floor((columns - 1) / (widest + 2)))
  local down, lines = math.floor((#names + across - 1) / across), {}
  for row = 1, down do
    local cells = {}
    for i = row, #names, down do
      cells[#cells + 1] = names[i] .. string.rep(" ", widest - width.of(names[i]))
    end
    lines[row] = characters.trim_end(table.concat(cells, "  "):sub(1, columns * 4))
  end
  return lines
end

return Screen
