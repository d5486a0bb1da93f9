local peri = require "perilune"

require "spec.support.contract".distribution {
  name = "Skellam",
  points = { { 1, 1 }, { 3, 0.2 }, { 0.01, 5 }, { 300, 200 }, { 7, 40 } },
  extreme_points = { { 1e15, 1e15 }, { 1e-300, 1 }, { 1, 1e-300 }, { 1e300, 1 }, { 1e8, 1 }, { 1, 1e8 } },
  log_prob = {   -- x, rate1, rate2, value (50-digit reference)
    { 0, 1, 1, -1.1760064585170437171 },
    { 0.5, 1, 1, -math.huge },
  },
  outside = {},
  invalid = { { 0, 1 }, { -1, 0.3 }, { 0 / 0, 0.3 }, { 10, 0 } },
}

describe("Skellam", function ()
  it("is a difference of Poisson variables", function ()
    local d, a, b = peri.Skellam(3, 0.7), peri.Poisson(3), peri.Poisson(0.7)
    for k = -4, 8 do
      local sum = 0
      for j = 0, 60 do sum = sum + (k + j >= 0 and a:prob(k + j) * b:prob(j) or 0) end
      assert.near(1, sum / d:prob(k), 1e-13)
    end
  end)

  it("is what Poisson - Poisson gives", function ()
    assert.equal(peri.Skellam(3, 0.7), peri.Poisson(3) - peri.Poisson(0.7))
  end)
end)
