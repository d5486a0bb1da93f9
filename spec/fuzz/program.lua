--- Programs as text: a title, a line that opens the world, and a statement on each further line.
-- Any Lua that finds the library and this folder runs them.
local program = {}

local OPENING = 'local _ENV = require "spec.fuzz.world"'

function program.text (statements, title)
  return "-- " .. title .. "\n" .. OPENING .. "\n" .. table.concat(statements, "\n") .. "\n"
end

--- The statements of such a text, and its title.
function program.parse (text)
  local list = {}
  for line in text:gmatch("[^\n]+") do list[#list + 1] = line end
  return { table.unpack(list, 3) }, list[1]:sub(4)
end

function program.write (path, statements, title)
  local file = assert(io.open(path, "w"))
  file:write(program.text(statements, title))
  file:close()
end

function program.read (path)
  local file = io.open(path)
  if not file then return {}, "" end
  local text = file:read "a"
  file:close()
  return program.parse(text)
end

return program
