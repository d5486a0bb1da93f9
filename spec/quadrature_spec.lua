--- Integrals with known values, the honesty of their errors, and roots. Numbers that are no closed form
-- come from mpmath at 40 digits.
local peri       = require "perilune"
local quadrature = require "perilune.quadrature"

local integrate, root = quadrature.integrate, quadrature.root
local INF = math.huge

-- The value is right to `tolerance`, and off by no more than its error says.
local function check (expected, tolerance, value, error)
  local off = math.abs(value - expected)
  assert(off <= tolerance * math.abs(expected), string.format("expected %.17g, got %.17g", expected, value))
  assert(off <= error + 2.3e-16 * math.abs(expected), string.format("off by %g, error %g", off, error))
end

-- f, and a table that counts calls and points.
local function counted (f)
  local count = { calls = 0, points = 0 }
  return function (x)
    count.calls, count.points = count.calls + 1, count.points + #x
    return f(x)
  end, count
end

describe("integrate", function ()
  it("is exact for polynomials up to degree 31 on one panel", function ()
    for degree = 0, 31 do
      local f, count = counted(function (x) return (degree + 1) * x ^ degree end)
      check(1, 5e-16, integrate(f, 0, 1, { rounds = 1 }))
      assert.equal(23, count.points)
    end
    assert(math.abs(integrate(function (x) return 60 * x ^ 59 end, 0, 1, { rounds = 1 }) - 1) > 1e-12)
  end)

  it("has the values of smooth, oscillating and peaked functions", function ()
    check(math.exp(1) - 1, 1e-15, integrate(peri.exp, 0, 1))
    check(-0.0052474970740785757, 1e-12, integrate(function (x) return (50 * x):cos() end, 0, 1))
    check(0.056049912163979287, 1e-14, integrate(function (x) return (-1000 * (x - 0.3) ^ 2):exp() end, 0, 1))
    check(math.atan(1e4) * 2e4, 1e-13, integrate(function (x) return 1 / (x * x + 1e-8) end, -1, 1))
  end)

  it("does so at any scale", function ()
    for _, unit in ipairs { 1e-280, 1e280 } do
      check(0.29 * unit, 1e-13, integrate(function (x) return unit * (x - 0.3):abs() end, 0, 1))
      check(unit * 0.7, 1e-13, integrate(function (x) return unit * x:gt(0.3) end, 0, 1))
    end
  end)

  it("resolves singular ends", function ()
    check(2, 1e-13, integrate(function (x) return x ^ -0.5 end, 0, 1))
    check(-1, 1e-13, integrate(peri.log, 0, 1))
    check(10, 1e-6, integrate(function (x) return x ^ -0.9 end, 0, 1))
    check(2, 1e-7, integrate(function (x) return (2 - x) ^ -0.5 end, 1, 2))   -- 2 - x is rounded, and may be 0
  end)

  it("finds kinks and jumps, and needs fewer points when told of them", function ()
    local function kink (x) return (x - 0.3):abs() end
    local blind, many = counted(kink)
    local told, few = counted(kink)
    check(0.29, 1e-14, integrate(blind, 0, 1))
    check(0.29, 1e-15, integrate(told, 0, 1, { points = { 0.3, 5, -1 } }))
    assert.equal(46, few.points)
    assert(many.points > 300 and many.points < 3000)
    check(0.7, 1e-13, integrate(function (x) return x:gt(0.3) end, 0, 1))
  end)

  it("takes break points of each element and of all, in any order, twice, outside, NaN", function ()
    local own = peri.tensor { 0.3, 0.3, 0 / 0, -2, 0.7 }
    local seen
    local value = integrate(function (x)
      seen = seen or x
      return (x - 0.3):abs() + (x - 0.7):abs()
    end, 0, 1, { shape = { 5 }, points = { 0.7, own, 0.5, own, 0.7, 3 } })
    assert.is_true(value:allclose(0.58, 1e-13))
    assert.same({ 4 * 23, 5 }, seen.shape)   -- 0, 0.3, 0.5, 0.7, 1, of which the third has no 0.3
    for i, points in ipairs { { 0, 0.3, 0.5, 0.7, 1 }, { 0, 0.3, 0.5, 0.7, 1 }, { 0, 0.5, 0.7, 1, 1 } } do
      for k = 1, 4 do
        local middle = seen:at(23 * (k - 1) + 11, i)
        assert(math.abs(middle - 0.5 * (points[k] + points[k + 1])) < 1e-15)
      end
    end
  end)

  it("serves a batch, each element on its own panels and to its own tolerance", function ()
    local power = peri.tensor { { -0.5, 0, 1 }, { 2, 3.5, 40 } }
    local f, count = counted(function (x) return x ^ power end)
    local value, error = integrate(f, 0, 1, { shape = { 2, 3 } })
    assert.same({ 2, 3 }, value.shape)
    assert.same({ 2, 3 }, error.shape)
    assert.is_true(value:allclose(1 / (power + 1), 1e-13))
    assert(count.calls < 120)
    local cuts = { 0.1, 0.2, 0.5 }
    local parts = integrate(f, 0, 1, { shape = { 2, 3 }, points = cuts, at_once = 1 })
    assert.is_true(parts:equal((integrate(f, 0, 1, { shape = { 2, 3 }, points = cuts }))))
  end)

  it("costs a batch no more than its elements, however hard they are", function ()
    local place = peri.linspace(0.1, 0.9, 50)
    local most = 0
    for i = 1, 50, 7 do
      local f, count = counted(function (x) return 1 / (x - place[i]):abs() + (200 * x):floor() end)
      integrate(f, 0, 1)
      most = math.max(most, count.points)
    end
    local f, count = counted(function (x) return 1 / (x - place):abs() + (200 * x):floor() end)
    integrate(f, 0, 1, { shape = { 50 } })
    assert(count.points <= 2 * most)
  end)

  it("sees what hides between a panel's points and its ends", function ()
    for _, c in ipairs { 1e-3, 1e-5, 1e-8, 1 - 1e-3 } do
      check(1 - c, 1e-13, integrate(function (x) return x:gt(c) end, 0, 1))
      check((1 - c) ^ 2 / 2, 1e-13, integrate(function (x) return peri.maximum(x - c, 0) end, 0, 1))
    end
  end)

  it("lets a NaN spoil its own element only, and stops", function ()
    local f, count = counted(function (x) return peri.where({ 1, 0, 0 }, x, (x - peri.tensor { 0, 0, 2 }):log()) end)
    local value = integrate(f, 0, 1, { shape = { 3 } })
    assert(math.abs(value[1] - 0.5) < 1e-15 and math.abs(value[2] + 1) < 1e-13 and value[3] ~= value[3])
    assert(count.calls < 120)
    local half = integrate(function (x) return peri.where(x:gt(0.99), 0 / 0, x) end, 0, 1)
    assert(half ~= half)
  end)

  it("is infinite where infinities fill a part, and ignores single ones", function ()
    assert.equal(INF, (integrate(function (x) return peri.where(x:gt(0.4), INF, x) end, -1, 1)))
    assert.equal(-INF, (integrate(function (x) return peri.where(x:gt(0.4), -INF, x) end, -1, 1)))
    check(4, 1e-12, integrate(function (x) return x:abs() ^ -0.5 end, -1, 1))   -- 0 is a node
  end)

  it("says so when it stops early", function ()
    local _, error = integrate(function (x) return 1 / x end, 0, 1)
    assert.equal(INF, error)
    local f, count = counted(function (x) return (1e9 * x):sin() end)
    _, error = integrate(f, 0, 1.1, { panels = 100 })
    assert(error > 0.1 and count.points < 100 * 21 * 4)
    local rough, large = integrate(function (x) return x ^ -0.5 end, 0, 1, { rounds = 3 })
    assert(math.abs(rough - 2) <= large and large > 1e-3)
    _, error = integrate(peri.sqrt, 0, 1, { rtol = 1e-3 })
    assert(error < 1e-3 and error > 1e-9)
  end)

  it("refuses infinite ends and shapes that are not those of the points", function ()
    local function message (...) return select(2, pcall(integrate, ...)) end
    assert.matches("integrate: the ends must be finite and a < b, got 1 and 1", message(peri.exp, 1, 1))
    assert.matches("integrate: the ends must be finite and a < b, got 0 and inf", message(peri.exp, 0, INF))
    assert.matches("integrate: f must return a tensor of shape %(23%), got 3",
                   message(function () return 3 end, 0, 1))
    assert.matches("integrate: f must return a tensor of shape %(23, 2%), got a tensor of shape %(23%)",
                   message(function () return peri.ones(23) end, 0, 1, { shape = { 2 } }))
  end)
end)

