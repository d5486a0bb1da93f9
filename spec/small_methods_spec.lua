--- Other names of methods, higher moments, quantiles of logarithms.
local peri = require "perilune"

local function near (expected, got, tolerance, text)
  assert(expected == got or math.abs(got - expected) <= tolerance * math.abs(expected),
         string.format("%s: expected %.17g, got %.17g", text or "", expected, got))
end

describe("other names", function ()
  it("are the same", function ()
    for _, d in ipairs { peri.Gamma(3, 2), peri.Poisson(4), peri.Truncated(peri.Normal(0, 1), 0, 3) } do
      assert.equal(d:prob(2), d:pdf(2))
      assert.equal(d:stddev(), d:std())
      assert.equal(d:variance(), d:var())
      assert.equal(peri.kl_divergence(d, d), d:kl(d))
    end
    assert.equal(0.5, peri.Normal(0, 1):kl(peri.Normal(1, 1)))
  end)

  it("count their arguments", function ()
    local d = peri.Normal(0, 1)
    assert.has_error(function () d:pdf(1, 2) end)
    assert.has_error(function () d:skewness(1) end)
  end)
end)

describe("skewness and kurtosis", function ()
  local laws = {
    peri.Normal(1, 2), peri.HalfNormal(3), peri.Uniform(1, 4), peri.Laplace(1, 2), peri.Logistic(1, 2),
    peri.Gumbel(1, 2), peri.Exponential(4), peri.Rayleigh(2), peri.Maxwell(2), peri.Gamma(0.3, 2), peri.Chi2(5),
    peri.Poisson(2.5), peri.InverseGaussian(2, 3), peri.InverseGamma(9, 2), peri.StudentT(7, 1, 2),
    peri.LogNormal(1, 0.3), peri.Pareto(2, 9), peri.Beta(2, 3.5), peri.Binomial(20, 0.3), peri.Weibull(2, 3),
    peri.Bernoulli(0.2), peri.Geometric(0.3), peri.NegativeBinomial(2.5, 0.4), peri.NoncentralChi2(3, 5),
    peri.Skellam(3, 7), peri.ExGaussian(1, 2, 0.7), peri.NormalInverseGaussian(3, 2, 1, 0.4),
  }

  it("are expectations", function ()
    for _, d in ipairs(laws) do
      local mean, sd = d:mean(), d:stddev()
      local third  = d:expectation(function (x) return ((x - mean) / sd) ^ 3 end)
      local fourth = d:expectation(function (x) return ((x - mean) / sd) ^ 4 end)
      assert(math.abs(third - d:skewness()) < 1e-9, tostring(d) .. " skewness")
      assert(math.abs(fourth - 3 - d:kurtosis()) < 1e-8, tostring(d) .. " kurtosis")
    end
  end)

  it("are exact where a law is nearly a Normal, and undefined for a point", function ()
    near(3 / 2 ^ 26.5, peri.NoncentralChi2(1e-300, 2 ^ 53):skewness(), 1e-15)
    near(12 / 2 ^ 53, peri.NoncentralChi2(1e-300, 2 ^ 53):kurtosis(), 1e-15)
    near(1e-15, peri.Skellam(5e14, 5e14):kurtosis(), 1e-15)
    for _, d in ipairs { peri.Bernoulli(1), peri.Binomial(20, 0), peri.Geometric(1), peri.NegativeBinomial(0, 0.5),
                         peri.NormalInverseGaussian(2, 2) } do
      local skewness, kurtosis = d:skewness(), d:kurtosis()
      assert.is_true(skewness ~= skewness and kurtosis ~= kurtosis, tostring(d))
    end
  end)

  it("have the shape of the batch", function ()
    assert.same({ 2 }, peri.Normal({ 0, 1 }, 1):skewness().shape)
    assert.same({ 2 }, peri.Gamma({ 1, 4 }, 1):kurtosis().shape)
    assert.is_true(peri.Gamma({ 1, 4 }, 1):skewness():equal(peri.tensor { 2, 1 }))
  end)

  it("are infinite or undefined where they are", function ()
    assert.equal(math.huge, peri.StudentT(3.5, 0, 1):kurtosis())
    local x = peri.Cauchy(0, 1):skewness()
    assert.is_true(x ~= x)
    assert.equal(math.huge, peri.Pareto(1, 2.5):skewness())
  end)

  it("are methods of SkewNormal under its class only, where skewness is a parameter", function ()
    local d = 4 / math.sqrt(17)
    local expected = (4 - math.pi) / 2 * (d * math.sqrt(2 / math.pi)) ^ 3 / (1 - 2 * d ^ 2 / math.pi) ^ 1.5
    near(expected, (peri.Distribution.skewness(peri.SkewNormal(0, 1, 4))), 1e-11)
  end)
end)

