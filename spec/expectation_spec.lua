--- Expectations with known values. Numbers that are no closed form come from mpmath at 40 digits.
local peri = require "perilune"

local INF, log = math.huge, math.log
local EULER = 0.57721566490153286061

local function check (d, f, expected, tolerance, opts)
  local value, error = d:expectation(f, opts)
  assert.equal("number", type(value))
  local off = math.abs(value - expected)
  local text = string.format("%s: expected %.17g, got %.17g, error %g", tostring(d), expected, value, error)
  assert(off <= tolerance * math.abs(expected), text)
  assert(off <= error + 4e-16 * math.abs(expected), text)
end

local function identity (x) return x end
local function square (x) return x * x end

it("sees an interval of a thousandth of the mass where its ends are named", function ()
  local d = peri.Gamma(2, 1)
  for k = 0, 9 do
    local low, high = d:icdf(0.05 + 0.09 * k), d:icdf(0.051 + 0.09 * k)
    local value, error = d:expectation(function (x) return peri.gt(x, low) * peri.le(x, high) end,
                                       { points = { low, high } })
    assert(math.abs(value - 0.001) <= error + 1e-15 and error < 1e-9)
  end
end)

describe("the expectation of a continuous distribution", function ()
  it("has its moments", function ()
    check(peri.Normal(0, 1), function (x) return x ^ 4 end, 3, 1e-14)
    check(peri.Normal(1000, 1e-3), identity, 1000, 1e-15)
    check(peri.Normal(0, 1), function (x) return (10 * x):exp() end, math.exp(50), 1e-13)
    check(peri.Gumbel(0, 1), square, math.pi ^ 2 / 6 + EULER ^ 2, 1e-13)
    check(peri.Normal(1, 2), peri.softplus, 1.6424953695288338, 1e-13)
    check(peri.Gamma(1e6, 1), identity, 1e6, 1e-13)
    check(peri.Uniform(-1, 3), square, 7 / 3, 1e-14)
  end)

  it("resolves singular ends", function ()
    check(peri.Beta(0.1, 0.1), peri.log, -5.1347150438188882, 1e-12)
    check(peri.Beta(0.1, 0.1), peri.sqrt, 0.55361697192709159, 1e-12)
    check(peri.Gamma(0.01, 1), identity, 0.01, 1e-12)
    check(peri.Gamma(0.5, 1), peri.log, -EULER - 2 * log(2), 1e-13)
    check(peri.Normal(0, 1), function (x) return x:abs():log() end, -0.63518142273073909, 1e-12)
    check(peri.Beta(0.05, 0.05), function (x) return (1 - x) ^ 0.05 end, 0.74731561443446094, 1e-13)
    check(peri.Uniform(1, 2), function (x) return (2 - x) ^ -0.9 end, 10, 1e-12)
  end)

  it("resolves densities that are hardly integrable", function ()
    for _, a in ipairs { 1e-3, 1e-6, 1e-8 } do
      check(peri.Beta(a, a), identity, 0.5, 1e-10)
      check(peri.Gamma(a, 1), peri.log, peri.special.digamma(a), 1e-6)
    end
    local value, error = peri.Beta(1e-13, 1e-13):expectation(identity)
    assert(math.abs(value - 0.5) <= error)
  end)

  it("resolves heavy tails", function ()
    check(peri.Cauchy(0, 1), function (x) return (x * x):log1p() end, 2 * log(2), 1e-13)
    check(peri.StudentT(1.1), function (x) return x:abs() ^ 0.05 end, 0.99954109703390123, 1e-12)
    check(peri.StudentT(3), square, 3, 1e-12)
    check(peri.Pareto(1, 0.1), peri.log, 10, 1e-13)
    check(peri.Pareto(1, 1.02), identity, 51, 1e-11)   -- half of it lies beyond the reach of the quadrature
    check(peri.Pareto(0.5, 0.2), function (x) return x ^ 0.19 end, 20 * 0.5 ^ 0.19, 1e-12)   -- as do most x
    check(peri.LogNormal(0, 14), function (x) return x ^ -1.7 end, math.exp((14 * 1.7) ^ 2 / 2), 1e-10)
  end)

  it("is infinite, or NaN, where the mathematics are", function ()
    assert.equal(INF, (peri.Cauchy():expectation(peri.abs)))
    assert.equal(INF, (peri.Cauchy():expectation(square)))
    assert.equal(INF, (peri.StudentT(2):expectation(square)))
    assert.equal(INF, (peri.Uniform(1, 2):expectation(function (x) return 1 / (2 - x) end)))   -- like a logarithm
    assert.equal(-INF, (peri.Pareto(1, 0.5):expectation(function (x) return -x end)))
    local mean, error = peri.Cauchy():expectation(identity)
    assert(mean ~= mean)
    assert.equal(INF, error)
    local p, q = peri.Normal(0, 1), peri.Uniform(-1, 1)
    assert.equal(INF, (p:expectation(function (x) return p:log_prob(x) - q:log_prob(x) end)))
    local nan = p:expectation(function (x) return peri.where(x:gt(1), 0 / 0, x) end)
    assert(nan ~= nan)
  end)

  it("admits what rounding hides", function ()
    local value, error = peri.Beta(0.1, 0.1):expectation(function (x) return (-x):log1p() end)   -- 1 - x is lost
    assert(math.abs(value + 5.1347150438188882) <= error and error < 1)
  end)

  it("loses nothing at infinite ends of a batch", function ()
    local function exp (x) return peri.exp(x) end
    local one, error = peri.Truncated(peri.Normal(1, 1), -math.huge, 0.7):expectation(exp)
    local all, errors = peri.Truncated(peri.Normal({ 1, 0 }, 1), -math.huge, { 0.7, 100 }):expectation(exp)
    assert(math.abs(all[1] - one) <= 1e-14 and errors[1] <= 2 * error)
    assert(math.abs(all[2] - math.exp(0.5)) <= errors[2] and errors[2] < 1e-13)
  end)

  it("knows the kinks of densities, and those it is told", function ()
    local points
    local function counted (f)
      points = 0
      return function (x)
        points = points + #x
        return f(x)
      end
    end
    local d = peri.AsymmetricLaplace(0, 1, 3)
    check(d, counted(function (x) return -d:log_prob(x) end), d:entropy(), 1e-13)
    assert(points < 1000)
    local function bent (x) return (x - 1):abs() end
    local e = 2 * (math.exp(-0.5) / math.sqrt(2 * math.pi) + peri.Normal():cdf(1)) - 1
    check(peri.Normal(), counted(bent), e, 1e-12)
    local untold = points
    assert(untold < 2000)   -- the half without a kink is left alone
    check(peri.Normal(), counted(bent), e, 1e-14, { points = { 1 } })
    assert(points < 0.75 * untold)
    check(peri.Normal(), function (x) return x:gt(2) end, peri.Normal():sf(2), 1e-12)
  end)

  it("gives KL divergences that have no closed form", function ()
    local function kl (p, q) return p, function (x) return p:log_prob(x) - q:log_prob(x) end end
    local p, f = kl(peri.Normal(0, 1), peri.Logistic(1, 2))
    check(p, f, 0.77969046455552007, 1e-13)
    p, f = kl(peri.Cauchy(0, 1), peri.StudentT(3))
    check(p, f, 0.29285018028752357, 1e-12)
  end)

  it("finds jumps wherever they are", function ()
    local d = peri.Weibull(2, 0.5)   -- c at the very edge of the upper half
    local c = d:icdf(0.4998)
    check(d, function (x) return x:gt(c) end, d:sf(c), 1e-13)
    -- in either half one, which together would leave a gap as narrow as c is close to 3
    check(peri.Uniform(0, 1), function (x) return (3.01 * x):floor() end, 3 - 6 / 3.01, 1e-13)
    -- x is rounded to 1e-8, which is 1e-5 of the mass
    d = peri.Normal(1e8, 1e-3)
    local value, error = d:expectation(function (x) return x:gt(1e8 + 1e-4) end)
    assert(math.abs(value - d:sf(1e8 + 1e-4)) <= error and error < 1e-4)
  end)

  it("of a law with points sees quantiles beyond all numbers", function ()
    local tail = peri.Censored(peri.InverseGamma(3, 4), 10, math.huge)
    local d = peri.Truncated(peri.TransformedDistribution(tail, { peri.transforms.Exp() }), 0.1, math.huge)
    local value, error = d:expectation(function (x) return peri.gt(x, math.exp(15)) end)
    assert.near(tail:sf(15), value, error)
    assert(error < 1e-4, error)
  end)

  it("takes a jump at the last levels that there are for no divergence", function ()
    local d = peri.Pareto(4.33, 1098)
    for _, c in ipairs { 7, 8, 8.06, 8.2 } do
      local value, error = d:expectation(function (x) return peri.gt(x, c) end)
      assert.near(d:sf(c), value, error + 1e-300, c)
    end
  end)

  it("states what it does not know of a pole", function ()   -- E |F(X) - c|^k = (c^(1 + k) + (1 - c)^(1 + k))/(1 + k)
    local cases = {
      { peri.SkewNormal(0, 1, -2.93), 0.479, -0.659 }, { peri.LogNormal(0.422, 0.221), 0.847, -0.757 },
      { peri.Logistic(0.64, 0.15), 0.617, -0.732 }, { peri.Frechet(0.517, 4.446), 0.195, -0.787 },
      { peri.LogitNormal(-0.18, 0.81), 0.642, -0.706 }, { peri.VonMises(0.916, 2.857), 0.615, -0.662 },
    }
    for _, case in ipairs(cases) do
      local d, c, k = table.unpack(case)
      local value, error = d:expectation(function (x) return peri.abs(d:cdf(x) - c) ^ k end)
      local off = math.abs(value - (c ^ (1 + k) + (1 - c) ^ (1 + k)) / (1 + k))
      assert(off <= error and error < 0.05, string.format("%s: off by %g, stated %g", tostring(d), off, error))
    end
  end)

  it("needs no second round where f is smooth", function ()
    local laws = { peri.Normal(0, 1), peri.Logistic(1, 2), peri.Gamma(2, 1), peri.Beta(2, 3), peri.Laplace(0, 1) }
    for _, d in ipairs(laws) do
      local calls, points = 0, 0
      local _, error = d:expectation(function (x)
        calls, points = calls + 1, points + #x
        return x * x + x
      end)
      assert(calls <= 7 and points <= 900, string.format("%s: %d calls, %d points", tostring(d), calls, points))
      assert(error < 1e-12)
    end
  end)

  it("of a batch is that of its elements, at their price", function ()
    local function rough (x) return (40 * x):floor() + 1 / (x - 0.3) end
    local scale, points = peri.linspace(1, 2, 40), 0
    local value, error = peri.Normal(0, scale):expectation(function (x)
      points = points + x:numel()
      return rough(x)
    end)
    local most = 0
    for i = 1, 40 do
      local count = 0
      local alone, its_error = peri.Normal(0, scale[i]):expectation(function (x)
        count = count + #x
        return rough(x)
      end)
      assert(value[i] == alone or math.abs(value[i] - alone) <= its_error)
      assert(error[i] == its_error or math.abs(error[i] - its_error) <= 1e-6 * its_error)
      most = math.max(most, count)
    end
    assert(points <= 2 * 40 * most)
  end)

  it("keeps the batch, and f may depend on it", function ()
    local loc, scale = peri.tensor { 0, 1, -2 }, peri.tensor { { 1 }, { 0.01 } }
    local d = peri.Normal(loc, scale)
    local value, error = d:expectation(function (x)
      assert.same({ 2, 3 }, { x.shape[2], x.shape[3] })
      return (x - loc) ^ 2 / scale
    end)
    assert.same({ 2, 3 }, value.shape)
    assert.same({ 2, 3 }, error.shape)
    assert.is_true(value:allclose(scale:expand(2, 3), 1e-13))
    assert(peri.item(error:max()) < 1e-13)
    assert.equal(4, peri.Normal(0, 1):expand(4):expectation(square):numel())
    assert.near(1, peri.Normal(peri.tensor(0), 1):expectation(square), 1e-13)
    assert.same({ 0 }, peri.Normal(peri.zeros(0), 1):expectation(square).shape)
  end)
end)

