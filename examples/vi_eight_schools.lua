--- Eight schools (Rubin 1981): how much does coaching help? A hierarchy fitted by variational inference.
local peri = require "perilune"
local Normal, HalfCauchy = peri.Normal, peri.HalfCauchy

local effect = peri.tensor { 28, 8, -3, 7, -1, 1, 18, 12 }    -- points gained, as estimated
local error_ = peri.tensor { 15, 10, 16, 11, 9, 11, 10, 18 }  -- and how uncertain that is

-- School i's true effect is mu + tau eta_i: written so, the parameters are nearly independent.
local function log_joint (t)
  return Normal(0, 5):log_prob(t.mu) + HalfCauchy(5):log_prob(t.tau) + Normal(0, 1):log_prob(t.eta):sum()
       + Normal(t.mu + t.tau * t.eta, error_):log_prob(effect):sum()
end

local fit = peri.vi.fit {
  log_joint = log_joint,
  params = { mu = peri.constraints.real, tau = peri.constraints.positive, eta = 8 },
  rng = peri.rng(2026), progress = true,
}
print(fit)
print(string.format("\nbest possible with independent Gaussians: -31.60; log evidence: -31.311; gap: %.2f nats",
                    -31.311 - fit.elbo_mean))

-- Effects of the schools: draws pass through the model as parameters do.
local draws = fit:sample(4000, peri.rng(1))
local theta = draws.mu:unsqueeze(2) + draws.tau:unsqueeze(2) * draws.eta
local mean, sd = theta:mean(1), theta:std(1)

local function place (x) return math.floor((x + 30) / 75 * 60 + 0.5) end   -- of -30 ... 45 on a line
print "\nschool  estimate   shrunk to    * estimate   o posterior mean, with two standard deviations"
for i = 1, 8 do
  local line = {}
  for c = 0, 60 do line[c] = " " end
  for c = place(mean[i] - 2 * sd[i]), place(mean[i] + 2 * sd[i]) do line[c] = "-" end
  line[place(0)] = "|"
  line[place(effect[i])], line[place(mean[i])] = "*", "o"
  print(string.format("   %d      %5.1f   %5.1f +- %3.1f  %s", i, effect[i], mean[i], sd[i],
                      table.concat(line, "", 0, 60)))
end
