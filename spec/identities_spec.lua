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
    close(peri.Beta(2, 3.5):log_prob(0.3), peri.Dirichlet { 2, 3.5 }:log_prob({ 0.3, 0.7 }):item(), 1e-13, "Dirichlet")
    close(peri.Normal(1, 2):log_prob(0.3), peri.MultivariateNormal({ 1 }, { { 4 } }):log_prob({ 0.3 }):item(), 1e-13,
          "MultivariateNormal")
    close(peri.Binomial(9, 0.3):log_prob(4), peri.Multinomial(9, { 0.3, 0.7 }):log_prob({ 4, 5 }):item(), 1e-13,
          "Multinomial")
    close(peri.Bernoulli(0.3):log_prob(1), peri.Categorical { 0.7, 0.3 }:log_prob(2):item(), 1e-13, "Categorical")
  end)
end)
