--- A short tour: distributions, KL divergence, batches, a class of one's own.
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