describe("the expectation of a class that has a density only", function ()
  local function class (support, log_prob)
    local c = peri.Distribution:extend("Mine", { params = { { "scale", peri.constraints.positive, default = 1 } },
                                                 support = support })
    c.log_prob = log_prob
    return c
  end

  it("integrates over the line, a half line and an interval", function ()
    local Laplace = class(peri.constraints.real, function (self, x)
      return -peri.abs(x / self.scale) - peri.log(2 * self.scale)
    end)
    check(Laplace(300), square, 2 * 300 ^ 2, 1e-12)
    local Exponential = class(peri.constraints.nonnegative, function (self, x)
      return -x / self.scale - peri.log(self.scale)
    end)
    check(Exponential(1e-3), square, 2e-6, 1e-12)
    local Arcsine = class(peri.constraints.unit_interval, function (_, x)
      return -peri.log(x * (1 - x)) / 2 - log(math.pi)
    end)
    check(Arcsine(), peri.log, -2 * log(2), 1e-12)
    check(Arcsine(), square, 0.375, 1e-7)   -- the density is infinite at 1, where doubles are coarse
    local Below = class(peri.constraints.interval(-INF, 2), function (_, x) return x - 2 end)
    check(Below(), identity, 1, 1e-12)
    function Below:mean () return (self:expectation(identity)) end   -- asks for what is being computed
    check(Below(), identity, 1, 1e-12)
    assert(math.abs(Below():mean() - 1) < 1e-12)
    assert.is_true(Laplace({ 1, 10 }):expectation(square):allclose({ 2, 200 }, 1e-12))
  end)
end)

