local peri = require "perilune"

require "spec.support.contract".distribution {
  name = "NoncentralChi2",
  points = { { 2, 1 }, { 5, 3 }, { 0.7, 10 }, { 40, 0.01 }, { 3, 1e4 }, { 1000, 500 } },
  kl_points        = { { 3, 1 }, { 5, 4 }, { 8, 0.5 } },
  extreme_points   = { { 1e15, 1 }, { 1, 1e15 }, { 1e-3, 1 }, { 1e300, 1 }, { 1, 1e300 }, { 3, 0 }, { 3, 1e-300 } },
  subnormal_points = { { 2, 1 }, { 5, 30 }, { 40, 2 } },
  log_prob = {   -- x, df, noncentrality, value (50-digit reference)
    { 1, 2, 1, -1.4572328220527666608 },
    { math.huge, 2, 1, -math.huge },
  },
  outside = { { -1, 2, 1 }, { -1e-300, 2, 1 }, { -math.huge, 2, 1 } },
  invalid = { { 0, 1 }, { -1, 1 }, { 0 / 0, 1 }, { 1, -1 } },
}

describe("NoncentralChi2", function ()
  it("has small upper tails near 0", function ()
    local d = peri.NoncentralChi2(0.022308542452841147, 0.00020343745048394393)
    assert.near(-3.15278768633953906, d:log_sf(0.023054377559248117), 4e-15)   -- 40-digit sum
    assert.near(0.023054377559248117, d:isf(math.exp(-3.15278768633953906)), 1e-16)
  end)

  it("has tails between 0 and 1 where the law is narrower than numbers are apart", function ()
    for e = 20, 300, 2 do
      for _, d in ipairs { peri.NoncentralChi2(10.0 ^ e, 1), peri.NoncentralChi2(1, 10.0 ^ e) } do
        local below, above = d:cdf(10.0 ^ e), d:sf(10.0 ^ e)
        assert(below >= 0 and below <= 1 and above >= 0 and above <= 1)
        assert.near(1, d:icdf(0.3) / 10.0 ^ e, 1e-9)
      end
    end
  end)
end)
