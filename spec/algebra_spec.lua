--- Distributions as random variables: affine maps, sums, equality.
local peri = require "perilune"

local function message (fn)
  local ok, text = pcall(fn)
  assert.is_false(ok, "an error was expected")
  return text
end

-- One law of each family that has maps of its own.
local laws = {
  peri.Normal(1, 2), peri.Cauchy(1, 2), peri.Laplace(1, 2), peri.Logistic(1, 2), peri.Gumbel(1, 2),
  peri.StudentT(5, 1, 2), peri.GeneralizedNormal(1, 2, 3), peri.SkewNormal(1, 2, -3), peri.AsymmetricLaplace(1, 2, 3),
  peri.GeneralizedPareto(1, 2, 0.3), peri.Uniform(-1, 2), peri.Triangular(-1, 2, 1), peri.TruncatedNormal(0, 1, -1, 2),
  peri.HalfNormal(2), peri.HalfCauchy(2), peri.Rayleigh(2), peri.Maxwell(2), peri.Exponential(3), peri.Gamma(3, 2),
  peri.InverseGamma(3, 2), peri.Weibull(2, 3), peri.Frechet(2, 3), peri.Pareto(2, 3), peri.LogNormal(0.5, 1),
  peri.LogUniform(2, 5), peri.InverseGaussian(2, 3), peri.Beta(2, 3), peri.VonMises(0, 1), peri.Burr(2, 3, 4),
  peri.ExGaussian(1, 2, 0.5), peri.GeneralizedExtremeValue(1, 2, 0.3), peri.Gompertz(0.5, 2),
  peri.JohnsonSU(0.5, 2, 1, 3), peri.NormalInverseGaussian(2, -1, 1, 3), peri.Rice(2, 1.5),
  peri.NoncentralT(5, 2, 1, 3),
}

local function close (a, b, tolerance)
  return a == b or a ~= a and b ~= b or math.abs(a - b) <= tolerance * math.max(math.abs(a), math.abs(b), 1e-300)
end

local function check_map (d, y, loc, scale)
  for _, p in ipairs { 0.05, 0.5, 0.8 } do
    local x = d:icdf(p)
    local z = loc + scale * x
    local text = tostring(d) .. " -> " .. tostring(y)
    assert(math.abs(y:prob(z) * math.abs(scale) / d:prob(x) - 1) < 1e-12, text)
    assert(close(scale > 0 and y:cdf(z) or y:sf(z), p, 1e-13), text)
  end
end

