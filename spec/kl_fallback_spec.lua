--- Divergences that no pair is registered for. Numbers that are no closed form come from mpmath at 30 digits.
local peri = require "perilune"

local INF = math.huge
local Normal, Cauchy, Beta = peri.Normal, peri.Cauchy, peri.Beta

local function mixture (weights, ...) return peri.MixtureSameFamily(peri.Categorical(weights), Normal(...)) end

local function number (x) return type(x) == "number" and x or peri.item(x) end

-- How kl_divergence came to its answer, which must be `expected` to this part and to its own estimate.
local function check (p, q, method, expected, tolerance)
  local found = peri.kl_explain(p, q)
  local off = math.abs(number(found.value) - expected)
  local text = string.format("%s || %s: expected %.17g, got %.17g, error %g", tostring(p), tostring(q), expected,
                             number(found.value), number(found.error))
  assert.equal(method, found.method, text)
  assert(off <= tolerance * expected, text)
  assert(off <= number(found.error) + 8e-16 * expected, text)
end

describe("KL by quadrature", function ()
  it("is right for laws on the line", function ()
    check(Normal(0, 1), Cauchy(0, 1), "quadrature", 0.25924453248886226362, 1e-14)
    check(Normal(0, 1), peri.StudentT(3, 0.5, 2), "quadrature", 0.45893406545402030130, 1e-14)
    check(peri.StudentT(2.5), peri.StudentT(7, 1, 2), "quadrature", 0.26675011276927718681, 1e-14)
    check(peri.Logistic(0, 1), peri.Logistic(1, 2.5), "quadrature", 0.46044800078485535537, 1e-14)
  end)

  it("is right for truncations and mixtures", function ()
    check(peri.Truncated(Normal(0, 1), -1, 2), peri.Truncated(Normal(0.5, 2), -1.5, 3), "quadrature",
          0.37423322670704591245, 1e-13)
    local two = mixture({ 0.3, 0.7 }, { -1, 2 }, 0.5)
    check(two, Normal(1, 2), "quadrature", 0.54768321759324713093, 1e-13)
    check(Normal(1, 2), two, "quadrature", 1.9061528545897224501, 1e-13)
    check(two, mixture({ 0.5, 0.5 }, { -1, 2 }, { 0.5, 1 }), "quadrature", 0.29418001771891600679, 1e-13)
  end)

  it("follows densities to singular ends, where doubles cannot", function ()
    local arcs = peri.Distribution:extend("Arcs", { support = peri.constraints.unit_interval })
    function arcs.log_prob (_, x) return -0.9 * (peri.log(x) + peri.log1p(-x)) - 2.9813614810376273949 end
    local function kl (p, q)
      return p:expectation(function (x) return p:log_prob(x) - q:log_prob(x) end)
    end
    for _, case in ipairs {
      { 0.1, 0.1,   peri.LogitNormal(0, 1),                98.343933194196026464 },
      { 0.1, 0.1,   peri.Kumaraswamy(2, 3),                19.160370143844759363 },
      { 0.1, 0.1,   peri.TruncatedNormal(0.3, 1, 0, 1),    6.3259257428014139060 },
      { 0.01, 0.02, peri.Kumaraswamy(2, 3),                175.17694614020783902 },
      { 0.5, 0.5,   peri.TruncatedNormal(0.3, 1, 0, 1),    0.26469795356886577959 },
      { 2, 0.001,   peri.Kumaraswamy(2, 3),                2991.9117449236228770, 1e-11 },   -- 98 % within 2^-21 of 1
    } do
      local value, error = kl(Beta(case[1], case[2]), case[3])
      local off = math.abs(value - case[4])
      assert(off <= (case[5] or 1e-12) * case[4] and off <= error + 1e-14, string.format("%.17g, +- %g", value, error))
    end
    local batch = kl(Beta({ 0.1, 2 }, { 0.1, 3 }), peri.Kumaraswamy(2, 3))
    assert(math.abs(batch[1] - 19.160370143844759363) < 1e-10)
    assert(math.abs(batch[2] - kl(Beta(2, 3), peri.Kumaraswamy(2, 3))) < 1e-13)
    assert(math.abs(kl(arcs(), peri.Kumaraswamy(2, 3)) - 19.160370143844759363) < 1e-10)   -- by its density only
  end)

  it("does not let one end spoil the other", function ()
    local p, q = Beta(2, 3), peri.Frechet(0.5, 0.8)
    local value, error = p:expectation(function (x) return p:log_prob(x) - q:log_prob(x) end)
    assert(math.abs(value - 0.694241745261864) < 1e-13 and error < 1e-13)
  end)

  it("keeps its digits for q near p", function ()
    check(peri.Logistic(0, 1), peri.Logistic(0, 1.001), "quadrature", 7.1399000774695263e-7, 1e-11)
    assert(math.abs(peri.kl_divergence(peri.StudentT(3), peri.StudentT(3, 1e-7)) / (5e-15 * 4 / 6) - 1) < 1e-6)
  end)

  it("is infinite where p has mass outside the support of q, one by one in a batch", function ()
    local kl = peri.kl_divergence(peri.Uniform({ 0, -1 }, 1), peri.TruncatedNormal(0, 1, 0, 1))
    assert(kl[1] < 0.02 and kl[2] == INF)
    local found = peri.kl_explain(Normal({ 0, 1 }, 1), peri.Truncated(Normal(0, 1), 0, 1))
    assert.equal("infinite", found.method)
    assert.same({ INF, INF }, found.value:totable())
    assert.equal(INF, peri.kl_divergence(Normal(0, 1), peri.Truncated(peri.Poisson(3), 0, 10)))
    local Bell = Normal:extend("Bell", { inherit_kl = false })   -- whose tails are lighter: infinite all the same
    assert.equal(INF, peri.kl_divergence(Cauchy(0, 1), Bell(0, 1)))
  end)

  it("broadcasts either batch", function ()
    local kl = peri.kl_divergence(Normal({ 0, 1 }, 1), Cauchy({ { 0 }, { 1 }, { 2 } }, 1))
    assert.same({ 3, 2 }, kl.shape)
    for i = 1, 3 do
      for j = 1, 2 do
        local one = peri.kl_divergence(Normal(j - 1, 1), Cauchy(i - 1, 1))
        assert(math.abs(kl:at(i, j) - one) < 1e-14)
      end
    end
    assert.same({ 2 }, peri.kl_divergence(Normal(0, 1), Cauchy({ 0, 1 }, 1)).shape)
    assert.same({ 0 }, peri.kl_divergence(Normal(peri.zeros(0), 1), Cauchy(0, 1)).shape)
    assert.has_error(function () peri.kl_divergence(Normal({ 0, 1 }, 1), Cauchy({ 0, 1, 2 }, 1)) end)
  end)

  it("gives NaN for NaN", function ()
    local lost = Cauchy { loc = { 0 / 0, 0 }, scale = 1, validate = false }
    local kl = peri.kl_divergence(Normal(0, 1), lost)
    assert(kl[1] ~= kl[1])
    assert(math.abs(kl[2] - 0.25924453248886226362) < 1e-14)
  end)
end)

