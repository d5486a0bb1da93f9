-- Laws at parameters so large or small that something overflows on the way: what they tend to says what is right.
local peri       = require "perilune"
local round_trip = require "spec.support.round_trip"

local LEVELS = { 1e-300, 1e-100, 1e-10, 0.01, 0.3 }
local normal = peri.Normal(0, 1)

-- Is d a Normal law, as far as its quantiles and tails tell?
local function is_normal (d, loc, scale, digits)
  for _, q in ipairs(LEVELS) do
    assert.near(1, (d:icdf(q) - loc) / scale / normal:icdf(q), digits)
    assert.near(1, (d:isf(q) - loc) / scale / normal:isf(q), digits)
    assert.near(math.log(q), d:log_cdf(loc + scale * normal:icdf(q)), digits * -math.log(q))
    assert.near(math.log(q), d:log_sf(loc + scale * normal:isf(q)), digits * -math.log(q))
  end
end

local function slope (f, x)
  local h = 1e-4 * x
  return (f(x + h) - f(x - h)) / (2 * h)
end

describe("Bell curves:", function ()
  it("VonMises of any concentration", function ()
    for _, k in ipairs { 1e26, 1e40, 1e150 } do is_normal(peri.VonMises(0, k), 0, k ^ -0.5, 1e-12) end
  end)

  it("Rice far from 0", function ()
    is_normal(peri.Rice(1e9, 1), 1e9, 1, 1e-7)
    for _, sigma in ipairs { 1e-100, 1e-300 } do
      local d = peri.Rice(834154.18117309047, sigma)
      for _, q in ipairs(LEVELS) do
        assert.equal(834154.18117309047, d:icdf(q))
        assert.equal(834154.18117309047, d:isf(q))
      end
    end
  end)

  it("Skellam with many counts, and a little lean", function ()
    for _, r in ipairs { 1e20, 1e40, 1e100 } do is_normal(peri.Skellam(r, r), 0, (2 * r) ^ 0.5, 1e-8) end
    local d, sd = peri.Skellam(1e18, 3e17), 1.3e18 ^ 0.5   -- of skewness 7e17/sd^3
    local lean = 7e17 / sd ^ 3
    for _, z in ipairs { -30, -3, 2, 20 } do
      local k = math.floor(7e17 + z * sd)
      local at = (k + 0.5 - 7e17) / sd
      assert.near(normal:log_cdf(at - lean * (at * at - 1) / 6), d:log_cdf(k), 1e-9 * (1 + z * z))
    end
    assert.near(normal:log_prob(1) - math.log(sd), d:log_prob(math.floor(7e17 + sd)), 1e-6)
    local k = math.floor(7e17 + sd)
    local function of_first (r) return peri.Skellam(r, 3e17):log_prob(k) end
    local function of_second (r) return peri.Skellam(1e18, r):log_prob(k) end
    assert.near(1, 1.3e18 ^ 0.5 * peri.grad(of_first)(1e18), 1e-6)       -- z/sd, z = 1
    assert.near(-1, 1.3e18 ^ 0.5 * peri.grad(of_second)(3e17), 1e-6)
  end)

  it("ExGaussian of an endless rate", function ()
    local d = peri.ExGaussian(0, 1e300, 1e300)
    assert.near(normal:log_prob(0.5) - math.log(1e300), d:log_prob(0.5e300), 1e-12)
  end)
end)

it("ExGaussian is an Exponential far beyond its scale", function ()
  for _, scale in ipairs { 1e-10, 1e-150, 1e-300 } do
    for _, rate in ipairs { 1e-300, 1e-170, 0.07 } do
      local d, limit = peri.ExGaussian(0, scale, rate), peri.Exponential(rate)
      for _, q in ipairs(LEVELS) do
        if limit:isf(q) < 1e305 then
          assert.near(1, d:isf(q) / limit:isf(q), 1e-12)
          assert.near(math.log(q), d:log_sf(limit:isf(q)), -1e-12 * math.log(q))
        end
        if limit:icdf(q) > 20 * scale and limit:icdf(q) < 1e305 then
          assert.near(1, d:icdf(q) / limit:icdf(q), 1e-12)
          assert.near(1, math.exp(d:log_cdf(limit:icdf(q)) - math.log(q)), 1e-10)
        end
      end
    end
  end
end)