describe("moment", function ()
  it("is E X^k", function ()
    for k, expected in pairs { [0] = 1, 2, 5, 14, 43, 142 } do near(expected, (peri.Normal(2, 1):moment(k)), 1e-12) end
    near(120 / 32, (peri.Exponential(2):moment(5)), 1e-12)
    near(309, (peri.Poisson(3):moment(4)), 1e-12)
  end)

  it("takes integers from 0 on", function ()
    local ok, text = pcall(function () return peri.Normal(0, 1):moment(-1) end)
    assert.is_false(ok)
    assert.matches("Normal:moment: k must be an integer from 0 on, got %-1", text)
  end)
end)

-- [name] = a law whose moments are infinite from the order s on, of the upper tail
local upper_tails = {
  Pareto = function (s) return peri.Pareto(2, s) end,
  InverseGamma = function (s) return peri.InverseGamma(s, 2) end,
  Burr = function (s) return peri.Burr(2, s / 2) end,
  GeneralizedPareto = function (s) return peri.GeneralizedPareto(1, 2, 1 / s) end,
  GeneralizedExtremeValue = function (s) return peri.GeneralizedExtremeValue(1, 2, 1 / s) end,
  Frechet = function (s) return peri.Frechet(2, s) end,
  FisherSnedecor = function (s) return peri.FisherSnedecor(3, 2 * s) end,
  NoncentralF = function (s) return peri.NoncentralF(3, 2 * s, 1) end,
  Truncated = function (s) return peri.Truncated(peri.StudentT(s), -1, math.huge) end,
  Censored = function (s) return peri.Censored(peri.StudentT(s), -1, math.huge) end,
  transformed = function (s)
    return peri.TransformedDistribution(peri.InverseGamma(2 * s, 1), { peri.transforms.Power(2) })
  end,
  multiple = function (s) return 2 * peri.Frechet(1, s) + 3 end,
  mixture = function (s)
    return peri.MixtureDistribution(peri.Categorical { 0.4, 0.6 }, { peri.Pareto(1, s), peri.Normal(0, 1) })
  end,
  family = function (s)
    return peri.MixtureSameFamily(peri.Categorical { 0, 0.4, 0.6 }, peri.Pareto(1, { 0.1, 9, s }))
  end,
}

-- The same of both tails.
local two_tails = {
  StudentT = function (s) return peri.StudentT(s, 1, 2) end,
  NoncentralT = function (s) return peri.NoncentralT(s, 1) end,
  mixture = function (s)
    return peri.MixtureDistribution(peri.Categorical { 0.4, 0.6 }, { peri.Pareto(1, s), -peri.Pareto(1, s) })
  end,
}

