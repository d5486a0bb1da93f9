--- Wasserstein distances between discrete laws, with known values.
local peri = require "perilune"

-- value and error of a distance that should be `expected`
local function check (p, q, order, expected, tolerance)
  local value, error = peri.wasserstein(p, q, order)
  local text = string.format("%s, %s: expected %.17g, got %.17g +- %g", tostring(p), tostring(q), expected, value,
                             error)
  assert(math.abs(value - expected) <= tolerance * expected, text)
  assert(math.abs(value - expected) <= error + 4e-16 * expected, text)
end

describe("wasserstein of order 1 between outcomes", function ()
  it("is the distance of means where one law lies above the other, whatever the number of outcomes", function ()
    for _, case in ipairs {
      { peri.Poisson(3), peri.Poisson(5) },
      { peri.Binomial(1e6, 0.3), peri.Binomial(1e6, 0.31) },
      { peri.Binomial(1e12, 0.25), peri.Binomial(1e12, 0.375) },
      { peri.Geometric(1e-9), peri.Geometric(2e-9) },
      { peri.ZeroInflatedPoisson(0.5, 1e8), peri.ZeroInflatedPoisson(0.25, 1e8) },
      { peri.DiscreteUniform(0, 1e9), peri.DiscreteUniform(5, 1e9 + 5) },
      { peri.DiscreteUniform(7613, 30011), peri.Poisson(209) },
      { peri.Binomial(2 ^ 53, 0.5), peri.Poisson(1e-300) },
    } do
      check(case[1], case[2], 1, math.abs(case[1]:mean() - case[2]:mean()), 1e-10)
    end
  end)

  it("is right for laws that cross, and nearly the same", function ()
    -- by a loop over all outcomes
    check(peri.Poisson(1e6), peri.NegativeBinomial(1e6, 0.5), 1, 330.49456400218, 1e-12)
    check(peri.Poisson(100), peri.Poisson(100 + 1e-9), 1, (100 + 1e-9) - 100, 1e-4)
    check(peri.Poisson(7), peri.Poisson(7), 1, 0, 0)
  end)

  it("agrees with a loop over all outcomes, for laws of several peaks and of very different widths", function ()
    local function mixture (weights, rates)
      return peri.MixtureSameFamily(peri.Categorical(weights), peri.Poisson(rates))
    end
    for _, case in ipairs {
      { peri.DiscreteUniform(7498, 56742), mixture({ 0.36, 0.33, 0.31 }, { 24367, 28, 61984 }) },
      { mixture({ 0.3, 0.7 }, { 1000, 40000 }), mixture({ 0.4, 0.6 }, { 3000, 30000 }) },
      { peri.Geometric(0.0023), peri.NegativeBinomial(225, 0.16) },
      { peri.NegativeBinomial(14.6, 0.5), peri.Geometric(1.5e-4) },
      { peri.BetaBinomial(94, 2.2, 10076), peri.ZeroInflatedPoisson(0.22, 30058) },
      { peri.BetaBinomial(0.3, 0.2, 60000), peri.BetaBinomial(3, 2, 50000) },
    } do
      local p, q = case[1], case[2]
      local x = peri.arange(0, 3e5)
      local sum = (p:prob(x) - q:prob(x)):cumsum():abs():sum()
      local value, error = peri.wasserstein(p, q)
      assert(math.abs(value - sum) <= error + 1e-11 * sum and error <= 1e-11 * sum, tostring(p) .. tostring(q))
    end
  end)

  it("asks for few tails, each of which may take long", function ()
    local calls = 0
    local Counted = peri.BetaBinomial:extend("Counted")
    function Counted:cdf (x)
      calls = calls + (type(x) == "number" and 1 or x:numel())
      return peri.BetaBinomial.cdf(self, x)
    end
    for _, n in ipairs { 1000, 1e6, 1e15 } do
      local value, error = peri.wasserstein(Counted(2, 3, n), Counted(3, 2.5, n))
      assert(error < 1e-11 * value)
    end
    assert(calls < 200)
  end)

  it("takes batches, each element as it is alone", function ()
    local rates = { 1, 1e4, 1e9 }
    local value, error = peri.wasserstein(peri.Poisson(rates), peri.Poisson { 2, 2e4, 2e9 })
    for i, rate in ipairs(rates) do assert(math.abs(value[i] / rate - 1) < 1e-13 and error[i] < 1e-11 * rate) end
    assert.same({ 0 }, peri.wasserstein(peri.Poisson(peri.zeros(0)), peri.Poisson(3)).shape)
  end)
end)

