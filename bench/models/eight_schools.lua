--- From nothing to the printed summary of 4 x 1000 draws: this is timed whole. `vi` as an argument: by posed:vi{}.
local peri = require "perilune"
local Normal, HalfCauchy = peri.Normal, peri.HalfCauchy

local schools = peri.model(function (m, d)
  m.mu, m.tau = Normal(0, 5), HalfCauchy(5)
  m.theta     = Normal(m.mu, m.tau):expand(8)
  m.y         = Normal(m.theta, d.sigma)
end)
local posed = schools { y = { 28, 8, -3, 7, -1, 1, 18, 12 }, sigma = { 15, 10, 16, 11, 9, 11, 10, 18 } }

print(arg[1] == "vi" and posed:vi { rng = peri.rng(1) } or posed:nuts { rng = peri.rng(1) })
