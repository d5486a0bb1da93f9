--- Every family of distributions is fitted to draws of its own, or says why not: one that does neither fails here.
local peri = require "perilune"
local core = require "perilune.core"
local families = require "perilune.fit.families"

-- Parameters to draw from; options of the fit; n, 400 unless told.
local cases = {
  AsymmetricLaplace = { { 1, 2, 0.7 } },
  Bernoulli = { { 0.3 } },
  Beta = { { 2, 3.5 } },
  BetaBinomial = { { 2, 3, 12 }, { fixed = { total_count = 12 } } },
  Binomial = { { 9, 0.4 }, { fixed = { total_count = 9 } } },
  Categorical = { { { 0.2, 0.5, 0.3 } } },
  Burr = { { 2, 3, 1.5 } },
  Cauchy = { { 5, 2 } },
  Chi2 = { { 4 } },
  ContinuousBernoulli = { { 0.8 } },
  Delta = { { 3 } },
  Dirichlet = { { { 2, 1, 4 } } },
  DirichletMultinomial = { { { 2, 1, 4 }, 20 } },
  DiscreteUniform = { { -3, 8 } },
  ExGaussian = { { 1, 2, 0.5 } },
  Exponential = { { 3 } },
  FisherSnedecor = { { 5, 9 } },
  Frechet = { { 2, 3 } },
  Gamma = { { 3, 0.5 } },
  GeneralizedExtremeValue = { { 1, 2, 0.2 } },
  GeneralizedNormal = { { 1, 2, 1.6 } },
  GeneralizedPareto = { { 1, 2, 0.3 }, { fixed = { loc = 1 } } },
  Geometric = { { 0.3 } },
  Gompertz = { { 0.5, 2 } },
  Gumbel = { { -1, 2 } },
  HalfCauchy = { { 2 } },
  HalfNormal = { { 2 } },
  InverseGamma = { { 3, 2 } },
  InverseGaussian = { { 2, 5 } },
  InverseWishart = { { 7, { { 2, 0.5 }, { 0.5, 1 } } } },
  JohnsonSU = { { 0.5, 1.5, 1, 2 } },
  Kumaraswamy = { { 2, 3 } },
  LKJ = { { 3, 2 } },
  LKJCholesky = { { 3, 2 } },
  Laplace = { { 1, 2 } },
  LogNormal = { { 1, 0.5 } },
  LogUniform = { { 0.1, 30 } },
  Logistic = { { 1, 2 } },
  LogisticNormal = { { { 0.5, -0.3 }, { 1, 0.6 } } },
  LogitNormal = { { 0.5, 1.2 } },
  Maxwell = { { 2 } },
  Multinomial = { { 12, { 0.2, 0.5, 0.3 } } },
  MultivariateNormal = { { { 1, -2 }, { { 2, 0.6 }, { 0.6, 1 } } } },
  MultivariateStudentT = { { 5, { 1, -2 }, { { 2, 0 }, { 0.6, 1 } } } },
  NegativeBinomial = { { 4, 0.6 } },
  NegativeBinomial2 = { { 4, 2 } },
  NoncentralChi2 = { { 3, 6 } },
  NoncentralF = { { 4, 9, 6 } },
  NoncentralT = { { 6, 1.5, 0, 1 } },
  NormalInverseGaussian = { { 2, 0.5, 1, 1.5 } },
  Normal = { { 3, 2 } },
  OneHotCategorical = { { { 0.2, 0.5, 0.3 } } },
  OneHotCategoricalStraightThrough = { { { 0.2, 0.5, 0.3 } } },
  OrderedLogistic = { { 0.5, { -1, 1 } }, { fixed = { predictor = 0.5 } } },
  Pareto = { { 2, 3 } },
  Poisson = { { 4 } },
  Rayleigh = { { 2 } },
  RelaxedBernoulli = { { 0.7, 0.4 } },
  RelaxedOneHotCategorical = { { 0.7, { 0.2, 0.5, 0.3 } } },
  Rice = { { 2, 1 } },
  Skellam = { { 3, 2 } },
  SkewNormal = { { 1, 2, 3 } },
  StudentT = { { 4, 1, 2 } },
  Triangular = { { 1, 5, 2 } },
  TruncatedNormal = { { 1, 2, 0, 4 }, { fixed = { low = 0, high = 4 } } },
  Uniform = { { 2, 5 } },
  VonMises = { { 1, 2 } },
  VonMisesFisher = { { { 0.6, 0, 0.8 }, 5 } },
  Weibull = { { 2, 1.5 } },
  Wishart = { { 6, { { 2, 0.5 }, { 0.5, 1 } } } },
  ZeroInflatedPoisson = { { 0.3, 3 } },
  Zipf = { { 2.5 } },
}

