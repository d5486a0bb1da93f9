--- Everything that can be saved and restored, as { name, kind, saved, restore, go_on }:
--
--   kind             what packed.lua calls it; nil for a text without a checksum
--   saved            the text
--   restore(text)    true, or nil and why not; an error refuses, too
--   go_on()          some more of what it does, after a restore; what comes of it, as a text
local peri   = require "perilune"
local packed = require "perilune.packed"

local Y = { 2.1, 0.4, 1.3, 2.8, 1.9 }

local plain = peri.model(function (m)
  m.mu, m.sigma = peri.Normal(0, 5), peri.HalfNormal(2)
  m.y = peri.Normal(m.mu, m.sigma)
end) { y = Y }

local hierarchy = peri.model(function (m)
  m.tau = peri.HalfCauchy(1)
  m.theta = peri.Normal(0, m.tau):expand(3)
  m.y = peri.Normal(m.theta, 1)
end) { y = { 1, -1, 2 } }

local batches = peri.model(function (m)
  m.mu = peri.Normal(0, 5)
  m:plate("rows", 5, 2, function () m.y = peri.Normal(m.mu, 1) end)
end) { y = Y }

local function guide (g)
  g.mu = peri.Normal(g:param("loc", 0), g:param("scale", 1, peri.constraints.positive))
  g.sigma = peri.LogNormal(g:param("at", 0), 0.3)
end

-- The guide of a site with two outcomes: its gradients are scores, which have baselines.
local switch = peri.model(function (m)
  m.z = peri.Bernoulli(0.3)
  m.y = peri.Normal(2 * m.z, 1)
end) { y = 1.5 }

local function switch_guide (g) g.z = peri.Bernoulli(g:param("p", 0.5, peri.constraints.unit_interval)) end

local list = {}

local function add (name, kind, saved, restore, go_on)
  list[#list + 1] = { name = name, kind = kind, saved = saved, restore = restore, go_on = go_on }
end

-- What goes on by step(n): a fit, chains, particles.
local function add_running (name, kind, made, first, next_steps)
  made:step(first)
  add(name, kind, made:state(), function (text) return made:restore(text) end, function ()
    made:step(next_steps)
    return tostring(made) .. made:state()
  end)
end

local function options (more)
  local given = { rng = peri.rng(5), run = false }
  for key, value in pairs(more or {}) do given[key] = value end
  return given
end

-- A generator; what it draws.
local rng = peri.rng(9)
rng:normal(3)
add("rng", nil, rng:state(), function (text) return rng:restore(text) end,
    function () return tostring(rng:normal(3)) .. rng:state() end)

-- Values.
local value
local VALUES = { 1, 2.5, "three", true, { x = peri.tensor { { 1, 2 }, { 3, 4 } }, y = { {} } } }
add("value", "perilune value", peri.pack(VALUES),
    function (text)
      local found, why = peri.unpack(text)
      if found == nil then return nil, why end
      value = found
      return true
    end, function () return peri.pack(value) end)

-- Optimisers, whose states are tables.
for _, name in ipairs { "Adadelta", "Adagrad", "Adam", "AdamW", "Adamax", "ClippedAdam", "LBFGS", "NAdam", "RAdam",
                        "RMSprop", "Rprop", "SGD" } do
  local w = peri.param { 1, 2 }
  local opt = peri.optim[name](w)
  local function loss ()
    opt:zero_grad()
    local l = peri.square(w - 3):sum()
    l:backward()
    return l
  end
  local function step ()
    if name == "LBFGS" then opt:step(loss) else
      loss()
      opt:step()
    end
  end
  step()
  step()
  add(name, "optimiser", packed.pack("optimiser", opt:state()), function (text)
    local state, why = packed.unpack("optimiser", text)
    if state == nil then return nil, why end
    opt:restore(state)
    return true
  end, function ()
    w:copy { 1, 2 }
    step()
    return tostring(opt) .. tostring(w) .. packed.pack("optimiser", opt:state())
  end)
end

-- Fits.
for _, name in ipairs { "meanfield", "fullrank", "lowrank", "flow" } do
  add_running("vi " .. name, "perilune fit", plain:vi(options { guide = name }), 60, 3)
end
add_running("vi of a hierarchy", "perilune fit", hierarchy:vi(options { guide = "meanfield" }), 3, 3)
add_running("vi on batches", "perilune fit", batches:vi(options { guide = "meanfield" }), 3, 3)
add_running("vi with a guide", "perilune fit", plain:vi(options { guide = guide }), 3, 2)
add_running("vi with scores", "perilune fit", switch:vi(options { guide = switch_guide }), 3, 2)
add_running("nuts", "sampling", plain:nuts(options { chains = 2, warmup = 30, draws = 5 }), 30, 40)
add_running("nuts, diagonal", "sampling",
            hierarchy:nuts(options { chains = 2, warmup = 5, draws = 4, metric = "diag" }), 60, 40)
add_running("hmc", "sampling", plain:hmc(options { chains = 2, warmup = 5, draws = 5, steps = 4 }), 20, 40)
add_running("random_walk", "sampling", plain:random_walk(options { chains = 2, warmup = 10, draws = 10 }), 5, 5)
add_running("smc", "smc", plain:smc(options { particles = 20, moves = 2 }), 3, 3)
add_running("smc from the prior", "smc", hierarchy:smc(options { particles = 20, moves = 1, start = "prior" }), 2, 3)

-- Posteriors.
local function add_posterior (name, found, posed)
  local post
  add(name, "posterior", found:save(), function (text)
    post = peri.load(text, posed)
    return true
  end, function ()
    local parts = { tostring(post), tostring(post.mean.mu), post:save(), peri.pack(post:draws()),
                    tostring(post:quantile(0.1).mu), tostring(post:covariance()),
                    peri.pack(post:sample(3, peri.rng(1))) }
    if posed then
      parts[#parts + 1] = peri.pack(post:predict({}, 2, peri.rng(1)))
      parts[#parts + 1] = tostring(post:loo())
    end
    return table.concat(parts)
  end)
end

add_posterior("posterior of nuts", plain:nuts { chains = 2, warmup = 20, draws = 10, rng = peri.rng(1) }, plain)
add_posterior("posterior of nuts alone", plain:nuts { chains = 2, warmup = 20, draws = 10, rng = peri.rng(1) })
add_posterior("posterior of map", plain:map { rng = peri.rng(1) }, plain)
add_posterior("posterior of smc", plain:smc { particles = 20, moves = 1, rng = peri.rng(1) }, plain)

return list
