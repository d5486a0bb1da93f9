-- Every method of every law of single numbers at extreme valid parameters: soon done, inside the support.
local peri     = require "perilune"
local contract = require "spec.support.contract"

local SECONDS = 1   -- for a call that should take some milliseconds, on a machine that is busy
local HUGE, TINY = 1e300, 1e-300

-- Parameters by place, or one table of named ones.
local POINTS = {
  AsymmetricLaplace   = { { 0, TINY, HUGE }, { 0, 1, HUGE }, { 0, 1, 1e-213 } },
  Bernoulli           = { { TINY }, { { logits = 700 } } },
  Beta                = { { TINY, TINY }, { HUGE, HUGE }, { TINY, HUGE }, { 1e-10, 1e10 }, { 1e15, 1e15 } },
  BetaBinomial        = { { 2, 3, 1e100 }, { 2, 3, HUGE }, { TINY, TINY, HUGE }, { HUGE, HUGE, HUGE },
                          { HUGE, TINY, 1 }, { 1e-10, 5, 2 ^ 53 }, { 1e10, 5, 1e15 }, { 1e100, 1e-5, 1e15 },
                          { 1e8, 1e8, 1e15 } },
  Binomial            = { { 2 ^ 53, 0.5 }, { 1e15, 1e-15 }, { 1e100, 0.5 }, { HUGE, TINY }, { HUGE, 1e-280 },
                          { HUGE, 1 - 2 ^ -53 }, { 1517028774658700, 0.9 }, { { total_count = HUGE, logits = 700 } } },
  Cauchy              = { { 0, HUGE }, { 0, TINY } },
  Chi2                = { { HUGE }, { TINY }, { 1e-5 } },
  ContinuousBernoulli = { { TINY }, { 1 - 2 ^ -53 } },
  DiscreteUniform     = { { 0, 2 ^ 53 }, { -HUGE, HUGE }, { 0, HUGE } },
  Exponential         = { { HUGE }, { TINY } },
  FisherSnedecor      = { { TINY, TINY }, { HUGE, HUGE }, { 1e-5, 1e15 } },
  Frechet             = { { TINY, 1 }, { HUGE, 1 } },
  Gamma               = { { HUGE, 1 }, { TINY, 1 }, { 1e15, TINY }, { 1e-5, 1 }, { 1e40, 3 }, { 1e150, 0.2 } },
  GeneralizedNormal   = { { 0, 1, HUGE }, { 0, 1, 1e-2 }, { 0, 1, TINY }, { 0, TINY, 0.003 } },
  GeneralizedPareto   = { { 0, 1, -HUGE }, { 0, 1, HUGE }, { 0, 1e-280, -TINY }, { 0, HUGE, TINY }, { 0, 1, 100 } },
  Geometric           = { { TINY }, { 1e-20 }, { 1 - 2 ^ -53 }, { { logits = 745 } }, { { logits = -800 } } },
  Gumbel              = { { 0, HUGE }, { 0, TINY } },
  HalfCauchy          = { { HUGE }, { TINY } },
  HalfNormal          = { { HUGE }, { TINY } },
  Hypergeometric      = { { 2 ^ 53, 2 ^ 53, 2 ^ 53 }, { 2 ^ 53, 2 ^ 52, 2 ^ 52 }, { 2 ^ 53, 2 ^ 53 - 1, 2 ^ 52 },
                          { 2 ^ 53, 1, 2 ^ 53 }, { 2 ^ 53, 2 ^ 52 + 1, 2 ^ 53 }, { 2 ^ 53, 2 ^ 26, 2 ^ 27 },
                          { 1e15, 0, 5 }, { 3259536492230801, 3204382584829801, 2623117318011700 } },
  InverseGamma        = { { HUGE, 1 }, { 1e15, 1 }, { 1e-5, 1 }, { 1e40, 3 }, { 1e129, 108 } },
  InverseGaussian     = { { HUGE, 1 }, { 1, HUGE }, { 1, TINY }, { 1e15, 1 }, { TINY, 1 }, { 1e258, TINY },
                          { HUGE, 1e-15 } },
  Kumaraswamy         = { { TINY, 1 }, { 1, TINY }, { HUGE, HUGE }, { 0.7, 5e-324 } },
  Laplace             = { { 0, HUGE }, { 0, TINY } },
  LogNormal           = { { 0, HUGE }, { 0, TINY }, { HUGE, 1 } },
  LogUniform          = { { TINY, HUGE } },
  Logistic            = { { 0, HUGE }, { 0, TINY } },
  LogitNormal         = { { 0, HUGE }, { 0, TINY }, { HUGE, 1 }, { 700, 1 }, { 0, 100 } },
  NegativeBinomial    = { { HUGE, 0.5 }, { TINY, 0.5 }, { 1e15, 0.5 }, { 1e-10, 1 - 2 ^ -53 }, { 2 ^ 53, 1e-15 },
                          { { total_count = 5, logits = 700 } }, { { total_count = HUGE, logits = -700 } } },
  Normal              = { { 0, HUGE }, { HUGE, TINY } },
  Pareto              = { { 1, HUGE }, { 1, TINY }, { HUGE, TINY } },
  Poisson             = { { HUGE }, { 1e100 }, { 1e15 }, { TINY }, { 2 ^ 53 } },
  Rayleigh            = { { HUGE }, { TINY } },
  RelaxedBernoulli    = { { TINY, 0.5 }, { HUGE, 0.5 }, { 1e-2, TINY } },
  SkewNormal          = { { 0, 1, HUGE }, { 0, 1, -HUGE }, { 0, HUGE, 5 }, { 0, 1, TINY } },
  StudentT            = { { TINY }, { HUGE }, { 1e-5 }, { 1e15 } },
  Triangular          = { { -HUGE, HUGE, 0 } },
  TruncatedNormal     = { { 0, 1, -HUGE, HUGE }, { 0, 1, HUGE, math.huge }, { 0, 1, 1e15, 1e15 + 1 },
                          { 0, TINY, -1, 1 }, { 0, HUGE, -1, 1 }, { 18, 1e-222, -5e4, 0.005 } },
  Uniform             = { { -HUGE, HUGE } },
  VonMises            = { { 0, HUGE }, { 0, TINY }, { 0, 1e15 }, { -288, 1e308 }, { 0, -0.0 } },
  Weibull             = { { 1, HUGE }, { 1, TINY }, { 1, 1e-2 } },
  ZeroInflatedPoisson = { { 0.5, HUGE }, { TINY, 1e15 }, { 1 - 2 ^ -53, 1e15 }, { 0.5, 1e8 } },
}

