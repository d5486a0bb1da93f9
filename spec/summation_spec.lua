--- Sums over many integers, with known values.
local peri      = require "perilune"
local summation = require "perilune.summation"

local INF = math.huge

-- The sum of f from the first to the last of `cuts`, for a batch of one.
local function sum (f, cuts) return summation.sum(f, { 1 }, { cuts }, {})[1] end

-- Sum and stated error agree with an expected value, to this part of the sum of |f|.
local function check (f, cuts, expected, tolerance)
  local found = sum(f, cuts)
  local value, error, size = found.value[1], found.error[1], found.size[1]
  local off = math.abs(value - expected)
  local text = string.format("expected %.17g, got %.17g, error %g", expected, value, error)
  assert(off <= tolerance * size, text)
  assert(off <= error + 2 ^ -48 * size, text)
end

describe("a sum over integers", function ()
  it("is exact for polynomials", function ()
    for _, n in ipairs { 10, 600, 1e4, 1e6 + 7, 2 ^ 26 - 1 } do
      check(function (x) return x end, { 0, n }, n * (n + 1) / 2, 1e-15)
      check(function (x) return x ^ 3 end, { 0, n }, (n * (n + 1) / 2) ^ 2, 1e-14)
      check(function (x) return (x / n) ^ 5 end, { -n, n }, 0, 1e-15)
    end
  end)

  it("follows powers to a singular end, and goes as far as doubles do", function ()
    check(function (x) return 1 / (x * x) end, { 1, 2.0 ^ 900 }, math.pi ^ 2 / 6, 1e-15)
    check(function (x) return 1 / x ^ 1.5 end, { 1, 1e300 }, 2.6123753486854883433, 1e-15)
    -- the harmonic number of 10^15, by mpmath
    check(function (x) return 1 / x end, { 1, 1e15 }, 35.115992059812218621, 1e-15)
    check(function (x) return 1 / (1e15 - x + 1) end, { 1, 1e15 }, 35.115992059812218621, 1e-15)
  end)

  it("finds jumps, and knows those it is told", function ()
    check(function (x) return x:gt(123456789) end, { 0, 1e12 }, 1e12 - 123456789, 1e-15)
    check(function (x) return x:eq(123456789) end, { 0, 123456789, 123456790, 1e12 }, 1, 0)
  end)

  it("looks closely at cuts, but not at smooth ones", function ()
    local function count (cuts)
      local points = 0
      local found = sum(function (x)
        points = points + #x
        return (-(x / 1e10 - 30) ^ 2):exp()
      end, cuts)
      assert(math.abs(found.value[1] - 1e10 * math.sqrt(math.pi)) <= found.error[1] + 1e-3)
      return points
    end
    local closely, smoothly = count { 0, 3e11, 1e12 }, count { 0, 3e11, 1e12, smooth = { [3e11] = true } }
    assert(smoothly < 0.8 * closely)
  end)

  it("cuts no block for what is noise of the function", function ()
    local points = 0
    local found = sum(function (x)
      points = points + #x
      return 1 + 1e-12 * (x * x % 1000 / 1000 - 0.5)
    end, { 0, 1e12 })
    assert(math.abs(found.value[1] - 1e12 - 1) <= found.error[1] and found.error[1] < 10)
    assert(points < 8000)
  end)

  it("admits that it does not follow what oscillates", function ()
    for _, n in ipairs { 1e5, 1e9, 1e15 } do
      local found = sum(function (x) return x % 2 end, { 0, n - 1 })
      local off = math.abs(found.value[1] - n / 2)
      assert(off <= found.error[1] and found.error[1] > 1e-4 * n, off / n)
    end
    check(function (x) return x % 2 end, { 0, 9999 }, 5000, 0)   -- few enough to be looked at one by one
  end)

  it("is infinite, or NaN, where one of its terms is", function ()
    assert.equal(INF, sum(function (x) return peri.where(x:gt(1e6), INF, x) end, { 0, 1e9 }).value[1])
    local nan = sum(function (x) return peri.where(x:gt(1e6), 0 / 0, x) end, { 0, 1e9 }).value[1]
    assert(nan ~= nan)
  end)

  it("has cuts of its own for each element of a batch, and sums many functions", function ()
    local found = summation.sum(function (x) return x, x * x end, { 3 }, { { 0, 3 }, { 5, 1e6 }, { -1e9, 0, 1e9 } }, {})
    assert.is_true(found[1].value:allclose({ 6, 5e11 + 5e5 - 10, 0 }, 1e-15))
    assert(math.abs(found[2].value[3] / (1e9 * (1e9 + 1) * (2e9 + 1) / 3) - 1) < 1e-14)
  end)
end)

describe("what follows after the last integer", function ()
  -- The sum of f beyond n, and its error.
  local function beyond (f, n)
    local rest, error = summation.beyond(f, { 1 }, peri.tensor { n }, peri.tensor { 0 }, 1)
    return rest[1], error[1]
  end

  it("is that of a geometric series or a power", function ()
    for _, case in ipairs {
      { function (x) return 0.5 ^ x end, 20, 2 ^ -20 },
      { function (x) return (x * -1e-3):exp() end, 1000, math.exp(-1) / (math.exp(1e-3) - 1) },
      { function (x) return 1e6 / (x * x) end, 1e9, 1e-3 },
    } do
      local rest, error = beyond(case[1], case[2])
      assert(math.abs(rest - case[3]) <= error + 1e-9 * case[3] and error < 0.1 * case[3], rest .. " +- " .. error)
    end
  end)

  it("is infinite where terms do not fall faster than 1/x", function ()
    assert.equal(INF, (beyond(function (x) return x * 0 + 1 end, 1000)))
    assert.equal(-INF, (beyond(function (x) return -1 / x end, 1e6)))
  end)

  it("is not known where terms change their sign", function ()
    local _, error = beyond(function (x) return peri.cos(x) end, 1000)
    assert.equal(INF, error)
  end)
end)
