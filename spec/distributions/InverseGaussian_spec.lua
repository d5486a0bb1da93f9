local peri = require "perilune"

require "spec.support.contract".distribution {
  name = "InverseGaussian",
  points = { { 1, 1 }, { 3.5, 0.2 }, { 2e-3, 5e2 }, { 1e5, 3e4 }, { 0.3, 7 } },
  log_prob = {   -- x, loc, concentration, value (50-digit reference)
    { 1, 1, 1, -0.91893853320467274178 },
    { 2.5, 0.3, 7, -76.609308445377143908 },
    { 1e-3, 2, 0.1, -41.658610661228491741 },
    { 1e10, 1e-3, 1e-8, -50000044.668045299056 },
    { 1e-12, 1e5, 1e-13, 25.510790036226852668 },
    { 1.0001, 1, 1e6, 5.983667253226970465 },
  },
  outside = { { -1, 1, 1 }, { 0, 2, 3 }, { -math.huge, 1, 1 } },
  invalid = { { 0, 1 }, { 1, 0 }, { -1, 1 }, { 1, -2 }, { 0 / 0, 1 }, { 1, 0 / 0 } },
}

describe("InverseGaussian", function ()
  -- Logarithms of density and tail are -3e11: their difference has few digits.
  it("has slopes of logarithms of tiny tails (60-digit reference)", function ()
    local cases = {   -- method, x, loc, concentration, slope in each
      { "log_sf", 0.66065631489311849, 2.2717663188095077e-06, 4.5281890428438132,
        -438699602604.802595, 255157111699579608.0, -64005205352.4331394 },
      { "log_cdf", 1e-9, 2.5, 300, 1.50000000000499981e+20, -47.9999999808, -499999999.601666636 },
    }
    for _, case in ipairs(cases) do
      local method, x, loc, concentration = table.unpack(case)
      local grad = peri.grad(function (at)
        local d = peri.InverseGaussian(at.loc, at.concentration)
        return d[method](d, at.x)
      end) { x = x, loc = loc, concentration = concentration }
      for i, name in ipairs { "x", "loc", "concentration" } do
        assert(math.abs(grad[name] / case[4 + i] - 1) < 1e-14)
      end
    end
  end)
end)
