--- MixtureDistribution: weighted sums written out, and where all components are of one family, MixtureSameFamily.
local peri       = require "perilune"
local core       = require "perilune.core"
local statistics = require "spec.support.statistics"

local Categorical, Mixture, Normal, Gamma = peri.Categorical, peri.MixtureDistribution, peri.Normal, peri.Gamma

local function close (expected, got, tolerance, what)
  local off = math.abs(peri.item(got) - expected)
  assert(off <= (tolerance or 1e-14) * math.max(1, math.abs(expected)),
         string.format("%s: expected %.17g, got %.17g", what or "value", expected, peri.item(got)))
end

local function two () return Mixture(Categorical { 0.3, 0.7 }, { Normal(0, 1), Gamma(2, 1) }) end
local function message (...) return (select(2, pcall(Mixture, ...))) end

describe("MixtureDistribution", function ()
  it("has the weighted sums of densities and tails", function ()
    local d, a, b = two(), Normal(0, 1), Gamma(2, 1)
    for _, x in ipairs { -40, -1, 0, 0.7, 3, 50 } do
      close(0.3 * a:prob(x) + 0.7 * b:prob(x), d:prob(x))
      close(0.3 * a:cdf(x) + 0.7 * b:cdf(x), d:cdf(x))
      close(0.3 * a:sf(x) + 0.7 * b:sf(x), d:sf(x))
    end
    close(a:log_cdf(-40) + math.log(0.3), d:log_cdf(-40))
    for _, p in ipairs { 0.01, 0.4, 0.99 } do
      close(p, d:cdf(d:icdf(p)))
      close(p, d:sf(d:isf(p)))
    end
    assert.equal(-math.huge, d:icdf(0))
    local nan = d:log_prob(0 / 0)
    assert(nan ~= nan)
  end)

  it("has moments by the law of total variance, and entropy by quadrature", function ()
    local d = two()
    close(1.4, d:mean())
    close(0.3 * (1 + 1.4 ^ 2) + 0.7 * (2 + 0.6 ^ 2), d:variance())
    close(d:variance() + 1.96, (d:expectation(function (x) return x * x end)), 1e-12)
    close(-d:expectation(function (x) return d:log_prob(x) end), d:entropy(), 1e-12)
    assert(d:log_prob(d:mode()) >= d:log_prob(d:mode() + 1e-3) and d:log_prob(d:mode()) >= d:log_prob(d:mode() - 1e-3))
  end)

  it("is MixtureSameFamily where all are of one family", function ()
    local mixing = Categorical { { 0.3, 0.3, 0.4 }, { 0.1, 0.2, 0.7 } }
    local same = peri.MixtureSameFamily(mixing, Normal({ { 0, 1, 2 } }, { 1, 0.5, 2 }))
    local d = Mixture(mixing, { Normal(0, 1), Normal(1, 0.5), Normal(2, 2) })
    local x = peri.tensor { { -1, 0.5 }, { 2, 3 }, { 4, 40 } }
    for _, method in ipairs { "log_prob", "cdf", "sf", "log_cdf", "log_sf" } do
      assert.is_true(same[method](same, x):equal(d[method](d, x)), method)
    end
    for _, method in ipairs { "mean", "variance", "mode" } do
      assert.is_true(same[method](same):equal(d[method](d)), method)
    end
    assert.is_true(same:icdf(0.3):equal(d:icdf(0.3)))
    assert.is_true(peri.allclose(same:entropy(), d:entropy(), 1e-12))
    assert.is_true(d:is_a(peri.MixtureSameFamily))
  end)

  it("draws from its law, with slopes", function ()
    local d = two()
    local x = d:sample(100000, peri.rng(1))
    assert(statistics.ks(x, function (v) return d:cdf(v) end))
    assert(statistics.mean(x, d:mean(), d:variance()))
    local rate, logits = peri.param(1), peri.param { 0.1, 0.2 }
    local y = Mixture(Categorical { logits = logits }, { Normal(0, 1), Gamma(2, rate) }):rsample(20000, peri.rng(2))
    y:mean():backward()
    -- E x = w 2/rate: slopes -2 w and 2 w (1 - w), within 5 standard errors of what is drawn
    local w = 1 / (1 + math.exp(-0.1))
    assert(math.abs(peri.item(rate.grad) + 2 * w) < 0.1)
    assert(math.abs(logits.grad[2] - 2 * w * (1 - w)) < 0.1)
  end)

  it("mixes counts", function ()
    local d = Mixture(Categorical { 0.3, 0.7 }, { peri.Poisson(3), peri.Binomial(5, 0.5) })
    assert.is_true(d.support.is_discrete)
    assert.equal(0, d.support.low)
    assert.equal("integer", math.type(d:sample(nil, peri.rng(1))))
    close(0.3 * peri.Poisson(3):prob(2) + 0.7 * peri.Binomial(5, 0.5):prob(2), d:prob(2))
    assert.equal(3, d:icdf(0.7))
    assert(statistics.chi_square(d:sample(100000, peri.rng(3)), d))
    assert.matches("MixtureDistribution has no rsample", select(2, pcall(d.rsample, d)))
  end)

  it("mixes vectors", function ()
    local a = peri.MultivariateNormal({ 0, 0 }, { { 1, 0.5 }, { 0.5, 1 } })
    local b = peri.Independent(peri.Laplace({ 0, 1 }, 1), 1)
    local d, x = Mixture(Categorical { 0.4, 0.6 }, { a, b }), peri.tensor { { 1, 2 }, { 3, -4 } }
    local expected = peri.log(0.4 * a:prob(x) + 0.6 * b:prob(x))
    assert.is_true(peri.allclose(expected, d:log_prob(x), 1e-14))
    assert.same({ 7, 2 }, d:sample(7).shape)
    assert.is_true(peri.allclose({ 0, 0.6 }, d:mean(), 1e-15))
    assert.equal(peri.constraints.real_vector, d.support)
    assert.matches("MixtureDistribution has no cdf: an event has shape", select(2, pcall(d.cdf, d, x)))
  end)

  it("has the hull of the supports", function ()
    local function support (...) return tostring(Mixture(Categorical { 0.5, 0.5 }, { ... }).support) end
    assert.equal("real", support(Normal(), Gamma(1, 1)))
    assert.equal("interval(-1, 3)", support(peri.Uniform(-1, 1), peri.Uniform(2, 3)))
    assert.equal("nonnegative", support(peri.Uniform(0, 1), peri.Exponential(1)))
    assert.equal("simplex", support(peri.Dirichlet { 1, 2 }, peri.Dirichlet { 3, 2 }))
    assert.equal("interval({-2, -2}, {1, 5})", support(peri.Uniform({ -1, 0 }, { 1, 5 }), peri.Uniform(-2, 1)))
  end)

  it("has the hull of the supports of rows", function ()
    local function mixed (...) return Mixture(Categorical { 0.3, 0.7 }, { ... }) end
    local function row (d) return peri.Independent(d, 1) end
    local boxes = mixed(row(peri.Uniform({ 0, 1 }, { 1, 2 })), row(peri.Uniform({ 2, 1 }, { 3, 2 })))
    assert.equal("independent(interval({0, 1}, {3, 2}), 1)", tostring(boxes.support))
    assert.equal("independent(unit_interval, 1)",
                 tostring(mixed(row(peri.Beta({ 2, 1 }, 3)), peri.Dirichlet { 1, 2 }).support))
    assert.equal("independent(real, 1)",
                 tostring(mixed(peri.VonMisesFisher({ 1, 0 }, 1), peri.Dirichlet { 1, 2 }).support))
    local found = peri.kl_explain(boxes, row(peri.Uniform({ 0, 0 }, 3)), { rng = peri.rng(1) })
    local expected = 0.3 * math.log(2.7) + 0.7 * math.log(6.3)
    assert(math.abs(found.value - expected) < 4 * found.error)
    -- all of them discrete: log(P/Q) of the outcomes with the 1 in each place
    local bits = peri.OneHotCategorical { 0.1, 0.2, 0.7 }
    local counts, expected_counts = mixed(bits, peri.Multinomial(1, { 0.3, 0.3, 0.4 })), 0
    for i, p in ipairs { 0.1, 0.2, 0.7 } do
      expected_counts = expected_counts + p * math.log(p / (0.3 * p + 0.7 * ({ 0.3, 0.3, 0.4 })[i]))
    end
    assert.near(expected_counts, peri.kl_divergence(bits, counts), 1e-14)
    assert(peri.kl_divergence(counts, bits) < 1)
    local moved = peri.TransformedDistribution(bits, peri.transforms.Affine(0.5, 1))
    assert.is_true(mixed(moved, bits).support.is_discrete)
  end)

  it("expands, and has divergences", function ()
    local d = two()
    assert.same({ 2, 3 }, d:expand({ 2, 3 }):log_prob(1).shape)
    assert.equal(d:log_prob(1), d:expand({ 2, 3 }):log_prob(1):at(2, 3))
    assert.same({ 4, 2, 3 }, d:expand({ 2, 3 }):sample(4).shape)
    local found = peri.kl_explain(d, Normal(1, 2))
    assert.equal("quadrature", found.method)
    close(-d:entropy() - d:expectation(function (x) return Normal(1, 2):log_prob(x) end), found.value, 1e-10)
    assert(peri.kl_divergence(d, d) < 1e-12)
  end)

  it("has the likeliest of all outcomes as its mode, whole or cut", function ()
    local rng = peri.rng(4)
    local function uniform (from, to) return core.item(peri.Uniform(from, to):sample({}, rng)) end
    local function whole (from, to) return math.floor(uniform(from, to)) end
    local kinds = {
      function () return peri.Poisson(math.exp(uniform(0, 6))) end,
      function () return peri.Zipf(uniform(1.1, 9)) end,
      function () return peri.Binomial(whole(1, 200), uniform(0, 1)) end,
      function () return peri.NegativeBinomial(uniform(1, 10), uniform(0, 1)) end,
      function () return peri.Skellam(uniform(0, 100), uniform(0, 100)) end,
    }
    for _ = 1, 60 do
      local weights, laws = {}, {}
      for k = 1, whole(2, 5) do weights[k], laws[k] = uniform(0, 1), kinds[whole(1, 6)]() end
      local d = Mixture(Categorical(peri.tensor(weights)), laws)
      local from = whole(-50, 100)
      local to = from + whole(1, 100)
      for _, law in ipairs { d, d:sf(from) > 1e-200 and d:cdf(to) > 1e-200 and peri.Truncated(d, from, to) or nil } do
        local outcomes = law == d and peri.arange(-300, 1500) or peri.arange(from, to + 1)
        close(law:log_prob(outcomes):max(), law:log_prob(law:mode()), 1e-13, tostring(law))
      end
    end
    local close_by = { peri.Skellam(99.3, 40.1), peri.Binomial(29, 0.461), peri.Poisson(56.1),
                       peri.NegativeBinomial(6.89, 0.6326) }
    assert.equal(12, Mixture(Categorical { 0.328, 0.086, 0.3335, 0.2525 }, close_by):mode())
  end)

  it("takes any number of components", function ()
    local weights, laws = {}, {}
    for k = 1, 300 do weights[k], laws[k] = k, Normal(k, 1 + k % 7) end
    local d = Mixture(Categorical(peri.tensor(weights)), laws)
    local same = peri.MixtureSameFamily(Categorical(peri.tensor(weights)),
                                        Normal(peri.arange(1, 301), 1 + peri.arange(1, 301) % 7))
    for _, x in ipairs { -3, 0, 150.5, 299 } do close(same:log_prob(x), d:log_prob(x), 1e-14) end
    close(same:icdf(0.3), d:icdf(0.3), 1e-14)
    close(same:mean(), d:mean(), 1e-14)
  end)

  -- Of each level one question more would double all.
  it("is the same for mixtures of mixtures, however deep", function ()
    local logs, laws, d = { 0 }, { Gamma(2, 1) }, Gamma(2, 1)
    for level = 1, 30 do
      d = Mixture(Categorical { 0.7, 0.3 }, { d, Normal(level % 5, 1) })
      for k = 1, #logs do logs[k] = logs[k] + math.log(0.7) end
      logs[level + 1], laws[level + 1] = math.log(0.3), Normal(level % 5, 1)
    end
    local flat = Mixture(Categorical { logits = peri.tensor(logs) }, laws)
    for _, name in ipairs { "cdf", "sf", "log_cdf", "log_sf", "log_prob" } do
      close(flat[name](flat, 1.5), d[name](d, 1.5), 1e-13, name)
    end
    for _, p in ipairs { 1e-300, 1e-5, 0.3, 0.5, 0.8 } do
      close(flat:icdf(p), d:icdf(p), 1e-13, "icdf " .. p)
      close(flat:isf(p), d:isf(p), 1e-13, "isf " .. p)
    end
    close(flat:mode(), d:mode(), 1e-7)
    close(peri.Truncated(flat, 0.1, 0.4):mode(), peri.Truncated(d, 0.1, 0.4):mode(), 1e-7)
    local one_family = peri.MixtureSameFamily(Categorical { 0.3, 0.7 }, Normal({ 0, 2 }, 1))
    local nested = one_family
    for _ = 1, 8 do nested = peri.MixtureSameFamily(Categorical { 0.5, 0.5 }, nested:expand { 2 }) end
    close(one_family:icdf(0.3), nested:icdf(0.3), 1e-13)
    close(one_family:cdf(0.3), nested:cdf(0.3), 1e-13)
  end)

  it("refuses components that do not go together", function ()
    local half = Categorical { 0.5, 0.5 }
    assert.matches("MixtureDistribution: mixing must be a Categorical, got 3", message(3, { Normal() }))
    assert.matches("components must be a table of distributions, got Normal", message(half, Normal()))
    assert.matches("component 2 must be a distribution, got 3", message(half, { Normal(), 3 }))
    assert.matches("as many components as outcomes of mixing, which has 2, got 1", message(half, { Normal() }))
    assert.matches("components must all be discrete or all continuous", message(half, { Normal(), peri.Poisson(1) }))
    assert.matches("events of one shape, got %(%) for component 1 and %(2%) for component 2",
                   message(half, { Normal(), peri.Dirichlet { 1, 2 } }))
    assert.matches("mixing and components of shapes %(2%) and %(3%) do not broadcast",
                   message(half, { Normal({ 0, 0 }, 1), Normal({ 0, 0, 0 }, 1) }))
  end)

  it("prints, takes names, and explains itself", function ()
    local d = Mixture { mixing = Categorical { 0.5, 0.5 }, components = { Normal(), Gamma(1, 1) } }
    assert.equal("MixtureDistribution(Categorical(probs={0.5, 0.5}), {Normal(loc=0, scale=1), "
                 .. "Gamma(concentration=1, rate=1)})", tostring(d))
    assert.equal("Gamma(concentration=1, rate=1)", tostring(d.components[2]))
    assert.equal(d.mixture_distribution, d.mixing)
    assert.is_nil(d.nothing)
    assert.is_false(core.tracked(d:log_prob(1)))
    local help = Mixture.help
    local code = "local peri = ...; local MixtureDistribution = peri.MixtureDistribution; return " .. help.example[1]
    close(help.example[2], assert(load(code))(peri), 1e-13)
  end)
end)
