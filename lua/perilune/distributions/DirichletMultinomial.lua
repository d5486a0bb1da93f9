--@ peri.DirichletMultinomial
-- How often each of K outcomes came in trials whose probabilities are Dirichlet numbers.
--   concentration  a, one for each outcome, as if so many had come before; A is their sum
--   total_count    number of trials
--   formula        P(x) = n!/(x[1]! ... x[K]!) B(a + x)/B(a), B(a) = product of Gamma(a)/Gamma(A), n = total_count
-- > DirichletMultinomial({1, 1, 1}, 4):prob({1, 1, 2})
-- 0.06666666666666667
local Dirichlet         = require "perilune.distributions.Dirichlet"
local Distribution      = require "perilune.distribution"
local Multinomial       = require "perilune.distributions.Multinomial"
local OneHotCategorical = require "perilune.distributions.OneHotCategorical"
local constraints       = require "perilune.constraints"
local core              = require "perilune.core"
local functions         = require "perilune.functions"

local DirichletMultinomial = Distribution:extend("DirichletMultinomial", {
  kernels = "dirichletmultinomial",
  params = {
    { "concentration", constraints.positive, event = 1 },   -- one for each outcome
    { "total_count",   constraints.nonnegative_integer, default = 1 },
  },
  init = function (self)
    local shape = core.shape(self.concentration)
    self.event_shape = { shape[#shape] }
    self.support = constraints.multinomial(self.total_count)
  end,
})

-- total_count beside the counts of an event
local function trials (self)
  return core.is_tensor(self.total_count) and self.total_count:unsqueeze(-1) or self.total_count
end

DirichletMultinomial.enumerate_support = Multinomial.enumerate_support

function DirichletMultinomial:mean () return trials(self) * Dirichlet.mean(self) end

function DirichletMultinomial:variance ()
  local n, total = trials(self), self.concentration:sum(-1, true)
  return n * (n + total) * Dirichlet.variance(self)
end

--- Each trial more for an outcome multiplies P by (a + x)/(x + 1), up to a factor. Where a > 1 that falls
-- with x towards 1 and the mode is that of Multinomial with probs a - 1; where a <= 1 it never exceeds 1, so
-- that others are preferred, or, if there are none, all trials have the outcome of the largest a.
function DirichletMultinomial:mode ()
  local n, excess = self.total_count, functions.maximum(self.concentration - 1, 0)
  local inside = Multinomial { total_count = n, probs = excess, validate = false }:mode()
  local corner = trials(self) * OneHotCategorical { probs = self.concentration, validate = false }:mode()
  return functions.where(functions.gt(excess:sum(-1, true), 0), inside, corner)
end

return DirichletMultinomial