describe("affine maps", function ()
  it("have the law of the mapped variable", function ()
    for _, d in ipairs(laws) do
      check_map(d, 2.5 * d, 0, 2.5)
      check_map(d, d / 4, 0, 0.25)
      check_map(d, d + 3, 3, 1)
      check_map(d, 3 + d, 3, 1)
      check_map(d, 1 - 2 * d, 1, -2)
      check_map(d, -d, 0, -1)
      check_map(d, 3 * (d * 2 + 1) - 4, -1, 6)
    end
  end)

  it("are looked at for every class that says what they are", function ()
    local is_here = {}
    for _, d in ipairs(laws) do is_here[getmetatable(d)] = true end
    for _, name in ipairs(peri.distributions()) do
      local c = peri[name]
      if rawget(c, "affine") then assert(is_here[c], name .. " is not among the laws of this spec") end
    end
  end)

  it("stay in the family where that is closed", function ()
    local is = {
      { 2 * peri.Normal(0, 1) + 1, peri.Normal(1, 2) }, { -peri.Cauchy(1, 2), peri.Cauchy(-1, 2) },
      { 3 * peri.Gamma(2, 6), peri.Gamma(2, 2) }, { 1 - peri.Uniform(0, 3), peri.Uniform(-2, 1) },
      { 2 * peri.LogNormal(0, 1), peri.LogNormal(math.log(2), 1) }, { peri.Delta(2) * 3 + 1, peri.Delta(7) },
      { -peri.SkewNormal(0, 1, 4), peri.SkewNormal(0, 1, -4) },
      { peri.Normal(0, 1) * { 1, -2 }, peri.Normal({ 0, 0 }, { 1, 2 }) },
      { 2 * peri.Burr(2, 3, 4), peri.Burr(2, 3, 8) }, { 2 * peri.Rice(2, 1.5), peri.Rice(4, 3) },
      { 1 + 2 * peri.ExGaussian(1, 2, 0.5), peri.ExGaussian(3, 4, 0.25) },
      { 1 + 2 * peri.GeneralizedExtremeValue(1, 2, 0.5), peri.GeneralizedExtremeValue(3, 4, 0.5) },
      { 2 * peri.Gompertz(0.5, 2), peri.Gompertz(0.5, 1) },
      { 1 - 2 * peri.JohnsonSU(0.5, 2, 1, 3), peri.JohnsonSU(-0.5, 2, -1, 6) },
    }
    for _, pair in ipairs(is) do assert.equal(tostring(pair[2]), tostring(pair[1])) end
  end)

  it("have tensors on either side", function ()
    local t = peri.tensor { 1, -2 }
    for _, d in ipairs { peri.Normal(3, 1), peri.Gamma(2, 1) } do
      assert.equal(tostring(d * t), tostring(t * d))
      assert.equal(tostring(d + t), tostring(t + d))
      assert.equal(tostring(-d + t), tostring(t - d))
      assert.matches("only a distribution divided by numbers is one", message(function () return t / d end))
    end
    local slope = peri.grad(function (c) return (c * peri.Normal(0, 1)):log_prob(3.0):sum() end)(peri.tensor { 2, 4 })
    assert.near(-1 / 2 + 9 / 8, slope[1], 1e-15)
    assert.same({ 2, -4 }, (t * { 2, 2 }):totable())
    assert.matches("y must be a number, a table of numbers or a tensor", message(function () return t * "a" end))
  end)

  it("have objects with operators of their own on the right of tensors", function ()
    local odd = setmetatable({}, { __mul = function (a, b) return { a:sum(), type(b) } end })
    assert.same({ 3, "table" }, peri.tensor { 1, 2 } * odd)
    assert.is_false((pcall(function () return peri.tensor { 1, 2 } + odd end)))
  end)

  it("of other laws are one transform, however many there were", function ()
    local d = 2 * (peri.Gamma(2, 1) + 1) * 3
    assert.equal("TransformedDistribution(Gamma(concentration=2, rate=1), [Affine(loc=6, scale=6)])", tostring(d))
    assert.matches("^TransformedDistribution%(Gamma", tostring(-peri.Gamma(2, 1)))
  end)

  it("of laws on the integers have mass at other points", function ()
    local d = 2 * peri.Poisson(3) + 1
    assert.equal(peri.Poisson(3):prob(4), d:prob(9))
    assert.equal(0.0, d:prob(4))
    assert.equal(7.0, d:mean())
  end)

  it("leave subclasses, whose density may differ, alone", function ()
    local My = peri.Normal:extend("My")
    assert.matches("^TransformedDistribution%(My", tostring(2 * My(0, 1)))
  end)

  it("are differentiable", function ()
    local slope = peri.grad(function (c) return (peri.Gamma(2, 1) * c):log_prob(3) end)(2.0)
    assert.is_true(math.abs(slope - (-2 / 2 + 3 / 4)) < 1e-14)
  end)

  it("refuse factors and operands that make no law", function ()
    local d = peri.Gamma(2, 1)
    assert.matches("Gamma times 0: the factor must be finite and not 0", message(function () return 0 * d end))
    assert.matches('not with the string "x"', message(function () return d * "x" end))
    assert.matches("only a distribution divided by numbers", message(function () return 1 / d end))
    assert.matches("Gamma %* Normal: the law of a product", message(function () return d * peri.Normal(0, 1) end))
  end)
end)

