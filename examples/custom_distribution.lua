--- A distribution of one's own: the Moyal law of energy lost by a fast particle, with its KL, fitted by gradients.
--
--   log p(x) = -(z + exp(-z))/2 - log(scale) - log(2 pi)/2,    z = (x - loc)/scale
local peri = require "perilune"
local constraints = peri.constraints

local Moyal = peri.Distribution:extend("Moyal", {
  params = { { "loc", constraints.real, default = 0 }, { "scale", constraints.positive, default = 1 } },
  support = constraints.real,
})

local EULER = 0.57721566490153286061
local MEAN = EULER + math.log(2)              -- of z

function Moyal:log_prob (x)
  local z = (x - self.loc) / self.scale
  return -(z + peri.exp(-z)) / 2 - peri.log(self.scale) - math.log(2 * math.pi) / 2
end
function Moyal:mean () return self:batched(self.loc + self.scale * MEAN) end
function Moyal:variance () return self:batched(self.scale ^ 2 * (math.pi ^ 2 / 2)) end
function Moyal:sample (shape, rng)            -- exp(-z) is the square of a standard normal
  local z = peri.Normal(self:batched(0.0), 1):sample(shape, rng)
  return self.loc - self.scale * peri.log(z * z)
end

local p, q = Moyal(0, 1), Moyal(1, 2)
print(p, "mean", p:mean(), "sd", p:stddev())
local how = peri.kl_explain(p, q)
print(string.format("KL without a formula: %.12f by %s", how.value, how.method))

-- E exp(-z r) = 2^r Gamma(r + 1/2)/Gamma(1/2)
peri.register_kl(Moyal, Moyal, function (a, b)
  local r, d = a.scale / b.scale, (a.loc - b.loc) / b.scale
  local power = peri.exp(r * math.log(2) - d + peri.lgamma(r + 0.5) - math.log(math.pi) / 2)
  return (d + r * MEAN + power - MEAN - 1) / 2 - peri.log(r)
end)
how = peri.kl_explain(p, q)
print(string.format("KL by our formula:    %.12f by %s", how.value, how.method))

-- Draws from one detector; which Moyal made them? Newton-like steps up the likelihood, from what moments say.
local draws = Moyal(3, 0.7):sample(2000, peri.rng(2026))
local loc, log_scale = peri.param(draws:mean()), peri.param(0)
local opt = peri.optim.LBFGS({ loc, log_scale })
print "\nevaluation   loss      loc    scale"
opt:step(function ()
  local loss = -Moyal(loc, log_scale:exp()):log_prob(draws):mean()
  loss:backward()
  print(string.format("%6d  %9.5f  %7.4f  %7.4f", opt.evaluations, loss:item(), loc:item(), math.exp(log_scale:item())))
  return loss
end)

-- The gradient goes through the KL as well.
local slope = peri.grad(function (x) return peri.kl_divergence(Moyal(x, 1), Moyal(3, 0.7)) end)
print(string.format("\nd KL(Moyal(x, 1) || Moyal(3, 0.7))/dx at 0: %.6f, at 3: %.6f", slope(0.0), slope(3.0)))
