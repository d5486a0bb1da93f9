--- Divergences of distributions that are made of others, compared with those of their parts.
local peri       = require "perilune"
local transforms = peri.transforms

local INF = math.huge
local Normal, Cauchy, Independent, Masked = peri.Normal, peri.Cauchy, peri.Independent, peri.Masked
local Transformed, Truncated              = peri.TransformedDistribution, peri.Truncated

local function numbers (x) return type(x) == "number" and { x } or x:reshape(-1):totable() end

-- KL(p || q) is found by this method and is `expected`, a number or tensor.
local function check (p, q, method, expected)
  local found = peri.kl_explain(p, q)
  assert.equal(method, found.method)
  local a, b = numbers(found.value), numbers(expected)
  assert.equal(#b, #a)
  for i = 1, #b do
    assert(a[i] == b[i] or math.abs(a[i] - b[i]) <= 1e-13 * math.abs(b[i]), a[i] .. " is not " .. b[i])
  end
  assert.same(numbers(peri.kl_divergence(p, q)), a)
end

describe("KL of RelaxedBernoulli", function ()
  local Relaxed, Logistic = peri.RelaxedBernoulli, peri.Logistic
  local function logit (p) return math.log(p / (1 - p)) end

  it("is that of the logits", function ()
    local p = Relaxed(0.01, { 0.3, 0.9 })
    local image = Logistic({ logit(0.3) / 0.01, logit(0.9) / 0.01 }, 100)
    check(p, Relaxed(0.02, 0.6), "quadrature", peri.kl_divergence(image, Logistic(logit(0.6) / 0.02, 50)))
    check(p, Relaxed(0.01, 0.6), "closed form", peri.kl_divergence(image, Logistic(logit(0.6) / 0.01, 100)))
    check(p, peri.LogitNormal(1, 2), "closed form", peri.kl_divergence(image, Normal(1, 2)))
    check(peri.LogitNormal(1, 2), Relaxed(0.5, 0.5), "quadrature", peri.kl_divergence(Normal(1, 2), Logistic(0, 2)))
  end)
end)

describe("KL of Independent", function ()
  local kl = peri.kl_divergence

  it("is the sum of that of the parts", function ()
    local p, q = Normal({ { 0, 1, 2 }, { 3, 4, 5 } }, 1), Normal({ 1, 1, 2 }, 2)
    check(Independent(p, 1), Independent(q, 1), "closed form", kl(p, q):sum(-1))
    check(Independent(p, 2), Independent(q:expand { 2, 3 }, 2), "closed form", kl(p, q):sum())
    check(Independent(p, 0), Independent(q, 0), "closed form", kl(p, q))
  end)

  it("is that of integrals, with their errors, where there is no closed form", function ()
    local p, q = Normal({ 0, 1 }, 1), Cauchy({ 1, 1 }, 2)
    check(Independent(p, 1), Independent(q, 1), "quadrature", kl(p, q):sum())
    local found = peri.kl_explain(Independent(p, 1), Independent(q, 1))
    assert(found.error > 0 and found.error < 1e-13)
  end)

  it("peels as many dimensions as both have apart", function ()
    local p, q = Normal({ { 0, 1 }, { 2, 3 } }, 1), Normal({ { 1, 1 }, { 2, 2 } }, 2)
    check(Independent(p, 2), Independent(Independent(q, 1), 1), "closed form", kl(p, q):sum())
    check(Independent(Independent(p, 1), 1), Independent(q, 2), "closed form", kl(p, q):sum())
  end)

  it("is infinite where one part is", function ()
    check(Independent(peri.Uniform({ 0, 0 }, { 1, 2 }), 1), Independent(peri.Uniform({ 0, 0 }, 1), 1), "infinite",
          peri.tensor(INF))
  end)

  it("is part of a trace, as that of masks and of transforms is", function ()
    local w, q = peri.param { 1, 2 }, Normal({ 0, 0 }, 1)
    local exp = transforms.Exp()
    for _, fn in ipairs {
      function () return kl(Independent(Normal(w, 1), 1), Independent(q, 1)) end,
      function () return kl(Masked(Normal(w, 1), { 1, 1 }), q):sum() end,
      function () return kl(Transformed(Normal(w, 1), exp), Transformed(q, exp)):sum() end,
    } do
      local trace = peri.trace(fn)
      w:copy { 3, 4 }
      assert.near(12.5, trace:value(), 1e-13)
      w:copy { 1, 2 }
    end
  end)

  it("refuses events of different shapes", function ()
    assert.matches("kl_divergence: Independent and Independent have events of different shapes, %(2%) and %(3%)",
                   select(2, pcall(kl, Independent(Normal({ 0, 1 }, 1), 1), Independent(Normal({ 0, 1, 2 }, 1), 1))))
  end)

  it("does not fall back where it is told not to", function ()
    local p, q = Independent(Normal({ 0, 1 }, 1), 1), Independent(Cauchy({ 0, 1 }, 1), 1)
    assert.matches("no pair is registered for Normal and Cauchy", select(2, pcall(kl, p, q, { fallback = false })))
  end)
end)

describe("KL of TransformedDistribution", function ()
  it("is that of the bases where transforms are equal and one to one", function ()
    check(Transformed(Normal(0, 1), transforms.Exp()), Transformed(Normal(1, 2), transforms.Exp()), "closed form",
          math.log(2) - 0.25)
    check(Transformed(Normal(0, 1), { transforms.Affine(1, 2), transforms.Exp() }),
          Transformed(Normal(1, 2), { transforms.Affine(1, 2), transforms.Exp() }), "closed form", math.log(2) - 0.25)
    check(peri.LogisticNormal({ 0, 0 }, { 1, 1 }), peri.LogisticNormal({ 1, 0 }, { 1, 2 }), "closed form",
          0.5 + math.log(2) - 0.375)
  end)

  it("leaves off what is equal at the end", function ()
    local function law (loc, scale)
      return Transformed(Normal(0, 1), { transforms.Affine(loc, scale), transforms.Exp() })
    end
    check(law(1, 2), law(0, 3), "quadrature", peri.kl_divergence(Normal(1, 2), Normal(0, 3)))
  end)

  it("is not fooled by transforms that lose something", function ()
    local p, q = Transformed(Normal(1, 1), transforms.Abs()), Transformed(Normal(-1, 1), transforms.Abs())
    check(p, q, "quadrature", 0)
  end)

  it("sees independent parts through transforms of each", function ()
    local p = Transformed(Independent(Normal({ 0, 1 }, 1), 1), transforms.Exp())
    local q = Independent(peri.LogNormal({ 0, 1 }, 2), 1)
    check(p, q, "quadrature", 2 * (math.log(2) - 0.375))
    check(q, p, "quadrature", 2 * (1.5 - math.log(2)))
  end)
end)

describe("KL of Masked", function ()
  it("counts where both do", function ()
    local p, q = Normal({ 0, 1, 2 }, 1), Normal({ 1, 1, 1 }, 2)
    local kl = peri.kl_divergence(p, q)
    check(Masked(p, { 1, 1, 0 }), Masked(q, { 0, 1, 1 }), "closed form", peri.tensor { 0, kl[2], 0 })
    check(Masked(p, { 1, 0, 1 }), q, "closed form", peri.tensor { kl[1], 0, kl[3] })
    check(p, Masked(q, { 1, 0, 1 }), "closed form", peri.tensor { kl[1], 0, kl[3] })
    check(Truncated(Normal(0, 1), 0, 1), Masked(Normal(0, 1), true), "closed form", 1.0748623268620714)
  end)
end)

describe("KL of Truncated", function ()
  local function Phi (x) return Normal(0, 1):cdf(x) end

  it("is a ratio of masses where the law is the same", function ()
    check(Truncated(Normal(0, 1), 0, 1), Truncated(Normal(0, 1), -1, { 2, 0.5, 1 }), "closed form",
          peri.tensor { math.log((Phi(2) - Phi(-1)) / (Phi(1) - 0.5)), INF, math.log(2) })
    check(Truncated(Normal(0, 1), 0, 1), Normal(0, 1), "closed form", -math.log(Phi(1) - 0.5))
    check(Truncated(peri.Poisson(3), 1, 2), Truncated(peri.Poisson(3), 0, 2), "closed form",
          math.log((1 + 3 + 4.5) / (3 + 4.5)))
    check(Truncated(Normal(0, 1), 0, 1), Truncated(Normal(0, 1), 0.5, 1), "infinite", INF)
  end)

  it("is integrated where it is not", function ()
    -- E X^2 over [0, 1] = 1 - phi(1)/(Phi(1) - 1/2)
    local square = 1 - Normal(0, 1):prob(1) / (Phi(1) - 0.5)
    check(Truncated(Normal(0, 1), 0, 1), Normal(0, 2), "quadrature",
          -math.log(Phi(1) - 0.5) + math.log(2) - 0.375 * square)
  end)
end)

it("rules give way to a pair of one's own", function ()
  local Block = Independent:extend("Block")
  peri.register_kl(Block, Block, function () return 42 end)
  local p = Block(Normal({ 0, 1 }, 1), 1)
  assert.equal(42, peri.kl_divergence(p, p))
  assert.equal(0, peri.item(peri.kl_divergence(p, Independent(Normal({ 0, 1 }, 1), 1))))
end)

describe("KL of", function ()
  it("independent normals to a vector is that of a vector", function ()
    local q = peri.MultivariateNormal({ 0.5, 0 }, { { 2, 0.3 }, { 0.3, 1 } })
    local found = peri.kl_explain(peri.Independent(peri.Normal({ { 0, 1 }, { 2, 3 } }, { 1, 2 }), 1), q)
    assert.equal("closed form", found.method)
    for i, loc in ipairs { { 0, 1 }, { 2, 3 } } do
      local p = peri.MultivariateNormal(loc, { { 1, 0 }, { 0, 4 } })
      assert.near(peri.item(peri.kl_divergence(p, q)), found.value[i], 1e-14)
    end
    local other = peri.kl_explain(peri.Independent(peri.Laplace({ 0, 1 }, 1), 1), q, { rng = peri.rng(1) })
    assert.equal("monte carlo", other.method)
  end)

  it("a point is what q says of it", function ()
    assert.equal(-peri.Poisson(3):log_prob(2), peri.kl_divergence(peri.Delta(2), peri.Poisson(3)))
    assert.same({ -peri.Normal(0, 1):log_prob(2), -peri.Normal(1, 1):log_prob(2) },
                peri.kl_divergence(peri.Delta(2), peri.Normal({ 0, 1 }, 1)):totable())
    assert.equal(math.huge, peri.kl_divergence(peri.Delta(-1), peri.Poisson(3)))
    assert.equal(0.0, peri.kl_divergence(peri.Delta(2), peri.Masked(peri.Normal(0, 1), false)))
  end)
end)

it("kl_explain names the outcome that q lacks", function ()
  local found = peri.kl_explain(peri.OneHotCategorical { 0.5, 0.5 }, peri.OneHotCategorical { 1, 0 })
  assert.equal(math.huge, found.value)
  assert.equal("p has mass at outcome 2 of enumerate_support, q has none", found.where)
end)

it("kl_pairs lists pairs of one's own", function ()
  local Own = peri.Normal:extend("OwnOfPairs")
  local function count ()
    local n = 0
    for _, pair in ipairs(peri.kl_pairs()) do
      if pair[1] == "OwnOfPairs" and pair[2] == "OwnOfPairs" then n = n + 1 end
    end
    return n
  end
  assert.equal(0, count())
  peri.register_kl(Own, Own, function () return 1 end)
  assert.equal(1, count())
end)

describe("Supports that a transform does not fill", function ()
  local DiscreteUniform, affine = peri.DiscreteUniform, transforms.Affine(0, 1)
  local four_thirds = math.log(4 / 3)

  it("make no divergence infinite", function ()
    check(Transformed(DiscreteUniform({ 0, 0 }, 2), affine), DiscreteUniform(0, 3), "sum",
          peri.tensor { four_thirds, four_thirds })
    check(Transformed(Independent(DiscreteUniform({ 0, 0 }, 2), 1), affine),
          Independent(DiscreteUniform({ 0, 0 }, 3), 1), "sum", 2 * four_thirds)
    local poisson = Independent(peri.Poisson { 1, 1, 1 }, 1)
    local twice = Transformed(peri.OneHotCategorical { 1, 1, 2 }, transforms.Affine(0, 2))
    check(twice, poisson, "sum", 3 + math.log(2) - 1.5 * math.log(2))
    check(Transformed(peri.OneHotCategorical { 1, 1, 2 }, transforms.Affine(-1, 2)), poisson, "sum", INF)
    assert.is_true(twice.support.is_discrete)
  end)

  it("are no reason for an infinite one", function ()
    local gammas = Independent(peri.Gamma({ 1, 2, 3, 4 }, 2), 1)
    local square = Transformed(gammas, transforms.Reshape({ 4 }, { 2, 2 }))
    local found = peri.kl_explain(square, Independent(peri.Gamma({ { 1, 2 }, { 3, 4 } }, 1), 2), { rng = peri.rng(1) })
    assert.equal("monte carlo", found.method)
    assert(math.abs(found.value - 10 * (math.log(2) - 0.5)) < 4 * found.error)
    local p = Transformed(DiscreteUniform(0, 3), affine)
    assert.equal("p has mass at 3, q has none", peri.kl_explain(p, DiscreteUniform(0, 2)).where)
  end)

  it("do not hide mass of q", function ()   -- a small divergence is a sum with what q has elsewhere
    local p, q = DiscreteUniform(0, 999), DiscreteUniform(0, 1000)
    assert.near(peri.kl_divergence(p, q), peri.kl_divergence(Transformed(p, affine), q), 1e-15)
  end)
end)