describe("wasserstein between continuous laws", function ()
  -- E|m + (s - 1) Z|, a folded Normal; quantiles cross far out as well as in the middle
  local function between_normals (m, s)
    local d = math.abs(s - 1)
    return d * math.sqrt(2 / math.pi) * math.exp(-m * m / (2 * d * d)) + m * (1 - 2 * peri.Normal(0, 1):cdf(-m / d))
  end

  it("has an error that holds where quantiles cross", function ()
    local value, error = peri.wasserstein(peri.Normal(0, 1), peri.Normal(2.3, 1.5))
    assert.near(2.300000423560435, value, 1e-13)
    assert(error < 1e-12, error)
    local g, exceeded, count = peri.rng(1), 0, 300
    for _ = 1, count do
      local m, s = peri.Uniform(-3, 3):sample(nil, g), peri.LogUniform(0.14, 7.4):sample(nil, g)
      value, error = peri.wasserstein(peri.Normal(0, 1), peri.Normal(m, s))
      if math.abs(value - between_normals(m, s)) > error + 1e-15 * value then exceeded = exceeded + 1 end
    end
    assert(exceeded <= 0.01 * count, exceeded)
    value = peri.wasserstein(peri.Normal(0, 1), peri.Normal({ 2.3, -1, 0 }, { 1.5, 3, 0.2 }))   -- each has its own
    assert.near(2.300000423560435, value[1], 1e-12)
    assert.near(between_normals(-1, 3), value[2], 1e-12)
    assert.near(0.8 * math.sqrt(2 / math.pi), value[3], 1e-12)
    value, error = peri.wasserstein(peri.Exponential(1), peri.Exponential(2) + 0.3, 3)
    local t = 0.6   -- 0.5 x - 0.3 changes its sign there
    local cube = 0.125 * (6 * math.exp(-t) + (6 * math.exp(-t) - (6 - 6 * t + 3 * t * t - t * t * t)))
    assert.near(cube ^ (1 / 3), value, 1e-10)
    assert(error < 1e-8, error)
  end)

  it("asks for few quantiles of smooth laws, and for more where they are not", function ()
    local levels = 0
    local Counted = peri.Gamma:extend("Counted")
    for _, name in ipairs { "icdf", "isf" } do
      Counted[name] = function (self, u)
        levels = levels + (type(u) == "number" and 1 or u:numel())
        return peri.Gamma[name](self, u)
      end
    end
    local value, error = peri.wasserstein(Counted(3, 1), peri.Normal(0, 1), 2)
    assert.near(3.1079004354395, value, 1e-12)   -- as by panels
    assert(error < 1e-12 and levels < 150)
    local kinked, its_error = peri.wasserstein(Counted(3, 1), peri.Normal(3, 1), 3)   -- quantiles cross
    assert.near(1.12839506167, kinked, 1e-10)
    assert(its_error < 1e-11)
    assert.same({ 0 }, peri.wasserstein(peri.Gamma(peri.zeros(0), 1), peri.Normal(0, 1), 2).shape)
  end)

  it("has a gradient", function ()
    local function distance (a) return (peri.wasserstein(peri.Gamma(a, 1), peri.Normal(0, 1), 2)) end
    local a = peri.param(3)
    distance(a):backward()
    assert.near((distance(3 + 1e-4) - distance(3 - 1e-4)) / 2e-4, a.grad, 1e-7)
  end)

  it("has quantiles of heavy mixtures in a few steps, however deep", function ()
    local calls = 0
    local Counted = peri.StudentT:extend("Counted")
    Counted.sf = function (self, x)
      calls = calls + 1
      return peri.StudentT.sf(self, x)
    end
    local d = peri.MixtureSameFamily(peri.Categorical { 0.3, 0.7 }, Counted({ 2.5, 5 }, { 0, 3 }, 1))
    local x = d:isf(1e-280)
    assert(calls < 20)
    assert.near(math.log(1e-280), d:log_sf(x), 1e-11)
  end)

  it("asks for each quantile once", function ()
    local levels = 0
    local Counted = peri.Laplace:extend("Counted")
    for _, name in ipairs { "icdf", "isf" } do
      Counted[name] = function (self, u)
        levels = levels + (type(u) == "number" and 1 or u:numel())
        return peri.Laplace[name](self, u)
      end
    end
    local value, error = peri.wasserstein(Counted(0, 1), Counted(3, 1))
    assert(math.abs(value - 3) <= error + 1e-14)
    assert(levels < 2 * 900)   -- as points of an expectation
  end)
end)

