local peri       = require "perilune"
local statistics = require "spec.support.statistics"

local Censored, Normal = peri.Censored, peri.Normal

describe("Censored", function ()
  it("has masses at its ends and the density of its base between", function ()
    local d, base = Censored(Normal(0, 1), -1, 2), Normal(0, 1)
    assert.equal(base:log_cdf(-1), d:log_prob(-1))
    assert.equal(base:log_sf(2), d:log_prob(2))
    assert.equal(base:log_prob(0.3), d:log_prob(0.3))
    assert.equal(-math.huge, d:log_prob(-1.5))
    assert.equal(-math.huge, d:log_prob(2.5))
    assert.equal(base:cdf(-1), d:cdf(-1))
    assert.equal(1.0, d:cdf(2))
    local x = d:log_prob(0 / 0)
    assert.is_true(x ~= x)
  end)

  it("of outcomes sums to 1", function ()
    local d = Censored(peri.Poisson(3), 1, 5)
    assert.near(1, d:prob(peri.arange(0, 8)):sum(), 1e-15)
    assert.near(peri.Poisson(3):sf(4), d:prob(5), 1e-16)
  end)

  it("draws from its own law", function ()
    local d = Censored(Normal(0, 1), -1, 2)
    local x = d:sample(100000, peri.rng(3))
    local fine, z = statistics.mean(x, d:mean(), d:variance())
    assert(fine, z)
    assert.near(d:prob(-1), x:eq(-1):mean(), 0.005)
    assert.near(d:prob(2), x:eq(2):mean(), 0.003)
    assert.equal(-1, x:min())
    assert.equal(2, x:max())
    assert.is_true((statistics.chi_square(Censored(peri.Poisson(3), 1, 5):sample(100000, peri.rng(1)),
                                          Censored(peri.Poisson(3), 1, 5))))
  end)

  it("has the gradients of a likelihood with censored data", function ()
    local data = peri.tensor { -1, 0.3, 2, 1.1 }
    local function loss (loc) return Censored(Normal(loc, 1), -1, 2):log_prob(data):sum() end
    local slope = require "spec.support.slopes".derivative(function (t) return peri.item(loss(t)) end, 0.2, 0.1)
    assert.near(slope, peri.grad(loss)(0.2), 1e-9)
    local rng = peri.rng(4)
    local moved = peri.grad(function (loc) return Censored(Normal(loc, 1), -1, 2):rsample(1000, rng):mean() end)(0.0)
    assert.near(0.82, moved, 0.05)   -- P(-1 < X < 2)
  end)

  it("broadcasts, and expands", function ()
    local d = Censored(Normal({ 0, 1 }, 1), { { -1 }, { 0 } }, 2)
    assert.same({ 2, 2 }, d.batch_shape)
    assert.equal(Censored(Normal(1, 1), 0, 2):log_prob(0), d:log_prob(0):at(2, 2))
    assert.same({ 3, 2, 2 }, d:expand { 3, 2, 2 }:mean().shape)
    assert.is_true(Censored(Normal(0, 1), 0) == Censored(Normal(0, 1), 0))
  end)

  it("diverges by masses and density together", function ()
    local p, q = Censored(Normal(0, 1), -1, 2), Censored(Normal(0.5, 1.5), -1, 2)
    local function part (x) return p:prob(x) * (p:log_prob(x) - q:log_prob(x)) end
    local between = peri.Truncated(Normal(0, 1), -1, 2)
    local mass = 1 - p:prob(-1) - p:prob(2)
    local inner = between:expectation(function (x) return p:log_prob(x) - q:log_prob(x) end)
    local value, error = part(-1) + part(2) + mass * inner, peri.kl_explain(p, q).error
    assert.near(value, peri.kl_divergence(p, q), 1e-12)
    assert.is_true(error < 1e-10)
    assert.equal(math.huge, peri.kl_divergence(p, Normal(0, 1)))
    assert.equal(math.huge, peri.kl_divergence(p, Censored(Normal(0, 1), -1, 3)))
    assert.equal(0, peri.kl_divergence(p, p))
  end)

  it("refuses what is no interval or has no single numbers", function ()
    local function message (...)
      local ok, text = pcall(Censored, ...)
      assert.is_false(ok)
      return text
    end
    assert.matches("Censored: high must be greater than 2, got 1", message(Normal(0, 1), 2, 1))
    assert.matches("Censored: base must be a distribution, got 3", message(3))
    assert.matches("Censored: base must be a distribution of single numbers", message(peri.Dirichlet { 1, 1 }))
    assert.matches("Censored: low must be a real number, got nan", message(Normal(0, 1), 0 / 0))
  end)

  it("explains itself", function ()
    local help = Censored.help
    assert.near(help.example[2], load("local peri = ...; return peri." .. help.example[1])(peri), 1e-14)
  end)
end)

