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

  it("samples from its own law where that is heavy", function ()
    local d = peri.Zipf(2.2)
    local x = d:sample(20000, peri.rng(1))
    for _, k in ipairs { 1, 2, 5, 50 } do
      local part, p = x:le(k):mean(), d:cdf(k)
      assert.is_true(math.abs(part - p) < 5 * math.sqrt(p * (1 - p) / 20000), tostring(k))
    end
  end)
end)