it("FisherSnedecor has tails where ratios of its degrees overflow", function ()
  for _, df1 in ipairs { 1e100, 1e150, 1e300 } do   -- the inverse of a Gamma with shape next to nothing
    local d = peri.FisherSnedecor(df1, 1e-300)
    local x = d:icdf(1e-300)
    assert.near(math.log(1e-300), d:log_cdf(x), 1e-9)
    assert.near(1, x / 6.0700216117e-300, 1e-8)
    assert.equal(math.huge, d:icdf(0.3))
    assert.equal(math.huge, d:isf(1e-300))
  end
  local d = peri.FisherSnedecor(1e-300, 1e300)
  assert.equal(0, d:icdf(0.3))
  assert.near(1, d:log_sf(d:isf(1e-300)) / math.log(1e-300), 1e-6)
  assert.equal(0, peri.FisherSnedecor(5e-324, 3):isf(1e-300))
  assert.equal(math.huge, peri.FisherSnedecor(3, 5e-324):icdf(0.3))
end)

it("The least degrees of freedom are some", function ()
  assert.equal(0, peri.Chi2(5e-324):isf(0.3))
  local d = peri.NoncentralChi2(5e-324, 1)   -- 0 with the probability of no count
  assert.near(math.exp(-0.5), d:cdf(1e-300), 1e-12)
  assert.near(math.log(0.3), d:log_sf(d:isf(0.3)), 1e-12)
  assert.equal(math.huge, peri.NoncentralF(5e-324, 3, 1):isf(0.3))
end)

it("Kumaraswamy has quantiles where levels over shapes underflow", function ()
  for _, b in ipairs { 1e10, 1e100, 1e150 } do
    local d = peri.Kumaraswamy(1e6, b)
    for _, q in ipairs(LEVELS) do assert.near(math.log(q), d:log_cdf(d:icdf(q)), -1e-9 * math.log(q) + 1e-9) end
    local level = peri.param(1e-300)
    d:icdf(level):backward()
    local expected = slope(function (p) return math.log(p) end, 1e-300) / 1e6 * d:icdf(1e-300)
    assert.near(1, peri.item(level.grad) / expected, 1e-6)
  end
end)

it("GeneralizedPareto keeps its digits where products underflow", function ()
  for _, c in ipairs { 1e80, 1e100, 1e150, 1e200 } do
    local d = peri.GeneralizedPareto { concentration = c, scale = 1e-6 }
    for _, t in ipairs { 1e-3, 0.5, 5 } do
      local x = 1e-6 * peri.expm1(t) / c
      assert.near(1, d:cdf(x) * c / t, 1e-13)
      assert.near(1, d:icdf(t / c) / x, 1e-13)
    end
  end
end)

it("TruncatedNormal of an endless scale is uniform, down to its end", function ()
  local d = peri.TruncatedNormal { loc = 0.003, scale = 1e300, low = 1e-300, high = 9.85 }
  for _, q in ipairs { 1e-100, 1e-10, 0.3 } do assert.near(1, d:icdf(q) / q / 9.85, 1e-12) end
  assert(d:icdf(1e-300) < 1e-298)
end)

it("StudentT and Burr have densities where powers overflow", function ()
  local t, x = peri.StudentT { df = 0.0055, scale = 1e-20 }, 1.8e286
  assert.near(-1.0055 * math.log(10), t:log_prob(10 * x) - t:log_prob(x), 1e-9)
  assert.near(t:log_sf(x) + math.log(0.0055) - math.log(x), t:log_prob(x), 1e-9)
  local burr = peri.Burr { concentration1 = 1e150, concentration0 = 1e-150, scale = 1e100 }
  assert.near(-2 * math.log(1e100) + math.log(1e100) - 2 * math.log(10), burr:log_prob(1e101), 1e-9)   -- scale/x^2
end)

