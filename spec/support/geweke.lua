--- Geweke's joint test of samplers, in the alternating form: parameters from the prior and data given these; then, in
-- turn, a step of the chain that leaves the posterior of these data as it is, and new data given where it went. If
-- step, transforms, determinants and density are right, parameters and data together stay draws of the model.
--
-- J. Geweke, "Getting it right", JASA 99 (2004). Many short runs that begin with exact draws, instead of a long one
-- that forgets its start: then what is compared are independent draws, however slow the chain.
local core     = require "perilune.core"
local Density  = require "perilune.model.density"
local peri     = require "perilune"
local tensor   = require "perilune.tensor"

local Normal, Flat, constraints = peri.Normal, peri.Flat, peri.constraints

local geweke = {}

-- Sites of each kind with data y: the body, the number of data, a function that draws from the prior where that is Flat
-- with a factor, and how far sites are centred where that is not all the way.
geweke.kinds = {
  real        = { function (m) m.x = Normal(1, 2); m.y = Normal(m.x, 1) end },
  positive    = { function (m) m.x = peri.Gamma(3, 2); m.y = Normal(m.x, 0.7) end },
  scale       = { function (m) m.x = peri.HalfNormal(2); m.y = Normal(0, m.x):expand(2) end, 2 },
  interval    = { function (m) m.x = peri.Beta(2, 3); m.y = Normal(m.x, 0.2) end },
  bounded     = { function (m)
    m.low, m.width = Normal(0, 1), peri.Gamma(3, 1)
    m.x = peri.Uniform(m.low, m.low + m.width)
    m.y = Normal(m.x, 0.5)
  end },
  above       = { function (m) m.x = peri.Pareto(2, 6); m.y = Normal(m.x, 0.5) end },
  simplex     = { function (m) m.x = peri.Dirichlet { 2, 3, 4 }; m.y = Normal(m.x, 0.2) end, 3 },
  ordered     = { function (m)
    m.x = Flat(constraints.ordered, 3)
    m:factor("prior", Normal(0, 1):log_prob(m.x))
    m.y = Normal(m.x, 1)
  end, 3, function (rng) return { x = Normal(0, 1):sample({ 3 }, rng):sort() } end },
  positive_ordered = { function (m)
    m.x = Flat(constraints.positive_ordered, 2)
    m:factor("prior", peri.Gamma(2, 1):log_prob(m.x))
    m.y = Normal(m.x, 1)
  end, 2, function (rng) return { x = peri.Gamma(2, 1):sample({ 2 }, rng):sort() } end },
  correlation = { function (m)
    m.x = peri.LKJCholesky(3, 2)
    m.y = peri.MultivariateNormal { loc = { 0, 0, 0 }, scale_tril = m.x }
  end, 3 },
  covariance  = { function (m)
    m.x = peri.Wishart { df = 6, scale_tril = peri.eye(2) * 0.5 }
    m.y = peri.MultivariateNormal { loc = { 0, 0 }, covariance_matrix = m.x }
  end, 2 },
  vector      = { function (m)
    m.x = peri.MultivariateNormal { loc = { 0, 1 }, scale_tril = { { 2, 0 }, { 1, 1 } } }
    m.y = Normal(m.x:sum(), 1)
  end },
  hierarchy   = { function (m)
    m.tau = peri.HalfNormal(1)
    m.x = Normal(1, m.tau):expand(3)
    m.y = Normal(m.x, 0.5)
  end, 3 },
  recentred   = { function (m)
    m.tau = peri.HalfNormal(1)
    m.x = Normal(1, m.tau):expand(3)
    m.y = Normal(m.x, 0.5)
  end, 3, nil, { x = 0 } },
  counts      = { function (m) m.x = peri.Gamma(3, 1); m.y = peri.Poisson(m.x):expand(2) end, 2 },
  outcomes    = { function (m) m.x = Normal(0, 1.5); m.y = peri.Bernoulli { logits = m.x } :expand(3) end, 3 },
}

-- Options of the chain: the step is fixed, so it has no warm-up.
geweke.kernels = {
  nuts = { warmup = 0, draws = 1, max_depth = 4, steps = 0, target = 0.8, step = 0.35, dense = false },
  hmc  = { warmup = 0, draws = 1, max_depth = 1, steps = 6, target = 0.8, step = 0.35, dense = false },
}

local function posed_with (model, y)
  local posed = model { y = y }
  posed:start()
  return posed
end

-- Free numbers of the sites, drawn from the prior. They mean the same whatever the data are.
local function free_draw (posed, one, rng)
  if one[3] then return posed:start(one[3](rng)) end
  return posed:prior_rows(1, one[4] or {}, rng)[1]
end

-- The values of sites at u, as users see them, and data given these.
local function values_at (posed, density, u, rng)
  local report, values = density:report(u:reshape(1, -1)), {}
  for _, site in ipairs(posed.latents) do values[site.name] = report[site.name][1] end
  values.y = posed:simulate(posed.data:without { y = true }, 1, rng, function () return values end).y[1]
  return values
end

-- One row of numbers: all values, their squares, and their products with all data.
local function row_of (posed, values)
  local parts, y = {}, core.tensor(values.y):reshape(-1)
  for _, site in ipairs(posed.latents) do
    local x = core.tensor(values[site.name]):reshape(-1)
    for _, part in ipairs { x, x * x, (x:reshape(-1, 1) * y):reshape(-1) } do parts[#parts + 1] = part end
  end
  parts[#parts + 1], parts[#parts + 2] = y, y * y
  return tensor.cat(parts)
end

-- The largest distance between the means of two samples' columns, in standard errors; what does not vary is the same.
local function apart (a, b)
  local se = (a:var(1) / #a + b:var(1) / #b):sqrt()
  local d = (a:mean(1) - b:mean(1)):abs()
  return peri.where(se:gt(1e-9), d / se, peri.where(d:gt(1e-6), math.huge, 0)):max()
end

--- How far parameters and data after `steps` alternations are from those of the model, in standard errors of n runs.
-- Broken on purpose: { settings = of Density, after = a function of u after each step }.
function geweke.distance (kind, kernel, n, steps, seed, broken)
  local one, rng, rows, plain = geweke.kinds[kind], peri.rng(seed), {}, {}
  local model, blank = peri.model(one[1]), one[2] and core.zeros(one[2]) or 0
  broken = broken or {}
  for i = 1, n do
    local posed = posed_with(model, blank)
    local right = Density.new(posed, one[4])
    plain[i] = row_of(posed, values_at(posed, right, free_draw(posed, one, rng), rng))
    local u = free_draw(posed, one, rng)
    local values = values_at(posed, right, u, rng)
    for k = 1, steps do
      posed = posed_with(model, values.y)
      local density = Density.new(posed, one[4], broken.settings)
      local chains = core.chains({ density:traced(), density.u }, u:reshape(1, -1), { (i - 1) * steps + k },
                                 geweke.kernels[kernel])
      chains:run()
      u = (chains:draws()):reshape(-1)
      if broken.after then u = broken.after(u) end
      values = values_at(posed, Density.new(posed, one[4]), u, rng)
    end
    rows[i] = row_of(posed, values)
  end
  return apart(tensor.stack(rows), tensor.stack(plain))
end

return geweke
