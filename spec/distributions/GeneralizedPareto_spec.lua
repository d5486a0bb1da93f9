local peri = require "perilune"

require "spec.support.contract".distribution {
  name = "GeneralizedPareto",
  points = {
    { 0, 1, 0 }, { 2, 0.5, 0.2 }, { -3.5, 2, -0.4 }, { 1, 1e-2, -1 }, { 0, 1, -1.5 }, { 1, 3, 1e-9 }, { 0, 2, 1.2 },
  },
  log_prob = {   -- x, loc, scale, concentration, value (50-digit reference)
    { 2.5, 0.5, 1.5, 0.25, -1.8438754703670690192 },
    { 0.1, 0, 1, -0.7, -0.031101725500643762341 },
    { 1e4, 0, 1, 5e-9, -9999.7500583317708875 },
    { 3.25, 1, 2, 0, -1.8181471805599453094 },
    { 1.999999999999, 0, 1, -0.5, -28.324079399857575089 },
    { 1e300, 0, 1e-10, 0.5, -2116.2988440128421935 },
    { 0.3, 0, 1, -3, 1.5350567286626969006 },
    { 2, 0, 1, -0.5, -math.huge },
    { 1, 0, 1, -1, 0 },
  },
  outside = { { -1, 0, 1, 0.3 }, { 0.5, 1, 1, 0 }, { 5, 0, 1, -0.5 }, { math.huge, 0, 1, -2 }, { 0.6, 0, 1, -2 } },
  invalid = {
    { 0, 0, 1 }, { 0, -1, 1 }, { 0 / 0, 1, 1 }, { 0, 0 / 0, 1 }, { 0, 1, 0 / 0 }, { 0, { 1, 0 }, 1 },
  },
}

describe("GeneralizedPareto", function ()
  it("has an upper end that moves with all parameters", function ()
    local loc, scale, concentration = peri.param(1), peri.param(2), peri.param(-4)
    peri.GeneralizedPareto(loc, scale, concentration):mode():backward()   -- loc - scale/concentration
    assert.same({ 1.0, 0.25, 0.125 }, { peri.item(loc.grad), peri.item(scale.grad), peri.item(concentration.grad) })
  end)
end)
