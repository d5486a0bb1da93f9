--- KL between laws of counts: closed forms for equal numbers of trials, sums otherwise.
local peri       = require "perilune"
local divergence = require "spec.support.divergence"

local INF = math.huge

-- E[log p - log q] over outcomes 0, ..., last.
local function by_sum (p, q, last)
  local sum = 0
  for k = 0, last do
    local log_p = p:log_prob(k)
    if log_p > -INF then sum = sum + math.exp(log_p) * (log_p - q:log_prob(k)) end
  end
  return sum
end

local function assert_sum (p, q, last)
  local got, expected = peri.kl_divergence(p, q), by_sum(p, q, last)
  assert(divergence.agrees(got, expected, 1e-11),
         string.format("%s || %s is %.17g, not %.17g", tostring(p), tostring(q), got, expected))
end

it("KL(Binomial || Binomial) is the sum over its outcomes", function ()
  for _, q in ipairs { { 5, 0.3 }, { 9, 0.3 }, { 30, 0.05 } } do
    assert_sum(peri.Binomial(5, 0.4), peri.Binomial(q[1], q[2]), 5)
  end
end)

it("KL(Binomial || Binomial) is right at its edges", function ()
  local function kl (n, p, m, q) return peri.kl_divergence(peri.Binomial(n, p), peri.Binomial(m, q)) end
  assert.equal(0.0, kl(10, 1, 10, 1))
  assert.equal(0.0, kl(0, 0.3, 0, 0))
  assert.equal(INF, kl(5, 0.4, 3, 0.4))
  assert.equal(INF, kl(5, 0.4, 5, 0))
  assert(divergence.agrees(kl(5, 0, 3, 0.5), 3 * math.log(2), 1e-15))
  local kls = kl({ 3, 5, 5 }, { 0.4, 0.4, 0 }, { { 5 }, { 3 } }, 0.3)
  assert.same({ 2, 3 }, kls.shape)
  assert.equal(INF, kls:at(2, 2))
end)

it("KL(NegativeBinomial || NegativeBinomial) is the sum over its outcomes", function ()
  for _, q in ipairs { { 2.7, 0.6 }, { 2.7, 0.2 }, { 4, 0.3 }, { 0.5, 0.5 } } do
    assert_sum(peri.NegativeBinomial(2.7, 0.35), peri.NegativeBinomial(q[1], q[2]), 120)
  end
  assert(divergence.agrees(peri.kl_divergence(peri.NegativeBinomial(2.7, 0.35), peri.NegativeBinomial(2.7, 0.6)),
                           0.5272531130838395502, 1e-14))
  assert.equal(0.0, peri.kl_divergence(peri.NegativeBinomial(0, 0.3), peri.NegativeBinomial(0, 0.9)))
end)

it("KL(DiscreteUniform || DiscreteUniform) compares numbers of outcomes", function ()
  local kl = peri.kl_divergence(peri.DiscreteUniform({ 1, 2 }, 6), peri.DiscreteUniform({ { 1 }, { 2 } }, 6))
  assert.equal(0.0, kl:at(1, 1))
  assert(divergence.agrees(kl:at(1, 2), math.log(6 / 5), 1e-14))
  assert.equal(INF, kl:at(2, 1))
end)

it("KL of counts to a bounded law is infinite, unless they never count", function ()
  assert.equal(math.huge, peri.kl_divergence(peri.Poisson(2), peri.Bernoulli(0.3)))
  assert.equal(-peri.Bernoulli(0.3):log_prob(0), peri.kl_divergence(peri.Poisson(0), peri.Bernoulli(0.3)))
  assert.equal(-peri.Binomial(4, 0.3):log_prob(0), peri.kl_divergence(peri.Geometric(1), peri.Binomial(4, 0.3)))
  assert.same({ math.huge, -peri.Binomial(4, 0.3):log_prob(0) },
              peri.kl_divergence(peri.Poisson({ 1, 0 }), peri.Binomial(4, 0.3)):totable())
end)