describe("moments of heavy tails", function ()
  local INF, SHAPES = math.huge, { 0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4, 4.5, 5, 5.5 }

  -- Are the third and fourth, standardised and not, what they are where there are none?
  local function check (name, s, d, third)
    local function is (expected, got, what)
      local same = expected == nil and got - got == 0 or expected == got or expected ~= expected and got ~= got
      assert(same, string.format("%s, %g, %s: expected %s, got %s", name, s, what, expected, got))
    end
    local has_sd = s > 2
    is(s <= 3 and third or nil, (d:moment(3)), "moment 3")
    is(s <= 4 and INF or nil, (d:moment(4)), "moment 4")
    is(s <= 2 and INF or nil, (d:moment(2)), "moment 2")
    is(not has_sd and 0 / 0 or s <= 3 and third or nil, (d:skewness()), "skewness")
    is(not has_sd and 0 / 0 or s <= 4 and INF or nil, (d:kurtosis()), "kurtosis")
  end

  it("are infinite from their order on", function ()
    for name, law in pairs(upper_tails) do
      for _, s in ipairs(SHAPES) do
        check(name, s, law(s), INF)
        check(name .. " mirrored", s, -law(s), -INF)
      end
    end
  end)

  it("are undefined for odd orders of two tails", function ()
    for name, law in pairs(two_tails) do
      for _, s in ipairs(SHAPES) do check(name, s, law(s), 0 / 0) end
    end
  end)

  it("are so element by element", function ()
    assert.is_true(peri.Pareto(1, { 3.5, 4, 4.5 }):moment(4):gt(1e300):equal(peri.tensor { 1, 1, 0 }))
    assert.is_true(peri.Burr(1, { 3.5, 4, 4.5 }):kurtosis():gt(1e300):equal(peri.tensor { 1, 1, 0 }))
  end)

  it("of laws with none", function ()
    for _, d in ipairs { peri.HalfCauchy(2), peri.NormalInverseGaussian(2, 2) } do
      for k = 1, 5 do assert.equal(INF, (d:moment(k))) end
    end
    assert.equal(-INF, (peri.NormalInverseGaussian(2, -2):moment(3)))
    local third = peri.Cauchy(0, 1):moment(3)
    assert.is_true(third ~= third)
    assert.equal(INF, (peri.Cauchy(0, 1):moment(2)))
  end)

  it("are infinite only where a tail is left", function ()
    assert.is_true(peri.Truncated(peri.Cauchy(0, 1), -2, 3):moment(4) < 81)
    assert.is_true(peri.GeneralizedExtremeValue(0, 1, -0.5):kurtosis() < 5)
  end)
end)

describe("quantiles of logarithms", function ()
  it("are infinite where they are beyond all numbers", function ()
    for _, d in ipairs {
      peri.LogNormal(0, 100), peri.Truncated(peri.LogNormal(0, 100), 2, math.huge), peri.Pareto(1, 0.1),
      peri.TransformedDistribution(peri.Gamma(0.3, 1), { peri.transforms.Power(-1) }), peri.StudentT(0.01),
    } do
      for _, lq in ipairs { -689, -691, -720, -1e5, -math.huge } do
        assert.equal(math.huge, d:isf_log(lq))
        assert.equal(-math.huge, (-d):icdf_log(lq))
      end
    end
    local x = peri.LogNormal(0, { 100, 1 }):isf_log(-720)
    assert.equal(math.huge, x:at(1))
    assert.near(peri.LogNormal(0, 1):isf_log(-720), x:at(2), 1e-3)
  end)

  it("give the listed values", function ()   -- 40-digit reference
    local Normal, Gamma = peri.Normal(0, 1), peri.Gamma(3, 2)
    near(-447.19789367852505149, Normal:icdf_log(-1e5), 2e-16)
    near(447.19789367852505149, Normal:isf_log(-1e5), 2e-16)
    near(37.047096299361199237, Normal:icdf_log(-1e-300), 1e-15)
    near(-37.047096299361199237, Normal:isf_log(-1e-300), 1e-15)
    near(50011.166585179226209, Gamma:isf_log(-1e5), 2e-16)
    near(1e5, peri.Gumbel(0, 1):isf_log(-1e5), 1e-15)
    near(-math.log(1e5), peri.Gumbel(0, 1):icdf_log(-1e5), 1e-15)
  end)

  it("invert log_cdf and log_sf, however deep", function ()
    for _, d in ipairs {
      peri.Normal(1, 2), peri.Gamma(3, 2), peri.LogNormal(0, 1), peri.Gumbel(0, 1), peri.Laplace(0, 1),
      peri.Logistic(2, 3), peri.Weibull(2, 3), peri.InverseGaussian(1, 2), peri.StudentT(30, 0, 1),
    } do
      for _, lp in ipairs { -1e-300, -1e-5, -0.5, -3, -100, -689, -691, -1000, -1e4 } do
        local low, high = d:icdf_log(lp), d:isf_log(lp)
        if low ~= d:icdf(0) and d:log_cdf(low) > -math.huge then
          near(lp, d:log_cdf(low), 1e-12 + 4e-16 * math.abs(low) * math.exp(d:log_prob(low) - d:log_cdf(low))
               / math.abs(lp), tostring(d) .. " icdf_log " .. lp)
        end
        near(lp, d:log_sf(high), 1e-12 + 4e-16 * math.abs(high) * math.exp(d:log_prob(high) - d:log_sf(high))
             / math.abs(lp), tostring(d) .. " isf_log " .. lp)
      end
    end
  end)

  it("find the first outcome that reaches them", function ()
    local d = peri.Poisson(4.5)
    for _, lq in ipairs { -0.1, -5, -500, -900, -1e5 } do
      local k = d:isf_log(lq)
      assert.is_true(d:log_sf(k) <= lq and d:log_sf(k - 1) > lq, tostring(lq))
    end
    local far = peri.Poisson(1e4)
    for _, lp in ipairs { -600, -900, -5000 } do
      local k = far:icdf_log(lp)
      assert.is_true(far:log_cdf(k) >= lp and far:log_cdf(k - 1) < lp, tostring(lp))
    end
  end)

  it("reach the ends, and are NaN beyond", function ()
    local d = peri.Normal(0, 1)
    assert.equal(-math.huge, d:icdf_log(-math.huge))
    assert.equal(math.huge, d:icdf_log(0))
    assert.is_true(d:icdf_log(0.1) ~= d:icdf_log(0.1))
    assert.is_true(d:icdf_log(0 / 0) ~= 0)
    assert.equal(math.huge, peri.Cauchy(0, 1):isf_log(-1e5))
  end)

  it("broadcast, and have gradients", function ()
    local t = peri.Normal({ 0, 1 }, 2):icdf_log({ { -1 }, { -800 } })
    assert.same({ 2, 2 }, t.shape)
    assert.equal(peri.Normal(1, 2):icdf_log(-800), t:at(2, 2))
    local slope = peri.grad(function (w) return peri.Normal(0, w):icdf_log(-1000) end)(2.0)
    near(peri.Normal(0, 1):icdf_log(-1000), slope, 1e-13)
  end)
end)

