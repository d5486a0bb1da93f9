--- What calls on one element cost: at how many points densities, tails and quantiles are asked for. All classes count,
-- also those that others are made of.
local peri   = require "perilune"
local effort = require "perilune.effort"

local COUNTED = { "log_prob", "prob", "cdf", "sf", "log_cdf", "log_sf", "icdf", "isf" }

local points, quantiles = 0, 0

local function counting (fn, method)
  return function (self, x, ...)
    local n = peri.is_tensor(x) and x:numel() or 1
    points = points + n
    if method == "icdf" or method == "isf" then quantiles = quantiles + n end
    return fn(self, x, ...)
  end
end

-- Replaces the methods of all classes that have their own; returns what was there.
local function replaced ()
  local before = {}
  for _, name in ipairs(peri.distributions()) do
    local class = peri[name]
    for _, method in ipairs(COUNTED) do
      local own = rawget(class, method)
      if own then
        before[#before + 1] = { class, method, own }
        rawset(class, method, counting(own, method))
      end
    end
  end
  return before
end

local function mix (component, a, b)
  return peri.MixtureSameFamily(peri.Categorical { a or 0.5, b or 0.5 }, component)
end

local function any_mixture (...) return peri.MixtureDistribution(peri.Categorical { 0.3, 0.7 }, { ... }) end

local function transformed (base, ...) return peri.TransformedDistribution(base, { ... }) end

local Abs, Affine, Tanh = peri.transforms.Abs, peri.transforms.Affine, peri.transforms.Tanh

-- p, q, order, and a quarter more points than it takes. These took 70 ms to 7 s before they were looked at.
local DISTANCES = {
  { mix(peri.StudentT({ 2.5, 5 }, { 0, 3 }, 1), 0.3, 0.7), peri.Poisson(100), 2, 230000 },
  { peri.Categorical { probs = peri.ones(256) }, mix(peri.Gamma({ 2, 5 }, { 1, 3 }), 0.3, 0.7), 2, 255000 },
  { peri.Chi2(0.01), mix(peri.Frechet({ 5, 1e-150 }, { 1e6, 100 })), 2, 460000 },
  { peri.Truncated(peri.ContinuousBernoulli(0.7), -0.001, 3),
    transformed(peri.GeneralizedNormal(1.5, 2, 1e8), Abs()), 3, 200000 },
  { peri.Delta(-1e6), transformed(peri.Frechet(0.001, 1e-150), Affine(3, -0.5), Abs()), 7, 110000 },
  { peri.Truncated(peri.NegativeBinomial(1e-300, 0.7), -1e10, math.huge),
    transformed(peri.Uniform(0.001, 3), peri.transforms.Exp(), Abs()), 1, 10000 },
  { transformed(peri.RelaxedBernoulli(1, 1e-8), Affine(-1, 2), Abs()),
    peri.Truncated(peri.VonMises(0, 1), -1e10, 0), 7, 400000 },
  { peri.Truncated(peri.Triangular(0, 30, 30), -2, 0.001),
    peri.Truncated(peri.NegativeBinomial(10000, 0.7), 100, 1000), 1, 43000 },
  { transformed(peri.InverseGamma(2, 0.9), Affine(3, -0.5), Tanh()),
    mix(peri.BetaBinomial({ 0.3, 1000 }, { 3, 0.01 }, { 256, 1000 })), 2, 95000 },
  { peri.HalfCauchy(0.01), peri.MixtureDistribution(peri.Categorical { 0.3, 0.7 },
                                                    { peri.VonMises(10, 0.5), peri.Logistic(0, 1000) }), 7, 6000 },
  { peri.BetaBinomial(1, 3, 10000), peri.LogUniform(2, 7), 2, 220 },
  { peri.Frechet(30, 100), peri.BetaBinomial(1e150, 1000, 2 ^ 53), 7, 2100 },
  { mix(peri.BetaBinomial({ 2 ^ 53, 1000 }, { 0.1, 5 }, { 1e9, 10 })), peri.SkewNormal(-0.01, 1000, 10000), 2, 7000 },
  { peri.MixtureDistribution(peri.Categorical { 0.3, 0.7 },
                             { peri.Binomial(0, 0.7), peri.BetaBinomial(1000, 0.5, 2 ^ 53) }),
    peri.Binomial(1, 0.001), 7, 160000 },
  { transformed(peri.VonMises(1e6, 1e4), Tanh(), Affine(3, -0.5)),
    peri.Truncated(peri.BetaBinomial(1e-8, 1e-3, 2 ^ 40), -0.3, math.huge), 7, 2100 },
  { transformed(peri.BetaBinomial(0.01, 5, 1000), peri.transforms.Power(0.5)),
    peri.AsymmetricLaplace(0, 0.1, 0.5), 3, 1800 },
  { transformed(peri.GeneralizedNormal(0, 30, 0.1), Abs()), peri.Chi2(0.3), 2, 140000 },
  { mix(peri.Maxwell({ 3, 10 }), 1e-300, 1), mix(peri.Geometric({ 1e-16, 1e-100 }), 0.3, 0.7), 2, 260000 },
  { mix(peri.NoncentralChi2({ 2, 5 }, { 1, 30 }), 0.3, 0.7), mix(peri.NoncentralChi2({ 3, 9 }, { 1, 3 })), 2, 60000 },
  { mix(peri.NormalInverseGaussian({ 30, 3 }, { 0.1, 0.9 }, { 1, 3 }, { 1, 12 })), peri.LogitNormal(-0.5, 5), 1, 8600 },
  { mix(peri.Skellam({ 1, 300 }, { 3, 20 }), 0.3, 0.7), peri.Normal(2, 3), 2, 32500 },
  { peri.Truncated(peri.Skellam(300, 200), 0, 1000), peri.Normal(2, 3), 2, 15000 },
  { transformed(peri.StudentT(1e-20), Abs()), peri.Normal(0, 1), 1, 78500 },
  { transformed(peri.Truncated(peri.Zipf(12), 1, 1000), Abs()), peri.Exponential(5), 2, 56000 },
  { peri.Truncated(mix(peri.FisherSnedecor({ 0.5, 1e15 }, { 1e-300, 1e6 }), 0.3, 0.7), -0.3, 3),
    peri.NegativeBinomial2(7, 0.5), 1, 730000 },
  { transformed(peri.NormalInverseGaussian(7, 0.01, 2 ^ 53, 0.01), Abs()),
    mix(peri.NegativeBinomial2({ 2, 0.5 }, { 0.7, 12 }), 0.3, 0.7), 3, 26500 },
  { any_mixture(peri.Beta(0.0024, 0.641), peri.Kumaraswamy(7.04, 7.44)),
    mix(peri.NegativeBinomial({ 7, 1.5 }, { 0.9999999, 0.9999999995 })), 1, 27000 },
  { transformed(any_mixture(peri.HalfNormal(1), peri.HalfNormal(1)), peri.transforms.Power(0.5)),
    peri.Truncated(peri.Zipf(6280), 1e9, math.huge), 7, 17000 },
  { mix(peri.LogitNormal({ 0, 2 }, 1000)), peri.Normal(0, 1), 1, 55000 },
  { transformed(peri.LogitNormal(0, 18000), Affine(-1, 2), Abs()), peri.Normal(0, 1), 1, 390000 },
  { transformed(peri.Rice(1, 3.5), Affine(3, -0.5)),
    any_mixture(peri.Chi2(0.0017), peri.GeneralizedExtremeValue(-7.5, 2.7, 0)), 1, 76000 },
  { peri.Beta(3, 0.4), mix(peri.VonMises({ 29037, 3.6 }, { 0.8, 4.3 })), 7, 43000 },
  { peri.Poisson(60000), transformed(peri.Normal(0.5, 1), Abs()), 1, 50000 },
  { transformed(peri.Truncated(peri.StudentT(6.4, 0, 48000), 0, 1), Affine(-1, 2), Abs()), peri.Normal(0, 1), 1,
    217000 },
  { transformed(any_mixture(peri.JohnsonSU(-1, 5, 20, 20), peri.NoncentralT(1, -0.5, 0, 1000)), Tanh(), Abs()),
    peri.Burr(2, 7, 20), 3, 365000 },
  { transformed(peri.NoncentralF(0.001, 8.4, 2.7), Affine(-1, 2), Abs()),
    transformed(mix(peri.DiscreteUniform({ 8, -4 }, { 22, -1 }), 1e-300, 1), Affine(3, -0.5)), 1, 131000 },
  { transformed(peri.NoncentralT(1e100, -0.35, -5.5, 2.5), Affine(-1, 2), Abs()), peri.Exponential(1e-5), 2, 9400 },
  { peri.MixtureDistribution(peri.Categorical { 1e-300, 1 }, { peri.NormalInverseGaussian(1e15, 1.7, -6.4, 9.8),
                                                              peri.InverseGaussian(1e-300, 2167) }),
    peri.NoncentralChi2(7.3, 8.1), 1, 12500 },
  { any_mixture(peri.Rice(0, 1.8), peri.Normal(0, 1)),
    transformed(mix(peri.TruncatedNormal({ 0.4, 5.83 }, { 0.046, 1.78 }, { 2.34, -9.5 }, { 8.4, -2 }), 1e-8, 1),
                Affine(-1, 2), Abs()), 2, 118000 },
  { transformed(mix(peri.Uniform({ 1e-20, -3.3461 }, { 4.27, -3.346 }), 1e-8, 1), Abs(), peri.transforms.Power(0.5)),
    any_mixture(peri.HalfCauchy(7.5), peri.NoncentralT(6.8, -2.3, 8.4, 3.8)), 2, 147000 },
  { peri.Truncated(peri.DiscreteUniform(-7, 1), 0, 1e9),
    transformed(mix(peri.Delta { -7.02, 8.7 }, 1e-8, 1), Affine(-1, 2), Abs()), 2, 335000 },
  { peri.Normal(0, 1), transformed(any_mixture(peri.AsymmetricLaplace(0.00045, 4, 6.15), peri.Chi2(0.02)), Abs()), 2,
    235000 },
  { transformed(peri.Truncated(peri.NoncentralT(2.7, 7500, 0, 5.6), 1, 1e9), Abs()),
    transformed(peri.Truncated(peri.ExGaussian(-53320, 0.84, 8.3), -2, 3), Abs()), 2, 27000 },
  { mix(peri.Skellam({ 0.93, 18820 }, { 20728, 8 }), 1e-300, 1),
    peri.Truncated(any_mixture(peri.LogUniform(7.4, 11.6), peri.GeneralizedExtremeValue(0, 1e-8, -4.5)), 3, 10), 1,
    64000 },
}

describe("mixtures", function ()
  it("have infinite quantiles where those of a component overflow", function ()
    local law = mix(peri.Frechet({ 0.01, 0.01 }, { 5, 0.9 }), 1e-300, 1)
    assert.equal(math.huge, law:isf(5e-305))
    assert.near(1, law:isf(1e-250) / (0.01 * 1e-250 ^ (-1 / 0.9)), 1e-11)
  end)

  -- Levels at which quantiles leap from one component to the next were searched for by halving, up to 200 times.
  it("have quantiles on either side of a gap after a few rounds", function ()
    local laws = {
      mix(peri.Normal({ 0, 20 }, 1), 0.3, 0.7), mix(peri.Pareto({ 7, 7 }, { 1, 1e5 }), 0.3, 0.7),
      mix(peri.VonMises({ 1e4, 3 }, { 1, 4 }), 0.3, 0.7), any_mixture(peri.Uniform(0, 1), peri.Triangular(5, 1e6, 8)),
      mix(peri.NormalInverseGaussian({ 9, 2 }, { -1, -0.7 }, { -5, 1e15 }, { 1e-4, 6 }), 0.3, 0.7),
      mix(peri.Poisson { 3, 1e15 }, 0.3, 0.7),
    }
    local levels, before = { 1e-304, 1e-295, 0.299, 0.29999, 0.3, 0.30001, 0.301 }, replaced()
    for _, law in ipairs(laws) do
      for _, level in ipairs(levels) do
        points = 0
        law:icdf(level)
        assert(points < 160, ("%s at %g: %d points"):format(tostring(law), level, points))
      end
    end
    for _, entry in ipairs(before) do rawset(table.unpack(entry)) end
  end)

  it("are cut where they leap from one component to the next", function ()
    local before = replaced()
    points = 0
    local value, error = peri.wasserstein(mix(peri.Uniform({ 0, 10 }, { 1, 11 }), 0.3, 0.7), peri.Uniform(-1, 0), 1)
    for _, entry in ipairs(before) do rawset(table.unpack(entry)) end
    assert.near(0.3 * 0.5 + 0.7 * 10.5 + 0.5, value, error)
    assert(error < 1e-10 and points < 35000, points)
  end)
end)

-- law, level, its quantile and how far off that may be, and as many points as it may take. Newton's method went the
-- wrong way below 0, leaps missed a gap by less than rounding, and steps before a gap are all alike.
local RARE_CHI2 = peri.Chi2(0.02):icdf(0.001)
local QUANTILES = {
  { peri.Truncated(peri.GeneralizedNormal(-19275, 7.2, 3.6), -0.3, 10), 0.2, -0.3, 1e-8, 30 },
  { transformed(mix(peri.TruncatedNormal({ 0.4, 5.83 }, { 0.046, 1.78 }, { 2.34, -9.5 }, { 8.4, -2 }), 1e-8, 1),
                Affine(-1, 2), Abs()), 1e-30, 3.68, 1e-11, 670 },
  { transformed(peri.MixtureDistribution(peri.Categorical { 0.5, 0.5 },
                                         { peri.NoncentralChi2(9.2, 1e9), peri.Normal(0, 1) }), Abs()),
    0.5, 15, 10, 700 },
  { transformed(any_mixture(peri.AsymmetricLaplace(0.00045, 4, 6.15), peri.Chi2(0.02)), Abs()),
    0.0007, RARE_CHI2, 1e-9 * RARE_CHI2, 2800 },
}

describe("quantiles", function ()
  for _, case in ipairs(QUANTILES) do
    local law, level, expected, off, most = table.unpack(case)
    it("are found in few rounds: of " .. tostring(law), function ()
      local before = replaced()
      points = 0
      local x = law:icdf(level)
      local taken = points
      for _, entry in ipairs(before) do rawset(table.unpack(entry)) end
      assert.near(expected, x, off)
      assert(taken > 0 and taken < most, taken)
    end)
  end
end)

local function sine (k)
  return function (x) return peri.sin(k * x) end
end

-- law, function that no number of panels resolves, points
local EXPECTATIONS = {
  { peri.Truncated(peri.StudentT(0.01), 0, 1e10), sine(1), 160000 },
  { mix(peri.FisherSnedecor({ 100, 100 }, { 1e-50, 0.5 })), sine(1000), 33000 },
  { peri.VonMises(-0.5, 0.9), sine(1000), 15000 },
  { mix(peri.NoncentralChi2({ 2, 5 }, { 1, 30 })), sine(1000), 22500 },
  { peri.NormalInverseGaussian(7, 2, 1, 3), sine(1000), 13000 },
  { peri.Truncated(any_mixture(peri.Rayleigh(1e-20), peri.NoncentralChi2(2 ^ 40, 1)), 0.1, 1), sine(1000), 52000 },
  { peri.Truncated(any_mixture(peri.GeneralizedExtremeValue(7, 256, 0.9), peri.Chi2(30)), -0.3, 2), sine(1), 45000 },
  { peri.Truncated(transformed(peri.GeneralizedNormal(0, 7, 2), Abs()), 0, 8), sine(1), 30000 },
  { peri.Truncated(peri.InverseGaussian(0.7, 0.5), 0.34, 16), sine(1000), 39000 },
  { peri.Truncated(peri.NormalInverseGaussian(0.7, 0.7), 1, 100), sine(1000), 19500 },
  { peri.Truncated(peri.GeneralizedNormal(-0.001, 0.058, 3e-4), -0.3, 3), sine(1), 178000 },
  { peri.Truncated(peri.NormalInverseGaussian(1e-300, 0, 256, 100), -2, 3), sine(1), 19000 },
  { peri.NoncentralT(1e-100, 0.1), sine(1000), 1000 },
  { peri.NoncentralF(5, 5, 1e150), sine(1000), 2100 },
  { peri.Truncated(peri.NoncentralT(3, 0, 2, 1000), 1, 10), sine(1000), 12000 },
  { peri.Truncated(mix(peri.NoncentralT({ 1e4, 0.05 }, { 1e-100, 0.001 }, { 2, 2.5 }, { 1e150, 0.1 }), 1e-8, 1),
                   -0.3, 10), sine(1), 15500 },
  { peri.Truncated(transformed(peri.Pareto(3, 5e-324), Abs()), -2, 1000), sine(1), 130000 },
  { transformed(mix(peri.Zipf { 7, 2.5 }), Abs()), sine(1000), 44500 },
  { peri.Truncated(peri.Truncated(peri.NoncentralF(5, 5, 1e150), -1e10, 6.2e149), -2, math.huge), sine(1000), 4900 },
  { mix(peri.NoncentralT({ 1e150, 3.27 }, { 7.2, -5 }, { -8.6, 9.3 }), 1e-300, 1), sine(1000), 7100 },
  { mix(peri.NormalInverseGaussian({ 7.586, 7.75 }, { -6.5, 7.59 }, 0, { 0.0054, 2.6 })), sine(1000), 26500 },
  { peri.Truncated(mix(peri.NoncentralF({ 4, 7 }, { 1e12, 7000 }, { 1.7, 1.4 }), 0.3, 0.7), 0.1, 10), sine(1), 8600 },
  { peri.Truncated(any_mixture(peri.Delta(8), peri.InverseGaussian(9.5)), 1e9, math.huge), sine(1), 12500 },
  { transformed(mix(peri.Zipf { 10, 1.97 }, 0.3, 0.7), peri.transforms.Exp()), sine(1), 57000 },
  { peri.Truncated(mix(peri.Zipf { 2.7, 7.65 }, 1e-8, 1), 1, math.huge), function (x) return x end, 66000 },
}

-- Laws whose quantiles are dear, and as many of them as an expectation asks for: the rest are densities.
local PATHS = {
  { peri.NormalInverseGaussian(7, 2, 1, 3), 100 },
  { peri.NoncentralF(5, 5, 1e4), 100 },
  { peri.NoncentralT(3.3, 2), 100 },
  { peri.VonMises(1, 2), 100 },
  { mix(peri.NoncentralT({ 1e150, 3.27 }, { 7.2, -5 }, { -8.6, 9.3 }), 1e-300, 1), 200 },
  { peri.Truncated(peri.NoncentralF(5, 10, 1e5), 0, 1), 120 },   -- the mass is next to an end
}

-- p, q, points: the density of a dear law is looked at as well
local DIVERGENCES = {
  { peri.Exponential(7), peri.Truncated(mix(peri.LogitNormal({ 2715, -10 }, { 4.8, 7.4 }), 0.3, 0.7), 0.1, 1), 68000 },
  { peri.Normal(0, 1), peri.Truncated(transformed(peri.Laplace(-3.5, 6.3), Affine(3, -0.5)), 1e9, math.huge), 350000 },
  { peri.Normal(0, 1), peri.Truncated(any_mixture(peri.JohnsonSU { delta = 5e-4, gamma = 1e100 },
                                                  peri.AsymmetricLaplace { scale = 1e-20 }), 1000, 1e9), 21500 },
  { peri.Cauchy(3, 30), peri.NoncentralF(0.3, 3, 1e300), 4900 },
  { mix(peri.NormalInverseGaussian({ 7.586, 7.75 }, { -6.5, 7.59 }, 0, { 0.0054, 2.6 })), peri.Normal(0, 1), 37500 },
  { mix(peri.NoncentralT({ 1e150, 3.27 }, { 7.2, -5 }, { -8.6, 9.3 }), 1e-300, 1), peri.Normal(0, 1), 17500 },
  { peri.Truncated(peri.InverseGaussian(4.66, 4.48), 1000, math.huge),
    peri.Truncated(peri.NoncentralF(3.19, 1505, 44788), 0.1, 1000), 8500 },
  { peri.Normal(0, 1), transformed(any_mixture(peri.NoncentralT(5.1, -1.66, 7, 6.6),
                                               peri.NoncentralT(56, -8.2, 119178, 5)), Affine(-1, 2), Abs()), 32500 },
}

-- law, mode, points
local MODES = {
  { peri.Truncated(any_mixture(peri.GeneralizedPareto(30, 2, 0.3), peri.VonMises(1e-100, 1.5)), 0.1, 2), 0.1, 44000 },
  { peri.Truncated(mix(peri.Skellam({ 1e9, 30 }, { 1e9, 20 }), 0.3, 0.7), 25, math.huge), 25, 60000 },
  { peri.Truncated(mix(peri.Zipf { 1.5, 2.5 }, 0.3, 0.7), 2, 1e9), 2, 53000 },
  { peri.Truncated(mix(peri.Poisson { 1e15, 300 }, 0.3, 0.7), 310, math.huge), 310, 61000 },
  { transformed(transformed(peri.StudentT(5, 3, 0.5), Abs()), Abs()), 2.99999239166018, 5500 },
  { transformed(peri.NoncentralT(6.9, 4.8, -4.8, 0.57), Abs()), 2.26422932528492, 3200 },
  { transformed(peri.NoncentralT(8e-4, -6, -6, 6), Abs()), 7.0035913755942, 3500 },
}

describe("one element", function ()
  local before
  setup(function () before = replaced() end)
  teardown(function ()
    for _, entry in ipairs(before) do rawset(table.unpack(entry)) end
  end)

  for _, case in ipairs(DISTANCES) do
    local p, q, order, most = table.unpack(case)
    local name = ("wasserstein(%s, %s, %d)"):format(tostring(p):sub(1, 60), tostring(q):sub(1, 60), order)
    it("costs little: " .. name, function ()
      points = 0
      local value = peri.wasserstein(p, q, order)
      assert((points > 0 or value == math.huge) and points < most, points)
    end)
  end

  for _, case in ipairs(EXPECTATIONS) do
    local law, f, most = table.unpack(case)
    it("costs little: an expectation under " .. tostring(law), function ()
      points = 0
      law:expectation(f)
      assert(points > 0 and points < most, points)
    end)
  end

  for _, case in ipairs(PATHS) do
    local law, most = table.unpack(case)
    it("takes few quantiles: an expectation under " .. tostring(law), function ()
      quantiles = 0
      law:expectation(sine(1000))
      assert(quantiles > 0 and quantiles < most, quantiles)
    end)
  end

  for _, case in ipairs(DIVERGENCES) do
    local p, q, most = table.unpack(case)
    it("costs little: js_divergence with " .. tostring(q), function ()
      points = 0
      peri.js_divergence(p, q)
      assert(points > 0 and points < most, points)
    end)
  end

  for _, case in ipairs(MODES) do
    local law, mode, most = table.unpack(case)
    it("costs little: the mode of " .. tostring(law), function ()
      points = 0
      assert.near(mode, law:mode(), 1e-11)
      assert(points > 0 and points < most, points)
    end)
  end
end)

-- Counts go on for as long as the program runs: what one call has spent must not change what another does.
describe("what has been spent", function ()
  local folded, gamma = transformed(peri.Normal(0, 1), Abs()), peri.Gamma(2, 3)

  it("is a number, whatever the law: of infinite mean and variance, say", function ()
    local before = { peri.wasserstein(folded, gamma, 2) }
    mix(peri.NegativeBinomial({ total_count = { 3, 3 }, logits = { 1e-100, 1e6 } }), 0.3, 0.7):median()
    assert.same(before, { peri.wasserstein(folded, gamma, 2) })
  end)

  local EXTREMES = { 5e-324, 1e-300, 1e-20, 1, 1e20, 1e300 }

  local function law_at (class, values)
    local given = {}
    for i, param in ipairs(class.params) do given[param[1]] = values[i] end
    local ok, law = pcall(class, given)
    return ok and #law.batch_shape == 0 and #law.event_shape == 0 and law or nil
  end

  it("costs a number that is not negative, of every law", function ()
    local count = 0
    for _, name in ipairs(peri.distributions()) do
      local class = peri[name]
      for _, a in ipairs(EXTREMES) do
        for _, b in ipairs(EXTREMES) do
          local law = law_at(class, { a, b, a, b })
          for _, price in ipairs { law and "price", law and "density", law and "quantile", law and "search" } do
            local cost = effort[price](law)
            assert(cost >= 0 and cost < math.huge, name .. " " .. price .. " " .. tostring(cost))
            count = count + 1
          end
        end
      end
    end
    assert(count > 5000, count)
  end)

  it("does not hang on what was spent before", function ()
    local purse = effort.purse(100)
    effort.spend(0.1, 3)
    local left = purse:left()
    for _ = 1, 1000 do effort.spend(1 / 3, 1e8) end
    purse = effort.purse(100)
    effort.spend(0.1, 3)
    assert.equal(left, purse:left())
    effort.spend(0 / 0, 1)
    effort.spend(math.huge, 1)
    purse = effort.purse(100)
    effort.spend(0.1, 3)
    assert.equal(left, purse:left())
  end)
end)
