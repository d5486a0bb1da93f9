--- Tails of Marcum's law, as NoncentralChi2 shows them.
local peri = require "perilune"

describe("Marcum's law", function ()
  it("has small upper tails near 0", function ()
    local d = peri.NoncentralChi2(0.022308542452841147, 0.00020343745048394393)
    assert.near(-3.15278768633953906, d:log_sf(0.023054377559248117), 4e-15)   -- 40-digit sum
    assert.near(0.023054377559248117, d:isf(math.exp(-3.15278768633953906)), 1e-16)
  end)

  it("has tails between 0 and 1 where it is narrower than numbers are apart", function ()
    for e = 20, 300, 2 do
      for _, d in ipairs { peri.NoncentralChi2(10.0 ^ e, 1), peri.NoncentralChi2(1, 10.0 ^ e) } do
        local below, above = d:cdf(10.0 ^ e), d:sf(10.0 ^ e)
        assert(below >= 0 and below <= 1 and above >= 0 and above <= 1)
        assert.near(1, d:icdf(0.3) / 10.0 ^ e, 1e-9)
      end
    end
  end)

  -- Series, panels by Debye's expansion, and panels point by point meet.
  it("has tails that sum up to a density", function ()
    for _, law in ipairs { { 3, 300 }, { 80, 3 }, { 78, 1 }, { 0.7, 800 }, { 0.5, 40 } } do
      local d = peri.NoncentralChi2(law[1], law[2])
      for _, p in ipairs { 1e-20, 1e-3, 0.3 } do
        for _, x in ipairs { d:icdf(p), d:isf(p) } do
          local h = 2e-4 * x
          local rise = (8 * (d:cdf(x + h) - d:cdf(x - h)) - (d:cdf(x + 2 * h) - d:cdf(x - 2 * h))) / (12 * h)
          local fall = (8 * (d:sf(x - h) - d:sf(x + h)) - (d:sf(x - 2 * h) - d:sf(x + 2 * h))) / (12 * h)
          local slope = d:cdf(x) < 0.5 and rise or fall
          assert.near(1, slope / d:prob(x), 1e-6)
        end
      end
    end
  end)
end)
