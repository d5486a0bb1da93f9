--- memory.lua: prints the peak memory of one KL(Normal || Normal) of 1e7 elements
-- above its inputs, in units of the result's array. (Linux.)
local peri = require "perilune"

local N = 10000000

local function resident (what)   -- bytes
  local status = assert(io.open("/proc/self/status")):read("a")
  return 1024 * tonumber(status:match(what .. ":%s+(%d+) kB"))
end

local function forget_peak ()
  local f = assert(io.open("/proc/self/clear_refs", "w"))
  f:write("5")
  f:close()
end

local g = peri.rng(1)
local p = peri.Normal(g:normal(N), g:uniform(N) + 0.5)
local q = peri.Normal(g:normal(N), g:uniform(N) + 0.5)
collectgarbage()
forget_peak()
local before = resident "VmRSS"
peri.kl_divergence(p, q)
print((resident "VmHWM" - before) / (8 * N))
