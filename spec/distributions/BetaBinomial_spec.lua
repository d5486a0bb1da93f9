local core = require "perilune.core"
local peri = require "perilune"

require "spec.support.contract".distribution {
  name = "BetaBinomial",
  points = {
    { 2.5, 8, 60 }, { 0.7, 30, 300 }, { 3000, 1000, 200 }, { 0.02, 20, 500 }, { 4, 60, 30000 }, { 1e5, 2e5, 20000 },
  },
  log_prob = {   -- x, concentration1, concentration0, total_count, value (50-digit reference)
    { 1, 2.5, 8, 60, -4.3546695986524080253 },
    { 0, 1e-10, 1, 50, -4.4992053382481685848e-10 },
    { 0, 1e-10, 100000.0, 50, -4.9987754040999945755e-14 },
    { 0, 0.3, 1000000000000.0, 1000, -2.99999999850104989e-10 },
    { 50, 3, 1e-08, 50, -3.0380439488180141383e-8 },
    { 30, 3000, 1000, 200, -153.43370923432601326 },
    { 5000, 40000000.0, 60000000.0, 10000, -208.9201821110820767 },
    { 17, 0.02, 0.03, 40, -6.7360621690258565315 },
    { 3, 1e-200, 2, 10, -461.93408461859578113 },
    { 1000000000, 2, 3, 4000000000, -21.586312054801753938 },
    { 6, 1000000000000000.0, 1000000000000000.0, 10, -1.5843642748819859137 },
    { 400, 1000.0, 10, 1000000, -7020.9881956496113063 },
    { 0, 2, 3, 0, 0 },
    { 0.5, 2, 3, 7, -math.huge },
  },
  outside = { { -1, 2, 3, 10 }, { 11, 2, 3, 10 } },
  invalid = { { 0, 1, 5 }, { 1, -1, 5 }, { 1, 1, -1 }, { 1, 1, 2.5 }, { 0 / 0, 1, 5 }, { 1, 0 / 0, 5 } },
}

