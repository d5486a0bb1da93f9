--- a b + c, rounded once: src/special/fma.c, which runs where there is no instruction for it,
-- beside what this machine has.
local core = require "perilune.core"
local peri = require "perilune"

local function bound (name)
  return core.bind_value("arithmetic", name, name, { "a", "b", "c" }, { "a", "b", "c" })
end
local software, fused = bound "software", bound "fused"

-- Bits, since the sign of a zero counts.
local function assert_same (a, b, c)
  local got, expected = software(a, b, c), fused(a, b, c)
  local numbers = { a:reshape(-1):totable(), b:reshape(-1):totable(), c:reshape(-1):totable(),
                    got:reshape(-1):totable(), expected:reshape(-1):totable() }
  for i = 1, #numbers[1] do
    local g, e = numbers[4][i], numbers[5][i]
    if g ~= e and (g == g or e == e) or g == 0 and 1 / g ~= 1 / e then
      error(("fma(%a, %a, %a) is %a, not %a"):format(numbers[1][i], numbers[2][i], numbers[3][i], g, e))
    end
  end
end

describe("software fma", function ()
  local n = 20000

  -- Signs, digits (many of them, or few), and powers of two between low and high.
  local function numbers (rng, low, high)
    local digits = 1 + rng:uniform(n)
    local short = 1 + peri.floor(rng:uniform(n) * 16) / 16
    local power = peri.floor(low + rng:uniform(n) * (high - low))
    local half = peri.floor(power / 2)   -- 2^power in two steps: no underflow before the end
    local sign = peri.where(rng:uniform(n):gt(0.5), 1, -1)
    return sign * peri.where(rng:uniform(n):gt(0.5), digits, short) * peri.pow(2, half) * peri.pow(2, power - half)
  end

  for _, ranges in ipairs {
    { -3, 3, -3, 3, -6, 6 }, { -3, 3, -3, 3, -120, 120 }, { -450, 480, -450, 480, -1000, 1000 },
    { -1074, 1024, -1074, 1024, -1074, 1024 }, { -540, -530, -540, -530, -1074, -1060 },
    { -550, -500, -550, -500, -1074, -1000 }, { 505, 515, 505, 515, 1015, 1024 }, { 0, 1, 1020, 1024, 1015, 1024 },
    { -1074, -1060, 0, 60, -1074, -1010 },
  } do
    it("is exact for exponents " .. table.concat(ranges, " "), function ()
      local rng = peri.rng(ranges[6] + 5000)
      local a, b = numbers(rng, ranges[1], ranges[2]), numbers(rng, ranges[3], ranges[4])
      local c = numbers(rng, ranges[5], ranges[6])
      assert_same(a, b, c)
      assert_same(a, b, -a * b)               -- cancels all but the last digits
      assert_same(a, b, -a * b * (1 + 2^-52))
      assert_same(a, b, a * b * 2^-53)        -- ties
      assert_same(a, b, a * b * -2^-54)
    end)
  end

  it("knows zeros, infinities and NaN", function ()
    local some = peri.tensor { 0, -0.0, 1, -1, 2^-1074, -2^-1074, 2^1023, -2^1023, math.huge, -math.huge, 0 / 0 }
    assert_same(some:reshape(-1, 1, 1):expand(11, 11, 11), some:reshape(-1, 1):expand(11, 11, 11),
                some:expand(11, 11, 11))
  end)
end)
