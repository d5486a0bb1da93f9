--- Radon in houses of many counties: partial pooling. The hierarchy is written as one thinks of it; how far to centre
-- it is found by the fit.
local peri = require "perilune"
local Normal, HalfNormal = peri.Normal, peri.HalfNormal

-- Houses of 40 counties, some with two houses, some with thirty.
local rng, county, basement, level = peri.rng(11), {}, {}, {}
for j = 1, 40 do
  local own = 1.2 + 0.35 * Normal(0, 1):sample(nil, rng)
  for _ = 1, j % 5 == 0 and 30 or 2 + j % 4 do
    local n = #county + 1
    county[n], basement[n] = j, n % 3 == 0 and 0 or 1
    level[n] = own + 0.6 * basement[n] + 0.7 * Normal(0, 1):sample(nil, rng)
  end
end

local radon = peri.model(function (m, d)
  m.mu, m.tau = Normal(0, 10), HalfNormal(1)
  m.alpha     = Normal(m.mu, m.tau):expand(40)                    -- one for each county
  m.beta      = Normal(0, 10)
  m.sigma     = HalfNormal(1)
  m.log_radon = Normal(m.alpha[d.county] + m.beta * d.basement, m.sigma)
end)

local posed = radon { county = county, basement = basement, log_radon = level }
local post = posed:fit { seed = 1 }
print(post)
print()
print(post:plot "alpha")
print()
print(post:loo())
