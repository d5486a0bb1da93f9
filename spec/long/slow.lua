--- Does any call on one element take more than 50 ms? Random laws, plain and made of others, and what can be asked of
-- them.
--
--   lua spec/long/slow.lua [seed] [laws of each class] [class ...]
--
-- Run by `make slow`, not by `make test`, on a machine that does nothing else: it is time of the processor that
-- counts, the best of three calls. Each line of a slow call can be pasted into a program. Fails where there is one.
local peri         = require "perilune"
local random_calls = require "spec.support.random_calls"

local LIMIT, TRIES = 0.050, 3   -- seconds of CPU, calls

-- Seconds of CPU of a call, the best of some while it is slow; the laws are made anew for each.
local function seconds (p, q, call)
  local best = math.huge
  for _ = 1, TRIES do
    local ok, run = pcall(random_calls.compiled(p, q, call), peri)
    if not ok then return 0 end
    collectgarbage()
    local start = os.clock()
    pcall(run)
    best = math.min(best, os.clock() - start)
    if best < LIMIT then return best end
  end
  return best
end

local seed, each = tonumber(arg[1]) or 1, tonumber(arg[2]) or 6
local count, slow = 0, {}
io.stdout:setvbuf "line"

local function try (p, q, call)
  count = count + 1
  local time = seconds(p, q, call)
  if time < LIMIT then return end
  slow[#slow + 1] = time
  print(("%.0f ms: %s  -- p = %s%s"):format(1e3 * time, call, p, call:find "q" and "; q = " .. q or ""))
end

random_calls.each(seed, each, #arg > 2 and { table.unpack(arg, 3) } or nil, try)
table.sort(slow)
print(("%d calls, %d above %.0f ms%s"):format(count, #slow, 1e3 * LIMIT,
                                            #slow > 0 and (", the worst %.0f"):format(1e3 * slow[#slow]) or ""))
os.exit(#slow == 0)
