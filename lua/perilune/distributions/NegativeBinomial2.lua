--@ peri.NegativeBinomial2
-- Counts by mean and dispersion: variance mu + mu^2/phi, a Poisson law for large phi.
--   mu       mean
--   phi      the larger, the less dispersed; the dispersion is 1/phi
--   formula  log P(k) = log(Gamma(phi + k)/(Gamma(phi) k!)) + k log(mu/(mu + phi)) + phi log(phi/(mu + phi))
-- > NegativeBinomial2(2, 2):prob(2)
-- 0.1875

-- NegativeBinomial with total_count = phi and odds mu/phi of a success; Stan's names, since `mean` is a method.
local NegativeBinomial = require "perilune.distributions.NegativeBinomial"
local constraints      = require "perilune.constraints"
local f                = require "perilune.functions"

local NegativeBinomial2 = NegativeBinomial:extend("NegativeBinomial2", {
  help = true,
  params = {
    { "mu",  constraints.positive },
    { "phi", constraints.positive },
  },
  operands = { "total_count", "logits" },
  support = constraints.nonnegative_integer,
  init = function (self)
    self.total_count, self.logits = self.phi, f.log(self.mu) - f.log(self.phi)
  end,
})

function NegativeBinomial2:mean () return self:batched(self.mu) end
function NegativeBinomial2:variance () return self.mu + f.square(self.mu) / self.phi end

function NegativeBinomial2:mode ()
  return f.maximum(f.floor((self.phi - 1) * (self.mu / self.phi)), 0)
end

return NegativeBinomial2