it("GeneralizedNormal has tails and slopes where (x - loc)/scale overflows", function ()
  local d, limit = peri.GeneralizedNormal(0, 1e-300, 0.004), peri.GeneralizedNormal(0, 1, 0.004)
  local x = peri.param(1e20)   -- 1e320 scales
  local y = math.exp(0.004 * 320 * math.log(10))
  local density = d:log_prob(x)
  assert.near(limit:log_prob(1) + 1 - y - math.log(1e-300), peri.item(density), 1e-9)
  density:backward()
  assert.near(1, peri.item(x.grad) / (-0.004 * y / 1e20), 1e-12)
  local share = peri.special.gammaincc(250, y)   -- 1/0.004
  assert.near(math.log(0.5 * share), d:log_sf(1e20), 1e-11)
  assert.near(1 - 0.5 * share, d:cdf(1e20), 1e-15)
  assert.near(0.5 * share, d:cdf(-1e20), 1e-15)
end)

describe("Laws made of others have quantiles far out where their tails are:", function ()
  local transforms = peri.transforms
  local function on (d, ...) return peri.TransformedDistribution(d, { ... }) end
  local function mixed (...) return peri.MixtureDistribution(peri.Categorical { 0.05, 0.95 }, { ... }) end
  local hills = peri.MixtureSameFamily(peri.Categorical { 0.5, 0.5 },
                                       peri.GeneralizedNormal { loc = { 4.36, -9.33 }, shape = { 154, 7.7 } })
  local laws = {
    ["a component next to 0 beside one far off, folded"] =
      on(mixed(peri.Gamma(3714, 19414), peri.GeneralizedNormal(-2.99, 0.0135, 2)), transforms.Abs()),
    ["the same of another transform"] = on(
      peri.MixtureSameFamily(peri.Categorical { 0.05, 0.95 },
                             peri.GeneralizedNormal({ -8.4, 6 }, { 5.65, 1.8 }, { 5e5, 1223 })),
      transforms.Tanh(), transforms.Abs()),
    ["hills that were folded, and a valley between"] = peri.Truncated(on(hills, transforms.Abs()), 3, 10),
    ["magnitudes of a law with a point, reflected"] =
      on(on(mixed(peri.Delta(-2), peri.Rice(2.7, 2)), transforms.Abs()), transforms.Affine(0, -1)),
    ["magnitudes of what is censored, reflected"] =
      on(on(peri.Censored(mixed(peri.Laplace(-7, 8), peri.Normal(5.8, 0.05)), -0.3, 1), transforms.Abs()),
         transforms.Affine(0, -1)),
    ["a part whose tails have logarithms of 1e5"] =
      peri.Truncated(peri.Censored(peri.Laplace(176054, 1), -0.3, 1), -1, 0),
    ["a component that is censored, and begins within a cut"] =
      peri.Truncated(peri.Censored(mixed(peri.Triangular(7.394, 9.377, 7.421), peri.Logistic(0, 4e-5)), 1, 20), 3, 10),
    ["roots of a narrow component, censored and cut"] = peri.Truncated(peri.Censored(
      on(mixed(peri.Burr(5, 20709, 6e-4), peri.RelaxedBernoulli(645, 0.48)), transforms.Power(0.5)), -1, 10), 0.1, 10),
    ["a narrow part of a flat law"] =
      peri.Truncated(peri.Censored(peri.Truncated(peri.LogNormal(0, 579301), 0, 10), 0, 10), 0.1, 10),
  }
  for name, d in pairs(laws) do
    it(name, function ()
      for _, level in ipairs { 1e-300, 1e-100, 1e-10, 0.3 } do
        for _, way in ipairs { { "icdf", "log_cdf" }, { "isf", "log_sf" } } do
          local why = round_trip.fault(d, way[1], way[2], level)
          assert(why == nil, ("%s(%g) %s"):format(way[1], level, why))
        end
      end
    end)
  end
end)
