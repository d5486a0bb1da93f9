local peri = require "perilune"
local core = require "perilune.core"

require "spec.support.contract".distribution {
  name = "NoncentralF",
  points = { { 3, 7, 1 }, { 0.7, 9, 2 }, { 40, 0.9, 5 }, { 1000, 50, 500 } },
  kl_points        = { { 3, 9, 1 }, { 5, 12, 4 }, { 8, 10, 0.5 } },
  extreme_points   = { { 1e15, 3, 1 }, { 3, 1e15, 1 }, { 1, 3, 1e15 }, { 1e-3, 3, 1 }, { 3, 1e-3, 1 }, { 1e300, 1, 1 },
                       { 1, 1e300, 1 }, { 1, 1, 1e300 }, { 1e-300, 1, 1 }, { 1, 1e-300, 1 }, { 3, 5, 0 },
                       { 3, 5, 1e-300 }, { 1e300, 1e300, 1e300 } },
  subnormal_points = { { 3, 7, 1 }, { 0.7, 9, 2 }, { 40, 0.9, 5 }, { 1000, 50, 500 } },
  log_prob = {   -- x, df1, df2, noncentrality, value (40-digit reference)
    { 2, 2, 5, 1, -1.863516434123999 },
    { math.huge, 2, 3, 1, -math.huge },
  },
  outside = { { -1, 2, 5, 1 }, { -1e-300, 2, 5, 1 }, { -math.huge, 2, 5, 1 } },
  invalid = { { 0, 1, 1 }, { 1, 0, 1 }, { -1, 1, 1 }, { 0 / 0, 1, 1 }, { 1, 1, -1 } },
}

