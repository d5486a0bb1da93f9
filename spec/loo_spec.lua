--- Leave one out, WAIC and Pareto smoothing: against R's loo 2.5.1 on the same log likelihoods.
local loo  = require "perilune.inference.loo"
local peri = require "perilune"
local psis = require "perilune.inference.psis"
local refusal_of = require "spec.support.refusal"

local DRAWS, OBSERVATIONS = 400, 6

local function log_likelihoods ()
  local rows = {}
  for s = 1, DRAWS do
    rows[s] = {}
    for i = 1, OBSERVATIONS do
      local rare = i == 6 and 2.5 * math.abs(math.sin(s * 1.7)) ^ 9 * 3 or 0
      rows[s][i] = -1.5 - 0.5 * i * (math.sin(s * 0.37 * i) + 0.3 * math.cos(s * s * 0.013)) ^ 2 - rare
    end
  end
  return peri.tensor(rows)
end

-- What loo needs of a posterior.
local function posterior_of (columns) return { log_lik = function () return { y = columns } end } end

local function all_near (expected, found, tolerance)
  for i, x in ipairs(expected) do assert.near(x, found[i], tolerance * math.max(1, math.abs(x))) end
end

describe("leave one out", function ()
  local found = loo.loo(posterior_of(log_likelihoods()))

  it("has R's values for each observation", function ()
    all_near({ -1.8159413307820778, -2.1521162853973674, -2.6371766746487895, -3.1006793464607387, -3.6669039138494739,
               -9.3182315589120837 }, found.pointwise, 1e-12)
    all_near({ -0.58900601146626996, -0.33887179384523403, -0.50142826706337629, -0.36772211060853577,
               -0.28099949856700890, 0.84842523034494521 }, found.pareto_k, 1e-12)
  end)

  it("has R's sums and standard errors", function ()
    assert.near(-22.6910491100505283, found.elpd_loo, 1e-11)
    assert.near(6.8375287400098461, found.se_elpd_loo, 1e-11)
    assert.near(9.1371831320160233, found.p_loo, 1e-11)
    assert.near(45.3820982201010565, found.looic, 1e-11)
  end)

  it("names observations whose weights have a heavy tail", function ()
    assert.equal(1, #found.reasons)
    assert.matches("1 of 6 observations %(y%[6%]%)", found.reasons[1])
    assert.matches("elpd_loo  %-22.69", tostring(found))
  end)

  it("refuses a model without observed sites", function ()
    assert.matches("no observed site", refusal_of(loo.loo, { log_lik = function () return {} end }))
  end)
end)

describe("WAIC", function ()
  it("has R's values", function ()
    local found = loo.waic(posterior_of(log_likelihoods()))
    assert.near(-25.262598850684569, found.elpd_waic, 1e-11)
    assert.near(9.2455407076681251, found.se_elpd_waic, 1e-11)
    assert.near(11.708732872650057, found.p_waic, 1e-11)
    all_near({ -1.8153340332712162, -2.1520712062492771, -2.6420670333559619, -3.1279881267746696, -3.7380693865054369,
               -11.7870690645280050 }, found.pointwise, 1e-12)
    assert.equal(1, #found.reasons)
  end)
end)

describe("Pareto smoothing", function ()
  it("has R's weights", function ()
    local log_weights, khat = psis.smooth(-log_likelihoods():select(2, 6):contiguous())
    assert.near(0.84842523034494521, khat, 1e-12)
    all_near({ -3.8277368792134148, -12.4844110106347426, -8.7271689310788005, -11.8152477784709280,
               -11.3022619688880539 }, log_weights, 1e-12)
    assert.near(-13.8047665175776295, log_weights:min(), 1e-11)
    assert.near(-1.9400632144378562, log_weights:max(), 1e-11)
  end)

  it("leaves equal weights as they are", function ()
    local log_weights, khat = psis.smooth(peri.zeros(100))
    assert.equal(math.huge, khat)
    all_near({ -math.log(100) }, log_weights, 1e-14)
  end)

  it("knows the shape of a Pareto tail", function ()
    for _, k in ipairs { 0.2, 0.5, 1 } do
      local u = (peri.arange(1, 20001) - 0.5) / 20000
      local x = ((1 - u) ^ -k - 1) / k
      assert.near(k, psis.tail_shape(x + 1), 0.06)
    end
    assert.equal(-math.huge, psis.tail_shape(peri.ones(100)))
  end)
end)

describe("comparisons", function ()
  it("put the best first, with differences observation by observation", function ()
    local a = loo.loo(posterior_of(log_likelihoods()))
    local b = loo.loo(posterior_of(log_likelihoods() - 0.1))
    local rows = peri.compare { worse = b, better = a }
    assert.equal("better", rows[1].name)
    assert.near(0, rows[1].elpd_diff, 1e-12)
    assert.near(-0.6, rows[2].elpd_diff, 1e-10)
    assert.near(0, rows[2].se_diff, 1e-6)
    assert.matches("worse +%-0.60", tostring(rows))
  end)

  it("refuse models of other data", function ()
    local a = loo.loo(posterior_of(log_likelihoods()))
    local b = loo.loo(posterior_of(log_likelihoods():narrow(2, 1, 5)))
    assert.matches("only models of the same data compare", refusal_of(peri.compare, { a = a, b = b }))
  end)
end)

it("comparisons of equals go by name, and refuse what is no posterior", function ()
  local post = peri.model(function (m, d)
    m.a = peri.Normal(0, 1)
    m.y = peri.Normal(m.a, d.sd)
  end) { y = { 1, 2 }, sd = 1 } :vi { seed = 1 }
  local rows = peri.compare { b = post, c = post:loo(), a = post }
  assert.same({ "a", "b", "c" }, { rows[1].name, rows[2].name, rows[3].name })
  assert.equal(0, rows[3].elpd_diff)
  assert.equal("compare: takes a table of posteriors by name, got an empty table", refusal_of(peri.compare, {}))
  assert.equal("compare: a must be a posterior, or what loo() of one gave, got 3", refusal_of(peri.compare, { a = 3 }))
end)