describe("wasserstein between outcomes and a continuous law", function ()
  local Counted, levels = peri.Normal:extend("Counted"), 0
  for _, name in ipairs { "icdf", "isf" } do
    Counted[name] = function (self, u)
      levels = levels + (type(u) == "number" and 1 or u:numel())
      return peri.Normal[name](self, u)
    end
  end

  -- The sum over k of the integrals of |P(X <= k) - F| from k to k + 1, F being that of Normal(loc, scale).
  local function exact (d, n, loc, scale)
    local unit = peri.Normal(0, 1)
    local function below (x)   -- the integral of F up to x
      local z = (x - loc) / scale
      return scale * (z * unit:cdf(z) + unit:prob(z))
    end
    local sum = below(1) + below(2 * loc - n)
    for k = 1, n - 1 do
      local c = d:cdf(k)
      local cross = math.max(k, math.min(loc + scale * unit:icdf(c), k + 1))
      for _, part in ipairs { { k, cross }, { cross, k + 1 } } do
        sum = sum + math.abs(c * (part[2] - part[1]) - (below(part[2]) - below(part[1])))
      end
    end
    return sum
  end

  -- Rounded levels next to a jump have the quantile before it.
  it("knows where quantiles jump and where they meet", function ()
    local d = peri.Categorical { probs = peri.rng(1):uniform(64) }
    local value, error = peri.wasserstein(d, Counted(30, 10))
    assert.near(exact(d, 64, 30, 10), value, 1e-12)
    assert(error < 1e-11 and levels < 5000)
  end)

  -- Quantiles of a mixture are searched for; those that are found drop out.
  it("looks at no more points than it needs", function ()
    local Gamma, points = peri.Gamma:extend("Gamma2"), 0
    for _, name in ipairs { "cdf", "sf", "log_cdf", "log_sf", "icdf", "isf" } do
      Gamma[name] = function (self, x)
        points = points + (type(x) == "number" and 1 or x:numel())
        return peri.Gamma[name](self, x)
      end
    end
    local mixture = peri.MixtureSameFamily(peri.Categorical { 0.3, 0.7 }, Gamma({ 2, 5 }, { 1, 3 }))
    local value, error = peri.wasserstein(peri.Categorical { probs = peri.ones(256) }, mixture, 2)
    assert.near(146.2527693485, value, 1e-10)
    assert(error < 1e-12)
    assert(points < 100000)   -- 6600 quantiles, two components
  end)

  it("does not need outcomes to be integers", function ()
    local d = peri.Binomial(10, 0.3)
    for _, scale in ipairs { 0.5, 2, -0.3 } do
      local moved = peri.TransformedDistribution(d, peri.transforms.Affine(0.25, scale))
      local expected = math.abs(scale) * peri.wasserstein(d, peri.Normal((1 - 0.25) / scale, 1 / math.abs(scale)))
      check(moved, peri.Normal(1, 1), 1, expected, 1e-11)
    end
  end)

  it("does not need outcomes of either law to be integers", function ()   -- 40-digit reference
    local function transformed (d, map) return peri.TransformedDistribution(d, map) end
    local Affine, Exp, Power = peri.transforms.Affine, peri.transforms.Exp, peri.transforms.Power
    local narrow = transformed(peri.Hypergeometric(1000, 10, 100), Affine(0.5, 0.001))
    check(narrow, peri.Zipf(3000), 1, 0.499, 1e-12)
    check(narrow, peri.Zipf(3000), 2, 0.49900089367845013098, 1e-12)
    check(narrow, peri.Poisson(3), 2, 3.0400609432042385491, 1e-12)
    check(transformed(peri.Poisson(2), Power(0.5)), transformed(peri.Poisson(3), Affine(0.25, -0.5)), 3,
          2.5736457386455281506, 1e-12)
    local vast = transformed(peri.Poisson(2), Exp())
    check(vast, peri.TransformedDistribution(vast, Affine(0, 0.5)), 1, 0.5 * math.exp(2 * (math.exp(1) - 1)), 1e-12)
    local value = peri.wasserstein(transformed(peri.Poisson { 3, 4 }, Affine(0.25, 1)), peri.Poisson { 3, 4 }, 2)
    assert.near(0, peri.item(peri.abs(value - 0.25):max()), 1e-12)
  end)

  it("is infinite where outcomes have no mean", function ()
    local cut = peri.Truncated(peri.Zipf(1.5), 3, math.huge)
    for _, d in ipairs { peri.Zipf(1.5), peri.Zipf(1.99), peri.Zipf(2), cut } do
      for _, q in ipairs { peri.Poisson(3), peri.Zipf(2.5) } do
        local value, error = peri.wasserstein(d, q, 1)
        assert(value == math.huge and error == math.huge, tostring(d))
      end
    end
    local value, error = peri.wasserstein(peri.Zipf(2.2), peri.Zipf(3.2), 1)   -- one lies above the other
    assert.near(peri.Zipf(2.2):mean() - peri.Zipf(3.2):mean(), value, error)
    assert(error < 1e-9)
  end)

  it("is infinite where one law has too heavy a tail", function ()
    for _, q in ipairs { peri.Normal(0, 1), peri.Poisson(3), peri.Delta(0.3) } do
      assert.equal(math.huge, (peri.wasserstein(peri.Zipf(3), q, 2)))
    end
  end)

  -- Between jumps that are known no quantile is asked for, and steps that are too many are not looked at one by one.
  it("asks for few quantiles of outcomes", function ()
    local function counted (class)
      local Own, count = class:extend("Own" .. class.__name), { 0 }
      for _, name in ipairs { "icdf", "isf" } do
        Own[name] = function (self, u)
          count[1] = count[1] + (type(u) == "number" and 1 or u:numel())
          return class[name](self, u)
        end
      end
      return Own, count
    end
    local NegativeBinomial, few = counted(peri.NegativeBinomial)
    local p = peri.Truncated(peri.Triangular(0, 30, 30), -2, 0.001)
    local q = peri.Truncated(NegativeBinomial(10000, 0.7), 100, 1000)
    check(p, q, 1, 999.8501105473703187, 1e-11)   -- 40-digit sum
    assert(few[1] < 3000)
    local BetaBinomial, many = counted(peri.BetaBinomial)
    local value, error = peri.wasserstein(BetaBinomial(1, 3, 10000), peri.LogUniform(2, 7), 2)
    assert(math.abs(value - 3158.5022663598) <= error and error < 1.5)   -- by panels
    assert(many[1] < 400)
    many[1] = 0
    local mixture = peri.MixtureSameFamily(peri.Categorical { 0.5, 0.5 }, BetaBinomial({ 0.3, 1000 }, { 3, 0.01 },
                                                                                       { 256, 1000 }))
    value, error = peri.wasserstein(mixture, peri.Normal(1e4, 1e-3), 1)
    assert(math.abs(value - (1e4 - mixture:mean())) <= error and error < 1)
    assert(many[1] < 400)
  end)

  -- Each outcome is measured between quantiles of the other law.
  it("is exact for many outcomes", function ()
    local known = {   -- p, q, orders 1, 2, 3: 40-digit sums of moments of the normal law between its quantiles
      { peri.Poisson(1000), peri.Normal(1000, 30),
        { 1.3200691000762688, 1.6628862505116331, 1.9705096449143218 } },
      { peri.Binomial(300, 0.3), peri.Normal(100, 5),
        { 10.001210194196819, 10.425240374829507, 10.792646961583945 } },
    }
    for _, case in ipairs(known) do
      for order, expected in ipairs(case[3]) do
        check(case[1], case[2], order, expected, 1e-12)
        local _, error = peri.wasserstein(case[2], case[1], order)
        assert(error < 1e-11)
      end
    end
    check(peri.Geometric(0.01), peri.Exponential(0.01), 1, 1, 1e-13)
    local mixture = peri.MixtureSameFamily(peri.Categorical { 0.3, 0.7 }, peri.Skellam({ 1, 300 }, { 3, 20 }))
    check(mixture, peri.Normal(-1e4, 1), 1, 1e4 + mixture:mean(), 1e-12)
    local value, error = peri.wasserstein(peri.Poisson(1000), peri.StudentT(2.5, 1000, 30), 3)
    assert(value == math.huge and error == math.huge)
  end)

  it("says what rounding of quantiles does", function ()
    local d = peri.Poisson(500)
    check(d, peri.Normal(1e6, 1e-3), 1, 1e6 - 500, 1e-9)
  end)

  it("is infinite where quantiles overflow", function ()
    local folded = peri.TransformedDistribution(peri.StudentT(1e-20), peri.transforms.Abs())
    for _, law in ipairs { folded, peri.StudentT(1e-20), peri.JohnsonSU(0.3, 1e-8, 0, 30) } do
      local value, error = peri.wasserstein(law, peri.Normal(0, 1))
      assert(value == math.huge and error == math.huge)
    end
  end)

  it("is infinite where the tails say so, and does not look any further", function ()
    local Heavy, count = peri.HalfCauchy:extend "Heavy", 0
    for _, name in ipairs { "icdf", "isf" } do
      Heavy[name] = function (self, u)
        count = count + (type(u) == "number" and 1 or u:numel())
        return peri.HalfCauchy[name](self, u)
      end
    end
    local value, error = peri.wasserstein(Heavy(0.01), peri.Normal(0, 1), 7)
    assert(value == math.huge and error == math.huge and count < 200)
    value, error = peri.wasserstein(peri.Cauchy({ 0, 1 }, 1), peri.Normal(0, 1), 2)
    assert.same({ math.huge, math.huge }, value:totable())
    assert.same({ math.huge, math.huge }, (value + error):totable())
  end)

  it("takes batches, and has a gradient", function ()
    local probs, locs = peri.rng(2):uniform(3, 20), { 5, 10, 30 }
    local value = peri.wasserstein(peri.Categorical { probs = probs }, peri.Normal(locs, 4))
    for i, loc in ipairs(locs) do
      local d = peri.Categorical { probs = probs:select(1, i) }
      assert.near(exact(d, 20, loc, 4), value[i], 1e-12)
      local function distance (x) return (peri.wasserstein(d, peri.Normal(x, 4))) end
      local w = peri.param(loc)
      distance(w):backward()
      assert.near((distance(loc + 1e-4) - distance(loc - 1e-4)) / 2e-4, w.grad, 1e-6)
    end
    local w = peri.param(-100)   -- of many outcomes as well
    peri.wasserstein(peri.Poisson(1000), peri.Normal(w, 1)):backward()
    assert.near(-1, w.grad, 1e-6)
  end)
end)

