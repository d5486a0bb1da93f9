require "spec.support.contract".distribution {
  name = "InverseGamma",
  points = { { 4.5, 1.5 }, { 8.5, 1e6 }, { 0.4, 2e-4 }, { 1.3, 3 }, { 640, 0.2 }, { 1e6, 1e3 } },
  log_prob = {   -- x, concentration, rate, value (50-digit reference)
    { 0.75, 2.5, 1.5, -0.26413284662127495865 },
    { 3, 0.5, 2.5, -2.5954713433231204249 },
    { 1e-3, 0.001, 1, -999.99251585112271368 },
    { 1e-15, 1e15, 1, 50.889226059161354985 },
    { 12, 8, 0.5, -36.476165320303646234 },
    { 1e200, 30, 1e-150, -24708.917534003456827 },
    { 1e300, 0.3, 1e299, -692.6621014209299945 },
    { math.huge, 2, 1, -math.huge },
  },
  outside = { { 0, 2, 1 }, { -0.0, 2, 1 }, { -1, 3, 1 }, { -math.huge, 20, 1 } },
  invalid = { { 0, 1 }, { 1, 0 }, { -1, 1 }, { 0 / 0, 1 }, { 1, 0 / 0 }, { { 1, -2 }, 1 } },
}

describe("InverseGamma", function ()
  local peri = require "perilune"

  it("has the moments that its tail allows", function ()
    local d = peri.InverseGamma({ 0.7, 1, 1.5, 2, 4 }, 6)
    assert.same({ math.huge, math.huge, 12.0, 6.0, 2.0 }, d:mean():totable())
    assert.same({ math.huge, math.huge, math.huge, math.huge, 2.0 }, d:variance():totable())
  end)

  it("is one over a Gamma of the same parameters", function ()
    local p, q = peri.InverseGamma(0.2, 3), peri.Gamma(0.2, 3)
    for _, x in ipairs { 0.125, 1, 1e10 } do   -- 1/x is exact, or nearly
      assert(math.abs(p:sf(x) / q:cdf(1 / x) - 1) < 1e-14, "sf(" .. x .. ")")
      assert(math.abs(p:log_cdf(x) / q:log_sf(1 / x) - 1) < 1e-14, "log_cdf(" .. x .. ")")
    end
  end)
end)
