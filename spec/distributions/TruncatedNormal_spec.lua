local peri = require "perilune"

require "spec.support.contract".distribution {
  name = "TruncatedNormal",
  points = { { 0, 1, -1, 2 }, { -3.5, 0.2, -3, 7 }, { 2, 1e5, -5, 1e6 }, { -40, 1, 0.5, 60 }, { 0.3, 2, 1, 1.001 },
             { 1, 0.5, -30, -9 } },
  log_prob = {   -- x, loc, scale, low, high, value (50-digit reference)
    { 0, 0, 1, -1, 2, -0.71877223888021016183 },
    { 1.5, 0, 1, -math.huge, math.huge, -2.0439385332046727418 },
    { 40.5, 0, 1, 40, math.huge, -16.435496519450884575 },
    { -41, 1, 1, -math.huge, -40, -37.785833931430055719 },
    { 1.0000000001, 0, 1, 1, 1.000000001, 20.723265754606043613 },
    { 3, -7, 0.25, 2.5, 60, -72.975428153264652026 },
    { 0.001, -1000, 1, 0, math.huge, 5.9077557789796370436 },
  },
  outside = { { -1.5, 0, 1, -1, 2 }, { 2.5, 0, 1, -1, 2 }, { math.huge, 0, 1, -1, 2 } },
  invalid = { { 0, 0, -1, 1 }, { 0, 1, 1, 1 }, { 0, 1, 2, -1 }, { 0, 1, 0 / 0, 1 }, { 0 / 0, 1, -1, 1 },
              { 0, 1, math.huge } },
}

describe("TruncatedNormal", function ()
  it("keeps the digits of a mean and a median near loc", function ()   -- low, high, mean, median by mpmath
    for _, row in ipairs {
      { -5, 5.000001, 7.433583995789638943e-12, 1.8633219279907743957e-12 },
      { -10, 11, 7.694386744781068411e-23, 9.5498300537810237783e-24 },
      { -20, 21, 5.5209483552577337695e-88, 3.4511560325921610261e-89 },
      { -1, 1.0000000000001, 3.5415415861298677765e-14, 3.0302293659930801771e-14 },
      { -0.001, 0.0010001, 4.9999983331697168059e-8, 4.9999974997534509136e-8 },
    } do
      local d, mirrored = peri.TruncatedNormal(0, 1, row[1], row[2]), peri.TruncatedNormal(0, 1, -row[2], -row[1])
      assert.near(1, d:mean() / row[3], 1e-13)
      assert.near(1, d:median() / row[4], 1e-13)
      assert.near(1, d:isf(0.5) / row[4], 1e-13)
      assert.equal(-d:mean(), mirrored:mean())
      assert.equal(-d:median(), mirrored:median())
    end
    assert.near(1, peri.TruncatedNormal(1e-10, 1, -7, 7.1):mean() / 1.046211767215689526e-10, 1e-14)
    assert.near(1, peri.TruncatedNormal(1e-10, 1, -7, 7.1):median() / 1.0082220928742840824e-10, 1e-14)
  end)
end)
