--- A distribution of one's own meets the others: dispatch, a closed form, and what happens without one.
local peri = require "perilune"
local Normal, Cauchy, Gamma = peri.Normal, peri.Cauchy, peri.Gamma

local function report (title, p, q, opts)
  local found = peri.kl_explain(p, q, opts)
  print(string.format("%-44s %12.8g  +- %-8.1g %s (%s, %s)", title, found.value, found.error,
                      found.method, found.pair[1], found.pair[2]))
end

print "1. Raised cosine: a density and a support are enough"
local Cosine = peri.Distribution:extend("Cosine", {
  params  = { { "loc", peri.constraints.real, default = 0 }, { "scale", peri.constraints.positive, default = 1 } },
  init    = function (self)
    self.support = peri.constraints.interval(self.loc - self.scale, self.loc + self.scale)
  end,
})

function Cosine:log_prob (x)
  local z = (x - self.loc) / self.scale
  return peri.log1p(peri.cos(math.pi * z)) - peri.log(2 * self.scale)
end

report("Cosine(0, 1) || Normal(0, 0.4)", Cosine(0, 1), Normal(0, 0.4))
report("Cosine(0, 1) || Cosine(0, 2)", Cosine(0, 1), Cosine(0, 2))
report("Normal(0, 0.4) || Cosine(0, 1)", Normal(0, 0.4), Cosine(0, 1))

print "\n2. With a closed form, once registered"
local entropy, variance = 2 * math.log(2) - 1, 1 / 3 - 2 / math.pi ^ 2   -- of Cosine(0, 1)
peri.register_kl(Cosine, Normal, function (p, q)
  local r, d = p.scale / q.scale, (p.loc - q.loc) / q.scale
  return 0.5 * (variance * r ^ 2 + d ^ 2 + math.log(2 * math.pi)) - peri.log(r) - entropy
end)
report("Cosine(0, 1) || Normal(0, 0.4)", Cosine(0, 1), Normal(0, 0.4))
print("   a batch:", tostring(peri.kl_divergence(Cosine(0, { 0.5, 1, 2 }), Normal(0, 0.4))))

print "\n3. A subclass inherits what its parents have registered"
local Ripple = Cosine:extend("Ripple")
report("Ripple(0, 1) || Normal(0, 0.4)", Ripple(0, 1), Normal(0, 0.4))
report("Ripple(0, 1) || Cauchy(0, 1)", Ripple(0, 1), Cauchy(0, 1))

print "\n4. Nothing is known but draws"
local Sum = peri.Distribution:extend("Sum", { event_shape = { 2 } })   -- of two gammas, and their share
function Sum:log_prob (x)   -- luacheck: ignore self
  local s, b = x:select(-1, 1), x:select(-1, 2)
  return Gamma(3, 1):log_prob(s) + peri.Beta(1, 2):log_prob(b)
end
function Sum:sample (shape, rng)   -- luacheck: ignore self
  return peri.stack({ Gamma(3, 1):sample(shape, rng), peri.Beta(1, 2):sample(shape, rng) }, -1)
end
local q = peri.Independent(peri.LogNormal({ 1, -1 }, 1), 1)
report("Sum() || Independent(LogNormal)", Sum(), q, { rng = peri.rng(1) })
report("   with a hundred times the draws", Sum(), q, { samples = 1000000, rng = peri.rng(1) })
print("   refused:", select(2, pcall(peri.kl_divergence, Sum(), q, { fallback = false })))
