local peri = require "perilune"

require "spec.support.contract".distribution {
  name = "Zipf",
  points = { { 8 }, { 9.5 }, { 12 } },   -- with tails that can be summed
  extreme_points = { { 1 + 2 ^ -52 }, { 1.001 }, { 1.5 }, { 1e15 }, { 1e300 }, { 2 } },
  log_prob = {   -- x, exponent, value (50-digit reference)
    { 1, 2, -0.49770030247074534747 },
    { 10, 2, -5.1028704884588367155 },
    { 0.5, 2, -math.huge },
  },
  outside = { { 0, 7 }, { -1, 6 }, { -math.huge, 7 } },
  invalid = { { 1 }, { 0.5 }, { -2 }, { 0 / 0 } },
}

describe("Zipf", function ()
  it("has no mean, or no variance, where its tail is too heavy", function ()
    assert.equal(math.huge, peri.Zipf(2):mean())
    assert.equal(math.huge, peri.Zipf(3):variance())
  end)

  it("has tails where probabilities underflow", function ()   -- 40-digit reference
    for _, case in ipairs {
      { 1.5, 1e250, 7.655867679988531245e-126 }, { 1.5, 1e307, 2.4209979333632851298e-154 },
      { 3, 1e120, 4.1595368629035373434e-241 }, { 20, 1e16, 5.2631528738888169468e-306 },
    } do
      local s, k, tail = table.unpack(case)
      assert.near(1, peri.Zipf(s):sf(k) / tail, 1e-12)
      assert.near(1, peri.Zipf(s):isf(tail) / k, 1e-11)
    end
    assert.equal(math.huge, peri.Zipf(1.5):isf(1e-200))
  end)

  it("samples from its own law where that is heavy", function ()
    local d = peri.Zipf(2.2)
    local x = d:sample(20000, peri.rng(1))
    for _, k in ipairs { 1, 2, 5, 50 } do
      local part, p = x:le(k):mean(), d:cdf(k)
      assert.is_true(math.abs(part - p) < 5 * math.sqrt(p * (1 - p) / 20000), tostring(k))
    end
  end)

  it("has infinite moments from an order on, and NaN where these are to be standardised", function ()
    assert.equal(math.huge, (peri.Zipf(4.5):moment(4)))
    assert.equal(math.huge, (peri.Zipf(4.29):kurtosis()))
    assert.equal(math.huge, (peri.Zipf(4):skewness()))
    local none = peri.Zipf(3):skewness()
    assert(none ~= none)
    assert.near(1, peri.Zipf(5.5):moment(4) / 2.54815029094091, 1e-12)   -- zeta(1.5)/zeta(5.5)
  end)
end)
