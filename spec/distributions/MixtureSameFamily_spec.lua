--- MixtureSameFamily: values from mpmath at 40 digits, or from sums written out here.
local peri       = require "perilune"
local refusal    = require "spec.support.refusal"
local statistics = require "spec.support.statistics"

local Categorical, Mixture, Normal = peri.Categorical, peri.MixtureSameFamily, peri.Normal
local INF = math.huge

local function close (expected, got, tolerance, what)
  if peri.is_tensor(got) then got = peri.item(got) end
  local off = math.abs(got - expected)
  assert(expected == got or off <= tolerance * math.abs(expected),
         string.format("%s: expected %.17g, got %.17g", what or "value", expected, got))
end

local function two_normals () return Mixture(Categorical { 0.3, 0.7 }, Normal({ -1, 2 }, { 0.5, 1 })) end
local function two_counts () return Mixture(Categorical { 0.3, 0.7 }, peri.Poisson { 2, 30 }) end

-- Families whose quantiles are to be inverted: separate, overlapping, of scales far apart, singular, heavy.
local function continuous ()
  return {
    two_normals(),
    Mixture(Categorical { 1, 1e-8 }, Normal({ 0, 100 }, 1)),
    Mixture(Categorical { 0.5, 0.5 }, Normal(0, { 1e-10, 1e10 })),
    Mixture(Categorical { 0.2, 0.5, 0.3 }, peri.Gamma({ 0.1, 3, 50 }, { 1, 2, 0.5 })),
    Mixture(Categorical { 0.4, 0.6 }, peri.Beta({ 0.5, 2 }, { 0.5, 3 })),
    Mixture(Categorical { 0.4, 0.6 }, peri.Cauchy({ 0, 5 }, { 1, 2 })),
    Mixture(Categorical { 0.4, 0.6 }, peri.Pareto(1, { 0.5, 2 })),
    Mixture(Categorical { 0.4, 0.6 }, peri.Uniform({ 0, 2 }, { 1, 5 })),
  }
end

it("A mixture of points has the same quantiles in many levels as in one", function ()
  local points = peri.MixtureSameFamily(peri.Categorical { 0.3, 0.7 }, peri.Delta { v = { 2.2388, 3.1689 } })
  local d = peri.Truncated(peri.TransformedDistribution(points, { peri.transforms.Exp() }), 3, math.huge)
  local levels = peri.linspace(0.001, 0.999, 2000)
  local x = d:icdf(levels)
  for _, k in ipairs { 1, 500, 625, 1000, 1999 } do assert.equal(d:icdf(levels[k]), x[k]) end
end)

