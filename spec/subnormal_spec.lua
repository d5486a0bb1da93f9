-- Quantiles of subnormal probabilities, and of the last one before 1: inside the support, monotone, and such that
-- the tail there is the probability that was asked for.
local peri     = require "perilune"
local contract = require "spec.support.contract"

local INF, LARGEST, SMALLEST, EPS = math.huge, 1.7976931348623157e308, 5e-324, 2.0 ^ -52

local POINTS = {
  AsymmetricLaplace   = { { 0, 1, 2 }, { 3, 0.5, 0.1 } },
  Beta                = { { 2, 3 }, { 0.5, 0.5 }, { 0.1, 7 }, { 50, 0.3 }, { 1000, 1000 } },
  Cauchy              = { { 0, 1 }, { 3, 0.1 } },
  Chi2                = { { 3 }, { 0.5 }, { 100 } },
  ContinuousBernoulli = { { 0.3 }, { 0.999 }, { 1e-5 } },
  Exponential         = { { 2 } },
  FisherSnedecor      = { { 3, 5 }, { 0.5, 2 }, { 100, 100 } },
  Frechet             = { { 2, 1 }, { 0.5, 1 }, { 1, 9 } },
  Gamma               = { { 2, 3 }, { 0.5, 1 }, { 0.01, 1 }, { 100, 1 } },
  GeneralizedNormal   = { { 0, 1, 1 }, { 0, 1, 4 }, { 0, 1, 0.5 } },
  GeneralizedPareto   = { { 0, 1, 0.5 }, { 0, 1, -0.5 }, { 0, 1, 0 }, { 2, 1, 1e-3 } },
  Gumbel              = { { 0, 1 }, { 3, 2 } },
  HalfCauchy          = { { 1 } },
  HalfNormal          = { { 1 } },
  InverseGamma        = { { 2, 3 }, { 0.5, 1 }, { 50, 1 } },
  InverseGaussian     = { { 1, 1 }, { 1, 100 }, { 100, 1 }, { 0.1, 5 } },
  Kumaraswamy         = { { 2, 3 }, { 0.5, 0.5 }, { 0.1, 5 } },
  Laplace             = { { 0, 1 } },
  LogNormal           = { { 0, 1 }, { 1, 0.1 }, { 0, 10 } },
  LogUniform          = { { 1, 10 } },
  Logistic            = { { 0, 1 } },
  LogitNormal         = { { 0, 1 }, { 3, 0.5 }, { 0, 5 } },
  Normal              = { { 0, 1 }, { 5, 2 } },
  Pareto              = { { 1, 2 }, { 1, 0.5 } },
  Rayleigh            = { { 1 } },
  RelaxedBernoulli    = { { 0.5, 0.3 }, { 2, 0.7 } },
  SkewNormal          = { { 0, 1, 0 }, { 0, 1, 3 }, { 0, 1, -3 }, { 0, 1, 50 } },
  StudentT            = { { 3 }, { 0.5 }, { 100 }, { 1e6 } },
  Triangular          = { { 0, 1, 0.3 }, { -1, 1, 0 } },
  TruncatedNormal     = { { 0, 1, -3, INF }, { 0, 1, -INF, 3 }, { 0, 1, -INF, -1 }, { 0, 1, -1, 2 }, { 0, 1, 5, 9 },
                          { 0, 1, -INF, INF }, { 2, 3, -50, -10 } },
  Uniform             = { { 0, 1 }, { -1, 2 }, { 3, 4 } },
  VonMises            = { { 0, 1 }, { 1, 10 }, { 0, 1000 } },
  Weibull             = { { 1, 2 }, { 1, 0.5 }, { 2, 10 } },
}

-- Those of other classes come from their specs.
for _, name in ipairs(peri.distributions()) do
  POINTS[name] = POINTS[name] or contract.of(name).subnormal_points
end

local DISCRETE = {
  Bernoulli = true, BetaBinomial = true, Binomial = true, Categorical = true, DiscreteUniform = true, Geometric = true,
  Hypergeometric = true, NegativeBinomial = true, Poisson = true, ZeroInflatedPoisson = true, Delta = true,
}

