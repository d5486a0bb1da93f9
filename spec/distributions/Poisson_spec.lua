local peri = require "perilune"

require "spec.support.contract".distribution {
  name = "Poisson",
  points = { { 0.7 }, { 4 }, { 1e-3 }, { 10 }, { 150.5 }, { 1e6 } },
  log_prob = {   -- x, rate, value (50-digit reference)
    { 3, 2.5, -1.5428872736055898053 },
    { 0, 1e-20, -9.9999999999999994515e-21 },
    { 1, 1e-20, -46.051701859880913735 },
    { 7, 1e-300, -4843.9538566485613506 },
    { 17, 16.5, -2.3479469747257951413 },
    { 16, 32, -7.2200856612850480504 },
    { 100, 30, -53.619637389347952603 },
    { 1e8, 100000003, -10.129278951014187911 },
    { 1000000050000000, 1e15, -19.438326734826682018 },
    { 40, 700, -548.2774263130212085 },
    { 0, 0, 0 },
    { 1, 0, -math.huge },
    { 1.5, 2, -math.huge },
  },
  outside = { { -1, 2 }, { -0.5, 1e6 }, { math.huge, 3 } },
  invalid = { { -1 }, { 0 / 0 }, { { 1, -2 } } },
}

describe("Poisson", function ()
  it("is a point mass at rate 0", function ()
    local d = peri.Poisson(0)
    assert.equal(0.0, d:entropy())
    assert.equal(1.0, d:cdf(0))
    assert.equal(0.0, d:sf(0))
    assert.equal(0.0, d:icdf(1))
    assert.same({ 0, 0, 0 }, d:sample(3, peri.rng(1)):totable())
  end)

  it("has the entropy of either formula where they meet", function ()   -- 50-digit reference
    assert(math.abs(peri.Poisson(63.999):entropy() / 3.4970597774136966028 - 1) < 1e-14)
    assert(math.abs(peri.Poisson(1e15):entropy() / 18.688326730660015372 - 1) < 1e-14)
  end)

  it("draws the same number in a block of equal rates as alone", function ()
    for _, rate in ipairs { 0.2, 4, 9.999, 10, 1e15 } do
      local alike = peri.Poisson(rate):sample(300, peri.rng(3))
      local rates = peri.cat { peri.full({ 299 }, rate), peri.tensor { 2 * rate } }
      local mixed = peri.Poisson(rates):sample(nil, peri.rng(3))
      assert.is_true(alike:narrow(1, 1, 299):equal(mixed:narrow(1, 1, 299)))
    end
  end)
end)
