--- Models, fits, posteriors, data and the prompt in small calls, for hosts that make them fail: see snippets.lua.
--
-- Each makes very many requests. Models and running fits are kept from call to call: what a fault has left behind in
-- one shows in the next.
local text = require "spec.host.text"

package.path  = "lua/?.lua;lua/?/init.lua;" .. package.path   -- the prompt's files are not inside the object
package.cpath = (os.getenv "BUILD" or "build/lua5.4") .. "/?.so;" .. package.cpath

local function peri () return require "perilune" end

-- A string by its sum.
local function sum_of (s)
  return (require "perilune.core".checksum(s):gsub(".", function (c) return ("%02x"):format(c:byte()) end))
end

-- Made when it is first asked for.
local function kept (make)
  local value
  return function ()
    value = value or make()
    return value
  end
end

local Y = { 2.1, 0.4, 1.3, 2.8, 1.9 }

local plain = kept(function ()
  local p = peri()
  return p.model(function (m)
    m.mu, m.sigma = p.Normal(0, 5), p.HalfNormal(2)
    m.twice = 2 * m.mu
    m.y = p.Normal(m.mu, m.sigma)
  end) { y = Y }
end)

local hierarchy = kept(function ()
  local p = peri()
  return p.model(function (m)
    m.tau = p.HalfCauchy(1)
    m.theta = p.Normal(0, m.tau):expand(3)
    m.y = p.Normal(m.theta, 1)
  end) { y = { 1, -1, 2 } }
end)

local batches = kept(function ()
  local p = peri()
  return p.model(function (m)
    m.mu = p.Normal(0, 5)
    m:plate("rows", 5, 2, function () m.y = p.Normal(m.mu, 1) end)
  end) { y = Y }
end)

local function guide (g)
  g.mu = peri().Normal(g:param("loc", 0), g:param("scale", 1, peri().constraints.positive))
  g.sigma = peri().LogNormal(g:param("at", 0), 0.3)
end

-- A way to the posterior of a kept model, as a snippet.
local function way (name, posed, options)
  return { "posed:" .. name, function ()
    local given = { rng = peri().rng(3) }
    for key, value in pairs(options) do given[key] = value end
    local post = posed()[name](posed(), given)
    return text(post.verdict, sum_of(post:save()), post)
  end }
end

-- A running fit, kept, that is put back and goes on.
local function running (title, make, steps)
  local fit = kept(function ()
    local made = { fit = make() }
    made.fit:step(1)
    made.state = made.fit:state()
    return made
  end)
  return { title, function ()
    local made = fit()
    local ok, why = made.fit:restore(made.state)
    if not ok then error(why, 0) end
    made.fit:step(steps)
    return text(sum_of(made.fit:state()))
  end }
end

local post = kept(function () return plain():nuts { chains = 2, warmup = 20, draws = 20, rng = peri().rng(1) } end)

local CSV = "city,wait,storms\nBergen,3.1,4\n\"Tromso, north\",5.2,7\nMolde,,3\n"
local JSON = '[{"a": 1.5, "b": "x"}, {"a": null, "b": "\\u00e9"}]'

