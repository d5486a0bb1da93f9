--- Models of which ways to the posterior are calibrated (peri.sbc), with data: of what is observed the shape counts.
local peri = require "perilune"

local Normal, HalfNormal = peri.Normal, peri.HalfNormal

local calibrated = {}

calibrated.schools = {
  model = peri.model(function (m, d)
    m.mu    = Normal(0, 5)
    m.tau   = HalfNormal(5)
    m.theta = Normal(m.mu, m.tau):expand(8)
    m.y     = Normal(m.theta, d.sigma)
  end),
  data = { y = peri.zeros(8), sigma = { 15, 10, 16, 11, 9, 11, 10, 18 } },
}

calibrated.regression = {
  model = peri.model(function (m, d)
    m.beta  = Normal(0, 2):expand(2)
    m.sigma = HalfNormal(2)
    m.y     = Normal(m.beta[1] + m.beta[2] * d.x, m.sigma)
  end),
  data = { x = { -1, -0.5, 0, 0.5, 1, 1.5 }, y = peri.zeros(6) },
}

calibrated.mixture = {
  model = peri.model(function (m)
    m.first  = Normal(0, 2)
    m.gap    = peri.Gamma(4, 1)
    m.share  = peri.Beta(5, 5)
    m.y      = peri.MixtureSameFamily(peri.Categorical(peri.stack { m.share, 1 - m.share }),
                                      Normal(peri.stack { m.first, m.first + m.gap }, 1)):expand(30)
  end),
  data = { y = peri.zeros(30) },
}

return calibrated
