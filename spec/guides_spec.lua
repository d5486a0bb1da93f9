--- Guides of one's own: terms of the ELBO, gradients against exact ones, amortised guides, refusals.
local peri   = require "perilune"
local core   = require "perilune.core"
local guided = require "perilune.inference.guided"

local Normal, Bernoulli, Poisson, constraints = peri.Normal, peri.Bernoulli, peri.Poisson, peri.constraints

local function posed (body, data) return peri.model(body)(data or {}) end

local function objective_of (of, guide, samples)
  return guided.objective(of, guide, { rng = peri.rng(7), samples = samples or 1 })
end

-- Means and variances of the gradients of n estimates of the ELBO, by free numbers in the order of params.
local function gradients (objective, n, rng)
  local rows, estimates = {}, {}
  for i = 1, n do
    for _, param in ipairs(objective.params) do param.grad = nil end
    estimates[i] = objective:estimate(rng)
    local row = {}
    for j, param in ipairs(objective.params) do row[j] = -param.grad:reshape(-1) end
    rows[i] = peri.cat(row)
  end
  local all = peri.stack(rows)
  return { mean = all:mean(1), variance = all:var(1), error = (all:var(1) / n):sqrt(),
           elbo = peri.tensor(estimates):mean(), elbo_error = peri.tensor(estimates):std() / math.sqrt(n) }
end

-- The mean of gradients is the gradient of an exact ELBO of the free numbers (a list), within 4.5 standard errors.
local function check_gradients (objective, n, exact)
  local found = gradients(objective, n, peri.rng(11))
  local free = {}
  for j, param in ipairs(objective.params) do free[j] = param:detach():reshape(-1)[1] end
  local function of_all (x)
    local elements = {}
    for j = 1, #x do elements[j] = x[j] end
    return exact(table.unpack(elements))
  end
  local value, slopes = peri.value_and_grad(of_all)(free)
  for j = 1, #slopes do
    local off = math.abs(found.mean[j] - peri.item(slopes[j]))
    assert(off <= 4.5 * found.error[j] + 1e-12,
           string.format("gradient %d is %g, not %g (error %g)", j, found.mean[j], peri.item(slopes[j]),
                         found.error[j]))
  end
  local off = math.abs(found.elbo - peri.item(value))
  assert(off <= 4.5 * found.elbo_error + 1e-12, "the ELBO is " .. found.elbo .. ", not " .. peri.item(value))
  return found
end

-- E log N(x; m, s) for x of this mean and variance about m.
local function expected (square, s) return -0.5 * math.log(2 * math.pi) - peri.log(s) - square / (2 * s * s) end
local function entropy (s) return 0.5 * math.log(2 * math.pi * math.exp(1)) + peri.log(s) end


describe("core.depends", function ()
  it("is whether a tensor was computed from another", function ()
    local v, w = peri.param { 1, 2 }, peri.param { 1, 2 }
    local x = (v * 2):reshape(2, 1)[1]
    assert.is_true(core.depends(x:exp():sum() * 3, v))
    assert.is_true(core.depends(x, x))
    assert.is_false(core.depends(x, w))
    assert.is_false(core.depends(v, x))
    assert.is_false(core.depends(x:detach(), v))
    assert.is_false(core.depends(1, v))
    assert.is_false(core.depends(v, nil))
  end)

  it("sees all that changes from draw to draw, in a trace", function ()
    local w = peri.param { 1, 2 }
    peri.trace(function ()
      local x = Normal(w, 1):rsample(nil, peri.rng(1))
      local y = Normal(peri.where(x:gt(1), 3, 4), 1):rsample(nil, peri.rng(1))
      assert.is_true(core.depends(y, x))
      assert.is_false(core.depends(x, y))
      return y:sum()
    end)
  end)

  it("walks long chains", function ()
    local w = peri.param(1)
    local x = w
    for _ = 1, 5000 do x = x + 1 end
    assert.is_true(core.depends(x, w))
  end)
end)


