--- Writes the pictures of docs/plots.md: `make docs`. Loaded with an argument it returns them instead, by file.
local peri = require "perilune"

local schools = peri.model(function (m, d)
  m.mu    = peri.Normal(0, 5)
  m.tau   = peri.HalfCauchy(5)
  m.theta = peri.Normal(m.mu, m.tau):expand(8)
  m.y     = peri.Normal(m.theta, d.sigma)
end)
local post = schools { y = { 28, 8, -3, 7, -1, 1, 18, 12 }, sigma = { 15, 10, 16, 11, 9, 11, 10, 18 } }
             :nuts { seed = 1 }

local pictures = {
  laws  = peri.plot { peri.Normal(0, 1), peri.Normal(1, 2) },
  draws = peri.hist(peri.Gamma(3, 2):sample(2000, peri.rng(1)), { law = peri.Gamma(3, 2) }),
  heat  = peri.plot(peri.MultivariateNormal({ 0, 0 }, { { 1, 0.8 }, { 0.8, 2 } })),
  pairs = post:plot("pairs", { sites = { "mu", "tau" }, title = "Eight schools" }),
}

local files = {}
for name, plot in pairs(pictures) do
  local file = "docs/pictures/" .. name .. ".svg"
  files[file] = plot:svg()
  if not ... then plot:save(file) end
end
return files