describe("the expectation of a discrete distribution", function ()
  it("sums a finite support", function ()
    check(peri.Bernoulli(0.25), identity, 0.25, 0)
    check(peri.Binomial(10, 0.3), square, 11.1, 1e-15)
    assert(math.abs(peri.item(peri.Categorical { 1, 2, 5 }:expectation(identity)) - 2.5) < 1e-15)
    assert.is_true(peri.Binomial({ 3, 10, 0 }, { 0.5, 0.1, 0.5 }):expectation(identity):allclose({ 1.5, 1, 0 }, 1e-15))
  end)

  it("sums all that matters of an infinite one", function ()
    check(peri.Poisson(3.5), peri.sqrt, 1.7830944455327224, 1e-14)
    check(peri.Geometric(0.2), peri.log1p, 1.2544771013313913, 1e-14)
    check(peri.Poisson(1e6), function (x) return (x - 1e6) ^ 2 end, 1e6, 1e-11)
    check(peri.Binomial(1e5, 0.3), function (x) return (x - 3e4) ^ 2 end, 21000, 1e-12)
    local heavy = peri.NegativeBinomial(0.1, 0.9999)
    check(heavy, identity, heavy:mean(), 1e-13)
    check(peri.Poisson(1), function (x) return x:gt(3) end, peri.Poisson(1):sf(3), 1e-14)
    assert.is_true(peri.Poisson({ 0, 1, 1e4 }):expectation(identity):allclose({ 0, 1, 1e4 }, 1e-13))
    local function odd (x) return x % 2 end
    local value, error = peri.Poisson(1e8):expectation(odd, { outcomes = 3000 })   -- of a million
    assert(math.abs(value - 0.5) <= error and error < 10)
    local nan = peri.Poisson(3):expectation(function (x) return peri.where(x:gt(5), 0 / 0, x) end)
    assert(nan ~= nan)
  end)

  it("does without a cdf, and reports the tail it leaves", function ()
    local Zeta = peri.Distribution:extend("Zeta", { support = peri.constraints.integer_interval(1, INF) })
    function Zeta:log_prob (x) return -4 * peri.log(x) - log(math.pi ^ 4 / 90) end   -- luacheck: ignore self
    local value, error = Zeta():expectation(identity)
    local expected = 1.2020569031595942 / (math.pi ^ 4 / 90)
    assert(math.abs(value - expected) < 1e-9 and math.abs(value - expected) <= error)
  end)
end)

