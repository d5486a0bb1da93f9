--- Thompson sampling in a game loop: which of five enemies' behaviours keeps the player playing? Each frame draws one
-- plausible success rate for each behaviour from what is known of it, and tries the best.
local peri = require "perilune"
local Beta, Bernoulli = peri.Beta, peri.Bernoulli

local NAMES = { "charge", "flank", "ambush", "retreat", "swarm" }
local rates = peri.tensor { 0.42, 0.52, 0.66, 0.30, 0.58 }   -- unknown to the loop
local ROUNDS, generators = 3000, peri.rng(2026):split(2)
local mind, world = generators[1], generators[2]             -- the player's luck is not the loop's

local wins, losses, tries = peri.ones(5), peri.ones(5), { 0, 0, 0, 0, 0 }   -- Beta(1, 1): anything is possible
local regret, curve, shares = 0, {}, { {}, {}, {}, {}, {} }

for round = 1, ROUNDS do
  local arm = Beta(wins, losses):sample(nil, mind):argmax()
  local won = Bernoulli(rates[arm]):sample(nil, world)
  wins[arm], losses[arm] = wins[arm] + won, losses[arm] + 1 - won
  tries[arm], regret = tries[arm] + 1, regret + rates:max() - rates[arm]
  if round % 100 == 0 then
    curve[#curve + 1] = regret
    for i = 1, 5 do shares[i][#shares[i] + 1] = tries[i] end
  end
end

-- How often each was tried within each hundred rounds.
local function within (counts)
  local each = {}
  for i, n in ipairs(counts) do each[i] = n - (counts[i - 1] or 0) end
  return each
end

print "behaviour  tried   true rate   believed          how often, over time"
local belief = Beta(wins, losses)
local mean, sd = belief:mean(), belief:stddev()
for i, name in ipairs(NAMES) do
  print(string.format("%-9s  %5d      %.2f     %.3f +- %.3f     %s", name, tries[i], rates[i], mean[i], sd[i],
                      peri.plot(within(shares[i]), { yrange = { 0, 100 } }):spark()))
end
print(string.format("\nplays lost, in all: %s %.1f of %d", peri.plot(curve):spark(), regret, ROUNDS))
print(string.format("at random it would have been %.1f", ROUNDS * (rates:max() - rates:mean())))
