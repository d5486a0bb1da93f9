--- Laws at which `make samplers` draws: from the middle of each family to its extremes.
--
-- univariate[name]    tuples of parameters, or functions that give a distribution
-- multivariate[name]  functions of the class that give a distribution, and a list of
--                     { text, function of its draws, the law of that function }
local peri = require "perilune"

local INF = math.huge

local univariate = {
  AsymmetricLaplace   = { { 0, 1, 1 }, { 3, 2, 0.2 }, { 0, 1, 1e-4 }, { 0, 1, 1e4 }, { -1e10, 1, 5 } },
  Bernoulli           = { { 0.3 }, { 0 }, { 1 }, { 1e-4 }, { 1 - 1e-4 }, { 0.5 } },
  Beta                = { { 2, 3 }, { 1, 1 }, { 0.5, 0.5 }, { 1e-3, 1e-3 }, { 1e-3, 5 }, { 1e6, 1e-2 }, { 1e8, 2e8 },
                          { 1, 1e10 } },
  BetaBinomial        = { { 2, 3, 20 }, { 1e-2, 1e-2, 50 }, { 1, 1, 1000 }, { 1e6, 1e6, 100 }, { 0.3, 200, 1e6 },
                          { 5, 5, 0 }, { 1e-2, 30, 1e9 } },
  Binomial            = { { 10, 0.3 }, { 1, 0.5 }, { 1e9, 1e-9 }, { 1e9, 0.5 }, { 52, 0.5 }, { 1000, 0.999 },
                          { 1e15, 1e-13 }, { 0, 0.5 }, { 40, 1 }, { 300, 0.1 } },
  Categorical         = { { { 0.1, 0.2, 0.7 } }, { { 1 } }, { { 0, 1, 0, 3 } }, { { 1e-5, 1, 1e-300 } },
                          { peri.arange(1, 1001) }, { { logits = peri.linspace(-700, 0, 1000) } } },
  Cauchy              = { { 0, 1 }, { 5, 1e-8 }, { -1e6, 1e6 } },
  Chi2                = { { 3 }, { 1 }, { 1e-3 }, { 2 }, { 1e7 } },
  ContinuousBernoulli = { { 0.3 }, { 0.5 }, { 0.5 + 1e-9 }, { 1e-10 }, { 1 - 1e-10 }, { 0.49 } },
  Delta               = { { 0 }, { -3.5 }, { 1e300 } },
  DiscreteUniform     = { { 1, 6 }, { 0, 0 }, { -5, 1e6 }, { -2 ^ 52, 2 ^ 52 }, { 0, 2 } },
  Exponential         = { { 1 }, { 1e-10 }, { 1e10 } },
  FisherSnedecor      = { { 3, 5 }, { 0.1, 0.1 }, { 1, 1 }, { 1e6, 2 }, { 2, 1e6 }, { 1e7, 1e7 } },
  Frechet             = { { 1, 1 }, { 2, 0.05 }, { 1e-5, 100 } },
  Gamma               = { { 2.5, 1 }, { 1, 2 }, { 0.5, 1 }, { 1e-2, 1 }, { 1e-4, 1 }, { 1 + 1e-9, 1 }, { 0.999, 1e-10 },
                          { 30, 1e10 }, { 1e6, 1 }, { 1e12, 1 } },
  GeneralizedNormal   = { { 0, 1, 2 }, { 1, 2, 1 }, { 0, 1, 0.1 }, { 0, 1, 1000 }, { -3, 0.1, 0.7 } },
  GeneralizedPareto   = { { 0, 1, 0 }, { 1, 2, 0.5 }, { 0, 1, -0.5 }, { 0, 1, 20 }, { 0, 1, -20 }, { 0, 1, 1e-10 } },
  Geometric           = { { 0.3 }, { 1 }, { 1e-12 }, { 1e-3 }, { 0.999 } },
  Gumbel              = { { 0, 1 }, { 1e5, 0.1 }, { -3, 1e5 } },
  HalfCauchy          = { { 1 }, { 1e-10 }, { 1e10 } },
  HalfNormal          = { { 1 }, { 1e-10 }, { 1e10 } },
  Hypergeometric      = { { 50, 20, 10 }, { 1, 1, 1 }, { 10, 0, 5 }, { 1000, 500, 500 }, { 1e6, 1e3, 1e5 },
                          { 1e9, 1e9 - 3, 1e6 }, { 2 ^ 53, 2 ^ 52, 1e6 }, { 1e12, 1e6, 1e6 }, { 1e8, 5e7, 5e7 },
                          { 100, 99, 98 } },
  InverseGamma        = { { 3, 2 }, { 0.5, 1 }, { 1e-2, 1 }, { 1, 1e8 }, { 1e6, 1 } },
  InverseGaussian     = { { 1, 1 }, { 1, 1e-6 }, { 1, 1e6 }, { 1e4, 1e-4 }, { 1e-4, 1e4 }, { 3, 0.2 } },
  Kumaraswamy         = { { 2, 3 }, { 1, 1 }, { 1e-2, 1e-2 }, { 0.5, 100 }, { 100, 0.5 }, { 1e4, 1e4 } },
  Laplace             = { { 0, 1 }, { 1e5, 0.1 }, { -3, 1e5 } },
  LogNormal           = { { 0, 1 }, { 5, 0.01 }, { -100, 50 } },
  LogUniform          = { { 1, 10 }, { 1e-300, 1e300 }, { 1, 1 + 1e-8 } },
  Logistic            = { { 0, 1 }, { 1e5, 0.1 }, { -3, 1e5 } },
  LogitNormal         = { { 0, 1 }, { 3, 0.1 }, { 0, 30 }, { -10, 5 } },
  NegativeBinomial    = { { 5, 0.3 }, { 1, 0.5 }, { 0.01, 0.99 }, { 1e3, 1e-6 }, { 1e9, 1e-9 }, { 2.5, 1e-10 },
                          { 1e6, 0.5 }, { 0.5, 1 - 1e-7 }, { 0, 0.5 } },
  Normal              = { { 0, 1 }, { 1e5, 0.1 }, { -3, 1e5 } },
  Pareto              = { { 1, 1 }, { 2, 0.01 }, { 1e-5, 100 } },
  Poisson             = { { 4 }, { 0 }, { 1e-3 }, { 9.999 }, { 10 }, { 11.5 }, { 50 }, { 1000 }, { 1e8 }, { 1e14 } },
  Rayleigh            = { { 1 }, { 1e-10 }, { 1e10 } },
  RelaxedBernoulli    = { { 0.5, 0.3 }, { 1e-2, 0.5 }, { 100, 0.9 }, { 1, 1e-6 } },
  SkewNormal          = { { 0, 1, 0 }, { 0, 1, 100 }, { 0, 1, -100 }, { 2, 3, 1 }, { 0, 1, -1e6 } },
  StudentT            = { { 3 , 0, 1 }, { 0.1, 0, 1 }, { 1, 2, 3 }, { 0.02, 0, 1 }, { 1e8, 0, 1 }, { 2.1, -5, 1e-5 } },
  Triangular          = { { 0, 1, 0.5 }, { 0, 1, 0 }, { -5, 5, 5 }, { 0, 1, 1e-6 } },
  TruncatedNormal     = { { 0, 1, -1, 2 }, { 0, 1, 4, INF }, { 0, 1, 40, INF }, { 0, 1, -INF, -8 }, { 0, 1, 10, 10.01 },
                          { 0, 1, -1e-6, 1e-6 }, { 2, 3, -INF, INF }, { 0, 1, -40, -39 }, { 0, 1, 3.99, 5 } },
  Uniform             = { { 0, 1 }, { 1e5, 1e5 + 1e-3 }, { -1e300, 1e300 } },
  VonMises            = { { 0, 1 }, { 1, 1e-8 }, { 0, 1e8 }, { -2, 30 }, { 3, 0.3 }, { 0, 3000 } },
  Weibull             = { { 1, 1 }, { 2, 0.05 }, { 1e-5, 100 } },
  ZeroInflatedPoisson = { { 0.3, 4 }, { 0, 2 }, { 1, 5 }, { 1e-5, 1e-3 }, { 0.5, 1e6 }, { 0.9, 0 }, { 0.2, 15 } },

  Masked                  = { function () return peri.Masked(peri.Normal(1, 2), true) end },
  MixtureSameFamily       = {
    function ()
      return peri.MixtureSameFamily(peri.Categorical { 0.3, 0.6, 0.1 }, peri.Normal({ -2, 0, 30 }, { 1, 0.1, 5 }))
    end,
    function () return peri.MixtureSameFamily(peri.Categorical { 1, 3 }, peri.Poisson { 2, 40 }) end,
  },
  TransformedDistribution = {
    function () return peri.TransformedDistribution(peri.Gamma(2, 1), peri.transforms.Power(-1)) end,
  },
  Truncated               = {
    function () return peri.Truncated(peri.Gamma(2, 1), 1, 3) end,
    function () return peri.Truncated(peri.Normal(0, 1), 10, INF) end,
    function () return peri.Truncated(peri.Poisson(3), 6, INF) end,
  },
}


