--- Is the sampler right for this model? Simulation-based calibration: values from the prior, data from the model with
-- them, and the ranks of the values among draws of the posterior, which are uniform if all is right.
local peri = require "perilune"

local Normal, HalfNormal = peri.Normal, peri.HalfNormal

local line = peri.model(function (m, d)
  m.slope = Normal(0, 1)
  m.sigma = HalfNormal(1)
  m.y     = Normal(m.slope * d.x, m.sigma)
end)

-- Of y only the shape counts: it is simulated.
local data = { x = { -1, 0, 1, 2, 3 }, y = { 0, 0, 0, 0, 0 } }

print "nuts:"
print(peri.sbc(line, { data = data, method = "nuts", n = 60, seed = 1 }))

-- One that is too sure of itself is found out: true values lie at the ends of its draws too often.
local found = peri.sbc(line, { data = data, n = 60, seed = 1, method = function (posed, rng)
  local post = posed:laplace { rng = rng }
  local draws = {}
  for name, x in pairs(post:draws()) do draws[name] = x:mean(1) + 0.5 * (x - x:mean(1)) end
  return draws
end })
print "\na Laplace approximation, half as wide:"
print(found)