describe("BetaBinomial", function ()
  it("is uniform for two concentrations of 1", function ()
    local d = peri.BetaBinomial(1, 1, 99)
    for _, k in ipairs { 0, 1, 50, 99 } do
      assert.near(0.01, d:prob(k), 1e-16)
      assert.near((k + 1) / 100, d:cdf(k), 4e-15)
    end
    assert.near(math.log(100), d:entropy(), 1e-14)
  end)

  it("piles up at both ends for small concentrations", function ()
    local d = peri.BetaBinomial(1e-3, 1e-3, 50)
    local x = d:sample(2000, peri.rng(3))
    local inside = peri.item((x:gt(0) * x:lt(50)):sum())
    assert(inside < 60)                                    -- 9 are expected
    assert.near(1000, peri.item(x:eq(0):sum()), 120)
    assert.near(1 - d:prob(0), d:sf(0), 1e-15)
  end)

  it("is a Binomial where the concentrations are large", function ()
    local d, limit = peri.BetaBinomial(3e14, 7e14, 40), peri.Binomial(40, 0.3)
    for k = 0, 40, 8 do
      assert.near(limit:log_prob(k), d:log_prob(k), 1e-10)
      assert.near(limit:log_cdf(k), d:log_cdf(k), 1e-10)
    end
  end)

  it("has tails and entropy where outcomes are too many to be added up", function ()   -- references by mpmath
    assert.near(1, peri.BetaBinomial(0.5, 0.3, 1000000):cdf(1000) / 0.013895010737628669148, 1e-12)
    assert.near(1, peri.BetaBinomial(0.5, 0.3, 1000000):entropy() / 13.072009587443749969, 1e-13)
    assert.near(1, peri.BetaBinomial(2.5, 8, 1000000000):cdf(100000000) / 0.12881076596757365507, 1e-12)
    assert.near(1, peri.BetaBinomial(2.5, 8, 1000000000):entropy() / 20.003768339204180377, 1e-13)
    assert.near(1, peri.BetaBinomial(0.01, 5, 100000):cdf(2000) / 0.98104579611582765367, 1e-12)
    assert.near(1, peri.BetaBinomial(0.01, 5, 100000):entropy() / 0.98044793459147870779, 1e-13)
    assert.near(1, peri.BetaBinomial(40, 30, 10000000):cdf(4000000) / 0.0019259574770298409019, 1e-12)
    assert.near(1, peri.BetaBinomial(40, 30, 10000000):entropy() / 14.701682354446906104, 1e-13)
  end)

  it("keeps the slope along a large number of trials", function ()   -- reference by mpmath
    local names = { "x", "a", "b", "n" }
    local partials = core.bind_partials("betabinomial", "log_prob", "log_prob", names, names)
    assert.near(1, select(4, partials(10, 2, 3, 1e12)) / -1.999999999973e-12, 1e-11)
  end)

  it("has its entropy to all digits where it ends in two peaks", function ()   -- references by mpmath
    for _, row in ipairs {
      { 0.5, 0.5, 1e12, 27.38945728087037219 }, { 0.01, 0.02, 1e12, 6.690632895913204775 },
      { 0.1, 7, 1e12, 19.255105018717048292 }, { 1e-5, 1e-5, 1e12, 0.70047618924100512002 },
      { 1e-5, 3, 1e12, 0.0067688114458810050692 }, { 2, 3, 2 ^ 53, 36.501893919889101366 },
      { 2, 3, 1e100, 230.02360264961656811 }, { 2, 3, 1e300, 690.54062124842570495 },
      { 1e300, 1e300, 1e300, 346.31628785580566225 },
    } do assert.near(1, peri.BetaBinomial(table.unpack(row, 1, 3)):entropy() / row[4], 1e-13) end
  end)

  it("is a Beta number, times n, where n is beyond all doubles between", function ()
    for _, n in ipairs { 1e100, 1e300 } do
      local d, beta = peri.BetaBinomial(2, 3, n), peri.Beta(2, 3)
      assert.near(beta:log_prob(0.25) - math.log(n), d:log_prob(0.25 * n), 1e-11)
      assert.near(1, d:cdf(0.25 * n) / beta:cdf(0.25), 1e-14)
      assert.near(1, d:icdf(0.3) / n / beta:icdf(0.3), 1e-14)
      assert.near(1, d:isf(1e-30) / n / beta:isf(1e-30), 1e-14)
      assert.near(1, d:mode() / (n / 3), 1e-14)
    end
  end)

  it("is a Gamma number where n and one concentration are beyond all bounds", function ()
    for _, shape in ipairs { 1e-3, 0.5, 30 } do
      local d, gamma, unit = peri.BetaBinomial(shape, 1e100, 1e300), peri.Gamma(shape, 1), 1e200
      local other = peri.BetaBinomial(1e100, shape, 1e300)
      for _, q in ipairs { 0.9, 0.5, 0.01, 1e-10, 1e-300 } do
        local x = gamma:isf(q)
        if x > 1e-100 then
          assert.near(1, d:isf(q) / unit / x, 1e-10)
          assert.near(1, d:sf(x * unit) / q, 1e-10)
          assert.near(gamma:log_sf(x), d:log_sf(x * unit), 1e-9)
        end
      end
      assert.near(-1, d:log_prob(0) / shape / math.log(1e200), 1e-13)
      assert.near(-1, other:log_prob(1e300) / shape / math.log(1e200), 1e-13)
      assert(other:log_prob(0) < -1e100 and d:log_prob(1e300) < -1e100)
      assert.equal(0, other:cdf(1))
      assert.equal(1e300, other:icdf(0.3))
    end
    local rare = peri.BetaBinomial(1e-100, 1e100, 1e300)
    assert.equal(1, rare:cdf(0))
    assert.near(1, rare:sf(0) / (1e-100 * math.log(1e200)), 1e-12)
    assert.equal(0, rare:icdf(0.3))
  end)

  it("has tails to all digits where they are integrals", function ()
    -- for b = 1, P(X <= k) is the product of (k + i)/(n + i) for i = 1, ..., a; for a = 1 the other tail is so too
    local function product (k, n, terms)
      local value = 1
      for i = 1, terms do value = value * ((k + i) / (n + i)) end
      return value
    end
    for _, n in ipairs { 1e9, 1e12, 1e15, 2 ^ 60, 2 ^ 100 } do
      for _, k in ipairs { 1000, 1300, 5e4, 1e6 } do
        for _, a in ipairs { 1, 2, 4, 10 } do
          local exact = product(k, n, a)
          assert.near(1, peri.BetaBinomial(a, 1, n):cdf(k) / exact, 1e-14 - 4e-16 * math.log(exact))
          assert.near(1, peri.BetaBinomial(a, 1, n):log_cdf(k) / math.log(exact), 1e-15)
        end
      end
      local above = n <= 2 ^ 60 and 2048 or 2 ^ 60
      for _, b in ipairs { 1, 2, 8 } do
        assert.near(1, peri.BetaBinomial(1, b, n):sf(n - above) / product(above - 1, n, b), 2e-14)
      end
    end
  end)

  it("has quantiles that reach their levels, however many outcomes there are", function ()
    for _, n in ipairs { 1e6, 1e9, 1e15 } do
      for _, shape in ipairs { { 2, 3 }, { 0.5, 0.3 }, { 1e-3, 1e-2 }, { 1e3, 2e3 } } do
        local d = peri.BetaBinomial(shape[1], shape[2], n)
        for _, p in ipairs { 1e-30, 1e-9, 1e-3, 0.2, 0.5 } do
          local x, y, slack = d:icdf(p), d:isf(p), 1e-12 * p
          assert(d:cdf(x) >= p - slack and (x == 0 or d:cdf(x - 1) <= p + slack))
          assert(d:sf(y) <= p + slack and (y == 0 or d:sf(y - 1) >= p - slack))
        end
      end
    end
  end)
end)

-- x dH/dx for each parameter x: mpmath with 50 digits, differences of -sum p log p as an integral over the outcomes.
local slopes = {
  { 3e6, 4e7, 5e7, 0.4114779891136651, -0.680295098076662, 0.7688172178189973 },
  { 1e9, 1e8, 1e9, -0.6255411264817015, 0.387445891127187, 0.7380952386171769 },
  { 2e12, 2e12, 1e14, -0.2403846153845529, -0.2403846153845529, 0.9807692307692308 },
  { 1e16, 1e15, 1e16, -0.6255411255411256, 0.3874458874458878, 0.7380952380952381 },
}

it("the entropy of a wide BetaBinomial has the slopes that it has", function ()
  for i, row in ipairs(slopes) do
    local params = {}
    for k = 1, 3 do params[k] = peri.param(row[k]) end
    peri.BetaBinomial(table.unpack(params)):entropy():backward()
    for k, w in ipairs(params) do
      local off = peri.item(w.grad) * row[k] - row[3 + k]
      assert(math.abs(off) < 1e-11, string.format("line %d, parameter %d: off by %g", i, k, off))
    end
  end
end)
