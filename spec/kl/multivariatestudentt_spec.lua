--- KL(MultivariateStudentT || MultivariateNormal): references by mpmath with 80 digits, and an integral of its own.
local peri = require "perilune"

local skew = {
  { 0.3125, -1, 2 }, { { 1.5, 0, 0 }, { 0.3125, 0.75, 0 }, { -0.4375, 0.1875, 1.125 } },
  { 0, 0.5, 1 }, { { 1, 0, 0 }, { 0.5, 1.25, 0 }, { 0.1875, -0.6875, 0.9375 } },
}
local unit = { { 0, 0 }, { { 1, 0 }, { 0, 1 } }, { 0, 0 }, { { 1, 0 }, { 0, 1 } } }

local function divergence (df, a, b, c, d)
  return peri.kl_divergence(peri.MultivariateStudentT(df, a, b), peri.MultivariateNormal { loc = c, scale_tril = d })
end

describe("MultivariateStudentT to MultivariateNormal", function ()
  local values = {   -- df, parameters, value
    { 2.0625, "skew", 90.859610349216917344 },
    { 2.0625, "unit", 31.030303030303030303 },
    { 3, "skew", 6.841023048203810444 },
    { 3, "unit", 1.3333333333333333333 },
    { 5, "skew", 3.462096691254138369 },
    { 5, "unit", 0.26666666666666666667 },
    { 31.875, "skew", 2.2598682974910475827 },
    { 31.875, "unit", 0.0042005086553449831816 },
    { 32, "skew", 2.2594455785985016399 },
    { 32, "unit", 0.0041666666666666666667 },
    { 100, "skew", 2.1923787355738833157 },
    { 100, "unit", 0.00040816326530612244898 },
    { 1e+06, "skew", 2.1648658937425469849 },
    { 1e+06, "unit", 4.000008000016000032e-12 },
    { 1e+12, "skew", 2.1648632644220565417 },
    { 1e+12, "unit", 4.000000000008e-24 },
  }

  it("has the listed values", function ()
    for _, row in ipairs(values) do
      local df, name, expected = table.unpack(row)
      local got = divergence(df, table.unpack(name == "skew" and skew or unit))
      local tolerance = 1e-13 * expected + (df < 32 and 5e-15 or 2e-15 / df)   -- terms of about d/df cancel
      assert(math.abs(got - expected) <= tolerance, string.format("%g %s: %.17g, %.17g", df, name, expected, got))
    end
  end)

  it("is infinite without a variance, and none in the limit", function ()
    for _, df in ipairs { 0.5, 1.9, 2 } do
      assert.equal(math.huge, divergence(df, table.unpack(unit)))
      local explained = peri.kl_explain(peri.MultivariateStudentT(df, { 0, 0 }, unit[2]),
                                        peri.MultivariateNormal { loc = { 0, 0 }, scale_tril = unit[2] })
      assert.equal(math.huge, explained.value)
    end
    assert.equal(0, divergence(math.huge, table.unpack(unit)))
    assert.equal(peri.kl_divergence(peri.MultivariateNormal { loc = skew[1], scale_tril = skew[2] },
                                    peri.MultivariateNormal { loc = skew[3], scale_tril = skew[4] }),
                 divergence(math.huge, table.unpack(skew)))
  end)

  -- |z|^2/d is of FisherSnedecor(d, df), and both densities are known to have their averages over all directions at
  -- the axes alone: one is constant there, the logarithm of the other a square.
  it("is an integral over distances", function ()
    local a, l = peri.tensor(skew[1]), peri.tensor(skew[2])
    local q = peri.MultivariateNormal { loc = skew[3], scale_tril = skew[4] }
    for _, df in ipairs { 2.5, 3, 7, 40 } do
      local p = peri.MultivariateStudentT(df, a, l)
      local value = peri.FisherSnedecor(3, df):expectation(function (x)
        local length, sum = (3 * x):sqrt():unsqueeze(-1), 0
        for i = 1, 3 do
          for sign = -1, 1, 2 do
            local at = a + sign * length * l:select(2, i)
            sum = sum + (p:log_prob(at) - q:log_prob(at)) / 6
          end
        end
        return sum
      end)
      assert.near(value, peri.kl_divergence(p, q), 1e-10 * value)
    end
  end)

  it("has the slopes of differences, of all parameters", function ()
    for _, df in ipairs { 3, 40 } do
      local arguments = { peri.tensor(df) }
      for i, x in ipairs(skew) do arguments[i + 1] = peri.tensor(x) end
      for i, x in ipairs(arguments) do
        local own = { table.unpack(arguments) }
        own[i] = peri.param(x)
        divergence(table.unpack(own)):backward()
        local direction = i == 1 and peri.tensor(1) or peri.Normal(0, 1):sample(x.shape, peri.rng(i))
        if i == 3 or i == 5 then direction = direction:tril() end
        local function moved (h)
          local all = { table.unpack(arguments) }
          all[i] = x + h * direction
          return peri.item(divergence(table.unpack(all)))
        end
        local slope = (8 * (moved(1e-3) - moved(-1e-3)) - (moved(2e-3) - moved(-2e-3))) / 12e-3
        local grad = own[i].grad
        local along = i == 1 and grad or peri.item((grad * direction):sum())
        assert.near(slope, along, 1e-8 * (1 + math.abs(slope)), "argument " .. i)
        if i == 3 or i == 5 then assert.equal(0, peri.item(grad:triu(1):abs():max())) end
      end
    end
  end)

  it("broadcasts, and takes a LowRankMultivariateNormal", function ()
    local kl = divergence({ { 1.5 }, { 3 } }, { 0, 0 }, unit[2], peri.zeros(3, 2), unit[4])
    assert.same({ 2, 3 }, kl.shape)
    assert.equal(math.huge, kl:at(1, 2))
    assert.equal(divergence(3, table.unpack(unit)), kl:at(2, 3))
    local p = peri.MultivariateStudentT(3, { 0, 1 }, unit[2])
    local low_rank = peri.LowRankMultivariateNormal({ 0, 0 }, { { 1 }, { 0.5 } }, { 1, 2 })
    local dense = peri.MultivariateNormal({ 0, 0 }, low_rank.covariance_matrix)
    assert.near(peri.kl_divergence(p, dense), peri.kl_divergence(p, low_rank), 1e-12)
  end)
end)
