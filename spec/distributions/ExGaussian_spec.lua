local peri = require "perilune"

require "spec.support.contract".distribution {
  name = "ExGaussian",
  points = { { 0, 1, 1 }, { 300, 40, 0.01 }, { -2, 0.5, 100 }, { 0, 1e-3, 1 }, { 5, 2, 1e-4 } },
  kl_points        = { { 0, 1, 1 }, { 0.5, 1.3, 2 }, { -0.4, 0.7, 0.8 } },
  extreme_points   = { { 0, 1e300, 1 }, { 0, 1e-300, 1 }, { 0, 1, 1e300 }, { 0, 1, 1e-300 }, { 1e300, 1, 1 } },
  subnormal_points = { { 0, 1, 1 }, { 3, 0.5, 20 }, { 0, 1, 0.01 } },
  log_prob = {   -- x, loc, scale, rate, value (50-digit reference)
    { 0, 0, 1, 1, -1.3410216450092635058 },
    { math.huge, 0, 1, 1, -math.huge },
    { -math.huge, 0, 1, 1, -math.huge },
  },
  outside = {},
  invalid = { { 0, 0, 1 }, { 0, 1, 0 }, { 0 / 0, 1, 1 }, { 0, 1, -1 } },
}

describe("ExGaussian", function ()
  it("is nearly Exponential where the rate is small", function ()
    for _, rate in ipairs { 1e-3, 1e-8, 1e-20, 1e-100, 1e-290 } do
      local d = peri.ExGaussian(10, 2, rate)
      for _, x in ipairs { 0.1 / rate, 0.5 / rate, 3 / rate } do
        local score = rate * (x - 10) - 2 * rate ^ 2
        assert.near(1, d:cdf(x) / -peri.expm1(-score), 1e-13)
      end
      for _, p in ipairs { 1e-250, 1e-20, 0.3, 0.9 } do
        assert.near(1, d:cdf(d:icdf(p)) / p, 1e-11)
        assert.near(1, d:sf(d:isf(p)) / p, 1e-11)
      end
    end
  end)
end)
