--- What a prompt knows from line to line: variables, and the text of what was typed. Evaluates it.
local chunk    = require "perilune.repl.chunk"
local core     = require "perilune.core"
local explain  = require "perilune.repl.explain"
local members  = require "perilune.repl.members"
local peri     = require "perilune"
local terminal = require "perilune.terminal"

local Session = {}
Session.__index = Session

-- Names of peri, which are in scope behind those of Lua.
local function of_peri (name)
  if type(name) == "string" and not name:find "^_" and peri.has(name) then return peri[name] end
end

-- The globals, behind them the names of peri, and what a metatable of _G says. At a prompt what is unknown is an error.
local function scope (session, is_strict)
  return setmetatable({}, {
    __index = function (_, name)
      local value = rawget(_G, name)
      if value == nil then value = rawget(peri, name) end
      if value == nil then value = of_peri(name) end
      if value == nil and name == "peri" then value = peri end
      if value == nil and getmetatable(_G) then value = _G[name] end   -- which may raise, as in strict.lua
      if value ~= nil or not is_strict or name == "_" then return value end
      core.raise(explain.unknown(tostring(name), session:names()))
    end,
    __newindex = function (_, name, value) _G[name] = value end,
    __pairs = function () return pairs(_G) end,
  })
end

--- `command` is how messages call the file that runs it, if there is one.
function Session.new (command)
  local self = setmetatable({ cells = {}, inputs = {}, command = command }, Session)
  self.env, self.file_env = scope(self, true), scope(self, false)
  self.context = {
    line    = function (source, number) return self:line(source, number) end,
    look_up = function (name) return self:look_up(name) end,
    names   = function () return self:names() end,
  }
  return self
end

--- The value of a variable, or nil.
function Session:look_up (name)
  if self.cells[name] then return chunk.get(self.cells[name]) end
  return self.file_env[name]
end

--- All names of variables.
function Session:names ()
  local list = members.of(peri)
  for name in pairs(self.cells) do list[#list + 1] = name end
  for name in pairs(_G) do
    if type(name) == "string" then list[#list + 1] = name end
  end
  list[#list + 1] = "peri"
  return list
end

--- A line of what was typed, or of a file.
function Session:line (source, number)
  local text = self.inputs[tonumber(source:match "^%[input (%d+)%]$")]
  if not text then
    local file = io.open(source)
    text = file and file:read "a" or ""
    if file then file:close() end
  end
  local n = 0
  for line in (text .. "\n"):gmatch "(.-)\n" do
    n = n + 1
    if n == number then return line end
  end
end

-- An error without noise: no lines of ours, or of the command (where a call that is the whole input seems to come
-- from, as a tail call), nor places where a module was looked for; one line of input has no number, and earlier input
-- is named as such.
local function without_noise (self, message)
  local command = self.command and message:sub(1, #self.command) == self.command and #self.command
  message = command and message:match("^:%d+: (.*)$", command + 1) or message
  message = message:gsub("^[^\n]-perilune/[%w_/.]-%.lua:%d+: ", ""):gsub(":?\n\tno f[^\n]*", "")
  local input, line, rest = message:match "^%[input (%d+)%]:(%d+): (.*)$"
  if not input then return message end
  local is_earlier, is_long = tonumber(input) ~= #self.inputs, self.inputs[tonumber(input)]:find "\n"
  if not is_earlier then return is_long and string.format("line %s: %s", line, rest) or rest end
  return string.format("%s (%san earlier input)", rest, is_long and "line " .. line .. " of " or "in ")
end

-- How many levels the stack has, as the caller counts: each question costs as many steps as the level is deep.
local function depth ()
  local low, high = 1, 2
  while debug.getinfo(high, "l") do low, high = high, 2 * high end
  while high - low > 1 do
    local middle = math.floor((low + high) / 2)
    if debug.getinfo(middle, "l") then low = middle else high = middle end
  end
  return low - 1
end

local BELOW = 30   -- levels below what is typed: this command

-- The level where the function of what was typed runs, as the caller counts; nil if it does not.
local function level_of (f)
  local deepest = depth()
  for level = deepest, math.max(2, deepest - BELOW), -1 do
    if debug.getinfo(level, "f").func == f then return level - 1 end
  end
end

local MOST_FRAMES, MOST_LEVELS = 10, 1000

-- Frames of files that are not ours, nearest first, up to where we called.
local function user_frames (level)
  local frames = {}
  for i = level, level + MOST_LEVELS do
    local info = debug.getinfo(i, "Slf")
    if not info or info.func == terminal.protected or #frames == MOST_FRAMES then break end
    local is_file = info.source:find "^@" and not info.source:find("perilune/", 1, true) and info.currentline > 0
    if is_file then frames[#frames + 1] = string.format("%s:%d", info.short_src, info.currentline) end
  end
  return frames
end

-- Calls f as it is typed: true and its results; or false and a message, where `declared` names its locals.
local function run (self, f, declared)
  local frames
  local function on_error (raised)
    local level = declared and level_of(f)
    if level then chunk.rescue(level, declared, self.cells) end
    frames = user_frames(2)
    if type(raised) ~= "string" then return { raised = raised } end
    local message = explain.message(raised, 2, self.context)   -- no tail call: levels are counted
    return message
  end
  local results = table.pack(terminal.protected(f, on_error))
  if results[1] == true then return results end
  local message = results[2]
  if type(message) == "table" and message.raised ~= message then message = explain.text(message.raised) end
  if results[1] == "interrupted" or tostring(message):find("interrupted!", 1, true) then message = "interrupted" end
  return { false, without_noise(self, tostring(message)), frames = frames, n = 2 }
end

--- Calls f; its results behind true, or false and a message.
function Session:protect (f) return run(self, f) end

--- Is this a whole text? False if more is to come.
function Session:is_whole (text) return chunk.kind(text) ~= "unfinished" end   -- luacheck: ignore self

-- Compiles what is typed; the function, the names of its locals.
local function compile (self, text, name)
  local kind, message = chunk.kind(text, name)
  if kind == "unfinished" then
    kind, message = nil, select(2, load(text, name, "t"))
  end
  if not kind then return nil, message end
  text = kind == "expression" and "return " .. text or chunk.returning(text)
  return chunk.compile(text, name, self.cells, self.env)
end

--- Evaluates what was typed: a table with n results behind true, or with false and a message. `_` becomes the first.
function Session:evaluate (text)
  self.inputs[#self.inputs + 1] = text
  local f, declared = compile(self, text, string.format("=[input %d]", #self.inputs))
  if not f then return { false, without_noise(self, declared), n = 2 } end
  local results = run(self, f, declared)
  if results[1] and results.n > 1 then chunk.set(self.cells, "_", results[2]) end
  results.silent = chunk.is_silent(text)
  return results
end

--- Runs a file ("-": standard input) with arguments, as lua does.
function Session:run_file (path, ...)
  local arguments = table.pack(...)
  local f, message = loadfile(path ~= "-" and path or nil, "bt", self.file_env)
  if not f then return { false, message, n = 2 } end
  return run(self, function () return f(table.unpack(arguments, 1, arguments.n)) end)
end

return Session
