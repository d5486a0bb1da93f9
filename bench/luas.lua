--- The same calls in Lua 5.4 and in LuaJIT: what does each cost?
--
--   make bench-luas
--   lua bench/luas.lua LUA1 BUILD1 LUA2 BUILD2   times in both, and the ratios of the second to the first
--
-- The two run by turns, in processes of their own, and the shortest time of the processor counts: other programs on the
-- machine matter little.
local ROUNDS, SECONDS = 7, 0.03


-- In a process of its own: prints the name of each call and its time -----------------------------

local function calls ()
  local peri = require "perilune"
  local normal, gamma, beta, g = peri.Normal(0.1, 1.1), peri.Gamma(2, 3), peri.Beta(2, 3), peri.rng(1)
  local x, y, ten = peri.linspace(0, 1, 10), peri.linspace(1, 2, 10), peri.linspace(0, 1, 10):totable()
  local list = {
    { "log_prob of a number",   function () return normal:log_prob(0.3) end },
    { "log_prob of 10 numbers", function () return normal:log_prob(x) end },
    { "stddev, in Lua",         function () return gamma:stddev() end },
    { "a draw",                 function () return beta:sample(nil, g) end },
    { "x * y + x of 10",        function () return x * y + x end },
    { "10 elements",            function () for i = 1, 10 do local _ = x[i] end end },
    { "a tensor of 10",         function () return peri.tensor(ten) end },
  }
  for _, call in ipairs(dofile "bench/guard/calls.lua") do list[#list + 1] = { call[1], call[2]() } end
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
    collectgarbage()
    print(call[1] .. "\t" .. string.format("%.9g", time_of(call[2])))
  end
  return
end


-- The two by turns ---------------------------------------------------------------------------

-- Takes the times of a worker into `best`, and the names into `names` in their order.
local function run (lua, build, best, names)
  local pipe = assert(io.popen(string.format(
    "LUA_PATH='lua/?.lua;lua/?/init.lua;;' LUA_CPATH='%s/?.so;;' %s bench/luas.lua worker", build, lua)))
  for line in pipe:lines() do
    local name, seconds = line:match "^(.*)\t(.*)$"
    if not best[name] then names[#names + 1] = name end
    best[name] = math.min(best[name] or math.huge, tonumber(seconds))
  end
  assert(pipe:close(), lua .. " failed")
end

local first, second, names = {}, {}, {}
for _ = 1, ROUNDS do
  run(arg[1], arg[2], first, names)
  run(arg[3], arg[4], second, {})
end
print(string.format("| microseconds | %s | %s | ratio |\n|---|---|---|---|", arg[1], arg[3]))
local logs = 0
for _, name in ipairs(names) do
  local ratio = second[name] / first[name]
  print(string.format("| %s | %.4g | %.4g | %.2f |", name, first[name] * 1e6, second[name] * 1e6, ratio))
  logs = logs + math.log(ratio)
end
print(string.format("| geometric mean | | | %.2f |", math.exp(logs / #names)))
