--- Every registered pair of families of single numbers over a wide grid of parameters: no divergence is negative
-- or NaN. Half of the draws are of laws that are near each other.
local peri = require "perilune"

local INF    = math.huge
local DRAWS  = 120
local rng    = peri.rng(20240517)
local stream = {}   -- numbers between 0 and 1

local function uniform ()
  if #stream == 0 then stream = peri.Uniform(0, 1):sample(4096, rng):totable() end
  return table.remove(stream)
end

-- Kinds of parameters: near 1, far from it, and at the ends of what makes sense.
local function scale ()
  local k = uniform()
  local reach = k < 0.4 and 1 or k < 0.7 and 6 or k < 0.9 and 20 or 60
  return 10 ^ (reach * (2 * uniform() - 1))
end
local function real () return uniform() < 0.2 and 0 or (uniform() < 0.5 and -1 or 1) * scale() end
local function share ()
  local k = uniform()
  return k < 0.5 and uniform() or k < 0.75 and 10 ^ (-15 * uniform()) or 1 - 10 ^ (-15 * uniform())
end
local function count () return math.floor(10 ^ (12 * uniform() * uniform())) end
local function shape () return 10 ^ (uniform() - 0.5) end   -- of those that are computed numerically
local function all (...)
  local kinds = { ... }
  return function ()
    local values = {}
    for i, kind in ipairs(kinds) do values[i] = kind() end
    return table.unpack(values)
  end
end

local function interval ()
  local low = real()
  return low, low + math.max(scale(), 1e-3 * math.abs(low))
end

local draw = {
  AsymmetricLaplace = all(real, scale, scale), Bernoulli = all(share), Beta = all(scale, scale),
  Binomial = all(count, share), Cauchy = all(real, scale), ContinuousBernoulli = all(share), Exponential = all(scale),
  FisherSnedecor = all(scale, scale), Frechet = all(scale, scale), Gamma = all(scale, scale),
  GeneralizedNormal = all(function () return 4 * uniform() end, shape, shape),
  GeneralizedPareto = all(real, scale, function () return 4 * uniform() - 2 end), Geometric = all(share),
  Gumbel = all(real, scale), HalfCauchy = all(scale), HalfNormal = all(scale), InverseGamma = all(scale, scale),
  InverseGaussian = all(scale, scale), Kumaraswamy = all(scale, scale), Laplace = all(real, scale),
  LogNormal = all(real, scale), Logistic = all(real, scale), LogitNormal = all(real, scale),
  NegativeBinomial = all(scale, share), Normal = all(real, scale), Pareto = all(scale, scale), Poisson = all(scale),
  Rayleigh = all(scale), SkewNormal = all(real, scale, real), StudentT = all(scale, real, scale), Uniform = interval,
  VonMises = all(real, scale), Weibull = all(scale, scale), ZeroInflatedPoisson = all(share, scale),
  BetaBinomial = all(scale, scale, count),
  DiscreteUniform = function ()
    local low = math.floor(1e6 * uniform())
    return low, low + count()
  end,
  Hypergeometric = function ()
    local n = count() + 1
    return n, math.floor(n * uniform()), math.floor(n * uniform())
  end,
  LogUniform = function ()
    local low = scale()
    return low, low * (1 + math.max(scale(), 1e-9))
  end,
  Triangular = function ()
    local low, high = interval()
    return low, high, low + uniform() * (high - low)
  end,
  TruncatedNormal = function ()
    local loc, width = real(), scale()
    local low = loc + width * (6 * uniform() - 3)
    return loc, width, low, low + math.max(width * scale(), 1e-3 * math.abs(low))
  end,
}

-- Parameters of q that give it mean m and standard deviation s, or nearly.
local match = {
  Normal = function (m, s) return m, s end, Laplace = function (m, s) return m, s end,
  Gumbel = function (m, s) return m, s end, Uniform = function (m, s) return m - 2 * s, m + 2 * s end,
  Gamma = function (m, s) return (m / s) ^ 2, m / s ^ 2 end, LogNormal = function (m, s) return math.log(m), s / m end,
  InverseGaussian = function (m, s) return m, m ^ 3 / s ^ 2 end, Weibull = function (m, s) return m, m / s end,
  InverseGamma = function (m, s) return (m / s) ^ 2 + 2, m * ((m / s) ^ 2 + 1) end,
  Frechet = function (m, s) return m, m / s end, Exponential = function (m) return 1 / m end,
  Poisson = function (m) return m end,
  Beta = function (m, s)
    local n = m * (1 - m) / s ^ 2 - 1
    return m * n, (1 - m) * n
  end,
}

-- Parameters of a q near to a p of these parameters; any others where there is no such law.
local function near (P, Q, params)
  if P == Q then
    local values, off = {}, 10 ^ (-16 * uniform()) * (uniform() - 0.5)
    for i, x in ipairs(params) do values[i] = math.type(x) == "integer" and x or x * (1 + off) end
    return values
  end
  local p = peri[P](table.unpack(params))
  local ok, mean, deviation = pcall(function () return p:mean(), p:stddev() end)
  local values = ok and match[Q] and { match[Q](mean, deviation) } or {}
  for _, x in ipairs(values) do ok = ok and math.abs(x) < INF end   -- false for NaN
  if #values == 0 or not ok or not pcall(peri[Q], table.unpack(values)) then return { draw[Q]() } end
  return values
