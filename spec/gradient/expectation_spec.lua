-- Gradients of what is an integral over a law: expectations, moments, entropies, divergences, distances. They are
-- slopes of the values, also where f jumps, where densities are singular, and where ends move.
local peri = require "perilune"

local Normal, Uniform, Laplace, Gamma, Beta = peri.Normal, peri.Uniform, peri.Laplace, peri.Gamma, peri.Beta
local Truncated, Censored, stack, transforms = peri.Truncated, peri.Censored, peri.stack, peri.transforms

local function jumping (at, f)
  return function (x) return peri.where(peri.gt(x, at), f(x), 0) end
end

local function identity (x) return x end
local function inverse (x) return 1 / x end
local function folded (d) return peri.TransformedDistribution(d, { transforms.Abs() }) end
local function through (d, ...) return peri.TransformedDistribution(d, { ... }) end
local function mixed (...) return peri.MixtureDistribution(peri.Categorical { 0.3, 0.7 }, { ... }) end
local function weighed (a, ...) return peri.MixtureDistribution(peri.Categorical(stack { a, 1 }), { ... }) end
local function pair (a, b) return peri.MixtureSameFamily(peri.Categorical { 0.3, 0.7 }, Normal(stack { a, b }, 1)) end
local function first (f) return function (a) return (f(a)) end end

