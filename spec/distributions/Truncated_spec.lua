--- Truncated: values from mpmath at 40 digits, and TruncatedNormal, which goes its own way.
local peri       = require "perilune"
local quadrature = require "perilune.quadrature"
local refusal    = require "spec.support.refusal"
local statistics = require "spec.support.statistics"

local Normal, Truncated = peri.Normal, peri.Truncated
local INF = math.huge
local QUANTILES = { 1e-300, 1e-20, 1e-12, 1e-3, 0.1, 0.35, 0.5, 0.8, 0.99, 1 - 1e-9 }

local function close (expected, got, tolerance, what)
  local off = math.abs(got - expected)
  assert(expected == got or off <= tolerance * math.max(math.abs(expected), math.abs(got)),
         string.format("%s: expected %.17g, got %.17g", what or "value", expected, got))
end

local function bases ()
  return {
    Truncated(Normal(0, 1), 1, 2), Truncated(Normal(0, 1), 30, 31), Truncated(Normal(0, 1), 50),
    Truncated(Normal(0, 1), -math.huge, -45), Truncated(Normal(2, 3)), Truncated(Normal(5, 1), 5, 5.001),
    Truncated(peri.Gamma(0.5, 1), 0.25, 3), Truncated(peri.Gamma(0.5, 1), 0, 1),
    Truncated(peri.Beta(0.5, 0.5), 0.2, 0.9), Truncated(peri.Cauchy(0, 1), -2, 1e6),
    Truncated(peri.StudentT(1.5), 100), Truncated(peri.Laplace(1, 2), -3, 3),
  }
end

