--- sample, 1e6 draws (1e5 rows of 10 shares): what does a vectorised generator win?
local peri = require "perilune"

local N, SHARES = 1000000, 10

-- n draws from one distribution, or one from each of a batch
local function draws (d, n)
  return function ()
    local g = peri.rng(1)
    return function () return d:sample(n, g) end
  end
end

local function shapes ()
  local d = peri.Gamma(4 * peri.rng(2):uniform(N) + 0.5)
  return draws(d)()
end

local function weights (k) return peri.rng(3):uniform(k) end

local normal      = draws(peri.Normal(0.3, 1.2), N)
local uniform     = draws(peri.Uniform(0.3, 1.2), N)
local exponential = draws(peri.Exponential(1.2), N)
local gamma       = draws(peri.Gamma(2.5), N)
local beta        = draws(peri.Beta(2.5, 1.5), N)
local dirichlet   = draws(peri.Dirichlet(4 * weights(SHARES) + 0.5), N / SHARES)
local poisson     = draws(peri.Poisson(4), N)
local few         = draws(peri.Categorical(weights(10)), N)
local many        = draws(peri.Categorical(weights(1000)), N)

return {
  { "Normal",      normal,      threads = 1, torch = 6.5, torch32 = 1.4, hand = 1.25 },
  { "Uniform",     uniform,     threads = 1, torch = 4.8, torch32 = 3,   hand = 1.25 },
  { "Exponential", exponential, threads = 1, torch = 4.5, torch32 = 4.4, hand = 1.25 },
  { "Normal",      normal,      threads = 2, torch = 12,                 hand = 1.25 },
  { "Uniform",     uniform,     threads = 2, torch = 7.5,                hand = 1.25 },
  { "Exponential", exponential, threads = 2, torch = 8.5,                hand = 1.25 },
  { "Gamma(2.5)",  gamma,       threads = 1, torch = 4.3, torch32 = 4.3, hand = 1.3 },
  { "Gamma, a shape each", shapes, threads = 1, torch = 2.2, torch32 = 2.2, hand = 1.3 },
  { "Beta",        beta,        threads = 1, torch = 5.5, torch32 = 5.5, hand = 1.3 },
  { "Dirichlet",   dirichlet,   threads = 1, torch = 2,   torch32 = 2,   hand = 1.3 },
  { "Gamma(2.5)",  gamma,       threads = 2, torch = 8.5, torch32 = 8.5, hand = 1.3 },
  { "Gamma, a shape each", shapes, threads = 2, torch = 4.1, torch32 = 4.1, hand = 1.3 },
  { "Beta",        beta,        threads = 2, torch = 9,   torch32 = 9,   hand = 1.3 },
  { "Dirichlet",   dirichlet,   threads = 2, torch = 3.5, torch32 = 3.5, hand = 1.3 },
  { "Poisson(4)",  poisson,     threads = 1, torch = 12,  torch32 = 12,  hand = 1.4 },
  { "Categorical of 10",   few,  threads = 1, torch = 7,  torch32 = 7,   hand = 1.4 },
  { "Categorical of 1000", many, threads = 1, torch = 19, torch32 = 19,  hand = 1.4 },
}
