--- KL divergences of one family: how fast are the closed forms, and one written in Lua?
local peri = require "perilune"

local N = 1000000

local function spread (g, n) return g:uniform(n or N) + 0.5 end

local function pair (make)
  return function ()
    local g = peri.rng(1)
    local p, q = make(g), make(g)
    return function () return peri.kl_divergence(p, q) end
  end
end

local laplace = pair(function (g) return peri.Laplace(g:normal(N), spread(g)) end)
local gamma   = pair(function (g) return peri.Gamma(spread(g), spread(g)) end)
local beta    = pair(function (g) return peri.Beta(spread(g), spread(g)) end)

local function categorical (rows, outcomes)
  return pair(function (g) return peri.Categorical { logits = g:normal(rows, outcomes) } end)
end

local dirichlet = pair(function (g) return peri.Dirichlet(spread(g, N):reshape(100000, 10)) end)

local function multivariate (rows, d)
  return pair(function (g)
    local triangle = 0.1 * g:normal(rows, d, d) * peri.arange(1, d + 1):unsqueeze(-1):gt(peri.arange(1, d + 1))
    return peri.MultivariateNormal { loc = g:normal(rows, d), scale_tril = triangle + peri.eye(d), validate = false }
  end)
end

-- KL of normals as a user would register it; the demand is against the kernel's own speed (see kl_normal).
local Mine = peri.Normal:extend "Mine"
peri.register_kl(Mine, Mine, function (p, q)
  local ratio, distance = p.scale / q.scale, (p.loc - q.loc) / q.scale
  return 0.5 * (ratio * ratio + distance * distance - 1) - peri.log(ratio)
end)
local formula = pair(function (g) return Mine(g:normal(N), spread(g)) end)

return {
  { "Laplace, 1e6",                  laplace,                 torch = 2.8, torch32 = 1.1, hand = 1.3 },
  { "Gamma, 1e6",                    gamma,                   torch = 4.5, torch32 = 2.3, hand = 1.2 },
  { "Beta, 1e6",                     beta,                    torch = 4.7, torch32 = 2.5, hand = 1.2 },
  { "Categorical, 1e5 x 10",         categorical(100000, 10), torch = 7.5, torch32 = 5.5, hand = 1.3 },
  { "Categorical, 4096 x 1000",      categorical(4096, 1000), torch = 4.5, torch32 = 2.2, hand = 1.25 },
  { "Dirichlet, 1e5 x 10",           dirichlet,               torch = 4.8, torch32 = 2.7, hand = 1.25 },
  { "MultivariateNormal, 1e5 x 8",   multivariate(100000, 8), torch = 8.5, torch32 = 6, hand = 1.4 },
  { "MultivariateNormal, 2000 x 64", multivariate(2000, 64),  torch = 3.7, torch32 = 1.8, hand = 1.4 },
  { "Normal by a formula in Lua, 1e6", formula },
}