-- Functions of a parameter, and where.
local CASES = {
  ["jumps of f"] = {
    { function (a) return Normal(a, 1):expectation(jumping(1, identity)) end, 0.1 },
    { function (a) return Normal(a, 1):expectation(jumping(1, identity), { points = { 1 } }) end, 0.1 },
    { function (a) return Normal(peri.tensor(0.3), 1):expectation(jumping(a, identity), { points = { a } }) end, 0.5 },
    { function (a) return Gamma(a, 1):expectation(jumping(2, inverse), { points = { 2, 2 } }) end, 2.1 },
    { function (a) return Uniform(0, a):expectation(jumping(1, inverse), { points = { 1 } }) end, 2.1 },
    { function (a) return Truncated(Normal(a, 1), -1, 3):expectation(jumping(1, identity)) end, 0.1 },
    { function (a) return pair(a, a + 1):expectation(jumping(1, identity)) end, 0.1 },
    { function (a) return folded(Normal(a, 1)):expectation(jumping(2, inverse)) end, 0.2 },
    { function (a)
        return peri.TransformedDistribution(Normal(a, 1), { transforms.Exp() }):expectation(jumping(2, inverse))
      end, 0.1 },
  },
  ["divergences of laws with other ends"] = {
    { function (a) return peri.renyi_divergence(Normal(a, 1), peri.HalfNormal(1), 0.5) end, 0.1 },
    { function (a) return peri.renyi_divergence(Uniform(0, 2), Uniform(0, a), 0.5) end, 1 },
    { function (a) return peri.renyi_divergence(Normal(a, 1), Gamma(0.5, 1.5), 0.7) end, 1.3 },
    { function (a) return peri.renyi_divergence(peri.AsymmetricLaplace(0.2, a, 0.8), Gamma(2, 1.5), 0.7) end, 1.3 },
    { function (a) return peri.js_divergence(Uniform(0, a), Uniform(0, 2)) end, 1 },
    { function (a) return peri.js_divergence(Uniform(0, 1), Uniform(0, a)) end, 2 },
    { function (a) return peri.js_divergence(Normal(a, 1), peri.HalfNormal(1)) end, 0.1 },
    { function (a) return peri.js_divergence(pair(a, a + 1), peri.Exponential(1)) end, 0.2 },
    { function (a) return peri.js_divergence(Truncated(Normal(0, 1), -1, a), Normal(0, 1)) end, 0.2 },
    { function (a) return peri.js_divergence(Truncated(Normal(a, 1), -1, 1), Truncated(Laplace(0, 1), 0, 2)) end, 0.2 },
    { function (a) return peri.kl_divergence(mixed(Uniform(0, a), Normal(0, 1)), Normal(0, 2)) end, 1.3 },
    { function (a) return peri.kl_divergence(Normal(0, 2), mixed(Uniform(0, a), Normal(0, 1))) end, 1.3 },
    { function (a) return peri.kl_divergence(peri.VonMises(a, 2), Normal(1.27, 0.46)) end, 0.3 },
    { function (a) return peri.wasserstein(peri.VonMises(a, 0.47), Normal(1.27, 0.46)) end, -1.84 },
  },
  ["singular ends"] = {
    { function (a) return Beta(a, 3):expectation(peri.log) end, 0.3 },
    { function (a) return peri.js_divergence(Beta(a, 3), peri.Kumaraswamy(0.8, 0.52)) end, 0.3 },
  },
  ["moments and entropies of laws made of others"] = {
    { function (a) return Truncated(peri.StudentT(3, a, 1), 0, math.huge):mean() end, 0.1 },
    { function (a) return Truncated(peri.LogNormal(a, 1), 1, math.huge):mean() end, 0.1 },
    { function (a) return Truncated(Gamma(a, 1), 0, 1):mean() end, 0.5 },
    { function (a) return Truncated(peri.Weibull(1, a), 0, 1):entropy() end, 0.8 },
    { function (a) return Truncated(Laplace(0, 2), -1, a):variance() end, 0.7 },
    { function (a) return Truncated(mixed(Uniform(0, a), Normal(0, 1)), -1, 3):entropy() end, 1.3 },
    { function (a) return Censored(Normal(0, 1), -1, a):entropy() end, 1 },
    { function (a) return Censored(Normal(0.3, a), -1, 1.5):entropy() end, 1.2 },
    { function (a)
        return peri.kl_divergence(Censored(Normal(a, 1), -1, 1.5), Censored(Normal(0, 2), -1, 1.5))
      end, 0.3 },
    { function (a) return mixed(Uniform(0, a), Normal(0, 1)):entropy() end, 1.3 },
    { function (a) return mixed(Normal(0, 5), peri.VonMises(a, 1)):entropy() end, 0.3 },
    { function (a) return folded(Uniform(-1, a)):entropy() end, 1.3 },
    { function (a) return Truncated(through(peri.StudentT(5, 0.7), transforms.Softplus()), -math.huge, a):entropy() end,
      3.32 },   -- quantiles that are rounded to an end have no slopes
    { function (a) return Truncated(mixed(Normal(-2, 1), peri.Weibull(0.708, 0.903)), a):entropy() end, -3.59 },
    { function (a) return Truncated(mixed(Normal(a, 1), peri.Weibull(0.708, 0.903)), peri.param(-3.59)):entropy() end,
      -2 },     -- the density has a pole
  },
  ["jumps of densities where others have their mode"] = {
    { function (a)
        return peri.kl_divergence(Normal(0.2, 1.3), mixed(Truncated(Normal(0, 1), a, 3), Normal(0, 2)))
      end, 0.4 },
    { function (a) return peri.kl_divergence(Normal(0.2, 1.3), mixed(peri.Exponential(1) + a, Normal(0, 2))) end, 0.4 },
    { function (a)
        return peri.cross_entropy(Normal(0.2, 2), mixed(Truncated(Normal(0, 1), a), Normal(0, 3)))
      end, 0.4 },
    { function (a) return peri.js_divergence(Truncated(Normal(0, 1), a), Normal(0.2, 2)) end, 0.3 },
    { function (a) return peri.js_divergence(Truncated(peri.Exponential(1), a), Normal(0.2, 2)) end, 0.3 },
    { function (a) return peri.js_divergence(Censored(peri.Exponential(0.4), a), Normal(0.2, 2)) end, 1.6 },
    { function (a)
        return peri.js_divergence(through(Truncated(Gamma(2, 1), -math.huge, a), transforms.Tanh()), Normal(0.2, 2))
      end, 2.09 },
    { function (a) return peri.renyi_divergence(Normal(0.2, 2), Truncated(Normal(0, 1), a), 0.5) end, 0.3 },
  },
  ["transforms"] = {
    { function (a) return peri.kl_divergence(through(Beta(2, 3), transforms.Affine(1, a)), Normal(0.2, 4)) end, 2 },
    { function (a) return peri.js_divergence(through(Beta(2, 3), transforms.Affine(1, a)), Normal(0.2, 4)) end, 2 },
    { function (a)
        return through(peri.Exponential(0.418), transforms.Power(a)):expectation(jumping(0.3, identity),
                                                                                  { points = { 0.3 } })
      end, 1.03 },
    { function (a) return folded(Normal(a, 1)):cdf(0.01) end, 0.5 },
    { function (a) return folded(Laplace(a, 2.88)):log_cdf(0.06) end, 1.5 },
    { function (a) return folded(Normal(a, 1)):icdf(0.01) end, 0.5 },
    { function (a) return folded(mixed(Normal(a, 1), Beta(0.5, 1))):icdf(0.03) end, -0.35 },
    { function (a) return Truncated(folded(Laplace(a, 2.88)), 0.0591, 9.91):cdf(0.4) end, 1.5 },
    { function (a)
        return peri.wasserstein(folded(Truncated(peri.LogNormal(-0.07, 0.66), -math.huge, a)), Normal(0.2, 1.3))
      end, 2.09 },
  },
  ["tails of components that weigh more or less"] = {
    { function (a) return peri.wasserstein(weighed(a, Normal(0, 1), peri.StudentT(4, 1, 0.4)), Normal(0.2, 1.3)) end,
      0.9 },
    { function (a) return weighed(a, Normal(0, 1), peri.StudentT(4, 1, 0.4)):icdf(1e-250) end, 0.9 },
  },
  ["f alone, of a law of numbers"] = {
    { function (a) return Normal(0, 1):expectation(function (x) return peri.exp(a * x) end) end, 0.4 },
  },
}

