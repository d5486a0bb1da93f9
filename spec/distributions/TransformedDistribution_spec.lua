local peri        = require "perilune"
local core        = require "perilune.core"
local statistics  = require "spec.support.statistics"
local constraints = peri.constraints
local transforms  = peri.transforms
local Transformed = peri.TransformedDistribution

local inf = math.huge

local function close (expected, got, tolerance, what)
  local same = expected == got or (expected ~= expected and got ~= got)
  local scale = math.max(math.abs(expected), math.abs(got))
  assert(same or scale < inf and math.abs(expected - got) <= (tolerance or 1e-14) * scale,
         string.format("%s: expected %.17g, got %.17g", what or "value", expected, got))
end

local function message (f, ...)
  local ok, text = pcall(f, ...)
  assert.is_false(ok)
  return (text:gsub("^[^ ]+:%d+: ", ""))
end

-- a transformed distribution, the same family by its own kernels, points on and off the support
local identities = {
  { Transformed(peri.Normal(1, 0.5), transforms.Exp()), peri.LogNormal(1, 0.5), { -1, 0, 1e-5, 1, 3, 50 } },
  { Transformed(peri.Uniform(0, 1), transforms.Affine(2, -3)), peri.Uniform(-1, 2), { -2, -1, 0.25, 2, 3 } },
  { Transformed(peri.Gamma(3, 2), transforms.Power(-1)), peri.InverseGamma(3, 2), { -1, 0, 1e-3, 0.5, 3, 1e4 } },
  { Transformed(peri.Normal(0, 2), transforms.Abs()), peri.HalfNormal(2), { -1, 0, 1e-9, 1e-3, 0.5, 3, 30 } },
  { Transformed(peri.Normal(1, 2), transforms.Sigmoid()), peri.LogitNormal(1, 2), { -1, 0, 1e-8, 0.5, 0.99, 1, 2 } },
  { Transformed(peri.Exponential(1), { transforms.Power(0.5), transforms.Affine(0, 3) }), peri.Weibull(3, 2),
    { -1, 0, 1e-8, 0.5, 3, 10 } },
  { Transformed(peri.Exponential(1), { transforms.Exp():inv(), transforms.Affine(1, -2) }), peri.Gumbel(1, 2),
    { -30, -3, 0, 1, 4, 50 } },
  { Transformed(peri.Weibull(3, 2), { transforms.Exp():inv(), transforms.Affine(0, -1) }),
    peri.Gumbel(-math.log(3), 0.5), { -2.5, -1, 0, 2, 20 } },
  { Transformed(peri.Normal(0, 1), transforms.CumulativeDistribution(peri.Normal(0, 1))), peri.Uniform(0, 1),
    { -1, 1e-10, 0.25, 0.9, 2 } },
}