describe("Truncated", function ()
  it("has the values of the reference", function ()
    for _, row in ipairs {   -- low, high; log_prob and cdf at low + 1/8; mean, variance, entropy
      { 1, 2, 0.44404723597608264, 0.20868041160463241, 1.3831690466315528, 0.072742886100601289,
        -0.083909987145962713 },
      { 30, 31, -0.35550707686142070, 0.97676188264123190, 30.033259667433622, 0.0011037715118352823,
        -2.4034104116350991 },
      { 8, INF, 1.0866861267098772, 0.64043944054316037, 8.1213681122361127, 0.014324883443340910,
        -1.1090261777654264 },
      { -1, 0.5, -0.67215540065180923, 0.060306426936892471, -0.20663121806153300, 0.17277325908649325,
        0.39707776033385226 },
    } do
      local d, x = Truncated(Normal(0, 1), row[1], row[2]), row[1] + 0.125
      assert(math.abs(d:log_prob(x) - row[3]) < 2e-13)   -- a difference of logarithms near 454 for the second
      close(row[4], d:cdf(x), 2e-13, "cdf")
      close(row[5], d:mean(), 1e-14, "mean")
      close(row[6], d:variance(), 4e-13, "variance")
      close(row[7], d:entropy(), 1e-13, "entropy")
    end
    local g = Truncated(peri.Gamma(0.5, 1), 0.25, 3)
    close(-0.80706471080356092, g:log_prob(1), 1e-14)
    close(0.69261586845594520, g:cdf(1), 1e-14)
    close(0.86768183119561538, g:mean(), 1e-14)
    close(0.35296367957673478, g:variance(), 1e-13)
    close(0.49986629197051417, g:entropy(), 1e-13)
    close(0.45532530991364917, g:icdf(0.3), 1e-14)
    close(17.149205007847576, Truncated(peri.Cauchy(), 1, 1e6):mean(), 1e-12)
    assert.equal(INF, Truncated(peri.Cauchy(), 1):mean())
  end)

  it("agrees with TruncatedNormal", function ()
    for _, row in ipairs { { 0, 1, 1, 2 }, { 0, 1, -2, 3 }, { 0, 1, 30, 31 }, { 0, 1, 8, INF }, { 0, 1, -INF, -40 },
                           { 0, 1, 0, INF }, { 2, 3, 1.5, 1.5000001 }, { 0, 1, -50, -49 }, { 0, 1, 200, INF } } do
      local d, reference = Truncated(Normal(row[1], row[2]), row[3], row[4]), peri.TruncatedNormal(table.unpack(row))
      local text, deep = tostring(d), 1e-15 * (1 + math.abs(d.log_mass))   -- what logarithms of this size leave
      for _, u in ipairs(QUANTILES) do
        close(reference:icdf(u), d:icdf(u), 4e-15, text .. " icdf")
        close(reference:isf(u), d:isf(u), 4e-15, text .. " isf")
        local x = reference:icdf(u)
        for _, method in ipairs { "log_prob", "cdf", "sf", "log_cdf", "log_sf" } do
          local expected, got = reference[method](reference, x), d[method](d, x)
          local size = math.max(math.abs(expected), method == "log_prob" and 1 or 0)
          assert(expected == got or math.abs(expected - got) <= (4e-14 + 2 * deep) * size,
                 string.format("%s:%s(%.17g)", text, method, x))
        end
      end
      close(reference:mean(), d:mean(), 1e-14, text .. " mean")
      close(reference:mode(), d:mode(), 0, text .. " mode")
      close(reference:entropy(), d:entropy(), 1e-13 + deep, text .. " entropy")
      local width = math.sqrt(reference:variance())
      close(reference:variance(), d:variance(), 1e-13 + 1e-15 * math.abs(d:mean()) / width, text .. " variance")
    end
  end)

  it("inverts its cdf and its upper tail, and they are complements", function ()
    for _, d in ipairs(bases()) do
      for _, u in ipairs(QUANTILES) do
        for _, pair in ipairs { { "icdf", "cdf", "log_cdf" }, { "isf", "sf", "log_sf" } } do
          local x = d[pair[1]](d, u)
          local room = 1e-12 * u + 4e-16 * math.abs(x) * d:prob(x)   -- x is rounded, to 0 even
          local back = d[pair[2]](d, x)
          assert(math.abs(back - u) <= room or x == 0,
                 string.format("%s:%s(%g) gives back %g", tostring(d), pair[1], u, back))
          if u < 0.5 and back > 0 then close(math.log(back), d[pair[3]](d, x), 1e-13, pair[3]) end
          close(1, d:cdf(x) + d:sf(x), 2.3e-16, "cdf + sf")
        end
      end
      assert.equal(d:icdf(0.5), d:median())
    end
  end)

  it("is that of the base between the ends and nothing outside", function ()
    local d = Truncated(Normal(0, 1), 1, 2)
    assert.equal(d:log_prob(1.25) - d:log_prob(1.75), Normal():log_prob(1.25) - Normal():log_prob(1.75))
    for x, cdf in pairs { [0.5] = 0, [1] = 0, [2] = 1, [INF] = 1, [-INF] = 0 } do
      assert.equal(cdf, d:cdf(x))
      assert.equal(1 - cdf, d:sf(x))
    end
    assert.same({ -INF, -INF }, { d:log_prob(0.999), d:log_prob(2.001) })
    assert(d:log_prob(1) > -INF and d:log_prob(2) > -INF)
    assert.same({ 1, 2, 2, 1 }, { d:icdf(0), d:icdf(1), d:isf(0), d:isf(1) })
    assert.same({ 1, 2 }, { d.support.low, d.support.high })
    for _, method in ipairs { "log_prob", "cdf", "sf", "log_cdf", "log_sf", "icdf", "isf" } do
      local value = d[method](d, 0 / 0)
      assert(value ~= value, method)
    end
    local below, above = d:icdf(-0.1), d:icdf(1.1)
    assert(below ~= below and above ~= above)
    local cut = Truncated(peri.Gamma(2, 1), -5, 3)   -- the base begins at 0
    assert.same({ 0, 3 }, { cut.support.low, cut.support.high })
  end)

  it("knows what is left of outcomes between the components of a mixture", function ()
    local apart = peri.MixtureDistribution(peri.Categorical { 0.85, 0.15 }, { peri.Skellam(3, 62), peri.Poisson(177) })
    local d, x = Truncated(apart, 15, 28), peri.arange(15, 29)
    local mass = peri.exp(apart:log_prob(x))
    local share = mass / mass:sum()
    close(peri.log(mass:sum()), d.log_mass, 1e-13)
    for k = 1, #x do
      local below = share:narrow(1, 1, k):sum()
      close(below, d:cdf(x[k]), 1e-13)
      assert.equal(x[k], d:icdf(below - 0.5 * share[k]))
      assert.equal(x[k], d:isf(1 - below + 0.5 * share[k]))
    end
    close((x * share):sum(), d:mean(), 1e-13)
    assert(d:sample(1000, peri.rng(1)):max() < 21)
  end)

  it("has its mode at a lower peak of a mixture where the highest is cut off", function ()
    local counts = peri.MixtureSameFamily(peri.Categorical { 1, 1 }, peri.Binomial(20, { 0.438, 0.917 }))
    assert.equal(9, Truncated(counts, 3, 14):mode())
    assert.equal(10, Truncated(counts, 10, 14):mode())
    assert.equal(19, Truncated(counts, 0, 20):mode())
    local bells = peri.MixtureSameFamily(peri.Categorical { 0.7, 0.3 }, Normal({ -3, 2 }, { 0.5, 1 }))
    local modes = Truncated(bells, peri.tensor { 0, -1, 3 }, peri.tensor { 5, 1, 8 }):mode()
    close(2, modes[1], 1e-9)
    assert.same({ 1.0, 3.0 }, { modes[2], modes[3] })
    close(2, Truncated(Truncated(bells, 0, 9), 1, 5):mode(), 1e-9)
  end)

  it("has its mode at a lower peak of any law that has several", function ()
    local shut = peri.ZeroInflatedPoisson(0.3, 9.5)
    assert.equal(9, Truncated(shut, 1, math.huge):mode())
    assert.equal(9, Truncated(Truncated(shut, 0, 30), 1, 20):mode())
    assert.equal(4, Truncated(shut, 1, 4):mode())
    assert.equal(0, Truncated(shut, 0, 8):mode())
    assert.equal(3, Truncated(peri.Categorical { 0.4, 0.05, 0.2, 0.05, 0.3 }, 2, 4):mode())
    local two = Truncated(peri.LogitNormal(0.5, 3), 1e-4, 0.5)
    close(0.00020417582833043266, two:mode(), 1e-10)   -- a flat peak
    local bent = peri.TransformedDistribution(Normal(0.5, 3), { peri.transforms.Sigmoid() })
    close(two:mode(), Truncated(bent, 1e-4, 0.5):mode(), 1e-7)
    local folded = Truncated(peri.TransformedDistribution(Normal(1, 0.3), { peri.transforms.Abs() }), 0, 0.9)
    close(0.9, folded:mode(), 0)
    close(0.71629787019902447, peri.TransformedDistribution(folded, { peri.transforms.Tanh() }):mode(), 1e-9)
  end)

  it("has its mode at the base's or at an end", function ()
    assert.equal(1, Truncated(Normal(0, 1), 1, 2):mode())
    assert.equal(0, Truncated(Normal(0, 1), -1, 2):mode())
    assert.equal(-1, Truncated(Normal(0, 1), -math.huge, -1):mode())
    assert.equal(0.9, Truncated(peri.Beta(0.5, 0.5), 0.2, 0.9):mode())   -- a valley
  end)

  it("does narrow intervals", function ()
    local d = Truncated(Normal(2, 3), 1.5, 1.5 + 2 ^ -30)   -- all but uniform
    close(30 * math.log(2), d:log_prob(1.5), 1e-10)
    close(0.25, d:cdf(1.5 + 2 ^ -32), 1e-9)
    close(0.75, d:sf(1.5 + 2 ^ -32), 1e-9)
    assert(math.abs(d:log_prob(1.5 + 2 ^ -31) - 30 * math.log(2)) < 1e-13)
  end)

  it("truncates counts", function ()
    local d = Truncated(peri.Poisson(3), 1.5, 5.7)
    local logs = { -1.1631508098056809, -1.1631508098056809, -1.4508328822574618, -1.9616585060234525 }
    local total = 0
    for k = 2, 5 do
      close(logs[k - 1], d:log_prob(k), 1e-14)
      total = total + math.exp(logs[k - 1])
      close(total, d:cdf(k), 1e-14)
      assert.equal(k, d:icdf(d:cdf(k)))
      assert.equal(k, d:icdf(d:cdf(k) * (1 - 1e-12)))
      if k < 5 then
        assert.equal(k + 1, d:icdf(d:cdf(k) * (1 + 1e-12)))
        assert.equal(k, d:isf(d:sf(k)))
        assert.equal(k + 1, d:isf(d:sf(k) * (1 - 1e-12)))
      end
    end
    assert.same({ -INF, -INF, -INF }, { d:log_prob(1), d:log_prob(6), d:log_prob(2.5) })
    assert.same({ 2, 5 }, { d:icdf(0), d:icdf(1) })
    close(3.203125, d:mean(), 1e-14)
    close(1.068115234375, d:variance(), 1e-13)
    close(1.3428664403171912, d:entropy(), 1e-13)
    assert.same({ 2, 3, 4, 5 }, d:enumerate_support():totable())
    assert.equal("integer", math.type(d:sample()))
    local ok, statistic = statistics.chi_square(d:sample(20000, peri.rng(3000)), d)
    assert(ok, "chi-square is off by " .. statistic .. " standard deviations")
    local deep = Truncated(peri.Poisson(1), 500)   -- mass e^-2612
    assert.equal(500, deep:icdf(0.5))
    close(500 + 1 / 501 + 2 / (501 * 502), deep:mean(), 1e-8)
    assert.equal(0, math.floor(math.abs(Truncated(peri.Binomial(10, 0.3), 2, 2):entropy()) * 1e12))
  end)

  it("keeps batches", function ()
    local d = Truncated(Normal({ 0, 1 }, 1), { { 1 }, { 2 }, { -INF } }, peri.tensor { 3, INF })
    assert.same({ 3, 2 }, d.batch_shape)
    for i, low in ipairs { 1, 2, -INF } do
      for j, high in ipairs { 3, INF } do
        local one = Truncated(Normal(j - 1, 1), low, high)
        for _, method in ipairs { "mean", "variance", "entropy", "mode", "median" } do
          close(one[method](one), d[method](d):at(i, j), 1e-12, method)
        end
        for _, method in ipairs { "log_prob", "cdf", "log_sf", "icdf" } do
          assert.equal(one[method](one, 0.7), d[method](d, { 0.7 }):at(i, j))
        end
      end
    end
    assert.same({ 4, 3, 2 }, d:sample(4).shape)
    local e = Truncated(Normal(0, 1), 1, 2):expand { 2, 3 }
    assert.same({ 2, 3 }, e.batch_shape)
    assert.is_true(e:is_a(Truncated))
    assert.same({ 2, 3 }, e:mean().shape)
    assert.equal(Truncated(Normal(0, 1), 1, 2):log_prob(1.5), e:log_prob(1.5):at(2, 3))
  end)

  it("truncates what is truncated, and mixtures", function ()
    local twice, once = Truncated(Truncated(Normal(), 0, 3), 1, 2), Truncated(Normal(), 1, 2)
    close(once:mean(), twice:mean(), 1e-14)
    close(once:icdf(0.3), twice:icdf(0.3), 1e-14)
    local mixture = peri.MixtureSameFamily(peri.Categorical { 0.3, 0.7 }, Normal({ -1, 2 }, 0.5))
    local d = Truncated(mixture, 0, 3)
    close(peri.item(mixture:log_prob(1) - peri.log(mixture:cdf(3) - mixture:cdf(0))), peri.item(d:log_prob(1)), 1e-14)
    close(0.3, peri.item(d:cdf(d:icdf(0.3))), 1e-14)
  end)

  it("is right between components of a mixture, where its tails say nothing", function ()
    local parts = peri.TruncatedNormal({ 1.5, 20 }, { 5, 0.3 }, { -0.5, -1 }, { 0, 20 })
    local d = Truncated(peri.MixtureSameFamily(peri.Categorical { 0.5, 0.5 }, parts), 0.1, 10)
    close(4.7114286855794939701, peri.item(d:log_prob(10)), 1e-12)
    close(0.32868206023728461256, peri.item(d:cdf(9.99)), 1e-11)
    close(10 - 0.0062307875662391648831, peri.item(d:icdf(0.5)), 1e-14)
    close(10 - 0.10299388534311416571, peri.item(d:icdf(1e-5)), 1e-14)
    close(10 - 8.9919666917533476247e-8, peri.item(d:isf(1e-5)), 1e-14)
    assert(peri.item(d:sample(1000, peri.rng(1)):min()) > 9.8)
    local dear = peri.MixtureDistribution(peri.Categorical { 0.3, 0.7 },
                                          { peri.JohnsonSU(20, 1.5, 10, 5), peri.NoncentralT(10, 3, 30, 1e300) })
    close(0.0797327225961270, peri.item(Truncated(dear, 0.1, 10):entropy()), 1e-7)
  end)

  it("has slopes of quantiles close to its ends", function ()
    local levels = peri.tensor { 1e-9, 1e-4, 0.3, 0.9999 }
    local function sum (loc) return peri.item(Truncated(Normal(loc, 1), 0, 1):icdf(levels):sum()) end
    local w = peri.param(0.2)
    Truncated(Normal(w, 1), 0, 1):icdf(levels):sum():backward()
    assert.near((sum(0.20001) - sum(0.19999)) / 2e-5, w.grad, 1e-9)
  end)

  it("has close to its ends what quantiles of dear laws are", function ()
    local d = Truncated(peri.NoncentralT(3, 0, 2, 1000), 1, 10)   -- a StudentT in other words
    local u = peri.linspace(0.001, 0.999, 101)
    local got, expected = d:icdf(u), Truncated(peri.StudentT(3, 2, 1000), 1, 10):icdf(u)
    assert(peri.item(peri.abs(got / expected - 1):max()) < 3e-13)
  end)

  it("samples from its own law", function ()   -- false alarm 1e-6 a test, seeds fixed
    for seed, d in ipairs(bases()) do
      local x = d:sample(5000, peri.rng(3100 + seed))
      local ok, statistic = statistics.ks(x, function (v) return d:cdf(v) end)
      assert(ok, tostring(d) .. " KS statistic " .. statistic)
      assert(peri.item(x:min()) >= d.low and peri.item(x:max()) <= d.high)
      local rng = peri.rng(5)
      local parts = { d:sample(3, rng), d:sample(1, rng), d:sample({ 3, 1 }, rng):reshape(3) }
      assert.is_true(d:sample(7, peri.rng(5)):equal(peri.cat(parts)))
      assert.equal("number", type(d:sample()))
      assert.is_true(d:sample(7, peri.rng(5)):equal(d:rsample(7, peri.rng(5))))
    end
    local loc = peri.param(0.3)
    local d = Truncated(peri.Normal(loc, 1), -1, 2)
    local core = require "perilune.core"
    assert.is_false(core.tracked(d:sample(3)))
    assert.is_true(core.tracked(d:rsample(3)))
    assert.is_false(Truncated(peri.Poisson(3), 1).has_rsample)
    assert.matches("Truncated has no rsample: Poisson%(rate=3%) has none",
                   refusal(function () return Truncated(peri.Poisson(3), 1):rsample() end))
  end)

  -- What is left of mixtures, transformed before or after, or cut twice.
  local function left_of_mixtures ()
    local t, Transformed, Mixture = peri.transforms, peri.TransformedDistribution, peri.MixtureSameFamily
    local five = Mixture(peri.Categorical { 0.1, 0.2, 0.3, 0.2, 0.2 },
                         Normal({ -10, -1, 0, 3, 100 }, { 1, 0.1, 2, 1, 10 }))
    local gammas = Mixture(peri.Categorical { 0.3, 0.7 }, peri.Gamma({ 0.5, 3 }, { 1, 2 }))
    local batch = Mixture(peri.Categorical { { 0.3, 0.7 }, { 0, 1 } }, Normal({ { -1, 2 }, { 0, 1 } }, 1))
    return {
      Truncated(five, -5, 97), Truncated(Truncated(five, -1.14, 100), 9, INF), Truncated(gammas, 0.1, 2),
      Truncated(Transformed(five, t.Tanh()), 0.1, 0.9), Truncated(Transformed(gammas, t.Tanh()), 0.1, 0.9),
      Truncated(Transformed(five, t.Abs()), 0.05, 3), Truncated(Transformed(gammas, t.Abs()), 0.05, 3),
      Transformed(Truncated(gammas, 0.1, 2), t.Affine(0, -2)),
      Truncated(Transformed(batch, { t.Affine({ 0.5, 1 }, { -2, 1.5 }), t.Abs(), t.Affine(0, -1) }), { -3, -2 }, -0.5),
      Truncated(Transformed(batch, t.Exp()), { 0.5, 0 }, { 3, 2 }),
    }
  end

  -- E f(X) by the density alone, between the ends of the support.
  local function by_density (d, f)
    local low, high = peri.tensor(d.support.low), peri.tensor(d.support.high)
    return require "perilune.quadrature".integrate(function (u)
      local x = low + (high - low) * u
      return f(x) * d:prob(x) * (high - low)
    end, 0, 1, { shape = d.batch_shape, points = { 0.1, 0.3, 0.5, 0.7, 0.9 }, as_tensor = true })
  end

  it("integrates what is left of a mixture nearly without its quantiles", function ()
    local Mixture = peri.MixtureSameFamily
    for _, d in ipairs(left_of_mixtures()) do
      local icdf, isf, calls = Mixture.icdf, Mixture.isf, 0
      Mixture.icdf, Mixture.isf = function (...) calls = calls + 1 return icdf(...) end,
                                  function (...) calls = calls + 1 return isf(...) end
      local mean, error = d:expectation(function (x) return x end)
      local entropy = d:entropy()
      d:mode()
      Mixture.icdf, Mixture.isf = icdf, isf
      assert(calls <= 1, string.format("%s: %d quantiles", tostring(d), calls))   -- the median, a centre
      local expected = by_density(d, function (x) return x end)
      local gap = peri.abs(mean - expected)
      local bound = error + 1e-12 * peri.abs(expected)
      assert(peri.tensor(peri.le(gap, bound) * peri.lt(error, 1e-10 * peri.abs(expected))):min() == 1,
             table.concat({ tostring(d), "mean", tostring(mean), tostring(error), tostring(expected) }, " "))
      expected = by_density(d, function (x) return -d:log_prob(x) end)
      assert(peri.tensor(peri.lt(peri.abs(entropy - expected), 1e-9)):min() == 1,
             table.concat({ tostring(d), "entropy", tostring(entropy), tostring(expected) }, " "))
    end
  end)

  it("integrates what is left of components that are silent about their support", function ()
    local Silent = Normal:extend("Silent", { inherit_kl = false })
    Silent.support = false
    local function left (class)
      return Truncated(peri.MixtureSameFamily(peri.Categorical { 0.3, 0.7 }, class({ -1, 2 }, 1)), 0, 3)
    end
    close(left(Normal):mean(), left(Silent):mean(), 1e-14)
  end)

  it("has the mode of what is left of a mixture at its highest point", function ()
    for _, d in ipairs(left_of_mixtures()) do
      local low, high = peri.tensor(d.support.low), peri.tensor(d.support.high)
      local u = peri.linspace(0, 1, 2001)
      for _ = 1, #d.batch_shape do u = u:unsqueeze(-1) end
      local highest = d:log_prob(peri.minimum(low + (high - low) * u, high)):max(1)
      local top = d:log_prob(d:mode())
      assert(peri.tensor(peri.ge(top, highest - 1e-9)):min() == 1,
             table.concat({ tostring(d), "at the mode", tostring(top), "elsewhere", tostring(highest) }, " "))
    end
  end)

  it("has derivatives of moments of what is left of a mixture", function ()
    local function moments (w)
      local mixture = peri.MixtureSameFamily(peri.Categorical { probs = peri.stack { 0.3 * w, 1 - 0.3 * w } },
                                             Normal(peri.stack { w, -2 * w }, peri.stack { w + 1, 0.5 * w }))
      local d = Truncated(peri.TransformedDistribution(mixture, peri.transforms.Abs()), 0.3, 2 * w)
      return d:mean() + d:entropy()
    end
    local h = 1e-5
    close((moments(peri.tensor(1 + h)) - moments(peri.tensor(1 - h))) / (2 * h), peri.grad(moments)(1), 1e-8)
  end)

  it("does not search beyond all numbers", function ()
    local d, calls = Truncated(peri.StudentT(0.01)), 0
    local log_sf = d.base.log_sf
    d.base.log_sf = function (...)
      calls = calls + 1
      return log_sf(...)
    end
    local x = d:isf { 0.25, 1e-305 }
    assert.equal(d.base:isf(0.25), x[1])
    assert.equal(INF, x[2])
    assert(calls <= 4, calls)
  end)

  it("refuses empty intervals and what has no mass", function ()
    local function message (...) return select(2, pcall(Truncated, ...)) end
    assert.matches("Truncated: base must be a distribution, got 3", message(3))
    assert.matches("Truncated: base must be a distribution of single numbers that has icdf, got MultivariateNormal",
                   message(peri.MultivariateNormal({ 0, 0 }, { { 1, 0 }, { 0, 1 } }), 1, 2))
    assert.matches("Truncated: high must be greater than 2, got 1", message(Normal(), 2, 1))
    assert.matches("Truncated: high must be greater than 1, got 1", message(Normal(), 1, 1))
    assert.matches("Truncated: low must be a real number, got nan", message(Normal(), 0 / 0))
    assert.matches('Truncated: low must be a number, a table of numbers or a tensor, got the string "a"',
                   message(Normal(), "a"))
    assert.matches("Truncated: Normal%(loc=0, scale=1%) has no mass between low=1e%+200 and high=2e%+200",
                   message(Normal(), 1e200, 2e200))
    assert.matches("Truncated: Uniform%(low=0, high=1%) has no mass between low=2 and high=3",
                   message(peri.Uniform(0, 1), 2, 3))
    assert.matches("Truncated: Poisson%(rate=3%) has no mass between low=1.2 and high=1.8",
                   message(peri.Poisson(3), 1.2, 1.8))
    assert.matches("Truncated: base, low and high of shapes %(3%) and %(2%) do not broadcast",
                   message(Normal({ 0, 1, 2 }, 1), { 1, 2 }, 5))
  end)

  it("prints, takes names, and explains itself", function ()
    assert.equal("Truncated(Normal(loc=0, scale=1), low=1, high=2)", tostring(Truncated(Normal(), 1, 2)))
    assert.equal("Truncated(Normal(loc=0, scale=1), low=1, high=inf)", tostring(Truncated { base = Normal(), low = 1 }))
    local help = Truncated.help
    local code = "local peri = ...; local Truncated = peri.Truncated; return " .. help.example[1]
    close(help.example[2], assert(load(code))(peri), 1e-14)
    assert.is_string(help.params.base and help.params.low and help.params.high and help.formula)
  end)
end)

