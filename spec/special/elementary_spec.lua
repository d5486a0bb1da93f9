--- exp, log, log1p and expm1 to the last digit: below 1.5 units of it everywhere,
-- subnormal numbers in and out included. References have 60 digits, split into
-- the nearest double and what it lacks.
local peri = require "perilune"
local json = require "dkjson"

-- The distance from |x| to the next larger double, read off the exponent's bits.
local function unit (x)
  local low, high = string.pack("<d", x):byte(7, 8)
  local exponent = high % 128 * 16 + math.floor(low / 16) - 1022
  return 2.0 ^ math.max(exponent - 53, -1074)
end

local worst = {}
for text in io.lines("spec/support/reference/elementary.jsonl") do
  local line = json.decode(text, 1, nil, nil, nil)
  local value = peri[line.fn](line.x)
  local error = math.abs((value - line.nearest) - line.rest) / unit(line.nearest)
  local w = worst[line.fn] or { error = 0, lines = 0 }
  if error > w.error or error ~= error then w.error, w.x = error, line.x end
  w.lines = w.lines + 1
  worst[line.fn] = w
end

describe("to the last digit", function ()
  for _, name in ipairs { "exp", "log", "log1p", "expm1" } do
    it(name .. " is off by less than 1.5 units", function ()
      local w = worst[name]
      assert(w.lines >= 100)
      assert(w.error < 1.5, string.format("%s(%.17g) is off by %.3f units", name, w.x, w.error))
    end)
  end

  local inf, nan = math.huge, 0 / 0
  for _, case in ipairs {
    { "exp", inf, inf }, { "exp", -inf, 0 }, { "exp", 0, 1 }, { "exp", 710, inf }, { "exp", -746, 0 },
    { "exp", nan, nan },
    { "log", inf, inf }, { "log", 0, -inf }, { "log", 1, 0 }, { "log", -1, nan }, { "log", nan, nan },
    { "log1p", inf, inf }, { "log1p", -1, -inf }, { "log1p", 0, 0 }, { "log1p", -2, nan }, { "log1p", nan, nan },
    { "expm1", inf, inf }, { "expm1", -inf, -1 }, { "expm1", 0, 0 }, { "expm1", 710, inf }, { "expm1", nan, nan },
  } do
    it(case[1] .. "(" .. case[2] .. ")", function ()
      local value = peri[case[1]](case[2])
      assert(value == case[3] or (value ~= value and case[3] ~= case[3]), "is " .. value)
    end)
  end
end)