describe("an infinite divergence says where", function ()
  local function where (p, q) return peri.kl_explain(p, q).where end

  it("p has mass and q none", function ()
    assert.equal("p has mass below 0, q has none", where(peri.Normal(0, 1), peri.Exponential(1)))
    assert.equal("p has mass below 0 and above 1, q has none", where(peri.Normal(0, 1), peri.Uniform(0, 1)))
    assert.equal("p has mass above 10, q has none", where(peri.Poisson(3), peri.Binomial(10, 0.3)))
    assert.equal("p has mass at 3, q has none", where(peri.Categorical { 0.2, 0.3, 0.5 },
                                                      peri.Categorical { 0.5, 0.5, 0 }))
    assert.equal("at [2]: p has mass above 2, q has none", where(peri.Uniform(0, { 1, 3 }), peri.Uniform(0, 2)))
    assert.equal("p has mass at single outcomes, q is continuous and has none there",
                 where(peri.Poisson(3), peri.Normal(0, 1)))
    assert.equal("p is continuous, q has all of its mass at single outcomes", where(peri.Normal(0, 1), peri.Poisson(3)))
  end)

  it("q has too light a tail", function ()
    assert.equal("the tails of q are too light for p: E[-log q(X)] is infinite",
                 where(peri.Cauchy(0, 1), peri.Normal(0, 1)))
    assert.equal("the upper tail of q is too light for p: E[-log q(X)] is infinite",
                 where(peri.Pareto(1, 0.5), peri.Exponential(1)))
  end)

  it("and nothing where it is finite", function ()
    assert.is_nil(where(peri.Normal(0, 1), peri.Normal(1, 2)))
  end)
end)

it("vectors have no skewness", function ()
  local d = peri.MultivariateNormal({ 0, 0 }, peri.eye(2))
  assert.equal("MultivariateNormal has no skewness: an event has shape (2)",
               require "spec.support.refusal"(d.skewness, d))
end)