-- Those of other classes come from their specs.
for _, name in ipairs(peri.distributions()) do
  POINTS[name] = POINTS[name] or contract.of(name).extreme_points
end

-- Laws made of others, of vectors, or without parameters that could be extreme.
local ELSEWHERE = {}
for _, name in ipairs {
  "Categorical", "Delta", "Dirichlet", "DirichletMultinomial", "Flat", "HiddenMarkov", "Independent",
  "InverseWishart", "LKJ", "LKJCholesky", "LinearGaussian", "LogisticNormal", "LowRankMultivariateNormal", "Masked",
  "MatrixNormal", "MixtureDistribution", "MixtureSameFamily", "Multinomial", "MultivariateNormal",
  "MultivariateStudentT", "OneHotCategorical", "OneHotCategoricalStraightThrough", "RelaxedOneHotCategorical",
  "TransformedDistribution", "Truncated", "VonMisesFisher", "Wishart",
} do ELSEWHERE[name] = true end

-- So are all that are made of others or have events of their own.
for _, name in ipairs(peri.distributions()) do
  local c = peri[name]
  local has_rows = c.construct ~= nil or c.support ~= nil and c.support.event_dim > 0
  for _, param in ipairs(c.params) do has_rows = has_rows or param.event ~= nil end
  ELSEWHERE[name] = ELSEWHERE[name] or has_rows
end

local LEVELS = { 0, 5e-324, 1e-300, 1e-10, 0.3, 0.5, 0.999, 1 - 2 ^ -53, 1 }

-- The value of a method, in less than SECONDS.
local function timed (d, method, ...)
  local start = os.clock()
  local value = peri.item(d[method](d, ...))
  local seconds = os.clock() - start
  assert(seconds < SECONDS, string.format("%s:%s took %.1f s", tostring(d), method, seconds))
  return value
