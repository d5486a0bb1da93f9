local contract = require "spec.support.contract"
local peri     = require "perilune"

contract.distribution {
  name = "StudentT",
  points = { { 3, 0, 1 }, { 12.5, -3.5, 0.2 }, { 1, 0, 2 }, { 0.6, 1, 3 }, { 400, 2, 1e5 }, { 1e7, 10, 0.5 } },
  log_prob = {   -- x, df, loc, scale, value (50-digit reference)
    { 1, 1e15, 0, 1, -1.4189385332046732418 },
    { 1e200, 2, 0, 1, -1381.5510557964274103 },
    { -3.5, 4.25, 1.5, 0.2, -12.48653802554683759 },
    { 0, 0.01, 0, 1, -3.0026229201738424893 },
    { 7, 1, 2, 0.001, -11.271361029699737155 },
    { 30, 50, 0, 2, -45.088161732670934355 },
    { math.huge, 3, 0, 1, -math.huge },
  },
  invalid = { { 0 }, { -1, 0, 1 }, { 1, 0, 0 }, { 1, 0 / 0, 1 }, { 0 / 0 }, { { 1, 0 }, 0, 1 } },
}

describe("StudentT beyond the contract", function ()
  it("has no mean for df <= 1 and no finite variance for df <= 2", function ()
    local d = peri.StudentT({ 0.5, 1, 1.5, 2, 3 }, 7, 2)
    local mean, variance, sd = d:mean():totable(), d:variance():totable(), d:stddev():totable()
    assert.same({ 7, 7, 7 }, { table.unpack(mean, 3) })
    assert.same({ math.huge, math.huge }, { table.unpack(variance, 3, 4) })
    assert.same({ 12.0, math.sqrt(12) }, { variance[5], sd[5] })
    for i = 1, 2 do
      assert(mean[i] ~= mean[i] and variance[i] ~= variance[i])
    end
  end)

  it("is Cauchy for df = 1, out to where squares overflow", function ()
    local d, atan2 = peri.StudentT(1), rawget(math, "atan2") or math.atan
    for _, x in ipairs { 1e-300, 1e-8, 1, 1e8, 1e170, 1e300 } do
      local tail = atan2(1, x) / math.pi
      assert(math.abs(d:sf(x) - tail) <= 1e-13 * tail, x)
      assert(math.abs(d:log_sf(x) - math.log(tail)) <= 1e-13 * math.abs(math.log(tail)), x)
    end
    for _, q in ipairs { 1e-300, 1e-170, 1e-8, 0.25, 0.4 } do
      local x = 1 / math.tan(math.pi * q)
      assert(math.abs(d:isf(q) - x) <= 1e-12 * x, q)
    end
  end)

  it("is Normal for huge df", function ()
    local normal = peri.Normal(0, 1)
    for _, df in ipairs { 1e30, 1e290, math.huge } do
      local d = peri.StudentT(df)
      for _, x in ipairs { -30, -1, 0, 1e-9, 2, 9 } do
        for _, method in ipairs { "log_prob", "cdf", "sf", "log_cdf", "log_sf" } do
          local expected, got = normal[method](normal, x), d[method](d, x)
          assert(math.abs(got - expected) <= 1e-13 * math.abs(expected), method .. " at " .. x .. " of df " .. df)
        end
      end
      assert(math.abs(d:icdf(1e-20) - normal:icdf(1e-20)) <= 1e-13 * 9.3)
      assert(math.abs(d:entropy() - normal:entropy()) <= 1e-15)
      assert.equal(1.0, d:variance())
      assert(math.abs(peri.item(d:sample(1000, peri.rng(2)):mean())) < 5 / math.sqrt(1000))
    end
  end)
end)
