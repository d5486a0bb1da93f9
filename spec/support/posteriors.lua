--- Fourteen real posteriors with known answers (spec/support/posteriors, from posteriordb, BSD-3): their models as a
-- user writes them, and how far off an answer is.
local json = require "dkjson"
local peri = require "perilune"

local constraints                   = peri.constraints
local Flat, Gamma, Beta             = peri.Flat, peri.Gamma, peri.Beta
local Normal, HalfNormal, HalfCauchy = peri.Normal, peri.HalfNormal, peri.HalfCauchy

local posteriors = {}

-- y ~ Normal(x beta, sigma), all flat; sigma under `scale` if there is one.
local function regression (y, columns, scale)
  local function prepare (d)
    local x = {}
    for i, column in ipairs(columns(d)) do x[i] = peri.tensor(column) end
    return { x = peri.stack(x, 2), y = y(d) }
  end
  return prepare, peri.model(function (m, d)
    m.beta  = Flat(d.x.shape[2])
    m.sigma = scale or Flat(constraints.positive)
    m.y     = Normal(d.x:matmul(m.beta), m.sigma)
  end)
end

local function ones (d, like) return peri.ones(#d[like]) end

local function column (name) return function (d) return peri.tensor(d[name]) end end

local function is (x, value) return peri.tensor(x):eq(value) end

local list = {}

local function add (name, prepare, model) list[#list + 1] = { name = name, prepare = prepare, model = model } end

local function as_given (d) return d end

add("eight_schools-eight_schools_noncentered", as_given, peri.model(function (m, d)
  m.mu, m.tau   = Normal(0, 5), HalfCauchy(5)
  m.theta_trans = Normal(0, 1):expand(8)
  m.theta       = m.mu + m.tau * m.theta_trans
  m.y           = Normal(m.theta, d.sigma)
end))

add("eight_schools-eight_schools_centered", as_given, peri.model(function (m, d)
  m.mu, m.tau = Normal(0, 5), HalfCauchy(5)
  m.theta     = Normal(m.mu, m.tau):expand(8)
  m.y         = Normal(m.theta, d.sigma)
end))

add("kidiq-kidscore_momiq", regression(column "kid_score", function (d)
  return { ones(d, "mom_iq"), d.mom_iq }
end, HalfCauchy(2.5)))

add("kidiq-kidscore_interaction", regression(column "kid_score", function (d)
  return { ones(d, "mom_iq"), d.mom_hs, d.mom_iq, peri.tensor(d.mom_hs) * d.mom_iq }
end, HalfCauchy(2.5)))

add("earnings-logearn_interaction", regression(function (d) return peri.log(d.earn) end, function (d)
  return { ones(d, "earn"), d.height, d.male, peri.tensor(d.height) * d.male }
end))

add("mesquite-mesquite", regression(column "weight", function (d)
  return { ones(d, "weight"), d.diam1, d.diam2, d.canopy_height, d.total_height, d.density, d.group }
end))

add("nes2000-nes", regression(column "partyid7", function (d)
  return { ones(d, "partyid7"), d.real_ideo, d.race_adj, is(d.age_discrete, 2), is(d.age_discrete, 3),
           is(d.age_discrete, 4), d.educ1, d.gender, d.income }
end))

add("arK-arK", function (d)
  local y, lags = peri.tensor(d.y), {}
  for k = 1, d.K do lags[k] = y:narrow(1, d.K - k + 1, d.T - d.K) end
  return { y = y:narrow(1, d.K + 1, d.T - d.K), lags = peri.stack(lags, 2), K = d.K }
end, peri.model(function (m, d)
  m.alpha = Normal(0, 10)
  m.beta  = Normal(0, 10):expand(d.K)
  m.sigma = HalfCauchy(2.5)
  m.y     = Normal(m.alpha + d.lags:matmul(m.beta), m.sigma)
end))

add("garch-garch11", as_given, peri.model(function (m, d)
  m.mu     = Flat()
  m.alpha0 = Flat(constraints.positive)
  m.alpha1 = Flat(constraints.unit_interval)
  m.beta1  = Flat(constraints.interval(0, 1 - m.alpha1))
  local first = d.sigma1 ^ 2
  local later = peri.scan(function (variance, y) return m.alpha0 + m.alpha1 * (y - m.mu) ^ 2 + m.beta1 * variance end,
                          first, d.y:narrow(1, 1, d.T - 1))
  m.y = Normal(m.mu, peri.cat { peri.tensor { first }, later }:sqrt())
end))

add("gp_pois_regr-gp_regr", function (d)
  local x = peri.tensor(d.x)
  return { y = d.y, apart = (x:reshape(-1, 1) - x) ^ 2, N = d.N }
end, peri.model(function (m, d)
  m.rho, m.alpha, m.sigma = Gamma(25, 4), HalfNormal(2), HalfNormal(1)
  local covariance = m.alpha ^ 2 * peri.exp(d.apart / (-2 * m.rho ^ 2)) + m.sigma * peri.eye(d.N)
  m.y = peri.MultivariateNormal { loc = peri.zeros(d.N), covariance_matrix = covariance }
end))

add("low_dim_gauss_mix-low_dim_gauss_mix", as_given, peri.model(function (m, d)
  m.mu    = Flat(constraints.ordered, 2)
  m.sigma = HalfNormal(2):expand(2)
  m.theta = Beta(5, 5)
  m:factor("prior of mu", Normal(0, 2):log_prob(m.mu))
  local first, second = Normal(m.mu[1], m.sigma[1]), Normal(m.mu[2], m.sigma[2])
  m:factor("y", peri.logaddexp(m.theta:log() + first:log_prob(d.y), (1 - m.theta):log() + second:log_prob(d.y)))
end))

add("hmm_example-hmm_example", as_given, peri.model(function (m, d)
  m.theta1, m.theta2 = Flat(constraints.simplex, 2), Flat(constraints.simplex, 2)
  m.mu = Flat(constraints.positive_ordered, 2)
  m:factor("prior of mu", Normal({ 3, 10 }, 1):log_prob(m.mu))
  m.y = peri.HiddenMarkov({ 0.5, 0.5 }, peri.stack { m.theta1, m.theta2 }, Normal(m.mu, 1), d.N)
end))

add("radon_mn-radon_hierarchical_intercept_noncentered", as_given, peri.model(function (m, d)
  m.mu_alpha, m.sigma_alpha = Normal(0, 10), HalfNormal(1)
  m.beta, m.sigma_y = Normal(0, 10):expand(2), HalfNormal(1)
  m.alpha     = Normal(m.mu_alpha, m.sigma_alpha):expand(d.J)
  m.log_radon = Normal(m.alpha[d.county_idx] + m.beta[1] * d.log_uppm + m.beta[2] * d.floor_measure, m.sigma_y)
end))

add("dogs-dogs", function (d)
  local y = peri.tensor(d.y)
  local shocks = y:cumsum(2) - y
  return { y = y, shocks = shocks, avoided = peri.arange(0, d.n_trials) - shocks }
end, peri.model(function (m, d)
  m.beta = Normal(0, 100):expand(3)
  m.y    = peri.Bernoulli { logits = m.beta[1] + m.beta[2] * d.avoided + m.beta[3] * d.shocks }
end))

local function read (name)
  local file = assert(io.open("spec/support/posteriors/" .. name .. ".json"))
  local text = file:read "a"
  file:close()
  return assert(json.decode(text, 1, nil, nil, nil))
end

--- All of them: name, posed, reference (mean and sd by element's name).
function posteriors.all ()
  local all = {}
  for i, one in ipairs(list) do
    local from = read(one.name)
    all[i] = { name = one.name, posed = one.model(one.prepare(from.data)), reference = from.reference,
               log_evidence = from.log_evidence }
  end
  return all
end

-- Element "beta[2]" of values by name.
local function element (values, name)
  local site, at = name:match "^([%w_]+)%[(%d+)%]$"
  if not site then return peri.item(values[name]) end
  return values[site][tonumber(at)]
end

--- The largest error of a mean in sds, and the largest factor between sds, of a posterior.
function posteriors.errors (post, reference)
  local worst, factor = 0, 1
  for name, r in pairs(reference) do
    local off = math.abs(element(post.mean, name) - r.mean) / r.sd
    local ratio = element(post.sd, name) / r.sd
    worst  = (off > worst or off ~= off) and off or worst
    factor = math.max(factor, ratio, 1 / ratio)
    if ratio ~= ratio then factor = ratio end
  end
  return worst, factor
end

--- Of draws of chains: the largest distance of a mean or an sd from its reference, in Monte Carlo standard errors. (A
-- reference from draws has an error as well: that of 10 000 of them.)
function posteriors.standard_errors (post, reference)
  local diagnostics = require "perilune.inference.diagnostics"
  local worst = 0
  for name, r in pairs(reference) do
    local site, at = name:match "^([%w_]+)%[(%d+)%]$"
    local x = post.values[site or name]
    if site then x = x:select(2, tonumber(at)) end
    x = x:contiguous():reshape(post.chains, -1)
    local mean_error = math.sqrt(diagnostics.mcse_mean(x) ^ 2 + r.sd ^ 2 / 10000)
    local sd_error = math.sqrt(diagnostics.mcse_sd(x) ^ 2 + r.sd ^ 2 / 20000)
    worst = math.max(worst, math.abs(x:mean() - r.mean) / mean_error, math.abs(x:reshape(-1):std() - r.sd) / sd_error)
  end
  return worst
end

return posteriors
