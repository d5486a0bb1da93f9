local peri = require "perilune"

require "spec.support.contract".distribution {
  name = "NegativeBinomial",
  points = { { 4.5, 0.4 }, { 0.3, 0.9 }, { 2, 0.01 }, { 700, 0.3 }, { 0.02, 0.6 }, { 50, 0.97 } },
  log_prob = {   -- x, total_count, probs, value (50-digit reference)
    { 1, 10, 1e-20, -43.749116766886868051 },
    { 7, 4.5, 0.4, -3.3996478854066585091 },
    { 0, 0.001, 0.4, -0.00051082562376599073085 },
    { 6, 0.002753, 0.3888, -13.350039669244493377 },
    { 1, 1000000000000000.0, 1e-15, -1.0000000000000005 },
    { 27627, 5.897, 0.9997866, -10.272490252788132517 },
    { 1000000000, 1000000000, 0.5, -11.627145042082850975 },
    { 3, 1e-12, 0.99, -28.75978441216026744 },
    { 80, 15, 0.4704, -32.471413196441580722 },
    { 400, 700, 0.3, -14.372546187912430171 },
    { 0, 0, 0.3, 0 },
    { 1, 0, 0.3, -math.huge },
    { 0, 5, 0, 0 },
    { 1, 5, 0, -math.huge },
    { 0.5, 5, 0.3, -math.huge },
  },
  outside = { { -1, 10, 0.3 }, { -0.5, 0.1, 0.3 } },
  invalid = { { -1, 0.3 }, { 0 / 0, 0.3 }, { 10, -0.1 }, { 10, 1 }, { 10, 0 / 0 } },
}

describe("NegativeBinomial", function ()
  it("takes logits instead of probs, of any size", function ()
    local d = peri.NegativeBinomial { total_count = 2.5, logits = -1000 }
    assert.near(-1000 + math.log(2.5), d:log_prob(1), 1e-12)
    assert.near(-1000 + math.log(2.5), d:log_sf(0), 1e-12)
    assert.near(-2500.0, peri.NegativeBinomial { total_count = 2.5, logits = 1000 }:log_cdf(0), 1e-12)
    assert.equal(1.0, d:cdf(0))
    local gamma_like = peri.NegativeBinomial { total_count = 2, logits = 900 }
    assert.near(901.57721566490153, gamma_like:entropy(), 1e-9)   -- 900 + entropy of Gamma(2, 1)
    assert.has_error(function () peri.NegativeBinomial(1, 1) end,
                     "NegativeBinomial: probs must be in the interval [0, 1), got 1")
  end)

  it("is geometric for one failure", function ()
    local d, waiting = peri.NegativeBinomial(1, 0.3), peri.Geometric(0.7)
    for k = 0, 20 do
      assert.near(waiting:log_prob(k), d:log_prob(k), 1e-13)
      assert.near(waiting:log_sf(k), d:log_sf(k), 1e-13)
    end
    assert.near(waiting:entropy(), d:entropy(), 1e-14)
  end)

  it("is 0 for certain without failures to wait for", function ()
    local d = peri.NegativeBinomial(0, 0.3)
    assert.equal(0, d:sample())
    assert.equal(0.0, d:entropy())
    assert.equal(1.0, d:cdf(0))
    assert.equal(0.0, d:icdf(0.9))
  end)

  it("has its entropy where outcomes are too many to be added up", function ()   -- 30-digit references
    assert.near(10.699426877711114178, peri.NegativeBinomial(5.897, 0.9997866):entropy(), 1e-12)
    assert.near(4.7499377412631242778, peri.NegativeBinomial(0.01, 0.9999999999990905):entropy(), 1e-12)
    assert.near(23.902748535620485585, peri.NegativeBinomial(30, 0.9999999990686774):entropy(), 1e-12)
    assert.near(19.082166209835846128, peri.NegativeBinomial(2000, 0.9999990463256836):entropy(), 1e-12)
  end)

  it("has the entropy of a normal law where outcomes cannot be told apart", function ()   -- references by mpmath
    assert.near(1, peri.NegativeBinomial(1e300, 0.5):entropy() / 347.15327607259149803, 1e-13)
    local far = peri.NegativeBinomial { total_count = 1e300, logits = 100 }   -- whose mean is no double
    assert.near(1, far:entropy() / 446.80670248231152537, 1e-13)
  end)

  it("has the slopes of the entropy at many trials", function ()   -- of log(2 pi e r p/q^2)/2 - (1 + p)^2/(12 r p)
    for _, trials in ipairs { 1e8, 1e12, 1e15, 1e100 } do
      local r, logits = peri.param(trials), peri.param(math.log(3 / 7))
      peri.NegativeBinomial { total_count = r, logits = logits }:entropy():backward()
      assert.near(1, peri.item(r.grad) * trials / (0.5 + 1.69 / 0.3 / (12 * trials)), 1e-13)
      assert.near(1, peri.item(logits.grad) / (0.65 + 0.49 * 1.3 / 0.3 / (12 * trials)), 1e-13)
    end
  end)
end)
