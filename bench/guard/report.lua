--- report.lua <few> <many> <compiler> <bytes> <dump> ...: instructions of each call, and the bytes of the module,
-- beside their limits.
--
-- Instructions of one call are those of MANY calls less those of FEW, over the difference: what surrounds the calls
-- cancels. UPDATE=1 in the environment writes the limits anew.
local LIMITS = "bench/guard/limits.txt"
local SLACK, OTHER_COMPILER = 1.05, 1.25   -- what a count may be of its limit

local few, many, compiler, bytes = tonumber(arg[1]), tonumber(arg[2]), arg[3], tonumber(arg[4])
local calls = dofile("bench/guard/calls.lua")
local rows = { table.unpack(calls) }   -- what is counted
rows[#rows + 1] = { "bytes of the module, stripped" }

-- "few 3" -> instructions
local function read_dumps (paths)
  local found = {}
  for _, path in ipairs(paths) do
    local file <close> = assert(io.open(path))
    local text = file:read("a")
    local name = text:match("Client Request: (%l+ %d+)")
    if name then found[name] = tonumber(text:match("\nsummary: (%d+)")) end
  end
  return found
end

local function read_limits ()
  local limits = {}
  for line in io.lines(LIMITS) do
    local name, value = line:match("^([^#|]-)%s*|%s*(.-)%s*$")
    if name then limits[name] = value end
  end
  return limits
end

local function write_limits (counts)
  local file <close> = assert(io.open(LIMITS, "w"))
  file:write("# Instructions of one call, and bytes, as `make perf-guard UPDATE=1` counted them.\n")
  file:write(string.format("%-32s | %s\n", "compiler", compiler))
  for i, entry in ipairs(rows) do file:write(string.format("%-32s | %d\n", entry[1], counts[i])) end
end

local function count_calls ()
  local dumps, counts = read_dumps(table.move(arg, 5, #arg, 1, {})), {}
  for i in ipairs(calls) do
    local less, more = dumps["few " .. i], dumps["many " .. i]
    assert(less and more, "perf-guard: callgrind did not count " .. calls[i][1])
    counts[i] = math.floor((more - less) / (many - few) + 0.5)
  end
  counts[#rows] = bytes
  return counts
end

-- Whether all are within `slack` of their limits.
local function compare (counts, limits, slack)
  local fine = true
  print(string.format("%-32s | %12s | %12s | %s", "call", "instructions", "limit", "share"))
  for i, entry in ipairs(rows) do
    local limit = tonumber(limits[entry[1]]) or 0
    local ok = counts[i] <= slack * limit
    fine = fine and ok
    print(string.format("%-32s | %12d | %12d | %.3f%s", entry[1], counts[i], limit, counts[i] / limit,
                        ok and "" or "  TOO MANY"))
  end
  return fine
end

local counts = count_calls()
if os.getenv("UPDATE") == "1" then write_limits(counts) end
local limits = read_limits()
local same = limits.compiler == compiler
local slack = same and SLACK or OTHER_COMPILER
if not same then print("perf-guard: limits are for " .. limits.compiler .. ", this is " .. compiler) end
local fine = compare(counts, limits, slack)
print(string.format("A count may be %.2f times its limit.", slack))
if not fine then
  print("Too many. If that is meant: make perf-guard UPDATE=1, and say why in the commit.")
  os.exit(1)
end