describe("Truncated", function ()
  it("keeps its digits where a subnormal exponent has none: it is log-uniform", function ()
    local d = peri.Truncated(peri.Pareto(3, 5e-324), -2, 1000)
    assert.near(997 / math.log(1000 / 3), d:mean(), 1e-9)
    assert.near(math.log(100 / 3) / math.log(1000 / 3), d:cdf(100), 1e-12)
  end)

  it("has the mass of a wide interval, though tails hardly tell it", function ()
    local d = peri.Truncated(peri.StudentT(1e-6, 1, 9), 0, 1e9)
    assert.near(1, 1.5765142560863842e-5 / math.exp(d.log_mass), 1e-9)   -- 40-digit integrals
    assert.near(1, 31714743.429771851 / d:mean(), 1e-9)
  end)

  it("cuts mixtures of different families component by component", function ()
    local mixture = peri.MixtureDistribution(peri.Categorical { 0.3, 0.7 }, { peri.Normal(0, 1), peri.Gamma(3, 1) })
    local d = peri.Truncated(mixture, -1, 2)
    assert.near(0.75531037230494027, d:mean(), 1e-14)       -- 30-digit integrals
    assert.near(1.05089215503722697, d:entropy(), 3e-14)
    local Delta, Triangular = peri.Delta, peri.Triangular   -- a single point cannot be cut
    local with_point = peri.MixtureDistribution(peri.Categorical { 0.3, 0.7 }, { Triangular(1, 4, 2), Delta(3) })
    assert.near(0.3 * 7 / 3 + 0.7 * 3, peri.Truncated(with_point, 1, math.huge):mean(), 1e-9)
  end)

  it("cuts a folded law on both sides", function ()
    local d = peri.Truncated(peri.TransformedDistribution(peri.Normal(0.5, 1), peri.transforms.Abs()), 0.2, 1)
    assert.near(0.57616112515900034, d:mean(), 1e-14)
    assert.near(-0.22864413329372239, d:entropy(), 1e-14)
    local folded = peri.TransformedDistribution(peri.Normal({ 0.5, 30 }, 1), peri.transforms.Abs())
    local batch = peri.Truncated(folded, 0.2, 1)
    assert.near(d:mean(), batch:mean()[1], 1e-14)
    assert.near(peri.Truncated(peri.Normal(30, 1), 0.2, 1):mean(), batch:mean()[2], 1e-13)
    local w = peri.param(0.5)
    peri.Truncated(peri.TransformedDistribution(peri.Normal(w, 1), peri.transforms.Abs()), 0.2, 1):mean():backward()
    local function mean (loc)
      return peri.Truncated(peri.TransformedDistribution(peri.Normal(loc, 1), peri.transforms.Abs()), 0.2, 1):mean()
    end
    assert.near((mean(0.5001) - mean(0.4999)) / 2e-4, w.grad, 1e-7)
  end)

  it("has no quantiles outside", function ()   -- where the density next to an end soon changes
    local base = peri.MixtureDistribution(peri.Categorical { 0.3, 0.7 },
                                          { peri.GeneralizedNormal(0.9, 1000, 0.1), peri.Rice(0.9, 0.9) })
    local d, levels = peri.Truncated(base, -0.3, 10), peri.exp(-peri.linspace(0, 40, 400))
    for _, x in ipairs { d:icdf(levels), d:isf(levels) } do assert(x:min() >= -0.3 and x:max() <= 10) end
    assert(peri.wasserstein(d, peri.DiscreteUniform(10, 20)) < 20.3)
  end)

  it("has the same quantiles for many levels as for one", function ()
    local d, u = peri.Truncated(peri.Gamma(3, 1), 0.2, 5), peri.linspace(0, 1, 201)
    local all = d:icdf(u)
    for i = 1, 201, 10 do assert.equal(d:icdf(u[i]), all[i]) end
  end)

  it("of one that is truncated is one of the law itself", function ()
    local law = peri.Normal(0, 1)
    for i = 1, 200 do law = peri.Truncated(law, i / 100 - 3, 5 - i / 100) end   -- each took twice as long as the last
    assert.equal("Truncated(Normal(loc=0, scale=1), low=-1, high=3)", tostring(law))
    assert.equal(peri.Truncated(peri.Normal(0, 1), -1, 3):mean(), law:mean())
    local own = peri.Truncated:extend("Own")
    assert.equal("Own", peri.Truncated(own(peri.Normal(0, 1), 0, 1), 0.5, 1).base.__name)
    assert.has_error(function () peri.Truncated(peri.Truncated(peri.Normal(0, 1), 0, 1), 2, 3) end)
  end)

  it("of a transformed one that is truncated is cut by both", function ()
    local bells = peri.MixtureSameFamily(peri.Categorical { 0.4, 0.6 }, Normal({ 1, 3 }, { 0.5, 1 }))
    local inner = peri.TransformedDistribution(Truncated(bells, 0.9, 5), { peri.transforms.Exp() })
    local direct = Truncated(bells, 0.9, math.log(50)):expectation(function (x) return peri.exp(x) end)
    close(direct, Truncated(inner, 2, 50):mean(), 1e-12)
  end)

  it("keeps single points of mass at its ends", function ()
    local points = peri.Categorical { 0.25, 0.5, 0.25 }
    local three = Truncated(peri.MixtureSameFamily(points, peri.Delta { v = { -1, 1, 3 } }), -2, 2)
    close(1 / 3, three:mean(), 1e-13)
    close(8 / 9, three:variance(), 1e-13)
    local half = peri.Categorical { 0.5, 0.5 }
    local spike = Truncated(peri.MixtureDistribution(half, { peri.Delta(-3), peri.Uniform(-1, 1) }), -5, 5)
    close(-1.5, spike:mean(), 1e-13)
    assert.same({ 0, 0.5, 0.5 }, { spike:cdf(-3.01), spike:cdf(-3), spike:sf(-3) })
    assert.equal(-3, spike:icdf(0.2))
    local slab = peri.MixtureDistribution(half, { peri.Delta(0), Normal(0, 1) })
    for _, law in ipairs { Truncated(slab, 0, math.huge),
                           Truncated(peri.TransformedDistribution(slab, { peri.transforms.Abs() }), 0, 50) } do
      local mass = law.high == 50 and 1 or 0.75
      close(0.5 / mass, law:cdf(0), 1e-13)
      close((mass - 0.5) / mass * math.sqrt(2 / math.pi), law:mean(), 1e-13)
      assert.equal(0, law:icdf(0.4))
    end
    local mass = 0.5 + peri.special.ndtr(1) - 0.5
    for _, low in ipairs { -1, 0 } do
      local censored = Truncated(peri.Censored(Normal(0, 1), 0, 2), low, 1)
      close(0.5 / mass, censored:cdf(0), 1e-13)
      close((1 - math.exp(-0.5)) / math.sqrt(2 * math.pi) / mass, censored:mean(), 1e-13)
    end
  end)

  it("is right in a narrow interval around a cusp", function ()
    -- the mean of an exponential of rate r on an interval of length w, from its beginning
    local function part (r, w) return 1 / r - w / peri.expm1(r * w) end
    local function share (r, w) return -peri.expm1(-r * w) / r end
    local law, r = Truncated(peri.Laplace(0.3, 1000), 0, 1), 1e-3
    local left, right = share(r, 0.3), share(r, 0.7)
    local mean = (left * (0.3 - part(r, 0.3)) + right * (0.3 + part(r, 0.7))) / (left + right)
    close(mean, law:mean(), 1e-12)
    for _, base in ipairs { peri.Laplace(0.3, 1000), peri.GeneralizedNormal(0.87, 1, 0.16),
                            peri.AsymmetricLaplace(0.3, 1000, 3), peri.Triangular(-1000, 1000, 0.3) } do
      local d, before = Truncated(base, 0, 1), 0
      for _, p in ipairs { 0.01, 0.2, 0.5, 0.77, 0.99 } do close(p, d:cdf(d:icdf(p)), 1e-11) end
      for _, now in ipairs(d:cdf(peri.linspace(0, 1, 500)):totable()) do
        assert(now >= before, tostring(base))
        before = now
      end
    end
  end)

  it("has quantiles of a mixture of which a component begins at its end", function ()
    local d = Truncated(peri.MixtureDistribution(peri.Categorical { 0.05, 0.95 },
                        { peri.NoncentralChi2(4.4, 8.1), peri.AsymmetricLaplace(-4.2, 3.3, 4.5) }), 0, 1)
    for _, p in ipairs { 0.001, 0.01, 0.1, 0.5 } do close(p, d:cdf(d:icdf(p)), 1e-13) end
  end)

  it("says that it is not known where it is narrower than numbers are apart", function ()
    for _, base in ipairs { peri.Laplace(0, 1e-15), peri.AsymmetricLaplace { scale = 1e-20 } } do
      local d = Truncated(base, 1000, 1e9)
      assert.equal(1000, d:icdf(0.5))
      for _, p in ipairs { peri.Normal(0, 1), peri.Laplace(0, 9) } do
        local value, error = peri.js_divergence(p, d)
        assert(math.abs(value - math.log(2)) <= error, value)
      end
    end
  end)

  it("has moments of a Censored law with all digits", function ()
    local weights, sum, mass = { 0.05, 0.95 }, 0, 0
    local base = peri.MixtureSameFamily(peri.Categorical(weights), peri.Exponential { 1, 2 })
    for rate, w in ipairs(weights) do
      sum  = sum + w * ((0.5 + 1 / rate) * math.exp(-0.5 * rate) - math.exp(-2 * rate) / rate)
      mass = mass + w * math.exp(-0.5 * rate)
    end
    for _, d in ipairs { Truncated(peri.Censored(base, 0.1, 2), 0.5, 3),
                         Truncated(peri.Censored(peri.Censored(base, -1, 2), 0.1, 5), 0.5, math.huge) } do
      close(sum / mass, d:mean(), 1e-13)
      local value, error = d:expectation(function (x) return x end)
      assert(math.abs(value - sum / mass) <= error and error < 1e-12, error)
    end
    local rows = Truncated(peri.Censored(peri.Exponential { 1, 2 }, 0, 2), peri.tensor { 0.5, 0 }, 1)
    close(Truncated(peri.Censored(peri.Exponential(1), 0, 2), 0.5, 1):mean(), rows:mean()[1], 1e-14)
    close(Truncated(peri.Censored(peri.Exponential(2), 0, 2), 0, 1):mean(), rows:mean()[2], 1e-14)
  end)

  it("has quantiles within rounding of its end, far out in a tail", function ()
    local d = Truncated(peri.TransformedDistribution(peri.Laplace(-3.5, 6.25), { peri.transforms.Affine(3, -0.5) }),
                        1e9, math.huge)
    assert.equal(1e9, d:icdf(1e-12))
    close(1e9 + 3.125 * math.log(2), d:icdf(0.5), 1e-15)
    close(1e9 + 3.125 * 20, d:isf(math.exp(-20)), 1e-15)
  end)

  it("refuses outcomes that are no integers", function ()
    local halves = peri.TransformedDistribution(peri.Poisson(3), { peri.transforms.Affine(0, 0.5) })
    assert.has_error(function () Truncated(halves, 0.7, 3) end,
      "Truncated: base must have a density or integers as outcomes, got " .. tostring(halves)
      .. ": cut it before it is transformed")
    assert.has_error(function () peri.Censored(halves, 0.7, 3) end)
    local shifted = peri.TransformedDistribution(peri.Poisson(3), { peri.transforms.Affine(1, -2) })
    close(1, Truncated(shifted, -5, 0):cdf(0), 1e-15)
  end)
end)

