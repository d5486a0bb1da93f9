--- KL(Bernoulli || Bernoulli): values to 40 digits, edges, slopes.
local peri       = require "perilune"
local divergence = require "spec.support.divergence"

local INF = math.huge

local function make (l) return peri.Bernoulli { logits = l[1] } end

local values = {   -- logits of p and of q
  { { 0.3 }, { -1.2 }, 0.2705909980869925318 },
  { { 2.5 }, { 2.5000000009313226 }, 3.040264070299941677e-20 },
  { { -0.75 }, { -0.750000001 }, 1.08947490705401776e-19 },
  { { -40 }, { -38.5 }, 8.418917194635550557e-18 },
  { { 35 }, { -20 }, 20.00000000206111831 },
  { { 1e-09 }, { -1e-09 }, 5.000000000000000622e-19 },
  { { -1 }, { 0.5 }, 0.2574031646068911657 },
  { { -300 }, { -299 }, 3.697858669027364611e-131 },
  { { 5 }, { 6.0000001 }, 0.002453187994920026755 },
  { { 0 }, { -1000 }, 499.3068528194400547 },
}

it("KL(Bernoulli || Bernoulli) has the right values", function () divergence.values(make, values, 4e-15) end)

it("KL(Bernoulli || Bernoulli) is right for certain coins", function ()
  divergence.values(make, {
    { { 0 }, { -INF }, INF }, { { 0 }, { INF }, INF }, { { -INF }, { 0 }, 0.6931471805599453094 },
    { { INF }, { -INF }, INF }, { { INF }, { 0 }, 0.6931471805599453094 }, { { -800 }, { -INF }, INF },
  }, 4e-15)
  divergence.zeros(make, { { -INF }, { INF }, { 0.3 }, { -700 } })
  local kl = require "perilune.core".bind("kl/bernoulli", "Bernoulli", "kl", { "a", "b" }, { "a", "b" })
  for _, at in ipairs { { 0 / 0, 1 }, { 1, 0 / 0 } } do
    local value = kl(at[1], at[2])
    assert(value ~= value)
  end
end)

it("KL(Bernoulli || Bernoulli) has the right partials", function ()
  divergence.partials("bernoulli", "Bernoulli", { { 0.3, -1.2 }, { 2, 2.1 }, { -3, 1 }, { 4, 4.9 } })
end)

it("KL(Bernoulli || Bernoulli) broadcasts batches of different ranks", function ()
  local kl = peri.kl_divergence(peri.Bernoulli { { 0.1, 0, 1 }, { 0.4, 0.5, 0.6 } }, peri.Bernoulli { 0, 0.5, 1 })
  assert.same({ 2, 3 }, kl.shape)
  assert.equal(INF, kl:at(1, 1))
  assert.equal(0.0, kl:at(1, 3))
  assert.equal(peri.kl_divergence(peri.Bernoulli(0.4), peri.Bernoulli(0)), kl:at(2, 1))
end)

-- The same sum outcome by outcome, in plain Lua.
local function by_outcomes (p, q)
  return p * (math.log(p) - q:log_prob(1)) + (1 - p) * (math.log(1 - p) - q:log_prob(0))
end

it("KL of a coin to a law of counts is the sum over both outcomes", function ()
  local laws = { peri.Poisson(2.5), peri.Geometric(0.3), peri.Binomial(7, 0.2), peri.NegativeBinomial(1.5, 0.4) }
  for _, q in ipairs(laws) do
    for _, p in ipairs { 0.05, 0.5, 0.93 } do
      assert(divergence.agrees(peri.kl_divergence(peri.Bernoulli(p), q), by_outcomes(p, q), 1e-13), tostring(q))
    end
    assert(divergence.agrees(peri.kl_divergence(peri.Bernoulli(0), q), -q:log_prob(0), 1e-14))
    assert(divergence.agrees(peri.kl_divergence(peri.Bernoulli(1), q), -q:log_prob(1), 1e-14))
  end
  assert.equal(INF, peri.kl_divergence(peri.Bernoulli(0.5), peri.Poisson(0)))
  assert.equal(0.0, peri.kl_divergence(peri.Bernoulli(0), peri.Poisson(0)))
end)