it("Censored has no rsample where its base has none", function ()
  local d = peri.Censored(peri.Poisson(3), 1, 4)
  assert.is_false(d.has_rsample)
  assert.equal("Censored has no rsample: Poisson(rate=3) has none", require "spec.support.refusal"(d.rsample, d))
end)

it("Censored has all of its mass at one end if the base lies beyond it", function ()
  local d = peri.Censored(peri.Uniform(0, 1), 3, 10)
  assert.same({ 3, 3 }, { d.support.low, d.support.high })
  assert.same({ 0, 1, 3, 3 }, { d:cdf(2.9), d:cdf(3), d:mean(), d:icdf(0.5) })
  local turned = peri.TransformedDistribution(d, { peri.transforms.Affine(3, -0.5) })
  assert.same({ 0, 1, 1.5 }, { turned:cdf(1.49), turned:cdf(1.5), turned:mean() })
  local twice = peri.Censored(peri.Censored(peri.Uniform(-3, -2), 0.1, math.huge), -math.huge, 0.1)
  assert.same({ 0, 1, 1 }, { twice:cdf(0.09), twice:cdf(0.1), twice:prob(0.1) })
end)

it("Censored sees integers of integers", function ()
  assert.equal("Censored: low must be an integer where outcomes are, got 0.1",
               require "spec.support.refusal"(peri.Censored, peri.Poisson(3), 0.1, 4))
end)

it("Censored has a mean to the digits of its spread", function ()
  local d = peri.Censored(peri.Rice(468913.67, 0.00826), 0, math.huge)
  assert.near(468913.67, d:mean(), 1e-9)
  assert.near(0.00826, d:stddev(), 1e-9)
end)

it("A class that descends from Censored has its points of mass", function ()
  local own = peri.Censored:extend("Own")(peri.Normal(0, 1), -1, 1)
  local turned = peri.TransformedDistribution(own, { peri.transforms.Affine(0, -1) })
  assert.equal(1, turned:cdf(1))
  assert.near(peri.special.ndtr(-1), turned:cdf(-1), 1e-15)
end)

describe("Slopes of what is Censored", function ()
  local laws = {
    function (a) return Censored(Normal(0, 1), -1, a) end,
    function (a) return Censored(Normal(0, 1), -a, 2) end,
    function (a) return Censored(Normal(0.3, a), -1, 1.5) end,
    function (a) return Censored(peri.Gamma(a, 1), 1, math.huge) end,
    function (a) return Censored(peri.Poisson(a), 1, 4) end,
    function (a) return Censored(peri.MixtureSameFamily(peri.Categorical { 0.3, 0.7 }, Normal({ 0, 1 }, a)), -1, 2) end,
    function (a) return Censored(Normal({ 0, 1 }, a), { -1, -math.huge }, peri.tensor { 1.5, 1 } * a) end,
    function (a) return Censored(Censored(Normal(a, 1), -1, 2), -3, 1) end,
    function (a) return Censored(Censored(Normal(a, 1), -1, 2), -1, 1) end,
    function (a) return 2 * Censored(Normal(a, 1), -1, 1.5) + 1 end,
  }

  local function summed (x) return type(x) == "number" and x or x:sum() end

  local function check (value, text)
    local a = peri.param(1.2)
    local function total (x) return peri.item(summed(value(x))) end
    summed(value(a)):backward()
    local slope = (8 * (total(1.201) - total(1.199)) - (total(1.202) - total(1.198))) / 12e-3
    assert.near(slope, a.grad, 1e-7 * (1 + math.abs(slope)), text)
  end

  it("count the mass that comes to an end", function ()
    for i, law in ipairs(laws) do check(function (a) return law(a):entropy() end, "entropy " .. i) end
    local q = Censored(Normal(0, 2), -1, 1.5)
    check(function (a) return peri.kl_divergence(Censored(Normal(a, 1), -1, 1.5), q) end, "kl_divergence")
    check(function (a) return peri.kl_divergence(q, Censored(Normal(a, 1), -1, 1.5)) end, "kl_divergence of q")
    check(function (a) return (peri.js_divergence(Censored(Normal(a, 1), -1, 1.5), q)) end, "js_divergence")
    check(function (a) return (peri.cross_entropy(Censored(Normal(a, 1), -1, 1.5), q)) end, "cross_entropy")
    check(function (a)
      return (Censored(Normal(a, 1), -1, 1):expectation(function (x) return peri.where(x:lt(1), 0, x + 2) end))
    end, "a step")
  end)

  it("are as before where nothing jumps", function ()
    for i, law in ipairs(laws) do
      check(function (a) return law(a):mean() end, "mean " .. i)
      check(function (a) return law(a):variance() end, "variance " .. i)
    end
  end)
end)
