--- worker.lua <table>: times perilune's workloads of bench/<table>.lua.
--
-- Reads requests from standard input, and answers each on standard output:
--   rows                     the rows of the table, one a line, then an empty line
--   <workload> TAB <threads> one timed round: seconds for one call
-- A workload is a function that prepares its data and returns the call to time.
-- The first request of a workload prepares and decides how many calls make a round.
local peri  = require "perilune"
local clock = require "clock"

local ROUND, FEWEST = 0.02, 3   -- a round lasts so many seconds and calls at least

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
  current.request, current.call = request, nil
  collectgarbage()
  peri.set_threads(math.tointeger(threads))
  current.call = find(name)()
  current.calls = calls_for(current.call)
end

for request in io.lines() do
  if request == "rows" then
    for _, row in ipairs(rows) do print(describe(row)) end
    print()
  else
    if request ~= current.request then prepare(request) end
    print(string.format("%.9g", seconds(current.call, current.calls)))
  end
  io.flush()
end
