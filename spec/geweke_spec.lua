--- Geweke's joint test, by turns: does a step of a chain leave the posterior of every kind of site as it is? (A longer
-- form, with more broken ones, is part of `make calibration`.)
local geweke = require "spec.support.geweke"

local RUNS, STEPS, FAR = 400, 4, 4.5

local names = {}
for name in pairs(geweke.kinds) do names[#names + 1] = name end
table.sort(names)

describe("a step of nuts, then new data, by turns", function ()
  for _, name in ipairs(names) do
    it("leaves the model's joint law as it is: " .. name, function ()
      assert.is_true(geweke.distance(name, "nuts", RUNS, STEPS, 1) < FAR)
    end)
  end

  it("shows a determinant that is left out", function ()
    for _, name in ipairs { "bounded", "correlation", "covariance", "ordered", "positive_ordered", "recentred" } do
      assert.is_true(geweke.distance(name, "nuts", RUNS, STEPS, 1, { settings = { is_joint = true } }) > 5)
    end
  end)

  it("shows a chain that drifts", function ()
    local function drift (u) return u * 1.1 end
    for _, name in ipairs { "real", "bounded", "counts" } do
      assert.is_true(geweke.distance(name, "nuts", RUNS, STEPS, 1, { after = drift }) > 5)
    end
  end)
end)

describe("a step of hmc, then new data, by turns", function ()
  for _, name in ipairs { "real", "bounded", "simplex", "covariance" } do
    it("leaves the model's joint law as it is: " .. name, function ()
      assert.is_true(geweke.distance(name, "hmc", RUNS, STEPS, 1) < FAR)
    end)
  end
end)
