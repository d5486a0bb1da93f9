--- A line editor: what is typed, with Emacs's keys, history, completion, any number of lines.
local characters = require "perilune.characters"
local clean      = require "perilune.repl.clean"
local colour     = require "perilune.repl.colour"
local Keys       = require "perilune.repl.keys"
local Screen     = require "perilune.repl.screen"
local terminal   = require "perilune.terminal"
local tokens_of  = require "perilune.repl.tokens"
local width      = require "perilune.repl.width"

local Editor = {}
Editor.__index = Editor

--- An editor with a history; `complete(text, cursor)` gives where a word begins and the names that it may become, and
-- `is_whole(text)` says whether Enter ends it.
function Editor.new (history, complete, is_whole)
  return setmetatable({ history = history, complete = complete, is_whole = is_whole, killed = "",
                        keys = Keys.new(), screen = Screen.new() }, Editor)
end


-- Places in a text ----------------------------------------------------------------------------

local function code_at (text, at) return (utf8.codepoint(text, at, at, true)) end

-- Is there a mark that combines with the character before it?
local function is_mark (text, at) return at <= #text and width.of_code(code_at(text, at)) == 0 end

-- The place after the character at `at`, with its marks; and before it.
local function next_place (text, at)
  if at > #text then return at end
  repeat at = utf8.offset(text, 2, at) until not is_mark(text, at)
  return at
end

local function place_before (text, at)
  if at <= 1 then return 1 end
  repeat at = utf8.offset(text, -1, at) until at == 1 or not is_mark(text, at)
  return at
end

local WORD = "[%w_\128-\255]"

