local contract = require "spec.support.contract"
local core     = require "perilune.core"
local golden   = require "spec.support.golden"
local json     = require "dkjson"
local peri     = require "perilune"

contract.distribution {
  name = "Beta",
  points = { { 2, 5 }, { 0.5, 0.7 }, { 1, 3 }, { 30, 2.5 }, { 700, 400 }, { 0.6, 25 }, { 1, 1 } },
  log_prob = {   -- x, concentration1, concentration0, value (50-digit reference)
    { 0.25, 2, 5, 0.86417473073514104682 },
    { 1e-300, 0.001, 0.001, 682.48385155330714408 },
    { 2 ^ -1074, 100, 3, -73686.415003881191293 },
    { 0.5, 1e10, 1e10, 11.633707702592973642 },
    { 0.3, 15.5, 12.25, -2.3926647273529522657 },
    { 1e-12, 3, 1e12, 25.937873935372102879 },
    { 0.999, 0.5, 300, -2063.1392185375622869 },
    { 0, 1, 1, 0 },
    { 1, 1, 1, 0 },
    { 0, 1, 4, 1.3862943611198906188 },
    { 1, 40, 1, 3.6888794541139363057 },
    { 0, 0.5, 30, math.huge },
    { 1, 30, 2, -math.huge },
  },
  outside = { { -0.1, 2, 3 }, { 1.5, 0.5, 0.5 }, { math.huge, 30, 40 }, { -math.huge, 1, 1 } },
  invalid = { { 0, 1 }, { 1, -1 }, { 0 / 0, 1 }, { 1, 0 / 0 }, { { 1, 0 }, 2 } },
}

describe("Beta beyond the contract", function ()
  it("has the pathwise derivatives of the reference table", function ()
    local file = assert(io.open("spec/support/reference/implicit_gradients.json"))
    local lines = json.decode(file:read("*a")).beta
    file:close()
    local names = { "x", "a", "b" }
    local partials = core.bind_partials("beta", "rsample", "rsample", names, names)
    for _, line in ipairs(lines) do
      local one, da, db = partials(line.x, line.a, line.b)
      assert.equal(1, one)
      for got, expected in pairs { [da] = line.dx_da, [db] = line.dx_db } do
        assert(math.abs(got - expected) <= 1e-9 * math.abs(expected),
               string.format("Beta(%g, %g) at %.17g: expected %.17g, got %.17g", line.a, line.b, line.x, expected, got))
      end
    end
  end)

  it("keeps tiny shapes at the two ends, in the right proportion", function ()   -- 5 standard errors
    local x = peri.Beta(0.001, 0.001):sample(100000, peri.rng(7))
    local middle = peri.Beta(0.001, 0.001):cdf(0.6) - peri.Beta(0.001, 0.001):cdf(0.4)
    local share = peri.item((peri.gt(x, 0.4) * peri.lt(x, 0.6)):mean())
    assert(math.abs(share - middle) <= 5 * math.sqrt(middle / 100000))
    local upper = peri.item(peri.gt(x, 0.5):mean())
    assert(math.abs(upper - 0.5) <= 5 * math.sqrt(0.25 / 100000))
    local tiny = peri.item(peri.le(x, 1e-300):mean())
    local expected = peri.Beta(0.001, 0.001):cdf(1e-300)
    assert(math.abs(tiny - expected) <= 5 * math.sqrt(expected / 100000))
  end)

  it("has its mode at an end when a shape is at most 1", function ()
    local d = peri.Beta({ 1, 0.5, 1, 2, 0.4, 0.6, 3 }, { 1, 1, 2, 1, 0.6, 0.4, 2 })
    assert.same({ 0.5, 0, 0, 1, 0, 1, 2 / 3 }, d:mode():totable())
  end)

  it("has the right slope in a shape where x is subnormal", function ()   -- 40-digit reference
    local a = peri.param(5)
    peri.Beta(a, 2):log_prob(2 ^ -1074):backward()
    assert.is_true(golden.passes({ expected = "-744.07340525471459564744" }, a.grad))
  end)

  it("passes huge shapes", function ()
    assert.is_true(golden.passes({ expected = "1.2499999999999999918394e-161" }, peri.Beta(1e160, 1e160):variance()))
  end)
end)
