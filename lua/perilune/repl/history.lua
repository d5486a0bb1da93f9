--- What was typed, from session to session, in a file with one entry a line.
--
-- The file is $XDG_STATE_HOME/perilune/history, or ~/.local/state/perilune/history. Where it cannot be written nothing
-- is said: history then ends with the session.
local clean    = require "perilune.repl.clean"
local terminal = require "perilune.terminal"

local MOST = 5000   -- entries that are kept when the file is read

local History = {}
History.__index = History

local function encoded (text) return (text:gsub("\\", "\\\\"):gsub("\n", "\\n")) end

local function decoded (line)
  return (line:gsub("\\(.)", function (c) return c == "n" and "\n" or c end))
end

-- The file, its folders made; nil without a home.
local function path_of_file ()
  local home, state = os.getenv "HOME", os.getenv "XDG_STATE_HOME"
  if not state or state == "" then
    if not home or home == "" then return nil end
    terminal.make_directory(home .. "/.local")
    state = home .. "/.local/state"
  end
  terminal.make_directory(state)
  terminal.make_directory(state .. "/perilune")
  return state .. "/perilune/history"
end

local function lines_of (path)
  local list, file = {}, path and io.open(path)
  if not file then return list end
  for line in file:lines() do list[#list + 1] = line end
  file:close()
  return list
end

-- Writes the file anew, beside it first: what is there is never half of it.
local function rewrite (path, list)
  local beside = path .. ".new"
  local file = io.open(beside, "w")
  if not file then return end
  for _, text in ipairs(list) do file:write(encoded(text), "\n") end
  if file:close() then os.rename(beside, path) end
end

--- The history of earlier sessions.
function History.open ()
  local self = setmetatable({ path = path_of_file() }, History)
  local all = lines_of(self.path)
  self.list = {}
  for i = math.max(1, #all - MOST + 1), #all do   -- whatever the file has, it can be shown
    self.list[#self.list + 1] = clean(decoded(all[i]))
  end
  if #all > 2 * MOST then rewrite(self.path, self.list) end
  return self
end

--- Adds what was typed, unless it is the same as before or begins with a space.
function History:add (text)
  if text:find "^%s" or text == "" or text == self.list[#self.list] then return end
  self.list[#self.list + 1] = text
  local file = self.path and io.open(self.path, "a")
  if not file then return end
  file:write(encoded(text), "\n")
  file:close()
end

--- The nearest entry before (step -1) or after (1) number `at` for which fits(text); its number, or nil.
function History:find (at, step, fits)
  at = at + step
  while self.list[at] do
    if fits(self.list[at]) then return at end
    at = at + step
  end
end

return History
