--- Volatility: GARCH(1, 1), a recurrence run in C by peri.scan, with a bound that depends on another site.
local peri = require "perilune"
local Normal, Uniform, HalfNormal = peri.Normal, peri.Uniform, peri.HalfNormal

-- Daily returns of a market that has quiet and wild times.
local rng, y, variance = peri.rng(3), {}, 1
for t = 1, 300 do
  y[t] = 0.1 + math.sqrt(variance) * Normal(0, 1):sample(nil, rng)
  variance = 0.2 + 0.25 * (y[t] - 0.1) ^ 2 + 0.6 * variance
end

local garch = peri.model(function (m, d)
  m.mu     = Normal(0, 1)
  m.alpha0 = HalfNormal(1)
  m.alpha1 = Uniform(0, 1)
  m.beta1  = Uniform(0, 1 - m.alpha1)
  local function next_variance (s2, yt) return m.alpha0 + m.alpha1 * (yt - m.mu) ^ 2 + m.beta1 * s2 end
  local later, last = peri.scan(next_variance, 1, d.y)
  local s2 = peri.cat { peri.tensor { 1 }, later:narrow(1, 1, #later - 1) }
  m.y        = Normal(m.mu, s2:sqrt())
  m.tomorrow = last:sqrt()
end)

local post = garch { y = y } :fit { seed = 1 }
print(post)
print("\ntomorrow's volatility:")
print(post:plot "tomorrow")
