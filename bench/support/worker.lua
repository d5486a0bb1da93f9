--- worker.lua <table>: times perilune's workloads of bench/<table>.lua.
--
-- Reads requests from standard input, and answers each on standard output:
--   rows                     the rows of the table, one a line, then an empty line
--   <workload> TAB <threads> one timed round: seconds for one call
--   result TAB <workload> TAB <threads> digests of what a call returns, to be compared
-- A workload is a function that prepares its data and returns the call to time, and another that returns its
-- results where the first does not.
-- The first request of a workload prepares and decides how many calls make a round.
local peri  = require "perilune"
local clock = require "clock"

local ROUND, FEWEST = 0.02, 3   -- a round lasts so many seconds and calls at least
local SHOWN = 64                -- elements of a result in its digest

local rows = dofile("bench/" .. arg[1] .. ".lua")

local function describe (row)
  return table.concat({ row[1], row.threads or 1, row.torch or "", row.torch32 or "", row.hand or "",
                        row.limit or "", row.malloc or "" }, "\t")
end

local function seconds (call, calls)
  local start = clock()
  for _ = 1, calls do call() end
  return (clock() - start) / calls
end

local function calls_for (call)
  local calls = 1
  while seconds(call, calls) * calls < ROUND do calls = 2 * calls end
  return math.max(calls, FEWEST)
end

local function find (name)
  for _, row in ipairs(rows) do if row[1] == name then return row[2] end end
  error("bench/" .. arg[1] .. ".lua has no workload " .. name)
end

-- One workload at a time keeps its data.
local current = {}

local function prepare (request)
  local name, threads = request:match("^(.-)\t(%d+)$")
  current.request, current.call, current.result = request, nil, nil
  collectgarbage()
  peri.set_threads(math.tointeger(threads))
  current.call, current.result = find(name)()
  current.calls = calls_for(current.call)
end

-- What tells one tensor or number from another: how many elements, the sum of their sizes, their sum, and some of them.
local function digest (x)
  if type(x) ~= "number" then x = x:detach() end
  local t = type(x) == "number" and peri.tensor { x } or x:reshape(-1)
  local n = #t
  local parts = { n, peri.abs(t):sum(), t:sum() }
  for k = 0, SHOWN - 1 do parts[#parts + 1] = t:at(k * n // SHOWN + 1) end
  for i, part in ipairs(parts) do parts[i] = string.format(" %.17g", part) end
  return table.concat(parts)
end

local function digests (...)
  local parts = { ... }
  for i, part in ipairs(parts) do parts[i] = digest(part) end
  return table.concat(parts)
end

for request in io.lines() do
  local result = request:match("^result\t(.*)")
  if request == "rows" then
    for _, row in ipairs(rows) do print(describe(row)) end
    print()
  else
    if (result or request) ~= current.request then prepare(result or request) end
    if result then print(digests((current.result or current.call)()))
    else print(string.format("%.9g", seconds(current.call, current.calls))) end
  end
  io.flush()
end
