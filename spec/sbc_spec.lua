--- peri.sbc: right ways pass, broken ones do not; and joint tests of samplers for each kind of site.
local diagnostics = require "perilune.inference.diagnostics"
local models      = require "spec.support.calibrated"
local peri        = require "perilune"
local refusal_of  = require "spec.support.refusal"

local Normal = peri.Normal

local function regression () return models.regression.model, models.regression.data end

-- nuts, after which draws are changed by fn(x, mean).
local function broken (fn)
  return function (posed, rng)
    local post = posed:nuts { rng = rng, chains = 1, draws = 400, warmup = 200 }
    local draws = {}
    for name, x in pairs(post.values) do draws[name] = fn(x, x:mean(1, true)) end
    return draws
  end
end

local function calibration (fn, n)
  local model, data = regression()
  return peri.sbc(model, { data = data, method = fn, seed = 1, n = n or 60, draws = 39 })
end

describe("calibration", function ()
  for name, one in pairs(models) do
    it("holds: " .. name, function ()
      local found = peri.sbc(one.model, { data = one.data, seed = 2, n = 40, draws = 39 })
      assert.equal("ok", found.verdict)
      assert.equal(40, found.n)
    end)
  end

  it("holds for a function that is right", function ()
    assert.equal("ok", calibration(broken(function (x) return x end), 40).verdict)
  end)

  it("fails where draws are too narrow", function ()
    local found = calibration(broken(function (x, mean) return mean + 0.4 * (x - mean) end))
    assert.equal("bad", found.verdict)
    assert.matches("beta%[1%] is off %(draws are too narrow%)", table.concat(found.reasons, "\n"))
  end)

  it("fails where draws are moved", function ()
    local found = calibration(broken(function (x) return x + 0.5 * x:std() end))
    assert.equal("bad", found.verdict)
    assert.matches("draws lie too high", table.concat(found.reasons, "\n"))
  end)

  it("fails where the data are not looked at", function ()
    local found = calibration(function (posed, rng) return posed:prior(39, rng) end)
    assert.equal("bad", found.verdict)
    assert.matches("log likelihood is off", table.concat(found.reasons, "\n"))
    assert.is_true(found.p["beta[1]"] > 0.05)
  end)

  it("is the same for the same seed, and printed", function ()
    local function once () return calibration(function (posed, rng) return posed:prior(39, rng) end, 20) end
    local found = once()
    assert.is_true(found.ranks.sigma:equal(once().ranks.sigma))
    assert.matches("^%a+: ranks of 20 simulations among 39 draws by a function\n", tostring(found))
    assert.matches("\nsigma ", tostring(found))
  end)

  it("says how many fits are bad, or too short to be ranked", function ()
    local found = peri.sbc(peri.model(function (m)
      m.x = Normal(0, 1)
      m.y = Normal(m.x, 1)
    end), { data = { y = 1 }, n = 20, draws = 19, seed = 1, options = { chains = 1, warmup = 5, draws = 19 } })
    assert.equal("doubtful", found.verdict)
    assert.matches("^%d+ of 20 fits call themselves bad$", found.reasons[1])
    assert.matches("^in %d+ of 20 fits fewer draws were independent than are ranked: more draws", found.reasons[2])
  end)

  it("counts fits that fail, and says what cannot be simulated", function ()
    local model, data = regression()
    local calls = 0
    local found = calibration(function (posed, rng)
      calls = calls + 1
      if calls % 4 == 0 then error "the density is not finite" end
      return posed:prior(39, rng)
    end, 40)
    assert.equal(30, found.n)
    assert.matches("10 of 40 fits failed", table.concat(found.reasons, "\n"))
    local function refused (a, b) return refusal_of(peri.sbc, a, b) end
    assert.matches("nothing is observed", refused(model, { data = { x = data.x } }))
    assert.matches("name of a way", refused(model, { data = data, method = "prior" }))
    assert.matches("must be a model", refused({}, {}))
    assert.matches("must be a model", refused(model(data), {}))
    assert.matches("no option nn", refused(model, { nn = 3 }))
    assert.matches("must return", refused(model, { data = data, method = function () return 3 end }))
    assert.matches("beta is", refused(model, { data = data, method = function () return {} end }))
    local other = peri.model(function (m) m.mu = Normal(0, 1) end) {} :laplace {}
    assert.matches("that of beta is missing", refused(model, { data = data, method = function () return other end }))
    assert.matches("x is Flat", refused(peri.model(function (m) m.x = peri.Flat(); m.y = Normal(m.x, 1) end),
                                        { data = { y = 1 } }))
    assert.matches("is a factor", refused(peri.model(function (m) m.x = Normal(0, 1); m:factor("f", m.x) end), {}))
  end)
end)

-- Draws of unobserved sites and data together, data being sites as well, are draws of the model itself: whole ways with
-- their warm-up, where spec/geweke_spec.lua has single steps. Each kind of support has transforms and determinants of
-- its own. Particles start from draws of the prior itself, and are moved.
local KINDS = {
  real        = function (m) m.x = Normal(1, 2) end,
  positive    = function (m) m.x = peri.Gamma(3, 2) end,
  interval    = function (m) m.x = peri.Beta(2, 3) end,
  bounded     = function (m) m.low = Normal(0, 1); m.x = peri.Uniform(m.low, m.low + 2) end,
  simplex     = function (m) m.x = peri.Dirichlet { 2, 3, 4 } end,
  correlation = function (m) m.x = peri.LKJCholesky(3, 2) end,
  definite    = function (m) m.x = peri.Wishart { df = 6, scale_tril = peri.eye(2) } end,
  vector      = function (m) m.x = peri.MultivariateNormal { loc = { 0, 1 }, scale_tril = { { 2, 0 }, { 1, 1 } } } end,
  recentred   = function (m) m.tau = peri.HalfNormal(1); m.x = Normal(1, m.tau):expand(2) end,
  pareto      = function (m) m.x = peri.Pareto(2, 6) end,
}

-- The largest distance of the means of x and of x^2 between two samples, in standard errors.
local function apart (chains, plain)
  local worst = 0
  for _, power in ipairs { 1, 2 } do
    local a, b = chains ^ power, plain ^ power
    local size = math.floor(peri.tensor(plain.shape):prod() / plain.shape[1])
    a, b = a:reshape(4, -1, math.tointeger(size)), b:reshape(plain.shape[1], -1)
    for j = 1, math.tointeger(size) do
      local x, y = a:select(3, j):contiguous(), b:select(2, j)
      local se = math.sqrt(diagnostics.mcse_mean(x) ^ 2 + y:var() / #y)
      if y:var() > 0 then worst = math.max(worst, math.abs(x:mean() - y:mean()) / se) end
    end
  end
  return worst
end

describe("draws of data and sites together are those of the model", function ()
  for kind, body in pairs(KINDS) do
    for _, method in ipairs { "nuts", "smc" } do
      it("by " .. method .. ": " .. kind, function ()
        local posed = peri.model(function (m)
          body(m)
          m.y = Normal((m.x * 1):sum(), 1)
        end) {}
        local post
        if method == "nuts" then post = posed:nuts { seed = 4, draws = 800, warmup = 400, target = 0.95 } end
        if method == "smc" then post = posed:smc { seed = 4, particles = 800, start = "prior" } end
        local plain = posed:prior(3000, peri.rng(5))
        for _, name in ipairs { "x", "y" } do assert.is_true(apart(post.values[name], plain[name]) < 4.5) end
      end)
    end
  end
end)
