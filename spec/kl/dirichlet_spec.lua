--- KL(Dirichlet || Dirichlet): values to 40 digits, edges, slopes.
local peri       = require "perilune"
local divergence = require "spec.support.divergence"

local function make (a) return peri.Dirichlet(a) end

local values = {   -- concentrations of p and of q
  { { 0.5, 2, 1.5 }, { 3, 0.25, 1 }, 7.187811597319365998 },
  { { 4, 6, 0.5 }, { 4.000000000465661, 5.999999999674037, 0.5000000001862646 }, 1.207021582337368406e-19 },
  { { 10000000000, 10000000000, 10000000000 }, { 10000000001, 10000000000, 10000000000 }, 3.333333333407407407e-11 },
  { { 1e-05, 300, 2 }, { 3, 1, 400 }, 302096.30067363082 },
  { { 1.5, 1.5, 1.5, 1.5, 1.5, 1.5, 1.5, 1.5, 1.5, 1.5, 1.5, 1.5, 1.5, 1.5, 1.5, 1.5, 1.5, 1.5, 1.5, 1.5 },
    { 2.5, 2.5, 2.5, 2.5, 2.5, 2.5, 2.5, 2.5, 2.5, 2.5, 2.5, 2.5, 2.5, 2.5, 2.5, 2.5, 2.5, 2.5, 2.5, 2.5 },
    1.759560357125377761 },
  { { 2, 3 }, { 3, 2 }, 0.5 },
  { { 1000000, 2000000, 3000000, 4000000 }, { 500000, 1000000, 1500000, 2000000 }, 0.289720853478806853 },
}

it("KL(Dirichlet || Dirichlet) has the right values", function () divergence.values(make, values, 2e-13) end)

it("KL(Dirichlet || Dirichlet) is exactly 0 for p against itself", function ()
  divergence.zeros(make, { { 0.5, 2, 7 }, { 1e9, 3, 1e-4 }, { 1e-150, 1e-3 } })
end)

it("KL(Dirichlet || Dirichlet) of two shares is that of Beta", function ()
  local kl = peri.kl_divergence(make { { 2, 3 }, { 0.5, 70 } }, make { 1.5, 4 })
  for i, p in ipairs { peri.Beta(2, 3), peri.Beta(0.5, 70) } do
    assert(divergence.agrees(kl:at(i), peri.kl_divergence(p, peri.Beta(1.5, 4)), 1e-13))
  end
end)

it("KL(Dirichlet || Dirichlet) has the right adjoint", function ()
  divergence.adjoints("dirichlet", "Dirichlet", {
    { { 0.5, 2, 1.5 }, { 3, 0.25, 1 } }, { { 4, 6 }, { 4.1, 6.3 } }, { { 90, 80, 1 }, { 100, 50, 2 } },
  })
end)

it("KL(Dirichlet || Dirichlet) gives the same bits for every row of a batch", function ()
  local rng = peri.rng(5)
  for _, k in ipairs { 2, 3, 10, 100, 300 } do
    local a, b = 0.3 + 3 * rng:uniform { 40, k }, 0.3 + 3 * rng:uniform { k }
    local kl = peri.kl_divergence(make(a), make(b))
    for i = 1, 40 do assert.equal(peri.item(peri.kl_divergence(make(a[i]), make(b))), kl:at(i)) end
  end
end)