describe("a guide of a conjugate normal model", function ()
  local y = peri.tensor { 1, 2, 3, 4 }
  local function body (m, d)
    m.mu = Normal(0, 5)
    m.twice = 2 * m.mu
    m.y = Normal(m.mu, 1)
    return d
  end
  local function guide (g) g.mu = Normal(g:param("loc", 0), g:param("scale", 1, constraints.positive)) end
  local MEAN, SD = 10 / 4.04, 4.04 ^ -0.5

  it("finds the posterior", function ()
    local post = posed(body, { y = y }):vi { guide = guide, seed = 1 }
    assert.equal("ok", post.verdict)
    assert.equal("kl", post.terms.mu)
    assert.near(MEAN, post.mean.mu, 0.03 * SD)
    assert.near(SD, post.sd.mu, 0.03 * SD)
    assert.near(2 * MEAN, post.mean.twice, 0.06 * SD)
    assert.near(MEAN, post.params.loc, 0.1 * SD)
    assert.near(SD, post.params.scale, 0.1 * SD)
    assert.same({ 1000, 4 }, post:log_lik().y.shape)
    assert.same({ 7 }, post:predict(nil, 7, peri.rng(1)).y.shape)
    assert.matches("^ok: a guide of its own", tostring(post))
  end)

  it("has an unbiased gradient", function ()
    check_gradients(objective_of(posed(body, { y = y }), guide), 2000, function (loc, w)
      local s = peri.exp(w)
      local likelihood = 0
      for i = 1, 4 do likelihood = likelihood + expected(peri.square(loc - y[i]) + s * s, 1) end
      return likelihood + expected(loc * loc + s * s, 5) + entropy(s)
    end)
  end)

  it("averages draws", function ()
    local one   = gradients(objective_of(posed(body, { y = y }), guide, 1), 1000, peri.rng(1))
    local eight = gradients(objective_of(posed(body, { y = y }), guide, 8), 1000, peri.rng(1))
    for j = 1, 2 do assert.near(8, one.variance[j] / eight.variance[j], 1.5) end
  end)

  it("goes on from its state to the same bits", function ()
    local a, b = objective_of(posed(body, { y = y }), guide), objective_of(posed(body, { y = y }), guide)
    local rng = peri.rng(3)
    local opt = peri.optim.Adam(a.params, { lr = 0.1 })
    for _ = 1, 5 do
      opt:zero_grad()
      a:estimate(rng)
      opt:step()
    end
    opt:zero_grad()
    local state, other = a:state(), peri.rng(0)
    other:restore(rng:state())
    for i, param in ipairs(b.params) do param:copy(a.params[i]:detach()) end
    assert.is_true(b:restore(state))
    for _ = 1, 3 do
      assert.equal(a:estimate(rng), b:estimate(other))
      assert.same(a.params[1].grad:totable(), b.params[1].grad:totable())
    end
  end)

  it("says how far it moves, in its sds", function ()
    local objective = objective_of(posed(body, { y = y }), guide)
    local function at (loc, scale) return { peri.tensor { loc }, peri.tensor { math.log(scale) } } end
    assert.near(0, objective:drift(at(1, 0.1), at(1, 0.1)), 0)
    assert.near(3, objective:drift(at(1, 0.1), at(1.3, 0.1)), 0.3)   -- of 200 draws
    assert.near(0.5, objective:drift(at(1, 0.1), at(1, 0.2)), 0.05)
    assert.same({ 0 }, objective.params[1]:totable())
  end)

  it("reads data anew where they lie", function ()
    local data = peri.tensor { 1, 2, 3, 4 }
    local objective = objective_of(posed(function (m, d)
      m.mu = Normal(0, 5)
      m.y = Normal(m.mu, 1)
      m:factor("shift", m.mu * d.y:sum())   -- a sum that is not part of the trace
    end, { y = data }), guide)
    local function estimate () return objective:estimate(peri.rng(1)) end
    local before = estimate()
    data:copy { 5, 6, 7, 8 }
    objective:refresh()
    local after = estimate()
    data:copy { 1, 2, 3, 4 }
    objective:refresh()
    assert.not_equal(before, after)
    assert.equal(before, estimate())
  end)
end)


describe("a class with a divergence of its own", function ()
  local Mine = Normal:extend("Mine", { inherit_kl = false })
  local calls = 0
  local function body (m)
    m.mu = Mine(0, 1)
    m.y = Normal(m.mu, 3)
  end
  local function guide (g) g.mu = Mine(g:param("loc", 0.5), g:param("scale", 0.3, constraints.positive)) end
  local function exact (loc, w)
    local s = peri.exp(w)
    return expected(peri.square(loc - 2) + s * s, 3) + expected(loc * loc + s * s, 1) + entropy(s)
  end
  local function objective () return objective_of(posed(body, { y = 2 }), guide) end

  it("is used, and the gradients vary less", function ()
    local without = objective()
    local path = check_gradients(without, 2000, exact)
    assert.equal("path", without.terms.mu)

    peri.register_kl(Mine, Mine, function (p, q)
      calls = calls + 1
      return peri.kl_divergence(Normal(p.loc, p.scale), Normal(q.loc, q.scale))
    end)
    local with = objective()
    local closed = check_gradients(with, 2000, exact)
    assert.equal("kl", with.terms.mu)
    assert(calls > 0)
    -- The guide's scale is 0.3, the posterior's sd 0.95: along the path log p - log q has slope 10 in units of the
    -- noise, the likelihood -1/9. Variances of the gradient by loc are 9 and 1/900.
    assert.near(9, path.variance[1], 1)
    assert.near(1 / 900, closed.variance[1], 1e-4)
    assert(path.variance[2] > 400 * closed.variance[2], path.variance[2] .. " and " .. closed.variance[2])
  end)

  it("serves its subclasses", function ()
    local Ours = Mine:extend("Ours")
    local function with_ours (g) g.mu = Ours(g:param("loc", 0.5), g:param("scale", 0.3, constraints.positive)) end
    local of_ours = objective_of(posed(body, { y = 2 }), with_ours)
    of_ours:estimate(peri.rng(1))
    assert.equal("kl", of_ours.terms.mu)
  end)
end)


