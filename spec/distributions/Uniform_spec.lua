require "spec.support.contract".distribution {
  name = "Uniform",
  points = { { 0, 1 }, { -3.5, 0.2 }, { 1e3, 1e3 + 1e-2 }, { -1e10, 1e-3 } },
  log_prob = {   -- x, low, high, value (50-digit reference)
    { 0.25, 0, 1, 0 },
    { 1, 0, 1, 0 },
    { 2, -1, 7, -2.0794415416798359 },
  },
  outside = { { -1, 0, 1 }, { 1.5, 0, 1 }, { math.huge, -2, 5 } },
  invalid = { { 0, 0 }, { 1, -1 }, { 0 / 0, 1 }, { 0, 0 / 0 }, { { 0, 3 }, 2 } },
}

local peri = require "perilune"

describe("Uniform at its ends", function ()
  it("has tails of 0, not of -0", function ()
    local d = peri.Uniform(0, 1)
    for _, x in ipairs { d:cdf(0), d:cdf(-0.0), d:sf(1), d:cdf(-3), d:sf(4) } do assert.equal(math.huge, 1 / x) end
  end)
end)