-- How many numbers a fit of each case estimates, counted by hand: two, unless told.
local COUNTS = {
  AsymmetricLaplace = 3, Bernoulli = 1, Binomial = 1, Burr = 3, Chi2 = 1, ContinuousBernoulli = 1, Delta = 1,
  Dirichlet = 3, DirichletMultinomial = 3, ExGaussian = 3, Exponential = 1, GeneralizedExtremeValue = 3,
  GeneralizedNormal = 3, Geometric = 1, HalfCauchy = 1, HalfNormal = 1, InverseWishart = 4, JohnsonSU = 4, LKJ = 1,
  LKJCholesky = 1, LogisticNormal = 4, Maxwell = 1, MultivariateNormal = 5, MultivariateStudentT = 6,
  NoncentralF = 3, NoncentralT = 4, NormalInverseGaussian = 4, Poisson = 1, Rayleigh = 1,
  RelaxedOneHotCategorical = 3, SkewNormal = 3, StudentT = 3,
  Triangular = 3, VonMisesFisher = 3, Wishart = 4, Zipf = 1,
}

local function total (d, x) return core.item(core.tensor(d:log_prob(x):sum())) end

-- The distribution with a parameter moved by so much; nil if there is none.
local function moved (c, fit, name, by)
  local params = {}
  for key, value in pairs(fit.params) do params[key] = value end
  params[name] = params[name] + by
  local ok, d = pcall(c, params)
  return ok and d or nil
end

-- No parameter that is a number can be moved a little either way to make the data more likely.
local function check_maximum (c, fit, x, name)
  local value, se = fit.params[name], fit.se[name]
  if fit.fixed[name] or type(value) ~= "number" then return end
  local by = type(se) == "number" and se == se and 1e-3 * se or 1e-4 * math.abs(value)
  for _, sign in ipairs { 1, -1 } do
    local d = moved(c, fit, name, sign * by)
    if d then assert.is_true(total(d, x) <= fit.log_lik + 1e-8 * math.abs(fit.log_lik), name) end
  end
end

local function count_bad (value, truth, se)
  local far = peri.gt(peri.abs(value - truth), 5 * se + 1e-12)
  return type(far) == "number" and far or far:max()
end

-- A standard error, a small number in the place of what is not known or 0.
local function known (se)
  if se == nil then return 1e-9 end
  return peri.where(peri.gt(se, 0), se, 1e-9)
end

local function most (x) return type(x) == "number" and x or x:max() end

describe("maximum likelihood", function ()
  for _, name in ipairs(peri.distributions()) do
    local case, family = cases[name], families[name] or {}

    it("knows " .. name, function ()
      assert.is_true(case ~= nil or family.no_fit ~= nil, name .. " has no case here and no reason in fit/families.lua")
      if family.no_fit then
        assert.is_nil(case)
        assert.error_matches(function () peri.fit(peri[name], { 1, 2 }) end, name)
      end
    end)

    if case then it("fits " .. name, function ()
      local truth = peri[name](table.unpack(case[1]))
      local x = truth:sample(case.n or 400, peri.rng(7))
      local fit = peri.fit(peri[name], x, case[2])
      assert.is_true(fit.converged, tostring(fit))
      assert.same({}, fit.reasons)
      assert.is_true(fit.log_lik >= total(truth, x), name)
      assert.near(fit.log_lik, total(fit.distribution, x), 1e-9 * (1 + math.abs(fit.log_lik)))
      assert.near(2 * (COUNTS[name] or 2) - 2 * total(fit.distribution, x), fit.aic, 1e-9 * (1 + math.abs(fit.aic)))
      for _, param in ipairs(fit.names) do
        check_maximum(peri[name], fit, x, param)
        local se = fit.se[param]
        if se and (type(se) ~= "number" or se == se) then
          assert.are.equal(0, count_bad(fit.params[param], truth[param], se), param .. "\n" .. tostring(fit))
        end
      end
      assert.matches(name .. " fitted to 400 values: converged", tostring(fit))
    end) end

    if case then it("takes weights of " .. name .. " as data that come again", function ()
      local n, rows, weights = 120, {}, {}
      for i = 1, n do
        weights[i] = (i - 1) % 3
        for _ = 1, weights[i] do rows[#rows + 1] = i end
      end
      local x = peri[name](table.unpack(case[1])):sample(n, peri.rng(7))
      local options = { weights = weights, fixed = case[2] and case[2].fixed }
      local one, other = peri.fit(peri[name], x, options), peri.fit(peri[name], x[rows], case[2])
      assert.near(other.log_lik, one.log_lik, 1e-9 * (1 + math.abs(one.log_lik)))
      assert.near(other.aic, one.aic, 1e-9 * (1 + math.abs(one.aic)))
      local both = one.converged and other.converged   -- a maximum that is nearly flat may be called an end
      for _, param in ipairs(both and one.names or {}) do
        local a, b = one.params[param], other.params[param]
        local room = 1e-7 * peri.abs(b) + 1e-5 * known(one.se[param])
        assert.is_true(most(peri.abs(a - b) - room) <= 0, param)
        assert.is_true(most(peri.abs(known(one.se[param]) / known(other.se[param]) - 1)) < 1e-4, param)
      end
    end) end
  end
end)
