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

  it("is a Levy law far out where skew is tail, and a Cauchy law where both are next to nothing", function ()
    for _, case in ipairs {   -- tail, skew, x, sf (30-digit integrals)
      { 3, 3, 1e12, 1.3819765978847085e-6 }, { 3, 3, 1e17, 4.3701937223683163e-9 },
      { 3, 3, 1e16, 1.3819765978853419e-8 }, { 3, 3, 50, 0.1936524001900684 },
      { 1e18, 1e18, 1e18, 0.6826894921370859 }, { 1e-8, 1e-8, 1e7, 4.3202637266813375e-8 },
      { 1e-20, 5e-21, 1e19, 3.2095847822444345e-20 }, { 1e-20, 0, 10, 0.03172551743055357 },
      { 1e-20, 1e-20, 1e3, 3.1830978008055907e-4 }, { 1e-8, 1e-8, 1e9, 2.5541137681090302e-9 },
      { 1e-8, 1e-8, 1e13, 2.523135675929899e-11 }, { 1e-8, 1e-8, 1e15, 2.523132553559316e-12 },
    } do
      local tail, skew, x, sf = table.unpack(case)
      local up, down = peri.NormalInverseGaussian(tail, skew), peri.NormalInverseGaussian(tail, -skew)
      assert.near(1, up:sf(x) / sf, 1e-14)
      assert.near(1, down:cdf(-x) / sf, 1e-14)
      assert.near(1, up:isf(sf) / x, 1e-13)
      assert.near(-1, down:icdf(sf) / x, 1e-13)
    end
    assert.near(1, peri.NormalInverseGaussian(1e22, 1e22):cdf(1e21) / 0.0015654022580025497, 1e-14)
    local vast = peri.NormalInverseGaussian(1e150, 1e150)
    assert.near(-346.80670248231152534, vast:log_prob(1e150), 1e-12)
    assert.near(348.7122467505037426, vast:entropy(), 1e-11)
    assert.near(1 / 3, vast:mode() / 1e150, 1e-12)
    assert.near(2.5310242469693, peri.NormalInverseGaussian(1e-300, 1e-300):entropy(), 1e-12)   -- log(4 pi)
  end)

  it("has deep tails", function ()   -- 60-digit integrals
    local Law = peri.NormalInverseGaussian
    assert.near(1, Law(1e15, 1000):log_cdf(-4e6) / -3999999000004125000041, 1e-15)
    assert.near(1, Law(7, 0.01):log_cdf(-1e17) / -701000000000000053.6, 1e-15)
    assert.near(1, Law(7, 0.01):log_cdf(-1e15) / -7010000000000046.7, 1e-15)
    for _, tail in ipairs { 1e-140, 1e-160, 1e-200 } do   -- far out, where tails of a Cauchy law end
      local d = Law(tail, 0.1 * tail)
      assert.near(0.35365955162019899349, d:sf(0.5 / tail) / tail, 1e-13)
      assert.near(0.0043165736549514306532, d:sf(3 / tail) / tail, 1e-15)
    end
  end)

  it("has its median at loc if it is symmetric", function ()
    for _, tail in ipairs { 1e-300, 1e-8, 0.3, 7, 2 ^ 53, 1e25, 1e100 } do
      assert.equal(5, peri.NormalInverseGaussian(tail, 0, 5, 2):icdf(0.5))
    end
  end)
end)
