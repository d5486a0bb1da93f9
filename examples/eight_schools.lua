--- Eight schools: the effect of coaching, a model in ten lines, fitted and checked.
local peri = require "perilune"
local Normal, HalfCauchy = peri.Normal, peri.HalfCauchy

local schools = peri.model(function (m, d)
  m.mu    = Normal(0, 5)                        -- a distribution: a site
  m.tau   = HalfCauchy(5)
  m.theta = Normal(m.mu, m.tau):expand(8)
  m.best  = m.theta:max()                       -- a value: derived, and reported
  m.y     = Normal(m.theta, d.sigma)            -- observed, because the data have y
end)

local posed = schools {
  y     = { 28, 8, -3, 7, -1, 1, 18, 12 },
  sigma = { 15, 10, 16, 11, 9, 11, 10, 18 },
}

local post = posed:nuts { seed = 1 }
print(post)
print()
print(post:plot "theta")
print()
print("by variational inference:")
print(posed:vi { seed = 1 })