-- |quantile of p - quantile of q| at n levels, in the middle of equal parts of the mass.
local function gaps_at_levels (p, q, n)
  local u = (peri.arange(0, n) + 0.5) / n
  return peri.abs(p:icdf(u) - q:icdf(u))
end

describe("wasserstein between laws whose quantiles are dear", function ()
  local Abs, Affine = peri.transforms.Abs, peri.transforms.Affine
  local function folded (d, ...) return peri.TransformedDistribution(d, { ... }) end
  local function mix (a, b, c) return peri.MixtureSameFamily(peri.Categorical { a, b }, c) end
  local function any_mix (a, b, ...) return peri.MixtureDistribution(peri.Categorical { a, b }, { ... }) end

  -- p, q, and what the reference may be off by, as a part of it
  local CASES = {
    { folded(any_mix(0.5, 0.5, peri.NormalInverseGaussian(1.93, -0.03, 0, 1e-100), peri.Normal(0, 1)), Abs()),
      folded(peri.Normal(3, 0.5), Abs()), 2e-3 },
    { peri.Normal(0, 1), folded(mix(1e-8, 1, peri.TruncatedNormal({ 0.4, 5.83 }, { 0.046, 1.78 }, { 2.34, -9.5 },
                                                                  { 8.4, -2 })), Affine(-1, 2), Abs()), 1e-3 },
    { folded(peri.Truncated(peri.GeneralizedNormal(-19275, 7.2, 3.6), -0.3, 10), Abs()), peri.Normal(0, 1), 1e-3 },
    { folded(peri.Truncated(peri.NoncentralT(2.7, 7500, 0, 5.6), 1, 1e9), Abs(), peri.transforms.Power(0.5)),
      folded(peri.Truncated(peri.ExGaussian(-53320, 0.84, 8.3), -2, 3), Abs(), peri.transforms.Power(0.5)), 1e-2 },
    { peri.Truncated(any_mix(1e-8, 1, peri.Kumaraswamy(8.8, 0.0155), peri.AsymmetricLaplace(-0.14, 2.9, 2.6)), -2, 1),
      peri.Gumbel(-9.5, 2.7), 1e-3 },
    { folded(mix(0.5, 0.5, peri.NoncentralT({ 14.5, 13.3 }, { -6, -7 }, 0, { 5, 6.6 })), Abs()),
      peri.Gamma(3, 0.1), 1e-3 },
    { mix(0.3, 0.7, peri.Skellam({ 0.9, 18820 }, { 20, 8 })),
      peri.Truncated(any_mix(0.3, 0.7, peri.LogUniform(7.4, 11.6), peri.Normal(5, 2)), 3, 10), 1e-3 },
  }
  for _, case in ipairs(CASES) do
    local p, q, off = table.unpack(case)
    it("states an error that holds: " .. tostring(p), function ()
      local gaps = gaps_at_levels(p, q, 500)
      for _, order in ipairs { 1, 2 } do
        local value, error = peri.wasserstein(p, q, order)
        local reference = (gaps ^ order):mean() ^ (1 / order)
        assert(math.abs(value - reference) <= error + off * reference,
               ("order %d: %.12g off by %.3g, not %.3g"):format(order, value, error, value - reference))
      end
    end)
  end
end)

