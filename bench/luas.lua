--- The same calls in Lua 5.4 and in LuaJIT: what does each cost?
--
--   make bench-luas
--   lua bench/luas.lua LUA1 BUILD1 LUA2 BUILD2   times in both, and the ratios of the second to the first
--
-- The two run by turns, each call in processes of its own: a collector's time depends on all that lives. The shortest
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


-- The two by turns ---------------------------------------------------------------------------

-- The lines that a worker prints.
local function lines_of (lua, build, name)
  local pipe = assert(io.popen(string.format(
    "LUA_PATH='lua/?.lua;lua/?/init.lua;;' LUA_CPATH='%s/?.so;;' %s bench/luas.lua worker %s", build, lua,
    name and "'" .. name .. "'" or "")))
  local lines = {}
  for line in pipe:lines() do lines[#lines + 1] = line end
  assert(pipe:close(), lua .. " failed")
  return lines
end

local function seconds (lua, build, name) return tonumber(lines_of(lua, build, name)[1]) end

print(string.format("| microseconds | %s | %s | ratio |\n|---|---|---|---|", arg[1], arg[3]))
io.stdout:setvbuf "line"
local names, logs = lines_of(arg[1], arg[2]), 0
for _, name in ipairs(names) do
  local first, second = math.huge, math.huge
  for _ = 1, ROUNDS do
    first  = math.min(first, seconds(arg[1], arg[2], name))
    second = math.min(second, seconds(arg[3], arg[4], name))
  end
  print(string.format("| %s | %.4g | %.4g | %.2f |", name, first * 1e6, second * 1e6, second / first))
  logs = logs + math.log(second / first)
end
print(string.format("| geometric mean | | | %.2f |", math.exp(logs / #names)))
