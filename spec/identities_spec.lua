--- Families that contain one another agree where they meet.
local peri = require "perilune"

local inf, root2 = math.huge, 2 ^ 0.5

-- Two distributions that are the same, and quantiles between which to look.
local same = {
  { peri.Exponential(0.7),       peri.Gamma(1, 0.7) },
  { peri.Exponential(0.7),       peri.Weibull(1 / 0.7, 1) },
  { peri.Exponential(0.5),       peri.GeneralizedPareto(0, 2, 0) },
  { peri.Exponential(0.5),       peri.Chi2(2) },
  { peri.Chi2(7),                peri.Gamma(3.5, 0.5) },
  { peri.StudentT(1, 2, 3),      peri.Cauchy(2, 3) },
  { peri.StudentT(1e18, 2, 3),   peri.Normal(2, 3) },
  { peri.Beta(1, 1),             peri.Uniform(0, 1) },
  { peri.Beta(2.5, 1),           peri.Kumaraswamy(2.5, 1) },
  { peri.Beta(1, 0.3),           peri.Kumaraswamy(1, 0.3) },
  { peri.GeneralizedNormal(1, 2 * root2, 2), peri.Normal(1, 2) },
  { peri.GeneralizedNormal(1, 2, 1), peri.Laplace(1, 2) },
  { peri.AsymmetricLaplace(1, 2, 1), peri.Laplace(1, 2) },
  { peri.SkewNormal(1, 2, 0),    peri.Normal(1, 2) },
  { peri.TruncatedNormal(1, 2, -inf, inf), peri.Normal(1, 2) },
  { peri.TruncatedNormal(0, 2, 0, inf), peri.HalfNormal(2) },
  { peri.Rayleigh(3),            peri.Weibull(3 * root2, 2) },
  { peri.Pareto(2, 1.5),         peri.GeneralizedPareto(2, 2 / 1.5, 1 / 1.5) },
  { peri.ContinuousBernoulli(0.5), peri.Uniform(0, 1) },
  { peri.Bernoulli(0.3),         peri.Binomial(1, 0.3) },
  { peri.Geometric(0.3),         peri.NegativeBinomial(1, 0.7) },
  { peri.Poisson(4),             peri.ZeroInflatedPoisson(0, 4) },
  { peri.BetaBinomial(1, 1, 9),  peri.DiscreteUniform(0, 9) },
}

local function close (expected, got, tolerance, what)
  local scale = math.max(math.abs(expected), math.abs(got), 1e-300)
  assert(expected == got or math.abs(expected - got) <= tolerance * scale,
         string.format("%s: %.17g and %.17g", what, expected, got))
end

