local peri = require "perilune"

require "spec.support.contract".distribution {
  name = "Hypergeometric",
  points = { { 49, 6, 6 }, { 100, 90, 30 }, { 1000, 400, 500 }, { 1e12, 3e5, 1e7 }, { 1e5, 3e4, 2e4 },
             { 1e8, 4e7, 5e7 } },
  log_prob = {   -- x, population, successes, draws, value (50-digit reference)
    { 3, 49, 6, 6, -4.0369966138889765257 },
    { 0, 1e6, 1, 1, -1.0000005000003333336e-6 },
    { 1, 1e6, 1, 1, -13.815510557964274104 },
    { 1000, 1e15, 1000, 1000, -28626.648216422022411 },
    { 250000123, 1e9, 5e8, 5e8, -9.8943981233077456419 },
    { 10, 10, 10, 10, 0 },
    { 0, 52, 13, 13, -4.3590175427938689264 },
    { 2251799913685248, 2 ^ 53, 2 ^ 52, 2 ^ 52, -26.782828653924586176 },
    { 1000, 2 ^ 53, 2 ^ 52, 1000, -693.14718056000076506 },
    { 10, 52, 13, 13, -12.400614129219848952 },
    { 2.5, 49, 6, 6, -math.huge },
    { 9, 100, 50, 60, -math.huge },
  },
  outside = { { -1, 49, 6, 6 }, { 7, 49, 6, 6 }, { 19, 100, 90, 30 }, { math.huge, 49, 6, 6 } },
  invalid = { { 0, 0, 0 }, { 10, 11, 1 }, { 10, 1, 11 }, { 10, 0.5, 1 }, { 10, -1, 1 }, { 0 / 0, 1, 1 },
              { 10, 1, 0 / 0 }, { 2 ^ 54, 1, 1 } },
}

describe("Hypergeometric", function ()
  it("is a point mass when nothing, or everything, is drawn or counts", function ()
    for _, case in ipairs { { 10, 4, 0, 0 }, { 10, 4, 10, 4 }, { 10, 0, 5, 0 }, { 10, 10, 5, 5 }, { 1, 1, 1, 1 } } do
      local d, k = peri.Hypergeometric(table.unpack(case, 1, 3)), case[4]
      assert.equal(0.0, d:log_prob(k))
      assert.equal(1.0, d:cdf(k))
      assert.equal(0.0, d:sf(k))
      assert.equal(0.0, d:entropy())
      assert.equal(0.0, d:variance())
      assert.equal(k, d:mode())
      assert.equal(k, d:sample(nil, peri.rng(2)))
    end
  end)

  it("sums tails of any length to the same values", function ()   -- 50-digit reference
    for _, row in ipairs {
      { 49, 6, 6, 2, 0.98136245499797766218 },
      { 10000000, 4000000, 5000000, 1999000, 0.09846476246951680923 },
      { 1000000000, 500000000, 500000000, 249990000, 0.10296294297341531406 },
      { 1000000000, 500000000, 500000000, 249999999, 0.49997476867479872189 },
      { 10000000000, 100000000, 2000000000, 19970000, 2.3673390755854449541e-14 },
      { 1000000000000, 10000000, 10000000000, 97000, 4.8363391471506179265e-22 },
      { 1000000000, 500000000, 500000000, 249800000, 1.6733663991086575073e-141 },
      { 10000000000, 1000000000, 3000000000, 299900000, 1.7437560509968182313e-13 },
    } do
      local d = peri.Hypergeometric(table.unpack(row, 1, 3))
      assert(math.abs(d:cdf(row[4]) / row[5] - 1) < 1e-13)
    end
  end)

  it("enumerates its support, if the batch has one", function ()
    assert.same({ 20, 21, 22 }, peri.Hypergeometric(100, 90, 30):enumerate_support():narrow(1, 1, 3):totable())
    assert.same({ { 0, 0 }, { 1, 1 } }, peri.Hypergeometric({ 5, 9 }, 1, 2):enumerate_support():totable())
    assert.has_error(function () peri.Hypergeometric(9, { 1, 2 }, 2):enumerate_support() end,
                     "Hypergeometric:enumerate_support: the support must be finite and the same throughout the batch")
  end)

  it("ends, and stays on its support, for the largest populations", function ()
    local n = 2 ^ 53
    for _, row in ipairs { { n, n, n }, { n, n / 2 + 1, n }, { n, n, n / 2 + 1 }, { n, 1, n } } do   -- one outcome
      local d = peri.Hypergeometric(table.unpack(row))
      assert.equal(0.0, d:entropy())
      assert.equal(math.min(row[2], row[3]), d:mode())
      assert.equal(math.min(row[2], row[3]), d:sample(nil, peri.rng(1)))
    end
    assert.near(18.401044456923332878, peri.Hypergeometric(n, n / 2, n / 2):entropy(), 1e-13)   -- reference by mpmath
  end)

  it("has the exact mode where products exceed doubles", function ()   -- floor((n + 1)(K + 1)/(N + 2))
    assert.equal(2251799813685248, peri.Hypergeometric(2 ^ 53, 2 ^ 52, 2 ^ 52):mode())
    assert.equal(1000000000000000, peri.Hypergeometric(2 ^ 53, 2 ^ 53 - 1, 1e15):mode())
    assert.equal(333333333333333, peri.Hypergeometric(3e15, 1e15, 1e15):mode())
  end)
end)
