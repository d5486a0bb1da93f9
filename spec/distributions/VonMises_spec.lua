local peri = require "perilune"

require "spec.support.contract".distribution {
  name = "VonMises",
  circular = true,
  points = { { 0, 1 }, { -1.5, 10.5 }, { 2, 1e-3 }, { 0.3, 300 }, { 0.5, 1e6 }, { 1, 4 } },
  log_prob = {   -- x, loc, concentration, value (50-digit reference)
    { 0, 0, 1, -1.0737914249165241323 },
    { 0.5, 0, 4, -0.75251961436331392902 },
    { -2, 1, 1e-8, -1.8378770763092704746 },
    { 1.001, 1, 1e6, 5.4888166624441772221 },
    { 100, 0.5, 20, -9.1476597968749372577 },
    { 1e20, 0, 3, -1.1312734748975814979 },
    { 3, 0, 1e4, -19896.238746852296219 },
    { math.huge, 0, 1e4, -math.huge },
    { -math.huge, 0.3, 2, -math.huge },
  },
  invalid = { { 0, -1 }, { 0 / 0, 1 }, { 0, 0 / 0 } },
}

describe("VonMises", function ()
  it("has quantiles at the end of its turn that move with loc only", function ()
    for _, method in ipairs { "icdf", "isf" } do
      local loc, concentration = peri.param(-0.45), peri.param(7.8)
      local d = peri.VonMises(loc, concentration)
      d[method](d, 1e-100):backward()
      assert.same({ 1.0, 0.0 }, { peri.item(loc.grad), peri.item(concentration.grad) })
    end
  end)

  it("has the variance of numbers, not of directions, where it is one of others", function ()
    local d = peri.VonMises(0, 51)
    local square = d:expectation(function (x) return x ^ 2 end)
    assert.near(1, square / 0.0198042952974370, 1e-12)   -- mpmath
    local moved = peri.TransformedDistribution(d, peri.transforms.Affine(3, -0.5))
    assert.near(0.25 * square, moved:variance(), 1e-15)
    assert.near(0.5 * math.sqrt(square), moved:stddev(), 1e-14)
    assert.near(square, d:moment(2), 1e-15)
    local halves = peri.Categorical { 0.5, 0.5 }
    assert.near(square + 25, peri.MixtureSameFamily(halves, peri.VonMises({ 0, 10 }, 51)):variance(), 1e-12)
    assert.near(square + 25, peri.MixtureDistribution(halves, { d, peri.VonMises(10, 51) }):variance(), 1e-12)
  end)

  it("is one turn where it is cut, censored or transformed, also in mixtures", function ()
    local v, halves = peri.VonMises(9, 2), peri.Categorical { 0.3, 0.7 }
    local mixed = peri.MixtureSameFamily(halves, peri.VonMises({ 1, -5 }, 2))
    local any = peri.MixtureDistribution(halves, { peri.VonMises(1, 2), peri.VonMises(-5, 2) })
    local laws = { peri.Truncated(mixed, -2, 2), 0.5 * v, -0.5 * mixed, peri.Truncated(any, -2, 2) }
    for _, d in ipairs { v, mixed, any } do
      laws[#laws + 1] = peri.TransformedDistribution(d, { peri.transforms.Abs() })
      laws[#laws + 1] = peri.TransformedDistribution(d, { peri.transforms.Sigmoid() })
      laws[#laws + 1] = peri.MixtureDistribution(halves, { d, peri.Normal(0, 1) })
      laws[#laws + 1] = peri.TransformedDistribution(d + 1, { peri.transforms.Abs() })
    end
    for i, d in ipairs(laws) do
      for _, p in ipairs { 0.1, 0.3, 0.6, 0.9 } do
        local x = d:icdf(p)
        local h = 1e-5 * math.min(d:icdf(p + 0.01) - x, x - d:icdf(p - 0.01))
        assert.near(1, (d:cdf(x + h) - d:cdf(x - h)) / (2 * h) / d:prob(x), 1e-4, "law " .. i .. " at " .. x)
      end
    end
    local censored = peri.Censored(mixed, -2, 2)
    assert.near(mixed:cdf(1) - mixed:cdf(-1), censored:cdf(1) - censored:cdf(-1), 1e-15)
    assert.near((mixed:cdf(1.0001) - mixed:cdf(0.9999)) / 2e-4, censored:prob(1), 1e-7)
  end)

  it("is one of directions where it is turned or reflected, or mixed with others", function ()
    local v = peri.VonMises(1, 2)
    local mixed = peri.MixtureSameFamily(peri.Categorical { 0.3, 0.7 }, peri.VonMises({ 1, 2 }, 2))
    for _, d in ipairs { v + 1, 3 - v, mixed } do
      for _, x in ipairs { -20, 0.3, 7 } do assert.near(d:log_prob(x), d:log_prob(x + 2 * math.pi), 1e-13) end
      assert.near(d:entropy(), peri.Truncated(d, d:icdf(0), d:icdf(1)):entropy(), d.weights and 0.1 or 1e-13)
    end
    assert.near(0, (peri.kl_divergence(v + 1, peri.VonMises(2, 2))), 1e-14)
    assert.near(0, (peri.kl_divergence(v + 2 * math.pi, v)), 1e-14)
  end)

  it("has a density for one turn where it is compared with numbers", function ()   -- mpmath
    local d = peri.VonMises(0, 1)
    for _, case in ipairs {
      { peri.Laplace(0, 1), 0.020450132021504605209, 0.065692623591992831245 },
      { peri.Normal(0, 1), 0.01717345861111818139, 0.093664223597335412993 },
    } do
      local p, js, kl = table.unpack(case)
      assert.equal(math.huge, (peri.kl_divergence(p, d)))
      assert.equal("infinite", peri.kl_explain(p, d).method)
      assert.near(js, (peri.js_divergence(p, d)), 1e-13)
      assert.near(kl, (peri.kl_divergence(d, p)), 1e-13)
    end
    assert(peri.kl_divergence(peri.Uniform(-1, 1), d) < 1)
  end)
end)
