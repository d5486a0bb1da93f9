--- log_prob, 1e6 elements, every parameter a tensor: how fast are the densities?
local peri = require "perilune"

local N = 1000000
local ROWS, D = 10000, 8   -- of vectors

local function spread (g) return g:uniform(N) + 0.5 end

local function normal ()
  local g = peri.rng(1)
  local d, x = peri.Normal(g:normal(N), spread(g)), g:normal(N)
  return function () return d:log_prob(x) end
end

local function gamma ()
  local g = peri.rng(1)
  local d, x = peri.Gamma(spread(g), spread(g)), spread(g)
  return function () return d:log_prob(x) end
end

local function beta ()
  local g = peri.rng(1)
  local d, x = peri.Beta(spread(g), spread(g)), g:uniform(N)
  return function () return d:log_prob(x) end
end

local function student ()
  local g = peri.rng(1)
  local d, x = peri.StudentT(spread(g), g:normal(N), spread(g)), g:normal(N)
  return function () return d:log_prob(x) end
end

local function poisson ()
  local g = peri.rng(1)
  local d = peri.Poisson(4 * spread(g))
  local x = d:sample(nil, g)
  return function () return d:log_prob(x) end
end

local function multivariate ()   -- one distribution, many vectors
  local g = peri.rng(1)
  local a = g:normal(D, D)
  local covariance = a:matmul(a:transpose(1, 2)) + D * peri.eye(D)
  local d, x = peri.MultivariateNormal(g:normal(D), covariance), g:normal(ROWS, D)
  return function () return d:log_prob(x) end
end

return {
  { "Normal",   normal,  torch = 4,   torch32 = 1.35, hand = 1.25 },
  { "Gamma",    gamma,   torch = 3.8, torch32 = 1.7,  hand = 1.25 },
  { "Beta",     beta,    torch = 6,   torch32 = 2.3,  hand = 1.25 },
  { "StudentT", student, torch = 4,   torch32 = 1.4,  hand = 1.25 },
  { "Poisson",  poisson, torch = 3.6, torch32 = 1.5,  hand = 1.25 },
  { "MultivariateNormal, 1e4 vectors of 8", multivariate, torch = 5 },
}