describe("KL by sums", function ()
  it("is right for infinite and for finite supports", function ()
    check(peri.Poisson(3), peri.NegativeBinomial(4, 0.5), "sum", 0.13417411950452200654, 1e-14)
    local found = peri.kl_explain(peri.OneHotCategorical { 1, 2, 3 }, peri.Multinomial(1, { 1, 1, 1 }))
    assert.equal("sum", found.method)
    assert(math.abs(peri.item(found.value) - 0.087208023960757972753) < 1e-15)   -- log 3 - entropy of 1/6, 2/6, 3/6
  end)
end)

describe("KL by draws", function ()
  it("has a standard error that holds, and takes samples and rng", function ()
    -- E over t: E log t5(X) is an expectation over |X|^2 = 2 E, E Exponential(1)
    local p = peri.MultivariateNormal({ 0, 0 }, { { 1, 0 }, { 0, 1 } })
    local q = peri.MultivariateStudentT(5, { 0, 0 }, { { 1, 0 }, { 0, 1 } })
    local exact = -peri.item(p:entropy()) + math.log(2 * math.pi)   -- q(x) = (1 + |x|^2/5)^(-7/2)/(2 pi)
                  + 3.5 * peri.Exponential(1):expectation(function (e) return peri.log1p(2 * e / 5) end)
    local found = peri.kl_explain(p, q, { rng = peri.rng(1) })
    assert.equal("monte carlo", found.method)
    local error = peri.item(found.error)
    assert(math.abs(peri.item(found.value) - exact) < 4.5 * error)   -- a false alarm in 150 000 seeds
    local more = peri.kl_explain(p, q, { samples = 160000, rng = peri.rng(1) })
    assert(math.abs(peri.item(more.error) / error - 0.25) < 0.05)
    assert(math.abs(peri.item(more.value) - exact) < 4.5 * peri.item(more.error))
    assert.equal(peri.item(found.value), peri.item(peri.kl_divergence(p, q, { rng = peri.rng(1) })))
  end)
end)