describe("MixtureSameFamily", function ()
  it("has the density and both tails, in logarithms", function ()
    local d = two_normals()
    for _, row in ipairs {   -- x, log_prob, log_cdf, log_sf
      { -30, -513.27561347714341, -516.74232356966411, 0 },
      { -1, -1.4168869295412428, -1.8908402198021338, -0.16363122860506358 },
      { 0.25, -2.6463282501641397, -1.1203104701592858, -0.39479005508837770 },
      { 2, -1.2756134640891369, -0.43078291654780240, -1.0498221236530311 },
      { 40, -723.27561347714341, 0, -726.91389096275886 },
    } do
      local x = row[1]
      close(row[2], d:log_prob(x), 4e-15, "log_prob")
      if row[3] < 0 then close(row[3], d:log_cdf(x), 4e-15, "log_cdf") end
      if row[4] < 0 then close(row[4], d:log_sf(x), 4e-15, "log_sf") end
      close(math.exp(row[3]), d:cdf(x), 1e-13, "cdf")
      close(math.exp(row[4]), d:sf(x), 1e-13, "sf")
      close(1, d:cdf(x) + d:sf(x), 2.3e-16, "cdf + sf")
    end
    assert(peri.item(d:log_cdf(40)) < 0)   -- -2e-316, and not 0
    for _, method in ipairs { "log_prob", "cdf", "sf", "log_cdf", "log_sf", "icdf", "isf" } do
      local value = peri.item(d[method](d, 0 / 0))
      assert(value ~= value, method)
    end
    assert.equal(1, peri.item(d:cdf(INF)))
    assert.equal(0, peri.item(d:sf(INF)))
  end)

  it("has the quantiles of the reference", function ()
    local d = two_normals()
    close(-35.037474442494594, d:icdf(1e-300), 1e-15)
    close(-2.9963890418000734, d:icdf(1e-5), 1e-15)
    close(-0.12175120843380396, d:icdf(0.3), 1e-14)
    close(2.3661063568101674, d:icdf(0.75), 1e-15)
    close(2.3661063568101674, d:isf(0.25), 1e-15)
  end)

  it("inverts its cdf and its upper tail", function ()
    local u = peri.tensor { 1e-28, 1e-12, 1e-3, 0.1, 0.35, 0.5, 0.8, 0.99, 1 - 1e-9 }
    for _, d in ipairs(continuous()) do
      for _, pair in ipairs { { "icdf", "cdf" }, { "isf", "sf" } } do
        local x = d[pair[1]](d, u)
        local room = 4e-14 * u + 4e-16 * (x:abs() * d:prob(x))   -- x is rounded
        local off = (d[pair[2]](d, x) - u):abs()
        assert(peri.item(off:le(room):min()) == 1, tostring(d) .. " " .. pair[1] .. tostring(off / u))
      end
      assert.equal(peri.item(d:icdf(0.5)), peri.item(d:median()))
    end
  end)

  it("reaches the ends of the support and is NaN beyond", function ()
    local d = Mixture(Categorical { 0.4, 0.6 }, peri.Uniform({ 0, 2 }, { 1, 5 }))
    assert.same({ 0, 5 }, d:icdf({ 0, 1 }):totable())
    assert.same({ 5, 0 }, d:isf({ 0, 1 }):totable())
    assert.same({ 0, 5 }, { peri.item(d.support.low), peri.item(d.support.high) })
    assert.same({ -INF, INF }, two_normals():icdf({ 0, 1 }):totable())
    assert.equal(-INF, peri.item(d:log_prob(1.5)))   -- in the hull, in no component
    assert.equal(-INF, peri.item(d:log_prob(7)))
    assert.equal(2, peri.item(d:icdf({ -0.1, 1.1 }):isnan():sum()))
  end)

  it("has exact moments, without cancellation", function ()
    local d = two_normals()
    close(1.1, d:mean(), 1e-15)
    close(0.3 * 0.25 + 0.7 + 0.21 * 9, d:variance(), 1e-15)
    local far = Mixture(Categorical { 0.5, 0.5 }, Normal({ 1e9, 1e9 + 2 }, 1e-3))
    close(1 + 1e-6, far:variance(), 1e-14)
    close(math.sqrt(1 + 1e-6), far:stddev(), 1e-14)
    local heavy = Mixture(Categorical { 0.5, 0.5 }, peri.Pareto(1, { 0.5, 3 }))
    assert.same({ INF, INF }, { peri.item(heavy:mean()), peri.item(heavy:variance()) })
  end)

  it("has the mode and the entropy of the reference", function ()
    local d = two_normals()
    close(1.9999998433484935, d:mode(), 1e-11)
    close(1.7591030178979685, d:entropy(), 1e-13)
    close(0.74969651940005, Mixture(Categorical { 0.3, 0.7 }, Normal({ 0, 1 }, 1)):mode(), 1e-11)
    close(3.5162857454400591, Mixture(Categorical { 0.3, 0.7 }, peri.Gamma({ 2, 5 }, { 1, 0.25 })):entropy(), 1e-13)
    assert.equal(5, peri.item(Mixture(Categorical { 0.2, 0.8 }, peri.Laplace({ 0, 5 }, { 1, 2 })):mode()))   -- a kink
    assert.equal(2, peri.item(Mixture(Categorical { 0.2, 0.8 }, Normal({ 2, 2 }, { 1, 2 })):mode()))
    local narrow = Mixture(Categorical { 0.01, 0.99 }, Normal({ 1.2345, 500 }, { 1e-6, 100 }))
    close(1.2345, narrow:mode(), 1e-9)
  end)

  it("takes expectations component by component", function ()
    local d = two_normals()
    close(0.3 * 1.25 + 0.7 * 5, d:expectation(function (x) return x * x end), 1e-14)
    close(peri.item(d:sf(0.5)), d:expectation(function (x) return x:gt(0.5) end, { points = { 0.5 } }), 1e-13)
    local wide = Mixture(Categorical { 0.5, 0.5 }, Normal({ -1e6, 1e6 }, { 1e-6, 1 }))   -- needles far apart
    close(1e12 + 0.5, wide:expectation(function (x) return x * x end), 1e-15)
    local b = Mixture(Categorical { 0.3, 0.7 }, Normal(peri.tensor { { 0, 1 }, { 2, 3 }, { 4, 5 } }, 1))
    local shift = peri.tensor { 0, 2, 4 }
    local value = b:expectation(function (x)
      assert.same({ 3 }, { x.shape[2] })
      return x - shift
    end)
    assert.is_true(value:allclose({ 0.7, 0.7, 0.7 }, 1e-13))
  end)

  it("leaves components without weight out", function ()
    local d, one = Mixture(Categorical { 0, 1, 0 }, peri.Gamma({ 0.5, 3, 0.5 }, 1)), peri.Gamma(3, 1)
    for _, method in ipairs { "log_prob", "cdf", "log_sf" } do
      close(one[method](one, 0), d[method](d, 0), 0, method)   -- where the others have an infinite density
    end
    close(one:icdf(0.3), d:icdf(0.3), 1e-15)
    close(2, d:mode(), 0)
    close(one:entropy(), d:entropy(), 1e-13)
  end)

  it("agrees with itself for many components as for few", function ()
    local w, loc = {}, {}
    for k = 1, 40 do w[k], loc[k] = k, k % 7 end
    local sum, tail = 0, 0
    for k = 1, 40 do
      sum, tail = sum + k / 820 * Normal(loc[k], 1):prob(2.5), tail + k / 820 * Normal(loc[k], 1):sf(2.5)
    end
    local d = Mixture(Categorical(w), Normal(loc, 1))
    close(sum, d:prob(2.5), 1e-14)
    close(tail, d:sf(2.5), 1e-14)
    close(math.log(tail), d:log_sf(2.5), 1e-13)
  end)

  it("mixes counts", function ()
    local d = two_counts()
    for k, cdf in pairs { [0] = 0.040600584971049311, [3] = 0.25713703847583635, [10] = 0.30001315167570637,
                          [27] = 0.53300835883186633, [43] = 0.99318536276509930 } do
      close(cdf, d:cdf(k), 1e-14)
      assert.equal(k, peri.item(d:icdf(cdf)))
      assert.equal(k, peri.item(d:icdf(cdf * (1 - 1e-12))))
      assert.equal(k + 1, peri.item(d:icdf(cdf * (1 + 1e-12))))
      assert.equal(k, peri.item(d:isf(d:sf(k))))
      assert.equal(k + 1, peri.item(d:isf(d:sf(k) * (1 - 1e-12))))
    end
    close(3.3039769682222141, d:entropy(), 1e-13)
    close(21.6, d:mean(), 1e-15)
    assert.equal(2, peri.item(d:mode()))
    assert.same({ 0, INF }, d:icdf({ 0, 1 }):totable())
    assert.equal(-INF, peri.item(d:log_prob(1.5)))
    local far = Mixture(Categorical { 0.5, 0.5 }, peri.Poisson { 1000.5, 5e6 })
    assert.equal(1000, peri.item(far:mode()))
    local b = Mixture(Categorical { 0.3, 0.7 }, peri.Binomial(10, { 0.1, 0.9 }))
    assert.equal(11, b:enumerate_support():numel())
    close(1, b:prob(b:enumerate_support()):sum(), 1e-15)
  end)

  it("mixes vectors", function ()
    local loc, cov = peri.tensor { { 0, 0 }, { 1, 2 } }, peri.tensor { { 2, 1 }, { 1, 2 } }
    local d = Mixture(Categorical { 0.3, 0.7 }, peri.MultivariateNormal(loc, cov))
    local x, sum = peri.tensor { { 1, 0 }, { 2, 2 } }, 0
    for k, w in ipairs { 0.3, 0.7 } do sum = sum + w * peri.MultivariateNormal(loc[k], cov):prob(x) end
    assert.is_true(d:log_prob(x):allclose(sum:log(), 1e-14))
    assert.same({ {}, { 2 } }, { d.batch_shape, d.event_shape })
    assert.is_true(d:mean():allclose({ 0.7, 1.4 }, 1e-15))
    assert.is_true(d:variance():allclose({ 2 + 0.21, 2 + 0.84 }, 1e-15))
    assert.same({ 5, 2 }, d:sample(5).shape)
    assert.is_false(d.has_rsample)
    local function message (name) return select(2, pcall(d[name], d, x)) end
    assert.matches("MixtureSameFamily has no cdf: an event has shape %(2%)", message "cdf")
    assert.matches("MixtureSameFamily has no icdf: an event has shape %(2%)", message "icdf")
    assert.matches("MixtureSameFamily has no rsample: its components must have one", message "rsample")
  end)

  it("broadcasts weights, components and x, and expands", function ()
    local d = Mixture(Categorical(peri.ones(2, 3)), Normal(peri.zeros(5, 2, 3), 1))
    assert.same({ 5, 2 }, d.batch_shape)
    for _, method in ipairs { "mean", "variance", "mode", "median", "entropy", "sample" } do
      assert.same({ 5, 2 }, d[method](d).shape, method)
    end
    assert.same({ 4, 5, 2 }, d:sample(4).shape)
    local loc = peri.tensor { { { -1, 2 }, { 0, 1 } }, { { 0, 3 }, { 4, 5 } }, { { 1, 2 }, { 3, 4 } } }
    local b = Mixture(Categorical { 0.3, 0.7 }, Normal(loc, 0.5))
    local x = peri.tensor { 0.3, 1.7 }
    for _, method in ipairs { "log_prob", "cdf", "log_cdf", "sf", "log_sf" } do
      local t = b[method](b, x)
      assert.same({ 3, 2 }, t.shape)
      for i = 1, 3 do
        for j = 1, 2 do
          local one = Mixture(Categorical { 0.3, 0.7 }, Normal(loc[i][j], 0.5))
          assert.equal(peri.item(one[method](one, x[j])), t:at(i, j))
        end
      end
    end
    assert.same({ 7, 3, 2 }, b:icdf(peri.full({ 7, 1, 1 }, 0.3)).shape)
    local e = two_normals():expand { 2, 3 }
    assert.same({ 2, 3 }, e.batch_shape)
    assert.same({ 2, 3 }, e:mean().shape)
    assert.is_true(e:is_a(Mixture))
    assert.equal(peri.item(two_normals():log_prob(0.3)), e:log_prob(0.3):at(2, 3))
    assert.same({ 4, 2, 3 }, e:sample(4).shape)
  end)

  it("nests", function ()
    local inner = Mixture(Categorical { 0.3, 0.7 }, Normal(peri.tensor { { -1, 2 }, { 3, 4 } }, 1))
    local d = Mixture(Categorical { 0.4, 0.6 }, inner)
    local flat = Mixture(Categorical { 0.12, 0.28, 0.18, 0.42 }, Normal({ -1, 2, 3, 4 }, 1))
    close(peri.item(flat:log_prob(1)), d:log_prob(1), 1e-15)
    close(peri.item(flat:icdf(0.1)), d:icdf(0.1), 1e-14)
    close(peri.item(flat:entropy()), d:entropy(), 1e-13)
  end)

  it("samples from its own law", function ()   -- false alarm 1e-6 a test, seeds fixed
    for seed, d in ipairs(continuous()) do
      local x = d:sample(20000, peri.rng(2000 + seed))
      local ok, statistic = statistics.ks(x, function (v) return d:cdf(v) end)
      assert(ok, tostring(d) .. " KS statistic " .. statistic)
    end
    local d = two_counts()
    local law = {}   -- numbers for numbers, as the test expects them
    for _, name in ipairs { "cdf", "icdf", "isf" } do law[name] = function (_, v) return d[name](d, v) end end
    local ok, statistic = statistics.chi_square(d:sample(20000, peri.rng(2100)), law)
    assert(ok, "chi-square is off by " .. statistic .. " standard deviations")
    assert.equal("integer", math.type(d:sample()))
  end)

  it("draws reparameterised samples that are the samples", function ()
    local d = two_normals()
    assert.is_true(d.has_rsample)
    assert.is_true(d:sample(9, peri.rng(3)):equal(d:rsample(9, peri.rng(3))))
    assert.is_false(two_counts().has_rsample)
    assert.matches("MixtureSameFamily has no rsample", refusal(two_counts().rsample, two_counts()))
  end)

  it("has the slopes of its quantiles at the draws, in weights and components", function ()
    local theta = { 0.3, 0.7, -1, 2, 0.5, 1.5 }   -- logits, locs, scales
    local function law (t)
      return Mixture(peri.Categorical { logits = { t[1], t[2] } }, Normal({ t[3], t[4] }, { t[5], t[6] }))
    end
    local logits, loc, scale = peri.param { 0.3, 0.7 }, peri.param { -1, 2 }, peri.param { 0.5, 1.5 }
    local d = Mixture(peri.Categorical { logits = logits }, Normal(loc, scale))
    for seed = 1, 5 do
      for _, p in ipairs { logits, loc, scale } do p.grad = nil end
      local x = d:rsample(nil, peri.rng(seed))
      x:backward { retain = true }
      local slopes = peri.cat { logits.grad, loc.grad, scale.grad }
      local u, h = law(theta):cdf(peri.item(x)), 1e-5
      for i = 1, 6 do
        local function at (step)
          local moved = { table.unpack(theta) }
          moved[i] = moved[i] + step
          return peri.item(law(moved):icdf(peri.item(u)))
        end
        local slope = (at(h) - at(-h)) / (2 * h)
        assert(math.abs(slope - slopes[i]) <= 1e-7 * (1 + math.abs(slope)), i .. ": " .. slope .. ", " .. slopes[i])
      end
    end
    assert.is_false(require "perilune.core".tracked(d:sample(3)))
  end)

  it("has such slopes for rows of independent numbers, one after another", function ()
    local theta = { 0.3, 0.7, -1, 2, 0, 1, 0.5, 1.5, 1, 2 }   -- logits, locs, scales
    local function one (weights, t, j)   -- the j-th number, given weights
      return Mixture(Categorical(weights), Normal({ t[2 + j], t[4 + j] }, { t[6 + j], t[8 + j] }))
    end
    local function parts (t, x1)
      local weights = peri.tensor({ t[1], t[2] }):softmax()
      return one(weights, t, 1), one(weights * Normal({ t[3], t[5] }, { t[7], t[9] }):prob(x1), t, 2)
    end
    local logits = peri.param { 0.3, 0.7 }
    local loc, scale = peri.param { { -1, 2 }, { 0, 1 } }, peri.param { { 0.5, 1.5 }, { 1, 2 } }
    local d = Mixture(Categorical { logits = logits }, peri.Independent(Normal(loc, scale), 1))
    assert.is_true(d.has_rsample)
    for seed = 1, 3 do
      for j = 1, 2 do
        for _, p in ipairs { logits, loc, scale } do p.grad = nil end
        local x = d:rsample(nil, peri.rng(seed))
        assert.is_true(x:detach():equal(d:sample(nil, peri.rng(seed))))
        x[j]:backward { retain = true }
        local slopes = peri.cat { logits.grad, loc.grad:reshape(4), scale.grad:reshape(4) }
        local first, second = parts(theta, peri.item(x[1]))
        local u1, u2, h = peri.item(first:cdf(peri.item(x[1]))), peri.item(second:cdf(peri.item(x[2]))), 1e-5
        for i = 1, 10 do
          local function at (step)
            local moved = { table.unpack(theta) }
            moved[i] = moved[i] + step
            local x1 = peri.item(parts(moved, 0):icdf(u1))
            return j == 1 and x1 or peri.item(select(2, parts(moved, x1)):icdf(u2))
          end
          local slope = (at(h) - at(-h)) / (2 * h)
          assert(math.abs(slope - slopes[i]) <= 1e-7 * (1 + math.abs(slope)), i .. ": " .. slope .. ", " .. slopes[i])
        end
      end
    end
  end)

  it("finds quantiles in few steps, however its components lie", function ()
    local mixtures = {
      Normal({ -1, 2 }, { 0.5, 1 }), Normal({ 0, 1e6 }, { 1, 1e-3 }), Normal({ -1e300, 1e300 }, { 1e-300, 1e200 }),
      peri.Gamma({ 0.5, 3 }, { 1, 2 }), peri.Gamma({ 1e-3, 3 }, { 1, 2 }), peri.Beta({ 0.5, 3 }, 2),
      peri.StudentT({ 2.5, 5 }, { -1, 3 }, 1), peri.StudentT({ 0.05, 0.1 }, { -1, 3 }, 1), peri.Cauchy({ 0, 5 }, 1),
      peri.LogNormal({ -100, 300 }, { 10, 1 }), peri.Uniform({ 0, 2 }, { 1, 3 }),
    }
    local levels = 0.5 * peri.exp(peri.linspace(-30, 0, 300))
    for _, component in ipairs(mixtures) do
      local d = Mixture(Categorical { 0.3, 0.7 }, component)
      for quantile, tail in pairs { icdf = "cdf", isf = "sf" } do
        local part, steps = d.component_distribution, 0
        part[tail] = function (...)
          steps = steps + 1
          return component[tail](...)
        end
        local x = d[quantile](d, levels)
        part[tail] = nil
        assert(steps <= 12, string.format("%s:%s takes %d steps", tostring(d), quantile, steps))
        local wide = peri.lt(peri.abs(x) * d:prob(x) * 2 ^ -52, 1e-14 * levels)   -- x is not rounded too much
        local off = peri.where(wide, peri.abs(d[tail](d, x) / levels - 1), 0):max()
        assert(off < 1e-13, string.format("%s:%s misses levels by %g", tostring(d), quantile, off))
      end
    end
  end)

  it("finds outcomes in few steps as well", function ()
    local components = {
      peri.Poisson { 3, 30 }, peri.Poisson { 3, 1e15 }, peri.NegativeBinomial({ 1e-3, 100 }, { 0.5, 0.999999 }),
      peri.Binomial({ 10, 1e12 }, 0.5), peri.Geometric { 0.5, 1e-9 },
    }
    local levels = 0.5 * peri.exp(peri.linspace(-30, 0, 100))
    for _, component in ipairs(components) do
      local d = Mixture(Categorical { 0.3, 0.7 }, component)
      for quantile, tail in pairs { icdf = "cdf", isf = "sf" } do
        local part, steps = d.component_distribution, 0
        part[tail] = function (...)
          steps = steps + 1
          return component[tail](...)
        end
        local x = d[quantile](d, levels)
        part[tail] = nil
        assert(steps <= 12, string.format("%s:%s takes %d steps", tostring(d), quantile, steps))
        local blur = peri.minimum(2 ^ -47 * (1 + x), 0.26)   -- rounded rates move outcomes
        local slack = 1e-12 * levels + blur * (d:prob(x) + d:prob(x + 1))
        local here, before = d[tail](d, x), d[tail](d, x - 1)
        local first, second = here, before
        if tail == "sf" then first, second = before, here end
        assert(peri.ge(first, levels - slack):min() == 1 and peri.le(second, levels + slack):min() == 1,
               string.format("%s:%s", tostring(d), quantile))
      end
    end
  end)

  it("refuses what is no mixture", function ()
    local function message (...) return select(2, pcall(Mixture, ...)) end
    assert.matches("MixtureSameFamily: mixture_distribution must be a Categorical, got 3", message(3, Normal()))
    assert.matches("MixtureSameFamily: mixture_distribution must be a Categorical, got Normal%(loc=0, scale=1%)",
                   message(Normal(), Normal({ 1, 2 }, 1)))
    assert.matches("MixtureSameFamily: component_distribution must be a distribution, got nil",
                   message(Categorical { 1, 2 }))
    assert.matches("must have 2 in the last dimension of its batch, one for each outcome of the mixture, "
                   .. "got a batch of shape %(3%)", message(Categorical { 1, 2 }, Normal({ 1, 2, 3 }, 1)))
    assert.matches("got a batch of shape %(%)", message(Categorical { 1, 2 }, Normal()))
    assert.matches("mixture_distribution and component_distribution of shapes %(4%) and %(3%) do not broadcast",
                   message(Categorical(peri.ones(4, 2)), Normal(peri.zeros(3, 2), 1)))
  end)

  it("prints, takes names, and explains itself", function ()
    local d = Mixture { mixture_distribution = Categorical { 0.3, 0.7 }, component_distribution = Normal({ -1, 2 }, 1) }
    assert.equal("MixtureSameFamily(Categorical(probs={0.3, 0.7}), Normal(loc={-1, 2}, scale={1, 1}))", tostring(d))
    local help = Mixture.help
    local code = "local peri = ...; local MixtureSameFamily = peri.MixtureSameFamily; return " .. help.example[1]
    close(help.example[2], assert(load(code))(peri), 1e-13)
    assert.is_string(help.params.mixture_distribution and help.params.component_distribution and help.formula)
  end)
end)