-- Half of q is T = Z/sqrt(V/7.6) with Z about -2865 and V a Chi2(7.6): E |T|^7 = 2865^7 E (7.6/V)^3.5, where levels of
-- e^-400 count still. The other half, and all of p, are next to 0.
describe("wasserstein where the rarest levels count, and panels are too dear", function ()
  it("states an error that holds", function ()
    local lgamma = peri.lgamma
    local moment = 2865 * math.exp((3.5 * math.log(3.8) + lgamma(0.3) - lgamma(3.8)) / 7)
    local q = peri.MixtureDistribution(peri.Categorical { 0.5, 0.5 },
                                       { peri.Normal(0, 1), peri.NoncentralT(7.6, -2865) })
    local value, error = peri.wasserstein(peri.ZeroInflatedPoisson(1e-20, 10), q, 7)
    assert.near(moment * 0.5 ^ (1 / 7), value, error + 15)
    assert(error < 0.2 * value)
  end)
end)

describe("wasserstein of other orders between outcomes", function ()
  it("of very many is off by no more than a step of each law, and says so", function ()
    local function mix (c) return peri.MixtureSameFamily(peri.Categorical { 0.3, 0.7 }, c) end
    local cases = {   -- values by adaptive panels
      { peri.BetaBinomial(3, 4, 1e9), peri.BetaBinomial(3, 5, 1e6), 462501913.379, 3 },
      { mix(peri.NegativeBinomial({ 3, 5 }, { 0.99999, 0.9999 })), peri.Normal(0, 1), 195188.986, 2 },
    }
    for _, case in ipairs(cases) do
      local value, error = peri.wasserstein(case[1], case[2], 2)
      assert(math.abs(value - case[3]) <= error and error < case[4])
    end
  end)

  it("moves masses one by one", function ()
    check(peri.Bernoulli(0.3), peri.Bernoulli(0.7), 2, math.sqrt(0.4), 1e-12)
    check(peri.DiscreteUniform(0, 9), peri.DiscreteUniform(100, 109), 3, 100, 1e-12)
    check(peri.DiscreteUniform(0, 1e5), peri.DiscreteUniform(7, 1e5 + 7), 2, 7, 1e-12)
  end)

  it("is an integral with an error where there are too many", function ()
    check(peri.Geometric(1e-9), peri.Geometric(2e-9), 2, 5e8 * math.sqrt(2), 1e-6)   -- nearly Exponentials
    check(peri.DiscreteUniform(0, 1e9), peri.DiscreteUniform(7, 1e9 + 7), 2, 7, 1e-12)
  end)

  it("is the better of two results where outcomes one by one are not enough", function ()
    local value, error = peri.wasserstein(peri.Poisson(300), peri.NoncentralT(2.5, 30), 2)
    assert(math.abs(value - 257.93968223756) <= error and error < 0.1)   -- from means of what is left beyond each step
  end)

  it("of a batch is that of each, to a step", function ()
    local all, errors = peri.wasserstein(peri.Poisson { 300, 2000 }, peri.Normal({ 2, 3 }, 30), 2)
    for i, one in ipairs { { 300, 2 }, { 2000, 3 } } do
      local value, error = peri.wasserstein(peri.Poisson(one[1]), peri.Normal(one[2], 30), 2)
      assert(math.abs(all[i] - value) <= errors[i] + error and errors[i] < 2)
    end
  end)
end)

