--- Running fits: values and bits of stochastic variational inference.
local peri    = require "perilune"
local Density = require "perilune.model.density"
local Fit     = require "perilune.inference.running"
local families = require "perilune.inference.families"
local packed  = require "perilune.packed"

local Normal = peri.Normal

local function fails (message, fn, ...)
  local ok, why = pcall(fn, ...)
  assert.is_false(ok)
  assert.equal(message, (why:gsub("^[^ ]-:%d+: ", "")))
end

-- The mean of n normals, of which `size` count in a step.
local mean_of_normals = peri.model(function (m, d)
  m.mu = peri.Flat()
  m:plate("rows", d.n, d.size, function () m.y = Normal(m.mu, 1) end)
end)

local SCHOOLS = peri.model(function (m, d)
  m.mu, m.tau = Normal(0, 5), peri.HalfCauchy(5)
  m.theta = Normal(m.mu, m.tau):expand(8)
  m.y = Normal(m.theta, d.sigma)
end) { y = { 28, 8, -3, 7, -1, 1, 18, 12 }, sigma = { 15, 10, 16, 11, 9, 11, 10, 18 } }

-- Rows with known answers: a regression whose predictor lies far from 0, in batches.
local function regression (size)
  local rng = peri.rng(5)
  local x = Normal(100, 15):sample({ 1000 }, rng)
  local y = Normal(20 + 0.6 * x, 18):sample(nil, rng)
  return peri.model(function (m, d)
    m.beta = peri.Flat(2)
    m.sigma = peri.HalfCauchy(2.5)
    m:plate("rows", 1000, size, function () m.y = Normal(m.beta[1] + m.beta[2] * d.x, m.sigma) end)
  end) { x = x, y = y }, x, y
end