describe("TransformedDistribution", function ()
  for _, case in ipairs(identities) do
    local d, family, points = table.unpack(case)
    describe(tostring(d), function ()
      it("has the density and tails of " .. tostring(family), function ()
        for _, name in ipairs { "log_prob", "cdf", "sf", "log_cdf", "log_sf" } do
          local whole = d[name](d, points)
          for i, x in ipairs(points) do
            local value = d[name](d, x)
            close(family[name](family, x), value, 4e-14, name .. " at " .. x)
            close(value, whole[i], 1e-14, name .. " at " .. x .. " in a tensor")
          end
          local nan = d[name](d, 0 / 0)
          assert(nan ~= nan, name .. "(nan)")
        end
      end)

      it("has its quantiles", function ()
        for _, u in ipairs { 0, 1e-20, 0.1, 0.5, 0.9, 1 } do
          close(family:icdf(u), d:icdf(u), 4e-14, "icdf of " .. u)
          close(family:isf(u), d:isf(u), 4e-14, "isf of " .. u)
        end
        close(family:median(), d:median(), 4e-14, "median")
        local beyond = d:icdf(1.5)
        assert(beyond ~= beyond)
      end)

      it("has its moments and entropy", function ()
        for _, name in ipairs { "mean", "variance", "stddev", "entropy" } do
          close(family[name](family), d[name](d), 1e-11, name)
        end
      end)

      it("draws from it", function ()   -- false alarm 1e-6
        assert(statistics.ks(d:sample(20000, peri.rng(5)), function (x) return family:cdf(x) end))
        assert.equal("number", type(d:sample()))
        assert.is_true(d.has_rsample)
      end)
    end)
  end

  it("sums both preimages of a magnitude", function ()
    -- y, log density, cdf, sf of |Normal(1, 1)|: 40 digits, rounded
    local d = Transformed(peri.Normal(1, 1), transforms.Abs())
    for _, row in ipairs {
      { 1e-9, -0.72579135264472743236, 4.8394144903828672974e-10, 0.99999999951605855096 },
      { 0.125, -0.72581161332582917957, 0.060492435715701771002, 0.939507564284298229 },
      { 0.75, -0.74877525522192033228, 0.36123451745325918534, 0.63876548254674081466 },
      { 2.5, -2.0372231847155546732, 0.93296016965210640896, 0.067039830347893591041 },
      { 12, -61.418938533166921396, 1, 1.9106595745598473551e-28 },
    } do
      local y, log_prob, cdf, sf = table.unpack(row)
      close(log_prob, d:log_prob(y), 1e-15)
      close(cdf, d:cdf(y), 1e-15)
      close(sf, d:sf(y), 4e-16)
      close(cdf < 0.5 and math.log(cdf) or peri.log1p(-sf), d:log_cdf(y), 1e-15)
      close(sf < 0.5 and math.log(sf) or peri.log1p(-cdf), d:log_sf(y), 1e-15)
      if sf > 1e-9 then close(y, d:icdf(cdf), 1e-14) end
      close(y, d:isf(sf), cdf < 1e-6 and 1e-6 or 1e-14)   -- sf has lost those digits
    end
    assert.equal(-inf, d:log_prob(-0.5))
    assert.equal(0, d:cdf(-0.5))
    assert.equal(1, d:sf(-0.5))
    -- E|X| = sqrt(2/pi) e^(-1/2) + 2 Phi(1) - 1, E X^2 = 2
    local mean = math.sqrt(2 / math.pi) * math.exp(-0.5) + 2 * peri.special.ndtr(1) - 1
    close(mean, d:mean(), 1e-13)
    close(2 - mean * mean, d:variance(), 1e-12)
  end)

  it("folds discrete laws without counting 0 twice", function ()
    local d = Transformed(peri.DiscreteUniform(-2, 3), transforms.Abs())
    for y, p in pairs { [0] = 1, [1] = 2, [2] = 2, [3] = 1 } do close(p / 6, d:prob(y)) end
    close(3 / 6, d:cdf(1))
    close(1 / 6, d:sf(2))
    assert.equal(-inf, d:log_prob(0.5))
  end)

  it("moves discrete laws without stretching them", function ()
    local up   = Transformed(peri.Poisson(3), transforms.Affine(0.1, 0.3))
    local down = Transformed(peri.Poisson(3), transforms.Affine(0.1, -0.3))
    local plain = peri.Poisson(3)
    for k = 0, 9 do
      close(plain:log_prob(k), up:log_prob(0.1 + 0.3 * k))
      close(plain:log_prob(k), down:log_prob(0.1 - 0.3 * k))
      close(plain:cdf(k), up:cdf(0.1 + 0.3 * k))
      close(k == 0 and 1 or plain:sf(k - 1), down:cdf(0.1 - 0.3 * k))
      close(k == 0 and 0 or plain:cdf(k - 1), down:sf(0.1 - 0.3 * k))
    end
    assert.equal(-inf, up:log_prob(0.2))
    assert.equal(-inf, Transformed(plain, transforms.Tanh()):log_prob(2))   -- no tanh is 2
    assert.equal(-inf, Transformed(plain, transforms.Exp()):log_prob(-1))
    assert.is_true(up.support.is_discrete)
    close(plain:entropy(), up:entropy())
    close(1, up:mean())
    close(0.27, up:variance())
    local coin = Transformed(peri.Bernoulli(0.25), transforms.Affine(-1, 2))
    assert.same({ -1, 1 }, coin:enumerate_support():totable())
  end)

  it("moves discrete rows as a whole", function ()
    local nan = 0 / 0
    local rows = peri.Multinomial(3, { { 1, 2, 3, 4 }, { 1, 1, 1, 1 } })
    local x = peri.tensor { { 1, 1, 1, 0 }, { 0, 0.5, 1.5, 1 }, { 0, 0, nan, 3 }, { 0, 3, 0, 0 } }:unsqueeze(2)
    for _, case in ipairs {
      { transforms.Affine(1, 3), 1 + 3 * x },
      { transforms.Affine({ 0, 1, 2, 3 }, -0.5), peri.tensor { 0, 1, 2, 3 } - 0.5 * x },
      { transforms.Reshape({ 4 }, { 2, 2 }), x:reshape(4, 1, 2, 2) },
      { transforms.Exp(), x:exp() },
      { transforms.Stack({ transforms.Exp(), transforms.identity, transforms.Exp(), transforms.Affine(0, 2) }, -1),
        peri.stack({ x:select(-1, 1):exp(), x:select(-1, 2), x:select(-1, 3):exp(), 2 * x:select(-1, 4) }, -1) },
    } do
      local d = Transformed(rows, case[1])
      local expected, got = rows:log_prob(x), d:log_prob(case[2])
      assert.same({ 4, 2 }, got.shape)
      for i = 1, 4 do
        for j = 1, 2 do close(expected:at(i, j), got:at(i, j), 1e-15, tostring(case[1])) end
      end
    end
    local exp = Transformed(peri.Multinomial(1, { 1, 1 }), transforms.Exp())
    assert.equal(-inf, exp:log_prob { -1, math.exp(1) })   -- no row has this image
    assert(exp:log_prob { -1, nan } ~= exp:log_prob { -1, nan })
    local p = Transformed(peri.OneHotCategorical { 1, 2, 5 }, transforms.Affine(0, 2))
    local q = Transformed(peri.OneHotCategorical { 1, 1, 2 }, { transforms.Affine(0, 4), transforms.Affine(0, 0.5) })
    close(peri.OneHotCategorical { 1, 2, 5 }:kl(peri.OneHotCategorical { 1, 1, 2 }), p:kl(q), 1e-13)
    local chain = peri.HiddenMarkov({ 0.3, 0.7 }, { { 0.9, 0.1 }, { 0.25, 0.75 } }, peri.Poisson { 1, 2 }, 3)
    close(chain:log_prob { 1, 2, 0 }, Transformed(chain, transforms.Affine(0, 2)):log_prob { 2, 4, 0 })
  end)

  it("has the moments of numbers side by side that are transformed apart", function ()
    local parts = { transforms.Exp(), transforms.Affine(1, 2) }
    local d = Transformed(peri.Normal({ 0, 1, 2 }, 0.5), transforms.Cat(parts, -1, { 1, 2 }))
    local exp = peri.LogNormal(0, 0.5)
    for i, mean in ipairs { exp:mean(), 3, 5 } do close(mean, d:mean()[i], 1e-12) end
    for i, variance in ipairs { exp:variance(), 1, 1 } do close(variance, d:variance()[i], 1e-11) end
  end)

  it("has supports that are images", function ()
    local square = transforms.Reshape({ 4 }, { 2, 2 })
    for _, case in ipairs {
      { peri.LogNormal({ 1, 2, 3, 4 }, 1), square, constraints.independent(constraints.positive, 2) },
      { peri.Independent(peri.LogNormal({ 1, 2, 3, 4 }, 1), 1), { square, transforms.Affine(1, -1) },
        constraints.independent(constraints.less_than(1), 2) },
      { peri.Uniform({ 1, 2, 3, 4 }, 5), square, constraints.independent(constraints.real, 2) },
      { peri.Exponential(1), transforms.Exp(), constraints.greater_than_eq(1) },
      { peri.Normal(0, 1), { transforms.Exp(), transforms.Affine(2, -1) }, constraints.less_than(2) },
      { peri.Uniform(0, 2), transforms.Power(2), constraints.interval(0, 4) },
      { peri.Normal(0, 1), transforms.Abs(), constraints.nonnegative },
      { peri.Normal({ 0, 1 }, 1), transforms.StickBreaking(), constraints.simplex },
      { peri.Independent(peri.Normal({ 0, 1 }, 1), 1), transforms.Exp(),
        constraints.independent(constraints.positive, 1) },
      { peri.MultivariateNormal({ 0, 1 }, peri.eye(2)), transforms.Exp(),
        constraints.independent(constraints.positive, 1) },
    } do
      assert.equal(case[3], Transformed(case[1], case[2]).support)
    end
  end)

  it("flips tails element by element where signs differ", function ()
    local d = Transformed(peri.Normal(0, 1), transforms.Affine({ 0, 1 }, { 1, -2 }))
    local family = peri.Normal({ 0, 1 }, { 1, 2 })
    assert.same({ 2 }, d.batch_shape)
    for _, name in ipairs { "log_prob", "cdf", "sf", "log_cdf", "log_sf" } do
      for _, x in ipairs { -40, -1, 0.3, 20 } do
        assert.is_true(family[name](family, x):allclose(d[name](d, x), 1e-14))
      end
    end
    for _, u in ipairs { 1e-20, 0.3, 0.9 } do assert.is_true(family:icdf(u):allclose(d:icdf(u), 1e-14)) end
    assert.same({ 3, 2 }, d:sample(3).shape)
    assert.is_true(family:mean():equal(d:mean()))
  end)

  it("keeps what affine maps keep", function ()
    local base = peri.Gamma({ 2, 3 }, 1)
    local d = Transformed(base, transforms.Affine(1, -2))
    assert.is_true(d:mean():equal(1 - 2 * base:mean()))
    assert.is_true(d:variance():equal(4 * base:variance()))
    assert.is_true(d:stddev():allclose(2 * base:stddev()))
    assert.is_true(d:mode():equal(1 - 2 * base:mode()))
    assert.is_true(d:entropy():allclose(base:entropy() + math.log(2)))
    local normal = peri.MultivariateNormal({ 0, 1 }, { { 1, 0.5 }, { 0.5, 2 } })
    local moved, direct = Transformed(normal, transforms.Affine(1, 2)),
                          peri.MultivariateNormal({ 1, 3 }, { { 4, 2 }, { 2, 8 } })
    close(peri.item(direct:log_prob({ 0.5, -1 })), peri.item(moved:log_prob({ 0.5, -1 })))
    close(peri.item(direct:entropy()), peri.item(moved:entropy()))
    assert.is_true(direct:mean():equal(moved:mean()))
    assert.is_true(direct:variance():allclose(moved:variance()))
  end)

  it("sums determinants over events", function ()
    local normal = peri.Normal({ { 0, 1 }, { 2, 3 } }, { 0.5, 2 })
    local d = Transformed(peri.Independent(normal, 1), transforms.Exp())
    local family = peri.Independent(peri.LogNormal(normal.loc, normal.scale), 1)
    local y = peri.tensor { 0.5, 7 }
    assert.same({ 2 }, d.batch_shape)
    assert.same({ 2 }, d.event_shape)
    assert.is_true(family:log_prob(y):allclose(d:log_prob(y), 1e-10))
    for _, name in ipairs { "mean", "variance", "entropy" } do
      assert.is_true(family[name](family):allclose(d[name](d), 1e-10), name)
    end
    assert.is_true(d:log_prob({ -1, 7 }):equal(peri.full({ 2 }, -inf)))
    local correlated = Transformed(peri.MultivariateNormal({ 0, 1 }, peri.eye(2)), transforms.Exp())
    close(peri.item(peri.LogNormal({ 0, 1 }, 1):log_prob(y):sum()), peri.item(correlated:log_prob(y)))
    assert.equal(-inf, peri.item(correlated:log_prob({ 1, -1 })))
    local nan = peri.item(correlated:log_prob({ 1, 0 / 0 }))
    assert(nan ~= nan)
  end)

  it("takes batches as events where a transform needs them", function ()
    local d = Transformed(peri.Normal(peri.zeros(5, 3), 1), { transforms.Affine(1, 2), transforms.Ordered() })
    assert.same({ 5 }, d.batch_shape)
    assert.same({ 3 }, d.event_shape)
    assert.equal("Independent(Normal(loc=Tensor(5, 3), scale=1), 1)", tostring(d.base_dist))
    local y = d:sample(4, peri.rng(1))
    assert.same({ 4, 5, 3 }, y.shape)
    local x = transforms.Ordered():inv()(y)
    local direct = peri.Normal(1, 2):log_prob(x):sum(-1) - transforms.Ordered():log_abs_det_jacobian(x)
    assert.is_true(direct:allclose(d:log_prob(y), 1e-13))
    local flat = Transformed(peri.Normal(peri.zeros(4, 6), 1), transforms.Reshape({ 6 }, { 2, 3 }))
    assert.same({ 2, 3 }, flat.event_shape)
    assert.same({ 4 }, flat:log_prob(flat:sample()).shape)
  end)

  it("is the base without transforms", function ()
    local d = Transformed(peri.Normal(0, 1), {})
    assert.equal(peri.Normal(0, 1):log_prob(0.5), d:log_prob(0.5))
    assert.equal("TransformedDistribution(Normal(loc=0, scale=1), [])", tostring(d))
    assert.equal(constraints.real, d.support)
  end)

  it("expands, and gives expectations", function ()
    local d = Transformed(peri.Normal(1, 0.5), transforms.Exp())
    local e = d:expand { 4, 2 }
    assert.same({ 4, 2 }, e.batch_shape)
    assert.equal(d:log_prob(2), e:log_prob(2):at(3, 1))
    assert.same({ 3, 4, 2 }, e:sample(3).shape)
    assert.is_true(e:is_a(Transformed))
    close(1, (d:expectation(peri.log)), 1e-13)
    close(peri.LogNormal(1, 0.5):sf(3), (d:expectation(function (y) return y:gt(3) end, { points = { 3 } })), 1e-12)
  end)

  it("can be extended", function ()
    local My = Transformed:extend("My")
    assert.equal("My(Normal(loc=0, scale=1), [Exp])", tostring(My(peri.Normal(0, 1), transforms.Exp())))
    assert.equal("My: base_distribution must be a distribution, got 3", message(My, 3, transforms.Exp()))
  end)

  it("refuses what makes no sense, and prints itself", function ()
    local normal = peri.Normal(0, 1)
    for _, case in ipairs {
      { "base_distribution must be a distribution, got 3", 3, transforms.Exp() },
      { "transforms must be a transform or a list of them, got 3", normal, 3 },
      { "transforms must be a transform or a list of them, got nil", normal },
      { "transforms must be a transform or a list of them, got a table of 2 elements", normal,
        { transforms.Exp(), 4 } },
      { "base_distribution must have at least 1 dimension, got Normal(loc=0, scale=1)", normal,
        transforms.StickBreaking() },
      { "values must be positive for Power(exponent=3), got the support real", normal,
        transforms.Power(3) },
      { "values must be in the interval [0, 1] for Inverse(Sigmoid), got the support"
        .. " interval({0, 0.5}, 2)", peri.Uniform(peri.tensor { 0, 0.5 }, 2), transforms.Sigmoid():inv() },
      { "values must be positive for Inverse(Exp), got the support left_open_interval(-inf, 1)",
        peri.Gamma(2, 1), { transforms.Affine(1, -2), transforms.Exp():inv() } },
      { "values must be positive for Power(exponent=2), got the support real",
        peri.Independent(peri.Normal({ 0, 1 }, 1), 1), transforms.Power(2) },
    } do
      assert.equal("TransformedDistribution: " .. case[1], message(Transformed, table.unpack(case, 2)))
    end
    local d = Transformed(normal, { transforms.Exp(), transforms.Affine(0, 2) })
    assert.equal("TransformedDistribution(Normal(loc=0, scale=1), [Exp, Affine(loc=0, scale=2)])", tostring(d))
    assert.equal(tostring(d), tostring(Transformed { base_distribution = normal, transforms = d.transforms }))
    local sticks = Transformed(peri.Normal({ 0, 1 }, 1), transforms.StickBreaking())
    for _, name in ipairs { "cdf", "log_sf", "icdf", "median", "mode", "mean", "variance", "entropy" } do
      local x = (name:find "cdf" or name:find "sf") and { 0.5, 0.25, 0.25 } or nil
      assert.equal("TransformedDistribution has no " .. name .. ": an event has shape (3)",
                   message(sticks[name], sticks, x))
    end
    local round = { sign = nil, bijective = false, domain = constraints.real, codomain = constraints.real,
                    forward = function (_, x) return peri.sin(x) end }
    setmetatable(round, { __index = transforms.Abs, __tostring = function () return "Sine" end })
    local sine = Transformed(normal, round)
    assert.equal("TransformedDistribution has no cdf: Sine is not monotone", message(sine.cdf, sine, 0.5))
    assert.equal("TransformedDistribution has no rsample: Poisson(rate=3) has none",
                 message(function () return Transformed(peri.Poisson(3), transforms.Affine(1, 2)):rsample() end))
    local soft = Transformed(peri.Normal({ 0, 1 }, 1), transforms.Softmax())
    assert.equal("Softmax has no determinant: it is not one to one", message(soft.log_prob, soft, { 0.5, 0.5 }))
    assert.same({ 2 }, soft:sample().shape)
  end)

  it("refuses events of another shape", function ()
    local function event (shape, got)
      return ("x must be an event of shape %s, or a batch of them, got %s"):format(shape, got)
    end
    local two, four = peri.Normal({ 0, 0 }, 1), peri.Normal(peri.zeros(4), 1)
    local stretched = transforms.Cat({ transforms.StickBreaking(), transforms.Independent(transforms.Exp(), 1) }, -1,
                                     { 2, 2 })
    for _, case in ipairs {   -- a law, what is not of its shape, the message
      { Transformed(two, transforms.StickBreaking()), 0.5, event("(3)", "0.5") },
      { Transformed(two, transforms.StickBreaking()), { 0.5, 0.5 }, event("(3)", "a tensor of shape (2)") },
      { Transformed(two, transforms.Ordered()), { 1 }, event("(2)", "a tensor of shape (1)") },
      { Transformed(peri.Independent(two, 1), transforms.Exp()), 1, event("(2)", "1") },
      { Transformed(four, transforms.Reshape({ 4 }, { 2, 2 })), { { 1, 2, 3, 4 } },
        event("(2, 2)", "a tensor of shape (1, 4)") },
      { Transformed(peri.Normal(peri.zeros(3), 1), transforms.CorrCholesky()), peri.eye(2),
        event("(3, 3)", "a tensor of shape (2, 2)") },
      { Transformed(four, stretched), { 0.5, 0.5, 1, 1 }, event("(5)", "a tensor of shape (4)") },
    } do
      assert.equal("TransformedDistribution:log_prob: " .. case[3], message(case[1].log_prob, case[1], case[2]))
    end
    local shares = peri.LogisticNormal({ 0, 0 }, 1)
    assert.equal("LogisticNormal:log_prob: " .. event("(3)", "0.5"), message(shares.log_prob, shares, 0.5))
    assert.equal("TransformedDistribution:cdf: x must be a number, a table of numbers or a tensor, got nil",
                 message(function () return Transformed(two, transforms.Exp()):cdf() end))
  end)

  it("knows the events of parts, longer than the base's", function ()
    local parts = { transforms.StickBreaking(), transforms.Independent(transforms.Exp(), 1) }
    for _, dim in ipairs { -1, 1 } do
      local d = Transformed(peri.Independent(peri.Normal(peri.zeros(5), 1), 1), transforms.Cat(parts, dim, { 2, 3 }))
      assert.same({ 6 }, d.event_shape)
      assert.equal(6, #d:sample())
      local x = peri.tensor { 0.1, 0.2, 0.3, 0.4, 0.5 }
      local y = d.transform(x)
      close(d.base_dist:log_prob(x) - d.transform:log_abs_det_jacobian(x, y), d:log_prob(y))
    end
    local batch = Transformed(peri.Normal(peri.zeros(2, 4), 1), transforms.Cat(parts, -1, { 2, 2 }))
    assert.same({ 2 }, batch.batch_shape)
    assert.same({ 5 }, batch.event_shape)
    assert.same({ 3, 2 }, batch:log_prob(batch:sample(3)).shape)
  end)

  it("has an entropy where nearly all mass is next to 0", function ()
    for _, a in ipairs { 1e-5, 1e-6, 1e-8 } do
      local base = peri.Gamma(a, a)
      local exact = base:entropy() - math.log(2) - 0.5 * (peri.special.digamma(a) - math.log(a))
      close(exact, Transformed(base, transforms.Power(0.5)):entropy(), 1e-6)
    end
  end)

  it("has the mode of the family, by search where the transform moves it", function ()
    for _, case in ipairs(identities) do
      local d, family = case[1], case[2]
      local height = family:log_prob(d:mode())   -- a flat top has many modes
      close(family:log_prob(family:mode()), height, 1e-13, tostring(d) .. " is as high at its mode")
    end
    close(math.exp(-9), Transformed(peri.Normal(0, 3), transforms.Exp()):mode(), 1e-11)
    close(0.70710678118654752, Transformed(peri.Exponential(1), transforms.Power(0.5)):mode(), 1e-11)
    close(math.sqrt(2.5), Transformed(peri.Gamma(3, 1), transforms.Power(0.5)):mode(), 1e-13)
    close(math.exp(1.99), Transformed(peri.Normal(2, 0.1), transforms.Exp()):mode(), 1e-13)
    -- by places of the base: quantiles of a magnitude are roots of integrals
    local folded = Transformed(peri.LogNormal(0, 4), { transforms.Affine(-1, 1), transforms.Abs() })
    close(1 - math.exp(-16), folded:mode(), 1e-13)
    assert.equal(0, Transformed(peri.Normal(0, 2), transforms.Abs()):mode())
    assert.equal(7, Transformed(peri.Poisson(3.5), transforms.Affine(1, 2)):mode())
    local batch = Transformed(peri.Normal({ 0, 1 }, { 1, 2 }), transforms.Exp()):mode()
    close(math.exp(-1), batch[1], 1e-11)
    close(math.exp(-3), batch[2], 1e-11)
    local parts = Transformed(peri.Independent(peri.Normal({ 0, 1 }, { 1, 2 }), 1), transforms.Exp())
    assert.is_true(batch:allclose(parts:mode(), 1e-11, 0))
  end)

  -- A small mass around 0 is an integral, which only those quantiles need that have it.
  it("finds quantiles of a magnitude at few points of the base", function ()
    local Counted, points = peri.RelaxedBernoulli:extend "Counted", 0
    for _, name in ipairs { "log_prob", "cdf", "sf", "log_cdf", "log_sf", "icdf", "isf" } do
      Counted[name] = function (self, x)
        points = points + (type(x) == "number" and 1 or x:numel())
        return peri.RelaxedBernoulli[name](self, x)
      end
    end
    local folded = Transformed(Counted(1, 1e-8), { transforms.Affine(-1, 2), transforms.Abs() })
    local levels = peri.linspace(0.01, 0.99, 200)
    assert.is_true(folded:cdf(folded:icdf(levels)):allclose(levels, 1e-7, 0))   -- next to 1, where it is steep
    assert(points < 150000)
    local single = Transformed(Counted(1, 0.3), transforms.Abs())   -- has no value below 0
    points = 0
    assert.is_true(single:icdf(levels):allclose(peri.RelaxedBernoulli(1, 0.3):icdf(levels), 0, 0))
    assert.equal(200, points)
  end)

  it("moves the moments of vectors that are only laid out anew", function ()
    local base = peri.MultivariateNormal({ 1, 2, 3, 4 }, peri.eye(4) * peri.tensor { 1, 2, 3, 4 })
    local d = Transformed(base, { transforms.Affine(1, 2), transforms.Reshape({ 4 }, { 2, 2 }) })
    assert.same({ { 3.0, 5.0 }, { 7.0, 9.0 } }, d:mean():totable())
    assert.is_true(d:variance():allclose(peri.tensor { { 4, 8 }, { 12, 16 } }, 1e-15, 0))
    assert.same(d:mean():totable(), d:mode():totable())
    close(peri.item(base:entropy()) + 4 * math.log(2), peri.item(d:entropy()))
    close(2 * 3 ^ 0.5, d:stddev():at(2, 1))
  end)

  it("records slopes of rsample, and none of sample", function ()
    local loc, scale = peri.param(0.3), peri.param(2.0)
    local d = Transformed(peri.Normal(loc, 1), { transforms.Affine(1, scale), transforms.Exp() })
    assert.is_false(core.tracked(d:sample(3, peri.rng(1))))
    local x = d:rsample(3, peri.rng(1))
    assert.is_true(x:detach():equal(d:sample(3, peri.rng(1))))
    x:sum():backward()
    close(2 * peri.item(x:sum()), peri.item(loc.grad), 1e-13)                             -- dx/dloc = scale x
    close(peri.item((x * (peri.log(x) - 1) / 2):sum()), peri.item(scale.grad), 1e-13)       -- dx/dscale = z x
  end)

  it("explains itself, with an example that is right", function ()
    local help = Transformed.help
    local value = load("local TransformedDistribution = ...; return " .. help.example[1])(Transformed)
    close(help.example[2], value, 1e-12)
  end)
end)

describe("A law with points of mass", function ()
  local Abs, Affine = peri.transforms.Abs, peri.transforms.Affine
  local slab = peri.MixtureDistribution(peri.Categorical { 0.5, 0.5 }, { peri.Delta(0), peri.Normal(0, 1) })

  local function check (maps, base, expected)
    local d = peri.TransformedDistribution(base, maps)
    for x, cdf in pairs(expected) do
      assert.near(cdf, d:cdf(x), 1e-15)
      assert.near(1 - cdf, d:sf(x), 1e-15)
      assert.near(cdf, math.exp(d:log_cdf(x)), 1e-15)
      assert.near(1 - cdf, math.exp(d:log_sf(x)), 1e-15)
    end
  end

  it("has tails with them when it is reflected", function ()
    check({ Affine(0, -1) }, peri.Delta(-2), { [1.9] = 0, [2] = 1, [2.1] = 1 })
    check({ Affine(1, -1) }, slab, { [1] = 0.75, [1 - 1e-12] = 0.25 - 0.5e-12 / math.sqrt(2 * math.pi) })
    check({ Affine(0, -1) }, peri.Censored(peri.Normal(0, 1), -1, 1), { [1] = 1, [0] = 0.5, [3] = 1, [-3] = 0 })
    local grown = peri.TransformedDistribution(peri.Censored(peri.Normal(10, 1), 1, 10), { peri.transforms.Exp() })
    check({ Affine(3, -0.5) }, grown, { [3 - 0.5 * math.exp(10)] = 0.5 })   -- next to e^10 logarithms are all 10
    check({ Affine(0, -1), Affine(0, -1) }, grown,
          { [math.exp(10)] = 1, [0.999 * math.exp(10)] = peri.special.ndtr(math.log(0.999)) })
  end)

  it("has tails with them when it is folded", function ()
    check({ Abs() }, peri.Delta(-2), { [1.9] = 0, [2] = 1, [2.1] = 1, [-1] = 0 })
    check({ Abs() }, slab, { [0] = 0.5, [1] = 0.5 + peri.special.ndtr(1) - 0.5 })
    check({ Abs() }, peri.Censored(peri.Normal(0, 1), -1, 1), { [1] = 1 })
    local rare = peri.MixtureDistribution(peri.Categorical { 0.001, 0.999 }, { peri.Delta(0), peri.Normal(0, 1) })
    check({ Abs() }, rare, { [0] = 0.001 })
  end)

  it("has quantiles close to 0, and at a point of mass", function ()
    local components = { peri.Triangular(-4, 1500, 1000), peri.Delta(-7) }
    local m = peri.MixtureDistribution(peri.Categorical { 0.5, 0.5 }, components)
    local folded = peri.TransformedDistribution(m, { Abs() })
    local slope = math.exp(folded:log_prob(0))   -- the density at 0
    for _, p in ipairs { 1e-300, 1e-100, 1e-20, 1e-9 } do assert.near(1, folded:icdf(p) * slope / p, 1e-8) end
    for _, p in ipairs { 1e-300, 0.1, 0.49999, 0.5 } do assert.equal(-7, m:icdf(p)) end
    for _, q in ipairs { 0.99, 0.6, 0.5 } do assert.equal(-7, m:isf(q)) end
    assert(m:icdf(0.50001) > -7 and m:isf(0.49999) > -7)
    local below = folded:cdf(7 - 1e-12)
    assert.equal(7, folded:icdf(below + 1e-6))
    assert.equal(7, folded:icdf(below + 0.499))
    assert.equal(7, folded:isf(0.9))
    assert(folded:icdf(below - 1e-6) < 7 and folded:icdf(below + 0.501) > 7)
    assert.same({ 7, 7 }, folded:icdf({ 0.1, 0.3 }):totable())
  end)

  it("has all of its mass beyond its ends, however these are rounded", function ()
    for i = 1, 50 do check({ peri.transforms.Exp() }, peri.Delta(i / 7), { [1e9] = 1, [0.5] = 0 }) end
  end)
end)

it("Tails of outcomes that are fractions on the way are those of the integers", function ()
  local base = peri.Poisson(4)
  local halves = peri.TransformedDistribution(base, { transforms.Affine(3, -0.5) })
  local whole = peri.TransformedDistribution(halves, { transforms.Affine(1, 2) })   -- 7 - k
  local folded = peri.TransformedDistribution(whole, { transforms.Abs() })
  local turned = peri.TransformedDistribution(folded, { transforms.Affine(3, -0.5) })
  for k = 1, 12 do
    assert.near(base:sf(k - 1), halves:cdf(3 - 0.5 * k), 1e-15)
    assert.near(base:sf(k - 1), whole:cdf(7 - k), 1e-15)
    assert.near(base:cdf(k - 1), whole:sf(7 - k), 1e-15)
    assert.near(base:cdf(7 + k) - base:cdf(6 - k), folded:cdf(k), 1e-15)
    assert.near(1 - base:cdf(6 + k) + base:cdf(7 - k), turned:cdf(3 - 0.5 * k), 1e-15)   -- P(|7 - X| >= k)
    assert.near(base:cdf(6 + k) - base:cdf(7 - k), turned:sf(3 - 0.5 * k), 1e-15)
  end
end)

it("Divergences of Sigmoid(Normal) are those of LogitNormal", function ()   -- values next to an end are rounded to it
  local p, same = peri.TransformedDistribution(peri.Normal(0, 1), { peri.transforms.Sigmoid() }), peri.LogitNormal(0, 1)
  for _, q in ipairs { peri.StudentT(3), peri.Beta(2, 3), peri.Normal(0, 1) } do
    assert.near(peri.kl_divergence(same, q), peri.kl_divergence(p, q), 1e-12)
    assert.near(peri.js_divergence(same, q), (peri.js_divergence(p, q)), 1e-12)
  end
  local shifted = peri.TransformedDistribution(peri.LogNormal(-4, 2.9), { peri.transforms.Sigmoid() })   -- from 1/2 on
  assert(peri.kl_divergence(shifted, peri.Normal(0, 1)) < 10)
end)

it("A transform's parameter is behind all that follows from it, though the base has numbers only", function ()
  local bases = { peri.Gamma(3, 1), peri.LogNormal(0, 0.5), peri.Truncated(peri.Normal(0, 1), 0.1, 2) }
  local methods = { "mean", "variance", "stddev", "mode", "median", "entropy", "skewness", "kurtosis" }
  local function slope_by_differences (value)
    return (8 * (value(1e-3) - value(-1e-3)) - (value(2e-3) - value(-2e-3))) / 12e-3
  end
  for _, base in ipairs(bases) do
    for _, name in ipairs(methods) do
      local function value (exponent)
        local d = peri.TransformedDistribution(base, { transforms.Power(exponent) })
        return (d[name](d))
      end
      local exponent = peri.param(0.7)
      value(exponent):backward()
      local expected = slope_by_differences(function (h) return value(0.7 + h) end)
      assert.near(expected, exponent.grad, 1e-7 * (1 + math.abs(expected)), name)
    end
  end
  local factor = peri.param(2)
  local d = peri.TransformedDistribution(peri.Gamma(3, 1), { transforms.Affine(0, factor), transforms.Exp():inv() })
  d:mean():backward()
  assert.near(0.5, factor.grad, 1e-12)
end)
