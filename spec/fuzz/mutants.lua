--- Makes mutations of saved states (mutate.lua) by the hundred thousand, in processes of their own.
--
--   make mutate COUNT=100000 SEED=1               under AddressSanitizer and UBSan
--   lua spec/fuzz/mutants.lua SEED FIRST LAST     these alone, in this process
local child  = require "spec.fuzz.child"
local mutate = require "spec.fuzz.mutate"

local STRETCH  = 2000    -- mutations of a process,
local PATIENCE = 1200    -- and its seconds

local function setting (name, default) return tonumber(os.getenv("FUZZ_" .. name) or "") or default end

local folder = os.getenv "FUZZ_FOLDER" or "build/fuzz"
local path = folder .. "/mutant"

-- Numbers first to last, the present one being in a file, should the process end there.
local function work (seed, first, last)
  local file = assert(io.open(path, "w"))
  file:setvbuf "no"
  local taken = 0
  for number = first, last do
    file:seek("set", 0)
    file:write(string.format("%-12d", number))
    local ok, found = pcall(mutate.one, seed, number)
    if not ok then
      print(found)
      os.exit(1)
    end
    taken = taken + (found and 1 or 0)
  end
  print(taken .. " taken")
end

local function number_reached ()
  local file = assert(io.open(path))
  local number = file:read "n"
  file:close()
  return math.tointeger(number)
end

local function drive (seed, count)
  local faults, next_one = 0, 1
  while next_one <= count do
    local last = math.min(next_one + STRETCH - 1, count)
    local kind, text = child.run(string.format("spec/fuzz/mutants.lua %d %d %d", seed, next_one, last), PATIENCE)
    if kind then
      faults, last = faults + 1, number_reached()
      print(string.format("lua spec/fuzz/mutants.lua %d %d %d\n%s: %s", seed, last, last, kind, text))
    end
    next_one = last + 1
  end
  print(string.format("mutate: seed %d, %d mutations of saved states, %d faults", seed, count, faults))
  os.exit(faults == 0)
end

os.execute("mkdir -p " .. folder)
if arg[1] then work(math.tointeger(arg[1]), math.tointeger(arg[2]), math.tointeger(arg[3] or arg[2]))
else drive(setting("SEED", 1), setting("COUNT", 100000)) end
