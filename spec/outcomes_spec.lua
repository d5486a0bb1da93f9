--- Expectations of discrete distributions with known answers, and errors that bound.
local peri = require "perilune"

local INF = math.huge

local function identity (x) return x end

-- Distributions from few outcomes to far more than can be counted, tails light and heavy.
local laws = {
  peri.Poisson(3), peri.Poisson(700), peri.Poisson(1e5), peri.Poisson(1e12), peri.Poisson(1e20),
  peri.Binomial(40, 0.3), peri.Binomial(1e5, 1e-3), peri.Binomial(1e9, 0.5), peri.Binomial(1e15, 0.3),
  peri.Geometric(0.3), peri.Geometric(1e-4), peri.Geometric(1e-12),
  peri.NegativeBinomial(4, 0.5), peri.NegativeBinomial(1e-3, 0.999999), peri.NegativeBinomial(1e6, 0.9),
  peri.BetaBinomial(2, 3, 50), peri.BetaBinomial(0.01, 0.02, 1e9), peri.BetaBinomial(1.34, 0.25, 1e7),
  peri.Hypergeometric(60, 20, 30), peri.Hypergeometric(1e15, 1e14, 1e12),
  peri.ZeroInflatedPoisson(0.5, 1e8), peri.ZeroInflatedPoisson(0.1, 5), peri.DiscreteUniform(-5, 1e10),
}

local cases, beyond = 0, {}   -- how many there were, and those whose error is larger than stated

