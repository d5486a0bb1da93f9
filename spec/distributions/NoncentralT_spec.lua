local peri = require "perilune"

require "spec.support.contract".distribution {
  name = "NoncentralT",
  points = { { 3, 1, 0, 1 }, { 5, -2.5, 1, 2 }, { 0.7, 1, 0, 1 }, { 5, 40, 0, 1 }, { 10, 0, 0, 1 } },
  kl_points        = { { 5, 1, 0, 1 }, { 8, -0.5, 1, 2 }, { 12, 2, 0, 1 } },
  extreme_points   = { { 1e15, 1 }, { 1, 1e15 }, { 1e-3, 1 }, { 1e300, 1 }, { 1, 1e300 }, { 1e-300, 1 },
                       { 1e300, -1e300 }, { 3, 1e-300 }, { 3, -40 }, { 2, 1, 0, 1e-300 } },
  subnormal_points = { { 2, 1 }, { 5, -30 }, { 40, 2 } },
  log_prob = {   -- x, df, noncentrality, loc, scale, value (50-digit reference)
    { 2, 3, 1, 0, 1, -1.6318911394051193 },
    { math.huge, 2, 1, 0, 1, -math.huge },
  },
  invalid = { { 0, 1 }, { -1, 1 }, { 0 / 0, 1 }, { 1, 0 / 0 }, { 1, 1, 0, 0 } },
}

describe("NoncentralT", function ()
  it("sees a step next to the edge of a panel", function ()   -- an integral with 30 digits
    assert.near(1, peri.NoncentralT(3, 1e6):icdf(0.5) / 1126044.7603003968, 1e-13)
    assert.near(0.5, peri.NoncentralT(3, 1e6):cdf(1126044.7603003968), 1e-11)
    assert.near(0.5, peri.NoncentralT(3, 1e6):sf(1126044.7603003968), 1e-11)
  end)

  it("has quantiles up to the largest numbers", function ()
    for _, case in ipairs { { 0.1, 1, 1e-30 }, { 0.01, 1000, 0.01 }, { 0.5, 1e4, 1e-100 }, { 3, 1.5, 1e-300 } } do
      local df, noncentrality, p = table.unpack(case)
      local d, down = peri.NoncentralT(df, noncentrality), peri.NoncentralT(df, -noncentrality)
      assert(d:isf(p) < math.huge)
      assert.near(math.log(p), d:log_sf(d:isf(p)), 1e-12 * math.abs(math.log(p)))
      assert.near(math.log(p), down:log_cdf(down:icdf(p)), 1e-12 * math.abs(math.log(p)))
    end
  end)

  -- log P(Z > z) = log(Phi(d) + P(z < Z < 0)), by quadrature of the second with 40 digits, or for the smallest df
  -- -log df/2 and the mean of log |normal| in closed form.
  it("sums both parts of a tail that begins beyond 0", function ()
    for _, case in ipairs {
      { 1e-100, -20, -1, -203.91715537068983 }, { 1e-90, -20, -1, -202.378941570870884 },
      { 1e-19, -9, -1, -40.710795413299917 }, { 1e-18, -10, -1, -38.529640692821286 },
      { 1e-6, -7, -2, -12.070932378194705 }, { 1e-8, -9, -1e-50, -43.628149113332115 },
      { 1e-300, -988, -1, -684.950855965914586 }, { 1e-300, -30, -1e10, -454.3212439563432 },
      { 1e-40, -1, -1e5, -1.8410216450092635 }, { 1e-25, -12, -1e-30, -75.410673001568796 },
      { 0.01, -12, -3, -4.5913843328852604 }, { 1e-22, -5000, -3, -47.76828961575343 },
      { 0.05, -10, -0.001, -53.228501274111745 },
    } do
      local df, noncentrality, z, log_tail = table.unpack(case)
      local d, mirrored = peri.NoncentralT(df, noncentrality), peri.NoncentralT(df, -noncentrality)
      assert.near(log_tail, d:log_sf(z), 1e-14 * math.abs(log_tail))
      assert.near(log_tail, mirrored:log_cdf(-z), 1e-14 * math.abs(log_tail))
    end
  end)
end)