describe("the path derivative", function ()
  local Bare = Normal:extend("Bare", { inherit_kl = false })

  it("has no noise where the guide is the posterior", function ()
    local function body (m)
      m.x = Bare(0, 1)
      m.y = Bare(m.x, 1)
      m.z = Normal(m.y, 1)
    end
    -- y | z ~ N(2/3 z, 2/3), x | y ~ N(y/2, 1/2)
    local objective = objective_of(posed(body, { z = 3 }), function (g)
      g.y = Bare(g:param("a", 2), g:param("s", (2 / 3) ^ 0.5, constraints.positive))
      g.x = Bare(g:param("b", 0.5) * g.y, g:param("t", 0.5 ^ 0.5, constraints.positive))
    end)
    local rng = peri.rng(1)
    for _ = 1, 20 do
      for _, param in ipairs(objective.params) do param.grad = nil end
      assert.near(Normal(0, 3 ^ 0.5):log_prob(3), objective:estimate(rng), 1e-13)
      for _, param in ipairs(objective.params) do assert.near(0, peri.item(param.grad:sum()), 1e-13) end
    end
    assert.same({ x = "path", y = "path" }, objective.terms)
  end)
end)


describe("a guide that is the posterior", function ()
  it("has weights without a tail", function ()
    local post = posed(function (m)
      m.x = Normal(0, 1):expand(3)
      m.y = Normal(m.x:sum(), 1)
    end, { y = 3 }):vi { guide = function (g)
      g.x = peri.MultivariateNormal {
        loc = g:param("a", { 0, 0, 0 }), scale_tril = g:param("s", peri.eye(3), constraints.lower_cholesky),
      }
    end, seed = 1 }
    assert.same({ x = "path" }, post.terms)   -- one event here, three of them in the model
    assert.equal("ok", post.verdict)
    assert.near(Normal(0, 2):log_prob(3), post.elbo_mean, 1e-6)
  end)
end)


