--- Elementwise calls of many sizes, for bench/threads.py: from where on do two threads pay?
local peri = require "perilune"

local function data (n) return peri.rng(n):uniform(n) + 0.5 end

local function exp (n)
  return function ()
    local x = data(n)
    return function () return peri.exp(x) end
  end
end

local function add (n)
  return function ()
    local x, y = data(n), data(n)
    return function () return x + y end
  end
end

local rows = {}
for _, size in ipairs { "1e3", "16000", "17000", "33000", "66000", "1e5", "1e6" } do
  local n = math.tointeger(tonumber(size))
  rows[#rows + 1] = { "exp, n = " .. size, exp(n) }
  rows[#rows + 1] = { "x + y, n = " .. size, add(n) }
end
return rows