describe("What is left of a law that was folded twice, or has points", function ()
  local transforms = peri.transforms
  local function mixed (...) return peri.MixtureDistribution(peri.Categorical { 0.3, 0.7 }, { ... }) end

  it("has the mass of its mixture once", function ()
    local base = mixed(peri.AsymmetricLaplace(4.8, 1, 7.3), peri.Normal(0, 1))
    local twice = peri.TransformedDistribution(base, { transforms.Abs(), transforms.Abs() })
    local once = peri.Truncated(peri.TransformedDistribution(base, { transforms.Abs() }), 0.1, 10)
    local nested = peri.TransformedDistribution(peri.TransformedDistribution(base, { transforms.Abs() }),
                                                { transforms.Abs() })
    for _, law in ipairs { twice, nested } do
      local d = peri.Truncated(law, 0.1, 10)
      assert.near(once:mean(), d:mean(), 1e-12)
      assert.near(d:sf(1.2), (d:expectation(function (x) return peri.gt(x, 1.2) end)), 1e-12)
      assert.near(once:variance(), d:variance(), 1e-11)
    end
  end)

  it("is not asked for what a transform does not reach", function ()
    local base = mixed(peri.Normal(-0.2, 0.5), peri.Laplace(0.3, 1))
    local d = peri.TransformedDistribution(base, { transforms.Exp(), transforms.Abs() })
    local cut = peri.Truncated(d, 0.3, 2)
    local plain = peri.Truncated(peri.TransformedDistribution(base, { transforms.Exp() }), 0.3, 2)
    assert.near(plain:mean(), cut:mean(), 1e-12)
    local batch = peri.Truncated(peri.TransformedDistribution(d, { transforms.Affine(-1, 1), transforms.Abs() }),
                                 peri.tensor { 0.3, 1.5 }, 2)   -- beyond 1 one of two intervals has no mass
    for k, low in ipairs { 0.3, 1.5 } do
      local x = batch:sample(20000, peri.rng(k)):select(2, k)
      assert.near(x:mean(), batch:mean()[k], 5 * peri.item(batch:stddev()[k]) / math.sqrt(20000), low)
    end
  end)

  it("begins at a point of mass only where there is one", function ()   -- not an ulp below: densities may be singular
    local base = peri.Censored(mixed(peri.Beta(5.75, 0.288), peri.Normal(0, 1)), 0.1, math.huge)
    local d, normal = peri.Truncated(base, 1, math.huge), peri.Normal(0, 1)
    assert.near(normal:sf(1.3) / normal:sf(1), d:sf(1.3), 1e-14)
    assert.near(0, d:cdf(1), 1e-14)
    assert.near(base:cdf(0.1), peri.Truncated(base, 0.1, math.huge):cdf(0.1), 1e-14)
  end)

  it("knows components that are single points", function ()
    local coins = peri.MixtureSameFamily(peri.Categorical { 0.5, 0.5 }, peri.ContinuousBernoulli { probs = { 0, 0.2 } })
    local other = peri.ContinuousBernoulli(0.2)
    assert.near(0.5 * other:mean(), (coins:expectation(function (x) return x end)), 1e-12)
    local d = peri.Truncated(peri.Censored(coins, 0.1, 3), -2, 3)
    local mean = 0.1 * (0.5 + 0.5 * other:cdf(0.1))
                 + 0.5 * (other:expectation(function (x) return peri.where(peri.gt(x, 0.1), x, 0) end))
    assert.near(mean, d:mean(), 1e-12)
  end)

  it("states the error of a part whose logarithm has lost digits", function ()
    local d = peri.TransformedDistribution(peri.Truncated(peri.GeneralizedNormal { loc = 92133.134 }, 0.1, 1),
                                           { transforms.Abs() })
    local c = d:isf(0.61)
    local value, error = d:expectation(function (x) return peri.gt(x, c) end)
    assert.near(d:sf(c), value, error)
    assert(error < 1e-5)
  end)

  it("knows how far off its panels are next to a pole", function ()   -- of 1 + x^2/(df scale^2), at 0.1 i
    local d = peri.Truncated(peri.StudentT { df = 0.00157, scale = 2.426 }, -2, 0.1)
    local x = d:icdf(0.77)
    local function mass (a, b) return (quadrature.integrate(function (t) return d:prob(t) end, a, b)) end
    assert.near(0.77, mass(-2, x), 1e-12)
    assert.near(mass(x, 0.1), d:sf(x), 1e-12)
  end)

  it("knows its components through transforms", function ()   -- a narrow peak, and half of the mass far below
    local base = peri.MixtureSameFamily(peri.Categorical { 0.5, 0.5 }, peri.Laplace({ -5.93, 17114 }, { 0.00276, 0.4 }))
    local d = peri.Truncated(3 - 0.5 * base, 3, 10)
    for _, level in ipairs { 1e-300, 1e-100, 1e-10, 0.3 } do
      local expected = 5.965 + 0.00138 * math.log(2 * level)
      assert.near(expected, d:icdf(level), 1e-13)
      assert.near(math.log(level), d:log_cdf(expected), 1e-9)
    end
  end)

  it("is measured in parts where its ends are numbers and components are several", function ()
    local d = peri.Truncated(peri.MixtureDistribution(peri.Categorical { 0.05, 0.95 }, {
      peri.Normal(0, 1), peri.InverseGaussian { concentration = 2.95 },
    }), 0, 0.1)
    local x = d:icdf(1e-300)
    assert.near(1, d:cdf(x) / 1e-300, 1e-12)
    assert.near(1, x * d:prob(0) / 1e-300, 1e-12)
  end)

  it("keeps its digits where tails hide a wide part that is next to nothing", function ()
    local base = -mixed(peri.Gumbel(-9.7, 0.136), peri.Delta(9.3))
    local d = peri.Truncated(peri.Truncated(base, -math.huge, 10), 0.1, 1)
    local function part (x) return math.exp((x - 1) / 0.136) end   -- a Gumbel law has the tail of an Exponential one
    for _, x in ipairs { 0.3, 0.7, 0.92, 0.99 } do
      local expected = (1 - part(x)) / (1 - part(0.1))
      assert.near(1, d:sf(x) / expected, 1e-10)
      assert.near(x, d:isf(expected), 1e-10)
    end
  end)
end)
