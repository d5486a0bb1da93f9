--- Logistic regression by variational inference, written out: reparameterised draws for the data, an analytic KL for
-- the prior. Two weights, so that the true posterior can be had from a grid.
local peri = require "perilune"
local Normal, Bernoulli = peri.Normal, peri.Bernoulli

local rng, N, STEPS, DRAWS = peri.rng(2026), 40, 1500, 8
local x = Normal(0, 1.5):sample(N, rng)
local y = Bernoulli { logits = -0.5 + 1.3 * x }:sample(nil, rng)
local design = peri.stack({ peri.ones(N), x }, 1)            -- (2, N): intercept and slope
local prior = Normal(0, 2)

local loc, log_scale = peri.param { 0, 0 }, peri.param { -1, -1 }
local opt = peri.optim.Adam({ loc, log_scale }, { lr = 0.05 }):schedule(peri.optim.schedules.cosine(STEPS))
local trace, sum = {}, 0
for step = 1, STEPS do
  local guide = Normal(loc, log_scale:exp())
  local logits = guide:rsample(DRAWS, rng):matmul(design)    -- (DRAWS, N)
  local data = Bernoulli { logits = logits }:log_prob(y):sum() / DRAWS
  local elbo = data - peri.kl_divergence(guide, prior):sum()
  opt:zero_grad();
  (-elbo):backward()
  opt:step()
  sum = sum + elbo:item()
  if step % 50 == 0 then
    trace[#trace + 1], sum = sum / 50, 0
  end
end

-- The truth: the posterior on a grid.
local grid = peri.linspace(-6, 6, 241)
local a, b = grid:reshape(-1, 1), grid:reshape(1, -1)
local log_posterior = prior:log_prob(a) + prior:log_prob(b)
for i = 1, N do log_posterior = log_posterior + Bernoulli { logits = a + b * x[i] }:log_prob(y[i]) end
local evidence = log_posterior:logsumexp() + 2 * math.log(12 / 240)
local p = (log_posterior - log_posterior:logsumexp()):exp()
local function moments (values)
  local mean = (p * values):sum()
  return mean, math.sqrt((p * (values - mean) ^ 2):sum())
end

print "weight      guide mean    sd    true mean    sd"
for i, weight in ipairs { { "intercept", a }, { "slope", b } } do
  local mean, sd = moments(weight[2])
  print(string.format("%-10s  %10.3f  %.3f  %9.3f  %.3f", weight[1], loc:detach()[i],
                      math.exp(log_scale:detach()[i]), mean, sd))
end
print(string.format("\nthe ELBO, means of 50 steps; log evidence %.3f", evidence))
print(peri.plot(peri.arange(50, STEPS + 1, 50), trace, { xlabel = "step" }):text { height = 6 })
