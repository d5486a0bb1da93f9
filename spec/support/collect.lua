--- busted --helper: the collector's pause is 0 while a test runs, for up to a second. The interpreter
-- `collecting` of `make asan` then has finalizers run whenever a C function allocates.
local busted = require "busted"

local SECONDS = 1

busted.subscribe({ "test", "start" }, function ()
  local begin = os.clock()
  collectgarbage("setpause", 0)
  debug.sethook(function ()
    if os.clock() - begin < SECONDS then return end
    collectgarbage("setpause", 200)
    debug.sethook()
  end, "", 100)
end)

busted.subscribe({ "test", "end" }, function ()
  debug.sethook()
  collectgarbage("setpause", 200)
end)
