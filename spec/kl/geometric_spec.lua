--- KL(Geometric || Geometric): values to 40 digits, edges, slopes.
local peri       = require "perilune"
local divergence = require "spec.support.divergence"

local INF = math.huge

local function make (l) return peri.Geometric { logits = l[1] } end

local values = {   -- logits of p and of q
  { { 0.3 }, { -1.2 }, 0.4710497398222884644 },
  { { 2.5 }, { 2.5000000009313226 }, 3.28982414232680134e-20 },
  { { -0.75 }, { -0.750000001 }, 3.395893303386465549e-19 },
  { { -40 }, { -38.5 }, 1.981689070338064797 },
  { { 35 }, { -20 }, 20.00000000206113092 },
  { { 1e-09 }, { -1e-09 }, 9.999999995000001247e-19 },
  { { -1 }, { 0.5 }, 0.9570975095456558813 },
  { { -300 }, { -299 }, 0.7182818284590452354 },
  { { 5 }, { 6.0000001 }, 0.002469717445608590643 },
  { { -650 }, { -649.5 }, 0.1487212707001281468 },
  { { -650 }, { -655 }, 4.006737946999085467 },
  { { -620 }, { -30 }, 1.712948566546407114e256 },
  { { 0 }, { 4.0000000068908e-09 }, 4.000000013781600445e-18 },
}

it("KL(Geometric || Geometric) has the right values", function () divergence.values(make, values, 4e-15) end)

it("KL(Geometric || Geometric) is right for a sure success", function ()
  assert.equal(0.0, peri.kl_divergence(peri.Geometric(1), peri.Geometric(1)))
  assert(divergence.agrees(peri.kl_divergence(peri.Geometric(1), peri.Geometric(0.25)), math.log(4), 1e-15))
  assert.equal(INF, peri.kl_divergence(peri.Geometric(0.5), peri.Geometric(1)))
  divergence.zeros(make, { { 0.3 }, { -650 }, { 30 } })
end)

it("KL(Geometric || Geometric) has the right partials", function ()
  divergence.partials("geometric", "Geometric", { { 0.3, -1.2 }, { 2, 2.1 }, { -3, 1 }, { -610, -609.5 } })
end)