local function word_end (text, at)
  local first = text:find(WORD, at)
  return first and (text:find("[^%w_\128-\255]", first) or #text + 1) or #text + 1
end

local function word_start (text, at)
  while at > 1 and not text:find("^" .. WORD, at - 1) do at = at - 1 end
  while at > 1 and text:find("^" .. WORD, at - 1) do at = at - 1 end
  return at
end

local function line_start (text, at) return text:sub(1, at - 1):match "^.*\n()" or 1 end

local function line_end (text, at) return text:find("\n", at, true) or #text + 1 end

-- The place in the line that begins at `start` as many characters along it as `at` is along its own.
local function same_column (text, at, start)
  local along = utf8.len(text, line_start(text, at), at - 1, true) or 0
  local last = line_end(text, start)
  for _ = 1, along do
    if start >= last then break end
    start = utf8.offset(text, 2, start)
  end
  return start
end


-- Changes ---------------------------------------------------------------------------------------

local function remember (self)
  self.undo[#self.undo + 1] = { self.text, self.cursor }
end

-- Puts `new` in the place of bytes first to last - 1.
local function replace (self, first, last, new)
  remember(self)
  self.text = self.text:sub(1, first - 1) .. new .. self.text:sub(last)
  self.cursor = first + #new
  self.at = nil
end

local function insert (self, text) replace(self, self.cursor, self.cursor, text) end

-- Takes text away that "ctrl-y" brings back; what is killed at one go is one piece.
local function kill (self, first, last)
  if first >= last then return end
  local piece, back = self.text:sub(first, last - 1), first < self.cursor
  if not self.was_killing then self.killed = piece
  elseif back then self.killed = piece .. self.killed
  else self.killed = self.killed .. piece end
  replace(self, first, last, "")
  self.is_killing = true
end

local function set (self, text)
  remember(self)
  self.text, self.cursor = text, #text + 1
end


-- Indentation -----------------------------------------------------------------------------------

local OPENS  = { ["function"] = true, ["do"] = true, ["then"] = true, ["repeat"] = true, ["else"] = true,
                 ["{"] = true, ["("] = true }
local CLOSES = { ["end"] = true, ["until"] = true, ["elseif"] = true, ["else"] = true, ["}"] = true, [")"] = true }

-- How deep a line is that follows a text: on how many lines there are blocks and brackets that are still open.
local function depth (text)
  local lines = {}   -- of those that are open
  for _, token in ipairs(tokens_of(text)) do
    if token.kind == "keyword" or token.kind == "symbol" then
      if CLOSES[token.text] then table.remove(lines) end
      if OPENS[token.text] then lines[#lines + 1] = token.line end
    end
  end
  local n = 0
  for i, line in ipairs(lines) do
    if line ~= lines[i - 1] then n = n + 1 end
  end
  return n
end

-- A word that closes a block, alone on its line so far, moves to where the block began.
local function settle (self)
  local start = line_start(self.text, self.cursor)
  local indent, word = self.text:sub(start, self.cursor - 1):match "^( *)(%S+)$"
  if start == 1 or not word or not CLOSES[word] then return end
  local deep = depth(self.text:sub(1, start - 1))
  if #indent ~= 2 * deep or deep == 0 then return end
  self.text = self.text:sub(1, start - 1) .. self.text:sub(start + 2)
  self.cursor = self.cursor - 2
end

local function new_line (self)
  local indent = self.keys:is_waiting() and "" or string.rep("  ", depth(self.text:sub(1, self.cursor - 1)))
  insert(self, "\n" .. indent)
end


-- Completion ------------------------------------------------------------------------------------

local function common_start (names)
  local start = names[1]
  for _, name in ipairs(names) do
    while name:sub(1, #start) ~= start do start = start:sub(1, -2) end
  end
  while not utf8.len(start) do start = start:sub(1, -2) end
  return start
end

local function show_names (self, names)
  local lines, most = Screen.columns(names), 12
  if #lines > most then
    local n = #lines
    for i = most + 1, n do lines[i] = nil end
    lines[most] = colour.paint("faint", string.format("... %d names in all", #names))
  end
  self.below = lines
end

local function complete (self)
  local before = self.text:sub(line_start(self.text, self.cursor), self.cursor - 1)
  if before:find "^%s*$" then return insert(self, "  ") end
  local ok, first, names = pcall(self.complete, self.text, self.cursor)   -- __names may be a user's
  if not ok or #names == 0 then return end
  local start, typed = common_start(names), self.text:sub(first, self.cursor - 1)
  if #start > #typed or #names == 1 then replace(self, first, self.cursor, start) end
  if #names > 1 then show_names(self, names) end
end


-- History ---------------------------------------------------------------------------------------

-- To the entry before or after that begins as what was typed does.
local function recall (self, step)
  local list = self.history.list
  if not self.at then
    self.at, self.typed = #list + 1, self.text
  end
  local start = self.typed
  local at = self.history:find(self.at, step, function (text)
    return text:sub(1, #start) == start and text ~= self.text
  end)
  if not at and step < 0 then return end
  set(self, at and list[at] or self.typed)
  self.at = at or #list + 1
end

-- Typing looks for the latest entry that contains it; "ctrl-r" for one before. Any other key takes what was found.
local function search (self)
  local before, cursor = self.text, self.cursor
  local word, at, failed = "", #self.history.list + 1, false
  local function look (step)
    local found = self.history:find(at, step, function (text) return text:find(word, 1, true) ~= nil end)
    failed = not found
    if found then
      at, self.text = found, self.history.list[found]
      self.cursor = self.text:find(word, 1, true)
    end
  end
  while true do
    self.below = { colour.paint("faint", (failed and "no such line: " or "search: ") .. word) }
    self:draw()
    local key, text = self.keys:next()
    if key == "ctrl-r" then look(-1)
    elseif key == "ctrl-s" then look(1)
    elseif key == "backspace" then
      word, at = word:sub(1, place_before(word, #word + 1) - 1), #self.history.list + 1
      look(-1)
    elseif key == "ctrl-g" or key == "ctrl-c" then
      self.text, self.cursor = before, cursor
      return
    elseif key and utf8.len(key) == 1 then
      word, at = word .. key, math.min(at + 1, #self.history.list + 1)
      look(-1)
    elseif key ~= "resize" then return key, text end
  end
end


-- Keys ------------------------------------------------------------------------------------------

local function go (place) return function (self) self.cursor = place(self.text, self.cursor) end end
local function kill_to (place)
  return function (self)
    local other = place(self.text, self.cursor)
    kill(self, math.min(self.cursor, other), math.max(self.cursor, other))
  end
end

-- The end of this line, or of the break behind it.
local function kill_end (text, at)
  local last = line_end(text, at)
  return last == at and next_place(text, at) or last
end

local function blank_start (text, at)
  return characters.trim_end(text:sub(1, at - 1)):match "^.*%s()" or 1
end

local function delete_back (self)
  local first = place_before(self.text, self.cursor)
  if first < self.cursor then replace(self, first, self.cursor, "") end
end

local function delete (self)
  local last, at = next_place(self.text, self.cursor), self.cursor
  if last > at then replace(self, at, last, "") end
  self.cursor = at
end

local function previous_line (self)
  local start = line_start(self.text, self.cursor)
  if start == 1 then return recall(self, -1) end
  self.cursor = same_column(self.text, self.cursor, line_start(self.text, start - 1))
end

local function following_line (self)
  local last = line_end(self.text, self.cursor)
  if last > #self.text then return self.at and recall(self, 1) end
  self.cursor = same_column(self.text, self.cursor, last + 1)
end

local function swap (self)
  local text, at = self.text, self.cursor
  if at > #text then at = place_before(text, at) end
  local first, last = place_before(text, at), next_place(text, at)
  if first == at then return end
  replace(self, first, last, text:sub(at, last - 1) .. text:sub(first, at - 1))
end

local function take_back (self)
  local state = table.remove(self.undo)
  if state then self.text, self.cursor = state[1], state[2] end
end

local function enter (self)
  if not self.is_whole(self.text) then return new_line(self) end
  self.done = self.text
end

local function leave_or_delete (self)
  if self.text ~= "" then return delete(self) end
  self.ended = true
end

local function forget (self)
  if self.text == "" then self.below = { colour.paint("faint", "Ctrl-D leaves") } end
  set(self, "")
  self.at = nil
end

local function suspend (self)
  self:leave()
  terminal.suspend()
  self:enter()
  self.screen:forget()
end

local COMMANDS = {
  ["left"]   = go(place_before),  ["ctrl-b"] = go(place_before),
  ["right"]  = go(next_place),    ["ctrl-f"] = go(next_place),
  ["home"]   = go(line_start),    ["ctrl-a"] = go(line_start),
  ["end"]    = go(line_end),      ["ctrl-e"] = go(line_end),
  ["alt-b"]  = go(word_start),    ["alt-left"] = go(word_start),  ["ctrl-left"] = go(word_start),
  ["alt-f"]  = go(word_end),      ["alt-right"] = go(word_end),   ["ctrl-right"] = go(word_end),
  ["alt-<"]  = go(function () return 1 end),
  ["alt->"]  = go(function (text) return #text + 1 end),
  ["up"]     = previous_line,     ["ctrl-p"] = previous_line,
  ["down"]   = following_line,    ["ctrl-n"] = following_line,
  ["backspace"] = delete_back,    ["ctrl-h"] = delete_back,       ["delete"] = delete,
  ["ctrl-k"] = kill_to(kill_end), ["ctrl-u"] = kill_to(line_start), ["ctrl-w"] = kill_to(blank_start),
  ["alt-d"]  = kill_to(word_end), ["alt-backspace"] = kill_to(word_start),
  ["ctrl-y"] = function (self) insert(self, self.killed) end,
  ["ctrl-t"] = swap,              ["ctrl-_"] = take_back,
  ["ctrl-l"] = function (self) self.screen:clear() end,
  ["ctrl-c"] = forget,            ["ctrl-d"] = leave_or_delete,   ["ctrl-z"] = suspend,
  ["enter"]  = enter,             ["alt-enter"] = new_line,       ["tab"] = complete,
  ["paste"]  = function (self, text) insert(self, clean(text):match "^.*[^\n]" or "") end,
}

-- Does what a key says.
local function press (self, key, text)
  self.was_killing, self.is_killing, self.below = self.is_killing, false, nil
  if key == "ctrl-r" then
    key, text = search(self)
    self.below = nil
    if not key then return end
  end
  if COMMANDS[key] then return COMMANDS[key](self, text) end
  if utf8.len(key) == 1 then
    insert(self, key .. self.keys:plain())
    settle(self)
  end
end

function Editor:draw (finish)
  local view = { prompt = self.prompt, continuation = self.continuation, text = self.text, cursor = self.cursor,
                 kinds = colour.kinds(self.text), below = self.below }
  if finish then self.screen:finish(view) else self.screen:draw(view) end
end

--- Takes the terminal, with pastes marked as such; and gives it back. False if it is none.
function Editor:enter ()
  self.mode = terminal.raw()
  if not self.mode then return false end
  io.stdout:write "\27[?2004h"
  return true
end

function Editor:leave ()
  io.stdout:write "\27[?2004l"
  io.stdout:flush()
  self.mode:restore()
end

-- Reads keys until Enter or the end.
local function read_keys (self)
  while not self.done and not self.ended do
    if not self.keys:is_waiting() then self:draw() end
    local key, text = self.keys:next()
    if key == nil then self.ended = true
    elseif key ~= "resize" then press(self, key, text) end
  end
end

--- Reads a text; nil at the end of the input.
function Editor:read (prompt, continuation)
  self.prompt, self.continuation, self.text, self.cursor = prompt, continuation, "", 1
  self.undo, self.below, self.done, self.ended, self.at = {}, nil, nil, false, nil
  if not self:enter() then return nil end
  Screen.start_line()
  local ok, message = pcall(read_keys, self)
  self.below = nil
  if ok then self:draw(true) end
  self:leave()
  if not ok then error(message, 0) end
  return self.done
end

return Editor
