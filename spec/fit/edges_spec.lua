--- Fits that are rarely asked for: starts, weights beside repeated data, long tables, families that do not fit.
local peri       = require "perilune"
local refusal_of = require "spec.support.refusal"

local draws = peri.StudentT(4, 3, 2):sample(300, peri.rng(1))

it("options that make no sense are refused", function ()
  local function refused (options) return refusal_of(peri.fit, peri.Normal, { 1, 2, 3 }, options) end
  assert.equal('fit: missing must be "drop", got the string "x"', refused { missing = "x" })
  assert.equal("fit: start must be a table of parameters by name, got 3", refused { start = 3 })
  assert.equal("fit: Normal takes no outcomes: a Categorical does", refused { outcomes = 3 })
end)

it("a start changes nothing where there is one maximum", function ()
  local plain, started = peri.fit(peri.StudentT, draws),
                         peri.fit(peri.StudentT, draws, { start = { df = 20, loc = 0, scale = 5 } })
  assert.is_true(started.converged)
  for _, name in ipairs { "df", "loc", "scale" } do
    assert.near(plain.params[name], started.params[name], 1e-4 * plain.params[name])
  end
end)

it("a value of weight k counts as k values, in distances too", function ()
  local x, weights, repeated = draws:narrow(1, 1, 40):totable(), {}, {}
  for i, value in ipairs(x) do
    weights[i] = i % 3 + 1
    for _ = 1, weights[i] do repeated[#repeated + 1] = value end
  end
  local families = { peri.Normal, peri.Logistic }
  local a, b = peri.fit(families, x, { weights = weights }), peri.fit(families, repeated)
  for i, row in ipairs(b.rows) do
    assert.equal(row.name, a.rows[i].name)
    assert.near(row.ks, a.rows[i].ks, 1e-6)
    assert.near(row.fit.log_lik, a.rows[i].fit.log_lik, 1e-6)
  end
end)

it("a table of many numbers is cut", function ()
  local x = peri.MultivariateNormal(peri.zeros(8), peri.eye(8)):sample(60, peri.rng(1))
  local text = tostring(peri.fit(peri.MultivariateNormal, x))
  assert.matches("\n  covariance_matrix%[5, 2%] [^\n]*\n  %.%.%.[^\n]*\n  log likelihood", text)
end)

it("families that cannot have made the data come last, by name", function ()
  local found = peri.fit({ peri.Kumaraswamy, peri.Normal, peri.Beta }, draws)
  assert.same({ "Normal", "Beta", "Kumaraswamy" }, { found.rows[1].name, found.rows[2].name, found.rows[3].name })
  assert.is_nil(found.rows[2].fit)
end)

it("families that fit equally well go by name", function ()
  local found = peri.fit({ peri.Normal:extend "Second", peri.Normal:extend "First" }, draws)
  assert.same({ "First", "Second" }, { found.rows[1].name, found.rows[2].name })
  assert.equal(found.rows[1].fit.aic, found.rows[2].fit.aic)
end)

it("data do not tell how long a vector of parameters is, unless they are vectors", function ()
  local Own = peri.Distribution:extend("Own", { params = { { "weights", peri.constraints.real_vector, event = 1 } },
                                                support = peri.constraints.real })
  function Own:log_prob (x) return peri.Normal(self.weights:sum(-1), 1):log_prob(x) end
  assert.equal("fit: Own: x does not tell how long weights is; give it, as in fixed = { weights = { 0, 1 } }",
               refusal_of(peri.fit, Own, { 1, 2, 3 }))
end)
