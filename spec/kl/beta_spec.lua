--- KL(Beta || Beta): values to 40 digits, edges, slopes.
local peri       = require "perilune"
local divergence = require "spec.support.divergence"

local function make (v) return peri.Beta(v[1], v[2]) end

local values = {   -- both concentrations of p and of q
  { { 0.5, 2 }, { 3, 0.25 }, 6.933700833657325064 },
  { { 4, 6 }, { 4.000000000931323, 5.999999999534339 }, 1.313455033658618762e-19 },
  { { 100000000, 200000000 }, { 100000001, 200000002 }, 2.499999993055555583e-17 },
  { { 1e-12, 1e-09 }, { 1e-09, 1e-12 }, 998.0010000000000824 },
  { { 4505, 18.65 }, { 254, 11.67 }, 17.31817506985361497 },
  { { 10000000000, 10000000000 }, { 1, 1 }, 11.13370770263047364 },
  { { 30340.5, 1799.25 }, { 0.0923, 0.1385 }, 5.579702975373880568 },
  { { 127, 0.9 }, { 127.5, 0.9 }, 6.962214075037145963e-6 },
  { { 1e-200, 3 }, { 1e-201, 2 }, 1.402585092994045717 },
  { { 1e+100, 1e+101 }, { 2e+100, 1e+101 }, 3.421578372443334287e99 },
}

it("KL(Beta || Beta) has the right values", function () divergence.values(make, values, 2e-13) end)

it("KL(Beta || Beta) is exactly 0 for p against itself", function ()
  divergence.zeros(make, { { 0.5, 2 }, { 1e9, 3 }, { 1e-150, 1e-3 }, { 60, 70 } })
end)

it("KL(Beta || Beta) has the right partials", function ()
  divergence.partials("beta", "Beta", { { 0.5, 2, 3, 0.25 }, { 4, 6, 4.1, 6.3 }, { 200, 300, 150, 400 } })
end)
