--- The command perilune in a terminal of its own (pty.c), or in a pipe.
local assert = require "luassert"
local Screen = require "spec.support.screen"

local PATIENCE = 60   -- seconds for anything to appear, on however busy a machine

local build = assert(os.getenv "LUA_CPATH", "run by make"):match "([^;]*)/%?%.so"   -- busted puts folders before it
assert(os.execute("make -s BUILD='" .. build .. "' pty"))
local pty = require "pty"

-- The interpreter that runs the specs: the first word of its command line.
local function interpreter ()
  local i = 0
  while arg and arg[i - 1] do i = i - 1 end
  return arg and arg[i] or "lua5.4"
end

local function environment (settings)
  local words = { "env", "-i", "PATH=" .. os.getenv "PATH", "LUA_PATH=" .. package.path, "LUA_CPATH=" .. package.cpath,
                  "ASAN_OPTIONS=" .. (os.getenv "ASAN_OPTIONS" or ""),
                  "LUA_INIT_5_4=" .. (os.getenv "LUA_INIT_5_4" or "") }
  for name, value in pairs(settings) do words[#words + 1] = name .. "=" .. value end
  return words
end

local Prompt = {}
Prompt.__index = Prompt

--- A folder that is there until the specs end.
function Prompt.folder ()
  local name = os.tmpname()
  os.remove(name)
  assert(os.execute("mkdir -p " .. name))
  return name
end

--- Starts it: columns, rows, home, settings (of the environment), words (arguments), under (words of a command that
-- runs it).
function Prompt.open (options)
  options = options or {}
  local columns, rows = options.columns or 80, options.rows or 24
  local settings = { TERM = "xterm", HOME = options.home or Prompt.folder(), NO_COLOR = "1" }
  for name, value in pairs(options.settings or {}) do settings[name] = value end
  local words = environment(settings)
  for _, word in ipairs(options.under or {}) do words[#words + 1] = word end
  for _, word in ipairs { interpreter(), "bin/perilune", table.unpack(options.words or {}) } do
    words[#words + 1] = word
  end
  local self = setmetatable({ terminal = pty.open(columns, rows, words), screen = Screen.new(columns, rows),
                              all = "" }, Prompt)
  if options.await ~= false then self:await "> $" end
  return self
end

-- Takes what is there now, or comes within so many milliseconds; false at the end.
local function take (self, milliseconds)
  local bytes = self.terminal:read(milliseconds)
  if bytes == nil then return false end
  self.all = self.all .. bytes
  self.screen:write(bytes)
  return true
end

local function text (self) return (self.screen:text():gsub("> *$", "> ")) end

--- Waits until the window's text matches a pattern, and returns the captures.
function Prompt:await (pattern)
  local ends = os.time() + PATIENCE
  while true do
    local found = { text(self):match(pattern) }
    if found[1] then return table.unpack(found) end
    if os.time() > ends or not take(self, 100) then
      error("no " .. pattern .. " in\n" .. text(self), 2)
    end
  end
end

--- Types bytes again and again, until the window's text matches a pattern.
function Prompt:insist (bytes, pattern)
  local ends = os.time() + PATIENCE
  repeat
    self:type(bytes)
    for _ = 1, 20 do take(self, 10) end
    if os.time() > ends then error("no " .. pattern .. " in\n" .. text(self), 2) end
  until text(self):find(pattern)
end

--- Types bytes.
function Prompt:type (bytes) self.terminal:write(bytes) end

--- Empties the line, and the window.
function Prompt:fresh ()
  self:type "\3\12"
  self:await "^> $"
end

--- Types a line and Enter, and waits for the next prompt: what came in between.
function Prompt:enter (line)
  self:fresh()
  self:type(line .. "\r")
  local shown = self:await "^> .-\n(.*)> $"
  while shown:find "^%. " do shown = shown:gsub("^%. [^\n]*\n", "") end
  return (shown:gsub("\n$", ""))
end

--- Waits, and checks that the window shows exactly this, prompt included.
function Prompt:shows (expected)
  local ends = os.time() + PATIENCE
  while text(self) ~= expected and os.time() < ends and take(self, 100) do end   -- luacheck: ignore 542
  assert.equal(expected, text(self))
end

function Prompt:resize (columns, rows)
  self.terminal:resize(columns, rows)
  self.screen.columns = columns
end

--- Ends the input, unless it was ended by other means; the exit code.
function Prompt:close (is_ended)
  local ends = os.time() + PATIENCE
  if not is_ended then self:type "\3\4" end
  while take(self, 100) and os.time() < ends do end   -- luacheck: ignore 542
  return self.terminal:close()
end

--- What the command writes with this input in a pipe, errors too; and its exit code.
function Prompt.pipe (input, words, settings)
  local folder = Prompt.folder()
  local all = environment(settings or { HOME = folder, TERM = "xterm" })
  for _, word in ipairs { interpreter(), "bin/perilune", table.unpack(words or {}) } do all[#all + 1] = word end
  for i, word in ipairs(all) do all[i] = "'" .. word:gsub("'", "'\\''") .. "'" end
  local file = assert(io.open(folder .. "/input", "w"))
  file:write(input)
  file:close()
  local command = table.concat(all, " ") .. " <" .. folder .. "/input 2>&1; echo \"exit $?\""
  local pipe = assert(io.popen(command))
  local output = pipe:read "a"
  pipe:close()
  local shown, code = output:match "^(.*)exit (%d+)\n$"
  return shown, tonumber(code)
end

return Prompt
