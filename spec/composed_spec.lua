-- Some of the laws that `make composed` looks at.
local composed = require "spec.long.composed"

describe("laws made of others", function ()
  it("agree with their draws, tails, quantiles, densities and moments", function ()
    local found = {}
    local count = composed.run(101, 1, nil, function (line) found[#found + 1] = line end)
    assert.same({}, found)
    assert(count > 25, count)
  end)

  it("are found out", function ()   -- what is checked can fail
    local peri = require "perilune"
    local Wrong = peri.Normal:extend("Wrong", { inherit_kl = false })
    function Wrong:cdf (x) return peri.Normal.cdf(self, x) ^ 2 end
    peri.Wrong = Wrong
    finally(function () peri.Wrong = nil end)
    local found = {}
    assert.is_true(composed.check("peri.Wrong(0, 1)", function (line) found[#found + 1] = line end))
    assert(#found >= 3, table.concat(found, "\n"))
  end)
end)
