--- Texts that readers read: from files, or given as they are.
local core   = require "perilune.core"
local errors = require "perilune.errors"

local raise = errors.raise

local source = {}

--- The library's `io`, or an error that says, if there is something, what to do without it.
function source.files (who, instead)
  if type(io) ~= "table" or not io.open then
    raise("%s: there is no io here to open files with%s", who, instead and "; " .. instead or "")
  end
  return io
end

--- The text that the first argument of a reader stands for: the name of a file, or { text = ... }. A mark of UTF-8 at
-- its beginning is left out.
function source.read (who, from)
  local text
  if type(from) == "table" and core.table_kind(from) == "named" then
    errors.check_options(who, from, { "text" })
    text = from.text
    if type(text) ~= "string" then raise("%s: text must be a string, got %s", who, core.describe(text)) end
  elseif type(from) == "string" then
    local file, why = source.files(who, "give the text itself: " .. who .. " { text = ... }").open(from, "rb")
    if not file then raise("%s: %s", who, why) end
    text, why = file:read("*a")
    file:close()
    if not text then raise("%s: %s: %s", who, from, why or "it cannot be read") end
  else
    raise("%s: takes the name of a file, or { text = ... }, got %s", who, core.describe(from))
  end
  return (text:gsub("^\239\187\191", ""))
end

--- Writes pieces of text, which `each` calls `put` with, to a file: `put(text, at)` from the byte `at` on, if that is
-- given.
function source.write (who, path, each, instead)
  if type(path) ~= "string" then raise("%s: path must be the name of a file, got %s", who, core.describe(path)) end
  local file, why = source.files(who, instead).open(path, "wb")
  if not file then raise("%s: %s", who, why) end
  local ok, problem = pcall(each, function (text, at)
    if at then file:seek("set", at) end
    local done, reason = file:write(text)
    if not done then raise("%s: %s: %s", who, path, reason) end
  end)
  local closed, reason = file:close()
  if not ok then error(problem, 0) end
  if not closed then raise("%s: %s: %s", who, path, reason) end
end

return source
