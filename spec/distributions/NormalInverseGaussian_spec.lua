local peri = require "perilune"

require "spec.support.contract".distribution {
  name = "NormalInverseGaussian",
  points = { { 1, 0, 0, 1 }, { 1.5, 0.5, 1, 2 }, { 0.1, -0.05, 0, 1 }, { 30, -20, -1, 0.5 }, { 5, 4.5, 0, 3 } },
  kl_points        = { { 2, 0.5, 0, 1 }, { 3, -1, 1, 1.5 }, { 5, 0, -0.5, 0.7 } },
  extreme_points   = { { 1e-8, 0, 0, 1 }, { 1, 0, 0, 1e300 }, { 1, 0, 0, 1e-300 }, { 1e8, 0, 0, 1 },
                       { 1, 0, 1e300, 1 } },
  subnormal_points = { { 1, 0, 0, 1 }, { 5, 1, 0, 0.5 }, { 0.5, 0.25, 0, 1 } },
  log_prob = {   -- x, tail, skew, loc, scale, value (50-digit reference)
    { 0, 1, 0, 0, 1, -0.65238183406015251 },
    { math.huge, 1, 0, 0, 1, -math.huge },
    { -math.huge, 1, 0, 0, 1, -math.huge },
  },
  invalid = { { 0, 0, 0, 1 }, { 1, 2, 0, 1 }, { 1, 0, 0, 0 }, { 0 / 0, 0, 0, 1 }, { 1, 0, 0, -1 } },
}

describe("NormalInverseGaussian", function ()
  it("keeps its digits where skew is nearly tail, or is it", function ()
    assert.near(0.29963972964589334907, peri.NormalInverseGaussian(0.7, 0.7):sf(5), 2e-16)   -- 30-digit integrals
    assert.near(-245.68633473941, peri.NormalInverseGaussian(100, 99.999999):log_cdf(-1), 1e-10)
    for _, d in ipairs { peri.NormalInverseGaussian(0.7, 0.7), peri.NormalInverseGaussian(100, 99.999999) } do
      for _, p in ipairs { 1e-100, 1e-10, 0.2, 0.5, 0.9 } do
        assert.near(1, d:cdf(d:icdf(p)) / p, 1e-12)
        assert.near(1, d:sf(d:isf(p)) / p, 1e-12)
      end
    end
  end)

  it("is normal where tail is vast", function ()
    local d, z = peri.NormalInverseGaussian(1e300, 1e4), peri.Normal(0, 1e-150)
    for _, p in ipairs { 1e-300, 0.3, 0.9 } do assert.near(1, d:icdf(p) / z:icdf(p), 1e-14) end
    assert.near(z:cdf(2e-150), d:cdf(2e-150), 1e-15)
  end)
end)
