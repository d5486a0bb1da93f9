local peri = require "perilune"

require "spec.support.contract".distribution {
  name = "ZeroInflatedPoisson",
  points = { { 0.25, 2.5 }, { 0.9, 30 }, { 0.01, 0.3 }, { 0.5, 1e-3 }, { 0.1, 2e4 } },
  log_prob = {   -- x, gate, rate, value (50-digit reference)
    { 3, 0.25, 2.5, -1.8305693460573707327 },
    { 0, 0.25, 2.5, -1.1661513101104868041 },
    { 0, 1e-300, 800, -690.77552789821370518 },
    { 0, 0, 800, -800 },
    { 0, 1e-20, 1e-20, -9.9999999999999994514e-21 },
    { 0, 0.9999999, 0.001, -9.9950016614886562427e-11 },
    { 1, 0.9999999, 1e-20, -62.169797511365589371 },
    { 1e8, 0.5, 100000003, -10.822426131574133221 },
    { 0, 0.25, 1e8, -1.3862943611198906188 },
    { 0, 1, 3, 0 },
    { 1, 1, 3, -math.huge },
    { 1.5, 0.25, 2, -math.huge },
  },
  outside = { { -1, 0.25, 2 }, { math.huge, 0.25, 3 } },
  invalid = { { -0.1, 1 }, { 1.1, 1 }, { 0.5, -1 }, { 0 / 0, 1 }, { 0.5, 0 / 0 } },
}

describe("ZeroInflatedPoisson", function ()
  it("is Poisson with an open gate, and 0 with a shut one", function ()
    local open, poisson, shut = peri.ZeroInflatedPoisson(0, 5), peri.Poisson(5), peri.ZeroInflatedPoisson(1, 5)
    for k = 0, 12 do
      assert.equal(poisson:log_cdf(k), open:log_cdf(k))
      assert.equal(poisson:sf(k), open:sf(k))
      assert.equal(1.0, shut:cdf(k))
    end
    assert(math.abs(open:entropy() - poisson:entropy()) < 1e-15 * open:entropy())
    assert.equal(0.0, shut:entropy())
    assert.equal(0.0, shut:icdf(1))
    assert.same({ 0, 0 }, shut:sample(2, peri.rng(1)):totable())
  end)

  it("with a shut gate has an entropy that the rate does not move", function ()
    local slopes = peri.grad(function (at) return peri.ZeroInflatedPoisson(at.gate, at.rate):entropy() end)
    for _, rate in ipairs { 0, 1e-300, 6, 1e10 } do assert.equal(0, slopes { gate = 1, rate = rate }.rate) end
    assert.equal(-math.huge, slopes { gate = 1, rate = 6 }.gate)
    assert.same({ gate = 0, rate = math.huge }, slopes { gate = 0.5, rate = 0 })
    assert.equal(0, slopes { gate = 1, rate = 0 }.gate)
  end)

  it("has its mode at 0 or where the count has it", function ()
    assert.equal(30.0, peri.ZeroInflatedPoisson(0.01, 30.5):mode())
    assert.equal(0.0, peri.ZeroInflatedPoisson(0.5, 30.5):mode())
  end)
end)