describe("the gradient of a KL that is computed", function ()
  -- The gradient of f at x, a number, is the slope, to this tolerance.
  local function check_gradient (f, x, slope, tolerance)
    local parameter = peri.param(x)
    f(parameter):sum():backward()
    assert(math.abs(peri.item(parameter.grad) - slope) <= tolerance, peri.item(parameter.grad) .. " is not " .. slope)
  end

  it("is right for integrals, at singular ends too, and for sums", function ()
    for _, case in ipairs {
      { 0.5, function (x) return peri.kl_divergence(Normal(x, 1), Cauchy(0, 1)) end },
      { 0.5, function (x) return peri.kl_divergence(Normal(0, 1), Cauchy(x, 1)) end },
      { 0.1, function (x) return peri.kl_divergence(Beta(x, 0.1), peri.Truncated(Normal(0, 1), 0, 1)) end },
      { 3,   function (x) return peri.kl_divergence(peri.Poisson(x), peri.NegativeBinomial(4, 0.5)) end },
    } do
      local x, f = case[1], case[2]
      local h = 1e-4 * x
      local slope = (f(x - 2 * h) - f(x + 2 * h) + 8 * (f(x + h) - f(x - h))) / (12 * h)
      check_gradient(f, x, slope, 1e-8 * math.abs(slope))
    end
  end)

  it("has the right mean for draws", function ()
    local Bell = peri.MultivariateNormal:extend("Bell", { inherit_kl = false })
    local eye = { { 1, 0 }, { 0, 1 } }
    local opts = { samples = 40000, rng = peri.rng(1) }
    local function at (x) return peri.tensor { 1, 0 } * x end
    -- KL = x^2/2; six standard errors
    check_gradient(function (x) return peri.kl_divergence(Bell(at(x), eye), Bell({ 0, 0 }, eye), opts) end, 1, 1, 0.05)
    check_gradient(function (x) return peri.kl_divergence(Bell({ 0, 0 }, eye), Bell(at(x), eye), opts) end, 1, 1, 0.05)
  end)
end)

describe("a class of one's own", function ()
  local function bell (fields)
    local c = peri.Distribution:extend("Bell", { params = { { "scale", peri.constraints.positive } } })
    for name, value in pairs(fields) do c[name] = value end
    function c:log_prob (x) return -0.5 * (x / self.scale) ^ 2 - peri.log(self.scale) - 0.5 * math.log(2 * math.pi) end
    return c
  end
  local function sample (self, shape, rng) return Normal(0, self.scale):sample(shape, rng) end
  local exact = math.log(2) - 0.375

  it("with log_prob and a support is integrated", function ()
    local Bell = bell { support = peri.constraints.real }
    check(Bell(1), Normal(0, 2), "quadrature", exact, 1e-14)
    check(Normal(0, 1), Bell(2), "quadrature", exact, 1e-14)
    assert.same({ 2 }, peri.kl_divergence(Bell { 1, 2 }, Normal(0, 2)).shape)
  end)

  it("with log_prob and sample is averaged over draws", function ()
    local found = peri.kl_explain(bell { sample = sample }(1), Normal(0, 2), { rng = peri.rng(3) })
    assert.equal("monte carlo", found.method)
    assert.equal("number", type(found.value))
    assert(math.abs(found.value - exact) < 4.5 * found.error)
  end)

  it("with neither, of vectors, is refused", function ()
    local Bell = bell { event_shape = { 2 } }
    assert.has_error(function () peri.kl_divergence(Bell(1), Bell(2)) end,
                     "kl_divergence: Bell has neither a support on the real line nor sample; Bell:sample would do")
  end)

  it("is not computed numerically with fallback = false", function ()
    local Bell = bell { support = peri.constraints.real }
    local ok, message = pcall(peri.kl_divergence, Bell(1), Normal(0, 2), { fallback = false })
    assert.is_false(ok)
    assert.matches("kl_divergence: no pair is registered for Bell and Normal; register_kl%(Bell, Normal, fn%) adds one",
                   message)
  end)
end)

