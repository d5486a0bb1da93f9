--- The models that are timed beside Stan: posed, with the data that bench/stan/<name>.stan reads, and the demands.
--
--   gradient   microseconds of a log density with its gradient at most, or "Stan" for fewer than Stan's
--   nuts       effective draws per second of CPU at least, or { times } for so many times Stan's
--   sites      whose slowest element counts
local json       = require "dkjson"
local peri       = require "perilune"
local posteriors = require "spec.support.posteriors"

local Normal, HalfNormal = peri.Normal, peri.HalfNormal

local function read (name)
  local file = assert(io.open("spec/support/posteriors/" .. name .. ".json"))
  local text = file:read "a"
  file:close()
  return assert(json.decode(text)).data
end

local function known (name)
  for _, one in ipairs(posteriors.all()) do if one.name == name then return one.posed, read(name) end end
end

local function groups ()
  local J, each, rng = 1000, 10, peri.rng(1)
  local index = (peri.arange(0, J * each) / each):floor() + 1
  local alpha = Normal(1, 0.5):sample({ J }, rng)
  local data = { J = J, N = J * each, group = index, y = Normal(alpha[index], 1):sample({}, rng) }
  return peri.model(function (m, d)
    m.mu, m.tau, m.sigma = Normal(0, 5), HalfNormal(2), HalfNormal(2)
    m.alpha = Normal(m.mu, m.tau):expand(J)
    m.y     = Normal(m.alpha[d.group], m.sigma)
  end) { group = index, y = data.y }, data
end

local function logistic ()
  local N, K, rng = 10000, 25, peri.rng(2)
  local x = Normal(0, 1):sample({ N, K }, rng)
  local beta = Normal(0, 0.5):sample({ K }, rng)
  local y = peri.Bernoulli { logits = x:matmul(beta) }:sample({}, rng)
  return peri.model(function (m, d)
    m.beta = Normal(0, 1):expand(K)
    m.y    = peri.Bernoulli { logits = d.x:matmul(m.beta) }
  end) { x = x, y = y }, { N = N, K = K, x = x, y = y }
end

local function from (name) return function () return known(name) end end

return {
  { name = "eight_schools", title = "eight schools", pose = from "eight_schools-eight_schools_noncentered",
    sites = { "mu", "tau", "theta" }, gradient = 0.45, nuts = 50000 },
  { name = "radon", title = "radon, 85 counties, 919 houses",
    pose = from "radon_mn-radon_hierarchical_intercept_noncentered",
    sites = { "mu_alpha", "sigma_alpha", "beta", "sigma_y", "alpha" }, gradient = "Stan", nuts = { 2 } },
  { name = "groups", title = "1000 groups of 10", pose = groups, gradient = 60 },
  { name = "logistic", title = "logistic regression, 1e4 x 25", pose = logistic, sites = { "beta" }, gradient = 200,
    nuts = { 1.5 } },
  { name = "mixture", title = "two normals, 1000 data", pose = from "low_dim_gauss_mix-low_dim_gauss_mix",
    gradient = 15 },
  { name = "gp", title = "Gaussian process, 11 points", pose = from "gp_pois_regr-gp_regr", gradient = 3 },
  { name = "garch", title = "garch(1, 1), 200 days", pose = from "garch-garch11",
    sites = { "mu", "alpha0", "alpha1", "beta1" }, gradient = 20, nuts = { 1 } },
}