describe("sums and differences", function ()
  local cases = {
    { peri.Normal(1, 3), "+", peri.Normal(2, 4), peri.Normal(3, 5) },
    { peri.Normal(1, 3), "-", peri.Normal(2, 4), peri.Normal(-1, 5) },
    { peri.Cauchy(1, 3), "+", peri.Cauchy(2, 4), peri.Cauchy(3, 7) },
    { peri.Cauchy(1, 3), "-", peri.Cauchy(2, 4), peri.Cauchy(-1, 7) },
    { peri.Poisson(1), "+", peri.Poisson(2.5), peri.Poisson(3.5) },
    { peri.Gamma(1, 3), "+", peri.Gamma(2.5, 3), peri.Gamma(3.5, 3) },
    { peri.Exponential(3), "+", peri.Exponential(3), peri.Gamma(2, 3) },
    { peri.Gamma(4, 3), "+", peri.Exponential(3), peri.Gamma(5, 3) },
    { peri.Chi2(4), "+", peri.Chi2(3), peri.Chi2(7) },
    { peri.Chi2(4), "+", peri.Gamma(3, 0.5), peri.Gamma(5.0, 0.5) },
    { peri.Binomial(4, 0.3), "+", peri.Binomial(3, 0.3), peri.Binomial(7, 0.3) },
    { peri.Binomial(4, 0.3), "+", peri.Bernoulli(0.3), peri.Binomial(5, 0.3) },
    { peri.Binomial { total_count = 4, logits = 0.5 }, "+", peri.Binomial { total_count = 3, logits = 0.5 },
      peri.Binomial { total_count = 7, logits = 0.5 } },
    { peri.Bernoulli(0.3), "+", peri.Bernoulli(0.3), peri.Binomial(2, 0.3) },
    { peri.NegativeBinomial(4, 0.3), "+", peri.NegativeBinomial(3.5, 0.3), peri.NegativeBinomial(7.5, 0.3) },
    { peri.InverseGaussian(1, 2), "+", peri.InverseGaussian(2, 8), peri.InverseGaussian(3, 18.0) },
    { peri.Gumbel(3, 2), "-", peri.Gumbel(1, 2), peri.Logistic(2, 2) },
    { peri.Poisson(3), "-", peri.Poisson(2), peri.Skellam(3, 2) },
    { peri.Normal(1, 2), "+", peri.Exponential(3), peri.ExGaussian(1, 2, 3) },
    { peri.ExGaussian(1, 3, 2), "+", peri.Normal(1, 4), peri.ExGaussian(2, 5, 2) },
    { peri.Delta(3), "+", peri.Normal(1, 2), peri.Normal(4, 2) },
    { peri.Delta(3), "-", peri.Normal(1, 2), peri.Normal(2, 2) },
    { peri.Normal(1, 2), "-", peri.Delta(3), peri.Normal(-2, 2) },
  }

  it("are members of a family where that is closed", function ()
    for _, case in ipairs(cases) do
      local a, b = case[1], case[3]
      local law = case[2] == "+" and a + b or case[2] == "-" and a - b
      assert.equal(tostring(case[4]), tostring(law))
    end
  end)

  it("have the law of draws added or subtracted", function ()
    local ks = require "spec.support.statistics".ks
    for i, case in ipairs {
      { peri.Exponential(2), peri.Exponential(3), -1 }, { peri.Gumbel(3, 2), peri.Gumbel(1, 2), -1 },
      { peri.InverseGaussian(1, 2), peri.InverseGaussian(2, 8), 1 }, { peri.Normal(1, 3), peri.Normal(2, 4), -1 },
    } do
      local a, b, sign = table.unpack(case)
      local rng = peri.rng(i)
      local draws, law = a:sample(100000, rng) + sign * b:sample(100000, rng), sign > 0 and a + b or a - b
      assert.is_true((ks(draws, function (x) return law:cdf(x) end)), tostring(law))
    end
  end)

  it("of two Geometric laws count failures before the second success", function ()
    local d, one = peri.Geometric(0.3) + peri.Geometric(0.3), peri.Geometric(0.3)
    for k = 0, 6 do
      local sum = 0
      for j = 0, k do sum = sum + one:prob(j) * one:prob(k - j) end
      assert.is_true(close(sum, d:prob(k), 1e-14))
    end
  end)

  it("of vectors add covariances", function ()
    local d = peri.MultivariateNormal({ 1, 2 }, { { 2, 1 }, { 1, 3 } }) + peri.MultivariateNormal({ 1, 1 }, peri.eye(2))
    assert.is_true(d:mean():equal(peri.tensor { 2, 3 }))
    assert.is_true(d.covariance_matrix:allclose(peri.tensor { { 3, 1 }, { 1, 4 } }, 1e-14))
  end)

  it("say why there is none", function ()
    local function sum (a, b) return message(function () return a + b end) end
    assert.matches("Gamma %+ Gamma: there is no closed form unless both have the same rate",
                   sum(peri.Gamma(1, 2), peri.Gamma(1, 3)))
    assert.matches("Binomial %+ Binomial: .* same probs", sum(peri.Binomial(1, 0.2), peri.Binomial(1, 0.3)))
    assert.matches("Gamma %+ Normal: the law of the sum has no closed form", sum(peri.Gamma(1, 2), peri.Normal(1, 3)))
    assert.matches("Gamma %- Gamma: the law of the difference has no closed form",
                   message(function () return peri.Gamma(1, 2) - peri.Gamma(1, 2) end))
  end)
end)

describe("equality", function ()
  it("is that of classes and parameters", function ()
    assert.is_true(peri.Gamma(3, 2) == peri.Gamma(3, 2))
    assert.is_true(peri.Gamma({ 3, 4 }, 2) == peri.Gamma({ 3, 4 }, 2))
    assert.is_true(peri.Truncated(peri.Normal(0, 1), 0, 3) == peri.Truncated(peri.Normal(0, 1), 0, 3))
    assert.is_true(peri.Gamma(3, 2) + 1 == peri.Gamma(3, 2) + 1)
    assert.is_true(peri.Bernoulli(0.5) == peri.Bernoulli { logits = 0 })
  end)

  it("tells others apart", function ()
    assert.is_false(peri.Gamma(3, 2) == peri.Gamma(3, 2.5))
    assert.is_false(peri.Gamma(3, 2) == peri.Weibull(3, 2))
    assert.is_false(peri.Gamma({ 3, 3 }, 2) == peri.Gamma(3, 2))
    assert.is_false(peri.Gamma(3, 2) + 1 == peri.Gamma(3, 2) + 2)
    assert.is_false(peri.Truncated(peri.Normal(0, 1), 0, 3) == peri.Truncated(peri.Normal(0, 1), 0, 4))
    assert.is_false(peri.Normal(0, 1) == peri.Normal:extend("My")(0, 1))
    assert.is_false(peri.Normal(0, 1) == 3)
  end)
end)
