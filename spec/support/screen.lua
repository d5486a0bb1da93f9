--- A window that shows what a program writes to its terminal: as much of one as the prompt uses.
local width = require "perilune.repl.width"

local Screen = {}
Screen.__index = Screen

function Screen.new (columns, rows)
  local self = setmetatable({ columns = columns, rows = rows, lines = {}, row = 1, column = 1 }, Screen)
  for i = 1, rows do self.lines[i] = {} end
  return self
end

local function new_line (self)
  if self.row < self.rows then
    self.row = self.row + 1
    return
  end
  table.remove(self.lines, 1)
  self.lines[self.rows] = {}
end

local function put (self, c, cells)
  if cells == 0 then
    local line = self.lines[self.row]
    local at = math.max(1, self.column - 1)
    line[at] = (line[at] or " ") .. c
    return
  end
  if self.column + cells - 1 > self.columns then
    self.column = 1
    new_line(self)
  end
  local line = self.lines[self.row]
  for i = #line + 1, self.column - 1 do line[i] = " " end
  line[self.column] = c
  if cells == 2 then line[self.column + 1] = "" end
  self.column = self.column + cells
end

local sequences = {
  A = function (self, n) self.row = math.max(1, self.row - n) end,
  C = function (self, n) self.column = math.min(self.columns, self.column + n) end,
  H = function (self) self.row, self.column = 1, 1 end,
  K = function (self)
    local line = self.lines[self.row]
    for i = #line, self.column, -1 do line[i] = nil end
  end,
  J = function (self, _, parameters)
    if parameters ~= "2" then
      local line = self.lines[self.row]
      for i = #line, self.column, -1 do line[i] = nil end
    end
    for i = parameters == "2" and 1 or self.row + 1, self.rows do self.lines[i] = {} end
  end,
  m = function () end, h = function () end, l = function () end,
}

--- Shows bytes; a sequence or character that is not all there waits for its rest.
function Screen:write (bytes)
  bytes = (self.rest or "") .. bytes
  self.rest = nil
  local at = 1
  while at <= #bytes do
    local c = bytes:sub(at, at)
    local parameters, final, after = bytes:match("^\27%[([%d;?]*)(%a)()", at)
    if final then
      assert(sequences[final], "a sequence that this window does not know: " .. final)
      sequences[final](self, tonumber(parameters) or 1, parameters)
      at = after
    elseif c == "\27" then
      self.rest = bytes:sub(at)
      return
    elseif c == "\r" then self.column, at = 1, at + 1
    elseif c == "\n" then
      new_line(self)
      at = at + 1
    elseif c == "\8" then self.column, at = math.max(1, self.column - 1), at + 1
    elseif c == "\7" then at = at + 1
    else
      local text = bytes:match("^[\0-\127\194-\244][\128-\191]*", at)
      if not utf8.len(text) then
        self.rest = bytes:sub(at)
        return
      end
      put(self, text, width.of_code(utf8.codepoint(text)))
      at = at + #text
    end
  end
end

--- Lines as texts, without blanks at their ends; the last ones that are empty are left out.
function Screen:text ()
  local lines, last = {}, 0
  for i, line in ipairs(self.lines) do
    local cells = {}
    for k = 1, #line do cells[k] = line[k] or " " end
    lines[i] = table.concat(cells):gsub("%s+$", "")
    if lines[i] ~= "" then last = i end
  end
  return table.concat(lines, "\n", 1, last)
end

return Screen
