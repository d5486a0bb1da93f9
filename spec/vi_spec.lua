local peri = require "perilune"

local constraints, Normal = peri.constraints, peri.Normal

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
    for _, more in ipairs { {}, { steps = 5000 } } do   -- with fixed draws, and with steps
      local r = peri.vi.fit(with(SCHOOLS, { rng = peri.rng(1), guide = "meanfield", steps = more.steps }))
      assert(r.converged or not more.steps)
      close(-31.60, r.elbo_mean, 0.15)   -- log evidence -31.311
      close(4.4, r.mean.mu, 0.3)
      assert.same({ 8 }, r.mean.eta.shape)
    end
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

  it("corrects what a mean-field guide misses, and says so", function ()
    -- In the units of the mode the target is independent. Fixed draws know the axes of the parameters alone.
    local stepped = peri.vi.fit(with(correlated, { guide = "meanfield", steps = 5000, rng = peri.rng(1) }))
    assert.equal("ok", stepped.verdict)
    close(0, stepped.elbo_mean, 0.02)
    local fixed = peri.vi.fit(with({ log_joint = correlated.log_joint, params = correlated.params },
                                   { guide = "meanfield", rng = peri.rng(1) }))
    close(0.5 * math.log(1 - 0.81), fixed.elbo_mean, 4 * fixed.elbo_error)   -- minus the KL of the best guide
    assert.not_equal("ok", fixed.verdict)
    close(1, fixed.mean.x[1], 0.2)
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

  it("knows rows and matrices", function ()
    local counts = peri.tensor { 30, 50, 20 }
    local r = peri.vi.fit {
      log_joint = function (t)
        local l, diagonal = t.lower, peri.LogNormal(0, 0.5)
        return (counts * t.share:log()):sum() + Normal(0, 1):log_prob(t.order):sum() + diagonal:log_prob(l[1][1])
             + Normal(3, 1):log_prob(l[2][1]) + diagonal:log_prob(l[2][2])
      end,
      params = {
        share  = { shape = 3, constraint = constraints.simplex },
        lower  = { shape = { 2, 2 }, constraint = constraints.lower_cholesky },
        order  = { shape = 3, constraint = constraints.ordered_vector, init = { -1, 0, 1 } },
      },
      rng = peri.rng(4), samples = 8,
    }
    for i, share in ipairs { 31 / 103, 51 / 103, 21 / 103 } do close(share, r.mean.share[i], 0.01) end
    close(0, r.mean.lower:at(1, 2), 0)
    close(math.exp(0.125), r.mean.lower:at(1, 1), 0.06)
    close(3, r.mean.lower:at(2, 1), 0.06)
    close(1, r.sd.lower:at(2, 1), 0.06)
    assert(r.mean.order[1] < r.mean.order[2] and r.mean.order[2] < r.mean.order[3])
    local draws = r:sample(50, peri.rng(1))
    assert.same({ 50, 3 }, draws.share.shape)
    assert.same({ 50, 2, 2 }, draws.lower.shape)
    assert.is_nil(constraints.simplex:violation(draws.share))
    assert.is_nil(constraints.lower_cholesky:violation(draws.lower))
    assert.is_nil(constraints.ordered_vector:violation(draws.order))
  end)

  it("gives the same result for the same seed", function ()
    local function run () return peri.vi.fit(with(SCHOOLS, { rng = peri.rng(7), steps = 60 })) end
    local a, b = run(), run()
    assert.same(a.elbo, b.elbo)
    assert.equal(a.mean.tau, b.mean.tau)
    assert.is_false(a.converged)
  end)

  it("draws from the generator of the state unless told", function ()
    local function elbo (seed)
      peri.seed(seed)
      return (peri.vi.new(SCHOOLS):step())
    end
    assert.equal(elbo(5), elbo(5))
    assert.not_equal(elbo(5), elbo(6))
  end)

  it("names what the density does not depend on", function ()
    fails("model: the log density does not depend on x", peri.vi.fit,
          { log_joint = function () return 0 end, params = { x = 3 }, rng = peri.rng(1) })
    local r = peri.vi.fit { log_joint = function (t) return Normal(0, 1):log_prob(t.x) end, params = { x = {}, y = 2 },
                            rng = peri.rng(1) }
    assert.equal("bad", r.verdict)
    assert.truthy(r.reasons[1]:find("does not depend on y[1]", 1, true))
  end)

  it("can be driven by its host", function ()
    local seen = {}
    local function on_step (step, elbo) seen[step] = elbo end
    local fit = peri.vi.new(with(SCHOOLS, { rng = peri.rng(7), on_step = on_step }))
    local one, converged = fit:step()
    assert.equal(seen[1], one)
    assert.is_false(converged)
    local mean = fit:step(3)
    close((seen[2] + seen[3] + seen[4]) / 3, mean, 1e-12)
    local before = fit:result()
    local kept = before.mean.mu
    fit:step(20)
    assert.equal(kept, before.mean.mu)
    assert.not_equal(kept, fit:result().mean.mu)
    local whole = peri.vi.fit(with(SCHOOLS, { rng = peri.rng(7), steps = 24 }))
    assert.equal(whole.mean.mu, fit:result().mean.mu)
    assert.equal(24, whole.steps)
  end)

  it("takes the same steps traced and untraced", function ()
    for _, guide in ipairs { "meanfield", "fullrank" } do
      local traced  = peri.vi.new(with(SCHOOLS, { rng = peri.rng(7), guide = guide }))
      local plain = peri.vi.new(with(SCHOOLS, { rng = peri.rng(7), guide = guide, trace = false }))
      for _ = 1, 5 do close((plain:step()), (traced:step()), 1e-9) end
      assert.is_nil(plain.objective.density.trace)
      assert.is_truthy(traced.objective.density.trace)
    end
  end)

  it("asks log_joint at every step where it is not traced", function ()
    local shift = 0
    local fit = peri.vi.new { log_joint = function (t) return Normal(shift, 1):log_prob(t.x) end, params = { x = {} },
                              trace = false, rng = peri.rng(1) }
    fit:step(10)
    shift = 3
    fit:step(400)
    close(3, fit:result().mean.x, 0.2)
  end)

  it("says why it cannot be traced", function ()
    local heard, global = {}, warn
    _G.warn = function (...) heard[#heard + 1] = table.concat { ... } end
    local ok, r = pcall(peri.vi.fit, {
      params = { x = {} }, rng = peri.rng(1), starts = 1,
      log_joint = function (t) return Normal(0, peri.item(t.x) > 0 and 1 or 1):log_prob(t.x) end,
    })
    _G.warn = global
    assert(ok, r)
    assert.equal(1, #heard)
    assert.truthy(heard[1]:find "runs in Lua at every step: .*Tensor:item: not within trace")
    close(0, r.mean.x, 0.1)
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

  -- What a fit writes to standard error, which is a terminal or is not.
  local function written_with (is_terminal)
    local written, stderr, terminal = {}, io.stderr, package.loaded["perilune.terminal"]
    rawset(io, "stderr", { write = function (_, ...) written[#written + 1] = table.concat { ... } end,
                           flush = function () end })
    package.loaded["perilune.terminal"] = { is_terminal = function (fd) return fd == 2 and is_terminal end }
    local ok, why = pcall(peri.vi.fit, with(SCHOOLS, { steps = 120, progress = true, rng = peri.rng(1) }))
    rawset(io, "stderr", stderr)
    package.loaded["perilune.terminal"] = terminal
    assert(ok, why)
    return written
  end

  it("shows its progress on one line of a terminal, and nowhere else", function ()
    assert.same({}, written_with(false))
    local written = written_with(true)
    assert.equal(3, #written)
    assert.truthy(written[2]:find("^\rvi: step 100, stage 1 of 3, ELBO %-%d+%.%d+\27%[K$"))
    assert.truthy(written[3]:find("^\r%a+: .*\n$"))
  end)

  it("prints a table", function ()
    local r = peri.vi.fit {
      log_joint = function (t) return Normal(0, 1):log_prob(t.a):sum() + Normal(0, 1):log_prob(t.b) end,
      params = { a = { 2, 2 }, b = {} }, rng = peri.rng(1),
    }
    local lines = {}
    for line in tostring(r):gmatch("[^\n]+") do lines[#lines + 1] = line end
    assert.equal(7, #lines)
    assert.truthy(lines[1]:find("^ok: full%-rank Gaussian, k%-hat %-?[%d.]+, %d+ %% of 4000 draws count, ELBO"))
    assert.truthy(lines[2]:find("^name +mean +sd +5 %% +50 %% +95 %%$"))
    assert.truthy(lines[5]:find("^a%[2, 1%] +%-?%d"))
    assert.truthy(lines[7]:find("^b +%-?%d"))
    local long = peri.vi.fit { log_joint = function (t) return Normal(0, 1):log_prob(t.a):sum() end,
                               params = { a = 100 }, steps = 1, rng = peri.rng(1) }
    assert.truthy(tostring(long):find("%.%.%. 94 more of a$"))
  end)

  it("names the parameter because of which the ELBO is not finite", function ()
    -- log(1 - b) ends at b = 1
    local fit = peri.vi.new {
      log_joint = function (t) return Normal(0, 1):log_prob(t.a) + peri.log(1 - t.b) - 2 * t.b ^ 2 end,
      params = { a = {}, b = { init = 0.9 } }, rng = peri.rng(1), samples = 100,
    }
    local ok, why = pcall(fit.step, fit, 100)
    assert.is_false(ok)
    assert.truthy(why:find(": vi: the log density is nan at a draw of the guide, because of b = 1%.%d+$"), why)
    -- the root of 0 has a value, but no slope
    fit = peri.vi.new {
      log_joint = function (t) return Normal(0, 1):log_prob(t.a) - peri.sqrt(0 * t.b) end, params = { a = {}, b = {} },
      rng = peri.rng(1),
    }
    ok, why = pcall(fit.step, fit)
    assert.is_false(ok)
    assert.truthy(why:find ": model: the gradient of the log density by b is %-?%a+ where the fit starts, .*, b = ")
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
    refuses('guide must be "meanfield", "lowrank", "fullrank", "flow" or a function (g, d), got the string "full"',
            { guide = "full" })
    refuses("params.factor: a parameter must have another name", { params = { factor = {} } })
    refuses("steps must be a positive integer, got 0", { steps = 0 })
    refuses("samples must be a positive integer, got 1.5", { samples = 1.5 })
    refuses("lr must be positive, got -1", { lr = -1 })
    refuses("rng must be a generator (see peri.rng), got 1", { rng = 1 })
    refuses('optimiser must be the name of an optimiser that steps without a closure, or a function giving one, '
            .. 'got the string "LBFGS"', { optimiser = "LBFGS" })
    refuses("there is no option sample; did you mean samples? There are alpha, comm, guide, init, layers, "
            .. "local_steps, log_joint, lr, noncentred, objective, on_step, optimiser, params, progress, rank, resume, "
            .. "rng, run, samples, save, save_every, seed, starts, steps, tolerance, trace", { sample = 3 })
    refuses("log_joint must return a number or a tensor of one element, got nil", { log_joint = function () end })
    refuses("log_joint must return a number or a tensor of one element, got a tensor of shape (3)",
            { log_joint = function (t) return t.x * peri.ones(3) end })
    fails("model: the log density of log_joint is -inf where the fit starts, and not finite near by: at x = 0; check "
          .. "the data, or give init", peri.vi.fit,
          with(conjugate, { log_joint = function (t) return t.x * 0 - math.huge end }))
    local ok, why = pcall(peri.vi.fit, with(conjugate, { params = { x = constraints.boolean } }))
    assert.is_false(ok)
    assert.truthy(why:find("model: x is discrete and not observed", 1, true))
    local fit = peri.vi.new(conjugate)
    fails("step takes a positive integer or { ms = }, got 0", fit.step, fit, 0)
    local r = fit:result()
    fails("sample: n must be a positive integer, got -1", r.sample, r, -1)
  end)
end)
