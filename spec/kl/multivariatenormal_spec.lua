-- References: mpmath with 70 digits, from the matrices as they stand.
require "spec.support.kl_rows" {
  class = "MultivariateNormal",
  make = function (a) return require "perilune".MultivariateNormal { loc = a[1], scale_tril = a[2] } end,
  values = {
    { { { 0.779, 1.317 }, { { 1.205, 0.0 }, { -0.484, 1.498 } } }, { { -0.733, -0.023 }, { { 1.53, 0.0 }, {
      0.064, 1.017 } } }, 1.6608553326904392044 },
    { { { 0.779, 1.317 }, { { 1.205, 0.0 }, { -0.484, 1.498 } } }, { { 0.7799765625, 1.3179765625 }, { {
      1.2040234375, 0.0 }, { -0.4830234375, 1.4970234375 } } }, 1.9060844151818790991e-6 },
    { { { 0.779, 1.317 }, { { 1.205, 0.0 }, { -0.484, 1.498 } } }, { { 0.7790000009313226, 1.3170000009313225 },
      { { 1.2050000009313226, 0.0 }, { -0.48400000093132256, 1.4979999990686774 } } }, 1.7314258810247199093e-18
      },
    { { { -1.334, -2.045, 2.396 }, { { 0.553, 0.0, 0.0 }, { -1.261, 1.087, 0.0 }, { -0.647, -0.251, 0.803 } } },
      { { -0.008, -0.187, 1.886 }, { { 0.613, 0.0, 0.0 }, { -0.567, 1.874, 0.0 }, { -0.13, -0.612, 0.979 } } },
      4.6662229745329562737 },
    { { { -1.334, -2.045, 2.396 }, { { 0.553, 0.0, 0.0 }, { -1.261, 1.087, 0.0 }, { -0.647, -0.251, 0.803 } } },
      { { -1.3330234375, -2.0440234375, 2.3969765625 }, { { 0.5539765625, 0.0, 0.0 }, { -1.2619765625,
      1.0860234375, 0.0 }, { -0.6479765625, -0.2519765625, 0.8039765625 } } }, 0.000019566390903245037224 },
    { { { -1.334, -2.045, 2.396 }, { { 0.553, 0.0, 0.0 }, { -1.261, 1.087, 0.0 }, { -0.647, -0.251, 0.803 } } },
      { { -1.3339999990686775, -2.0449999990686774, 2.3960000009313225 }, { { 0.5530000009313226, 0.0, 0.0 }, {
      -1.2610000009313225, 1.0869999990686774, 0.0 }, { -0.6469999990686774, -0.2509999990686774,
      0.8029999990686775 } } }, 2.11351504649489978e-17 },
    { { { 1.646 }, { { 0.971 } } }, { { -0.172 }, { { 0.71 } } }, 3.4003534987684360805 },
    { { { 1.646 }, { { 0.971 } } }, { { 1.6469765625 }, { { 0.9719765625 } } }, 1.5145261896312521398e-6 },
    { { { 1.646 }, { { 0.971 } } }, { { 1.6460000009313225 }, { { 0.9709999990686774 } } },
      1.3799173022822052266e-18 },
  },
}

-- The formula in plain Lua: triangles solved one row after the other.
local function plainly (p, q, d)
  local sum = 0
  for column = 0, d do   -- 0 is loc
    local x = {}
    for i = 1, d do
      local right = column == 0 and p.loc:at(i) - q.loc:at(i) or p.scale_tril:at(i, column)
      for k = 1, i - 1 do right = right - q.scale_tril:at(i, k) * x[k] end
      x[i] = right / q.scale_tril:at(i, i)
      sum = sum + 0.5 * x[i] * x[i]
    end
    if column > 0 then sum = sum - 0.5 - math.log(x[column]) end
  end
  return sum
end

describe("batches of MultivariateNormal", function ()
  local peri = require "perilune"

  local function random (n, d, seed)
    local rng = peri.rng(seed)
    local rows = peri.arange(0, d):unsqueeze(-1)
    local below = peri.Normal(0, 0.5):sample({ n, d, d }, rng) * peri.gt(rows, peri.arange(0, d))
    local diagonal = peri.Uniform(0.5, 2):sample({ n, d }, rng):unsqueeze(-1) * peri.eye(d)
    return peri.Normal(0, 1):sample({ n, d }, rng), below + diagonal
  end

  it("give what their elements give, for all sizes", function ()
    for _, d in ipairs { 1, 2, 7, 8, 15, 16, 17, 18, 23, 24, 33, 64, 67 } do
      local n = 19
      local m1, l1 = random(n, d, 1)
      local m2, l2 = random(n, d, 2)
      local kl = peri.kl_divergence(peri.MultivariateNormal { loc = m1, scale_tril = l1 },
                                    peri.MultivariateNormal { loc = m2, scale_tril = l2 })
      for r = 1, n do
        local p = peri.MultivariateNormal { loc = m1[r], scale_tril = l1[r] }
        local q = peri.MultivariateNormal { loc = m2[r], scale_tril = l2[r] }
        local alone = peri.item(peri.kl_divergence(p, q))
        assert.equal(alone, kl:at(r))
        if r == 1 then assert.near(plainly(p, q, d), alone, 1e-12 * alone) end
      end
    end
  end)

  it("do not depend on the units of coordinates", function ()
    local n, d, tiny = 3, 22, {}
    for i = 1, d do tiny[i] = i % 7 == 1 and 2 ^ -1030 or 1 end   -- its inverse is infinite
    local function divergence (unit)
      local function mvn (seed)
        local m, l = random(n, d, seed)
        return peri.MultivariateNormal { loc = m * unit, scale_tril = l * unit:unsqueeze(-1) }
      end
      return peri.kl_divergence(mvn(1), mvn(2))
    end
    local plain, odd = divergence(peri.ones(d)), divergence(peri.tensor(tiny))
    for r = 1, n do assert.near(plain:at(r), odd:at(r), 1e-9 * plain:at(r)) end
  end)

  it("keep what is extreme to itself", function ()
    local function mvn (m, ...)
      return peri.MultivariateNormal { loc = m, scale_tril = { ... }, validate = false }
    end
    local p = mvn({ { 0, 0 }, { 0, 0 }, { 0, 0 / 0 } }, { { 1, 0 }, { 0, 1 } }, { { 1e-310, 0 }, { 0, 1e-300 } },
                  { { 1, 0 }, { 0, 1 } })
    local q = mvn({ 0, 0 }, { { 2, 0 }, { 0, 1 } }, { { 2e-310, 0 }, { 0, 1e-300 } }, { { 2, 0 }, { 0, 1 } })
    local kl = peri.kl_divergence(p, q)
    assert.near(math.log(2) - 0.375, kl:at(1), 1e-15)
    assert.near(math.log(2) - 0.375, kl:at(2), 1e-12)
    assert(kl:at(3) ~= kl:at(3))
    local far = peri.kl_divergence(mvn({ 1e300, 0 }, { 1, 0 }, { 0, 1 }), mvn({ 0, 0 }, { 1, 0 }, { 1, 1 }))
    assert.equal(math.huge, peri.item(far))
  end)
end)
