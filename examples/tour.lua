--- A short tour: distributions, KL divergence, batches, a class of one's own, data, a model.
-- Run by `make demo`.
local peri = require "perilune"
local Normal, Uniform, Exponential = peri.Normal, peri.Uniform, peri.Exponential

local function title (text) print("\n" .. text .. "\n" .. ("-"):rep(#text)) end

title "Numbers in, numbers out"
local p, q = Normal(0, 1), Normal { loc = 1, scale = 2 }
print("p = " .. tostring(p) .. ",  q = " .. tostring(q))
print("p:log_prob(0.3)          ", p:log_prob(0.3))
print("p:cdf(-9)                ", p:cdf(-9), "a tail that 1 + erf would round to 0")
print("p:icdf(1e-20)            ", p:icdf(1e-20))
print("Exponential(2):entropy() ", Exponential(2):entropy())

title "KL divergence: direction matters"
print("KL(p || q) = " .. peri.kl_divergence(p, q))
print("KL(q || p) = " .. peri.kl_divergence(q, p))
print("KL(p || p) = " .. peri.kl_divergence(p, p))
print(peri.plot { p, q })   -- :save "pq.svg" makes a picture for a page of it
print("nearly equal: KL(N(0, 1) || N(1e-9, 1 + 1e-9)) = "
      .. peri.kl_divergence(Normal(0, 1), Normal(1e-9, 1 + 1e-9)))
print("no room:      KL(U(0, 2) || U(0, 1)) = " .. peri.kl_divergence(Uniform(0, 2), Uniform(0, 1)))

title "Tensors in, tensors out: a table of KLs in one pass"
local locs, scales = peri.tensor { { 0 }, { 1 }, { 2 } }, peri.tensor { 0.5, 1, 2, 4 }
print "KL(N(loc, 1) || N(0, scale)) for loc = 0, 1, 2 down and scale = 0.5, 1, 2, 4 across"
print(peri.kl_divergence(Normal(locs, 1), Normal(0, scales)))

title "A hundred thousand draws each, from one seed"
local rng = peri.rng(2026)
for _, d in ipairs { Normal(0, 1), Exponential(1), Uniform(-2, 2), Normal({ -2, 2 }, 0.6) } do
  local draws = d:sample(100000, rng)
  print(peri.hist(draws, { range = { -4, 4 }, bins = 48 }):spark() .. "  " .. tostring(d))
end

title "A class of one's own, and a KL for it"
local Noise = Normal:extend "Noise"           -- inherits density, sampler and KL
print("KL(Noise || Normal) by inheritance:", peri.kl_divergence(Noise(0, 1), q))
peri.register_kl(Noise, Normal, function (a, b)   -- a formula in Lua runs on tensors too
  local r = a.scale / b.scale
  return (r * r - 1) / 2 + ((a.loc - b.loc) / b.scale) ^ 2 / 2 - peri.log(r)
end)
print("the same by our own formula:       ", peri.kl_divergence(Noise(0, 1), q))
print("and on a batch:")
print(peri.kl_divergence(Noise(locs, 1), Normal(0, scales)))

title "Errors say what is wrong"
print(select(2, pcall(Normal, 0, -1)))
print(select(2, pcall(Normal, 0, { 1, 2, -3 })))
print(select(2, pcall(Normal, { 1, 2 }, { 1, 2, 3 })))
print(select(2, pcall(peri.kl_divergence, p, peri.Cauchy(0, 1), { fallback = false })))

title "From data to a law, and a picture of both"
local waits = peri.Gamma(3, 2):sample(500, peri.rng(7))
local compared = peri.fit({ peri.Gamma, peri.LogNormal, peri.Weibull }, waits)
print(compared)
print(peri.hist(waits, { law = compared.best.distribution, title = "500 waits, and the best of three families" }))

title "A model, and a posterior that says whether to believe it"
local schools = peri.model(function (m, d)
  m.mu    = Normal(0, 5)
  m.tau   = peri.HalfCauchy(5)
  m.theta = Normal(m.mu, m.tau):expand(8)
  m.y     = Normal(m.theta, d.sigma)
end)
local post = schools {
  y = { 28, 8, -3, 7, -1, 1, 18, 12 }, sigma = { 15, 10, 16, 11, 9, 11, 10, 18 },
} :fit { seed = 1 }
print(post)
print(post:plot "theta")

print [[

Next: `make repl` gives a prompt. Type there
  ?Gamma                          what a law is, and what it knows
  plot { Gamma(3, 2), Normal(1.5, 1) }
  help()                          all there is
and see docs/prompt.md, docs/models.md and the other examples.]]
