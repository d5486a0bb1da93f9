local peri = require "perilune"
local core = require "perilune.core"

require "spec.support.contract".distribution {
  name = "NoncentralChi2",
  points = { { 2, 3 }, { 5, 3 }, { 0.7, 10 }, { 40, 0.01 }, { 3, 1e4 }, { 1000, 500 } },
  kl_points        = { { 3, 1 }, { 5, 4 }, { 8, 0.5 } },
  extreme_points   = { { 1e15, 1 }, { 1, 1e15 }, { 1e-3, 1 }, { 1e300, 1 }, { 1, 1e300 }, { 3, 0 }, { 3, 1e-300 } },
  subnormal_points = { { 2, 3 }, { 5, 30 }, { 40, 2 } },
  log_prob = {   -- x, df, noncentrality, value (50-digit reference)
    { 1, 2, 1, -1.4572328220527666608 },
    { math.huge, 2, 1, -math.huge },
  },
  outside = { { -1, 2, 1 }, { -1e-300, 2, 1 }, { -math.huge, 2, 1 } },
  invalid = { { 0, 1 }, { -1, 1 }, { 0 / 0, 1 }, { 1, -1 } },
}

-- x, df, noncentrality, and the slopes in df of log_prob and of cdf (40-digit differences)
local SLOPES = {
  { 1, 2, 1, -0.16627272152230645, -0.17244329014411684694 },
  { 0.3, 0.7, 10, -0.58451114302629508, -0.0065260285247754148915 },
  { 30, 5, 3, 0.49231334531148004, -0.00045840725288435392896 },
  { 1e-5, 0.7, 1, -4.6175110918727585, -0.057413559496797283845 },
}

-- df, noncentrality, entropy (30-digit integrals)
local ENTROPIES = {
  { 0.05, 30, 3.7864445174256732 }, { 0.01, 5.16, -11.924647327405309 }, { 0.001, 0.5, -1549.8915116135346 },
  { 1e-5, 0.5, -155748.85165767622 },
}

describe("NoncentralChi2", function ()
  it("has an entropy where much mass is below the least double", function ()
    for _, row in ipairs(ENTROPIES) do
      assert.near(1, peri.NoncentralChi2(row[1], row[2]):entropy() / row[3], 1e-13)
    end
    local df, noncentrality = peri.param(0.01), peri.param(5.16)
    peri.NoncentralChi2(df, noncentrality):entropy():backward()
    assert.near(1507.39857823, peri.item(df.grad), 1e-7)
    assert.near(7.4700865384, peri.item(noncentrality.grad), 1e-9)
    for _, small in ipairs { 0.3, 1e-3, 1e-100 } do
      assert.near(1, peri.NoncentralChi2(small, 0):entropy() / peri.Chi2(small):entropy(), 1e-13)
    end
  end)

  it("has slopes in df that are no differences", function ()
    local names = { "x", "df", "noncentrality" }
    for _, row in ipairs(SLOPES) do
      for k, method in ipairs { "log_prob", "cdf" } do
        local partials = core.bind_partials("noncentralchi2", method, method, names, names)
        local _, slope = partials(row[1], row[2], row[3])
        assert.near(1, slope / row[3 + k], 1e-13)
      end
    end
  end)

  it("has mass below the least double", function ()
    local d = peri.NoncentralChi2(2e-6, 1e-6)
    assert.near(0.99925522148104692, d:cdf(5e-324), 1e-6)   -- half of it is no double
    assert.equal(0, d:cdf(0))
    local df = peri.param(7.5)
    peri.NoncentralChi2(df, 9.8):log_prob(5e-324):backward()
    assert.near(-372.8, peri.item(df.grad), 0.5)
    assert.is_true(d:icdf(0.999) <= d:icdf(0.9999))
  end)
end)