describe("expectation", function ()
  it("refuses vectors and what is no function", function ()
    local function message (d, ...) return select(2, pcall(d.expectation, d, ...)) end
    assert.matches("MultivariateNormal:expectation: only distributions of single numbers have one, "
                   .. "here an event has shape %(2%)",
                   message(peri.MultivariateNormal({ 0, 0 }, { { 1, 0 }, { 0, 1 } }), identity))
    assert.matches("Normal:expectation: f must be a function, got 3", message(peri.Normal(), 3))
    assert.matches("Normal:expectation: options must be a table, got 3", message(peri.Normal(), identity, 3))
    local composed = {
      peri.Normal(0, 1), peri.TransformedDistribution(peri.Normal(0, 1), peri.transforms.Exp()),
      peri.Truncated(peri.Normal(0, 1), 0, 3), peri.Poisson(2),
      peri.MixtureSameFamily(peri.Categorical { 0.5, 0.5 }, peri.Normal({ 0, 1 }, 1)),
    }
    for _, d in ipairs(composed) do
      assert.matches(":expectation: options must be a table, got a tensor of shape %(2%)",
                     message(d, identity, peri.tensor { 1, 2 }))
      assert.matches(":expectation: points must be a list of numbers or tensors, got 3",
                     message(d, identity, { points = 3 }))
      assert.matches(":expectation: points must be a list of numbers or tensors, got a table of 1 element",
                     message(d, identity, { points = { "x" } }))
      assert.matches(":expectation: panels must be a positive integer, got 0", message(d, identity, { panels = 0 }))
      assert.matches(":expectation: rtol must be a number from 0 on, got nan", message(d, identity, { rtol = 0 / 0 }))
    end
  end)
end)

