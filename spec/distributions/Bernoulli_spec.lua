local peri = require "perilune"

require "spec.support.contract".distribution {
  name = "Bernoulli",
  points = { { 0.3 }, { 0.5 }, { 0.999 }, { 1e-3 } },
  log_prob = {   -- x, probs, value (50-digit reference)
    { 1, 1e-20, -46.051701859880914 },
    { 0, 1e-20, -1e-20 },
    { 1, 0, -math.huge },
    { 0, 0, 0 },
    { 1, 1, 0 },
    { 0.5, 0.3, -math.huge },
  },
  outside = { { -1, 0.3 }, { 2, 0.3 } },
  invalid = { { -0.1 }, { 1.1 }, { 0 / 0 } },
}

describe("Bernoulli", function ()
  it("takes logits instead of probs, and derives either", function ()
    local d = peri.Bernoulli { logits = -1000 }
    assert.equal(-1000.0, d:log_prob(1))
    assert.equal("Bernoulli(logits=-1000)", tostring(d))
    assert.equal(0.5, peri.Bernoulli { logits = 0 }.probs)
    assert.equal(0.0, peri.Bernoulli(0.5).logits)
    assert.equal("Bernoulli(probs=0.5)", tostring(peri.Bernoulli(0.5)))
  end)

  it("refuses both, and neither", function ()
    assert.has_error(function () peri.Bernoulli { probs = 0.5, logits = 0 } end,
                     "Bernoulli: probs and logits exclude each other")
    assert.has_error(function () peri.Bernoulli() end, "Bernoulli: probs or logits is missing")
  end)

  it("draws Lua integers, and enumerates its support", function ()
    assert.equal("integer", math.type(peri.Bernoulli(0.5):sample()))
    assert.same({ { 0, 0, 0 }, { 1, 1, 1 } }, peri.Bernoulli({ 0.1, 0.2, 0.3 }):enumerate_support():totable())
    assert.same({ 0, 1 }, peri.Bernoulli(0.1):enumerate_support():totable())
  end)
end)

describe("Bernoulli", function ()
  it("has one outcome at probabilities 0 and 1", function ()
    for k = 0, 1 do
      local d = require "perilune".Bernoulli(k)
      for _, p in ipairs { 1e-300, 0.2, 0.5, 0.999 } do assert.same({ k, k }, { d:icdf(p), d:isf(p) }) end
      assert.same({ k, k }, { d:median(), d:mode() })
    end
  end)
end)
