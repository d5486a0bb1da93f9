--- An A/B test: is the new page better, by how much, and what would it cost to be wrong?
local peri = require "perilune"
local Beta, Binomial = peri.Beta, peri.Binomial

local test = peri.model(function (m, d)
  m.a      = Beta(1, 1)
  m.b      = Beta(1, 1)
  m.bought = Binomial(d.shown, peri.stack { m.a, m.b })
  m.lift   = m.b / m.a - 1
end)

local post = test { shown = { 1450, 1398 }, bought = { 119, 147 } } :fit { seed = 1 }
print(post)
print()
print(post:plot "lift")

local draws = post:draws()
print(string.format("\nB is better with probability %.3f", draws.b:gt(draws.a):mean()))
print(string.format("choosing B although A is better would cost %.5f of a sale per visitor",
                    peri.maximum(draws.a - draws.b, 0):mean()))
