--@ peri.Skellam
-- The difference of two Poisson variables, as of goals.
--   rate1    mean of the first
--   rate2    mean of the second
--   formula  P(k) = e^(-rate1 - rate2) (rate1/rate2)^(k/2) I_|k|(2 sqrt(rate1 rate2))
-- > Skellam(1, 1):prob(0)
-- 0.30850832255367105
local Distribution = require "perilune.distribution"
local constraints  = require "perilune.constraints"

local Skellam = Distribution:extend("Skellam", {
  kernels = "skellam",
  params = {
    { "rate1", constraints.positive },
    { "rate2", constraints.positive },
  },
  support = constraints.integer,
})

function Skellam:mean () return self.rate1 - self.rate2 end
function Skellam:variance () return self.rate1 + self.rate2 end

return Skellam