describe("a running fit", function ()
  for _, n in ipairs { 100, 10000, 1000000 } do
    it("finds the mean of " .. n .. " normals, with all of them and with batches of 100", function ()
      local y = Normal(5, 1):sample({ n }, peri.rng(n))
      local mean, sd = y:mean(), 1 / math.sqrt(n)
      for _, size in ipairs(n == 1000000 and { 100 } or { n, 100 }) do
        local post = mean_of_normals { y = y, n = n, size = size } :vi { rng = peri.rng(1), steps = 5000 }
        assert.is_true(post.converged)
        assert.equal("ok", post.verdict)
        assert.near(mean, post.mean.mu, 0.05 * sd)
        assert.near(sd, post.sd.mu, 0.05 * sd)
      end
    end)
  end

  it("is right where predictors are badly scaled", function ()
    local posed, x, y = regression(50)
    local x_mean, y_mean = x:mean(), y:mean()
    local slope = ((x - x_mean) * (y - y_mean)):sum() / (x - x_mean):pow(2):sum()
    local sigma = math.sqrt((y - y_mean - slope * (x - x_mean)):pow(2):sum() / 998)
    local sd = sigma / math.sqrt((x - x_mean):pow(2):sum())
    for _, guide in ipairs { "meanfield", "fullrank", "lowrank", "flow" } do
      local post = posed:vi { rng = peri.rng(2), guide = guide }
      assert.equal("ok", post.verdict)
      assert.near(slope, post.mean.beta[2], 0.1 * sd)
      assert.near(sd, post.sd.beta[2], 0.1 * sd)
      assert.near(sigma, post.mean.sigma, 0.1 * sigma / math.sqrt(2000))
    end
  end)

  it("reaches the best guides of eight schools", function ()
    local best = -math.huge
    for _, guide in ipairs { "meanfield", "fullrank", "flow" } do
      local post = SCHOOLS:vi { guide = guide, rng = peri.rng(1), steps = 10000 }
      assert.is_true(post.converged)
      assert.near(4.4, post.mean.mu, 0.4)
      assert.near(3.6, post.mean.tau, 0.4)
      assert(post.elbo_mean > best - 0.1, guide)   -- a larger family is no worse
      best = post.elbo_mean
    end
    assert(best > -31.6 and best < -31.3)   -- log evidence -31.311
  end)

  it("maximises Renyi's bounds", function ()
    -- x ~ N(0, 1), y | x ~ N(x, 1/2): the guide can be the posterior, where all bounds are the evidence
    local posed = peri.model(function (m)
      m.x = Normal(0, 1)
      m.y = Normal(m.x, 0.5)
    end) { y = 2 }
    for _, alpha in ipairs { 0, 0.5, 2 } do
      local fit = posed:vi { objective = "renyi", alpha = alpha, rng = peri.rng(1), run = false }
      fit:run(5000)
      assert.near(Normal(0, math.sqrt(1.25)):log_prob(2), fit:step() or fit.elbo[#fit.elbo], 1e-3)
      local mean, sd = fit.objective.family:moments()
      assert.near(1.6, fit.objective.units:to(mean:reshape(1, 1)):at(1, 1), 0.01)
      assert.near(math.sqrt(0.2), (fit.objective.units.scale:reshape(-1) * sd)[1], 0.01)
    end
  end)

  it("does not call converged what has no end", function ()
    local posed = peri.model(function (m)
      m.x = peri.Flat()
      m:factor("slope", m.x)
    end) {}
    local ok, post = pcall(posed.vi, posed, { rng = peri.rng(1), steps = 2000 })
    assert(not ok or not post.converged and post.verdict ~= "ok")
    local far = peri.model(function (m)   -- exp(-|x|^(1/2)), whose maximum is a cusp
      m.x = peri.Flat()
      m:factor("tail", -(m.x:abs() + 1e-300):log() * 0.5)
    end) {}
    ok, post = pcall(far.vi, far, { rng = peri.rng(1), steps = 3000 })
    assert(not ok or post.verdict ~= "ok")
  end)

  it("does not call ok a guide that misses a part of the posterior", function ()
    local posed = peri.model(function (m)   -- 2 % of the mass lies at 10 sds
      m.x = peri.Flat()
      m:factor("f", peri.logaddexp(Normal(0, 1):log_prob(m.x) + math.log(0.98),
                                   Normal(10, 1):log_prob(m.x) + math.log(0.02)))
    end) {}
    for _, guide in ipairs { "meanfield", "fullrank", "lowrank", "flow" } do
      assert.not_equal("ok", posed:vi { guide = guide, rng = peri.rng(3), steps = 5000 }.verdict)
    end
  end)

  it("is not stopped by one draw far out in a tail", function ()
    local x, calls = peri.param { 0 }, 0
    local objective = {
      params = { x }, lr = 0.05,
      estimate = function (_, rng)
        calls = calls + 1
        x.grad = calls == 30 and peri.tensor { 1e30 } or x:detach() - 3 + Normal(0, 1):sample({ 1 }, rng)
        return 0
      end,
    }
    local fit = Fit.new({ set_up = function () return {} end, make = function () return objective end, tag = "" },
                        { rng = peri.rng(1), tolerance = 0.05 })
    fit:run(20000)
    assert.is_true(fit.converged)   -- with Adam's second moment at 1e57 no step would move it
    assert.near(3, x:detach()[1], 0.1)
  end)

  it("cuts elements of gradients at ten times their root mean square", function ()
    local core = require "perilune.core"
    local x, square = peri.param { 0, 0, 0, 0 }, peri.tensor { 4, 4, 4, 0 }
    local function cut (kept, grad)
      x.grad = grad
      core.cut_grad(x, square, 10, kept)
      return x.grad:totable()
    end
    assert.same({ 1, 20, -20, 1e200 }, cut(1, { 1, 21, -1e200, 1e200 }))
    assert.same({ 4, 4, 4, 0 }, square:totable())
    assert.is_true(core.finite_grad(x))
    assert.same({ -2, 20, 0, 3 }, cut(0.75, { -2, 30, 0, 3 }))
    assert.same({ 4, 103, 3, 2.25 }, square:totable())
    x.grad = nil
    assert.has_error(function () core.cut_grad(x, square, 10, 1) end)
    x.grad = { 1, 2, 3, 4 }
    assert.has_error(function () core.cut_grad(x, peri.zeros(3), 10, 1) end)
  end)

  -- Log weights as functions of the parameters, noise and the density of the guide staying what they are: their slopes,
  -- by differences along a line, count as much as the bound says.
  for _, guide in ipairs { "meanfield", "fullrank", "lowrank", "flow" } do
    for name, alpha in pairs { elbo = 1, renyi = 0.3 } do
      it("has the gradient of its bound, " .. guide .. " and " .. name, function ()
        local n = 5
        local fit = SCHOOLS:vi { rng = peri.rng(1), run = false, guide = guide, rank = 2, objective = name,
                                 alpha = alpha < 1 and alpha or nil, samples = n }
        fit:step(3)
        local objective, rng = fit.objective, peri.rng(4)
        local family, units, theta = objective.family, objective.units, objective.family.theta
        local line, start = Normal(0, 1):sample(theta.shape, rng), theta:detach():clone()
        local e, density = peri.rng(6):normal(n, family.noise_size), Density.new(SCHOOLS, objective.set_up.degrees)
        local function log_weights (h)
          theta:copy(start + h * line)
          local v = family:draw(e):detach()
          theta:copy(start)
          return density:values(units:to(v)) + units.log_det - family:log_prob(v)
        end
        local w, slopes = log_weights(0), (log_weights(1e-5) - log_weights(-1e-5)) / 2e-5
        local s = ((1 - alpha) * w):softmax()
        local counts = alpha == 1 and peri.full({ n }, 1 / n) or alpha * s + (1 - alpha) * s * s
        local bound = alpha == 1 and w:mean() or (((1 - alpha) * w):logsumexp() - math.log(n)) / (1 - alpha)
        for _ = 1, 2 do
          theta.grad = nil
          assert.near(bound, objective:estimate(peri.rng(6)), 1e-9)
          assert.near(-(counts * slopes):sum(), (theta.grad * line):sum(), 1e-6 * (1 + slopes:abs():sum()))
        end
      end)
    end
  end

  it("makes next to no garbage in a step", function ()
    local fit = SCHOOLS:vi { rng = peri.rng(1), run = false, guide = "meanfield" }
    fit:step(20)
    collectgarbage()
    collectgarbage("stop")
    local before = collectgarbage("count")
    fit:step(20)
    local made = 1024 * (collectgarbage("count") - before) / 20
    collectgarbage("restart")
    assert(made < 600, made)
  end)

  it("says that it has not converged", function ()
    local post = SCHOOLS:vi { rng = peri.rng(1), steps = 10 }
    assert.is_false(post.converged)
    assert.equal(10, post.steps)
    assert.not_equal("ok", post.verdict)
    assert.truthy(table.concat(post.reasons):find "not converged")
  end)

  it("names the site because of which the density is not finite", function ()
    local posed = peri.model(function (m)
      m.a = Normal(0, 1)
      m.b = peri.Flat()
      m:factor("end", -100 * m.b * m.b + (0.1 - m.b):log())   -- ends at b = 0.1
    end) {}
    local fit = posed:vi { rng = peri.rng(1), run = false, samples = 200 }
    local ok, why = pcall(fit.step, fit, 200)
    assert.is_false(ok)
    assert.truthy(why:find("vi: the log density is nan at a draw of the guide, because of b = 0%.%d+$"))
  end)

  it("names all sites where no single one is to blame, and the one whose gradient is not finite", function ()
    local function refusal (body)
      local fit = peri.model(body) {} :vi { rng = peri.rng(1), run = false, samples = 200 }
      return select(2, pcall(fit.step, fit, 100))
    end
    assert.matches("vi: the log density is nan at a draw of the guide, because of a = %-?%d[%d.]*, b = %-?%d[%d.]*$",
                   refusal(function (m)
                     m.a = Normal(0, 1)
                     m.b = Normal(0, 1)
                     m:factor("end", (2.5 - m.a * m.b):log())
                   end))
    assert.matches("vi: the gradient of the log density is nan at a draw of the guide, because of b = %-?%d[%d.]*$",
                   refusal(function (m)
                     m.a = Normal(0, 1)
                     m.b = Normal(0, 1)
                     m:factor("root", -peri.sqrt(peri.maximum(m.b - 3, 0)))   -- 0 times an infinite slope
                   end))
  end)
end)


describe("batches of rows", function ()
  local function gradient (density, u) return select(2, density:at(u)) end

  it("have on average over an epoch the gradient of all rows", function ()
    local posed = regression(50)
    posed:sites()
    local u = peri.tensor { 15, 0.7, 2.5 }
    local batched, all = Density.new(posed, nil, { batched = true }), Density.new(posed)
    local rng, sum, values = peri.rng(3), peri.zeros(3), 0
    for _ = 1, 20 do
      batched:next_batch(rng)
      local value, g = batched:at(u)
      sum, values = sum + g, values + value
    end
    local value, whole = all:at(u)
    assert(peri.allclose(whole, sum / 20, 1e-10))
    assert.near(value, values / 20, 1e-9 * math.abs(value))
  end)

  it("reach data that a body reads or indexes by itself, and what it makes of them", function ()
    local y, group = peri.arange(1, 13) * 1.5, peri.tensor { 1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3 }
    local bodies = {
      function (m, d) m.y = Normal(m.alpha[d.group], 2) end,
      function (m, d, i) m.y = Normal(m.alpha[group[i]], 2) return d end,
      function (m, d, i) m:factor("y", Normal(m.alpha[d.group], 2):log_prob(y[i]):sum()) end,
      function (m, d) m:factor("y", Normal(m.alpha[d.group] / 3, 2 / 3):log_prob(d.y / 3):sum() - 3 * math.log(3)) end,
    }
    local u = peri.tensor { 1, -1, 0.5 }
    for k, body in ipairs(bodies) do
      local posed = peri.model(function (m, d)
        m.alpha = Normal(0, 1):expand(3)
        m:plate("rows", 12, 3, function (i) body(m, d, i) end)
      end) { y = y, group = group }
      posed:sites()
      local batched, all = Density.new(posed, nil, { batched = true }), Density.new(posed)
      local rng, sum = peri.rng(k), peri.zeros(3)
      for _ = 1, 4 do
        batched:next_batch(rng)
        assert.is_truthy(batched:at(u))
        sum = sum + gradient(batched, u)
      end
      assert.is_truthy(batched.trace)
      assert(peri.allclose(gradient(all, u), sum / 4, 1e-12), "body " .. k)
    end
  end)

  it("count all rows in every other way to a posterior", function ()
    local posed, x, y = regression(10)
    posed:sites()
    local all = peri.model(function (m, d)
      m.beta = peri.Flat(2)
      m.sigma = peri.HalfCauchy(2.5)
      m.y = Normal(m.beta[1] + m.beta[2] * d.x, m.sigma)
    end) { x = x, y = y }
    all:sites()
    local u = peri.tensor { 15, 0.7, 2.5 }
    assert.near((Density.new(all):at(u)), (Density.new(posed):at(u)), 1e-9)
  end)

  it("leave the gradient unbiased where the control variate is used", function ()
    local posed = regression(50)
    local fit = posed:vi { rng = peri.rng(1), run = false, samples = 2, guide = "meanfield" }
    fit:step()
    local objective = fit.objective
    assert.is_truthy(objective.anchor)
    local all = Density.new(posed, objective.set_up.degrees)
    local units = objective.units
    local v = Normal(0, 1):sample({ 2, 3 }, peri.rng(9))
    local function estimate ()   -- with the draws of one generator
      local family = objective.family
      local theta, draw = family.theta, family.draw
      theta.grad = nil
      family.draw = function () return v + theta:narrow(1, 1, 3) end
      objective:estimate(peri.rng(4))
      family.draw = draw
      return theta.grad:narrow(1, 1, 3):clone()
    end
    objective.density.next_batch = function () end
    local sum = peri.zeros(3)
    local rng = peri.rng(8)
    for _, batch in ipairs(objective.density.plates) do batch.used = batch.n end
    for _ = 1, 20 do
      Density.next_batch(objective.density, rng)
      sum = sum + estimate()
    end
    objective.anchor, objective.density = nil, all
    all.next_batch = objective.density.next_batch
    local whole = estimate()
    assert(peri.allclose(whole, sum / 20, 1e-8, 1e-8))
    assert.is_truthy(units)
  end)
end)


describe("families of guides", function ()
  -- Each against the density of its draws found otherwise: log q(v) = log N(e) - log |dv/de|.
  for _, name in ipairs { "meanfield", "fullrank", "flow" } do
    it("know the density of draws, and its slope: " .. name, function ()
      local family = families[name](3, { rank = 2 }, peri.rng(1))
      local theta = family.theta
      theta:copy(theta:detach() + Normal(0, 0.3):sample(theta.shape, peri.rng(2)))
      local e = Normal(0, 1):sample({ 1, 3 }, peri.rng(3))
      local v = peri.param(family:draw(e):detach())
      local log_q = family:log_prob(v)
      log_q:sum():backward()
      assert.is_nil(theta.grad)
      local rows = {}
      for j = 1, 3 do   -- dv/de by differences
        local h = peri.zeros(1, 3)
        h[1]:narrow(1, j, 1):copy(1e-5)
        rows[j] = ((family:draw(e + h) - family:draw(e - h)):detach() / 2e-5):reshape(3)
      end
      local jacobian = peri.stack(rows)
      local expected = Normal(0, 1):log_prob(e):sum() - (jacobian:matmul(jacobian:transpose())):logdet() / 2
      assert.near(expected, peri.item(log_q), 1e-7)
      -- d log q/dv = J^-1 d log q/de
      local by_noise = {}
      for j = 1, 3 do
        local h = peri.zeros(1, 3)
        h[1]:narrow(1, j, 1):copy(1e-5)
        local function at (x) return peri.item(family:log_prob(family:draw(x):detach())) end
        by_noise[j] = (at(e + h) - at(e - h)) / 2e-5
      end
      local back = jacobian:matmul(v.grad:reshape(3, 1)):reshape(3)
      for j = 1, 3 do assert.near(by_noise[j], back[j], 1e-5) end
    end)
  end

  it("have a low rank where that is said", function ()
    local family = families.lowrank(5, { rank = 2 }, peri.rng(1))
    local columns = Normal(0, 1):sample({ 5, 2 }, peri.rng(2))
    family.theta:copy(peri.cat { peri.tensor { 1, 2, 3, 4, 5 }, peri.tensor { 0.1, -0.3, 0.5, 0, 0.2 },
                                 columns:reshape(-1) })
    local v = peri.param(Normal(0, 2):sample({ 4, 5 }, peri.rng(3)))
    local log_q = family:log_prob(v)
    log_q:sum():backward()
    local m, factor = family:factor()
    local law = peri.MultivariateNormal { loc = m, scale_tril = factor }
    local leaf = peri.param(v:detach())
    local expected = law:log_prob(leaf)
    expected:sum():backward()
    assert(peri.allclose(expected:detach(), log_q:detach(), 1e-12))
    assert(peri.allclose(leaf.grad, v.grad, 1e-10))
    local many = family:draw(Normal(0, 1):sample({ 100000, 7 }, peri.rng(4))):detach()
    local from = many - many:mean(1)
    local covariance = from:transpose():matmul(from) / 100000
    assert(peri.allclose(factor:matmul(factor:transpose()), covariance, 0.05, 0.03))
    assert(peri.allclose(select(2, family:moments()), many:std(1), 0.02))
  end)
end)


describe("a fit that its host drives", function ()
  local function schools (more)
    local options = { rng = peri.rng(7), run = false, guide = "meanfield" }
    for name, value in pairs(more or {}) do options[name] = value end
    return SCHOOLS:vi(options)
  end

  it("takes as many steps as it is told", function ()
    local fit, seen = schools(), {}
    fit.options.on_step = function (step, elbo) seen[step] = elbo end
    local one, converged = fit:step()
    assert.equal(seen[1], one)
    assert.is_false(converged)
    local mean = fit:step(3)
    assert.near((seen[2] + seen[3] + seen[4]) / 3, mean, 1e-12)
    assert.equal(4, fit.steps)
    local whole = schools()
    whole:step(4)
    assert.same(whole.objective.params[1]:detach():totable(), fit.objective.params[1]:detach():totable())
    fit:step(1000000)
    assert.is_true(fit.converged)
    local steps = fit.steps
    assert.is_nil((fit:step(10)))
    assert.equal(steps, fit.steps)
    assert.truthy(tostring(fit):find "^fit: %d+ steps, converged, ELBO %-31")
  end)

  it("stops when on_step says so", function ()
    local fit = schools { on_step = function (step) return step < 5 end }
    fit:step(100)
    assert.equal(5, fit.steps)
  end)

  it("sets itself up in slices, to the same bits", function ()
    local sliced, whole = schools(), schools()
    local slices = 0
    while not sliced.objective do
      local elbo = sliced:step { ms = 1e-6 }
      assert.equal(sliced.objective == nil, elbo == nil)
      slices = slices + 1
    end
    assert(slices > 20)
    sliced:step(30 - sliced.steps)
    whole:step(30)
    for i, param in ipairs(whole.objective.params) do
      assert.same(param:detach():totable(), sliced.objective.params[i]:detach():totable())
    end
  end)

  it("names the caller's line for errors of a sliced set-up", function ()
    local fit = peri.model(function (m)
      m.x = peri.Flat()
      m:factor("nowhere", m.x * 0 - math.huge)
    end) {} :vi { rng = peri.rng(1), run = false }
    local ok, why
    for _ = 1, 10000 do
      ok, why = pcall(function () fit:step { ms = 1e-6 } return 1 end)
      if not ok then break end
    end
    assert.is_false(ok)
    assert.truthy(why:find "^[^:]*running_spec.lua:%d+: model: the log density of nowhere is %-inf where the fit ")
  end)

  it("passes on errors of a body in a sliced set-up as they are", function ()
    local raised, runs = {}, 0
    local fit = peri.model(function (m)
      m.x = Normal(0, 1)
      runs = runs + 1
      if runs > 1 then error(raised) end
    end) {} :vi { rng = peri.rng(1), run = false }
    local ok, why
    for _ = 1, 1000 do
      ok, why = pcall(fit.step, fit, { ms = 1e-6 })
      if not ok then break end
    end
    assert.is_true(rawequal(raised, why))
  end)

  it("goes on from its state to the same bits", function ()
    local posed = regression(50)
    for _, guide in ipairs { "meanfield", "fullrank", "lowrank", "flow" } do
      for _, steps in ipairs { 7, 457 } do
        local function new (seed) return posed:vi { rng = peri.rng(seed), run = false, guide = guide } end
        local fit = new(1)
        fit:step(steps)
        local state = fit:state()
        fit:step(111)
        local other = new(2)
        if steps == 7 then other:step(3) end
        assert.is_true(other:restore(state))
        assert.equal(steps, other.steps)
        other:step(111)
        assert.equal(fit:state(), other:state())
        assert.equal(fit:result().mean.sigma, other:result().mean.sigma)
      end
    end
  end)

  for name in pairs(peri.optim) do
    if name:find "^%u" and name ~= "LBFGS" then
      it("goes on to the same bits with " .. name, function ()
        local first, second = schools { optimiser = name }, schools { optimiser = name }
        first:step(30)
        assert.equal(name, first.optimiser.name)
        second:restore(first:state())
        first:step(30)
        second:step(30)
        assert.equal(first:state(), second:state())
      end)
    end
  end

  it("is one of a guide function, too", function ()
    local posed = peri.model(function (m)
      m.mu = Normal(0, 5)
      m.y = Normal(m.mu, 1)
    end) { y = { 1, 2, 3, 4 } }
    local function new (seed)
      return posed:vi {
        rng = peri.rng(seed), run = false,
        guide = function (g) g.mu = Normal(g:param("loc", 0), g:param("scale", 1, peri.constraints.positive)) end,
      }
    end
    local fit, other = new(1), new(2)
    fit:step(60)
    assert.is_true(other:restore(fit:state()))
    fit:step(50)
    other:step { ms = 1e-6 }
    other:step(50 + 60 - other.steps)
    assert.equal(fit:state(), other:state())
    fit:run(20000)
    assert.is_true(fit.converged)
    local post = fit:result()
    assert.equal("ok", post.verdict)
    assert.near(10 / 4.04, post.params.loc, 0.05 * 4.04 ^ -0.5)
    assert.near(4.04 ^ -0.5, post.params.scale, 0.05 * 4.04 ^ -0.5)
    fails("vi: rank is of no use with a guide function", posed.vi, posed, { guide = print, rank = 2 })
  end)

  it("begins again a set-up that was saved half done", function ()
    local fit, whole = schools(), schools()
    for _ = 1, 5 do fit:step { ms = 1e-6 } end
    assert.is_nil(fit.objective)
    local state = fit:state()
    local other = schools { rng = peri.rng(99) }
    assert.is_true(other:restore(state))
    other:step(20)
    whole:step(20)
    assert.equal(whole:state(), other:state())
  end)

  it("refuses states that are not its own", function ()
    local fit = schools()
    fit:step(3)
    local state = fit:state()
    local function refused (s, why)
      local ok, message = fit:restore(s)
      assert.is_nil(ok)
      assert.truthy(message:find(why, 1, true), message)
    end
    refused(nil, "not a string")
    refused("", "not a saved")
    refused(state:sub(1, -2), "damaged")
    for _, at in ipairs { 20, 100, math.floor(#state / 2), #state - 3 } do
      refused(state:sub(1, at - 1) .. string.char((state:byte(at) + 128) % 256) .. state:sub(at + 1), "damaged")
    end
    refused(state:sub(1, 13) .. "\9" .. state:sub(15), "another version")
    local other = regression(50):vi { rng = peri.rng(1), run = false }
    other:step()
    refused(other:state(), "another model")
    for _, name in ipairs { "values", "objective" } do   -- sound bytes, of another fit
      local kept = packed.unpack("perilune fit", state)
      kept[name] = packed.unpack("perilune fit", other:state())[name]
      refused(packed.pack("perilune fit", kept), "another model")
    end
    assert.is_true(fit:restore(state))
    assert.equal(state, fit:state())
  end)

  it("does not change when it is looked at", function ()
    local fit, other = schools(), schools()
    fit:step(20)
    other:step(20)
    local post = fit:result()
    local mean = post.mean.mu
    assert.equal(mean, fit:result().mean.mu)
    fit:step(30)
    other:step(30)
    assert.equal(other:state(), fit:state())
    assert.equal(mean, post.mean.mu)
  end)

  it("is where it was after an error while it was looked at", function ()
    local fit = schools()
    fit:step(450)
    local before, posterior = fit:state(), fit.objective.posterior
    fit.objective.posterior = function () error("interrupted", 0) end
    assert.is_false(pcall(fit.result, fit))
    fit.objective.posterior = posterior
    assert.equal(before, fit:state())
    local drift = fit.objective.drift
    fit.objective.drift = function (objective)
      for _, param in ipairs(objective.params) do param:copy(7) end
      error("interrupted", 0)
    end
    assert.is_false(pcall(fit.step, fit, 1000))
    fit.objective.drift = drift
    fit:state()
    for _, param in ipairs(fit.objective.params) do assert(param:detach():max() < 7) end
  end)

  it("starts anew when data have changed", function ()
    local y = peri.zeros(50) + 1
    local posed = peri.model(function (m, d)
      m.mu = Normal(0, 10)
      m.y = Normal(m.mu, 1):expand(50)
      return d
    end) { y = y }
    local fit = posed:vi { rng = peri.rng(1), run = false }
    fit:run(10000)
    assert.is_true(fit.converged)
    y:copy(3)
    assert.equal(fit, fit:restart())
    assert.is_false(fit.converged)
    fit:run(20000)
    assert.is_true(fit.converged)
    assert.near(3, fit:result().mean.mu, 0.02)
  end)

  it("has no end without a tolerance, and follows its data", function ()
    local y = peri.zeros(50) + 1
    local posed = peri.model(function (m)
      m.mu = Normal(0, 10)
      m.y = Normal(m.mu, 1):expand(50)
    end) { y = y }
    local fit = posed:vi { rng = peri.rng(1), run = false, tolerance = false }
    fit:step(3000)
    assert.is_false(fit.converged)
    y:copy(2)
    fit:step(3000)
    assert.near(2, fit:result().mean.mu, 0.05)
    fails("vi: a fit without tolerance has no end; give steps, or run = false", posed.vi, posed, { tolerance = false })
  end)

  it("keeps a bounded number of windows", function ()
    local param = peri.param { 1, 2 }
    local objective = {
      params = { param }, lr = 0.01, state = function () return {} end, restore = function () return true end,
      estimate = function (_, rng)
        param.grad = Normal(0, 1):sample({ 2 }, rng)
        return 1
      end,
    }
    local fit = Fit.new({ set_up = function () return {} end, make = function () return objective end, tag = "" },
                        { rng = peri.rng(1), tolerance = 1e-9 })
    local function memory ()
      collectgarbage()
      collectgarbage()
      return collectgarbage "count"
    end
    fit:step(40000)
    local before, length = memory(), #fit:state()
    fit:step(60000)
    assert(memory() < before + 4, memory() .. " KB after " .. before)
    assert(#fit.elbo < 256 and #fit.elbo >= 128)
    assert.equal(100000, fit.steps)
    assert(#fit.elbo * fit.elbo_window <= 100000)
    assert(#fit:state() < 2 * length)
  end)

  it("tells its progress to a function", function ()
    local lines = {}
    local fit = schools { progress = function (info) lines[#lines + 1] = info.text end }
    fit:step(120)
    assert.truthy(lines[#lines]:find "^vi: step 100, stage 1 of 3, ELBO %-%d")
  end)

  it("draws from a generator that follows peri.seed, unless told", function ()
    local function state ()
      peri.seed(5)
      local fit = SCHOOLS:vi { run = false }
      fit:step(3)
      return fit:state()
    end
    assert.equal(state(), state())
  end)

  it("refuses what makes no sense", function ()
    local fit = schools()
    fails("step takes a positive integer or { ms = }, got 0", fit.step, fit, 0)
    fails("step: ms must be positive, got nil", fit.step, fit, {})
    fails("step: there is no option s; did you mean ms? There are ms", fit.step, fit, { s = 1 })
    fails('vi: guide must be "meanfield", "lowrank", "fullrank", "flow" or a function (g, d), got the string "full"',
          SCHOOLS.vi, SCHOOLS, { guide = "full" })
    fails('vi: objective must be "elbo" or "renyi", got the string "iwae"', SCHOOLS.vi, SCHOOLS,
          { objective = "iwae" })
    fails("vi: tolerance must be positive, or false, got 0", SCHOOLS.vi, SCHOOLS, { tolerance = 0 })
    fails("vi: rank must be a positive integer, got 1.5", SCHOOLS.vi, SCHOOLS, { rank = 1.5 })
  end)
end)


describe("packed values", function ()
  it("come back as they were", function ()
    local value = {
      1, 2.5, "three\0", true, false, -0.0, math.huge, math.mininteger, [-3] = "x",
      t = peri.tensor { { 1, 2, 3 }, { 4, 5, 6 } }, e = peri.zeros(0), s = peri.tensor(0.1), deep = { { {} } },
    }
    local text = packed.pack("thing", value)
    local back = packed.unpack("thing", text)
    assert.equal(text, packed.pack("thing", back))
    assert.equal("integer", math.type(back[1]))
    assert.same({ 2, 3 }, back.t.shape)
    assert.same({ { 1, 2, 3 }, { 4, 5, 6 } }, back.t:totable())
    assert.equal(0.1, back.s)
    assert.equal(-math.huge, 1 / back[6])
  end)

  it("are refused by whoever did not write them", function ()
    assert.same({ nil, "not a saved thing" }, { packed.unpack("thing", packed.pack("other", 1)) })
    -- right sums, wrong contents: what a forger would write
    local function forged (body)
      local honest = packed.pack("thing", "")
      local head = honest:sub(1, 7)
      return packed.unpack("thing", packed.signed(head .. body))
    end
    local function integers (...)
      local words = {}
      for i, n in ipairs { ... } do words[i] = string.pack("<i8", n) end
      return table.concat(words)
    end
    for _, body in ipairs {
      "", "x", "n123", "b\1b\1", "s" .. integers(-1), "{" .. integers(5),
      "t\2" .. integers(0x10000000000, 0x10000000000),
      "{" .. integers(1) .. "n" .. string.pack("<d", 0 / 0) .. "b\1", string.rep("{" .. integers(1) .. "b\1", 1000),
      "t\17" .. string.rep(integers(1), 17) .. string.pack("<d", 1), "t\0" .. string.pack("<d", 1),
    } do
      assert.same({ nil, "damaged" }, { forged(body) })
    end
  end)
end)