describe("a law that cannot be drawn from", function ()
  it("may be the second one: draws of the first suffice", function ()
    local p, whole = peri.MultivariateNormal({ 1, 2 }, peri.eye(2)), peri.MultivariateNormal({ 0, 1 }, 2 * peri.eye(2))
    local Bare = peri.Distribution:extend("Bare", { params = {}, support = whole.support })
    function Bare.log_prob (_, x) return whole:log_prob(x) end
    local q = Bare()
    q.event_shape = whole.event_shape
    local found = peri.kl_explain(p, q, { samples = 40000, rng = peri.rng(1) })
    assert.equal("monte carlo", found.method)
    local apart = math.abs(found.value - peri.kl_divergence(p, whole))
    assert.is_true(found.error < 0.02 and apart < 5 * found.error)   -- false alarm 6e-7
  end)
end)

it("the number of draws is two or more", function ()
  local refusal_of = require "spec.support.refusal"
  assert.equal("kl_divergence: samples must be an integer of at least 2, got 1",
               refusal_of(peri.kl_divergence, peri.Normal(0, 1), peri.Gumbel(0, 1), { samples = 1 }))
end)

describe("mass of q where p is too small for a double", function ()
  local function beside (share, law, other)
    return peri.MixtureDistribution(peri.Categorical { 1 - share, share }, { law, other })
  end

  -- p, q, and the probability under q of what p can be
  local CASES = {
    { peri.Normal(0, 1), beside(1e-5, peri.Normal(0, 1), peri.Normal(100, 1)), 1e-5 },
    { peri.Normal(0, 1), beside(1e-3, peri.Normal(0, 1), peri.Normal(-100, 1)), 1e-3 },
    { beside(0.5, peri.Normal(-100, 1), peri.Normal(100, 1)),   -- in a gap
      peri.MixtureSameFamily(peri.Categorical { 0.4995, 0.001, 0.4995 }, peri.Normal({ -100, 0, 100 }, 1)), 1e-3 },
    { peri.Exponential(1), beside(1e-5, peri.Exponential(1), peri.Normal(5000, 1)), 1e-5 },
    { peri.Poisson(3), beside(1e-5, peri.Poisson(3), peri.Poisson(1e4)), 1e-5 },
    { peri.NegativeBinomial(0, 0.5), peri.NegativeBinomial(1e-4, 0.5), 1 - 2 ^ -1e-4 },
    { peri.ZeroInflatedPoisson(1, 3), peri.Poisson(1e-4), -peri.special.expm1(-1e-4) },
  }

  it("counts", function ()
    for _, case in ipairs(CASES) do
      local p, q, missing = table.unpack(case)
      local found = peri.kl_explain(p, q)
      local truth = -peri.special.log1p(-missing)
      assert(math.abs(found.value - truth) <= found.error + 1e-15 and found.error < 1e-13, tostring(q))
      local half = missing / 2   -- both are the middle law but for their shares of it
      local log_half = peri.special.log1p(-half)
      local js = 0.5 * ((1 - missing) * (-truth - log_half) + missing * math.log(2) - log_half)
      local value, error = peri.js_divergence(p, q)
      assert(math.abs(value - js) <= error + 1e-15 and error < 1e-13, tostring(q))
    end
  end)
end)

describe("a divergence that comes out negative", function ()
  it("is 0, with an error that says how negative it was", function ()
    local half = peri.Normal:extend("Half", { inherit_kl = false })   -- a density that integrates to 2
    function half:log_prob (x) return peri.Normal.log_prob(self, x) + math.log(2) end
    local told = peri.kl_explain(peri.Normal(0, 1), half(0, 1.1))
    assert.equal(0, told.value)
    assert(told.error > 0.6, told.error)
  end)
end)
