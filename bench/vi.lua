--- A step of mean-field VI with Adam: draw, log joint, KL or entropy, backward, update. What does it cost?
--
-- Logistic regression of N data on 10 features takes the KL of guide and prior; eight schools, not centred (mu,
-- log tau, 8 eta), the entropy of the guide. Each is written out as a loop, and given to peri.vi; traced, it is
-- recorded once. (peri.vi does more than the loops: it draws in units of the posterior's mode, reads the ELBO, looks
-- for what is not finite, cuts gradients that are far larger than they were, averages the path.)
-- Torch is written with torch.distributions, or where a row says so, in raw operations.
local peri = require "perilune"
local Normal, HalfCauchy, Bernoulli = peri.Normal, peri.HalfCauchy, peri.Bernoulli

local FEATURES, LR = 10, 0.01

-- A loop by hand: elbo(guide) of a guide of `size` numbers, recorded in every step, or once.
local function by_hand (size, elbo, traced)
  local loc, log_scale = peri.param(peri.zeros(size)), peri.param(peri.full(size, -1))
  local opt = peri.optim.Adam({ loc, log_scale }, { lr = LR })
  local function step ()
    local loss = -elbo(Normal(loc, log_scale:exp()))
    opt:zero_grad()
    loss:backward()
    opt:step()
  end
  local trace = traced and peri.trace(function () return -elbo(Normal(loc, log_scale:exp())) end)
  local function replay ()
    opt:zero_grad()
    trace:backward()
    opt:step()
  end
  return traced and replay or step
end

local function by_vi (params, log_joint, traced)
  local fit = peri.vi.new { log_joint = log_joint, params = params, samples = 1, lr = LR, rng = peri.rng(1),
                            guide = "meanfield", tolerance = false, trace = traced or false }
  fit:step()   -- sets up
  return function () fit:step() end
end

-- Features, one a row, and labels.
local function data (n)
  local row, column = peri.linspace(1, FEATURES, FEATURES):reshape(-1, 1), peri.linspace(0, n - 1, n)
  local x = (row * column):sin()
  return x, (x[1] + x[2]):gt(0)
end

local function logistic (n, traced)
  return function ()
    local rng, prior, x, y = peri.rng(1), Normal(0, 1), data(n)
    return by_hand(FEATURES, function (guide)
      local logits = guide:rsample(nil, rng):matmul(x)
      return Bernoulli { logits = logits }:log_prob(y):sum() - peri.kl_divergence(guide, prior):sum()
    end, traced)
  end
end

local function logistic_vi ()
  local prior, x, y = Normal(0, 1), data(1000)
  return by_vi({ w = FEATURES }, function (t)
    return Bernoulli { logits = t.w:matmul(x) }:log_prob(y):sum() + prior:log_prob(t.w):sum()
  end)
end

local effect = peri.tensor { 28, 8, -3, 7, -1, 1, 18, 12 }
local error_ = peri.tensor { 15, 10, 16, 11, 9, 11, 10, 18 }
local mu_prior, tau_prior, eta_prior = Normal(0, 5), HalfCauchy(5), Normal(0, 1)

local function schools_joint (mu, tau, eta)
  return mu_prior:log_prob(mu) + tau_prior:log_prob(tau) + eta_prior:log_prob(eta):sum()
       + Normal(mu + tau * eta, error_):log_prob(effect):sum()
end

local function schools (traced)
  return function ()
    local rng = peri.rng(1)
    return by_hand(10, function (guide)
      local u = guide:rsample(nil, rng)
      local mu, log_tau, eta = u[1], u[2], u:narrow(1, 3, 8)
      return schools_joint(mu, log_tau:exp(), eta) + log_tau + guide:entropy():sum()
    end, traced)
  end
end

local function schools_vi (traced)
  return function ()
    return by_vi({ mu = {}, tau = peri.constraints.positive, eta = 8 },
                 function (t) return schools_joint(t.mu, t.tau, t.eta) end, traced)
  end
end

return {
  { "eight schools",                          schools(),        torch = 80, torch32 = 80 },
  { "eight schools, raw operations",          schools(),        torch = 45, torch32 = 45 },
  { "eight schools, peri.vi",                 schools_vi() },
  { "eight schools, traced",                  schools(true),    torch = 350, torch32 = 350 },
  { "eight schools, traced, raw operations",  schools(true),    torch = 190, torch32 = 190 },
  { "eight schools, peri.vi, traced",         schools_vi(true), torch = 80, torch32 = 80 },
  { "logistic regression, N = 1e3, raw operations", logistic(1000), torch = 19, torch32 = 19 },
  { "logistic regression, N = 1e3, peri.vi",  logistic_vi },
  { "logistic regression, N = 1e3, traced",   logistic(1000, true), torch = 25, torch32 = 25 },
  { "logistic regression, N = 1e2",           logistic(100),    torch = 25, torch32 = 25 },
  { "logistic regression, N = 1e3",           logistic(1000),   torch = 25, torch32 = 25, hand = 2 },
  { "logistic regression, N = 1e4",           logistic(10000),  torch = 1 },
  { "logistic regression, N = 1e5",           logistic(100000), torch = 1 },
  { "logistic regression, N = 1e6",           logistic(1000000), torch = 1 },
}
