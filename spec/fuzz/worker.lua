--- Runs cases until one fails or time is up: lua spec/fuzz/worker.lua SEED FIRST LAST SECONDS FILE
-- The case is in FILE before each of its statements runs, should that be the last thing this process does.
local case    = require "spec.fuzz.case"
local program = require "spec.fuzz.program"

local seed, first, last, seconds, path = table.unpack(arg)
local stop = os.time() + tonumber(seconds)

for number = tonumber(first), tonumber(last) do
  local title = string.format("seed %s, case %d", seed, number)
  local _, found = case.run(tonumber(seed) * 1000003 + number, function (statements)
    program.write(path, statements, title)
  end)
  if found then
    print(found)
    os.exit(1)
  end
  if os.time() >= stop then break end
end
