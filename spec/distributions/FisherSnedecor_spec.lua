local contract = require "spec.support.contract"
local peri     = require "perilune"

contract.distribution {
  name = "FisherSnedecor",
  points = { { 5, 9 }, { 1.5, 30 }, { 2, 12 }, { 0.3, 10 }, { 300, 400 }, { 7, 0.8 } },
  log_prob = {   -- x, df1, df2, value (50-digit reference)
    { 1, 1e12, 1e12, 12.203424844199406053 },
    { 0.5, 3, 7, -0.49043798742944878673 },
    { 1e-200, 0.05, 4, 445.23035562644849597 },
    { 2 ^ -1074, 100, 7, -36332.023616045465701 },
    { 1e5, 9, 0.5, -16.046940086539765738 },
    { 1.02, 21310, 21800, 2.3007083806240822799 },
    { 2.5, 2, 1000, -2.4987582970305758797 },
    { 1e-200, 2, 7, -1.2857142857142856913e-200 },
    { 1e-20, 2, 100000, -1.0000199999999999452e-20 },
    { 30000, 2, 6.75, -39.780430506215651223 },
    { 0.25, 2, 0.5, -0.86643397569993163677 },
    { 40, 2, 1e9, -39.999998480000082133 },
    { 0, 2, 3, 0 },
    { 0, 1.5, 3, math.huge },
    { 0, 4, 500, -math.huge },
    { math.huge, 4, 5, -math.huge },
  },
  outside = { { -1, 2, 3 }, { -math.huge, 50, 3 } },
  invalid = { { 0, 1 }, { 1, -1 }, { 0 / 0, 1 }, { 1, 0 / 0 }, { { 1, 0 }, 2 } },
}

describe("FisherSnedecor beyond the contract", function ()
  it("has an infinite mean for df2 <= 2, and an infinite variance up to 4", function ()
    local d = peri.FisherSnedecor(3, { 1, 2, 3, 4, 6 })
    assert.same({ math.huge, math.huge, 3.0, 2.0, 1.5 }, d:mean():totable())
    assert.same({ math.huge, math.huge, math.huge, math.huge, 5.25 }, d:variance():totable())
  end)
end)