-- Functions of draws, the last dimension of which is the event's.

local function element (j)
  return function (x) return x:select(-1, j):contiguous() end
end

-- The sum of elements 1 and 2: together with its parts' laws, their covariance.
local function first_two (x) return x:select(-1, 1) + x:select(-1, 2) end
local function first_two_shares (x) return peri.minimum(first_two(x), 1) end

local function projection (w)
  return function (x) return (x * w):sum(-1) end
end

-- Element i, j of a matrix, in units of `scale`.
local function entry (i, j, scale)
  return function (x) return x:select(-2, i):select(-1, j) / (scale or 1) end
end

local function argmax (x) return x:argmax(-1) end


local function dirichlet (...)
  local a, total = { ... }, 0
  for _, value in ipairs(a) do total = total + value end
  return function (Dirichlet)
    return Dirichlet(a), {
      { "share 1", element(1), peri.Beta(a[1], total - a[1]) },
      { "last share", element(#a), peri.Beta(a[#a], total - a[#a]) },
      { "shares 1 and 2", first_two_shares, peri.Beta(a[1] + a[2], total - a[1] - a[2]) },
    }
  end
end

local function multinomial (n, ...)
  local p = { ... }
  return function (Multinomial)
    return Multinomial(n, p), {
      { "count 1", element(1), peri.Binomial(n, p[1]) },
      { "last count", element(#p), peri.Binomial(n, p[#p]) },
      { "counts 1 and 2", first_two, peri.Binomial(n, p[1] + p[2]) },
    }
  end
end

local function one_hot (...)
  local p = { ... }
  return function (OneHot) return OneHot(p), { { "outcome", argmax, peri.Categorical(p) } } end
end

-- w.loc, and |L^T w|: centre and width of a projection on w when the covariance is L L^T.
local function along (w, loc, L)
  local centre, square = 0, 0
  for k = 1, #L[1] do
    local component = 0
    for j = 1, #w do component = component + L[j][k] * w[j] end
    square = square + component ^ 2
  end
  for j = 1, #w do centre = centre + w[j] * loc[j] end
  return centre, math.sqrt(square)
end

-- Projections of a distribution on directions, each of the family law(centre, width).
local function projections (directions, loc, L, law)
  local margins = {}
  for i, w in ipairs(directions) do
    margins[i] = { "projection " .. i, projection(peri.tensor(w)), law(along(w, loc, L)) }
  end
  return margins
end

local function normal (loc, L, ...)
  local directions = { ... }
  return function (MultivariateNormal)
    return MultivariateNormal { loc = loc, scale_tril = L }, projections(directions, loc, L, peri.Normal)
  end
end

local function student (df, loc, L, ...)
  local directions = { ... }
  return function (MultivariateStudentT)
    local function law (centre, width) return peri.StudentT(df, centre, width) end
    return MultivariateStudentT(df, loc, L), projections(directions, loc, L, law)
  end
end

-- One factor, w, and independent noise of variances d: L = (w, diag(sqrt(d))).
local function one_factor (loc, factor, d, ...)
  local directions, W, L = { ... }, {}, {}
  for i, w in ipairs(factor) do
    W[i], L[i] = { w }, { w }
    for j = 1, #d do L[i][j + 1] = i == j and math.sqrt(d[j]) or 0 end
  end
  return function (LowRank) return LowRank(loc, W, d), projections(directions, loc, L, peri.Normal) end
end

-- Correlations of a draw, from rows i and j of its factor: (r + 1)/2 is Beta(b, b).
local function correlation (i, j)
  return function (x) return ((x:select(-2, i) * x:select(-2, j)):sum(-1) + 1) / 2 end
end

-- The same of a matrix.
local function own_correlation (i, j)
  return function (x) return (x:select(-2, i):select(-1, j) + 1) / 2 end
end

local function lkj (dim, concentration, share)
  local b = concentration + (dim - 2) / 2
  share = share or correlation
  return function (class)
    return class(dim, concentration), {
      { "first correlation", share(1, 2), peri.Beta(b, b) },
      { "last correlation", share(dim - 1, dim), peri.Beta(b, b) },
      { "far correlation", share(1, dim), peri.Beta(b, b) },
    }
  end
end

local function dirichlet_multinomial (n, ...)
  local a, total = { ... }, 0
  for _, value in ipairs(a) do total = total + value end
  return function (DirichletMultinomial)
    return DirichletMultinomial(a, n), {
      { "count 1", element(1), peri.BetaBinomial(a[1], total - a[1], n) },
      { "last count", element(#a), peri.BetaBinomial(a[#a], total - a[#a], n) },
      { "counts 1 and 2", first_two, peri.BetaBinomial(a[1] + a[2], total - a[1] - a[2], n) },
    }
  end
end

-- log(x1/x2) of elements on the simplex
local function log_ratio (x) return peri.log(x:select(-1, 1)) - peri.log(x:select(-1, 2)) end

local function relaxed_one_hot (temperature, ...)
  local p = { ... }
  return function (Relaxed)
    return Relaxed(temperature, p), {
      { "largest", argmax, peri.Categorical(p) },
      { "log ratio", log_ratio, peri.Logistic(math.log(p[1] / p[2]) / temperature, 1 / temperature) },
    }
  end
end

-- Diagonals of Wishart matrices of scale L L^T are chi-squares, of inverse ones inverse gammas.
local L2 = { { 2, 0 }, { -1, 0.5 } }   -- L L^T = { { 4, -2 }, { -2, 1.25 } }

local function wishart (df)
  return function (Wishart)
    return Wishart { df = df, scale_tril = L2 }, {
      { "element 1, 1", entry(1, 1, 4), peri.Chi2(df) },
      { "element 2, 2", entry(2, 2, 1.25), peri.Chi2(df) },
    }
  end
end

local function inverse_wishart (df)
  return function (InverseWishart)
    return InverseWishart { df = df, scale_tril = L2 }, {
      { "element 1, 1", entry(1, 1, 4), peri.InverseGamma((df - 1) / 2, 0.5) },
      { "element 2, 2", entry(2, 2, 1.25), peri.InverseGamma((df - 1) / 2, 0.5) },
    }
  end
end

local function matrix_normal (MatrixNormal)
  local column = { { 3, 0 }, { 4, 1 } }
  local d = MatrixNormal { loc = { { 1, 2 }, { 3, 4 } }, row_scale_tril = L2, column_scale_tril = column }
  return d, {
    { "element 1, 1", entry(1, 1), peri.Normal(1, 2 * 3) },
    { "element 2, 1", entry(2, 1), peri.Normal(3, math.sqrt(1.25) * 3) },
    { "element 1, 2", entry(1, 2), peri.Normal(2, 2 * math.sqrt(17)) },
  }
end

-- On the sphere in three dimensions 1 - cos(angle to the mean) is exponential, cut at 2.
local function von_mises_fisher (concentration)
  return function (VonMisesFisher)
    local function height (x) return 1 - (x * peri.tensor { 0.6, 0, -0.8 }):sum(-1) end
    local function clamped (x) return peri.minimum(peri.maximum(height(x), 0), 2) end
    return VonMisesFisher({ 0.6, 0, -0.8 }, concentration), {
      { "height", clamped, peri.Truncated(peri.Exponential(concentration), 0, 2) },
    }
  end
end

local function independent (Independent)
  return Independent(peri.Gamma({ 2, 0.5 }, { 1, 3 }), 1), {
    { "element 1", element(1), peri.Gamma(2, 1) }, { "element 2", element(2), peri.Gamma(0.5, 3) },
  }
end

-- The first of three pieces of a stick is the sigmoid of its number, less log 2.
local function logistic_normal (LogisticNormal)
  return LogisticNormal({ 0.5, -1 }, { 1, 2 }), {
    { "share 1", element(1), peri.LogitNormal(0.5 - math.log(2), 1) },
  }
end

local multivariate = {
  Dirichlet                = { dirichlet(1, 2, 3), dirichlet(0.01, 0.01, 0.02), dirichlet(1e5, 1, 1e-2, 3),
                               dirichlet(1, 1, 1) },
  DirichletMultinomial     = { dirichlet_multinomial(20, 1, 2, 3), dirichlet_multinomial(1000, 0.01, 5, 0.1) },
  Independent              = { independent },
  InverseWishart           = { inverse_wishart(3.5), inverse_wishart(1.2), inverse_wishart(1e5) },
  LKJ                      = { lkj(2, 1, own_correlation), lkj(3, 0.1, own_correlation), lkj(4, 2.5, own_correlation) },
  LKJCholesky              = { lkj(2, 1), lkj(3, 0.1), lkj(4, 2.5), lkj(5, 1) },
  LogisticNormal           = { logistic_normal },
  LowRankMultivariateNormal = {
    one_factor({ 1, 2, 3 }, { 1, -2, 0.5 }, { 1, 0.01, 100 }, { 1, 0, 0 }, { 2, 1, 0 }, { 0, 1, 1 }),
  },
  MatrixNormal             = { matrix_normal },
  Multinomial              = { multinomial(100, 0.2, 0.3, 0.5), multinomial(1, 0.1, 0.1, 0.8),
                               multinomial(1e6, 1e-6, 0.9, 0.1 - 1e-6) },
  MultivariateNormal       = {
    normal({ 0, 0 }, { { 1, 0 }, { 0, 1 } }, { 1, 0 }, { 0, 1 }, { 1, 1 }, { 1, -1 }),
    normal({ 1, -2, 3 }, { { 2, 0, 0 }, { -1, 0.5, 0 }, { 3, 1e-3, 1e-2 } }, { 1, 0, 0 }, { 0, 0, 1 }, { 3, 0, -2 }),
  },
  MultivariateStudentT     = {
    student(3, { 1, -2 }, L2, { 1, 0 }, { 0, 1 }, { 1, 3 }), student(0.5, { 0, 0 }, L2, { 1, 0 }, { 1, 3 }),
    student(1e8, { 0, 0 }, L2, { 0, 1 }),
  },
  OneHotCategorical        = { one_hot(0.1, 0.2, 0.7), one_hot(0, 1, 0, 3) },
  OneHotCategoricalStraightThrough = { one_hot(0.1, 0.2, 0.7) },
  RelaxedOneHotCategorical = { relaxed_one_hot(0.5, 0.1, 0.2, 0.7), relaxed_one_hot(10, 0.3, 0.3, 0.4) },
  VonMisesFisher           = { von_mises_fisher(1), von_mises_fisher(1e-4), von_mises_fisher(500) },
  Wishart                  = { wishart(3.5), wishart(1.2), wishart(1e5) },
}

return { univariate = univariate, multivariate = multivariate }
