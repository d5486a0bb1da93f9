local peri = require "perilune"

local constraints, Normal = peri.constraints, peri.Normal
local LOG_2PI = math.log(2 * math.pi)

local function close (expected, got, tolerance)
  assert(math.abs(expected - got) <= tolerance, string.format("%.10g is not %.10g +- %g", got, expected, tolerance))
end

local function fails (message, fn, ...)
  local ok, why = pcall(fn, ...)
  assert.is_false(ok)
  assert.equal(message, (why:gsub("^[^ ]-:%d+: ", "")))
end

-- Eight schools (Rubin 1981), not centred.
local effects, errors = peri.tensor { 28, 8, -3, 7, -1, 1, 18, 12 }, peri.tensor { 15, 10, 16, 11, 9, 11, 10, 18 }
local SCHOOLS = {
  log_joint = function (t)
    return Normal(0, 5):log_prob(t.mu) + peri.HalfCauchy(5):log_prob(t.tau) + Normal(0, 1):log_prob(t.eta):sum()
         + Normal(t.mu + t.tau * t.eta, errors):log_prob(effects):sum()
  end,
  params = { mu = constraints.real, tau = constraints.positive, eta = 8 },
}

local function with (base, more)
  local all = {}
  for key, value in pairs(base) do all[key] = value end
  for key, value in pairs(more) do all[key] = value end
  return all
end

