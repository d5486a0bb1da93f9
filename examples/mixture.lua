--- Two kinds of eruptions: a mixture whose components are ordered, so that they have names.
local peri = require "perilune"
local Normal, HalfNormal, Beta, Flat = peri.Normal, peri.HalfNormal, peri.Beta, peri.Flat

-- Lengths of eruptions, in minutes, drawn from a law that the model is to find again.
local rng = peri.rng(7)
local short, long = Normal(2.0, 0.25):sample({ 90 }, rng), Normal(4.3, 0.4):sample({ 180 }, rng)

local eruptions = peri.model(function (m)
  m.share = Beta(2, 2)                                      -- of the short ones
  m.mu    = Flat(peri.constraints.ordered, 2)
  m.sigma = HalfNormal(1):expand(2)
  m:factor("prior of mu", Normal(3, 2):log_prob(m.mu))
  m.y = peri.MixtureSameFamily(peri.Categorical { probs = peri.stack { m.share, 1 - m.share } },
                               Normal(m.mu, m.sigma))
end)

local post = eruptions { y = peri.cat { short, long } } :fit { seed = 1 }
print(post)
print()
print(post:plot "mu")
print("\nwhat the model would draw:")
local drawn = post:predict(nil, 1000, peri.rng(1)).y:reshape(-1)
print(peri.hist(drawn, { xlabel = "y" }))
