--- peri.model: sites, their free numbers, and the log density of a posed model.
local peri       = require "perilune"
local Density    = require "perilune.model.density"
local model      = require "perilune.model"
local refusal_of = require "spec.support.refusal"

local constraints = peri.constraints
local Normal, HalfNormal, HalfCauchy, Uniform = peri.Normal, peri.HalfNormal, peri.HalfCauchy, peri.Uniform

local function density_of (posed, centring)
  model.discover(posed)
  return Density.new(posed, centring)
end

local function schools ()
  return peri.model(function (m, d)
    m.mu    = Normal(0, 5)
    m.tau   = HalfCauchy(5)
    m.theta = Normal(m.mu, m.tau):expand(3)
    m.best  = m.theta:max()
    m.y     = Normal(m.theta, d.sigma)
  end) { y = { 28, 8, -3 }, sigma = { 15, 10, 16 } }
end

local function refused (pattern, call) assert.matches(pattern, refusal_of(call)) end

local function refuses (pattern, body, data)
  refused(pattern, function () peri.model(body)(data):sites() end)
end

describe("a posed model", function ()
  it("lists its sites in their order", function ()
    local found = {}
    for _, site in ipairs(schools():sites()) do
      local shape = table.concat(site.shape, "x")
      found[#found + 1] = table.concat({ site.name, site.kind, site.distribution or "", shape }, " ")
    end
    assert.same({ "mu latent Normal ", "tau latent HalfCauchy ", "theta latent Normal 3", "best derived  ",
                  "y observed Normal 3" }, found)
  end)

  it("prints itself", function ()
    assert.matches("theta +latent +Normal +%(3%)", tostring(schools()))
  end)

  it("adds up the log joint density of given values", function ()
    local theta, y, sigma = { 1, 2, 3 }, { 28, 8, -3 }, { 15, 10, 16 }
    local expected = Normal(0, 5):log_prob(0.5) + HalfCauchy(5):log_prob(2)
    for i = 1, 3 do
      expected = expected + Normal(0.5, 2):log_prob(theta[i]) + Normal(theta[i], sigma[i]):log_prob(y[i])
    end
    local found = schools():log_joint { mu = 0.5, tau = 2, theta = theta }
    assert.equal("float", math.type(found))
    assert.near(expected, found, 1e-12)
  end)

  it("draws from its prior, of observed and derived values too", function ()
    local drawn = schools():prior(2000, peri.rng(1))
    assert.same({ 2000, 3 }, drawn.theta.shape)
    assert.same({ 2000, 3 }, drawn.y.shape)
    assert.same({ 2000 }, drawn.best.shape)
    assert.near(0, drawn.mu:mean(), 0.5)
    assert.near(5, drawn.mu:std(), 0.4)
    assert.equal(0, (drawn.best - drawn.theta:max(2)):abs():max())
  end)

  it("has the same draws for the same generator", function ()
    local a, b = schools():prior(3, peri.rng(4)), schools():prior(3, peri.rng(4))
    assert.is_true(a.y:equal(b.y))
  end)

  it("makes sites in loops, and derived ones of numbers", function ()
    local posed = peri.model(function (m)
      for i = 1, 3 do m["x" .. i] = Normal(i, 1) end
      m.total = m.x1 + m.x2 + m.x3
      m.constant = 7
    end) {}
    local values = density_of(posed):report(peri.zeros(2, 3))
    assert.same({ 0, 0 }, values.total:totable())
    assert.same({ 7, 7 }, values.constant:totable())
  end)
end)

describe("what a model refuses", function ()
  it("a name that is set twice", function ()
    refuses("mu is set twice", function (m) m.mu = Normal(0, 1); m.mu = Normal(0, 1) end)
  end)
  it("a name that is not set yet, and names the nearest", function ()
    refuses("thta is not set yet; did you mean theta%?", function (m)
      m.theta = Normal(0, 1)
      m.x     = Normal(m.thta, 1)
    end)
  end)
  it("one of several that a statement sets, before all are", function ()
    refuses("alpha is not set yet %(a statement that sets several, m.a, m.b = ..., computes all", function (m)
      m.alpha, m.b = Normal(0, 1), Normal(m.alpha, 1)
    end)
  end)
  it("data that are not there, and names the nearest", function ()
    refuses("the data have no sgima; did you mean sigma%?", function (m, d) m.x = Normal(0, d.sgima) end, { sigma = 1 })
  end)
  it("data that are written to", function ()
    refuses("the data are not to be changed", function (_, d) d.x = 1 end, { y = 1 })
  end)
  it("names of methods", function () refuses("factor is a method of m", function (m) m.factor = Normal(0, 1) end) end)
  it("what is neither a distribution nor a number", function ()
    refuses("x must be a distribution, or a number or tensor, got", function (m) m.x = "seven" end)
    refuses("x must be a distribution, or a number or tensor, got", function (m) m.x = Normal end)
  end)
  it("a model without unobserved sites", function ()
    refuses("every site is observed", function (m) m.x = Normal(0, 1) end, { x = 1 })
  end)
  it("discrete sites that are not observed", function ()
    refuses("z is discrete and not observed", function (m) m.z = peri.Poisson(3) end)
  end)
  it("factors that are none", function ()
    refuses("factor f must be a number or a tensor, got", function (m) m.x = Normal(0, 1); m:factor("f", "a") end)
    refuses("name must be a string", function (m) m.x = Normal(0, 1); m:factor(1, 2) end)
    refuses("with a colon", function (m) m.x = Normal(0, 1); m.factor("f", 2) end)
  end)
  it("data without names", function ()
    refused("data must have names", function () peri.model(function () end) { 1, 2 } end)
    refused("data must be a table", function () peri.model(function () end)(3) end)
  end)
  it("a body that is no function", function ()
    refused("body must be a function, got 3", function () peri.model(3) end)
  end)
  it("sites whose shape changes from run to run", function ()
    local runs = 0
    local posed = peri.model(function (m)
      runs = runs + 1
      m.x = Normal(0, 1):expand(runs)
    end) {}
    model.discover(posed)
    refused("x has shape %(2%) in this run, and had %(1%) before", function ()
      Density.new(posed):values(peri.zeros(1, 1))
    end)
  end)
  it("values of sites that are unknown or missing", function ()
    refused("there is no unobserved site thta; did you mean theta", function () schools():log_joint { thta = 1 } end)
    refused("needs a value for mu", function () schools():log_joint { tau = 1 } end)
  end)
end)

-- The integral of the density of one free number, by the trapezoidal rule: 1 for a proper prior.
local function integral (posed)
  local density = density_of(posed)
  local edge, n = 60, 24001
  local u = peri.linspace(-edge, edge, n):reshape(n, 1)
  return density:values(u):exp():sum() * 2 * edge / (n - 1)
end

describe("free numbers", function ()
  for name, make in pairs {
    Normal = function () return Normal(1, 2) end,
    HalfNormal = function () return HalfNormal(3) end,
    Uniform = function () return Uniform(-1, 4) end,
    Beta = function () return peri.Beta(2, 3) end,
    Gamma = function () return peri.Gamma(2, 3) end,
    Pareto = function () return peri.Pareto(2, 3) end,
    Laplace = function () return peri.Laplace(1, 2) end,
  } do
    it("have a density of integral 1: " .. name, function ()
      assert.near(1, integral(peri.model(function (m) m.x = make() end) {}), 1e-6)
    end)
  end

  -- Sites of rows and matrices: the means of their draws, weighted from a wide proposal, are those of the prior.
  for name, make in pairs {
    Dirichlet = function () return peri.Dirichlet { 2, 3, 4 } end,
    LKJ = function () return peri.LKJ(3, 2) end,
    LKJCholesky = function () return peri.LKJCholesky(3, 2) end,
    Wishart = function () return peri.Wishart(5, peri.eye(2)) end,
    ["two rows"] = function () return peri.Dirichlet(peri.tensor { { 2, 3 }, { 4, 5 } }) end,
  } do
    it("reach supports of rows and matrices: " .. name, function ()
      local posed = peri.model(function (m) m.x = make() end) {}
      local density = density_of(posed)
      local n = 40000
      local wide = peri.StudentT(4, 0, 1.5)
      local u = wide:sample({ n, density.size }, peri.rng(2))
      local weights = (density:values(u) - wide:log_prob(u):sum(2)):exp()
      assert.near(1, weights:mean(), 0.06)
      local values = density:report(u).x:reshape(n, -1)
      local found = (weights:reshape(n, 1) * values):sum(1) / weights:sum()
      local expected = make():sample({ n }, peri.rng(3)):reshape(n, -1):mean(1)
      local spread = make():sample({ n }, peri.rng(3)):reshape(n, -1):std(1)
      assert.is_true(((found - expected):abs() - 0.08 * spread):max() <= 0)
    end)
  end

  it("respect bounds that depend on other sites", function ()
    local posed = peri.model(function (m)
      m.a = Uniform(0, 1)
      m.b = Uniform(0, 1 - m.a)
    end) {}
    local density = density_of(posed)
    local u = Normal(0, 2):sample({ 500, 2 }, peri.rng(1))
    local values = density:report(u)
    assert.is_true((values.a + values.b):max() <= 1)
    local sigmoid = u:sigmoid()
    local a, b = sigmoid:select(2, 1), sigmoid:select(2, 2)
    local expected = (a * (1 - a)):log() + (b * (1 - b)):log()
    assert.near(0, (density:values(u) - expected):abs():max(), 1e-11)
  end)

  it("give flat priors no weight but their determinant's", function ()
    local posed = peri.model(function (m)
      m.s = peri.Flat(constraints.positive)
      m.o = peri.Flat(constraints.ordered, 2)
      m.p = peri.Flat(constraints.positive_ordered, 2)
      m.q = peri.Flat(constraints.simplex, 3)
    end) {}
    local density = density_of(posed)
    assert.equal(7, density.size)
    local values = density:report(Normal(0, 1):sample({ 50, 7 }, peri.rng(1)))
    assert.is_true(values.s:min() > 0)
    assert.is_true((values.o:select(2, 2) - values.o:select(2, 1)):min() > 0)
    assert.is_true(values.p:min() > 0 and (values.p:select(2, 2) - values.p:select(2, 1)):min() > 0)
    assert.near(0, (values.q:sum(2) - 1):abs():max(), 1e-12)
  end)

  it("are the same density however far a site is centred", function ()
    local posed = schools()
    for _, c in ipairs { 0, 0.4, 1 } do
      local density = density_of(posed, { theta = c < 1 and peri.full({ 3 }, c) or nil })
      local u = Normal(0, 0.7):sample({ 20, 5 }, peri.rng(1))
      local found, values = density:values(u), density:report(u)
      for i = 1, 20 do
        local tau = values.tau[i]
        local joint = posed:log_joint { mu = values.mu[i], tau = tau, theta = values.theta[i] }
        assert.near(joint + math.log(tau) + 3 * (1 - c) * math.log(tau), found[i], 1e-10)
      end
    end
  end)

  it("have gradients that slopes confirm", function ()
    local density = density_of(schools(), { theta = peri.full({ 3 }, 0.3) })
    local u = Normal(0, 0.5):sample({ 4, 5 }, peri.rng(5))
    local _, gradients = density:gradients(u)
    for j = 1, 5 do
      local step = peri.zeros(5)
      step:narrow(1, j, 1):copy(1e-5)
      local slope = (density:values(u + step) - density:values(u - step)) / 2e-5
      assert.near(0, (slope - gradients:select(2, j)):abs():max(), 1e-6)
    end
  end)
end)

describe("a body that cannot be traced", function ()
  local function branching ()
    return peri.model(function (m, d)
      m.x = Normal(0, 1)
      m.y = Normal(m.x:item() > 0 and 2 * m.x or m.x, d.s)
    end) { y = 1, s = 0.5 }
  end

  it("runs in Lua, says so once, and is right", function ()
    local said, before = {}, warn
    _G.warn = function (text) said[#said + 1] = text end   -- luacheck: ignore
    local density = density_of(branching())
    local values, gradients = density:gradients(peri.tensor { { 0.5 }, { -0.5 } })
    density:report(peri.tensor { { 0.5 } })
    _G.warn = before                                       -- luacheck: ignore
    assert.equal(1, #said)
    assert.matches("cannot be traced", said[1])
    assert.near(Normal(0, 1):log_prob(0.5) + Normal(1, 0.5):log_prob(1), values[1], 1e-12)
    assert.near(Normal(0, 1):log_prob(0.5) + Normal(-0.5, 0.5):log_prob(1), values[2], 1e-12)
    assert.near(-0.5 + 2 * 0 / 0.25, gradients[1][1], 1e-12)
    assert.near(0.5 + 1.5 / 0.25, gradients[2][1], 1e-12)
  end)
end)

describe("rows of a trace", function ()
  it("give what replays one by one give", function ()
    local x = peri.param { 1, 2 }
    local trace = peri.trace(function () return (x ^ 3):sum() end)
    local rows = peri.tensor { { 1, 2 }, { 3, 4 }, { -1, 0 } }
    local values, gradients = peri.zeros(3), peri.zeros(3, 2)
    trace:rows(x, rows, values, gradients)
    assert.same({ 9, 91, -1 }, values:totable())
    assert.same({ { 3, 12 }, { 27, 48 }, { 3, 0 } }, gradients:totable())
    assert.is_nil(x.grad)
  end)

  it("refuse what does not fit", function ()
    local x = peri.param { 1, 2 }
    local trace = peri.trace(function () return x:sum() end)
    local rows, values = peri.zeros(3, 2), peri.zeros(3)
    refused("x must be a parameter", function () trace:rows(peri.zeros(2), rows, values) end)
    refused("x must be a parameter of the trace", function () trace:rows(peri.param { 1, 2 }, rows, values) end)
    refused("x must be a tensor, got nil", function () trace:rows() end)
    refused("rows must be a tensor, got 3", function () trace:rows(x, 3, values) end)
    refused("seen must be a tensor, got 3", function () trace:rows(x, rows, values, nil, 3) end)
    refused("rows must have shape %(S, 2%), got %(6%)", function () trace:rows(x, peri.zeros(6), values) end)
    refused("rows must have shape %(S, 2%), got %(2, 3%)", function () trace:rows(x, peri.zeros(2, 3), values) end)
    refused("elements of rows must lie one after the other, as those of rows:contiguous%(%) do",
            function () trace:rows(x, peri.zeros(2, 3):transpose(), values) end)
    refused("values must have 3 elements", function () trace:rows(x, rows, peri.zeros(4)) end)
    refused("gradients must have 6 elements", function () trace:rows(x, rows, values, peri.zeros(3)) end)
    refused("results must be a tensor", function () trace:rows(x, rows, values, nil, peri.zeros(1)) end)
    refused("values must be a tensor", function () trace:rows(x, rows) end)
  end)
end)

describe("a body that changes from run to run", function ()
  -- What a fit says whose body is called with the number of the run.
  local function refusal (body)
    local runs = 0
    local posed = peri.model(function (m)
      runs = runs + 1
      m.x = Normal(0, 1)
      body(m, runs)
    end) {}
    return refusal_of(posed.vi, posed, { seed = 1 })
  end

  it("is refused, and what changes is named", function ()
    assert.equal("model: z was not there when the sites were found: sites must be the same in every run",
                 refusal(function (m, run) if run > 1 then m.z = Normal(0, 1) end end))
    assert.equal("model: z was there when the sites were found, and is not now: sites must be the same in every run",
                 refusal(function (m, run) if run == 1 then m.z = Normal(0, 1) end end))
    assert.equal("model: z is not there in every run",
                 refusal(function (m) if peri.item(m.x) > 0 then m.z = m.x * 1 end end))
    assert.equal("model: z is not there in every run, or not with the same shape",
                 refusal(function (m) m.z = peri.item(m.x) > 0 and m.x * peri.ones(2) or m.x * 1 end))
  end)
end)

it("what cannot be in a model is refused", function ()
  local function fit (body, options)
    local posed = peri.model(body) {}
    return refusal_of(posed.vi, posed, options or { seed = 1 })
  end
  assert.matches("^model: x is not observed, within a plate of which only some rows count; declare it before",
                 fit(function (m) m:plate("p", 10, 5, function () m.x = Normal(0, 1) end) end))
  assert.equal("model: x has shape (3), got a tensor of shape (2)",
               fit(function (m) m.x = Normal(0, 1):expand(3) end, { init = { x = { 1, 2 } } }))
  assert.equal('vi: noncentred must be "auto", false or a list of names, got 3',
               fit(function (m) m.x = Normal(0, 1) end, { noncentred = 3 }))
end)