describe("an identity:", function ()
  for _, pair in ipairs(same) do
    local a, b = pair[1], pair[2]
    it(tostring(a) .. " is " .. tostring(b), function ()
      for _, u in ipairs { 1e-9, 0.02, 0.31, 0.52, 0.91, 1 - 1e-6 } do   -- between steps
        local x = b:icdf(u)
        for _, method in ipairs { "log_prob", "cdf", "sf", "log_cdf", "log_sf" } do
          -- logarithms of nearly 1 are small: compare what they are logarithms of
          local tolerance = 1e-12 * math.max(1, 1 / math.abs(b[method](b, x)))
          close(b[method](b, x), a[method](a, x), tolerance, method .. "(" .. x .. ")")
        end
        close(b:icdf(u), a:icdf(u), 1e-11, "icdf(" .. u .. ")")
      end
      if b:variance() < inf then
        close(b:mean(), a:mean(), 1e-12, "mean")
        close(b:variance(), a:variance(), 1e-12, "variance")
      end
      close(b:entropy(), a:entropy(), 1e-12, "entropy")
    end)
  end

  it("the square of StudentT(n) is FisherSnedecor(1, n)", function ()
    for _, x in ipairs { 1e-6, 0.3, 2, 40 } do
      close(2 * peri.StudentT(5):cdf(-x), peri.FisherSnedecor(1, 5):sf(x * x), 1e-12, "sf")
    end
  end)

  it("Poisson(r) exceeds k when Gamma(k + 1) falls below r", function ()
    for _, k in ipairs { 0, 3, 40 } do
      close(peri.Gamma(k + 1, 1):cdf(12.5), peri.Poisson(12.5):sf(k), 1e-12, "sf")
    end
  end)

  it("1/X of Gamma is InverseGamma, e^X of Normal is LogNormal, X/(1 - X) of Beta is F", function ()
    for _, x in ipairs { 0.01, 0.4, 3, 200 } do
      close(peri.Gamma(2.5, 3):sf(1 / x), peri.InverseGamma(2.5, 3):cdf(x), 1e-12, "InverseGamma")
      close(peri.Normal(0.3, 2):cdf(math.log(x)), peri.LogNormal(0.3, 2):cdf(x), 1e-12, "LogNormal")
      close(peri.Beta(2, 3):cdf(4 * x / (6 + 4 * x)), peri.FisherSnedecor(4, 6):cdf(x), 1e-12, "F")
    end
  end)

  it("Dirichlet of two is Beta, MultivariateNormal of one is Normal, Multinomial of two is Binomial", function ()
    close(peri.Beta(2, 3.5):log_prob(0.3), peri.Dirichlet { 2, 3.5 }:log_prob({ 0.3, 0.7 }), 1e-13, "Dirichlet")
    close(peri.Normal(1, 2):log_prob(0.3), peri.MultivariateNormal({ 1 }, { { 4 } }):log_prob({ 0.3 }), 1e-13,
          "MultivariateNormal")
    close(peri.Binomial(9, 0.3):log_prob(4), peri.item(peri.Multinomial(9, { 0.3, 0.7 }):log_prob({ 4, 5 })), 1e-13,
          "Multinomial")
    close(peri.Bernoulli(0.3):log_prob(1), peri.item(peri.Categorical { 0.7, 0.3 }:log_prob(2)), 1e-13, "Categorical")
  end)

  -- Vectors and matrices. Each line: a distribution, one that is the same, and how an event of the second follows
  -- from one of the first.
  local tril = { { 1.5, 0 }, { -0.7, 0.8 } }
  local cov = { { 2.25, -1.05 }, { -1.05, 1.13 } }
  local rows = {
    { peri.MultivariateNormal { loc = { 1, 2 }, covariance_matrix = cov },
      peri.MultivariateNormal { loc = { 1, 2 }, scale_tril = tril } },
    { peri.MultivariateNormal { loc = { 1, 2 }, covariance_matrix = cov },
      peri.MultivariateNormal { loc = { 1, 2 },
                                precision_matrix = peri.MultivariateNormal({ 0, 0 }, cov).precision_matrix } },
    { peri.MultivariateNormal({ 1, 2 }, { { 1, 0 }, { 0, 4 } }), peri.Independent(peri.Normal({ 1, 2 }, { 1, 2 }), 1) },
    { peri.LowRankMultivariateNormal({ 1, 2 }, { { 1 }, { -0.5 } }, { 0.5, 2 }),
      peri.MultivariateNormal({ 1, 2 }, { { 1.5, -0.5 }, { -0.5, 2.25 } }) },
    { peri.MultivariateStudentT(1e16, { 1, 2 }, tril), peri.MultivariateNormal({ 1, 2 }, cov) },
    { peri.MultivariateStudentT(5, { 1 }, { { 2 } }), peri.StudentT(5, 1, 2), function (x) return peri.item(x) end },
    { peri.MultivariateNormal({ 1 }, { { 4 } }), peri.Normal(1, 2), function (x) return peri.item(x) end },
    { peri.MatrixNormal({ { 1, 2 } }, { { 1 } }, cov), peri.MultivariateNormal({ 1, 2 }, cov),
      function (x) return x:reshape(2) end },
    { peri.MatrixNormal({ { 1, 2 }, { 3, 4 } }, { { 2, 1 }, { 1, 3 } }, cov),
      peri.MultivariateNormal({ 1, 2, 3, 4 }, { { 4.5, -2.1, 2.25, -1.05 }, { -2.1, 2.26, -1.05, 1.13 },
                                                { 2.25, -1.05, 6.75, -3.15 }, { -1.05, 1.13, -3.15, 3.39 } }),
      function (x) return x:reshape(4) end },
    { peri.Wishart(5.5, { { 3 } }), peri.Gamma(2.75, 1 / 6), function (x) return peri.item(x) end },
    { peri.InverseWishart(5.5, { { 3 } }), peri.InverseGamma(2.75, 1.5), function (x) return peri.item(x) end },
    { peri.Dirichlet { 2, 3.5 }, peri.Beta(2, 3.5), function (x) return x[1] end },
    { peri.DirichletMultinomial({ 2, 3.5 }, 9), peri.BetaBinomial(2, 3.5, 9), function (x) return x[1] end },
    { peri.Multinomial(9, { 0.3, 0.7 }), peri.Binomial(9, 0.3), function (x) return x[1] end },
    { peri.OneHotCategorical { 0.7, 0.3 }, peri.Bernoulli(0.3), function (x) return x[2] end },
    { peri.RelaxedOneHotCategorical(0.7, { 0.3, 0.7 }), peri.RelaxedBernoulli(0.7, 0.3), function (x) return x[1] end },
    { peri.LogisticNormal({ 0.4 }, { 1.3 }), peri.LogitNormal(0.4, 1.3), function (x) return x[1] end },
  }

  for seed, line in ipairs(rows) do
    local a, b, of = line[1], line[2], line[3] or function (x) return x end
    it(tostring(a) .. " is " .. tostring(b), function ()
      local function number (v) return type(v) == "number" and v or peri.item(v) end
      for _, x in ipairs { a:sample(nil, peri.rng(seed)), a:sample(nil, peri.rng(100 + seed)) } do
        local expected = number(b:log_prob(of(x)))
        close(expected, number(a:log_prob(x)), 1e-13 * (1 + 1 / math.abs(expected)), "log_prob")
      end
      close(number(b:entropy()), number(a:entropy()), 1e-12, "entropy")
      for _, moment in ipairs { "mean", "variance" } do
        local expected, got = b[moment](b), of(a[moment](a))
        assert.is_true(peri.tensor(expected):allclose(got, 1e-12, 1e-12), moment)
      end
    end)
  end

  it("the correlation of LKJCholesky(2, c) is 2 Beta(c, c) - 1", function ()
    for _, c in ipairs { 0.4, 1, 3.5 } do
      local d, beta = peri.LKJCholesky(2, c), peri.Beta(c, c)
      for _, r in ipairs { -0.95, 0, 0.3, 0.8 } do
        -- the density is that of the rows: dr = sqrt(1 - r^2) dangle, here with respect to r
        local l = { { 1, 0 }, { r, (1 - r * r) ^ 0.5 } }
        close(beta:log_prob((r + 1) / 2) - math.log(2), peri.item(d:log_prob(l)), 1e-13 * 30, "log_prob")
      end
    end
  end)

  it("VonMisesFisher on the circle is VonMises, and on the sphere its cosine has a density in closed form", function ()
    local circle, angles = peri.VonMisesFisher({ math.cos(0.7), math.sin(0.7) }, 2.5), peri.VonMises(0.7, 2.5)
    for _, angle in ipairs { -2, 0.1, 0.7, 3 } do
      close(angles:log_prob(angle), peri.item(circle:log_prob({ math.cos(angle), math.sin(angle) })), 1e-13, "log_prob")
    end
    close(angles:entropy(), peri.item(circle:entropy()), 1e-13, "entropy")
    local k = 2.5
    local sphere = peri.VonMisesFisher({ 0, 0, 1 }, k)
    local expected = 0.6 * k + math.log(k / (2 * math.pi * (math.exp(k) - math.exp(-k))))
    close(expected, peri.item(sphere:log_prob({ 0.8, 0, 0.6 })), 1e-13, "sphere")
  end)

  it("wrappers of one, of nothing, or of what has a name are what they wrap", function ()
    local T, Transformed = peri.transforms, peri.TransformedDistribution
    local g = peri.Gamma(2.5, 3)
    for _, pair in ipairs {
      { Transformed(peri.Normal(0.3, 2), T.Exp()), peri.LogNormal(0.3, 2) },
      { Transformed(peri.Exponential(1), { T.Power(1 / 1.7), T.Affine(0, 2.5) }), peri.Weibull(2.5, 1.7) },
      { Transformed(peri.Exponential(1.7), { T.Exp(), T.Affine(0, 2.5) }), peri.Pareto(2.5, 1.7) },
      { Transformed(peri.Logistic(0.4, 1.3), T.Sigmoid()), peri.RelaxedBernoulli { temperature = 1 / 1.3,
                                                                                  logits = 0.4 / 1.3 } },
      { Transformed(peri.Gumbel(0.4, 1.3), { T.Exp() }), peri.Frechet(math.exp(0.4), 1 / 1.3) },
      { Transformed(peri.Uniform(0, 1), { T.Affine(math.log(2), math.log(3)), T.Exp() }), peri.LogUniform(2, 6) },
      { peri.Truncated(peri.Normal(1, 2), -0.5, 4), peri.TruncatedNormal(1, 2, -0.5, 4) },
      { peri.Truncated(peri.Normal(0, 2), 0), peri.HalfNormal(2) },
      { peri.Truncated(peri.Cauchy(0, 2), 0), peri.HalfCauchy(2) },
      { peri.Truncated(g), g },
      { peri.Masked(g, true), g },
      { Transformed(g, {}), g },
    } do
      local a, b = pair[1], pair[2]
      for _, u in ipairs { 0.02, 0.2, 0.5, 0.9, 0.98 } do
        local x = b:icdf(u)
        for _, method in ipairs { "log_prob", "cdf", "sf", "log_cdf", "log_sf" } do
          local tolerance = 1e-12 * math.max(1, 1 / math.abs(b[method](b, x)))
          close(b[method](b, x), a[method](a, x), tolerance, tostring(a) .. " " .. method)
        end
        close(x, a:icdf(u), 1e-11, tostring(a) .. " icdf")
      end
      if b:variance() < inf then
        close(b:mean(), a:mean(), 1e-10, tostring(a) .. " mean")
        close(b:variance(), a:variance(), 1e-10, tostring(a) .. " variance")
      end
      assert(math.abs(b:entropy() - a:entropy()) < 1e-10, tostring(a) .. " entropy")
    end
    local one = peri.MixtureSameFamily(peri.Categorical { 1 }, peri.Gamma({ 2.5 }, 3))
    for _, method in ipairs { "log_prob", "cdf", "sf", "log_cdf", "log_sf" } do
      close(g[method](g, 0.7), peri.item(one[method](one, 0.7)), 1e-14, "a mixture of one, " .. method)
    end
    for _, method in ipairs { "mean", "variance", "entropy", "mode", "median" } do
      close(g[method](g), peri.item(one[method](one)), 1e-11, "a mixture of one, " .. method)
    end
    local pair = peri.Gamma({ 2.5, 4 }, 3)
    local joint = peri.Independent(pair, 1)
    close(peri.item(pair:log_prob({ 0.7, 2 }):sum()), peri.item(joint:log_prob({ 0.7, 2 })), 1e-15, "Independent")
    close(peri.item(pair:entropy():sum()), peri.item(joint:entropy()), 1e-15, "Independent")
  end)

  it("at random parameters", function ()
    local rng = peri.rng(2024)
    local function draw () return math.exp(2 * peri.Normal(0, 1):sample(nil, rng)) end
    for _ = 1, 20 do
      local a, b, u = draw(), draw(), peri.Uniform(0.001, 0.999):sample(nil, rng)
      local function same_law (p, q)
        local x = q:icdf(u)
        local tolerance = 1e-11 * math.max(1, 1 / math.abs(q:log_prob(x)))
        close(q:log_prob(x), p:log_prob(x), tolerance, tostring(p) .. " at " .. x)
        close(q:cdf(x), p:cdf(x), 1e-11, tostring(p) .. " at " .. x)
        close(q:log_sf(x), p:log_sf(x), 1e-11, tostring(p) .. " at " .. x)
        close(x, p:icdf(u), 1e-9, tostring(p) .. " at " .. u)
      end
      same_law(peri.Gamma(1, a), peri.Exponential(a))
      same_law(peri.Weibull(1 / a, 1), peri.Exponential(a))
      same_law(peri.Gamma(a / 2, 0.5), peri.Chi2(a))
      same_law(peri.StudentT(1, a, b), peri.Cauchy(a, b))
      same_law(peri.Weibull(a * root2, 2), peri.Rayleigh(a))
      same_law(peri.Kumaraswamy(a, 1), peri.Beta(a, 1))
      same_law(peri.Kumaraswamy(1, a), peri.Beta(1, a))
      same_law(peri.GeneralizedPareto(a, a / b, 1 / b), peri.Pareto(a, b))
      same_law(peri.GeneralizedNormal(a, b, 1), peri.Laplace(a, b))
      same_law(peri.TruncatedNormal(0, a, 0, inf), peri.HalfNormal(a))
      local f = peri.FisherSnedecor(a, b)
      local x = f:icdf(u)
      local below, above = a * x / (a * x + b), b / (a * x + b)   -- the smaller has all its digits
      local expected = below < above and peri.Beta(a / 2, b / 2):cdf(below) or peri.Beta(b / 2, a / 2):sf(above)
      close(expected, f:cdf(x), 1e-11, tostring(f))
      local k = math.floor(a * b)
      close(peri.Gamma(k + 1, 1):cdf(a), peri.Poisson(a):sf(k), 1e-11, "Poisson")
      close(peri.Beta(k + 1, 3):sf(u), peri.Binomial(k + 3, u):cdf(k), 1e-11, "Binomial")
      close(peri.Beta(b, k + 1):sf(u), peri.NegativeBinomial(b, 1 - u):sf(k), 1e-9, "NegativeBinomial")
    end
  end)
end)
