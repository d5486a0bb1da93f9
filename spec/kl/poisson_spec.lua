--- KL(Poisson || Poisson): values to 40 digits, edges, slopes.
local peri       = require "perilune"
local divergence = require "spec.support.divergence"

local INF = math.huge

local function make (r) return peri.Poisson(r[1]) end

local values = {   -- rates of p and of q
  { { 3 }, { 5 }, 0.4675231287020279504 },
  { { 1e-300 }, { 2e-300 }, 3.068528194400546983e-301 },
  { { 1e+300 }, { 2e+300 }, 3.068528194400547067e299 },
  { { 7.397 }, { 7.397000001 }, 6.759498211373679608e-20 },
  { { 0.01 }, { 100 }, 99.89789659628023817 },
  { { 100 }, { 0.01 }, 821.0440371976182715 },
  { { 1000000000000000 }, { 1000000000000008 }, 3.199999999999982933e-14 },
  { { 0 }, { 1 }, 1 }, { { 2 }, { 0 }, INF },
}

it("KL(Poisson || Poisson) has the right values", function () divergence.values(make, values, 4e-15) end)

it("KL(Poisson || Poisson) is exactly 0 for p against itself", function ()
  divergence.zeros(make, { { 0 }, { 3.7 }, { 1e200 } })
end)

it("KL(Poisson || Poisson) has the right partials", function ()
  divergence.partials("poisson", "Poisson", { { 3, 5 }, { 0.2, 0.1 }, { 40, 41 } })
end)
