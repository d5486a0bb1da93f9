local peri = require "perilune"

require "spec.support.contract".distribution {
  name = "DiscreteUniform",
  points = { { 1, 6 }, { -3, -1 }, { -2, 2 }, { 0, 999 }, { 1e9, 1e9 + 48 } },
  log_prob = {   -- x, low, high, value (50-digit reference)
    { 1, 1, 6, -1.7917594692280549573 },
    { 6, 1, 6, -1.7917594692280549573 },
    { 3, 3, 3, 0 },
    { 7, -1e15, 1e15, -35.231923575470631249 },
    { 2.5, 1, 6, -math.huge },
  },
  outside = { { 0, 1, 6 }, { 7, 1, 6 }, { math.huge, -2, 5 }, { -math.huge, -2, 5 } },
  invalid = { { 0, -1 }, { 0.5, 2 }, { 0, 1.5 }, { 0 / 0, 1 }, { 0, 0 / 0 }, { 0, math.huge }, { { 0, 3 }, 2 } },
}

describe("DiscreteUniform", function ()
  it("returns every outcome from its own cdf and upper tail", function ()
    for _, d in ipairs { peri.DiscreteUniform(1, 6), peri.DiscreteUniform(-50, 49), peri.DiscreteUniform(0, 1e6) } do
      local k = peri.arange(d.low, math.min(d.high, d.low + 5000) + 1)
      assert.is_true(k:equal(d:icdf(d:cdf(k))))
      assert.is_true(k:equal(d:isf(d:sf(k))))
    end
  end)

  it("draws from more outcomes than a uniform number has bits", function ()
    local d = peri.DiscreteUniform(-2 ^ 52, 2 ^ 52)
    local odd = peri.item(peri.mod(d:sample(4096, peri.rng(4)), 2):sum())
    assert(math.abs(odd - 2048) < 160)   -- five standard deviations
  end)

  it("enumerates its support, if the batch has one", function ()
    assert.same({ 2, 3, 4 }, peri.DiscreteUniform(2, 4):enumerate_support():totable())
    assert.same({ { 0, 0 }, { 1, 1 } }, peri.DiscreteUniform({ 0, 0 }, 1):enumerate_support():totable())
    assert.has_error(function () peri.DiscreteUniform({ 0, 1 }, 1):enumerate_support() end,
                     "DiscreteUniform:enumerate_support: the support must be finite and the same throughout the batch")
  end)
end)
