--@ peri.Zipf
-- Ranks 1, 2, ... without end whose probabilities fall like a power, as of words (the zeta law).
--   exponent  s, above 1: there is a mean for s > 2, a variance for s > 3
--   formula   P(k) = k^-s/zeta(s),  s = exponent
-- > Zipf(2):prob(1)
-- 0.6079271018540267
local Distribution = require "perilune.distribution"
local constraints  = require "perilune.constraints"

local Zipf = Distribution:extend("Zipf", {
  kernels = "zipf",
  params = { { "exponent", constraints.greater_than(1) } },
  support = constraints.positive_integer,
})

function Zipf:mode () return self:batched(1) end

function Zipf:moments_below () return self.exponent - 1 end

return Zipf
