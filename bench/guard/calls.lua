--- The calls whose instructions are counted: a name, and a function that prepares its data and returns the call.
local peri = require "perilune"

local N = 10000

local function spread (g, n) return g:uniform(n or N) + 0.5 end

local function kl (make)
  return function ()
    local g = peri.rng(1)
    local p, q = make(g), make(g)
    return function () return peri.kl_divergence(p, q) end
  end
end

local function log_prob (make, values)
  return function ()
    local g = peri.rng(1)
    local d, x = make(g), values(g)
    return function () return d:log_prob(x) end
  end
end

local function sample (d)
  return function ()
    local g = peri.rng(1)
    return function () return d:sample(N, g) end
  end
end

local function normals (g) return peri.Normal(g:normal(N), spread(g)) end
local function gammas (g) return peri.Gamma(spread(g), spread(g)) end
local function betas (g) return peri.Beta(spread(g), spread(g)) end

-- Laws of several families: how the names of one collide in Lua's tables is chance.
local laws = {
  peri.Normal, peri.Laplace, peri.Gumbel, peri.Cauchy, peri.Logistic, peri.LogNormal, peri.Gamma, peri.Beta,
  peri.Pareto, peri.Weibull, peri.Kumaraswamy, peri.InverseGamma,
}

local function construct ()
  return function ()
    for i = 1, #laws do laws[i](0.6, 1.1) end
  end
end

local function chain ()   -- of 200 recorded operations, and back
  local w, x = peri.param(peri.full(1, 0.5)), peri.full(1, 1.01)
  return function ()
    w.grad = nil
    local y = w
    for _ = 1, 100 do y = y * x + x end
    y:sum():backward()
  end
end

local function kl_both_ways ()
  local g, params = peri.rng(1), {}
  for i = 1, 4 do params[i] = peri.param(spread(g, 1000)) end
  local p, q = peri.Normal(params[1], params[2]), peri.Normal(params[3], params[4])
  return function ()
    for _, w in ipairs(params) do w.grad = nil end
    peri.kl_divergence(p, q):sum():backward()
  end
end

local function kl_div ()
  local g = peri.rng(1)
  local input, target = peri.log_softmax(g:normal(128, 1000)), peri.softmax(g:normal(128, 1000))
  return function () return peri.kl_div(input, target, { reduction = "batchmean" }) end
end

local function adam ()
  local w = peri.param(peri.full(N, 0.5))
  local optimiser = peri.optim.Adam({ w }, { lr = 0.01 })
  w:sum():backward()
  return function () optimiser:step() end
end

local function schools (traced)   -- the model of examples/vi_eight_schools.lua
  local Normal, HalfCauchy = peri.Normal, peri.HalfCauchy
  local effect, uncertain = peri.tensor { 28, 8, -3, 7, -1, 1, 18, 12 }, peri.tensor { 15, 10, 16, 11, 9, 11, 10, 18 }
  local function log_joint (t)
    return Normal(0, 5):log_prob(t.mu) + HalfCauchy(5):log_prob(t.tau) + Normal(0, 1):log_prob(t.eta):sum()
         + Normal(t.mu + t.tau * t.eta, uncertain):log_prob(effect):sum()
  end
  local fit = peri.vi.new {
    log_joint = log_joint, rng = peri.rng(1), trace = traced, guide = "meanfield", samples = 1, tolerance = false,
    params = { mu = peri.constraints.real, tau = peri.constraints.positive, eta = 8 },
  }
  return function () fit:step() end
end

local function eight_schools (traced)
  return function ()
    local step = schools(traced)
    step()   -- sets up
    return step
  end
end

local function mixture ()   -- of two normals, replayed with its gradient
  local x, w = peri.rng(1):normal(1000), peri.param { 0.1, 0.5, -1, 1, 0.2 }
  local trace = peri.trace(function ()
    local parts = { peri.log_softmax(w:narrow(1, 1, 2))[1] + peri.Normal(w[3], 1):log_prob(x),
                    peri.log_softmax(w:narrow(1, 1, 2))[2] + peri.Normal(w[4], peri.exp(w[5])):log_prob(x) }
    return peri.stack(parts):logsumexp(1):sum()
  end)
  return function () trace:backward() end
end

local function garbage ()   -- a full collection with a thousand small tensors to free
  local x = peri.full(1, 1.01)
  return function ()
    for _ = 1, 1000 do peri.exp(x) end
    collectgarbage()
  end
end

-- Takes all modules in Lua out of package.loaded, and returns them.
local function take_out ()
  local modules = {}
  for name, module in pairs(package.loaded) do
    if name:find "^perilune" and name ~= "perilune.core" then modules[name] = module end
  end
  for name in pairs(modules) do package.loaded[name] = nil end
  return modules
end

-- Loads perilune and some classes anew, and puts back what was there.
local function load_again (classes)
  local before = take_out()
  local face = require "perilune"
  for _, name in ipairs(classes) do local _ = face[name] end
  take_out()
  for name, module in pairs(before) do package.loaded[name] = module end
end

local function loading (classes)
  return function ()
    return function () load_again(classes) end
  end
end

return {
  { "collect 1000 tensors",           garbage },   -- first: what the others load is gone through too
  { "kl Normal, numbers",             kl(function () return peri.Normal(0.1, 1.1) end) },
  { "kl Normal, 1e4",                 kl(normals) },
  { "kl Gamma, 1e4",                  kl(gammas) },
  { "kl Categorical, 1000 x 10",      kl(function (g) return peri.Categorical { logits = g:normal(1000, 10) } end) },
  { "kl_div, 128 x 1000",             kl_div },
  { "construct 12 laws of numbers",   construct },
  { "log_prob Normal, 1e4",           log_prob(normals, function (g) return g:normal(N) end) },
  { "log_prob Gamma, 1e4",            log_prob(gammas, spread) },
  { "log_prob Beta, 1e4",             log_prob(betas, function (g) return g:uniform(N) end) },
  { "sample Normal, 1e4",             sample(peri.Normal(0.3, 1.2)) },
  { "sample Gamma, 1e4",              sample(peri.Gamma(2.5)) },
  { "sample Poisson, 1e4",            sample(peri.Poisson(4)) },
  { "200 operations and back, n = 1", chain },
  { "kl Normal and back, 1e3",        kl_both_ways },
  { "Adam, a step of 1e4",            adam },
  { "vi, a step of eight schools",    eight_schools(false) },
  { "the same, traced",               eight_schools(true) },
  { "a mixture of 1000, traced",      mixture },
  { "require perilune",               loading {} },
  { "the same, and all classes",      loading(peri.distributions()) },
}
