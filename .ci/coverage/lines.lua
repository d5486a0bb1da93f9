--- Every Lua of `make coverage` begins with this file: the hook is set, and again when a program has removed its own.
local start, sethook, gethook = require "lines", debug.sethook, debug.gethook

function debug.sethook (...)
  sethook(...)
  if not gethook() then start() end
end