end

-- Lists of parameters as a list for each parameter.
local function columns (list)
  local values = {}
  for k = 1, #list[1] do
    values[k] = {}
    for i, params in ipairs(list) do values[k][i] = params[k] end
  end
  return values
end

-- Parameters of n pairs that both classes accept.
local function parameters (P, Q, n)
  local of_p, of_q = {}, {}
  while #of_p < n do
    local a = { draw[P]() }
    if pcall(peri[P], table.unpack(a)) then
      local b = #of_p % 2 == 0 and near(P, Q, a) or { draw[Q]() }
      if pcall(peri[Q], table.unpack(b)) then of_p[#of_p + 1], of_q[#of_q + 1] = a, b end
    end
  end
  return of_p, of_q
end

local function name_of (P, a, Q, b)
  return tostring(peri[P](table.unpack(a))) .. " || " .. tostring(peri[Q](table.unpack(b)))
end

-- Pairs that are computed numerically for most parameters.
local numeric = { GeneralizedNormal = { GeneralizedNormal = true, Laplace = true }, Logistic = { Logistic = true },
                  Laplace = { GeneralizedNormal = true }, Normal = { GeneralizedNormal = true },
                  Binomial = { Binomial = true }, NegativeBinomial = { NegativeBinomial = true } }

describe("the divergence of every registered pair", function ()
  it("is neither negative nor NaN, and states an error", function ()
    local count_of_pairs = 0
    for _, pair in ipairs(peri.kl_pairs()) do
      local P, Q = pair[1], pair[2]
      if draw[P] and draw[Q] then
        local of_p, of_q = parameters(P, Q, numeric[P] and numeric[P][Q] and 6 or DRAWS)
        local found = peri.kl_explain(peri[P](table.unpack(columns(of_p))), peri[Q](table.unpack(columns(of_q))))
        local value, error = found.value:totable(), (found.error + 0 * found.value:detach()):totable()
        for i, kl in ipairs(value) do
          assert(kl >= 0, name_of(P, of_p[i], Q, of_q[i]) .. " is " .. kl)
          assert(kl == INF or error[i] >= 0, name_of(P, of_p[i], Q, of_q[i]) .. " has error " .. error[i])
        end
        count_of_pairs = count_of_pairs + 1
      end
    end
    assert(count_of_pairs > 500, count_of_pairs)
  end)

  it("is 0 within its error where both are nearly the same law", function ()
    for _, case in ipairs {   -- the true value, from asymptotics, is below all of these errors
      { peri.Gamma(1e20, 1e10), peri.Normal(1e10, 1), 3.3e-21 },
      { peri.Beta(1e12, 1e12), peri.Normal(0.5, 8e12 ^ -0.5), 2.5e-25 },
      { peri.LogNormal(0, 1e-9), peri.Normal(1, 1e-9), 8.75e-19 },
      { peri.InverseGaussian(1, 1e18), peri.Normal(1, 1e-9), 1e-18 },
      { peri.Weibull(3, 1), peri.Gamma(1, 1 / 3), 0 },
    } do
      local found = peri.kl_explain(case[1], case[2])
      assert(found.value >= 0 and math.abs(found.value - case[3]) <= found.error, tostring(case[1]))
    end
  end)

  it("is neither for vectors and matrices", function ()
    local n = 500
    local function far (...) return 10 ^ (12 * (peri.Uniform(0, 1):sample({ ... }, rng) - 0.5)) end
    local function normal (...) return peri.Normal(0, 1):sample({ ... }, rng) end
    local function triangle ()
      return normal(n, 3, 3) * peri.tensor { { 0, 0, 0 }, { 1, 0, 0 }, { 1, 1, 0 } } + far(n, 3, 1) * peri.eye(3)
    end
    local function unit (x) return x / (x * x):sum(-1):sqrt():unsqueeze(-1) end
    local kinds = {   -- parameters, and the distribution they make
      Dirichlet   = { function () return far(n, 4) end, function (a) return peri.Dirichlet(a) end },
      Categorical = { function () return 9 * normal(n, 5) end,
                      function (a) return peri.Categorical { logits = a } end },
      Multinomial = { function () return 9 * normal(n, 5) end,
                      function (a) return peri.Multinomial { total_count = 9, logits = a } end },
      LKJ         = { function () return far(n) end, function (a) return peri.LKJ(4, a) end },
      LKJCholesky = { function () return far(n) end, function (a) return peri.LKJCholesky(4, a) end },
      Wishart     = { triangle, function (a) return peri.Wishart { df = 3.5, scale_tril = a } end },
      VonMisesFisher = { function () return normal(n, 3) end,
                         function (a) return peri.VonMisesFisher(unit(a), (a * a):sum(-1)) end },
      MultivariateNormal = { triangle, function (a)
        return peri.MultivariateNormal { loc = a:select(-1, 1), scale_tril = a }
      end },
    }
    for name, kind in pairs(kinds) do
      for _, off in ipairs { 1e-14, 1e-8, 1e-3, 1 } do
        local a = kind[1]()
        local b = off == 1 and kind[1]() or a * (1 + off * (peri.Uniform(0, 1):sample(a.shape, rng) - 0.5))
        local kl = peri.kl_divergence(kind[2](a), kind[2](b))
        assert.equal(n, kl:ge(0):sum(), name .. " " .. off)
      end
    end
  end)
end)