local function mixture (class, ...)
  return peri.MixtureSameFamily(peri.Categorical { 0.3, 0.7 }, class(...))
end

local MADE_OF_OTHERS = {
  mixture(peri.Normal, { -1, 2 }, { 1, 0.5 }), mixture(peri.Gamma, { 2, 3 }, 1), mixture(peri.Laplace, { -1, 2 }, 1),
  mixture(peri.LogNormal, { -1, 2 }, 1), mixture(peri.Exponential, { 2, 3 }),
  peri.Truncated(peri.Normal(0, 1), -3, INF), peri.Truncated(peri.Gamma(2, 1), 0.5, 8),
  peri.Truncated(peri.Cauchy(0, 1), -INF, 2),
  peri.TransformedDistribution(peri.Normal(1, 1), peri.transforms.Abs()),
  peri.TransformedDistribution(peri.Normal(0, 1), peri.transforms.Affine(3, -2)),
  peri.Masked(peri.TruncatedNormal(0, 1, -3, INF), true),
}

local LEVELS = { 1e-323, 1.5e-323, 1e-320, 3e-315, 1e-310, 2.2250738585072014e-308, 1e-300, 1e-17 }

-- The number a few ulps from x.
local function beside (x, sign)
  if x == -sign * INF then return -sign * LARGEST end
  return x + sign * (4 * EPS * math.abs(x) + SMALLEST)
end

-- Is u the tail at a number next to x, given how the tail grows with x?
local function is_quantile (log_tail, x, u, grows)
  local room = 1e-12 + 8 * EPS * math.abs(math.log(u))
  local less, more = log_tail(beside(x, -grows)), log_tail(beside(x, grows))
  return less <= math.log(u) + room and more >= math.log(u) - room
end

local function check (d, method, tail, grows)
  local before = nil
  local function log_tail (x) return peri.item(d[tail](d, x)) end
  local function text (u, x) return string.format("%s:%s(%g) is %.17g", tostring(d), method, u, x) end
  for _, u in ipairs { SMALLEST, table.unpack(LEVELS) } do
    local x = peri.item(d[method](d, u))
    assert(is_quantile(log_tail, x, u, grows), text(u, x))
    assert(before == nil or grows * (x - before) >= 0 or x == before, text(u, x) .. ", which is not monotone")
    before = x
  end
  local last = peri.item(d[method](d, 1 - 2 ^ -53))
  assert(grows * (last - before) >= 0, text(1 - 2 ^ -53, last))
end

local function check_both (d)
  check(d, "icdf", "log_cdf", 1)
  check(d, "isf", "log_sf", -1)
end

describe("Quantiles of subnormal probabilities", function ()
  for name, points in pairs(POINTS) do
    it("have that tail: " .. name, function ()
      for _, point in ipairs(points) do check_both(peri[name](table.unpack(point))) end
    end)
  end

  it("have that tail: laws made of others", function ()
    for _, d in ipairs(MADE_OF_OTHERS) do check_both(d) end
  end)

  it("are looked at for every continuous law of single numbers", function ()
    for _, name in ipairs(peri.distributions()) do
      local c = peri[name]
      local has_quantiles = rawget(c, "kernels") and rawget(c, "icdf")
      local is_discrete = DISCRETE[name] or c.support and c.support.is_discrete or c.super == peri.Categorical
      assert(POINTS[name] or is_discrete or not has_quantiles, name)
    end
  end)

  it("are those of mpmath", function ()
    local u = SMALLEST
    for _, row in ipairs {
      { 38.467440709147659188, peri.TruncatedNormal(0, 1, -3, INF):isf(u) },
      { 38.485408335567342218, peri.SkewNormal(0, 1, 3):isf(u) },
      { 0.00067425216754245537921, peri.InverseGaussian(1, 1):icdf(u) },
      { -1488.4338567401341051, peri.AsymmetricLaplace(0, 1, 2):icdf(u) },
      { -39.436115498462871481, peri.item(mixture(peri.Normal, { -1, 2 }, { 1, 0.5 }):icdf(u)) },
    } do assert.near(1, row[2] / row[1], 1e-14) end
  end)
end)
