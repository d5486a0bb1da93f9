--- posed:nuts {} and posed:hmc {}: right, paused and restored to the same bits, and honest.
local peri       = require "perilune"
local posteriors = require "spec.support.posteriors"
local progress   = require "perilune.inference.progress"
local refusal_of = require "spec.support.refusal"
local verdict    = require "perilune.inference.verdict"

local Flat, Normal = peri.Flat, peri.Normal

local QUICK = { ["eight_schools-eight_schools_noncentered"] = true, ["kidiq-kidscore_momiq"] = true,
                ["garch-garch11"] = true, ["gp_pois_regr-gp_regr"] = true, ["dogs-dogs"] = true,
                ["low_dim_gauss_mix-low_dim_gauss_mix"] = true, ["mesquite-mesquite"] = true }

describe("draws of real posteriors", function ()
  for _, one in ipairs(posteriors.all()) do
    if QUICK[one.name] then
      it("are those of the reference: " .. one.name, function ()
        local post = one.posed:nuts { seed = 1, draws = 600, warmup = 600 }
        assert.equal("ok", post.verdict)
        assert.is_true(posteriors.standard_errors(post, one.reference) < 4)
      end)
    end
  end
end)

local function schools ()
  return peri.model(function (m, d)
    m.mu    = Normal(0, 5)
    m.tau   = peri.HalfCauchy(5)
    m.theta = Normal(m.mu, m.tau):expand(8)
    m.y     = Normal(m.theta, d.sigma)
  end) { y = { 28, 8, -3, 7, -1, 1, 18, 12 }, sigma = { 15, 10, 16, 11, 9, 11, 10, 18 } }
end

local function funnel ()
  return peri.model(function (m)
    m.v = Normal(0, 3)
    m.x = Flat(9)
    m:factor("x", Normal(0, (m.v / 2):exp()):log_prob(m.x))
  end) {}
end

local SHORT = { seed = 3, draws = 60, warmup = 60 }

local function short (more)
  local options = {}
  for name, value in pairs(SHORT) do options[name] = value end
  for name, value in pairs(more or {}) do options[name] = value end
  return options
end

