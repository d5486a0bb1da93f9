--- Eight schools by the No-U-Turn sampler: the verdict, the table, and whether the four chains agree, to look at.
local peri = require "perilune"
local Normal, HalfCauchy = peri.Normal, peri.HalfCauchy

local schools = peri.model(function (m, d)
  m.mu    = Normal(0, 5)
  m.tau   = HalfCauchy(5)
  m.theta = Normal(m.mu, m.tau):expand(8)
  m.y     = Normal(m.theta, d.sigma)
end)

local post = schools {
  y     = { 28, 8, -3, 7, -1, 1, 18, 12 },
  sigma = { 15, 10, 16, 11, 9, 11, 10, 18 },
} :nuts { seed = 1, chains = 4, draws = 1000, progress = true }
print(post)

print()
print(post:plot("ranks", { sites = "tau" }))       -- even rows are those of chains that agree
print()
print(post:plot("trace", { sites = "tau" }))
print(string.format("\nmean of tau %.2f +- %.2f; log evidence %.3f +- %.3f", post.mean.tau, post:mcse().tau,
                    post.log_evidence, post.log_evidence_error))
