--- Sets of random posteriors for bench/verdicts.lua: { name, count, make(i) }, where make gives { posed, truth };
-- without `truth` long chains tell it (chains.lua).
local peri = require "perilune"

local constraints = peri.constraints
local Flat, Normal, HalfNormal, HalfCauchy = peri.Flat, peri.Normal, peri.HalfNormal, peri.HalfCauchy
local Bernoulli, Poisson, Binomial, StudentT = peri.Bernoulli, peri.Poisson, peri.Binomial, peri.StudentT

local sets = {}

local function add (name, count, make)
  sets[#sets + 1] = { name = name, count = count, make = function (i) return make(peri.rng(1000 * #name + i), i) end }
end

-- Random numbers --------------------------------------------------------------------------------

local function uniform (rng, a, b) return a == b and a or peri.item(peri.Uniform(a, b):sample(nil, rng)) end
local function integer (rng, a, b) return math.floor(uniform(rng, a, b + 1 - 1e-9)) end
local function normal (rng, ...) return Normal(0, 1):sample({ ... }, rng) end
local function pick (rng, list) return list[integer(rng, 1, #list)] end
local function magnitude (rng, a, b) return 10 ^ uniform(rng, a, b) end

-- Columns of all scales: the first is 1.
local function design (rng, n, p, low, high, rho)
  local columns, base = { peri.ones(n) }, normal(rng, n)
  for j = 2, p do
    local x = rho * base + math.sqrt(1 - rho * rho) * normal(rng, n)
    columns[j] = (x + uniform(rng, -3, 3)) * magnitude(rng, low, high)
  end
  return peri.stack(columns, 2)
end

-- Quadrature --------------------------------------------------------------------------------------

-- Moments of functions over a grid: log weights (vector), values by name (vectors).
local function moments (logs, values)
  local w = (logs - logs:logsumexp()):exp()
  local truth = {}
  for name, x in pairs(values) do
    local mean = (w * x):sum()
    truth[name] = { mean = mean, sd = math.sqrt((w * (x - mean) ^ 2):sum()) }
  end
  return truth
end


-- Regressions ---------------------------------------------------------------------------------------

local flat_regression = peri.model(function (m, d)
  m.beta  = Flat(d.x.shape[2])
  m.sigma = Flat(constraints.positive)
  m.y     = Normal(d.x:matmul(m.beta), m.sigma)
end)

-- Exact: 1/sigma^2 is Gamma, beta is t.
local function linear_truth (x, y)
  local n, p = x.shape[1], x.shape[2]
  local scale = (x * x):mean(1):sqrt()
  local z = x / scale
  local gram = z:transpose():matmul(z)
  local inverse = peri.cholesky_solve(peri.cholesky(gram), peri.eye(p))
  local beta = inverse:matmul(z:transpose():matmul(y:reshape(n, 1))):reshape(p)
  local rest = y - z:matmul(beta)
  local half, a = (rest * rest):sum() / 2, (n - p - 1) / 2
  local second = half / (a - 1)
  local first = math.sqrt(half) * math.exp(peri.lgamma(a - 0.5) - peri.lgamma(a))
  local diagonal = {}
  for j = 1, p do diagonal[j] = inverse:at(j, j) end
  return { beta = { mean = beta / scale, sd = peri.sqrt(peri.tensor(diagonal) * second) / scale },
           sigma = { mean = first, sd = math.sqrt(second - first * first) } }
end

add("linear, all scales", 30, function (rng)
  local p = integer(rng, 2, 12)
  local n = p + integer(rng, 8, 200)
  local x = design(rng, n, p, -6, 6, 0)
  local y = (x / (x * x):mean(1):sqrt()):matmul(normal(rng, p)) * 3 + normal(rng, n)
  y = y * magnitude(rng, -6, 6)
  return { posed = flat_regression { x = x, y = y }, truth = linear_truth(x, y) }
end)

add("linear, collinear", 20, function (rng)
  local p = integer(rng, 3, 8)
  local n = p + integer(rng, 8, 100)
  local x = design(rng, n, p, -2, 2, pick(rng, { 0.9, 0.99, 0.9999, 0.99999 }))
  local y = (x / (x * x):mean(1):sqrt()):matmul(normal(rng, p)) + normal(rng, n)
  return { posed = flat_regression { x = x, y = y }, truth = linear_truth(x, y) }
end)

add("linear, few data", 20, function (rng)
  local p = integer(rng, 1, 6)
  local n = p + integer(rng, 4, 7)
  local x = design(rng, n, p, -1, 1, 0)
  local y = (x / (x * x):mean(1):sqrt()):matmul(normal(rng, p)) + normal(rng, n)
  return { posed = flat_regression { x = x, y = y }, truth = linear_truth(x, y) }
end)

add("linear, large D", 8, function (rng)
  local p = pick(rng, { 30, 60, 100, 140, 160, 200, 300 })
  local n = 2 * p + integer(rng, 8, 200)
  local x = design(rng, n, p, -1, 1, pick(rng, { 0, 0.5 }))
  local y = (x / (x * x):mean(1):sqrt()):matmul(normal(rng, p)) + normal(rng, n)
  return { posed = flat_regression { x = x, y = y }, truth = linear_truth(x, y) }
end)

local logistic = peri.model(function (m, d)
  m.beta = Normal(0, d.width):expand(d.x.shape[2])
  m.y    = Bernoulli { logits = d.x:matmul(m.beta) }
end)

add("logistic", 20, function (rng)
  local p, n = integer(rng, 1, 8), pick(rng, { 5, 10, 20, 50, 200 })
  local x = design(rng, n, p, -1, 1, pick(rng, { 0, 0.9 }))
  local y = Bernoulli { logits = (x / (x * x):mean(1):sqrt()):matmul(normal(rng, p)) * uniform(rng, 0.2, 3) }
            :sample(nil, rng)
  return { posed = logistic { x = x, y = y, width = pick(rng, { 1, 2.5, 10 }) } }
end)

add("logistic, interactions", 6, function (rng)
  local n = pick(rng, { 60, 200 })
  local a, b, c = normal(rng, n), normal(rng, n) * 20 + 100, Bernoulli(0.4):sample({ n }, rng)
  local x = peri.stack({ peri.ones(n), a, b, c, a * b, a * c, b * c }, 2)
  local y = Bernoulli { logits = a - 0.02 * (b - 100) * c }:sample(nil, rng)
  return { posed = peri.model(function (m, d)
    m.beta = Flat(7)
    m.y    = Bernoulli { logits = d.x:matmul(m.beta) }
  end) { x = x, y = y } }
end)

add("more predictors than data", 10, function (rng)
  local n = integer(rng, 4, 15)
  local p = n + integer(rng, 1, 20)
  local x = normal(rng, n, p)
  local y = x:select(2, 1) * 2 + normal(rng, n)
  return { posed = peri.model(function (m, d)
    m.beta  = Normal(0, 1):expand(d.x.shape[2])
    m.sigma = HalfNormal(1)
    m.y     = Normal(d.x:matmul(m.beta), m.sigma)
  end) { x = x, y = y } }
end)

add("Poisson", 12, function (rng)
  local p, n = integer(rng, 1, 5), pick(rng, { 5, 10, 40, 200 })
  local x = design(rng, n, p, -1, 1, 0)
  local rate = ((x / (x * x):mean(1):sqrt()):matmul(normal(rng, p)) * 0.7 + pick(rng, { -3, 0, 2 })):exp()
  return { posed = peri.model(function (m, d)
    m.beta = Normal(0, d.width):expand(d.x.shape[2])
    m.y    = Poisson(d.x:matmul(m.beta):exp())
  end) { x = x, y = Poisson(rate):sample(nil, rng), width = pick(rng, { 1, 10 }) } }
end)

add("binomial", 10, function (rng)
  local n, p = integer(rng, 4, 40), integer(rng, 1, 4)
  local x = design(rng, n, p, 0, 0, 0)
  local total = peri.Uniform(1, pick(rng, { 3, 50 })):sample({ n }, rng):floor() + 1
  local y = Binomial { total_count = total, logits = x:matmul(normal(rng, p)) - pick(rng, { 0, 4 }) }:sample(nil, rng)
  return { posed = peri.model(function (m, d)
    m.alpha = Normal(0, 100)
    m.beta  = Normal(0, 10):expand(d.x.shape[2])
    m.y     = Binomial { total_count = d.total, logits = m.alpha + d.x:matmul(m.beta) }
  end) { x = x:narrow(2, 1, p) - (p == 1 and 1 or 0) + (p == 1 and normal(rng, n, 1) or 0), y = y, total = total } }
end)

add("Student-t regression", 10, function (rng)
  local n = pick(rng, { 15, 40, 100 })
  local x, e = normal(rng, n), StudentT(2, 0, 1):sample({ n }, rng)
  return { posed = peri.model(function (m, d)
    m.alpha, m.beta, m.sigma = Normal(0, 10), Normal(0, 10), HalfCauchy(2)
    m.nu = peri.Gamma(2, 0.1)
    m.y = StudentT(m.nu, m.alpha + m.beta * d.x, m.sigma)
  end) { x = x, y = 1 + 2 * x + e } }
end)

add("measurement error", 6, function (rng)
  local n = pick(rng, { 10, 30 })
  local x = normal(rng, n)
  return { posed = peri.model(function (m, d)
    m.mu, m.spread = Normal(0, 5), HalfNormal(3)
    m.x     = Normal(m.mu, m.spread):expand(d.n)
    m.alpha, m.beta, m.sigma = Normal(0, 5), Normal(0, 5), peri.LogNormal(-0.7, 0.4)
    m.seen  = Normal(m.x, 0.4)
    m.y     = Normal(m.alpha + m.beta * m.x, m.sigma)
  end) { n = n, seen = x + 0.4 * normal(rng, n), y = 1 + 2 * x + 0.5 * normal(rng, n) } }
end)


-- Hierarchies -------------------------------------------------------------------------------------------

-- theta_j ~ Normal(mu, tau), y_j ~ Normal(theta_j, s_j): exact but for a sum over tau and mu.
local function normal_truth (y, s, prior_mu, log_prior_tau, largest)
  local n = 4000
  local log_tau = peri.linspace(math.log(largest) - 18, math.log(largest) + 6, n)
  local tau = log_tau:exp()
  local v = tau:reshape(n, 1) ^ 2 + s ^ 2                               -- (n, j)
  local precision = (1 / v):sum(2) + 1 / prior_mu ^ 2
  local mu = (y / v):sum(2) / precision
  local logs = log_prior_tau(tau) + log_tau - 0.5 * v:log():sum(2) - 0.5 * precision:log()
               - 0.5 * (y * y / v):sum(2) + 0.5 * mu * mu * precision
  local w = (logs - logs:logsumexp()):exp()
  local mean_mu = (w * mu):sum()
  local var_mu = (w * (1 / precision + (mu - mean_mu) ^ 2)):sum()
  local mean_tau = (w * tau):sum()
  local shrink = (tau ^ 2):reshape(n, 1) / v                            -- of y
  local theta = shrink * y + (1 - shrink) * mu:reshape(n, 1)
  local within = shrink * s ^ 2 + (1 - shrink) ^ 2 / precision:reshape(n, 1)
  local column = w:reshape(n, 1)
  local mean_theta = (column * theta):sum(1)
  local var_theta = (column * (within + (theta - mean_theta) ^ 2)):sum(1)
  return { mu = { mean = mean_mu, sd = math.sqrt(var_mu) },
           tau = { mean = mean_tau, sd = math.sqrt((w * (tau - mean_tau) ^ 2):sum()) },
           theta = { mean = mean_theta, sd = var_theta:sqrt() } }
end

local function hierarchy (rng, model, scale)
  local j = pick(rng, { 3, 5, 8, 20, 40 })
  local s = peri.Uniform(0.3, 3):sample({ j }, rng) * scale
  local tau = pick(rng, { 0.05, 0.5, 2, 10 }) * scale
  local y = uniform(rng, -3, 3) * scale + tau * normal(rng, j) + s * normal(rng, j)
  local law = pick(rng, { HalfCauchy(5 * scale), HalfNormal(3 * scale), peri.Exponential(0.5 / scale) })
  local truth = normal_truth(y, s, 5 * scale, function (t) return law:log_prob(t) end, 5 * scale)
  return { posed = model { y = y, s = s, law = function () return law end, scale = scale }, truth = truth }
end

local centred = peri.model(function (m, d)
  m.mu, m.tau = Normal(0, 5 * d.scale), d.law()
  m.theta = Normal(m.mu, m.tau):expand(#d.y)
  m.y = Normal(m.theta, d.s)
end)

local noncentred = peri.model(function (m, d)
  m.mu, m.tau = Normal(0, 5 * d.scale), d.law()
  m.z = Normal(0, 1):expand(#d.y)
  m.theta = m.mu + m.tau * m.z
  m.y = Normal(m.theta, d.s)
end)

add("hierarchy, centred", 40, function (rng) return hierarchy(rng, centred, 1) end)
add("hierarchy, noncentred", 25, function (rng) return hierarchy(rng, noncentred, 1) end)
add("hierarchy, of all scales", 16, function (rng) return hierarchy(rng, centred, magnitude(rng, -4, 4)) end)

local grouped = peri.model(function (m, d)
  m.mu, m.tau, m.sigma = Normal(0, 10), HalfNormal(2), HalfNormal(2)
  m.alpha = Normal(m.mu, m.tau):expand(d.J)
  m.y = Normal(m.alpha[d.group], m.sigma)
end)

add("groups of unequal size", 10, function (rng)
  local j, group = pick(rng, { 4, 10, 25 }), {}
  for g = 1, j do
    for _ = 1, pick(rng, { 1, 2, 5, 30 }) do group[#group + 1] = g end
  end
  local index = peri.tensor(group)
  local alpha = 1 + pick(rng, { 0.1, 0.5, 2 }) * normal(rng, j)
  return { posed = grouped { J = j, group = index, y = alpha[index] + normal(rng, #group) } }
end)

add("rats", 4, function (rng)
  local n, t = pick(rng, { 10, 30 }), peri.tensor { -14, -7, 0, 7, 14 }
  local a, b = 240 + 14 * normal(rng, n), 6 + 0.5 * normal(rng, n)
  local y = a:reshape(n, 1) + b:reshape(n, 1) * t + 6 * normal(rng, n, 5)
  return { posed = peri.model(function (m, d)
    m.mu_a, m.mu_b = Normal(0, 1000), Normal(0, 100)
    m.s_a, m.s_b, m.s_y = HalfNormal(50), HalfNormal(5), HalfNormal(20)
    m.a = Normal(m.mu_a, m.s_a):expand(n)
    m.b = Normal(m.mu_b, m.s_b):expand(n)
    m.y = Normal(m.a:reshape(n, 1) + m.b:reshape(n, 1) * d.t, m.s_y)
  end) { y = y, t = t } }
end)

add("seeds", 6, function (rng)
  local n = 21
  local x1, x2 = Bernoulli(0.5):sample({ n }, rng), Bernoulli(0.5):sample({ n }, rng)
  local total = peri.Uniform(4, 80):sample({ n }, rng):floor()
  local y = Binomial { total_count = total, logits = -0.5 + x2 - 0.3 * x1 + 0.3 * normal(rng, n) }:sample(nil, rng)
  local law = pick(rng, { HalfNormal(1), HalfCauchy(1) })
  return { posed = peri.model(function (m, d)
    m.alpha = Normal(0, 10):expand(4)
    m.sigma = law
    m.b = Normal(0, m.sigma):expand(n)
    m.y = Binomial { total_count = d.total,
                     logits = m.alpha[1] + m.alpha[2] * d.x1 + m.alpha[3] * d.x2 + m.alpha[4] * d.x1 * d.x2 + m.b }
  end) { x1 = x1, x2 = x2, total = total, y = y } }
end)

add("surgical", 6, function (rng)
  local n = 12
  local total = peri.Uniform(40, 800):sample({ n }, rng):floor()
  local y = Binomial { total_count = total, logits = -2.5 + 0.4 * normal(rng, n) }:sample(nil, rng)
  local law = pick(rng, { HalfNormal(2), HalfCauchy(1), peri.InverseGamma(2, 0.5) })
  return { posed = peri.model(function (m, d)
    m.mu, m.sigma = Normal(0, 100), law
    m.b = Normal(m.mu, m.sigma):expand(n)
    m.y = Binomial { total_count = d.total, logits = m.b }
  end) { total = total, y = y } }
end)

add("item response", 4, function (rng)
  local people, items = 30, 6
  local ability = normal(rng, people)
  local y = Bernoulli { logits = ability:reshape(people, 1) - normal(rng, items) }:sample(nil, rng)
  return { posed = peri.model(function (m)
    m.theta = Normal(0, 1):expand(people)
    m.spread = HalfCauchy(2)
    m.b = Normal(0, m.spread):expand(items)
    m.a = peri.LogNormal(0, 0.5):expand(items)
    m.y = Bernoulli { logits = m.a * (m.theta:reshape(people, 1) - m.b) }
  end) { y = y } }
end)

add("horseshoe", 6, function (rng)
  local n, p = 50, pick(rng, { 4, 10 })
  local x = normal(rng, n, p)
  return { posed = peri.model(function (m, d)
    m.global, m.local_ = HalfCauchy(1), HalfCauchy(1):expand(p)
    m.beta  = Normal(0, m.global * m.local_)
    m.sigma = HalfNormal(2)
    m.y = Normal(d.x:matmul(m.beta), m.sigma)
  end) { x = x, y = 3 * x:select(2, 1) + normal(rng, n) } }
end)


-- Time series and processes ---------------------------------------------------------------------------

add("AR", 8, function (rng)
  local t, y = pick(rng, { 15, 60, 200 }), { 0, 0 }
  for i = 3, t do y[i] = 0.5 * y[i - 1] + 0.2 * y[i - 2] + uniform(rng, -2, 2) end
  y = peri.tensor(y)
  return { posed = peri.model(function (m, d)
    m.alpha, m.beta, m.sigma = Normal(0, 10), Normal(0, 10):expand(2), HalfCauchy(2.5)
    m.y = Normal(m.alpha + m.beta[1] * d.one + m.beta[2] * d.two, m.sigma)
  end) { y = y:narrow(1, 3, t - 2), one = y:narrow(1, 2, t - 2), two = y:narrow(1, 1, t - 2) } }
end)

add("ARMA", 6, function (rng)
  local t, y, e = pick(rng, { 30, 200 }), {}, 0
  for i = 1, t do
    local new = peri.item(normal(rng, 1)[1])
    y[i], e = 0.3 + 0.6 * (y[i - 1] or 0) + 0.5 * e + new, new
  end
  y = peri.tensor(y)
  return { posed = peri.model(function (m, d)
    m.mu, m.phi, m.theta, m.sigma = Normal(0, 10), Normal(0, 2), Normal(0, 2), HalfCauchy(2.5)
    local first = d.y[1] - (m.mu + m.phi * m.mu)
    local later = peri.scan(function (e_before, x)
      return x.now - (m.mu + m.phi * x.before + m.theta * e_before)
    end, first, { now = d.y:narrow(1, 2, t - 1), before = d.y:narrow(1, 1, t - 1) })
    m:factor("first", Normal(0, m.sigma):log_prob(first))
    m:factor("later", Normal(0, m.sigma):log_prob(later))
  end) { y = y } }
end)

add("hidden Markov", 5, function (rng)
  local t, y, z = pick(rng, { 40, 150 }), {}, 1
  for i = 1, t do
    if uniform(rng, 0, 1) < 0.2 then z = 3 - z end
    y[i] = (z == 1 and 0 or uniform(rng, 1.9, 2.1)) + normal(rng, 1)[1]
  end
  return { posed = peri.model(function (m, d)
    m.theta1, m.theta2 = peri.Dirichlet { 2, 1 }, peri.Dirichlet { 1, 2 }
    m.mu = Flat(constraints.ordered, 2)
    m:factor("prior of mu", Normal(1, 3):log_prob(m.mu))
    m.sigma = HalfNormal(2)
    local emission = Normal(m.mu, m.sigma):log_prob(d.y:reshape(-1, 1))
    local to = peri.stack { m.theta1, m.theta2 }:log():transpose()
    local _, last = peri.scan(function (forward, row) return (to + forward):logsumexp(2) + row end, emission[1],
                              emission:narrow(1, 2, t - 1))
    m:factor("y", last:logsumexp())
  end) { y = y } }
end)

add("Gaussian process", 6, function (rng)
  local n = pick(rng, { 6, 11, 20 })
  local x = peri.linspace(-5, 5, n)
  local y = (x * uniform(rng, 0.5, 1.5)):sin() * magnitude(rng, -0.5, 0.5) + 0.3 * normal(rng, n)
  return { posed = peri.model(function (m, d)
    m.rho, m.alpha, m.sigma = peri.InverseGamma(5, 5), HalfNormal(2), HalfNormal(1)
    m.y = peri.MultivariateNormal { loc = peri.zeros(n), covariance_matrix =
      m.alpha ^ 2 * peri.exp(d.apart / (-2 * m.rho ^ 2)) + (m.sigma ^ 2 + 1e-8) * peri.eye(n) }
  end) { y = y, apart = (x:reshape(-1, 1) - x) ^ 2 } }
end)

add("Lotka-Volterra", 3, function (rng)
  local steps, dt = 60, 0.1
  local function rates (z, a, b, c, e)
    local u, v = z[1], z[2]
    return peri.stack { u * (a - b * v), v * (e * u - c) }
  end
  local function runge (z, a, b, c, e)
    local k1 = rates(z, a, b, c, e)
    local k2 = rates(z + k1 * (dt / 2), a, b, c, e)
    local k3 = rates(z + k2 * (dt / 2), a, b, c, e)
    local k4 = rates(z + k3 * dt, a, b, c, e)
    return z + (k1 + 2 * k2 + 2 * k3 + k4) * (dt / 6)
  end
  local z, states = peri.tensor { 3, 1 }, {}
  for i = 1, steps do
    z = runge(z, 0.6, 0.3, 0.8, 0.3)
    states[i] = z
  end
  local at = peri.arange(3, steps + 1, 3)
  local y = (peri.stack(states)[at]:log() + 0.2 * normal(rng, #at, 2)):exp()
  return { posed = peri.model(function (m, d)
    m.theta = Flat(constraints.positive, 4)
    m:factor("theta", Normal({ 1, 0.05, 1, 0.05 }, { 0.5, 0.5, 0.5, 0.5 }):log_prob(m.theta))
    m.sigma = peri.LogNormal(-1, 1)
    m.z0 = peri.LogNormal(1, 1):expand(2)
    local a, b, c, e = m.theta[1], m.theta[2], m.theta[3], m.theta[4]
    local path = peri.scan(function (now) return runge(now, a, b, c, e) end, m.z0, peri.zeros(steps))
    m.y = peri.LogNormal(path[d.at]:log(), m.sigma)
  end) { y = y, at = at } }
end)

add("change point", 4, function (rng)
  local n = 40
  local at = integer(rng, 10, 30)
  local rate = peri.where(peri.arange(1, n + 1):lt(at), 4, 1)
  return { posed = peri.model(function (m, d)
    m.early, m.late = peri.Exponential(1), peri.Exponential(1)
    local one, two = Poisson(m.early):log_prob(d.y):cumsum(), Poisson(m.late):log_prob(d.y):cumsum()
    m:factor("y", (one + two[n] - two):logsumexp())
  end) { y = Poisson(rate):sample(nil, rng) } }
end)

add("mixture of two, ordered", 6, function (rng)
  local n = pick(rng, { 20, 100, 400 })
  local z = Bernoulli(uniform(rng, 0.2, 0.8)):sample({ n }, rng)
  return { posed = peri.model(function (m, d)
    m.mu    = Flat(constraints.ordered, 2)
    m.sigma = HalfNormal(2):expand(2)
    m.theta = peri.Beta(5, 5)
    m:factor("prior of mu", Normal(0, 2):log_prob(m.mu))
    local first, second = Normal(m.mu[1], m.sigma[1]), Normal(m.mu[2], m.sigma[2])
    m:factor("y", peri.logaddexp(m.theta:log() + first:log_prob(d.y), (1 - m.theta):log() + second:log_prob(d.y)))
  end) { y = z * uniform(rng, 1, 4) + normal(rng, n) } }
end)


-- Two modes ----------------------------------------------------------------------------------------------

-- Two Gaussians of unequal weight and width in d dimensions: moments known.
local function two_modes (rng, apart, d)
  local share, width = uniform(rng, 0.05, 0.95), pick(rng, { 0.5, 1, 2 })
  local mean = share * apart
  local variance = (1 - share) + share * width ^ 2 + share * (1 - share) * apart ^ 2
  local truth_mean, truth_sd = peri.zeros(d), peri.ones(d) * math.sqrt((1 - share) + share * width ^ 2)
  truth_mean:narrow(1, 1, 1):copy(mean)
  truth_sd:narrow(1, 1, 1):copy(math.sqrt(variance))
  local shift = peri.zeros(d)
  shift:narrow(1, 1, 1):copy(apart)
  return { posed = peri.model(function (m)
    m.x = Flat(d)
    m:factor("x", peri.logaddexp(math.log(1 - share) + Normal(0, 1):log_prob(m.x):sum(),
                                 math.log(share) + Normal(shift, width):log_prob(m.x):sum()))
  end) {}, truth = { x = { mean = truth_mean, sd = truth_sd } } }
end

add("two modes", 24, function (rng)
  return two_modes(rng, pick(rng, { 2, 3, 4, 6, 8, 12 }), pick(rng, { 1, 2, 5 }))
end)

-- A Cauchy likelihood with few data that disagree.
add("two modes by data", 10, function (rng)
  local y = peri.tensor { 0, uniform(rng, 0.1, 1), uniform(rng, 4, 15) }
  local x = peri.linspace(-60, 80, 40001)
  local logs = Normal(0, 10):log_prob(x) + peri.Cauchy(y, 0.5):log_prob(x:reshape(-1, 1)):sum(2)
  return { posed = peri.model(function (m)
    m.x = Normal(0, 10)
    m.y = peri.Cauchy(m.x, 0.5)
  end) { y = y }, truth = moments(logs, { x = x }) }
end)

add("mixture without order", 4, function (rng)
  local n = pick(rng, { 15, 60 })
  local z = Bernoulli(0.5):sample({ n }, rng)
  local y = (z * 2 - 1) * uniform(rng, 0.8, 2) + normal(rng, n)
  -- the same law for both means: swapped labels are equally likely, so their moments are the same; by quadrature
  local g = 400
  local grid = peri.linspace(-6, 6, g)
  local each = Normal(grid:reshape(-1, 1), 1):log_prob(y)                          -- (g, n)
  local prior = Normal(0, 2):log_prob(grid)
  local logs = {}
  for a = 1, g do
    logs[a] = prior[a] + prior + (peri.logaddexp(each[a], each) - math.log(2)):sum(2)
  end
  logs = peri.stack(logs)
  local over = logs:logsumexp(2)
  local one = moments(over, { mu = grid }).mu
  return { posed = peri.model(function (m, d)
    m.mu = Normal(0, 2):expand(2)
    m:factor("y", peri.logaddexp(Normal(m.mu[1], 1):log_prob(d.y), Normal(m.mu[2], 1):log_prob(d.y)) - math.log(2))
  end) { y = y }, truth = { mu = { mean = peri.full({ 2 }, one.mean), sd = peri.full({ 2 }, one.sd) } } }
end)


-- Bent shapes ---------------------------------------------------------------------------------------------

local function over_grid (log_density, limit)
  local n = 1201
  local x = peri.linspace(-limit, limit, n)
  local a = x:reshape(n, 1):expand(n, n):reshape(-1)
  local b = x:reshape(1, n):expand(n, n):reshape(-1)
  return moments(log_density(a, b), { a = a, b = b })
end

add("bent shapes", 50, function (rng, i)
  local kind = i % 5
  local s, c, w = uniform(rng, 0.3, 1.5), uniform(rng, -0.6, 0.6), uniform(rng, 0.5, 2)
  local f
  if kind == 0 then f = function (a, b) return -0.5 * (a / w) ^ 2 - 0.5 * ((b - c * (a ^ 2 - w ^ 2)) / s) ^ 2 end
  elseif kind == 1 then f = function (a, b) return -0.5 * a ^ 2 - 0.5 * (b * (-a * c):exp() / s) ^ 2 - a * c end
  elseif kind == 2 then f = function (a, b) return -0.5 * (a ^ 2 + b ^ 2) / w ^ 2 - 0.1 * s * (a * b - 1) ^ 2 end
  elseif kind == 3 then f = function (a, b) return -0.05 * s * a ^ 4 - 0.3 * (b - a * c) ^ 2 + 0.3 * w * a end
  else
    f = function (a, b)
      local t = a * s + c * b
      return -peri.logaddexp(t, -t) * 2 - 0.5 * (b / w) ^ 2 - 0.1 * (a:exp() - a)
    end
  end
  return { posed = peri.model(function (m)
    m.a, m.b = Flat(), Flat()
    m:factor("f", f(m.a, m.b))
  end) {}, truth = over_grid(f, 14) }
end)


-- Laws as they are -------------------------------------------------------------------------------------------

local function law_of (make)
  local d = make()
  return { posed = peri.model(function (m) m.x = make() end) {},
           truth = { x = { mean = d:mean(), sd = d:stddev() } }, name = tostring(d) }
end

add("laws with moments", 36, function (rng, i)
  local s = magnitude(rng, -6, 6)
  local makes = {
    function () return peri.Gamma(uniform(rng, 0.3, 20), s) end,
    function () return peri.InverseGamma(uniform(rng, 2.2, 12), s) end,
    function () return peri.Beta(uniform(rng, 0.3, 10), uniform(rng, 0.3, 10)) end,
    function () return peri.Dirichlet(peri.Uniform(0.4, 5):sample({ integer(rng, 2, 8) }, rng)) end,
    function () return HalfNormal(s) end,
    function () return peri.Uniform(-s, 3 * s) end,
    function () return peri.LogNormal(uniform(rng, -5, 5), uniform(rng, 0.1, 1.6)) end,
    function () return peri.Weibull(s, uniform(rng, 0.5, 5)) end,
    function () return peri.Exponential(s) end,
    function () return peri.Laplace(uniform(rng, -1e3, 1e3), s) end,
    function () return peri.Logistic(uniform(rng, -1e3, 1e3), s) end,
    function () return peri.Gumbel(uniform(rng, -1e3, 1e3), s) end,
  }
  local d = makes[(i - 1) % #makes + 1]()
  return law_of(function () return d end)
end)

add("heavy tails", 14, function (rng, i)
  local df = ({ 2.2, 2.5, 3, 3.5, 4, 5, 7 })[(i - 1) % 7 + 1]
  local n = pick(rng, { 1, 3, 10 })
  return law_of(function () return StudentT(df, 0, 1):expand(n) end)
end)

add("counts with zeros", 12, function (rng)
  local k, a = integer(rng, 2, 6), uniform(rng, 0.5, 2)
  local y = peri.Uniform(0, pick(rng, { 1.2, 4, 30 })):sample({ k }, rng):floor()
  local post = peri.Dirichlet(y + a)
  return { posed = peri.model(function (m, d)
    m.p = peri.Dirichlet(peri.full({ k }, a))
    m:factor("y", (d.y * m.p:log()):sum())
  end) { y = y }, truth = { p = { mean = post:mean(), sd = post:stddev() } } }
end)

add("rates with zeros", 12, function (rng)
  local n, a, b = integer(rng, 1, 5), uniform(rng, 0.5, 2), magnitude(rng, -3, 3)
  local y = Poisson(pick(rng, { 0.2, 1, 20 })):sample({ n }, rng)
  local post = peri.Gamma(a + y, b + 1)
  return { posed = peri.model(function (m)
    m.rate = peri.Gamma(a, b):expand(n)
    m.y = Poisson(m.rate)
  end) { y = y }, truth = { rate = { mean = post:mean(), sd = post:stddev() } } }
end)

add("correlations", 6, function (rng)
  local d, eta = integer(rng, 2, 4), uniform(rng, 0.8, 4)
  return { posed = peri.model(function (m)
    m.l = peri.LKJCholesky(d, eta)
    m.r = m.l:matmul(m.l:transpose())
  end) {} }
end)

add("covariance of data", 4, function (rng)
  local d, n = integer(rng, 2, 3), pick(rng, { 6, 40 })
  local y = normal(rng, n, d):matmul(normal(rng, d, d))
  return { posed = peri.model(function (m)
    m.mu = Normal(0, 5):expand(d)
    m.s  = HalfCauchy(2.5):expand(d)
    m.l  = peri.LKJCholesky(d, 2)
    m.y  = peri.MultivariateNormal { loc = m.mu, scale_tril = m.s:reshape(d, 1) * m.l }
  end) { y = y } }
end)

add("ordered logit", 4, function (rng)
  local n, k = pick(rng, { 30, 100 }), 4
  local x = normal(rng, n)
  local z = x * 0.8 + peri.Logistic(0, 1):sample({ n }, rng)
  local y = z:gt(-1) + z:gt(0.5) + z:gt(2) + 1
  return { posed = peri.model(function (m, d)
    m.beta = Normal(0, 5)
    m.cut  = Flat(constraints.ordered, k - 1)
    m:factor("cut", Normal(0, 5):log_prob(m.cut))
    local above = (m.beta * d.x:reshape(n, 1) - m.cut):sigmoid()
    local all = peri.cat({ peri.ones(n, 1), above, peri.zeros(n, 1) }, 2)
    local p = all:narrow(2, 1, k) - all:narrow(2, 2, k)
    m:factor("y", (p * peri.one_hot(d.y, k)):sum(2):log())
  end) { x = x, y = y } }
end)

return sets
