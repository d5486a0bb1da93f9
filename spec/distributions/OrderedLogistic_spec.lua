local peri       = require "perilune"
local statistics = require "spec.support.statistics"

describe("OrderedLogistic", function ()
  it("has probabilities that sum to 1, differences of Logistic tails", function ()
    local d, base = peri.OrderedLogistic(0.3, { -1, 0, 2 }), peri.Logistic(0.3, 1)
    assert.near(1, d:prob(peri.tensor { 1, 2, 3, 4 }):sum(), 1e-15)
    assert.near(base:cdf(0) - base:cdf(-1), d:prob(2), 1e-15)
    assert.near(base:sf(2), d:prob(4), 1e-15)
    assert.equal(-math.huge, d:log_prob(5))
    assert.is_true(d.probs:allclose(peri.exp(d:log_prob(d:enumerate_support())), 1e-14))
  end)

  it("broadcasts predictors against rows of cutpoints", function ()
    local d = peri.OrderedLogistic({ 0.3, 1, -2 }, { -1, 0, 2 })
    assert.same({ 3 }, d.batch_shape)
    for i, eta in ipairs { 0.3, 1, -2 } do
      assert.equal(peri.OrderedLogistic(eta, { -1, 0, 2 }):log_prob(2), d:log_prob(2)[i])
    end
    local wide = peri.OrderedLogistic(0.3, { { -1, 0, 2 }, { 0, 1, 5 } })
    assert.same({ 2 }, wide.batch_shape)
    assert.same({ 4, 2 }, wide:expand { 4, 2 }:mean().shape)
  end)

  it("samples from its own law", function ()
    local d = peri.OrderedLogistic(0.3, { -1, 0, 2 })
    assert.is_true((statistics.chi_square(d:sample(100000, peri.rng(1)), d)))
    assert.equal("integer", math.type(d:sample()))
  end)

  it("has gradients in predictor and cutpoints", function ()
    local slope = require "spec.support.slopes".derivative
    local function of_eta (eta) return peri.OrderedLogistic(eta, { -1, 0, 2 }):log_prob(3) end
    assert.near(slope(of_eta, 0.3, 0.1), peri.grad(of_eta)(0.3), 1e-9)
    local grad = peri.grad(function (c) return peri.OrderedLogistic(0.3, c):log_prob(3) end)(peri.tensor { -1, 0, 2 })
    for i = 1, 3 do
      local function of_cut (t)
        local c = { -1, 0, 2 }
        c[i] = t
        return peri.OrderedLogistic(0.3, c):log_prob(3)
      end
      assert.near(slope(of_cut, ({ -1, 0, 2 })[i], 0.1), grad[i], 1e-9)
    end
  end)

  it("diverges as a Categorical", function ()
    local p, q = peri.OrderedLogistic(0.3, { -1, 0, 2 }), peri.OrderedLogistic(1, { -1, 0, 2 })
    assert.near(peri.kl_divergence(peri.Categorical(p.probs), peri.Categorical(q.probs)), p:kl(q), 1e-14)
    assert.equal(0, p:kl(p))
  end)

  it("refuses cutpoints out of order", function ()
    local ok, message = pcall(peri.OrderedLogistic, 0, { 1, 0 })
    assert.is_false(ok)
    assert.matches("OrderedLogistic: cutpoints must be in increasing order", message)
  end)

  it("explains itself", function ()
    local help = peri.OrderedLogistic.help
    assert.near(help.example[2], load("local peri = ...; return peri." .. help.example[1])(peri), 1e-11)
  end)
end)