it("A censored law and outcomes are as far apart as their tails say", function ()   -- its quantiles jump at both ends
  local p, q, sum, n = peri.Censored(peri.Normal(0, 1), 1, 10), peri.NegativeBinomial2(8.79, 6.77), 0, 2000
  for k = 0, 120 do   -- the area between both, a unit at a time
    local x = (peri.arange(n) + 0.5) / n + k
    sum = sum + (p:cdf(x) - q:cdf(k)):abs():mean()
  end
  local value, error = peri.wasserstein(p, q, 1)
  assert.near(sum, value, error + 1e-3 / n)
  assert(error < 1e-6)
end)

describe("slopes of wasserstein in the masses of outcomes", function ()
  local function total (x) return type(x) == "number" and x or x:sum() end

  -- [name] = two laws of a parameter, its value, and the order
  local cases = {
    { function (a) return peri.Bernoulli(a), peri.Normal(0, 1) end, 0.4, 1 },
    { function (a) return peri.Normal(0, 1), peri.Bernoulli(a) end, 0.4, 2 },
    { function (a) return peri.Poisson(a), peri.Normal(a, 2) end, 2.5, 1 },
    { function (a) return peri.Poisson(a), peri.Gamma(3, 1) end, 2.5, 2 },
    { function (a) return peri.Poisson(a), peri.Normal(503, 25) end, 500, 1 },
    { function (a) return peri.Poisson(a), peri.Binomial(10, 0.3) end, 2.5, 2 },
    { function (a) return peri.Poisson(10 * a), peri.Binomial(10, a ^ 2) end, 0.3, 2 },
    { function (a) return 0.5 * peri.Poisson(a), peri.Normal(1, 1) end, 3.1, 1 },
    { function (a) return 0.5 * peri.Poisson(a), peri.Binomial(4, 0.3) end, 3.1, 1 },
    { function (a) return -peri.Poisson(a), peri.Normal(1, 1) end, 3, 2 },
    { function (a) return a * peri.Poisson(3), peri.Normal(1, 1) end, 0.7, 2 },
    { function (a) return peri.Truncated(peri.Poisson(a), 2, 10), peri.Normal(1, 1) end, 3, 1 },
    { function (a) return peri.ZeroInflatedPoisson(a, 3), peri.Normal(1, 1) end, 0.4, 1 },
    { function (a)
        local parts = { peri.Poisson(a), peri.Binomial(5, 0.2) }
        return peri.MixtureDistribution(peri.Categorical { 0.3, 0.7 }, parts), peri.Normal(1, 1)
      end, 3.4, 1 },
    { function (a) return peri.Poisson(a * peri.tensor { 1, 2 }), peri.Binomial({ 3, 4 }, 0.5) end, 3, 2 },
  }

  it("are those of differences", function ()
    for i, case in ipairs(cases) do
      local laws, at, order = table.unpack(case)
      local function distance (x)
        local p, q = laws(x)
        return total((peri.wasserstein(p, q, order)))
      end
      local a = peri.param(at)
      distance(a):backward()
      local expected = (distance(at + 1e-4) - distance(at - 1e-4)) / 2e-4
      assert.near(expected, a.grad, 1e-5 * (1 + math.abs(expected)), "case " .. i)
    end
  end)

  it("are refused where they are not known", function ()
    local a = peri.param(1e9)
    local ok, text = pcall(peri.wasserstein, peri.Poisson(a), peri.Normal(0, 1))
    assert.is_false(ok)
    assert.matches("wasserstein has no gradient here: Poisson has too many outcomes; peri.no_grad", text, 1, true)
    assert.has_error(function () peri.wasserstein(peri.param(0.5) * peri.Poisson(3), peri.Binomial(3, 0.5)) end)
    peri.no_grad(function () assert.near(1e9, peri.item((peri.wasserstein(peri.Poisson(a), peri.Normal(0, 1)))), 1) end)
  end)
end)

it("wasserstein is infinite, alone and in a batch, where one law alone has no moment of that order", function ()
  local others = { peri.Normal(0, 1), peri.Gamma(2, 1), peri.Poisson(3), peri.Frechet(1, 3), peri.Pareto(1, 0.6) }
  local shapes = { 0.05, 0.3, 0.95, 1.5, 2, 50 }
  for _, q in ipairs(others) do
    for order = 1, 3 do
      local batch = peri.wasserstein(peri.Frechet(1, shapes), q, order)
      local heavier = q.moments_below and q:moments_below() or math.huge
      for i, shape in ipairs(shapes) do
        if math.min(shape, heavier) <= order then
          assert.equal(math.huge, batch:at(i))
          assert.equal(math.huge, (peri.wasserstein(peri.Frechet(1, shape), q, order)))
        end
      end
    end
  end
  assert.near(2.6789385347077, peri.wasserstein(peri.Frechet(1, { 1.5, 0.5 }), peri.Normal(0, 1)):at(1), 1e-9)
end)