describe("MixtureSameFamily", function ()
  it("has the same quantiles for many levels as for one", function ()
    local t = peri.linspace(0, 24, 300)
    local levels = 0.5 * peri.exp(-t * t)
    for _, component in ipairs {
      peri.ExGaussian({ 0, 3 }, { 1, 2 }, { 0.5, 2 }), peri.NoncentralChi2({ 2, 5 }, { 1, 30 }),
      peri.Frechet({ 0.01, 5 }, { 0.2, 3 }), peri.Beta({ 2, 0.3 }, { 3, 0.4 }), peri.Gamma({ 2, 3e6 }, { 1, 3 }),
    } do
      local d = peri.MixtureSameFamily(peri.Categorical { 0.3, 0.7 }, component)
      for _, name in ipairs { "icdf", "isf" } do
        local all = d[name](d, levels)
        for i = 1, 300, 11 do
          local one = d[name](d, levels[i])
          assert(one == all[i] or math.abs(all[i] / one - 1) < 1e-11)
        end
      end
    end
  end)

  it("has the quantiles of its elements, many at once, where components are dear", function ()
    local weights, tails = { { 0.3, 0.7 }, { 0.5, 0.5 } }, { { 2, 3 }, { 1, 2 } }
    local function mixture (w, tail)
      return peri.MixtureSameFamily(peri.Categorical(w), peri.NormalInverseGaussian(peri.tensor(tail), 0.5))
    end
    local p = peri.linspace(0.01, 0.99, 150)
    local both = mixture(weights, tails):icdf(p:unsqueeze(-1))
    for k = 1, 2 do
      local off = (both:select(2, k) - mixture(weights[k], tails[k]):icdf(p)):abs():max()
      assert.is_true(off < 1e-13, off)
    end
  end)
end)