-- Seeds are fixed; six other seeds were inside the bounds as well.
describe("variational inference", function ()
  it("reaches the best mean-field guide of eight schools", function ()
    local r = peri.vi.fit(with(SCHOOLS, { rng = peri.rng(1) }))
    assert.is_true(r.converged)
    assert.equal(r.steps, #r.elbo)
    close(-31.60, r.elbo_mean, 0.15)   -- log evidence -31.311
    close(4.45, r.mean.mu, 0.3)
    assert.same({ 8 }, r.mean.eta.shape)
  end)

  -- x ~ N(0, 1), y | x ~ N(x, 1/2): posterior N(4/5 y, 1/5), evidence N(0, 5/4)
  local conjugate = {
    log_joint = function (t) return Normal(0, 1):log_prob(t.x) + Normal(t.x, 0.5):log_prob(2) end,
    params = { x = {} },
  }

  it("finds a posterior that is a guide, and its evidence", function ()
    local r = peri.vi.fit(with(conjugate, { rng = peri.rng(1), samples = 8 }))
    assert.equal("number", type(r.mean.x))
    close(1.6, r.mean.x, 0.06)
    close(math.sqrt(0.2), r.sd.x, 0.02)
    close(Normal(0, math.sqrt(1.25)):log_prob(2), r.elbo_mean, 0.01)
    assert(r.elbo_error < 5e-3)   -- the guide is the posterior: draws agree
  end)

  -- A Gaussian with covariance ((1, 0.9 s), (0.9 s, s^2)), s = 2.
  local covariance = peri.tensor { { 1, 1.8 }, { 1.8, 4 } }
  local target = peri.MultivariateNormal { loc = { 1, -2 }, covariance_matrix = covariance }
  local correlated = { log_joint = function (t) return target:log_prob(t.x) end, params = { x = 2 }, samples = 8 }

  it("sees correlations with a guide of full rank", function ()
    local r = peri.vi.fit(with(correlated, { guide = "fullrank", rng = peri.rng(1) }))
    close(0, r.elbo_mean, 0.02)
    close(1, r.mean.x[1], 0.06)
    close(1, r.sd.x[1], 0.05)
    close(2, r.sd.x[2], 0.1)
    local draws = r:sample(20000, peri.rng(2)).x
    local first, second = draws:select(2, 1) - 1, draws:select(2, 2) + 2
    close(1.8, peri.item((first * second):mean()), 0.15)
  end)

  it("has the spread of the conditionals with a mean-field guide", function ()
    local r = peri.vi.fit(with(correlated, { rng = peri.rng(1) }))
    close(math.sqrt(1 - 0.81), r.sd.x[1], 0.03)
    close(2 * math.sqrt(1 - 0.81), r.sd.x[2], 0.06)
    close(0.5 * math.log(1 - 0.81), r.elbo_mean, 0.02)   -- minus the KL of the best guide
  end)

  -- Where biject_to makes the target a Gaussian, the fit is exact.
  it("brings parameters to their constraints", function ()
    local r = peri.vi.fit {
      log_joint = function (t)
        return peri.LogNormal(0.5, 0.4):log_prob(t.positive) + peri.LogitNormal(0.3, 0.8):log_prob(t.unit):sum()
      end,
      params = { positive = constraints.positive, unit = { shape = { 2, 3 }, constraint = constraints.unit_interval } },
      rng = peri.rng(3), samples = 8,
    }
    close(0, r.elbo_mean, 0.02)
    local law = peri.LogNormal(0.5, 0.4)
    close(law:mean(), r.mean.positive, 0.03)
    close(law:stddev(), r.sd.positive, 0.05)
    assert.same({ 2, 3 }, r.mean.unit.shape)
    for i = 1, 2 do
      for j = 1, 3 do close(0.5604, r.mean.unit:at(i, j), 0.03) end
    end
  end)

  it("gives moments of constrained parameters that are exact for the guide", function ()
    local fit = peri.vi.new {
      log_joint = function (t) return Normal(0, 1):log_prob(t.a:sum()) end,
      params = { a = { shape = 2, constraint = constraints.positive, init = { 1, 3 } } },
    }
    local r, law = fit:result(), peri.LogNormal(peri.log { 1, 3 }, 0.1)   -- as the guide starts
    assert(peri.allclose(law:mean(), r.mean.a, 1e-13))
    assert(peri.allclose(law:stddev(), r.sd.a, 1e-12))
  end)

  it("knows rows and matrices", function ()
    local counts = peri.tensor { 30, 50, 20 }
    local r = peri.vi.fit {
      log_joint = function (t)
        local l, diagonal = t.factor, peri.LogNormal(0, 0.5)
        return (counts * t.share:log()):sum() + Normal(0, 1):log_prob(t.order):sum() + diagonal:log_prob(l[1][1])
             + Normal(3, 1):log_prob(l[2][1]) + diagonal:log_prob(l[2][2])
      end,
      params = {
        share  = { shape = 3, constraint = constraints.simplex },
        factor = { shape = { 2, 2 }, constraint = constraints.lower_cholesky },
        order  = { shape = 3, constraint = constraints.ordered_vector, init = { -1, 0, 1 } },
      },
      rng = peri.rng(4), samples = 8,
    }
    for i, share in ipairs { 31 / 103, 51 / 103, 21 / 103 } do close(share, r.mean.share[i], 0.01) end
    close(0, r.mean.factor:at(1, 2), 0)
    close(math.exp(0.125), r.mean.factor:at(1, 1), 0.06)
    close(3, r.mean.factor:at(2, 1), 0.06)
    close(1, r.sd.factor:at(2, 1), 0.06)
    assert(r.mean.order[1] < r.mean.order[2] and r.mean.order[2] < r.mean.order[3])
    local draws = r:sample(50, peri.rng(1))
    assert.same({ 50, 3 }, draws.share.shape)
    assert.same({ 50, 2, 2 }, draws.factor.shape)
    assert.is_nil(constraints.simplex:violation(draws.share))
    assert.is_nil(constraints.lower_cholesky:violation(draws.factor))
    assert.is_nil(constraints.ordered_vector:violation(draws.order))
    assert.same({ 3 }, r:sample().share.shape)
  end)

  it("gives the same result for the same seed", function ()
    local function run () return peri.vi.fit(with(SCHOOLS, { rng = peri.rng(7), steps = 60 })) end
    local a, b = run(), run()
    assert.same(a.elbo, b.elbo)
    assert.equal(a.mean.tau, b.mean.tau)
    assert.is_false(a.converged)
  end)

  it("estimates the ELBO from draws of its generator", function ()
    local z, scale, samples = peri.rng(7):normal(3, 10), 0.1, 3   -- as the guide starts; eta, mu, tau
    local mean = 0
    for i = 1, samples do
      local u = z[i] * scale
      local theta = { eta = u:narrow(1, 1, 8), mu = u[9], tau = math.exp(u[10]) }
      mean = mean + (peri.item(SCHOOLS.log_joint(theta)) + u[10] - Normal(0, scale):log_prob(u):sum()) / samples
    end
    local fit = peri.vi.new(with(SCHOOLS, { rng = peri.rng(7), samples = samples }))
    close(mean, fit:step(), 1e-12)
  end)

  it("draws from the generator of the state unless told", function ()
    local function elbo (rng)
      peri.seed(5)
      return (peri.vi.new(with(SCHOOLS, { rng = rng })):step())
    end
    assert.equal(elbo(peri.rng(5)), elbo(nil))
  end)

  it("fits what does not depend on its parameters", function ()
    local fit = peri.vi.new { log_joint = function () return 0 end, params = { x = 3 }, rng = peri.rng(1) }
    fit:step(10)
    assert.same({ 0, 0, 0 }, fit.guide.params.loc:totable())
    assert(peri.item(fit.guide.params.log_scale[1]) > math.log(0.1))
  end)

  it("can be driven by its host", function ()
    local seen = {}
    local function on_step (step, elbo) seen[step] = elbo end
    local fit = peri.vi.new(with(SCHOOLS, { rng = peri.rng(7), on_step = on_step }))
    local one, converged = fit:step()
    assert.equal(fit.elbo[1], one)
    assert.is_false(converged)
    local mean = fit:step(3)
    close((fit.elbo[2] + fit.elbo[3] + fit.elbo[4]) / 3, mean, 1e-12)
    assert.same(fit.elbo, seen)
    local before = fit:result()
    local kept = before.mean.mu
    fit:step(20)
    assert.equal(kept, before.mean.mu)
    assert.equal(4, #before.elbo)
    assert.equal(before:sample(1, peri.rng(1)).mu[1], before:sample(1, peri.rng(1)).mu[1])
    assert.not_equal(kept, fit:result().mean.mu)
    local whole = peri.vi.fit(with(SCHOOLS, { rng = peri.rng(7), steps = 24 }))
    assert.same(whole.elbo, fit.elbo)
  end)

  it("can be traced, and then takes the same steps", function ()
    for _, guide in ipairs { "meanfield", "fullrank" } do
      local plain  = peri.vi.new(with(SCHOOLS, { rng = peri.rng(7), guide = guide }))
      local traced = peri.vi.new(with(SCHOOLS, { rng = peri.rng(7), guide = guide, trace = true }))
      plain:step(30)
      traced:step(30)
      for i, elbo in ipairs(plain.elbo) do close(elbo, traced.elbo[i], 1e-9) end
      close(plain:result().mean.mu, traced:result().mean.mu, 1e-9)
    end
  end)

  it("names the parameter that is not finite in a traced fit as well", function ()
    local fit = peri.vi.new {
      params = { x = {}, y = { init = 1e-3 } }, trace = true, rng = peri.rng(3),
      log_joint = function (t) return Normal(0, 1):log_prob(t.x) + t.y:log() end,
    }
    fails("vi: the ELBO is nan at step 1, because of y = -0.13176458234107", fit.step, fit)
  end)

  it("says why it cannot be traced", function ()
    local fit = peri.vi.new {
      params = { x = {} }, trace = true,
      log_joint = function (t) return Normal(0, peri.item(t.x) > 0 and 1 or 2):log_prob(t.x) end,
    }
    fails("Tensor:item: not within trace: this depends on parameters or draws, but would stay as it is now in every "
          .. "replay", fit.step, fit)
  end)

  it("stops when on_step says so", function ()
    local r = peri.vi.fit(with(SCHOOLS, { on_step = function (step) return step < 5 end }))
    assert.equal(5, r.steps)
  end)

  it("takes other optimisers", function ()
    for _, optimiser in ipairs { "RMSprop", peri.optim.ClippedAdam,
                                 function (params) return peri.optim.SGD(params, { lr = 0.05, momentum = 0.5 }) end } do
      local r = peri.vi.fit(with(conjugate, { rng = peri.rng(1), optimiser = optimiser, steps = 800 }))
      close(1.6, r.mean.x, 0.1)
    end
  end)

  it("shows its progress on one line", function ()
    local written, stderr = {}, io.stderr
    rawset(io, "stderr", { write = function (_, text) written[#written + 1] = text end, flush = function () end })
    local ok, why = pcall(peri.vi.fit, with(SCHOOLS, { steps = 120, progress = true, rng = peri.rng(1) }))
    rawset(io, "stderr", stderr)
    assert(ok, why)
    assert.equal(3, #written)
    assert.truthy(written[2]:find("^\rvi: step 100 of at most 120, ELBO %-%d+%.%d+ +$"))
    assert.equal("\n", written[3])
  end)

  it("prints a table", function ()
    local r = peri.vi.fit {
      log_joint = function (t) return Normal(0, 1):log_prob(t.a):sum() + Normal(0, 1):log_prob(t.b) end,
      params = { a = { 2, 2 }, b = {} }, steps = 10, rng = peri.rng(1),
    }
    local lines = {}
    for line in tostring(r):gmatch("[^\n]+") do lines[#lines + 1] = line end
    assert.equal(7, #lines)
    assert.truthy(lines[1]:find("^meanfield guide, 10 steps %(not converged%), ELBO %-%d+%.%d+ %+%- %d"))
    assert.truthy(lines[2]:find("^parameter +mean +sd$"))
    assert.truthy(lines[5]:find("^a%[2, 1%] +%-?%d"))
    assert.truthy(lines[7]:find("^b +%-?%d"))
    local long = peri.vi.fit { log_joint = function (t) return Normal(0, 1):log_prob(t.a):sum() end,
                               params = { a = 100 }, steps = 1 }
    assert.truthy(tostring(long):find("%.%.%. and 76 more$"))
  end)

  it("has results after more steps than Lua unpacks", function ()
    local fit = peri.vi.new { log_joint = function (t) return Normal(0, 1):log_prob(t.a) end, params = { a = {} } }
    for i = 1, 2 ^ 20 do fit.elbo[i] = -1 end
    assert.equal(2 ^ 20, #fit:result().elbo)
  end)

  it("names the parameter because of which the ELBO is not finite", function ()
    -- log(1 - b) ends at b = 1, the guide of b is 0.1 wide around 0.9
    local fit = peri.vi.new {
      log_joint = function (t) return Normal(0, 1):log_prob(t.a) + peri.log(1 - t.b) end,
      params = { a = {}, b = { init = 0.9 } }, rng = peri.rng(1),
    }
    local ok, why = pcall(fit.step, fit, 100)
    assert.is_false(ok)
    assert.truthy(why:find(": vi: the ELBO is nan at step %d+, because of b = 1%.%d+$"))
    -- the root of 0 has a value, but no slope
    fit = peri.vi.new {
      log_joint = function (t) return Normal(0, 1):log_prob(t.a) - peri.sqrt(0 * t.b) end, params = { a = {}, b = {} },
    }
    ok, why = pcall(fit.step, fit)
    assert.is_false(ok)
    assert.truthy(why:find(": vi: the gradient of log_joint is %-?%a+ at step 1, because of b = %-?%d"))
  end)

  it("refuses what makes no sense", function ()
    local function refuses (message, more) fails("vi: " .. message, peri.vi.fit, with(conjugate, more)) end
    fails("vi: takes a table { log_joint =, params =, ... }, got nil", peri.vi.fit)
    fails("vi: log_joint must be a function of the parameters, got nil", peri.vi.fit, { params = { x = {} } })
    refuses("params must be a table of at least one parameter, got an empty table", { params = {} })
    refuses("params must have names, got 1", { params = { {} } })
    refuses("params.x must be a constraint, a shape or { shape =, constraint =, init = }, got the string \"real\"",
            { params = { x = "real" } })
    refuses("params.x: there is no option size; there are constraint, init, shape", { params = { x = { size = 3 } } })
    refuses("params.x: shape must be positive integers, got a table of 1 element",
            { params = { x = { shape = { 0 } } } })
    refuses("params.x: constraint must be a constraint, got 1", { params = { x = { constraint = 1 } } })
    refuses("params.x: simplex needs a shape of at least 1 dimension, got ()", { params = { x = constraints.simplex } })
    refuses("params.x: init must be positive, got -1",
            { params = { x = { constraint = constraints.positive, init = -1 } } })
    refuses("params.x: init must fit shape (3), got a tensor of shape (2)",
            { params = { x = { shape = 3, init = { 1, 2 } } } })
    refuses("params.x: init must not lie on the edge of its constraint",
            { params = { x = { constraint = constraints.unit_interval, init = 1 } } })
    refuses('guide must be "meanfield" or "fullrank", got the string "flow"', { guide = "flow" })
    refuses("steps must be a positive integer, got 0", { steps = 0 })
    refuses("samples must be a positive integer, got 1.5", { samples = 1.5 })
    refuses("lr must be positive, got -1", { lr = -1 })
    refuses("rng must be a generator (see peri.rng), got 1", { rng = 1 })
    refuses('optimiser must be the name of an optimiser that steps without a closure, or a function giving one, '
            .. 'got the string "LBFGS"', { optimiser = "LBFGS" })
    refuses("there is no option sample; did you mean samples? There are guide, log_joint, lr, on_step, optimiser, "
            .. "params, progress, rng, samples, steps, tolerance, trace", { sample = 3 })
    refuses("log_joint must return a number or a tensor of one element, got nil", { log_joint = function () end })
    refuses("log_joint must return a number or a tensor of one element, got a tensor of shape (3)",
            { log_joint = function (t) return t.x * peri.ones(3) end })
    refuses("log_joint is -inf where the fit starts, at x = 0",
            { log_joint = function (t) return peri.log(t.x) end })
    local ok, why = pcall(peri.vi.fit, with(conjugate, { params = { x = constraints.boolean } }))
    assert.is_false(ok)
    assert.truthy(why:find("vi: params.x: biject_to: there is no transform to boolean", 1, true))
    local fit = peri.vi.new(conjugate)
    fails("vi: step takes a positive integer, got 0", fit.step, fit, 0)
    fails("vi: evaluate takes a positive integer, got nil", fit.evaluate, fit)
    local r = fit:result()
    fails("vi: sample takes a positive integer, got -1", r.sample, r, -1)
  end)

  it("knows the entropy of its guides", function ()
    for _, guide in ipairs { "meanfield", "fullrank" } do   -- a flat target: nothing but entropy
      local fit = peri.vi.new { log_joint = function () return 0 end, params = { x = 3 }, guide = guide }
      local mean, standard_error = fit:evaluate(5000)
      close(3 * (0.5 * (1 + LOG_2PI) + math.log(0.1)), mean, 4 * standard_error)
      close(math.sqrt(1.5 / 5000), standard_error, 1e-3)
    end
  end)
end)
