--@ peri.Dirichlet
-- Shares of a whole.
--   concentration  a, one for each share; its sum A says how close shares are to a/A
--   formula        log p(x) = sum of (a - 1) log x + log Gamma(A) - sum of log Gamma(a)
-- > Dirichlet({ 1, 2, 3 }):log_prob({ 0.2, 0.3, 0.5 })
-- 1.5040773967762742
local Distribution = require "perilune.distribution"
local constraints  = require "perilune.constraints"
local core         = require "perilune.core"

local Dirichlet = Distribution:extend("Dirichlet", {
  kernels = "dirichlet",
  params = {
    { "concentration", constraints.positive, event = 1 },   -- one for each share
  },
  support = constraints.simplex,
  init = function (self)
    local shape = core.shape(self.concentration)
    self.event_shape = { shape[#shape] }
  end,
})

function Dirichlet:mean () return self.concentration / self.concentration:sum(-1, true) end

return Dirichlet