describe("A mixture of rows whose supports differ", function ()
  local Independent, Uniform = peri.Independent, peri.Uniform
  local squares = Mixture(Categorical { 0.3, 0.7 },
                          Independent(Uniform({ { 0, 0 }, { 1, 1 } }, { { 2, 2 }, { 3, 3 } }), 1))

  it("has their hull", function ()
    assert.equal("independent(interval({0, 0}, {3, 3}), 1)", tostring(squares.support))
    local wide = squares:expand { 2 }
    assert.is_true(wide.support:check(wide:sample(9, peri.rng(1))))
    local counts = Mixture(Categorical { 0.3, 0.7 }, peri.Multinomial({ 2, 3 }, { 1, 1 }))
    assert.equal("independent(integer_interval(0, {3, 3}), 1)", tostring(counts.support))
    assert.equal("multinomial(3)",
                 tostring(Mixture(Categorical { 0.3, 0.7 }, peri.Multinomial({ 3, 3 }, { 1, 1 })).support))
  end)

  it("has divergences, and densities when transformed", function ()
    -- squares of 3, 1 and 3 units, where p is 0.3/4, 1/4 and 0.7/4
    local expected = 0.225 * math.log(0.675) + 0.25 * math.log(2.25) + 0.525 * math.log(1.575)
    local found = peri.kl_explain(squares, Independent(Uniform({ 0, 0 }, 3), 1), { rng = peri.rng(1) })
    assert(math.abs(found.value - expected) < 4 * found.error)
    assert.equal(INF, peri.kl_divergence(squares, Independent(Uniform({ 0, 0.5 }, 3), 1)))
    local exp = peri.TransformedDistribution(squares, peri.transforms.Exp())
    close(math.log(0.25) - 3, exp:log_prob { math.exp(1.5), math.exp(1.5) }, 1e-14)
    assert.same({ 2 }, exp:log_prob({ { 2, 3 }, { 9, 9 } }).shape)
  end)
end)
