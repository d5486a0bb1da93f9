local peri = require "perilune"

require "spec.support.contract".distribution {
  name = "GeneralizedNormal",
  points = { { 0, 1, 2 }, { -3.5, 0.2, 1 }, { 2, 1e5, 0.6 }, { 0.7, 3, 30 }, { 0.1, 0.5, 1.4 } },
  log_prob = {   -- x, loc, scale, shape, value (50-digit reference)
    { 0, 0, 1, 2, -0.57236494292470008707 },
    { 2.5, -1, 0.5, 1, -7.0 },
    { 3, 0.5, 2, 4.5, -4.0243825919988244354 },
    { 1e6, 0, 1, 0.1, -19.778631459170432112 },
    { 0.999, 0, 1, 1e4, -0.69313464056370188004 },
    { -7, 1, 3, 0.01, -366.54099157627308889 },
    { 1e-9, 0, 1e-8, 30, 17.745874747762941587 },
  },
  invalid = { { 0, 0, 1 }, { 0, 1, 0 }, { 0, -1, 2 }, { 0, 1, -2 }, { 0 / 0, 1, 1 }, { 0, 1, 0 / 0 } },
}

describe("GeneralizedNormal", function ()
  it("has its median at loc, however flat its tails", function ()
    for _, shape in ipairs { 1e-6, 1e-3, 1, 1e6 } do
      assert.equal(1.5, peri.GeneralizedNormal(1.5, 2, shape):median())
    end
  end)
end)
