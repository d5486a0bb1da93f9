require "spec.support.contract".distribution {
  name = "Gamma",
  points = { { 2.5, 1.5 }, { 0.3, 2e-4 }, { 1, 3 }, { 8.5, 1e6 }, { 640, 0.2 }, { 1e6, 1e3 } },
  log_prob = {   -- x, concentration, rate, value (50-digit reference)
    { 0.75, 2.5, 1.5, -0.82754320888017959585 },
    { 3, 0.5, 2.5, -8.1635257213216774002 },
    { 1e-300, 0.001, 1, 683.1775734849316378 },
    { 1e15, 1e15, 1, -18.188326730660015455 },
    { 12, 8, 0.5, -2.6759922570289746039 },
    { 1e-200, 30, 1e-150, -23787.883496805838555 },
    { 1e300, 0.3, 1e-299, -701.18055036513356757 },
    { 0, 1, 1, 0 },
    { 0, 0.5, 1, math.huge },
    { 0, 20, 1, -math.huge },
    { math.huge, 20, 1, -math.huge },
  },
  outside = { { -1, 2, 1 }, { -1e-300, 0.5, 1 }, { -math.huge, 20, 1 } },
  invalid = { { 0, 1 }, { 1, 0 }, { -1, 1 }, { 0 / 0, 1 }, { 1, 0 / 0 }, { { 1, -2 }, 1 } },
}

describe("Gamma", function ()
  local peri = require "perilune"
  local core = require "perilune.core"
  local partials = core.bind_partials("gamma", "rsample", "rsample", { "x", "a", "b" }, { "x", "a", "b" })

  it("has the pathwise derivatives of the reference table", function ()
    local file = assert(io.open("spec/support/reference/implicit_gradients.json"))
    local lines = require "dkjson".decode(file:read "*a").gamma_unit_rate
    file:close()
    assert.equal(98, #lines)
    for _, line in ipairs(lines) do
      local _, slope = partials(line.x, line.alpha, 1)
      assert(math.abs(slope - line.dx_dalpha) <= 1e-9 * math.abs(line.dx_dalpha),
             string.format("a = %g, x = %g: expected %.17g, got %.17g", line.alpha, line.x, line.dx_dalpha, slope))
    end
  end)

  it("reaches through the rate what a unit draw cannot hold", function ()
    local d = peri.Gamma(1e-3, 1e-300)
    local x = d:icdf(0.3)   -- 7e-524 in units of 1/rate
    assert(math.abs(x / 7.4289966160236305e-224 - 1) < 1e-12, "icdf is " .. x)
    assert(math.abs(d:cdf(x) / 0.3 - 1) < 1e-12, "cdf is " .. d:cdf(x))
    assert(math.abs(d:log_sf(x) / math.log(0.7) - 1) < 1e-12, "log_sf is " .. d:log_sf(x))
    local below = 0
    local draws = d:sample(1000, peri.rng(3))
    for i = 1, 1000 do below = below + (draws[i] < x and 1 or 0) end
    assert(math.abs(below - 300) < 75, below .. " of 1000 draws below the quantile of 0.3")
  end)

  it("draws the same numbers in one call and in many, retries included", function ()
    local d = peri.Gamma({ 0.4, 1, 2.5 }, 1)
    local all, rng = d:sample(2000, peri.rng(9)), peri.rng(9)
    local parts = peri.cat { d:sample(700, rng), d:sample(1, rng), d:sample(1299, rng) }
    assert.is_true(all:equal(parts))
  end)
end)