describe("root", function ()
  local function cubic (target)
    return function (x) return x ^ 3 - target, 3 * x ^ 2, 1e-15 end
  end

  it("finds roots of numbers and of tensors", function ()
    assert(math.abs(root(cubic(8), 0, 100) - 2) < 1e-15)
    local targets = peri.tensor { 1e-9, -27, 0.125, 1e30 }
    local x = root(function (v) return v ^ 3 - targets, 3 * v ^ 2, 1e-16 * targets:abs() end, -1e20, 1e20)
    assert.is_true(x:allclose({ 1e-3, -3, 0.5, 1e10 }, 1e-15))
  end)

  it("does without a usable slope, and without ends", function ()
    local x = root(function (v) return v < 0.7 and -1 or 1, 0, 0 end, 0, 1)
    assert(math.abs(x - 0.7) < 1e-15)
    assert(math.abs(root(function (v) return math.atan(v - 1e5), 1 / (1 + (v - 1e5) ^ 2), 0 end, 0, INF) - 1e5) < 1e-9)
    assert(math.abs(root(function (v) return math.atan(v + 1e5), 1 / (1 + (v + 1e5) ^ 2), 0 end, -INF, 0) + 1e5) < 1e-9)
  end)

  it("drops those that are found: many cost no more than one by one", function ()
    local points, targets = 0, peri.full({ 20, 50 }, 8)
    targets:narrow(2, 50, 1):copy(1e300)   -- far from where the search begins
    local function find (t, rank)
      points = 0
      return root(function (x, at)
        points = points + x:numel()
        return x ^ 3 - at.target, 3 * x ^ 2, 1e-15 * at.target
      end, 0 * t, 1e110 + 0 * t, 2 + 0 * t, { target = t }, rank)
    end
    local near = peri.full(50, 8)
    find(near, 0)
    local each = points / 50
    find(peri.full(1, 1e300), 0)
    local far, x = points, find(targets, 0)
    assert(points <= 1.1 * (20 * 49 * each + 20 * far))
    assert.is_true((x ^ 3):allclose(targets, 1e-14))
    assert(far > 5 * each)
    assert.same(x:totable(), find(targets, 1):totable())   -- rows of a batch
    assert.same(x:totable(), find(targets):totable())      -- all to the end
    assert(points == 1000 * far)
  end)

  it("does not creep where the slope misleads", function ()
    local rounds = 0
    local x = root(function (v)
      rounds = rounds + 1
      return v < 0.3 and -1 or 0.7 + v, 1000, 0
    end, -3, 5)
    assert(math.abs(x - 0.3) < 1e-15)
    assert(rounds < 100)
  end)

  it("halves in logarithms, so that tiny roots cost little", function ()
    local rounds = 0
    local x = root(function (v)
      rounds = rounds + 1
      return v < 3e-250 and -1 or 1, 0, 0
    end, 1e-300, 1)
    assert(math.abs(x / 3e-250 - 1) < 1e-14)
    assert(rounds < 80)
  end)

  it("chooses between neighbouring numbers as the slope says", function ()   -- log((x - 1)/p), for tiny p: x is 1
    for _, p in ipairs { 1e-300, 1e-30, 1e-18 } do
      assert.equal(1, root(function (v) return math.log((v - 1) / p), 1 / (v - 1), 2 ^ -50 end, 1, 2))
    end
  end)
end)
