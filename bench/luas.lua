--- The same calls in Lua 5.4 and in LuaJIT: what does each cost?
--
--   make bench-luas
--   lua bench/luas.lua NAME LUA BUILD ...   times in each of these, and the ratios of the last to the others
--
-- They run by turns, each call in processes of its own: a collector's time depends on all that lives. The shortest
-- time of the processor counts, so that other programs on the machine matter little.
local ROUNDS, SECONDS = 7, 0.03


-- In a process of its own: prints the names of all calls, or the time of one -----------------------

-- Names, and functions that make calls.
local function calls ()
  local peri = require "perilune"
  local normal, gamma, beta, g = peri.Normal(0.1, 1.1), peri.Gamma(2, 3), peri.Beta(2, 3), peri.rng(1)
  local x, y, ten = peri.linspace(0, 1, 10), peri.linspace(1, 2, 10), peri.linspace(0, 1, 10):totable()
  local list = {}
  local function call (name, f) list[#list + 1] = { name, function () return f end } end
  call("log_prob of a number",   function () return normal:log_prob(0.3) end)
  call("log_prob of 10 numbers", function () return normal:log_prob(x) end)
  call("stddev, in Lua",         function () return gamma:stddev() end)
  call("a draw",                 function () return beta:sample(nil, g) end)
  call("x * y + x of 10",        function () return x * y + x end)
  call("10 elements",            function () for i = 1, 10 do local _ = x[i] end end)
  call("a tensor of 10",         function () return peri.tensor(ten) end)
  for _, more in ipairs(dofile "bench/guard/calls.lua") do list[#list + 1] = more end
  return list
end

-- Seconds of one call.
local function time_of (f)
  local n, clock = 1, os.clock
  while true do
    local begin = clock()
    for _ = 1, n do f() end
    local took = clock() - begin
    if took > SECONDS then return took / n end
    n = n * 2
  end
end

if arg[1] == "worker" then
  for _, call in ipairs(calls()) do
    if not arg[2] then print(call[1])
    elseif arg[2] == call[1] then print(string.format("%.9g", time_of(call[2]()))) end
  end
  return
end


-- All by turns -------------------------------------------------------------------------------

local luas = {}
for i = 1, #arg, 3 do luas[#luas + 1] = { name = arg[i], command = arg[i + 1], build = arg[i + 2] } end
local last = luas[#luas]

-- The lines that a worker prints.
local function lines_of (lua, name)
  local pipe = assert(io.popen(string.format(
    "LUA_PATH='lua/?.lua;lua/?/init.lua;;' LUA_CPATH='%s/?.so;;' %s bench/luas.lua worker %s", lua.build, lua.command,
    name and "'" .. name .. "'" or "")))
  local lines = {}
  for line in pipe:lines() do lines[#lines + 1] = line end
  assert(pipe:close(), lua.name .. " failed")
  return lines
end

-- The least seconds of a call in each.
local function least (name)
  local best = {}
  for _ = 1, ROUNDS do
    for _, lua in ipairs(luas) do
      best[lua] = math.min(best[lua] or math.huge, tonumber(lines_of(lua, name)[1]))
    end
  end
  return best
end

-- A row: the first cell, one for each Lua, and one for each but the last beside that.
local function row (first, of_lua, beside_last)
  local cells = { first }
  for _, lua in ipairs(luas) do cells[#cells + 1] = of_lua(lua) end
  for i = 1, #luas - 1 do cells[#cells + 1] = beside_last(luas[i]) end
  print("| " .. table.concat(cells, " | ") .. " |")
end

io.stdout:setvbuf "line"
row("microseconds", function (lua) return lua.name end, function (lua) return "ratio to " .. lua.name end)
row("---", function () return "---" end, function () return "---" end)
local names, logs = lines_of(luas[1]), {}
for _, name in ipairs(names) do
  local best = least(name)
  row(name, function (lua) return string.format("%.4g", best[lua] * 1e6) end, function (lua)
    logs[lua] = (logs[lua] or 0) + math.log(best[last] / best[lua])
    return string.format("%.2f", best[last] / best[lua])
  end)
end
row("geometric mean", function () return "" end,
    function (lua) return string.format("%.2f", math.exp(logs[lua] / #names)) end)
