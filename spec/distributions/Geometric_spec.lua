local peri = require "perilune"

require "spec.support.contract".distribution {
  name = "Geometric",
  points = { { 0.3 }, { 0.75 }, { 0.02 }, { 0.999 }, { 1e-4 } },
  log_prob = {   -- x, probs, value (50-digit reference)
    { 0, 1e-20, -46.051701859880913735 },
    { 3, 1e-20, -46.051701859880913735 },
    { 1000000000, 1e-08, -28.420680793952365994 },
    { 5, 0.3, -2.9873475240195978449 },
    { 2, 0.9999, -18.420780748952919088 },
    { 700, 0.5, -485.8961735725216619 },
    { 0, 0.1, -2.3025850929940456285 },
    { 4, 5e-324, -744.44007192138126231 },
    { 0, 1, 0 },
    { 0.5, 0.3, -math.huge },
  },
  outside = { { -1, 0.3 }, { -0.5, 0.02 } },
  invalid = { { 0 }, { -0.1 }, { 1.1 }, { 0 / 0 } },
}

describe("Geometric", function ()
  it("takes logits instead of probs", function ()
    local d = peri.Geometric { logits = -1000 }
    assert.equal(-1000.0, d:log_prob(0))
    assert.equal(1001.0, d:entropy())
    assert.equal(-40.0, peri.Geometric { logits = 40 }:log_sf(0))
  end)

  it("is 0 for certain when success is", function ()
    local d = peri.Geometric(1)
    assert.equal(0.0, d:log_prob(0))
    assert.equal(-math.huge, d:log_prob(1))
    assert.equal(1.0, d:cdf(0))
    assert.equal(0.0, d:icdf(1))
    assert.equal(0.0, d:entropy())
    assert.equal(0, d:sample())
    assert.has_error(function () peri.Geometric(0) end, "Geometric: probs must be in the interval (0, 1], got 0")
  end)
end)
