local peri = require "perilune"

require "spec.support.contract".distribution {
  name = "Binomial",
  points = { { 57, 0.3 }, { 400, 0.9 }, { 60, 0.03 }, { 100000, 0.25 }, { 30000, 1e-4 } },
  log_prob = {   -- x, total_count, probs, value (50-digit reference)
    { 1, 10, 1e-20, -43.749116766886868051 },
    { 7, 57, 0.3, -6.8686367330592650125 },
    { 0, 57, 0.3, -20.330471804507744694 },
    { 57, 57, 0.3, -68.626449846578353689 },
    { 300000, 1000000, 0.3, -7.0463702515465391 },
    { 5000000000, 10000000000, 0.5, -11.738716817639955852 },
    { 500000000000000, 1000000000000000, 0.5, -17.495179550100070312 },
    { 3, 1000000000000, 1e-12, -2.791759469228555041 },
    { 999, 1000, 0.999, -0.99949983324994996664 },
    { 2, 3, 0.25, -1.9616585060234524737 },
    { 123456, 1000000, 0.1, -2873.048664948002448 },
    { 0, 0, 0.3, 0 },
    { 0, 5, 0, 0 },
    { 1, 5, 0, -math.huge },
    { 5, 5, 1, 0 },
    { 0.5, 5, 0.3, -math.huge },
  },
  outside = { { -1, 10, 0.3 }, { 11, 10, 0.3 } },
  invalid = { { -1, 0.3 }, { 2.5, 0.3 }, { 1 / 0, 0.3 }, { 10, -0.1 }, { 10, 1.1 }, { 10, 0 / 0 } },
}

describe("Binomial", function ()
  it("takes logits instead of probs, of any size", function ()
    local d = peri.Binomial { total_count = 10, logits = -1000 }
    assert.near(-1000 + math.log(10), d:log_prob(1), 1e-12)
    assert.near(-1000 + math.log(10), d:log_sf(0), 1e-12)
    assert.near(-2000 + math.log(45), peri.Binomial { total_count = 10, logits = 1000 }:log_cdf(8), 1e-12)
    assert.equal(1.0, d:cdf(0))
  end)

  it("is a Bernoulli for one trial, and certain for none", function ()
    local d, coin = peri.Binomial { probs = 0.3 }, peri.Bernoulli(0.3)
    for k = 0, 1 do
      assert.near(coin:log_prob(k), d:log_prob(k), 1e-15)
      assert.near(coin:cdf(k), d:cdf(k), 1e-15)
    end
    assert.near(coin:entropy(), d:entropy(), 1e-15)
    local none = peri.Binomial(0, 0.3)
    assert.equal(0.0, none:entropy())
    assert.equal(1.0, none:cdf(0))
    assert.equal(0, none:sample())
  end)

  it("is certain where success is impossible or sure", function ()
    for _, case in ipairs { { 0, 0 }, { 1, 5 } } do
      local d = peri.Binomial(5, case[1])
      assert.equal(case[2], d:sample())
      assert.equal(case[2] + 0.0, d:icdf(0.5))
      assert.equal(0.0, d:entropy())
      assert.equal(1.0, d:cdf(case[2]))
      assert.equal(0.0, d:cdf(case[2] - 1))
    end
  end)

  it("has the entropy of a normal law where that is near", function ()   -- 50-digit references
    assert.near(4.5058246126094172354, peri.Binomial(2000, 0.4):entropy(), 1e-13)
    assert.near(10.211598951808226837, peri.Binomial(287900000, 0.8152):entropy(), 1e-13)
    assert.near(2.5614098878766509752, peri.Binomial(100000000, 1e-07):entropy(), 1e-13)
    assert.near(17.995179550100042296, peri.Binomial(1000000000000000, 0.5):entropy(), 1e-13)
  end)

  it("has the entropy of a normal law where outcomes cannot be told apart", function ()   -- references by mpmath
    assert.near(1, peri.Binomial(1e100, 0.5):entropy() / 115.85504600234701163, 1e-13)
    assert.near(1, peri.Binomial(1e300, 1e-280):entropy() / 24.444789463145129587, 1e-13)
  end)

  it("has the slopes of the entropy at many trials", function ()   -- of log(2 pi e n p q)/2 - (1/(p q) - 4)/(12 n)
    for _, trials in ipairs { 1e8, 1e12, 1e15, 1e100 } do
      local n, logits = peri.param(trials), peri.param(math.log(3 / 7))
      peri.Binomial { total_count = n, logits = logits }:entropy():backward()
      assert.near(1, peri.item(n.grad) * trials / (0.5 + (1 / 0.21 - 4) / (12 * trials)), 1e-13)
      assert.near(1, peri.item(logits.grad) / (0.2 + 0.4 / 0.21 / (12 * trials)), 1e-13)
    end
  end)
end)
