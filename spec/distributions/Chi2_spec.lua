require "spec.support.contract".distribution {
  name = "Chi2",
  points = { { 5 }, { 0.6 }, { 1 }, { 2 }, { 30.5 }, { 1e6 } },
  log_prob = {   -- x, df, value (50-digit reference)
    { 0.75, 2.5, -1.2150826573910637072 },
    { 3, 1, -2.9682446775387275875 },
    { 1e-300, 0.002, 683.17688033775107785 },
    { 2e15, 2e15, -18.881473911219960765 },
    { 12, 16, -2.6759922570289746039 },
    { 300, 260.5, -5.5499883080255643822 },
    { 0, 1, math.huge },
  },
  outside = { { -1, 2 }, { -1e-300, 0.5 }, { -math.huge, 20 } },
  invalid = { { 0 }, { -1 }, { 0 / 0 }, { { 1, -2 } } },
}

describe("Chi2", function ()
  local peri = require "perilune"

  it("is a Gamma with its own name and parameter", function ()
    local d = peri.Chi2 { df = 3 }
    assert.equal("Chi2(df=3)", tostring(d))
    assert.is_true(d:is_a(peri.Gamma))
    assert.equal(1.5, d.concentration)
    assert.equal(0.5, d.rate)
    assert.equal(peri.Gamma(1.5, 0.5):log_prob(2), d:log_prob(2))
    assert.equal(peri.Gamma(1.5, 0.5):sample(nil, peri.rng(1)), d:sample(nil, peri.rng(1)))
  end)

  it("keeps the Gamma's parameters in step when expanded", function ()
    local d = peri.Chi2({ 3, 4 }):expand { 5, 2 }
    assert.same({ 5, 2 }, d.concentration.shape)
    assert.same({ 5, 2 }, d:variance().shape)
    assert.equal(8.0, d:variance():at(5, 2))
  end)
end)