end

local function check_inside (d, x, what)
  local low, high = d:icdf(0), d:icdf(1)
  assert(x >= low and x <= high, string.format("%s: %s %g is outside of %g to %g", tostring(d), what, x, low, high))
end

-- Outcomes of all sizes, and of those that parameters have.
local function outcomes_for (d)
  local outcomes = { 0, 1e-13, 1, 2 ^ 53, 1e300, 1e308, math.huge }
  for power = -320, 300, 20 do
    outcomes[#outcomes + 1] = 10.0 ^ power
    outcomes[#outcomes + 1] = -10.0 ^ power
  end
  for _, param in ipairs(d.params) do
    local value = peri.item(d[param[1]])
    for _, part in ipairs { 1e-15, 1e-9, 1e-3, 0.3, 1, 3 } do outcomes[#outcomes + 1] = part * value end
  end
  return outcomes
end

local function check (d)
  local outcomes = outcomes_for(d)
  for _, method in ipairs { "mean", "variance", "stddev", "entropy" } do timed(d, method) end
  for _, method in ipairs { "mode", "median" } do check_inside(d, timed(d, method), method) end
  for _, u in ipairs(LEVELS) do
    for _, method in ipairs { "icdf", "isf" } do
      local x = timed(d, method, u)
      check_inside(d, x, method .. "(" .. u .. ")")
      assert(not d.support.is_discrete or math.abs(x) == math.huge or x % 1 == 0, tostring(d) .. ": no integer")
      outcomes[#outcomes + 1] = x
    end
  end
  for _, x in ipairs(outcomes) do
    for _, method in ipairs { "log_prob", "log_cdf", "log_sf" } do
      local l = timed(d, method, x)
      assert(l == l, string.format("%s:%s(%g) is NaN", tostring(d), method, x))
    end
    for _, method in ipairs { "cdf", "sf" } do
      local p = timed(d, method, x)
      assert(p >= 0 and p <= 1, string.format("%s:%s(%g) is %g", tostring(d), method, x, p))
    end
  end
  for seed = 1, 20 do check_inside(d, timed(d, "sample", nil, peri.rng(seed)), "sample") end
end

describe("At extreme parameters", function ()
  for _, name in ipairs(peri.distributions()) do
    if not ELSEWHERE[name] then
      it(name .. " is soon done and stays inside its support", function ()
        assert(POINTS[name], "no extreme parameters of " .. name)
        for _, point in ipairs(POINTS[name]) do check(peri[name](table.unpack(point))) end
      end)
    end
  end
end)

describe("Far out", function ()
  it("tails of SkewNormal are squares", function ()
    assert.equal(-0.5e302, peri.SkewNormal(0, 1, 1e-15):log_sf(1e151))
    assert.equal(-0.5e302 * 5, peri.SkewNormal(0, 1, 2):log_cdf(-1e151))
    assert.equal(-math.huge, peri.SkewNormal(0, 1, 2):log_cdf(-1e155))
  end)

  it("a narrow InverseGaussian has its density at its mean", function ()
    local expected = 0.5 * (math.log(1e294) - math.log(2 * math.pi) - 3 * math.log(1e-97))
    assert.near(expected, peri.InverseGaussian(1e-97, 1e294):log_prob(1e-97), 1e-11)
  end)
end)

describe("A gamma law of large shape", function ()
  it("knows the last bits of rate x", function ()
    -- 3 x is 2^100 - 2^46, 1/16 of a standard deviation below the mean; at 2^200 it is 2^46 of them.
    local level = peri.Normal(0, 1):cdf(-1 / 16)
    assert.near(level, peri.Gamma(2 ^ 100, 3):cdf(2 ^ 100 / 3), 1e-14)
    assert.near(1 - level, peri.Gamma(2 ^ 100, 3):sf(2 ^ 100 / 3), 1e-14)
    assert.near(math.log(level), peri.Gamma(2 ^ 100, 3):log_cdf(2 ^ 100 / 3), 1e-14)
    assert.equal(0, peri.Gamma(2 ^ 200, 3):cdf(2 ^ 200 / 3))
    assert.equal(-2 ^ 91, peri.Gamma(2 ^ 200, 3):log_cdf(2 ^ 200 / 3))
  end)
end)
