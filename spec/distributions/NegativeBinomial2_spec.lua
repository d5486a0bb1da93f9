local peri = require "perilune"

require "spec.support.contract".distribution {
  name = "NegativeBinomial2",
  points = { { 3, 4.5 }, { 2.7, 0.3 }, { 0.02, 2 }, { 300, 700 }, { 1600, 50 } },
  extreme_points = { { 1e300, 1 }, { 1, 1e300 }, { 1e-300, 1 }, { 1, 1e-10 }, { 1e15, 1e15 } },
  log_prob = {   -- x, mu, phi, value (50-digit reference)
    { 0, 2, 2, -1.3862943611198906188 },
    { 7, 3, 4.5, -3.3996478854066585091 },
  },
  outside = { { -1, 10, 0.3 }, { -0.5, 0.1, 0.3 } },
  invalid = { { 0, 1 }, { -1, 0.3 }, { 0 / 0, 0.3 }, { 10, -0.1 }, { 10, 0 } },
}

describe("NegativeBinomial2", function ()
  it("is a NegativeBinomial, and diverges from others as one", function ()
    local p, q = peri.NegativeBinomial2(2, 4), peri.NegativeBinomial2(3, 4)
    local a, b = peri.NegativeBinomial(4, 1 / 3), peri.NegativeBinomial(4, 3 / 7)
    assert.is_true(p:is_a(peri.NegativeBinomial))
    assert.near(peri.kl_divergence(a, b), peri.kl_divergence(p, q), 1e-14)
  end)

  it("has gradients in mu and phi", function ()
    local function value (mu, phi) return peri.NegativeBinomial2(mu, phi):log_prob(7) end
    local slope = require "spec.support.slopes".derivative
    for i, f in ipairs { function (t) return value(t, 2.0) end, function (t) return value(3.0, t) end } do
      local at = i == 1 and 3.0 or 2.0
      assert.near(slope(f, at, 0.1), peri.grad(f)(at), 1e-9)
    end
  end)
end)