describe("chains", function ()
  it("are the same whenever they pause, and wherever they are restored", function ()
    local posed = schools()
    local whole = posed:nuts(short())
    local sampling = posed:nuts(short { run = false })
    for _ = 1, 30 do sampling:step(7) end
    local state = sampling:state()
    while not sampling:step { ms = 0.5 } do end
    assert.is_true(sampling:result().u:equal(whole.u))
    local other = posed:nuts(short { run = false })
    assert.is_true(other:restore(state))
    while not other:step(1000) do end
    assert.is_true(other:result().u:equal(whole.u))
  end)

  it("can be restored at any moment, before the first step and after the last", function ()
    local posed = peri.model(function (m) m.x = peri.Normal(0, 1):expand(2) end) {}
    for _, method in ipairs { "nuts", "hmc" } do
      local function start ()
        return posed[method](posed, { seed = 1, chains = 3, warmup = 5, draws = 20, run = false })
      end
      local sampling, done = start(), false
      local whole = start():finish()
      while not done do
        local other = start()
        assert.is_true(other:restore(sampling:state()))
        assert.equal(sampling:step(1), other:step(1))
        sampling, done = other, other:step(1)
      end
      assert.is_true(start():restore(sampling:state()))
      assert.is_true(sampling:result().u:equal(whole.u))
    end
  end)

  it("are the same for any number of threads", function ()
    local alone = schools():nuts(short())
    finally(function () peri.set_threads(1) end)
    for _, n in ipairs { 2, 3 } do
      peri.set_threads(n)
      assert.is_true(schools():nuts(short()).u:equal(alone.u))
    end
  end)

  it("refuse states that are none, or of other chains", function ()
    local sampling = schools():nuts(short { run = false })
    local state = sampling:state()
    local ok, why = sampling:restore(state:sub(1, -2))
    assert.is_nil(ok)
    assert.matches("checksum", why)
    local other = schools():nuts(short { run = false, draws = 61 })
    ok, why = other:restore(state)
    assert.is_nil(ok)
    assert.matches("with these options", why)
    assert.is_nil((sampling:restore(3)))
    assert.is_nil((sampling:restore("hello")))
  end)

  it("survive states whose bytes were changed", function ()
    local packed = require "perilune.packed"
    local sampling = schools():nuts(short { run = false, chains = 1 })
    sampling:step(50)
    local kept = packed.unpack("sampling", sampling:state())
    local random = peri.rng(1)
    for _ = 1, 300 do
      local text = kept.chains[1]
      local at = 1 + math.floor(peri.Uniform(0, 1):sample(nil, random) * 800)
      local byte = math.floor(peri.Uniform(0, 256):sample(nil, random))
      local changed = { chains = { text:sub(1, at - 1) .. string.char(byte) .. text:sub(at + 1) }, draws = kept.draws,
                        stats = kept.stats }
      if sampling:restore(packed.pack("sampling", changed)) then sampling:step(20) end
    end
  end)

  it("say how far they are", function ()
    local sampling = schools():nuts(short { run = false })
    assert.is_false(sampling:step(5))
    assert.matches("fewer than 4 draws", refusal_of(sampling.result, sampling))
    assert.matches("positive integer", refusal_of(sampling.step, sampling, 0))
    assert.matches("ms must be positive", refusal_of(sampling.step, sampling, { ms = -1 }))
    local all = sampling:progress()
    assert.equal(4, #all)
    assert.equal("warm-up", all[4].phase)
    assert.is_true(all[4].done < 5 and all[4].of == 120)
  end)

  it("tell a function of each", function ()
    local last = {}
    local post = funnel():nuts(short { progress = function (info)
      assert.equal("nuts", info.method)
      assert.is_true(info.done >= (last[info.chain] or info).done)
      last[info.chain] = info
    end })
    local divergences = 0
    assert.equal(4, #last)
    for i, info in ipairs(last) do
      assert.same({ i, 120, 120, "sampling", 0 },
                  { info.chain, info.done, info.of, info.phase, info.seconds_left })
      divergences = divergences + info.divergences
    end
    assert.is_true(divergences > 0)
    assert.equal(post.divergences, divergences)
    assert.matches("^nuts: chain 4, sampling, 120 of 120 iterations, %d+ divergences, 0.0 s left$", last[4].text)
    local walked = 0
    schools():random_walk(short { progress = function (info) walked = math.max(walked, info.done) end })
    assert.equal(120, walked)
  end)

  it("are told of on one line", function ()
    local list = progress.of_chains("nuts", 500, 1500, { 1000, 1100, 1500, 2000 }, { 0, 2, 0, 1 }, { 0, 100, 0, 0 },
                                    100)
    assert.equal("nuts: 50 55 75 100 % of 2000 iterations, sampling, 3 divergences, 1 min 40 s left",
                 progress.line(list))
    assert.near(100 / 1500 * 500, list[3].seconds_left, 1e-12)
    local many = {}
    for i = 1, 100 do many[i] = i end
    assert.equal("hmc: 0 to 5 % of 2000 iterations, warm-up, 55 h 31 min left",
                 progress.line(progress.of_chains("hmc", 500, 1500, many, nil, nil, 100)))
  end)

  it("are shown on a terminal, and on nothing else", function ()
    local written, stderr, terminal = {}, io.stderr, package.loaded["perilune.terminal"]
    finally(function ()
      rawset(io, "stderr", stderr)
      package.loaded["perilune.terminal"] = terminal
    end)
    rawset(io, "stderr", { write = function (_, ...) written[#written + 1] = table.concat { ... } end,
                           flush = function () end })
    local function run (is_terminal)
      package.loaded["perilune.terminal"] = { is_terminal = function (fd) return fd == 2 and is_terminal end }
      schools():nuts(short { progress = true })
    end
    run(false)
    assert.same({}, written)
    run(true)
    assert.matches("^\rnuts: 100 100 100 100 %% of 120 iterations, sampling.*, 0%.0 s left\27%[K\n$", written[#written])
  end)

  it("have a dense metric on request", function ()
    local posed = peri.model(function (m, d)
      m.x = Flat(2)
      m:factor("x", peri.MultivariateNormal { loc = d.loc, covariance_matrix = d.s } :log_prob(m.x))
    end) { loc = { 1, 2 }, s = { { 1, 0.99 }, { 0.99, 1 } } }
    local diag, dense = posed:nuts { seed = 1, metric = "diag" }, posed:nuts { seed = 1, metric = "dense" }
    assert.is_true(dense.stats.leapfrogs:mean() < 0.5 * diag.stats.leapfrogs:mean())
    assert.near(0.99, dense:covariance()[1][2], 0.12)
    assert.near(1, dense.mean.x[1], 0.15)
  end)
end)

describe("verdicts on chains", function ()
  it("see modes that chains do not leave", function ()
    local post = peri.model(function (m)
      m.x = Flat()
      m:factor("x", peri.logaddexp(Normal(-20, 1):log_prob(m.x), Normal(20, 1):log_prob(m.x)))
    end) {} :nuts { seed = 2, chains = 8, draws = 200, warmup = 200 }
    assert.equal("bad", post.verdict)
    assert.matches("R%-hat of x", table.concat(post.reasons))
  end)

  it("see funnels", function ()
    local post = funnel():nuts { seed = 1, draws = 500, warmup = 500 }
    assert.not_equal("ok", post.verdict)
  end)

  -- Nothing of too few draws is known, and what is not known is not ok.
  it("are not ok on a few draws", function ()
    local posed = peri.model(function (m) m.x = Normal(0, 1) end) {}
    for seed = 1, 40 do
      local post = posed:nuts { seed = seed, draws = 5, warmup = 50 }
      assert.equal("bad", post.verdict)
      assert.matches("few independent draws: 0 of 20 for x", table.concat(post.reasons))
    end
    for draws = 1, 3 do
      assert.matches("draws must be an integer from 4, got " .. draws, refusal_of(posed.nuts, posed, { draws = draws }))
      assert.matches("integer from 4", refusal_of(posed.random_walk, posed, { draws = draws }))
    end
  end)

  it("see chains that stand still", function ()
    local posed = peri.model(function (m) m.x = Normal(0, 1) end) {}
    local post = posed:nuts { seed = 1, target = 1e-9 }
    assert.equal("bad", post.verdict)
    assert.equal("1.45e+15", verdict.rhat_text(1.4523e15))
    local spike = peri.model(function (m)
      m.x = Normal(0, 1)
      m:factor("f", peri.where(m.x:eq(0), m.x * 0, -math.huge))
    end) {}
    local alone = spike:nuts { seed = 1, chains = 1, warmup = 100, draws = 100 }
    assert.equal("bad", alone.verdict)
    assert.matches("no chain moves", table.concat(alone.reasons))
    assert.matches("1 chain of 100 draws", alone.how)
  end)

  it("leave out what never changes", function ()
    local post = peri.model(function (m) m.l = peri.LKJCholesky(3, 2) end) {} :nuts { seed = 1 }
    assert.equal("ok", post.verdict)
    assert.is_true(post.findings.ess_bulk > 400)
  end)

  it("see standard deviations that are those of a far tail", function ()
    local inverse = peri.model(function (m) m.x = peri.InverseGamma(2.05, 1) end) {}   -- its sd is 4.3
    local light = peri.model(function (m) m.x = peri.Normal(0, 1):expand(20) end) {}
    for _, method in ipairs { "nuts", "random_walk" } do
      local post = inverse[method](inverse, { seed = 1 })
      assert.is_true(post.sd.x < 3)
      assert.equal("doubtful", post.verdict)
      assert.matches("^the sd of x rests on a few draws %(tail shape 1%.", post.reasons[1])
      assert.equal("ok", light[method](light, { seed = 1 }).verdict)
    end
  end)

  it("see draws that are not finite", function ()
    local post = peri.model(function (m)      -- the density goes on where x = exp(u) is infinite
      m.x = Flat(peri.constraints.positive)
      m.z = Normal(0, 1)
      m:factor("f", -1 * peri.minimum(m.x, 1e300):log() + m.z * 0)
    end) {} :nuts { seed = 1, init = { x = 1e308 }, noncentred = false, draws = 100, warmup = 100 }
    assert.equal("bad", post.verdict)
    assert.matches("draws of x are not finite", table.concat(post.reasons))
    assert.matches("\nx +inf", tostring(post))
    assert.matches("no finite numbers", tostring(post:plot "x"))
  end)

  it("are bad or refused for densities that no chain can draw from", function ()
    local function judged (body) return peri.model(body) {} :nuts { seed = 1, draws = 300, warmup = 300 } .verdict end
    assert.equal("bad", judged(function (m) m.x = Flat(); m:factor("f", m.x) end))
    assert.equal("bad", judged(function (m) m.x = Normal(0, 1); m:factor("f", -2 * m.x:abs():log()) end))
    assert.equal("bad", judged(function (m)
      m.x = Normal(0, 1)
      m:factor("hole", peri.where(m.x:abs():lt(1), -math.huge, 0 * m.x))
    end))
    assert.not_equal("ok", judged(function (m) m.x = Normal(0, 1); m.y = Normal(m.x ^ 2, 0.05) end))   -- a banana
    local function refused (body, data)
      local posed = peri.model(body) (data or {})
      return refusal_of(posed.nuts, posed, { seed = 1 })
    end
    assert.matches("does not depend on x", refused(function (m) m.x = Flat(); m.y = Normal(0, 1) end, { y = 1 }))
    assert.matches("x lies in an interval without width", refused(function (m) m.x = peri.Delta(3) end))
    assert.matches("y is nan in the data", refused(function (m) m.x = Normal(0, 1); m.y = Normal(m.x, 1) end,
                                                   { y = { 1, 0 / 0 } }))
  end)

  it("ask for more than one chain", function ()
    local post = schools():nuts { seed = 1, chains = 1, draws = 500, warmup = 500 }
    assert.matches("one chain", table.concat(post.reasons))
  end)
end)

describe("Hamiltonian Monte Carlo", function ()
  it("draws from a normal", function ()
    local post = peri.model(function (m) m.x = Normal(1, 2):expand(3) end) {} :hmc { seed = 1, steps = 7 }
    assert.is_true((post.mean.x - 1):abs():max() < 0.2)
    assert.is_true((post.sd.x - 2):abs():max() < 0.2)
    assert.is_true(post.stats.leapfrogs:max() <= 7)
  end)
end)

describe("models that cannot be traced", function ()
  it("are refused by chains", function ()
    local posed = peri.model(function (m)
      m.x = Normal(0, 1)
      m.y = Normal(m.x:item() > 0 and m.x or -m.x, 1)
    end) { y = 1 }
    assert.matches("can be traced", refusal_of(posed.nuts, posed, { seed = 1 }))
  end)
end)

describe("plates of which some rows count in a step", function ()
  it("have all their rows in chains and in other ways", function ()
    local y = peri.arange(1, 101) / 10
    local posed = peri.model(function (m)
      m.mu = Normal(0, 10)
      m:plate("rows", 100, 5, function () m.y = Normal(m.mu, 1) end)
    end) { y = y }
    local mean = y:sum() / (100 + 1 / 100)
    for _, method in ipairs { "nuts", "laplace", "map", "pathfinder" } do
      assert.near(mean, posed[method](posed, { seed = 1 }).mean.mu, 0.02)
    end
  end)
end)

describe("an error of a function that is told the progress", function ()
  local function draw (raised)
    return peri.model(function (m) m.x = peri.Normal(0, 1):expand(50) end) {} :nuts { seed = 1, draws = 20000,
      warmup = 100, chains = 2, progress = function (info) if info.done > 200 then error(raised, 0) end end }
  end

  it("ends it early, if it is an interruption", function ()
    local post = draw "interrupted!"
    assert.matches("^interrupted: %d+ draws were made", post.reasons[1])
    assert.near(0, post.mean.x:mean(), 0.2)
  end)

  it("is passed on, if it is another one", function ()
    assert.equal("other", refusal_of(draw, "other"))
    local raised = {}
    assert.is_true(rawequal(raised, select(2, pcall(draw, raised))))
  end)
end)