it("of a class that knows its mean and sd alone is found there", function ()
  local Own = peri.Distribution:extend("Own", { params = { { "loc", peri.constraints.real } },
                                                support = peri.constraints.real })
  function Own:log_prob (x) return peri.Normal(self.loc, 0.01):log_prob(x) end
  function Own:mean () return self.loc end
  function Own:stddev () return 0.01 * self.loc / self.loc end
  local value, error = Own(300):expectation(function (x) return x * x end)
  assert.near(300 ^ 2 + 0.01 ^ 2, value, math.max(2 * error, 1e-9))
end)

it("of a mixture may be told how f is made", function ()
  local d = peri.MixtureSameFamily(peri.Categorical { 0.3, 0.7 }, peri.Normal({ -1, 2 }, { 1, 0.5 }))
  local value = d:expectation(function (x) return (x / 2):exp() end, {
    parts = { inner = function (x) return x / 2 end, outer = function (y) return y:exp() end } })
  assert.near(0.3 * math.exp(-1 / 2 + 1 / 8) + 0.7 * math.exp(1 + 0.25 / 8), value, 1e-12)
end)

it("says what it does not know where most of a law is beyond all doubles", function ()
  local d = peri.Weibull(175570, 2.8e-6)
  local value, error = d:expectation(peri.log)
  local expected = math.log(175570) - 0.57721566490153286 / 2.8e-6
  assert.is_true(math.abs(value - expected) <= error)
  value, error = d:expectation(peri.tanh)   -- but not of what has arrived before
  assert.near(d:sf(1), value, 1e-5)
  assert.is_true(error < 1e-4)
  value, error = peri.Gamma(1e-3, 1):expectation(peri.log)
  assert.near(-1000.5755719318103, value, error)
  assert.is_true(error < 1e-7)
end)

it("sums over the outcomes of thousands of laws, some at a time", function ()
  local value, error = peri.Poisson(peri.full({ 4000 }, 1e5)):expectation(function (x) return x end)
  assert.is_true((value - 1e5):abs():max() < 1e-9)
  assert.is_true(error:max() < 1e-9)
end)

it("expectation sees jumps where numbers are nearly 0", function ()
  local gamma = peri.Gamma(0.00044, 1)
  for _, c in ipairs { 1e-100, 1e-130, 1e-180, 1e-215, 1e-280, 1e-305 } do
    local value, error = gamma:expectation(function (x) return peri.gt(x, c) end)
    assert(math.abs(value - gamma:sf(c)) <= error + 1e-15, c)
  end
end)

-- Sums of 20-point rules over the line; 1F1 with 30 digits for the density of NoncentralT.
it("has the digits of dear laws, also where nothing states an error", function ()
  local T = peri.NoncentralT
  local mixture = peri.MixtureDistribution(peri.Categorical { 0.5, 0.5 }, { T(14, 4.6), T(16, -0.28) })
  assert.near(2.2827804119155, mixture:entropy(), 1e-12)
  assert.near(mixture:entropy(), (mixture:expectation(function (x) return -mixture:log_prob(x) end)), 1e-12)
  mixture = peri.MixtureDistribution(peri.Categorical { 0.102, 0.156 }, { T(18.8, -3.92), T(3.47, -3.68) })
  assert.near(0.96117461552976, peri.Truncated(mixture, -5.22612):variance(), 1e-12)
end)

it("counts what lies beyond the end of a path", function ()
  local law = peri.Truncated(peri.NoncentralT(0.96, 1.76), -242699, 1360410)
  local value, error = law:expectation(function (x) return x end)
  assert(math.abs(value - 23.834671436175) <= error and error < 1e-6, value)
  local cut = peri.Truncated(peri.StudentT(1.11, -1.21, 0.06), -385017000)
  assert.near(1, (cut:expectation(function (x) return x:eq(x) end)), 1e-13)
  assert.near(-0.39586552892, cut:entropy(), 1e-10)
end)