describe("NoncentralF", function ()
  it("is the law of the square of NoncentralT", function ()
    for _, point in ipairs { { 3, 1 }, { 0.7, 2.5 }, { 40, 12 }, { 1e5, 30 }, { 9, 1e4 } } do
      local df, d = table.unpack(point)
      local f, t = peri.NoncentralF(1, df, d * d), peri.NoncentralT(df, d)
      for _, u in ipairs { 1e-9, 0.1, 0.5, 0.99 } do
        local x = f:icdf(u)
        local root = x ^ 0.5
        local log_p = peri.logaddexp(t:log_prob(root), t:log_prob(-root)) - math.log(2 * root)
        assert.near(log_p, f:log_prob(x), 1e-10)
        assert.near(1, (t:sf(root) + t:cdf(-root)) / f:sf(x), 1e-10)
      end
    end
  end)

  -- Every slope at every extreme point, and none takes long.
  local function check_slopes (class, points)
    for _, point in ipairs(points) do
      local d = class(table.unpack(point))
      local operands = {}
      for i, name in ipairs(d.operands) do operands[i] = d[name] end
      for _, kernel in ipairs(core.kernels(class.kernels)) do
        local names = { table.unpack({ "a", "b", "c", "d", "e" }, 1, kernel.n_in) }
        local partials = core.bind_partials(class.kernels, kernel.name, kernel.name, names, names)
        local first = kernel.n_in > #operands and { 1e-300, 0.3, 1 } or { false }
        for _, x in ipairs(first) do
          local at = x and { x, table.unpack(operands) } or operands
          for _, slope in ipairs { partials(table.unpack(at)) } do
            assert(slope == slope, tostring(d) .. ":" .. kernel.name .. " has a slope that is NaN")
          end
        end
      end
    end
  end

  -- df1, df2, noncentrality, x, log_sf and log_prob of 400 digits
  it("counts the one jump that next to no noncentrality allows", function ()
    for _, case in ipairs {
      { 1e-241, 0.02, 6e-24, 0.2, -54.1634299431889867, -554.006716679690855 },
      { 4e-295, 0.1, 5e-16, 0.12, -35.9250707560305759, -676.449191716483441 },
      { 1e-253, 0.14, 2.5e-26, 2e-15, -59.644068866530978, -549.401546493702763 },
      { 1e-300, 3, 1e-18, 1, -42.1396788544527676, -691.46867507877365 },
      { 1e-20, 3, 1e-20, 0.5, -42.8688728718874494, -46.0517018598809137 },
    } do
      local df1, df2, noncentrality, x, log_sf, log_prob = table.unpack(case)
      local d = peri.NoncentralF(df1, df2, noncentrality)
      assert.near(log_sf, d:log_sf(x), 1e-13 * math.abs(log_sf))
      assert.near(log_prob, d:log_prob(x), 1e-13 * math.abs(log_prob))
    end
  end)

  it("has slopes at extreme parameters, as NoncentralT has", function ()
    check_slopes(peri.NoncentralF, { { 1e15, 3, 1 }, { 3, 1e15, 1 }, { 1, 3, 1e15 }, { 1e300, 1, 1 }, { 1, 1e300, 1 },
                                     { 1, 1, 1e300 }, { 1e-300, 1, 1 }, { 1, 1e-300, 1 }, { 3, 5, 0 } })
    check_slopes(peri.NoncentralT, { { 1e15, 1 }, { 1, 1e15 }, { 1e300, 1 }, { 1, 1e300 }, { 1e-300, 1 }, { 3, 0 },
                                     { 3, -40 } })
  end)

  it("keeps the digits of its tails", function ()   -- df1, df2, noncentrality, x, log cdf: sums with 40 digits
    for _, case in ipairs {
      { 2000, 200, 1200, 0.016, -2175.55854359397478 }, { 0.02, 2e8, 0.2, 22, -0.0920221411799335497 },
      { 0.02, 2e8, 0.2, 3.3, -0.125534023082577597 }, { 0.02, 0.01, 1200, 6.0001e-46, -602.132870842432676 },
      { 0.3, 1e-30, 7, 1e-5, math.log(2.7507412292313470013e-29) },
      { 5, 1e-24, 7, 1e-26, math.log(3.4886627960537526833e-30) },
    } do
      local df1, df2, noncentrality, x, value = table.unpack(case)
      local d = peri.NoncentralF(df1, df2, noncentrality)
      assert.near(1, d:log_cdf(x) / value, 2e-14)
      if value > -700 then assert.near(1, d:icdf(math.exp(value)) / x, 1e-10) end
    end
    assert.near(1, peri.NoncentralF(5, 1e-100, 7):mode() / 8.6904157598234e-101, 1e-12)
    assert.equal(math.huge, peri.NoncentralF(0.3, 1e-300, 7):icdf(1e-200))
    assert.near(0.5 * math.exp(-0.5), peri.NoncentralF(1e-300, 1e-300, 1):cdf(1), 1e-13)   -- both next to nothing
  end)

  -- df1, df2, noncentrality, x, log cdf, log sf: sums with 400 digits; where df2 < 1e-20, integrals over log V with 60
  it("keeps the digits of both tails far out, of next to no degrees of freedom", function ()
    for _, case in ipairs {
      { 8.74e-06, 6.5e-12, 6.3e-12, 6e+72, -14.110825646373884, -7.4429730813621248e-7 },
      { 3e-12, 1e-14, 2e-09, 1.3e+213, -5.7071102650042506, -0.0033277900918234195 },
      { 167.0, 1.7e-12, 0.0, 4.5e+267, -21.326592189031977, -5.4698912834524083e-10 },
      { 1.8e-05, 6.0, 2.4e-08, 2e-225, -0.0047574606237362952, -5.3504190227519169 },
      { 0.00045, 43.0, 2.8e-08, 4.8e-254, -0.13300512078306691, -2.0831332199739918 },
      { 0.00027, 1.4e-14, 2.3e-12, 0.19, -23.679661950365172, -5.2006003590955111e-11 },
      { 3.6e-12, 1.1e-15, 3e-12, 1.2e-11, -8.0936844535550354, -0.00030550888295409049 },
      { 1.2e-05, 7.2e-07, 3.1e-10, 1.5e+265, -2.8680063625770338, -0.058489733524291317 },
      { 2.2e-11, 1.5e-17, 2.8e-12, 3e-204, -14.198503497038462, -6.8181794597108954e-7 },
      { 1.1e-09, 0.033, 3.7e-09, 2.3e-240, -3.4812090398605273e-7, -14.870716166323282 },
      { 0.74, 1e-60, 2.0, 0.5, -133.92508604782267, -6.871857435956892e-59 },
      { 1e-30, 1e-40, 1e-20, 1e+80, -23.025850930040457, -9.9999999994999985e-11 },
      { 30.0, 1e-200, 50.0, 1e-150, -456.47147065809702, -5.7142488153160019e-199 },
    } do
      local df1, df2, noncentrality, x, below, above = table.unpack(case)
      local d = peri.NoncentralF(df1, df2, noncentrality)
      assert.near(1, d:log_cdf(x) / below, 1e-13)
      assert.near(1, d:log_sf(x) / above, 1e-13)
      assert.near(1, d:cdf(x) / math.exp(below), 1e-12)
    end
  end)

  -- With df1 next to 0 there are exp(-noncentrality/2) at 0 and a law of scale noncentrality/df1 beyond.
  it("has densities, tails and quantiles where its scale is beyond all numbers", function ()
    local d = peri.NoncentralF(1e-310, 1e10, 1)
    assert.near(math.log(5e-311) + math.log(1.5) - 0.5, d:log_prob(1), 1e-9)
    for _, df1 in ipairs { 1e-310, 2 ^ -1000, 2 ^ -990, 1e-280 } do
      for _, df2 in ipairs { 3, 1e4, 1e10 } do
        for _, x in ipairs { 5e-324, 1e-200, 1e-25, 1e-10, 1 } do
          assert.near(-0.5, peri.NoncentralF(df1, df2, 1):log_cdf(x), 1e-14)
        end
      end
    end
    for _, noncentrality in ipairs { 1, 1e3, 1e5, 1e9, 1e12 } do
      local far, near = peri.NoncentralF(2 ^ -1030, 1, noncentrality), peri.NoncentralF(2 ^ -990, 1, noncentrality)
      for _, x in ipairs { 1e290, 1e306 } do
        assert.near(1, far:log_cdf(x) / near:log_cdf(x * 2 ^ -40), 1e-12)
        assert.near(1, far:log_prob(x) / (near:log_prob(x * 2 ^ -40) - 40 * math.log(2)), 1e-12)
      end
    end
    local vast = peri.NoncentralF(5e-324, 2.4e-4, 2 ^ 40)
    for _, level in ipairs { 1e-300, 1e-9, 0.3, 0.9 } do
      assert.equal(math.huge, vast:icdf(level))
      assert.equal(math.huge, vast:isf(level))
    end
  end)
end)