for _, a in ipairs { 0.3, 0.5, 0.8, 0.9, 1, 1.5 } do
  local list = CASES["singular ends"]
  list[#list + 1] = { function (s) return peri.kl_divergence(Gamma(s, 1), peri.Cauchy(0, 1)) end, a }
  list[#list + 1] = { function (s) return peri.kl_divergence(Beta(s, 3), peri.Cauchy(0, 1)) end, a }
  list[#list + 1] = { function (s) return peri.kl_divergence(peri.Weibull(1, s), peri.Cauchy(0, 1)) end, a }
end

-- Of sixth order.
local function slope (f, a)
  local function at (k) return peri.item(f(a + k * 1e-3 * math.abs(a))) end
  return (45 * (at(1) - at(-1)) - 9 * (at(2) - at(-2)) + at(3) - at(-3)) / (60 * 1e-3 * math.abs(a))
end

-- Laws that others are made of.
local function shifted (a) return mixed(mixed(peri.Exponential(1) + a, Normal(0, 1)), Normal(0, 2)) end
local function within (a) return Censored(mixed(Uniform(a, 3), Normal(1, 2)), 0.2) end
local function inner (a) return mixed(weighed(a, Normal(0, 1), Normal(3, 1)), Normal(1, 2)) end

CASES["jumps within laws that others are made of"] = {
  { function (a) return peri.cross_entropy(Normal(0, 1), shifted(a)) end, 0.3 },
  { function (a) return peri.js_divergence(Normal(0, 1), shifted(a)) end, 0.3 },
  { function (a) return shifted(a):entropy() end, -1.72 },
  { function (a) return mixed(Truncated(mixed(Uniform(a, 3), Normal(0, 1)), -1), Normal(0, 2)):entropy() end, 0.3 },
  { function (a)
      return mixed(through(mixed(Uniform(a, 3), Normal(0, 1)), transforms.Tanh()), Normal(0, 1)):entropy()
    end, 0.3 },
  { function (a) return mixed(folded(Uniform(a, 3)), Normal(0, 1)):entropy() end, -0.3 },
  { function (a) return Censored(folded(Uniform(a, 3)), 0.1, 2):entropy() end, -0.3 },
  { function (a) return within(a):entropy() end, 0.5 },
  { function (a) return peri.kl_divergence(Censored(Normal(0, 1), 0.2), within(a)) end, 0.5 },
  { function (a) return peri.kl_divergence(within(a), Censored(Normal(0, 1), 0.2)) end, 0.5 },
}
CASES["ends of searched quantiles that move"] = {
  { function (a) return mixed(Uniform(a, 3), Uniform(a, 2)):icdf(peri.tensor { 0, 0.5 }):sum() end, 0.3 },
  { function (a) return mixed(Uniform(0, a), Uniform(0, 2)):isf(peri.tensor { 0, 0.5 }):sum() end, 3.3 },
  { function (a) return folded(Uniform(-1, a)):isf(0) end, 1.3 },
  { function (a) return folded(Uniform(-1, a)):icdf(peri.tensor { 1, 0.5 }):sum() end, 1.3 },
  { function (a) return folded(mixed(Uniform(-1, a), Uniform(-1, 0))):isf(peri.tensor { 0, 0.2 }):sum() end, 1.3 },
}
CASES["weights of inner mixtures"] = {
  { function (a) return inner(a):icdf(0.3) end, 0.4 },
  { function (a) return inner(a):median() end, 0.4 },
  { function (a) return through(inner(a), transforms.Exp()):icdf(0.3) end, 0.4 },
  { function (a) return Truncated(inner(a), 0):icdf(0.3) end, 0.4 },
}

it("a pole that moves has no gradient, and says so", function ()
  for _, shape in ipairs { 0.3, 0.5, 0.8, 1.1 } do
    local a = peri.param(-0.5)
    assert.has_error(function () peri.js_divergence(Normal(0, 1), Gamma(shape, 1) + a) end,
                     "expectation: has no gradient here: f has a pole that moves, as logarithms of densities have "
                     .. "where these begin with one; peri.no_grad gives the value alone")
    assert.is_true(peri.no_grad(peri.js_divergence, Normal(0, 1), Gamma(shape, 1) + a) > 0)
  end
end)

describe("gradients are slopes of values:", function ()
  for name, cases in pairs(CASES) do
    it(name, function ()
      for i, case in ipairs(cases) do
        local f, a = first(case[1]), peri.param(case[2])
        local value = f(a)
        assert.near(peri.item(f(case[2])), peri.item(value), 1e-12 * math.abs(peri.item(value)))
        value:backward()
        local expected = slope(f, case[2])
        assert(math.abs(peri.item(a.grad) - expected) <= 1e-6 * math.max(math.abs(expected), 0.01),
               ("%s, case %d: gradient %.12g, slope %.12g"):format(name, i, peri.item(a.grad), expected))
      end
    end)
  end
end)
