local peri = require "perilune"

require "spec.support.contract".distribution {
  name = "ContinuousBernoulli",
  points = { { 0.3 }, { 0.5 }, { 0.5004 }, { 0.95 }, { 1e-40 }, { 1 - 1e-12 } },
  log_prob = {   -- x, probs, value (50-digit reference)
    { 0.25, 0.3, 0.18208834184492547929 },
    { 0.25, 0.5, 0 },
    { 1, 0.9, 0.90497804383302786158 },
    { 0.7, 1e-30, -44.119057125964845064 },
    { 1e-5, 1e-300, 6.5309071646251747216 },
    { 0.125, 0.88, -0.90741783793303623588 },
    { 0.5, 0.89, -0.17592441046610441947 },
    { 0, 0, math.huge },
    { 0.5, 0, -math.huge },
  },
  outside = { { -0.1, 0.3 }, { 1.5, 0.3 }, { math.huge, 0.5 } },
  invalid = { { -0.1 }, { 1.1 }, { 0 / 0 } },
}

describe("ContinuousBernoulli", function ()
  it("is smooth where it is nearly uniform", function ()   -- logits, 50-digit reference
    local d = peri.ContinuousBernoulli { logits = 4e-7 }
    assert(math.abs(d:log_prob(0.5) / -6.6666666666666571744e-15 - 1) < 1e-14)
    assert(math.abs(d:entropy() / -6.6666666666666393966e-15 - 1) < 1e-14)
    assert.equal(0.25, peri.ContinuousBernoulli { logits = 1e-300 }:icdf(0.25))
    assert.equal(1e-300, peri.ContinuousBernoulli { logits = 1e-20 }:cdf(1e-300))
  end)

  it("takes steep logits of either sign", function ()
    local falling, rising = peri.ContinuousBernoulli { logits = -1e6 }, peri.ContinuousBernoulli { logits = 1e6 }
    assert(math.abs(falling:mean() - 1e-6) < 1e-21)
    assert.equal(1 - falling:mean(), rising:mean())
    assert(math.abs(falling:icdf(0.5) / 6.9314718055994530942e-7 - 1) < 1e-14)
    assert(math.abs(rising:cdf(rising:icdf(0.5)) - 0.5) < 1e-10)
    assert.equal(-1e6 / 2 + math.log(1e6), rising:log_prob(0.5))
    local steepest = peri.ContinuousBernoulli { logits = 1e300 }:entropy()   -- 1 - log(1e300)
    assert(math.abs(steepest / -689.77552789821368 - 1) < 1e-14)
  end)

  it("is a point at 0 or 1 where probs is", function ()
    for _, point in ipairs { 0, 1 } do
      local d = peri.ContinuousBernoulli(point)
      for x, reached in pairs { [-1] = 0, [0] = 1 - point, [0.5] = 1 - point, [1] = 1, [math.huge] = 1 } do
        assert.equal(reached, d:cdf(x))
        assert.equal(1 - reached, d:sf(x))
        assert.equal(math.log(reached), d:log_cdf(x))
        assert.equal(math.log(1 - reached), d:log_sf(x))
      end
      for _, level in ipairs { 0, 0.5, 1 } do
        assert.equal(point, d:icdf(level))
        assert.equal(point, d:isf(level))
      end
      assert.same({ point, point, point }, d:sample(3, peri.rng(1)):totable())
      assert.is_false(d:cdf(0 / 0) == d:cdf(0 / 0))
    end
  end)
end)

it("ContinuousBernoulli has all of its mass at an end where probs are 0 or 1", function ()
  for _, at in ipairs { 0, 1 } do
    local logits = (2 * at - 1) * math.huge
    for _, d in ipairs { peri.ContinuousBernoulli(at), peri.ContinuousBernoulli { logits = logits } } do
      assert.same({ 0.0 + at, 0.0 }, { d:mean(), d:variance() })
      assert.same({ 1.0, 0.0 }, { d:cdf(1), d:sf(1) })
      assert.same({ 1.0 - at, 0.0 + at }, { d:cdf(0.5), d:sf(0.5) })
    end
  end
end)
