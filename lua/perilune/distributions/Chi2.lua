--@ peri.Chi2
-- The sum of df squared standard normals.
--   df       degrees of freedom, any number > 0
--   formula  log p(x) = (df/2 - 1) log x - x/2 - (df/2) log 2 - log Gamma(df/2)
-- > Chi2(2):sf(3)
-- 0.22313016014842982
local Gamma       = require "perilune.distributions.Gamma"
local constraints = require "perilune.constraints"
local functions   = require "perilune.functions"

-- A Chi2 is a Gamma to whatever asks for one, KL above all.
local function set_gamma (self)
  self.concentration, self.rate = functions.maximum(0.5 * self.df, 5e-324), 0.5
end

local Chi2 = Gamma:extend("Chi2", {
  kernels = "chi2",
  params = { { "df", constraints.positive } },
  init = set_gamma,
})

function Chi2:with_batch (shape)
  local wide = Gamma.with_batch(self, shape)
  set_gamma(wide)
  return wide
end

return Chi2
