--- For busted under LuaJIT (make luajit): what specs use of Lua 5.3 and later.
require "perilune.compat"
local core = require "perilune.core"

-- One number or one integer, eight bytes.
rawset(string, "pack", string.pack or function (format, x)
  if format == "<d" then return core.double_word(x) end
  if format == "<i8" then return core.integer_word(x) end
  error("no string.pack for " .. format)
end)