local function note (text, found, error, expected, digits)
  cases = cases + 1
  local off = math.abs(found - expected)
  if off <= error + digits * math.abs(expected) then return end
  beyond[#beyond + 1] = string.format("%s: expected %.17g, got %.17g +- %g", text, expected, found, error)
end

-- Cases are { distribution, f, E f(X), the part of that to which it is known }.
local function check_all (name, list)
  it(name, function ()
    for _, case in ipairs(list()) do
      local value, error = case[1]:expectation(case[2])
      note(tostring(case[1]) .. " " .. name, value, error, case[3], case[4] or 4e-15)
    end
  end)
end

describe("the error of an expectation bounds", function ()
  check_all("moments", function ()
    local list = {}
    for _, d in ipairs(laws) do
      local mean, variance = d:mean(), d:variance()
      list[#list + 1] = { d, identity, mean }
      list[#list + 1] = { d, function (x) return (x - mean) * (x - mean) end, variance }
    end
    return list
  end)

  check_all("probabilities of tails, whose functions jump", function ()
    local list = {}
    for _, d in ipairs(laws) do
      -- a rounded parameter moves tails by as many standard deviations, and this takes them 11 of these out
      local digits = 1e-14 * (1 + math.abs(d:mean()) / d:stddev())
      if d:is_a(peri.BetaBinomial) then digits = 1e-11 end
      for _, level in ipairs { 1e-30, 1e-5, 0.1, 0.4, 0.7, 0.99 } do
        local c = d:isf(level)
        list[#list + 1] = { d, function (x) return x:gt(c) end, d:sf(c), digits }
      end
    end
    return list
  end)

  check_all("functions that oscillate", function ()
    local list = {}
    local function odd (x) return x % 2 end
    local function tens (x) return (x / 10):floor() end
    for _, rate in ipairs { 0.3, 20, 1e4, 1e7, 1e11 } do
      list[#list + 1] = { peri.Poisson(rate), odd, -0.5 * peri.expm1(-2 * rate) }
    end
    for _, p in ipairs { 0.9, 0.03, 1e-5, 1e-10 } do
      local d = peri.Geometric(p)
      list[#list + 1] = { d, odd, (1 - p) / (2 - p) }
      list[#list + 1] = { d, tens, -(1 - p) ^ 10 / peri.expm1(10 * peri.log1p(-p)) }
    end
    for _, n in ipairs { 30, 1e6, 1e10 } do
      list[#list + 1] = { peri.Binomial(n, 0.25), odd, 0.5 - 0.5 * 0.5 ^ n }
      list[#list + 1] = { peri.DiscreteUniform(0, 10 * n - 1), tens, (n - 1) / 2 }
    end
    return list
  end)

  check_all("generating functions, which grow as fast as tails fall", function ()
    local list = {}
    for _, ratio in ipairs { 0.1, 0.9, 0.99, 0.9999 } do
      list[#list + 1] = { peri.Geometric(0.3), function (x) return (ratio / 0.7) ^ x end, 0.3 / (1 - ratio) }
      list[#list + 1] = { peri.NegativeBinomial(2.5, 0.7), function (x) return (ratio / 0.7) ^ x end,
                          (0.3 / (1 - ratio)) ^ 2.5 }
    end
    for _, t in ipairs { 0, 0.5, 1.5, 3 } do
      list[#list + 1] = { peri.Poisson(40), function (x) return t ^ x end, math.exp(40 * (t - 1)) }
      list[#list + 1] = { peri.Binomial(100, 0.25), function (x) return t ^ x end, (0.75 + 0.25 * t) ^ 100 }
    end
    return list
  end)

  check_all("reciprocals and logarithms", function ()
    local list = {}
    local function reciprocal (x) return 1 / (x + 1) end
    for _, rate in ipairs { 0.5, 1e3, 1e8 } do
      list[#list + 1] = { peri.Poisson(rate), reciprocal, -peri.expm1(-rate) / rate }
    end
    for _, p in ipairs { 0.5, 1e-3, 1e-9 } do
      list[#list + 1] = { peri.Geometric(p), reciprocal, -p * math.log(p) / (1 - p) }
      local d = peri.Geometric(p)
      list[#list + 1] = { d, function (x) return -d:log_prob(x) end, d:entropy() }
    end
    return list
  end)

  it("but for one in a hundred", function ()
    assert(cases > 200, cases)
    assert(#beyond <= 0.01 * cases, #beyond .. " of " .. cases .. " are off by more:\n" .. table.concat(beyond, "\n"))
  end)
end)

describe("the expectation of a discrete distribution", function ()
  it("is as good as doubles are where f is smooth, whatever the number of outcomes", function ()
    for _, d in ipairs(laws) do
      local value, error = d:expectation(identity)
      assert(math.abs(value - d:mean()) <= 1e-14 * math.abs(d:mean()) and error <= 1e-13 * math.abs(value), tostring(d))
    end
  end)

  it("sees jumps wherever they are", function ()
    local d = peri.Poisson(1e12)
    for _, z in ipairs { -3.3, -1, 0, 0.1, 2 } do
      local c = 1e12 + math.floor(z * 1e6)
      local value = d:expectation(function (x) return x:gt(c) end)
      assert(math.abs(value / d:sf(c) - 1) < 1e-12, z)
    end
  end)

  it("is infinite where sums grow without end", function ()
    for _, ratio in ipairs { 1, 1.001, 2 } do
      assert.equal(INF, (peri.Geometric(0.3):expectation(function (x) return (ratio / 0.7) ^ x end)))
    end
    assert.equal(-INF, (peri.Geometric(0.3):expectation(function (x) return -(1 / 0.7) ^ x end)))
  end)

  it("is that of powers, for classes without quantiles", function ()
    local Zeta = peri.Distribution:extend("Zeta", { support = peri.constraints.integer_interval(1, INF) })
    function Zeta:log_prob (x) return -4 * peri.log(x) - math.log(math.pi ^ 4 / 90) end   -- luacheck: ignore self
    local value, error = Zeta():expectation(identity)
    assert(math.abs(value - 1.2020569031595942 / (math.pi ^ 4 / 90)) <= 1e-15 and error < 1e-14)
    assert.equal(INF, (Zeta():expectation(function (x) return x ^ 3 end)))
    assert.equal(INF, (Zeta():expectation(function (x) return x ^ 3.5 end)))
    local slow = Zeta():expectation(function (x) return x ^ 2.99 end)   -- zeta(1.01), of which 1e-3 lies beyond 2^1000
    assert(math.abs(slow / (100.57794333849690 / (math.pi ^ 4 / 90)) - 1) < 1e-8)
  end)

  it("has no error that is known where probabilities do not sum to 1", function ()
    for _, rate in ipairs { 1e40, 1e100 } do   -- all of whose outcomes are one double
      local _, error = peri.Poisson(rate):expectation(identity)
      assert.equal(INF, error)
    end
    local Half = peri.Distribution:extend("Half", { support = peri.constraints.integer_interval(0, 9) })
    function Half:log_prob (x) return x * 0 - math.log(20) end   -- luacheck: ignore self
    assert.equal(INF, select(2, Half():expectation(identity)))
  end)

  it("is a single value where all of the mass is", function ()
    for _, d in ipairs { peri.Poisson(0), peri.Geometric(1), peri.Binomial(1e9, 0), peri.NegativeBinomial(0, 0.5) } do
      local value, error = d:expectation(function (x) return x + 3 end)
      assert(value == 3 and error < 1e-14, tostring(d))
    end
  end)

  it("is the same in a batch as alone", function ()
    local rates = { 0, 1, 1e4, 1e8, 1e12 }
    local value, error = peri.Poisson(rates):expectation(peri.log1p)
    for i, rate in ipairs(rates) do
      local alone = peri.Poisson(rate):expectation(peri.log1p)
      assert(math.abs(value[i] - alone) <= 1e-14 * alone and error[i] <= 1e-13, rate)
    end
  end)

  it("looks no further than tails that matter", function ()
    local function points_of (d, f)
      local most = 0
      d:expectation(function (x)
        most = most + #x
        return f(x)
      end)
      return most
    end
    assert(points_of(peri.Geometric(peri.linspace(0.1, 0.9, 100)), identity) < 700)   -- 0.9^6557 is 1e-300
    assert(points_of(peri.Poisson(peri.linspace(1, 20, 100)), identity) < 160)
    assert.equal(21, points_of(peri.Binomial(20, peri.linspace(0.1, 0.9, 1000)), identity))   -- nor for tails of few
    -- of many outcomes: where something may happen, not where only mass is, and not for what rounding hides
    for _, d in ipairs { peri.BetaBinomial(2, 3, 1e15), peri.BetaBinomial(1e8, 1e8, 1e15), peri.Poisson(1e15) } do
      assert(points_of(d, peri.log1p) < 12000, tostring(d))
      assert(points_of(d, peri.sin) < 32000, tostring(d))   -- which cannot be known
    end
  end)

  it("sees tails that do matter, because f grows or jumps", function ()
    local prob = peri.full(100, 0.3)
    local function check (f, expected)
      local value, error = peri.Geometric(prob):expectation(f)
      assert(math.abs(value[1] - expected) <= error[1] + 1e-12 * expected, value[1])
      assert(error[1] <= 1e-9 * expected)
    end
    check(function (x) return (0.35 * x):exp() end, 0.3 / (1 - 0.7 * math.exp(0.35)))
    check(function (x) return 1e40 * x:gt(200) end, 1e40 * 0.7 ^ 201)
    check(function (x) return 1e200 * x:gt(1200) end, 1e200 * 0.7 ^ 1201)
    local value, error = peri.Binomial(600, peri.full(100, 0.9)):expectation(function (x) return (-3 * x):exp() end)
    local expected = (0.1 + 0.9 * math.exp(-3)) ^ 600
    assert(math.abs(value[7] - expected) <= error[7] + 1e-11 * expected and error[7] <= 1e-9 * expected)
  end)

  it("is NaN where a parameter is, and for no other element; points that are NaN are none", function ()
    local d = peri.Poisson { rate = { 0 / 0, 1e9, 3 }, validate = false }
    local value, error = d:expectation(identity, { points = { 0 / 0, peri.tensor { 1, 0 / 0, 2 } } })
    assert(value[1] ~= value[1] and error[1] == INF)
    assert(math.abs(value[2] - 1e9) <= error[2] and error[2] < 1e-4 and math.abs(value[3] - 3) <= error[3])
    local distance = peri.wasserstein(d, peri.Poisson(4))
    assert(distance[1] ~= distance[1] and math.abs(distance[2] - (1e9 - 4)) < 1e-3)
    assert(math.abs(distance[3] - 1) < 1e-12)
    local root = peri.wasserstein(d, peri.Poisson(4), 2)
    assert(root[1] ~= root[1] and math.abs(root[2] / 1e9 - 1) < 1e-6)
  end)

  it("has a gradient", function ()
    local rate = peri.param(1e8)
    peri.Poisson(rate):expectation(function (x) return x * x end):backward()
    assert(math.abs(peri.item(rate.grad) / (2e8 + 1) - 1) < 1e-10)
  end)
end)

describe("the expectation of a heavy-tailed distribution of outcomes", function ()
  -- exponent, power, E[X^power]: the ratio of two zetas
  local MOMENTS = { { 5.001, 4 }, { 5.01, 4 }, { 5.05, 4 }, { 5.2, 4 }, { 2.001, 1 }, { 2.01, 1 }, { 2.1, 1 } }

  it("counts terms whose probability is too small for a double", function ()
    for _, row in ipairs(MOMENTS) do
      local s, k = row[1], row[2]
      local expected = peri.zeta(s - k, 1) / peri.zeta(s, 1)
      local value, error = peri.Zipf(s):expectation(function (x) return x ^ k end)
      assert(math.abs(value - expected) <= error + 1e-13 * expected / (s - k - 1), s)
      assert(error < 1e-3 * expected)
    end
    for _, s in ipairs { 1.5, 1.9, 2 } do assert.equal(INF, (peri.Zipf(s):expectation(identity))) end
  end)

  it("says how little is known where the power drifts", function ()
    local found = peri.kl_explain(peri.Zipf(2.01), peri.Poisson(2))   -- k^-1.01 log k
    assert(math.abs(found.value - 6011.2326538440636) <= found.error)
    assert.near(229.80611067918902, peri.kl_divergence(peri.Zipf(2.05), peri.Poisson(2)), 1e-10)
    assert.equal(INF, peri.kl_divergence(peri.Zipf(1.9), peri.Poisson(2)))
  end)

  it("is that of distances as well", function ()
    local value, error = peri.wasserstein(peri.Zipf(2.01), peri.Geometric(0.5))   -- which is the smaller everywhere
    assert(math.abs(value - (peri.zeta(1.01, 1) / peri.zeta(2.01, 1) - 1)) <= error + 1e-10 and error < 1e-6)
    assert.equal(INF, (peri.wasserstein(peri.Zipf(1.9), peri.Geometric(0.5))))
  end)
end)
