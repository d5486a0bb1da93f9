--- The fuzzer: programs of random calls over the whole public API, made from seeds, run and judged.
--
--   make fuzz SECONDS=600 SEED=1      as long as asked, under AddressSanitizer and UBSan
--   make fuzz COUNT=100               so many cases
--   make fuzz IGNORE="slow law"       without these kinds of faults (fault.lua lists them)
--   lua build/fuzz/fault1.lua         one that was found, again
--
--   main.lua        the driver: workers in processes of their own, and a report
--   worker.lua      runs one case after another
--   case.lua        makes a case while it runs: statements.lua chooses, of calls.lua, checks.lua, surprises.lua
--   objects.lua     statements about models, fits, posteriors, pictures, data and help
--   found.lua       what was found before, which fuzz_spec.lua runs again
--   mutants.lua     saved states that were changed: a driver of its own (make mutate)
--   values.lua      expressions for arguments; params.lua parameters; surface.lua what there is to call
--   world.lua       what a case can name, and how each of its calls is watched; laws.lua what must hold
--   shrink.lua      drops statements of a case that failed
--
-- Every case is a text of plain Lua. It is written to a file before it runs, so that a crash leaves it behind.
local child   = require "spec.fuzz.child"
local program = require "spec.fuzz.program"
local shrink  = require "spec.fuzz.shrink"

local function setting (name, default) return tonumber(os.getenv("FUZZ_" .. name) or "") or default end

local SEED    = setting("SEED", 1)
local COUNT   = setting("COUNT", math.maxinteger)
local SECONDS = setting("SECONDS", 60)
local STRETCH = 20       -- seconds of a worker, after which a new process goes on
local PATIENCE = 60      -- and how long it may take beyond them
local SHRINKING = 60     -- seconds for one case
local FOLDER  = os.getenv "FUZZ_FOLDER" or "build/fuzz"

local function say (...) io.write(string.format(...), "\n") io.flush() end

-- A fault without what varies from case to case.
local function signature (kind, text)
  local plain = text:match("[^\n]*"):gsub("%d[%w.+-]*", "#")
  return kind .. ": " .. plain:sub(1, 100)
end

-- The smallest program that fails in the same way, and whether it does so by itself at all.
local function smallest (statements, wanted)
  local path, stop = FOLDER .. "/shrinking.lua", os.time() + SHRINKING
  local function fails (list)
    if os.time() > stop then return false end
    program.write(path, list, "shrinking")
    local kind, text = child.run(path, PATIENCE)
    return kind ~= nil and signature(kind, text) == wanted
  end
  if not fails(statements) then return statements, false end
  return shrink(statements, fails), true
end

local found, faults = {}, 0

local function report (kind, text, output, statements, title)
  local kept, by_itself = smallest(statements, signature(kind, text))
  if (kind == "slow" or kind == "timeout") and not by_itself then return end   -- the machine was busy
  faults = faults + 1
  local path = string.format("%s/fault%d.lua", FOLDER, faults)
  program.write(path, kept, string.format("%s: %s: %s", title, kind, text:match("[^\n]*")))
  say("\n%s (%s)\n%s: %s", path, title, kind, kind == "crash" and output or text)
  if not by_itself then say("only after the cases before it") end
  say("%s", program.text(kept, title))
end

-- Runs cases from a number on; returns the number to go on with.
local function run_from (first, seconds)
  local path = FOLDER .. "/case.lua"
  local kind, text, output = child.run(string.format("spec/fuzz/worker.lua %d %d %d %d %s", SEED, first, COUNT,
                                                     seconds, path), seconds + PATIENCE)
  local statements, title = program.read(path)
  local number = tonumber(title:match("case (%d+)")) or COUNT
  if kind and not found[signature(kind, text)] then
    found[signature(kind, text)] = true
    report(kind, text, output, statements, title)
  end
  return number + 1
end

os.execute("mkdir -p " .. FOLDER)
local stop, number = os.time() + SECONDS, 1
while os.time() < stop and number <= COUNT do
  number = run_from(number, math.max(1, math.min(STRETCH, stop - os.time())))
end
say("fuzz: seed %d, %d cases, %d faults", SEED, number - 1, faults)
os.exit(faults == 0)
