--- What several states compute at once: all results, to the last bit.
-- The host says with how many threads, in a global.
local peri = require "perilune"
local threads = _G.threads
if threads > 1 then peri.set_threads(threads) end

local parts = {}
local function add (name, x)
  local sum = type(x) == "number" and x or peri.item(x:sum())
  if sum ~= sum then error(name .. " is NaN, which would hide any difference") end
  parts[#parts + 1] = name .. " " .. string.format("%a", sum)
end

local N = 40000
local rng = peri.rng(2024)
local x = rng:normal(N)
local u = peri.Uniform(0, 1):sample(N, rng)
add("normal", x)
add("uniform", u)
add("exponential", peri.Exponential(2):sample({ 200, 200 }, rng))
peri.seed(7)
add("default generator", peri.Normal(1, 2):sample(N))

local p, q = peri.Normal(x, u + 0.5), peri.Normal(0.5, 2)
add("log_prob", q:log_prob(x))
add("cdf", q:cdf(x))
add("icdf", q:icdf(u))
add("kl", peri.kl_divergence(p, q))
add("kl of numbers", peri.kl_divergence(peri.Exponential(1), peri.Exponential(3)))

for _, name in ipairs { "exp", "log1p", "erf", "erfcx", "lgamma", "digamma", "trigamma", "ndtri" } do
  add(name, peri.special[name](u))
end
local few = u:narrow(1, 1, 500)
add("gammainc", peri.special.gammainc(few * 10, few * 5))
add("betainc", peri.special.betainc(few + 1, few + 2, few))

add("mean", x:mean())
add("var", x:reshape(200, 200):var(1))
add("logsumexp", x:reshape(200, 200):logsumexp(2))
add("softmax", x:reshape(200, 200):softmax(1):max(1))
add("matmul", x:reshape(200, 200):matmul(u:reshape(200, 200)))
add("cumsum", x:cumsum())

local A = peri.Normal:extend "A"
peri.register_kl(A, A, function (a, b) return a.loc * b.scale end)
add("own pair", peri.kl_divergence(A(x, 1), A(0, u + 1)))
if threads > 1 then peri.set_threads(1) end
return table.concat(parts, "\n")
