--- Other divergences. Numbers that are no closed form come from mpmath at 30 digits.
local peri = require "perilune"

local INF, LOG_2 = math.huge, math.log(2)
local Normal, Cauchy, MultivariateNormal = peri.Normal, peri.Cauchy, peri.MultivariateNormal
local Bell = Normal:extend("Bell")   -- the same law without closed forms but that of KL

local function check (value, expected, tolerance)
  assert.equal("number", type(value))
  assert(value == expected or math.abs(value - expected) <= (tolerance or 1e-14) * math.abs(expected),
         string.format("expected %.17g, got %.17g", expected, value))
end

local function check_list (value, expected, tolerance)
  assert.same({ #expected }, value.shape)
  for i, x in ipairs(expected) do check(value[i], x, tolerance) end
end

local function message (f, ...)
  local ok, text = pcall(f, ...)
  assert.is_false(ok)
  return (text:gsub("^[^ ]*:%d+: ", ""))
end

describe("cross_entropy", function ()
  it("is the expectation of -log q", function ()
    check(peri.cross_entropy(Normal(0, 1), Normal(1, 2)), 1.8620857137646180512)
    check(peri.cross_entropy(Normal(0, 1), Cauchy(1, 2)), 2.1809257353380222516)
    check_list(peri.cross_entropy(Normal({ 0, 0 }, 1), Cauchy(1, 2)), { 2.1809257353380222516, 2.1809257353380222516 })
    check(peri.cross_entropy(peri.Bernoulli(0.25), peri.Bernoulli(0.5)), LOG_2)
    check(peri.cross_entropy(Normal(0, 1), peri.Exponential(1)), INF)
    check_list(peri.cross_entropy(peri.Uniform({ 0, -1 }, 1), peri.TruncatedNormal(0, 1, 0, 1)),
               { 1 / 6 + 0.5 * math.log(2 * math.pi) + math.log(Normal(0, 1):cdf(1) - 0.5), INF }, 1e-13)
    local p = MultivariateNormal({ 0, 0 }, { { 1, 0 }, { 0, 1 } })
    check(peri.item(peri.cross_entropy(p, p)), 1 + math.log(2 * math.pi))
  end)

  it("is an average over draws where rows have no entropy", function ()
    local q = MultivariateNormal({ 0, 0 }, { { 1, 0 }, { 0, 4 } })   -- -E log q follows from E x^2
    local rows = peri.Independent(Normal({ { 0, 1 }, { 2, -1 } }, 0.5), 1)
    local mixture = peri.MixtureSameFamily(peri.Categorical { 0.25, 0.75 }, rows)
    local exp = peri.TransformedDistribution(peri.Independent(Normal({ 0, 1 }, 0.5), 1), peri.transforms.Exp())
    for _, p in ipairs { mixture, peri.TransformedDistribution(mixture, peri.transforms.Ordered()), exp } do
      local value, error = peri.cross_entropy(p, q, { rng = peri.rng(1) })
      local expected = -q:log_prob(p:sample(100000, peri.rng(2)))
      local spread = expected:std() / math.sqrt(100000)
      assert(math.abs(peri.item(value) - expected:mean()) < 4 * (peri.item(error) + spread))
    end
    local squares = mixture:variance() + mixture:mean() ^ 2
    local value, error = peri.cross_entropy(mixture, q, { rng = peri.rng(1) })
    local expected = math.log(2 * math.pi) + LOG_2 + 0.5 * (squares[1] + squares[2] / 4)
    assert(math.abs(peri.item(value) - expected) < 4 * peri.item(error))
    assert.matches("^MixtureSameFamily has no entropy: an event has shape %(2%)$", message(mixture.entropy, mixture))
  end)

  it("keeps digits where entropy and KL cancel", function ()
    -- E[-log q] = 1e-12 exactly: q = Exponential(1), E X = 1e-12
    check(peri.cross_entropy(peri.Exponential(1e12), peri.Exponential(1)), 1e-12, 1e-13)
  end)
end)

describe("jeffreys", function ()
  it("is KL both ways", function ()
    check(peri.jeffreys(Normal(0, 1), Normal(1, 2)), 1.75)
    check_list(peri.jeffreys(Normal({ 0, 1 }, 1), Normal(1, 1)), { 1, 0 })
    check(peri.jeffreys(Normal(0, 1), peri.Exponential(1)), INF)
  end)
end)

-- Densities with poles at both ends, or none: p, q, order, Renyi.
local POLES = {
  { peri.Beta(0.3, 0.3), peri.Beta(0.5, 0.5), 1.5, 0.26754314546822236 },
  { peri.Beta(0.05, 2), peri.Beta(0.1, 0.05), 1.5, 1.8569740667947313 },
  { peri.Beta(0.3, 0.05), peri.Beta(3, 1), 0.5, 1.3594311263496196 },
  { peri.Beta(2, 3), peri.Beta(0.5, 0.1), 3, 1.8161181546016186 },
  { peri.Kumaraswamy(0.3, 0.2), peri.Beta(0.5, 0.4), 1.5, 0.64617944651455584 },
  { peri.InverseGaussian(1, 2), peri.Gamma(2, 2), 2, 0.082681391910818588 },   -- a tail like x^-4
}

-- p, q, Jensen-Shannon
local DIFFERENT_TAILS = {
  { peri.Gamma(3, 2), peri.LogNormal(0.2, 0.6), 0.0069730464225581033 },
  { peri.StudentT(30), Normal(0, 1), 0.00044731075786887157 },
  { peri.LogNormal(0, 0.1), peri.Gamma(100, 100), 0.00051856109080343070 },
}

describe("js_divergence", function ()
  it("is right for laws on the line", function ()
    check(peri.js_divergence(Normal(0, 1), Normal(1, 2)), 0.12817497305439801042, 1e-13)
    check(peri.js_divergence(Normal(1, 2), Normal(0, 1)), 0.12817497305439801042, 1e-13)
    check(peri.js_divergence(Normal(0, 1), Normal(1e-6, 1)), 1.2499999999998437e-13, 1e-9)
    check(peri.js_divergence(Normal(0, 1), Normal(0, 1)), 0)
  end)

  it("is right for near laws whose tails differ", function ()
    for _, case in ipairs(DIFFERENT_TAILS) do
      local p, q, expected = table.unpack(case)
      check(peri.js_divergence(p, q), expected, 1e-12)
      check(peri.js_divergence(q, p), expected, 1e-12)
    end
  end)

  it("is right for densities with poles", function ()
    check(peri.js_divergence(peri.Beta(0.3, 0.3), peri.Beta(0.5, 0.5)), 0.026302972684095050, 1e-12)
    check(peri.js_divergence(peri.Beta(0.05, 2), peri.Beta(0.1, 0.05)), 0.34023307995331812, 1e-12)
    check(peri.js_divergence(peri.Beta(0.02, 0.02), peri.Beta(0.05, 0.02)), 0.055048964296562533, 1e-11)
  end)

  it("is right for outcomes", function ()
    check_list(peri.js_divergence(peri.Poisson { 1, 2 }, peri.Poisson(3)),
               { 0.21178323375918267811, 0.048001759515784306508 })
    check(peri.js_divergence(peri.Bernoulli(0.2), peri.Bernoulli(0.7)), 0.13250545091704780067)
    check(peri.item(peri.js_divergence(peri.OneHotCategorical { 1, 2, 3 }, peri.OneHotCategorical { 3, 2, 1 })),
          0.087208023960757972753)
  end)

  it("has log 2 as its greatest value, whatever the supports", function ()
    check(peri.js_divergence(Normal(0, 1), Normal(100, 1)), LOG_2)
    check(peri.js_divergence(peri.Uniform(0, 1), peri.Uniform(3, 4)), LOG_2)
    check(peri.js_divergence(peri.Poisson(2), Normal(0, 1)), LOG_2)
    -- q/p = 2/3 on half of p, 0 elsewhere
    local middle = 5 / 6
    check(peri.js_divergence(peri.Uniform(0, 1), peri.Uniform(0.5, 2)),
          0.5 * (0.5 * LOG_2 - 0.5 * math.log(middle)) + 0.5 * (math.log(2 / 3 / middle) / 3 + 2 / 3 * LOG_2))
  end)

  it("is right where outcomes overflow, or an end cannot be told from what is before it", function ()
    local vast = peri.TransformedDistribution(peri.FisherSnedecor(1.5, 2), peri.transforms.Exp())
    check(peri.js_divergence(vast, peri.Uniform(1, 3)), 0.25448049890619220553, 1e-12)
    check(peri.js_divergence(peri.Uniform(1, 3), vast), 0.25448049890619220553, 1e-12)
    local steep = peri.TransformedDistribution(Normal(30, 3), peri.transforms.Tanh())
    local value, error = peri.js_divergence(steep, peri.Uniform(2, { 3, 4 }))
    check_list(value, { LOG_2, LOG_2 })
    check_list(error, { 0, 0 })
    value, error = peri.js_divergence(steep, peri.Uniform(-2, 2))
    assert(value >= 0 and value <= LOG_2 and error <= LOG_2)
    local beyond = peri.TransformedDistribution(peri.Normal(1e9, 1), peri.transforms.Exp())   -- all numbers
    value, error = peri.js_divergence(beyond, peri.LogNormal(0, 1))
    assert(value - error <= LOG_2 and value + error >= LOG_2)
  end)

  it("of vectors comes from draws", function ()
    local function at (x) return MultivariateNormal({ x, 0 }, { { 1, 0 }, { 0, 1 } }) end
    local value = peri.item(peri.js_divergence(at(0), at(1), { samples = 40000, rng = peri.rng(1) }))
    local exact = peri.js_divergence(Normal(0, 1), Normal(1, 1))
    assert(math.abs(value - exact) < 0.01)   -- six standard errors
  end)
end)

describe("renyi_divergence", function ()
  it("is never negative, and says where it is not known", function ()
    local point = peri.MixtureSameFamily(peri.Categorical { 1e-8, 1 }, peri.Delta { v = { -1.3, 5.7 } })
    local dear = peri.MixtureSameFamily(peri.Categorical { 0.3, 0.7 }, peri.NoncentralF {
      df1 = { 9, 1e-150 }, df2 = { 0.7, 2 ^ 40 }, noncentrality = { 0.02, 1e300 } })
    for _, q in ipairs { Normal(0, 1), Normal(0, 8) } do
      for _, p in ipairs { peri.Truncated(point, 0.1, 1e9), dear } do
        local value, error = peri.renyi_divergence(p, q, 0.5)
        assert(value >= 0 or value ~= value and error == INF, tostring(value))
      end
    end
  end)

  it("is right in closed form and by quadrature", function ()
    for _, p in ipairs { Normal(0, 1), Bell(0, 1) } do
      check(peri.renyi_divergence(p, Normal(1, 2), 0.5), 0.32314355131420975577)
      check(peri.renyi_divergence(p, Normal(1, 2), 3), 0.61407449759140654312)
      check(peri.renyi_divergence(p, Normal(1, 2), 1), LOG_2 - 0.25)
      check(peri.renyi_divergence(p, Normal(1, 2), 1 + 1e-9), LOG_2 - 0.25, 1e-9)
      check(peri.renyi_divergence(p, Normal(0, 0.5), 3), INF)
    end
    for _, p in ipairs { peri.Exponential(1), peri.Gamma(1, 1) } do
      check(peri.renyi_divergence(p, peri.Exponential(0.5), 2.5), 0.32006998860299685190)
      check(peri.renyi_divergence(p, peri.Exponential(2), 2.5), INF)
    end
    check_list(peri.renyi_divergence(Normal({ 0, 1 }, 1), Normal({ 1, 2 }, 2), 3),
               { 0.61407449759140654312, 0.61407449759140654312 })
  end)

  it("is right for densities with poles and heavy tails", function ()
    for _, case in ipairs(POLES) do
      local p, q, alpha, expected = table.unpack(case)
      check(peri.renyi_divergence(p, q, alpha), expected, 1e-11)
    end
  end)

  it("is infinite where it diverges, however slowly, and only there", function ()
    check(peri.renyi_divergence(peri.Gamma(0.5, 1), peri.Exponential(1), 2), INF)   -- like a logarithm
    check(peri.renyi_divergence(peri.Gamma(0.501, 1), peri.Gamma(1, 1), 2), 5.0726491587612955, 1e-11)
    for _, alpha in ipairs { 0.9, 1.5 } do   -- means about KL overflow
      check(peri.renyi_divergence(Bell(0, 1), Normal(70, 1.5), alpha),
            peri.renyi_divergence(Normal(0, 1), Normal(70, 1.5), alpha), 1e-12)
    end
  end)

  it("is right for outcomes, and for supports that overlap", function ()
    check_list(peri.renyi_divergence(peri.Bernoulli { 0.2, 0.7 }, peri.Bernoulli(0.7), 2),
               { math.log(0.04 / 0.7 + 0.64 / 0.3), 0 })
    local p = peri.Uniform(0, 1)
    check(peri.renyi_divergence(p, peri.Uniform(0.5, 2), 0.5), -2 * math.log(0.5 * math.sqrt(2 / 3)), 1e-12)
    check(peri.renyi_divergence(p, peri.Uniform(3, 4), 0.5), INF)
    check_list(peri.renyi_divergence(p, peri.Uniform({ 0.5, -1 }, 2), 2), { INF, math.log(3) })
  end)

  it("refuses what is no order", function ()
    for _, alpha in ipairs { -1, 0, INF, "2" } do
      assert.matches("^renyi_divergence: alpha must be positive and finite, got ",
                     message(peri.renyi_divergence, Normal(), Normal(), alpha))
    end
  end)
end)

describe("the error of a divergence", function ()
  it("follows its value", function ()
    local value, error = peri.js_divergence(Normal(0, 1), Cauchy({ 0, 1 }, 1))
    assert.same({ 2 }, error.shape)
    for i = 1, 2 do
      assert(error[i] > 0 and error[i] < 1e-13)
      check(peri.js_divergence(Normal(0, 1), Cauchy(i - 1, 1)), value[i], 1e-13)
    end
    assert(select(2, peri.renyi_divergence(peri.Gamma(2, 1), peri.Exponential(0.5), 1.5)) < 1e-13)
    assert(select(2, peri.cross_entropy(Normal(0, 1), Cauchy(0, 1))) < 1e-13)
    assert(select(2, peri.jeffreys(Normal(0, 1), Cauchy(0, 1))) < 1e-12)
    assert(select(2, peri.wasserstein(Bell(0, 1), Normal(1, 3), 2)) < 1e-12)
    assert(select(2, peri.renyi_divergence(Normal(0, 1), Normal(1, 2), 2)) < 1e-14)   -- closed forms
    assert(select(2, peri.jeffreys(Normal(0, 1), Normal(1, 2))) < 1e-13)
    assert.equal(0, select(2, peri.renyi_divergence(Normal(0, 1), peri.Exponential(1), 2)))   -- by support
  end)

  it("of averages over draws is their standard error", function ()
    local function at (x) return MultivariateNormal({ x, 0 }, { { 1, 0 }, { 0, 1 } }) end
    local _, error = peri.js_divergence(at(0), at(1), { samples = 4000, rng = peri.rng(1) })
    assert(peri.item(error) > 1e-4 and peri.item(error) < 1e-2)
  end)
end)

describe("wasserstein", function ()
  it("is right for laws on the line", function ()
    check(peri.wasserstein(Normal(0, 1), Normal(3, 1)), 3)
    check(peri.wasserstein(Normal(0, 1), Normal(0, 3)), 2 * math.sqrt(2 / math.pi), 1e-13)
    check(peri.wasserstein(Normal(0, 1), Normal(1, 3), 2), math.sqrt(5))
    check(peri.wasserstein(Bell(0, 1), Normal(1, 3), 2), math.sqrt(5), 1e-13)
    check(peri.wasserstein(peri.Uniform(0, 1), peri.Uniform(0, 3), 3), 2 / 4 ^ (1 / 3), 1e-13)
    check_list(peri.wasserstein(peri.Exponential(1), peri.Exponential { 2, 4 }), { 0.5, 0.75 }, 1e-13)
    check(peri.wasserstein(Cauchy(0, 1), Cauchy(0, 2)), INF)
    check(peri.wasserstein(Cauchy(0, 1), Cauchy(1, 1)), 1, 1e-13)
    check(peri.wasserstein(Normal(0, 1), Normal(0, 1)), 0)
  end)

  it("is right for outcomes", function ()
    check_list(peri.wasserstein(peri.Poisson(3), peri.Poisson { 5, 2 }), { 2, 1 }, 1e-13)   -- one lies above the other
    check(peri.wasserstein(peri.Bernoulli(0.3), peri.Bernoulli(0.7), 2), math.sqrt(0.4), 1e-13)
    check(peri.item(peri.wasserstein(peri.Categorical { 1, 0, 0 }, peri.Categorical { 0, 0, 1 }, 2)), 2)
    check(peri.wasserstein(peri.Poisson(3), Normal(3, 2)), 0.36660995794441896710, 1e-13)
    check_list(peri.wasserstein(peri.Poisson { 3, 3 }, Normal(3, 2)),
               { 0.36660995794441896710, 0.36660995794441896710 }, 1e-13)
    local wide, error = peri.wasserstein(Normal(3e4, math.sqrt(21000)), peri.Binomial(1e5, 0.3))   -- steps unresolved
    assert(wide <= 1 and error < 1)
  end)

  it("of MultivariateNormals is that of Bures", function ()
    local p = MultivariateNormal({ 0, 0 }, { { 1, 0 }, { 0, 1 } })
    local q = MultivariateNormal({ 1, 0 }, { { 4, 0 }, { 0, 9 } })
    check(peri.item(peri.wasserstein(p, q, 2)), math.sqrt(6))
    p = MultivariateNormal({ 0, 0 }, { { 2, 1 }, { 1, 2 } })
    q = MultivariateNormal({ { 1, 0 }, { 0, 0 } }, { { 4, -1 }, { -1, 9 } })
    check_list(peri.wasserstein(p, q, 2), { 2.1585296306081636249, math.sqrt(2.1585296306081636249 ^ 2 - 1) })
    check_list(peri.wasserstein(q, p, 2), { 2.1585296306081636249, math.sqrt(2.1585296306081636249 ^ 2 - 1) })
    assert(peri.item(peri.wasserstein(p, p, 2)) < 1e-15)
    -- nearly singular, and nearly equal: no digits are lost
    local thin = MultivariateNormal { loc = { 0, 0 }, scale_tril = { { 1, 0 }, { 1, 1e-9 } } }
    local thick = MultivariateNormal { loc = { 0, 0 }, scale_tril = { { 1, 0 }, { 1, 3e-9 } } }
    check(peri.item(peri.wasserstein(thin, thick, 2)), 2e-9 / math.sqrt(2), 1e-6)
    -- what rounding of the factors does is stated: mpmath at 40 digits
    local value, error = peri.wasserstein(MultivariateNormal({ 0, 0 }, { { 4, 1 }, { 1, 1 } }),
                                          MultivariateNormal({ 0, 0 }, { { 4, 1 }, { 1, 1 + 1e-9 } }), 2)
    assert(math.abs(value - 5.62731433685041502e-10) <= error and error < 1e-13)
    value, error = peri.wasserstein(p, p, 2)
    assert(value <= error and error < 1e-13)
    for _, scale in ipairs { 1e-300, 1e300 } do   -- squares of these are no numbers
      local small = MultivariateNormal({ 0, 0 }, { { scale, 0 }, { 0, scale } })
      check((peri.wasserstein(small, MultivariateNormal({ 0, 0 }, { { 4 * scale, 0 }, { 0, scale } }), 2)),
            math.sqrt(scale))
    end
  end)

  it("refuses what it does not know", function ()
    local p = MultivariateNormal({ 0, 0 }, { { 1, 0 }, { 0, 1 } })
    assert.equal("wasserstein: of vectors only MultivariateNormals and order 2 are known, "
                 .. "got MultivariateNormal and order 1", message(peri.wasserstein, p, p))
    assert.equal("wasserstein: order must be a number of at least 1, got 0.5",
                 message(peri.wasserstein, Normal(), Normal(), 0.5))
    local Plain = peri.Distribution:extend("Plain", { support = peri.constraints.real })
    assert.equal("wasserstein: Plain has no icdf", message(peri.wasserstein, Plain(), Normal()))
    for _, name in ipairs { "cross_entropy", "jeffreys", "js_divergence", "wasserstein" } do
      assert.equal(name .. ": q must be a distribution, got 3", message(peri[name], Normal(), 3))
      assert.equal(name .. ": p must be a distribution, got nil", message(peri[name], nil, Normal()))
      assert.equal(name .. ": p and q have events of different shapes, () and (2)", message(peri[name], Normal(), p))
    end
  end)
end)

describe("js_divergence with a mixture of intervals", function ()
  it("is cut at their ends", function ()
    local q = peri.MixtureSameFamily(peri.Categorical { 0.4, 0.6 }, peri.Uniform({ 0, 1 }, { 2, 3 }))
    local expected = 0   -- densities are constant over each third
    for _, density in ipairs { 0.2, 0.5, 0.3 } do
      local middle = (1 / 3 + density) / 2
      expected = expected + (math.log(1 / 3 / middle) / 3 + density * math.log(density / middle)) / 2
    end
    assert.near(expected, (peri.js_divergence(peri.Uniform(0, 3), q)), 1e-14)
  end)
end)

describe("Averages over draws", function ()
  local q = MultivariateNormal({ 0, 0 }, { { 1, 0 }, { 0, 1 } })
  local function moved (a)   -- as Normal(a, 1) and a number like that of q
    local loc = peri.stack({ a, 0 * a }, -1):unsqueeze(1)
    return peri.MixtureSameFamily(peri.Categorical { 1 }, MultivariateNormal { loc = loc, scale_tril = peri.eye(2) })
  end

  it("have the slopes of the law that is drawn from", function ()
    for name, single in pairs {
      js_divergence    = function (a) return (peri.js_divergence(Normal(a, 1), Normal(0, 1))) end,
      renyi_divergence = function (a) return (peri.renyi_divergence(Normal(a, 1), Normal(0, 1), 0.5)) end,
      cross_entropy    = function (a) return (peri.cross_entropy(Normal(a, 1), Normal(0, 1))) end,
    } do
      local function value (a)
        local alpha = name == "renyi_divergence" and 0.5 or nil
        local opts = { samples = 100000, rng = peri.rng(1) }
        local function call (...) return (peri[name](moved(a), q, ...)) end
        return alpha and call(alpha, opts) or call(opts)
      end
      for _, a in ipairs { 0.7, -1.5 } do
        local expected, got = peri.grad(single)(a), peri.grad(value)(a)
        assert.near(expected, got, 0.03 * math.abs(expected), name)
      end
    end
  end)
end)

it("What is masked in one of two laws does not count in any divergence", function ()
  local p, q = peri.Dirichlet { 1, 2, 3 }, peri.Dirichlet { 2, 2, 2 }
  local first = peri.Masked(p, { true, false })
  for _, pair in ipairs { { first, q }, { p, peri.Masked(q, { true, false }) }, { first, peri.Masked(q, true) } } do
    for name, alpha in pairs { cross_entropy = false, js_divergence = false, jeffreys = false, renyi_divergence = 2 } do
      local function call (a, b)
        local opts = { samples = 100, rng = peri.rng(1) }
        if alpha then return peri[name](a, b, alpha, opts) end
        return peri[name](a, b, opts)
      end
      local value, error = call(pair[1], pair[2])
      assert.near(call(p:expand(2), q:expand(2))[1], value[1], 1e-14)
      assert.same({ 0, 0 }, { value[2], error[2] })
    end
  end
  assert.equal(0, (peri.js_divergence(peri.Masked(Normal(0, 1), false), Normal(1, 1))))
  assert.equal(0, (peri.cross_entropy(Normal(0, 1), peri.Masked(Normal(1, 1), false))))
end)

it("js_divergence passes poles that places are rounded to", function ()   -- by a sum of rules of 20 points
  local p = peri.Truncated(peri.Normal(-0.791, 1.86), -4.35)
  local q = peri.MixtureDistribution(peri.Categorical { 0.462, 0.939 },
                                     { peri.Truncated(peri.InverseGamma(3.5, 2.2), 0.354), peri.Beta(5.66, 0.836) })
  local value, error = peri.js_divergence(p, q)
  assert.near(0.455714, value, 1e-6)
  assert.is_true(error < 1e-9)
end)
