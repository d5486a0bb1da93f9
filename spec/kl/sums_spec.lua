--- Divergences between discrete laws that are sums, from few outcomes to 10^15. References from mpmath at 50
-- digits: sums of all outcomes, or where there are too many integrals with the terms of Euler and Maclaurin.
local peri     = require "perilune"
local fallback = require "perilune.kl_fallback"

local lines = {
  { "Poisson", { 3 }, "NegativeBinomial", { 4, 0.5 }, 0.1341741195045220065395 },
  { "Poisson", { 1e12 }, "NegativeBinomial", { 1e12, 0.5 }, 0.09657359027996223804195 },
  { "Poisson", { 1e6 }, "NegativeBinomial", { 1e10, 1e-4 }, 0.005000169191339496815604 },
  { "ZeroInflatedPoisson", { 0.5, 1e8 }, "Poisson", { 1e8 }, 49999999.30685281944005 },
  { "ZeroInflatedPoisson", { 0.5, 1e8 }, "NegativeBinomial", { 0.5, 0.99999999 }, 8.593906398567917811986 },
  { "ZeroInflatedPoisson", { 0.5, 1e8 }, "ZeroInflatedPoisson", { 0.25, 1.0001e8 }, 0.3938243708091238053856 },
  { "ZeroInflatedPoisson", { 0.3, 50 }, "Poisson", { 40 }, 12.19915999394244756697 },
  { "Binomial", { 1e9, 0.3 }, "Poisson", { 3e8 }, 0.02833747198008047279921 },
  { "Binomial", { 1e15, 0.3 }, "Poisson", { 3.0000001e14 }, 0.1950041353024035889264 },
  { "Binomial", { 100, 0.3 }, "Binomial", { 120, 0.3 }, 0.7408896166739809702218 },
  { "Hypergeometric", { 1e9, 1e8, 1e6 }, "Binomial", { 1e6, 0.1 }, 2.501665423599350932253e-7 },
  { "Hypergeometric", { 1e15, 1e14, 1e12 }, "Binomial", { 1e12, 0.1 }, 2.501667917665008358707e-7 },
  { "BetaBinomial", { 5, 3, 1e6 }, "BetaBinomial", { 5.0001, 3, 1e6 }, 4.409207736217243142942e-10 },
  { "BetaBinomial", { 0.01, 0.02, 1e9 }, "BetaBinomial", { 0.02, 0.01, 1e9 }, 0.2926334927250060412042 },
  { "NegativeBinomial", { 1e-3, 0.999999 }, "NegativeBinomial", { 2e-3, 0.99999 }, 0.008605058910524528347024 },
  { "NegativeBinomial", { 0.5, 0.999 }, "Geometric", { 0.001 }, 0.3916933567505477134158 },
  { "Geometric", { 1e-12 }, "NegativeBinomial", { 2, 0.999999999999 }, 0.5772377870970862216734 },
  { "Geometric", { 0.3 }, "Poisson", { 2 }, 0.4804192162395743025201 },
  { "Poisson", { 20 }, "Geometric", { 0.05 }, 1.109071761122683606353 },
  { "BetaBinomial", { 1.34, 0.25, 1000 }, "BetaBinomial", { 2, 0.25, 1000 }, 0.03506300121288006631919 },
  { "BetaBinomial", { 1.34, 0.25, 1e6 }, "BetaBinomial", { 2, 0.25, 1e6 }, 0.03520688313502138723984 },
  { "BetaBinomial", { 1.34, 0.25, 1e7 }, "BetaBinomial", { 2, 0.25, 1e7 }, 0.03520702580719937405991 },
  { "BetaBinomial", { 1.34, 0.25, 1e15 }, "BetaBinomial", { 2, 0.25, 1e15 }, 0.03520704175196926640959 },
}

describe("KL by sums", function ()
  it("agrees with references, and is off by no more than it states", function ()
    for _, line in ipairs(lines) do
      local p, q, expected = peri[line[1]](table.unpack(line[2])), peri[line[3]](table.unpack(line[4])), line[5]
      local found = peri.kl_explain(p, q)
      local off = math.abs(found.value - expected)
      local text = string.format("%s || %s: expected %.17g, got %.17g +- %g", tostring(p), tostring(q), expected,
                                 found.value, found.error)
      assert(off <= found.error + 4e-16 * expected, text)
      assert(found.error <= 1e-12 + 1e-6 * expected and off <= 1e-12 + 1e-8 * expected, text)
    end
  end)

  it("agrees with closed forms, and is off by no more than it states", function ()
    local off_limits, count = 0, 0
    local function check (p, q)
      local value, _, error, more = fallback.answer(p, q)
      local found = peri.kl_explain(p, q)
      local bound = error + more() + found.error + 4e-16 * found.value
      off_limits, count = off_limits + (peri.abs(value - found.value) - bound):gt(0):sum(), count + value:numel()
    end
    local scales = peri.tensor { 1e-6, 0.01, 1, 30, 1e3, 1e6, 1e9, 1e12 }
    local shares = peri.tensor { 1e-9, 1e-4, 0.01, 0.3, 0.5, 0.9, 0.999, 0.999999 }
    for _, factor in ipairs { 1 + 1e-9, 1.0001, 2 } do
      check(peri.Poisson(scales), peri.Poisson(factor * scales))
      check(peri.Geometric(shares), peri.Geometric(shares / factor))
      for _, n in ipairs { 0.01, 40, 1e8 } do
        check(peri.NegativeBinomial(n, shares), peri.NegativeBinomial(n, shares / factor))
        check(peri.Binomial(peri.ceil(n), shares), peri.Binomial(peri.ceil(n), shares / factor))
      end
    end
    assert(off_limits <= 0.01 * count, off_limits .. " of " .. count .. " are off by more than they state")
  end)

  it("has an error that does not depend on the company in a batch", function ()
    local p = peri.ZeroInflatedPoisson({ 0.5, 0.3, 0 }, { 1e8, 50, 2 })
    local found = peri.kl_explain(p, peri.Poisson { 1e8, 40, 2 })
    for i, expected in ipairs { 49999999.30685281944005, 12.19915999394244756697, 0 } do
      assert(math.abs(found.value[i] - expected) <= found.error[i] and found.error[i] <= 1e-13 * (1 + expected))
    end
  end)
end)
