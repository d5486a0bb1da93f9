--- KL(ContinuousBernoulli || ContinuousBernoulli): values to 40 digits, edges, slopes.
local peri       = require "perilune"
local divergence = require "spec.support.divergence"

local INF = math.huge

local function make (l) return peri.ContinuousBernoulli { logits = l[1] } end

local values = {   -- logits of p and of q
  { { 0.3 }, { -1.2 }, 0.09299270409964602306 },
  { { 1e-06 }, { -1e-06 }, 1.666666666666638738e-13 },
  { { 2.5 }, { 2.5000000009313226 }, 2.713870444778439656e-20 },
  { { -0.75 }, { -0.750000001 }, 4.052044155784875168e-20 },
  { { 40 }, { 44.5 }, 0.005890264941741759035 },
  { { 100 }, { 100.0001 }, 4.999996667001131899e-13 },
  { { -500 }, { 20 }, 22.17887582280704712 },
  { { 1e-05 }, { 7 }, 1.553171719632680969 },
  { { 47 }, { 43.5 }, 0.002918578509037198825 },
  { { 1000 }, { 2 }, 5.071194640553332686 },
}

it("KL(ContinuousBernoulli || ContinuousBernoulli) has the right values", function ()
  divergence.values(make, values, 2e-14)
end)

it("KL(ContinuousBernoulli || ContinuousBernoulli) is right where all mass is at one end", function ()
  divergence.values(make, { { { INF }, { 3 }, INF }, { { 3 }, { -INF }, INF }, { { INF }, { -INF }, INF } }, 0)
  divergence.zeros(make, { { INF }, { -INF }, { 0 }, { 1.5 }, { -80 } })
end)

it("KL to a ContinuousBernoulli with all mass at one end is infinite", function ()
  for _, p in ipairs { peri.Uniform(0, 1), peri.Beta(2, 3), peri.Kumaraswamy(2, 3) } do
    for _, probs in ipairs { 0, 1 } do
      assert.equal(math.huge, peri.kl_divergence(p, peri.ContinuousBernoulli(probs)))
    end
  end
end)

it("KL(ContinuousBernoulli || ContinuousBernoulli) has the right partials", function ()
  divergence.partials("continuousbernoulli", "ContinuousBernoulli",
                      { { 0.3, -1.2 }, { 0.01, 0.03 }, { -9, 3 }, { 60, 50 }, { -0.6, -0.4 } })
end)
