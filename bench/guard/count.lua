--- count.lua <few> <many>, under callgrind: has every call of calls.lua counted, few times and many times.
--
-- Dumps are named "few <number of the call>" and "many ...". The collector stands still from before the first call,
-- unless the call itself has it collect: when it would run depends on all that was done before. The calls before the
-- counted ones use up what it has freed.
local count = require "count"
local calls = dofile("bench/guard/calls.lua")

local FEW, MANY = tonumber(arg[1]), tonumber(arg[2])

local function repeated (call, times)
  for _ = 1, times do call() end
end

local function counted (name, call, times)
  count.reset()
  repeated(call, times)
  count.dump(name)
end

for i, entry in ipairs(calls) do
  local call = entry[2]()
  collectgarbage()
  collectgarbage("stop")
  repeated(call, MANY)
  counted("few " .. i, call, FEW)
  counted("many " .. i, call, MANY)
  collectgarbage("restart")
end