local snippets = {
  { "a model", function ()
    local posed, rng = plain(), peri().rng(1)
    local draws = posed:prior(3, rng)
    return text(posed, #posed:sites(), posed:log_joint { mu = 1, sigma = 2 }, draws.y, draws.twice, hierarchy(),
                batches())
  end },
  { "a new model", function ()
    local p = peri()
    local posed = p.model(function (m) m.a = p.Beta(2, 2) m.n = p.Binomial(5, m.a) end) { n = { 1, 2 } }
    return text(posed, posed:log_joint { a = 0.5 }, posed:map { rng = p.rng(1) }.mean.a)
  end },
  way("map", plain, {}), way("laplace", plain, {}), way("pathfinder", plain, {}), way("vi", plain, {}),
  way("vi", hierarchy, { guide = "meanfield" }), way("vi", plain, { guide = guide, steps = 4 }),
  way("vi", batches, { guide = "lowrank", steps = 4 }), way("vi", plain, { guide = "flow", steps = 2 }),
  way("nuts", plain, { chains = 2, warmup = 10, draws = 8 }),
  way("nuts", hierarchy, { chains = 1, warmup = 10, draws = 8, metric = "diag" }),
  way("hmc", plain, { chains = 1, warmup = 10, draws = 8, steps = 4 }),
  way("smc", plain, { particles = 20, moves = 1 }), way("smc", plain, { particles = 20, moves = 1, start = "prior" }),
  way("random_walk", plain, { chains = 2, warmup = 10, draws = 8 }), way("fit", plain, {}),
  running("a running fit", function ()
    return plain():vi { rng = peri().rng(5), run = false, guide = "meanfield" }
  end, 3),
  running("a running fit on batches", function ()
    return batches():vi { rng = peri().rng(5), run = false, guide = "fullrank" }
  end, 3),
  running("a running fit with a guide", function ()
    return plain():vi { rng = peri().rng(5), run = false, guide = guide }
  end, 3),
  running("running chains", function ()
    return plain():nuts { rng = peri().rng(5), run = false, chains = 2, warmup = 10, draws = 10 }
  end, 30),
  running("running walks", function ()
    return plain():random_walk { rng = peri().rng(5), run = false, chains = 2, warmup = 10, draws = 10 }
  end, 5),
  running("running particles", function ()
    return plain():smc { rng = peri().rng(5), run = false, particles = 20, moves = 2 }
  end, 3),
  { "the result of a running fit", (function ()
    local fit = kept(function ()
      local made = plain():vi { rng = peri().rng(5), run = false, guide = "meanfield" }
      made:step(60)
      return made
    end)
    return function ()
      local before = sum_of(fit():state())
      return text(fit():result(), before, sum_of(fit():state()))
    end
  end)() },
  { "a fit set up in slices", function ()
    local fit = plain():vi { rng = peri().rng(5), run = false, guide = "meanfield" }
    while not fit.objective do fit:step { ms = 1e-6 } end
    fit:step(3 - fit.steps)
    return text(sum_of(fit:state()))
  end },
  { "vi.fit", function ()
    local p = peri()
    local found = p.vi.fit { params = { mu = {} }, rng = p.rng(1),
                             log_joint = function (t) return p.Normal(1, 2):log_prob(t.mu) end }
    return text(found)
  end },
  { "sbc", function ()
    local p = peri()
    local found = p.sbc(p.model(function (m) m.x = p.Normal(0, 1) m.y = p.Normal(m.x, 1) end),
                        { method = "laplace", n = 20, draws = 19, data = { y = 1 }, rng = p.rng(1) })
    return text(found)
  end },
  { "a posterior", function ()
    local p, found = peri(), post()
    return text(found, found.mean.mu, found.sd.sigma, found:quantile(0.1).mu, found:interval(0.9).mu[1],
                found:covariance(),
                sum_of(p.pack(found:draws())), found:sample(3, p.rng(1)).mu, sum_of(p.pack(found:log_lik())))
  end },
  { "save, load, predict, loo", function ()
    local p = peri()
    local saved = post():save()
    local back = p.load(saved, plain())
    return text(sum_of(saved), back, p.load(saved).mean.mu, sum_of(p.pack(back:predict({}, 4, p.rng(2)))), back:loo(),
                back:waic(), p.compare { a = post(), b = back })
  end },
  { "a trace that is kept", (function ()
    local held = kept(function ()
      local p = peri()
      local w, rng = p.param { 0.5, 1.5 }, p.rng(2)
      local all = { w = w, rng = rng, state = rng:state() }
      all.trace = p.trace(function ()
        return p.Normal(w[1], 2):log_prob(p.linspace(0, 1, 600)):sum() - p.Normal(w, 1):rsample(nil, rng):logsumexp()
      end)
      return all
    end)
    return function ()
      local all = held()
      all.rng:restore(all.state)
      all.w.grad = nil
      local value = all.trace:backward()
      return text(value, all.w.grad, all.trace(), all.trace:value())
    end
  end)() },
  { "a scan that is kept in a trace", (function ()
    local held = kept(function ()
      local p = peri()
      local w = p.param { 0.5, 1.5 }
      return { w = w, trace = p.trace(function ()
        local _, last = p.scan(function (s, t) return w[1] * s + t:exp() * w[2] end, 0, p.linspace(0, 1, 9))
        return last
      end) }
    end)
    return function ()
      local all = held()
      all.w.grad = nil
      return text(all.trace:backward(), all.w.grad, all.trace:value())
    end
  end)() },
  { "peri.fit", function ()
    local p = peri()
    return text(p.fit(p.Gamma, Y), p.fit({ p.Normal, p.Exponential, p.Beta }, Y), p.fit(p.Poisson, { 1, 2, 4 }),
                p.Normal(1, 1):fit_check(Y))
  end },
  { "algebra of distributions", function ()
    local p = peri()
    local d = 2 * p.Normal(0, 1) + 1
    local mixture = p.MixtureSameFamily(p.Categorical { 0.3, 0.7 }, p.Normal({ 0, 3 }, 1))
    return text(d, d:cdf(0.5), p.Normal(0, 1) + p.Normal(1, 2), mixture:icdf(0.4), mixture:entropy(),
                p.Censored(p.Normal(0, 1), -1, 1):log_prob(1), p.LKJ(3, 2):sample(nil, p.rng(1)),
                p.NoncentralChi2(3, 2):cdf(4), p.Normal(0, 1):expectation(function (x) return x * x end))
  end },
  { "divergences", function ()
    local p = peri()
    local a, b = p.Gamma(2, 1), p.LogNormal(0, 1)
    return text(p.kl_divergence(a, b), p.kl_explain(a, b).method, p.js_divergence(a, b), p.wasserstein(a, b, 1),
                p.renyi_divergence(a, p.Gamma(3, 1), 0.5), p.jeffreys(a, p.Gamma(3, 1)))
  end },

  -- Data and the prompt
  { "data", function ()
    local p = peri()
    local d, rows = p.read_csv { text = CSV }, p.read_json { text = JSON }
    return text(d, p.describe(d), p.describe(d.storms), p.write_csv(d), rows, p.bits(1.5))
  end },
  { "files", function ()
    local p = peri()
    local path = os.tmpname()
    local ok, why = pcall(function ()
      p.write_csv({ x = { 1, 2.5 }, y = { "a", "b,c" } }, path)
      return text(p.read_csv(path))
    end)
    os.remove(path)
    return ok and why or error(why, 0)
  end },
  { "pictures", function ()
    local p = peri()
    local size = { width = 40, height = 6, colour = false }
    return text(p.plot(p.Normal(0, 1)):text(size), sum_of(p.plot(p.Normal(0, 1)):svg()), p.hist(Y):text(size),
                sum_of(p.hist(Y):svg()), p.plot(function (x) return x * x end, 0, 1):text(size),
                p.plot(Y, Y):text(size), sum_of(p.plot(post()):svg()), p.plot(post()):text(size))
  end },
  { "help", function ()
    local p = peri()
    return text(sum_of(tostring(p.help)), sum_of(tostring(p.help "kl_divergence")), sum_of(tostring(p.help(p.Gamma))),
                #p.help.find "sample")
  end, forgiving = true },   -- an example that fails is shown as it is written
  { "the prompt", function ()
    local complete, Session = require "perilune.repl.complete", require "perilune.repl.session"
    local session = Session.new()
    local function words (line) return table.concat((select(2, complete(session, line, #line + 1))), " ") end
    return text(words "peri.Norm", words "Normal(0, 1):log_", words "peri.optim.", words "whil")
  end, forgiving = true },
}

return snippets