describe("which divergences are valid", function ()
  local function chain (m)
    m.x = Normal(0, 1)
    m.y = Normal(m.x, 1)
    m.z = Normal(m.y, 1)
  end
  local DATA = { z = 3 }
  local function terms_of (body, data, guide)
    local objective = objective_of(posed(body, data), guide)
    objective:estimate(peri.rng(1))
    return objective.terms
  end
  local function scale (g, name) return g:param(name, 0.6, constraints.positive) end
  local function backwards (g)
    g.y = Normal(g:param("a", 1), scale(g, "s"))
    g.x = Normal(g:param("b", 0.9) * g.y, scale(g, "t"))
  end
  -- Of x and y with this guide.
  local function elbo (a, s, b, t)
    s, t = peri.exp(s), peri.exp(t)
    local x_square = b * b * (a * a + s * s) + t * t
    local difference = peri.square(1 - b) * (a * a + s * s) + t * t
    return expected(x_square, 1) + expected(difference, 1) + expected(peri.square(a - 3) + s * s, 1)
           + entropy(s) + entropy(t)
  end

  it("all, in the order of the model", function ()
    assert.same({ x = "kl", y = "kl" }, terms_of(chain, DATA, function (g)
      g.x = Normal(g:param("a", 1), scale(g, "s"))
      g.y = Normal(g:param("b", 0.9) * g.x, scale(g, "t"))
    end))
  end)

  it("not where a parent in the model was drawn from the site", function ()
    local objective = objective_of(posed(chain, DATA), backwards)
    local found = check_gradients(objective, 4000, elbo)
    assert.same({ x = "kl", y = "path" }, objective.terms)

    -- With the divergence there the gradients are others.
    local rng, rows = peri.rng(2), {}
    local function wrong (a, s, b, t)
      local y = Normal(a, peri.exp(s)):rsample(nil, rng)
      local q_x = Normal(b * y, peri.exp(t))
      local x = q_x:rsample(nil, rng)
      return Normal(y, 1):log_prob(3) - peri.kl_divergence(q_x, Normal(0, 1))
             - peri.kl_divergence(Normal(a, peri.exp(s)), Normal(x, 1))
    end
    local slopes = peri.grad(function (p) return wrong(p[1], p[2], p[3], p[4]) end)
    for i = 1, 2000 do rows[i] = slopes { 1, math.log(0.6), 0.9, math.log(0.6) } end
    local all = peri.stack(rows)
    local off = ((all:mean(1) - found.mean) / ((all:var(1) / 2000):sqrt() + found.error)):abs()
    assert(off:max() > 10)
  end)

  it("by what was computed, and not by names or order", function ()
    assert.same({ x = "kl", y = "kl" }, terms_of(chain, DATA, function (g)
      g.y = Normal(g:param("a", 1), scale(g, "s"))
      g.x = Normal(g:param("b", 1), scale(g, "t"))   -- after y, and not from it
    end))
    assert.same({ x = "kl", y = "path" }, terms_of(chain, DATA, function (g)
      g.y = Normal(g:param("a", 1), scale(g, "s"))
      local sign = peri.where(g.y:gt(0), 1, -1)       -- no gradient goes this way
      g.x = Normal(g:param("b", 1) * sign, scale(g, "t"))
    end))
  end)

  it("of a parent's parent too", function ()
    local function three (m)
      m.x = Normal(0, 1)
      m.y = Normal(m.x, 1)
      m.w = Normal(m.y, 1)
      m.z = Normal(m.w, 1)
    end
    assert.same({ x = "kl", y = "kl", w = "path" }, terms_of(three, DATA, function (g)
      g.w = Normal(g:param("a", 1), scale(g, "s"))
      g.x = Normal(g:param("b", 1) * g.w, scale(g, "t"))
      g.y = Normal(g:param("c", 1) * g.x, scale(g, "u"))
    end))
  end)

  it("even if the divergence does not depend on that parent", function ()
    local Ring = Normal:extend("Ring", { inherit_kl = false })
    peri.register_kl(Ring, Ring, function (p) return p.scale * 0 end)
    assert.equal("path", terms_of(function (m)
      m.x = Normal(0, 1)
      m.y = Ring(m.x, 1)
      m.z = Normal(m.y, 1)
    end, DATA, function (g)
      g.y = Ring(g:param("a", 1), scale(g, "s"))
      g.x = Normal(g.y, scale(g, "t"))
    end).y)
  end)

  describe("where values are read and nothing can be traced,", function ()
    local heard, global
    before_each(function ()
      heard, global = {}, warn
      _G.warn = function (...) heard[#heard + 1] = table.concat { ... } end
    end)
    after_each(function () _G.warn = global end)

    it("goes by order, and says so", function ()
      local function branching (m)
        m.x = Normal(0, 1)
        m.y = m.x:item() > 0 and Normal(m.x, 1) or Normal(0, 1)
        m.z = Normal(m.y, 1)
      end
      assert.same({ x = "kl", y = "kl" }, terms_of(branching, DATA, function (g)
        g.x = Normal(g:param("a", 1), scale(g, "s"))
        g.y = Normal(g:param("b", 1), scale(g, "t"))
      end))
      assert.same({ x = "kl", y = "path" }, terms_of(branching, DATA, function (g)
        g.y = Normal(g:param("a", 1):exp():log(), scale(g, "s"))   -- a tensor in every run
        g.x = Normal(g:param("b", 1), scale(g, "t"))
      end))
      assert.matches("cannot be traced", heard[1])
    end)

    it("has the same gradients", function ()
      local objective = objective_of(posed(function (m)
        chain(m)
        m.seen = m.x:item()
      end, DATA), backwards)
      check_gradients(objective, 2000, elbo)
      assert.same({ x = "kl", y = "path" }, objective.terms)
      assert.is_nil(objective.trace)
    end)
  end)

  it("of closed forms alone", function ()
    assert.same({ x = "path" }, terms_of(function (m)   -- there is an integral, and no formula
      m.x = peri.Cauchy(0, 1)
      m.z = Normal(m.x, 1)
    end, DATA, function (g) g.x = Normal(g:param("a", 1), scale(g, "s")) end))
    assert.same({ x = "kl" }, terms_of(function (m)
      m.x = peri.Flat()
      m.z = Normal(m.x, 1)
    end, DATA, function (g) g.x = Normal(g:param("a", 1), scale(g, "s")) end))
  end)
end)


describe("a site that cannot be reparameterised", function ()
  -- E over k of f(k) with weights exp(log_q(k)), all of them on free numbers.
  local function enumerate (from, to, log_q, f)
    local sum = 0
    for k = from, to do
      local l = log_q(k)
      sum = sum + peri.exp(l) * (f(k) - l)
    end
    return sum
  end
  local Coin = Bernoulli:extend("Coin", { inherit_kl = false })

  for name, class in pairs { ["with a divergence"] = Bernoulli, ["without one"] = Coin } do
    it("has the gradient of the score, " .. name, function ()
      local objective = objective_of(posed(function (m)
        m.b = class(0.3)
        m.y = Normal(2 * m.b, 1)
      end, { y = 1.4 }), function (g) g.b = class { logits = g:param("l", 0.4) } end)
      check_gradients(objective, 4000, function (l)
        return enumerate(0, 1, function (k) return Bernoulli { logits = l }:log_prob(k) end,
                         function (k) return Bernoulli(0.3):log_prob(k) + Normal(2 * k, 1):log_prob(1.4) end)
      end)
      assert.same({ b = "score" }, objective.terms)
    end)
  end

  it("may be a count", function ()
    local objective = objective_of(posed(function (m)
      m.k = Poisson(3)
      m.y = Normal(m.k, 2)
    end, { y = 6 }), function (g) g.k = Poisson(g:param("rate", 4, constraints.positive)) end)
    check_gradients(objective, 4000, function (w)
      return enumerate(0, 60, function (k) return Poisson(peri.exp(w)):log_prob(k) end,
                       function (k) return Poisson(3):log_prob(k) + Normal(k, 2):log_prob(6) end)
    end)
  end)

  it("may be one of each row, of which some are looked at", function ()
    local y = peri.tensor { 1.4, -0.3, 0.8, 2.2, 0.1, 1.1 }
    local objective = objective_of(posed(function (m)
      m:plate("rows", 6, 2, function (i)
        m.b = Coin(0.3):expand(#i)
        m.y = Normal(2 * m.b, 1)
      end)
    end, { y = y }), function (g, d)
      local slope = g:param("slope", 0.4)
      g:plate("rows", 6, 2, function () g.b = Coin { logits = slope * d.y } end)
    end)
    check_gradients(objective, 6000, function (slope)
      return enumerate(0, 1, function (k) return Bernoulli { logits = slope * y }:log_prob(k) end, function (k)
        return Bernoulli(0.3):log_prob(k) + Normal(2 * k, 1):log_prob(y)
      end):sum()
    end)
  end)

  it("may stand between sites that can be", function ()
    local objective = objective_of(posed(function (m)
      m.w = Normal(0, 1)
      m.b = Bernoulli { logits = m.w }
      m.x = Normal(2 * m.b - 1, 1)
      m.y = Normal(m.x, 0.5)
    end, { y = 0.7 }), function (g)
      g.w = Normal(g:param("a", 0.3), g:param("s", 0.8, constraints.positive))
      g.b = Bernoulli { logits = g:param("c", 0.5) * g.w }
      g.x = Normal(g:param("d", 0.1) + g:param("e", 0.6) * g.b, g:param("t", 0.7, constraints.positive))
    end)
    local nodes = peri.linspace(-8, 8, 801)   -- of the noise of w
    local weights = Normal(0, 1):prob(nodes) * 0.02
    check_gradients(objective, 8000, function (a, s, c, d, e, t)
      s, t = peri.exp(s), peri.exp(t)
      local w = a + s * nodes
      local inner = enumerate(0, 1, function (k) return Bernoulli { logits = c * w }:log_prob(k) end, function (k)
        local x = d + e * k
        return Bernoulli { logits = w }:log_prob(k) + expected(peri.square(x - 2 * k + 1) + t * t, 1)
               + expected(peri.square(x - 0.7) + t * t, 0.5) + entropy(t)
      end)
      return (weights * inner):sum() + expected(a * a + s * s, 1) + entropy(s)
    end)
    assert.same({ w = "kl", b = "score", x = "kl" }, objective.terms)
  end)

  it("may cost what stands before it in the model", function ()
    local objective = objective_of(posed(function (m)
      m.x = Normal(0, 1)
      m.w = Normal(m.x, 0.5)
      m.b = Bernoulli { logits = m.x }
      m.y = Normal(2 * m.b, 1)
    end, { w = 0.9, y = 0.7 }), function (g)
      g.b = Bernoulli { logits = g:param("c", 0.5) }
      g.x = Normal(g:param("d", -0.4) + g:param("e", 1.1) * g.b, g:param("t", 0.7, constraints.positive))
    end)
    local nodes = peri.linspace(-8, 8, 801)   -- of the noise of x
    local weights = Normal(0, 1):prob(nodes) * 0.02
    check_gradients(objective, 8000, function (c, d, e, t)
      t = peri.exp(t)
      return enumerate(0, 1, function (k) return Bernoulli { logits = c }:log_prob(k) end, function (k)
        local x = d + e * k
        return expected(x * x + t * t, 1) + expected(peri.square(x - 0.9) + t * t, 0.5) + entropy(t)
               + (weights * Bernoulli { logits = x + t * nodes }:log_prob(k)):sum() + Normal(2 * k, 1):log_prob(0.7)
      end)
    end)
    assert.same({ b = "score", x = "kl" }, objective.terms)
  end)

  it("has a posterior", function ()
    local post = posed(function (m)
      m.b = Bernoulli(0.3)
      m.y = Normal(2 * m.b, 1)
    end, { y = 1.4 }):vi { guide = function (g) g.b = Bernoulli { logits = g:param("l", 0) } end, seed = 1 }
    local one, none = 0.3 * Normal(2, 1):prob(1.4), 0.7 * Normal(0, 1):prob(1.4)
    assert.near(one / (one + none), post.mean.b, 0.03)
    assert.equal("ok", post.verdict)
    assert.near(math.log(one + none), post.log_evidence, 0.02)
  end)
end)


describe("an amortised guide", function ()
  local N, SIZE = 60, 15
  local rng = peri.rng(5)
  local y = 2 * Normal(0, 1):sample({ N }, rng) + 0.5 * Normal(0, 1):sample({ N }, rng)
  local function body (size)
    return function (m)
      m:plate("rows", N, size, function (i)
        m.z = Normal(0, 1):expand(#i)
        m.y = Normal(2 * m.z, 0.5)
      end)
    end
  end
  local function guide (size)
    return function (g, d)
      local slope, s = g:param("slope", 0.1), g:param("s", 0.5, constraints.positive)
      g:plate("rows", N, size, function () g.z = Normal(slope * d.y, s) end)
    end
  end
  local function exact (slope, w)
    local s = peri.exp(w)
    return (expected(peri.square((2 * slope - 1) * y) + 4 * s * s, 0.5) + expected(peri.square(slope * y) + s * s, 1)
            + entropy(s)):sum()
  end

  it("has the gradient of all rows in expectation, from some of them", function ()
    local objective = objective_of(posed(body(SIZE), { y = y }), guide(SIZE))
    check_gradients(objective, 4000, exact)
    assert.same({ z = "kl" }, objective.terms)
    check_gradients(objective_of(posed(body(N), { y = y }), guide(N)), 1000, exact)
  end)

  it("finds the posterior of every row", function ()
    local post = posed(body(SIZE), { y = y }):vi { guide = guide(SIZE), seed = 2, steps = 3000 }
    assert.near(8 / 17, post.params.slope, 0.01)
    assert.near(17 ^ -0.5, post.params.s, 0.01)
    assert.equal("ok", post.verdict)
    assert.same({ N }, post.mean.z.shape)
    assert((post.mean.z - 8 / 17 * y):abs():max() < 0.1)
  end)

  it("begins at draws of the fit's generator", function ()
    local function drawn (g, d)
      local w = g:param("w", Normal(0, 1):expand { 3 })
      g:plate("rows", N, SIZE, function () g.z = Normal(w:sum() * d.y, 1) end)
    end
    local function begin (seed)
      return guided.objective(posed(body(SIZE), { y = y }), drawn, { rng = peri.rng(seed) })
    end
    local a, b, c = begin(1), begin(1), begin(2)
    assert.same(a.params[1]:totable(), b.params[1]:totable())
    assert.not_same(a.params[1]:totable(), c.params[1]:totable())
    a:estimate(peri.rng(1))
    assert(a.trace)
  end)

  it("goes on from its state with the same rows", function ()
    local a = objective_of(posed(body(SIZE), { y = y }), guide(SIZE))
    local b = objective_of(posed(body(SIZE), { y = y }), guide(SIZE))
    local one, other = peri.rng(3), peri.rng(4)
    for _ = 1, 6 do a:estimate(one) end
    other:restore(one:state())
    assert.is_true(b:restore(a:state()))
    for _ = 1, 6 do assert.equal(a:estimate(one), b:estimate(other)) end
  end)
end)


describe("a guide of a hierarchy", function ()
  it("is weighed where scales are positive, and reports what is derived", function ()
    local post = posed(function (m)
      m.tau = peri.HalfNormal(1)
      m.theta = Normal(0, m.tau):expand(3)
      m.first = m.theta[1]
      m.y = Normal(m.theta, 1)
    end, { y = { 1, 2, 3 } }):vi { guide = function (g)
      g.tau = peri.LogNormal(g:param("a", 0), g:param("s", 0.5, constraints.positive))
      local k = g.tau ^ 2 / (1 + g.tau ^ 2)
      g.theta = Normal(g:param("b", { 0, 0, 0 }) * k, g:param("t", { 1, 1, 1 }, constraints.positive) * k ^ 0.5)
    end, seed = 1 }
    assert.same({ tau = "kl", theta = "kl" }, post.terms)
    assert.equal(post.mean.theta[1], post.mean.first)
    -- By quadrature over tau.
    local total, mean = 0, 0
    for i = 1, 4000 do
      local tau = i / 400
      local w = peri.HalfNormal(1):prob(tau)
      for y = 1, 3 do w = w * Normal(0, (1 + tau ^ 2) ^ 0.5):prob(y) end
      total, mean = total + w, mean + w * tau
    end
    assert.near(mean / total, post.mean.tau, 0.05)
    assert.near(math.log(total / 400), post.log_evidence, 0.05)
  end)
end)


describe("points", function ()
  it("are doubtful, and what is around them is weighed", function ()
    local post = posed(function (m)
      m.s = peri.HalfNormal(1)
      m.mu = Normal(0, 1)
      m.y = Normal(m.mu, m.s + 1)
    end, { y = 1 }):vi { guide = function (g)
      g.s = peri.Delta(g:param("s", 0.5, constraints.positive))
      g.mu = Normal(g:param("a", 0), g:param("t", 1, constraints.positive))
    end, seed = 1 }
    assert.equal("doubtful", post.verdict)
    assert.matches("the guide makes points of s", post.reasons[1])
    assert.equal(1, #post.reasons)
    assert.near(0, post.sd.s, 1e-15)
  end)
end)


describe("a guide of points alone", function ()
  it("finds where the density is highest, simplices among it", function ()
    local post = posed(function (m)
      m.p = peri.Dirichlet { 2, 3, 4 }
      m.mu = Normal(0, 1)
      m.y = Normal(m.mu, 1)
    end, { y = 1 }):vi { guide = function (g)
      g.p = peri.Delta(g:param("p", { 0.4, 0.3, 0.3 }, constraints.simplex))
      g.mu = peri.Delta(g:param("mu", 0))
    end, seed = 1 }
    assert.near(1 / 6, post.mean.p[1], 1e-3)
    assert.near(1 / 2, post.mean.mu, 1e-3)
    assert.equal("doubtful", post.verdict)
    assert.same({ "the guide makes points of p, mu: nothing is said of their spread" }, post.reasons)
    assert.same({ p = "path", mu = "kl" }, post.terms)
  end)
end)


describe("a guide is refused", function ()
  local function model (m)
    m.mu = Normal(0, 1)
    m.tau = peri.HalfNormal(1)
    m.theta = Normal(m.mu, m.tau):expand(3)
    m.y = Normal(m.theta, 1)
  end
  local function refusal (guide, body, options)
    local given = { guide = guide, seed = 1, steps = 1 }
    for name, value in pairs(options or {}) do given[name] = value end
    local ok, message = pcall(function () posed(body or model, { y = { 1, 2, 3 } }):vi(given) end)
    assert.is_false(ok)
    return message
  end
  local function with (change)
    return function (g, d)
      g.mu = Normal(g:param("a", 0), 1)
      change(g, d)
    end
  end
  local function rest (g)
    g.tau = peri.LogNormal(0, 1)
    g.theta = Normal(peri.zeros(3), 1)
  end

  local cases = {
    { "if it forgets a site", with(function (g) g.tau = peri.LogNormal(0, 1) end),
      "guide: theta, a site of the model, is not declared$" },
    { "if it spells one otherwise", with(function (g)
      g.tau = peri.LogNormal(0, 1)
      g.thetta = Normal(peri.zeros(3), 1)
    end), "guide: theta, a site of the model, is not declared; did you mean thetta%?" },
    { "if it has one more", with(function (g)
      rest(g)
      g.mue = Normal(0, 1)
    end), "guide: mue is no site of the model; did you mean mu%?" },
    { "for another shape", with(function (g)
      g.tau = peri.LogNormal(0, 1)
      g.theta = Normal(peri.zeros(4), 1)
    end), "guide: theta has shape %(4%), and %(3%) in the model" },
    { "for another support", with(function (g)
      g.tau = Normal(0, 1)
      g.theta = Normal(peri.zeros(3), 1)
    end), "guide: tau is drawn from Normal with support real, which is not inside that of the model's HalfNormal, "
          .. "nonnegative" },
    { "for an observed site", with(function (g) g.y = Normal(peri.zeros(3), 1) end),
      "guide: y is observed, and needs no guide" },
    { "for a value", with(function (g) g.tau = 3 end),
      "guide: tau must be a distribution, got 3; Delta%(x%) makes a site a point" },
    { "if it declares twice", with(function (g) g.mu = Normal(0, 1) end), "guide: mu is set twice" },
    { "if it reads what is not set", with(function (g) return g.theta end), "guide: theta is not set yet" },
    { "without parameters", function (g)
      g.mu = Normal(0, 1)
      rest(g)
    end, "guide: there is nothing to fit; g:param%(name, init%) is a parameter" },
    { "for a parameter without a value", with(function (g) g:param("b") end),
      "guide: param b has no initial value" },
    { "for a parameter that is none", with(function (g) g:param(3, 1) end), "guide: a param must have a name, got 3" },
    { "for an initial value outside", with(function (g) g:param("s", -1, constraints.positive) end),
      "guide: param s must be positive, got %-1" },
    { "for a constraint that is none", with(function (g) g:param("s", 1, "positive") end),
      "guide: the constraint of param s must be one of peri.constraints, got" },
    { "for integers", with(function (g) g:param("s", 1, constraints.nonnegative_integer) end),
      "guide: param s cannot be moved in steps" },
    { "for a parameter of two shapes", with(function (g)
      g:param("s", 1)
      g:param("s", { 1, 2 })
    end), "guide: param s has shape %(2%), and had %(%) before" },
    { "for a method without a colon", with(function (g) g.param("s", 1) end),
      "guide: call g:param%(%.%.%.%), with a colon" },
    { "for a method as a name", with(function (g) g.plate = Normal(0, 1) end),
      "guide: plate is a method of g, and cannot be the name of a site" },
  }
  for _, case in ipairs(cases) do
    it(case[1], function ()
      local message = refusal(case[2])
      assert.matches(case[3], message)
      assert.matches("guides_spec.lua:%d+:", message)
    end)
  end

  it("for a point outside", function ()
    assert.matches("guide: tau is drawn from Delta", refusal(with(function (g)
      g.tau = peri.Delta(-1)
      g.theta = Normal(peri.zeros(3), 1)
    end)))
  end)

  it("where simplices and vectors meet", function ()
    local function body (m)
      m.p = peri.Dirichlet { 1, 1, 1 }
      m.y = Normal(m.p, 1)
    end
    assert.matches("guide: p is drawn from Normal with support real, which is not inside that of the model's Dirichlet",
                   refusal(function (g) g.p = Normal(g:param("a", { 0, 0, 0 }), 1) end, body))
  end)

  it("for bounds that draws pass", function ()
    local function body (m)
      m.a = peri.Uniform(0, 1)
      m.b = peri.Uniform(0, 1 - m.a)
      m.y = Normal(m.a + m.b, 1)
    end
    assert.matches("guide: b is drawn from Beta with support .*, which is not inside that of the model's Uniform",
                   refusal(function (g)
                     g.a = peri.Beta(g:param("a", 1, constraints.positive), 1)
                     g.b = peri.Beta(1, 1)
                   end, body))
  end)

  it("outside the plate", function ()
    local function body (m)
      m:plate("rows", 3, 2, function (i)
        m.z = Normal(0, 1):expand(#i)
        m.y = Normal(m.z, 1)
      end)
    end
    assert.matches("guide: z must stand in the same plates as in the model",
                   refusal(function (g) g.z = Normal(g:param("a", { 0, 0, 0 }), 1) end, body))
    assert.matches("plate rows has 2 of 3 rows here, and 1 of 3 elsewhere", refusal(function (g)
      local a = g:param("a", 0)
      g:plate("rows", 3, 1, function (i) g.z = Normal(a, 1):expand(#i) end)
    end, body))
  end)

  it("where there is nothing to infer", function ()
    local observed = peri.model(function (m) m.y = Normal(0, 1) end) { y = 1 }
    local fit = observed:vi { guide = function (g) g:param("x", 1) end, run = false, seed = 1 }
    for _, method in ipairs { "step", "result" } do
      local ok, why = pcall(fit[method], fit)
      assert.is_false(ok)
      assert.matches("model: every site is observed; there is nothing to infer$", why)
    end
  end)

  it("with options that are of no use", function ()
    assert.matches("vi: starts is of no use with a guide function", refusal(with(rest), model, { starts = 3 }))
  end)

  it("whose parameters do nothing", function ()
    assert.matches("guide: the ELBO depends on none of its parameters", refusal(function (g)
      g:param("a", 0)
      g.mu = Normal(0, 1)
      rest(g)
    end))
  end)

  it("by name", function ()
    assert.matches('vi: guide must be .* or a function %(g, d%), got the string "mean"', refusal "mean")
  end)
end)
