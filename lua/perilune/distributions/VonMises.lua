--@ peri.VonMises
-- The bell curve of directions; cdf counts from loc - pi to loc + pi, variance is 1 - E cos(x - loc).
--   loc            mean direction, in radians
--   concentration  1/variance, nearly, where it is large
--   formula        log p(x) = concentration cos(x - loc) - log(2 pi I0(concentration)), for one turn
-- > VonMises(0, 2):cdf(-1)
-- 0.11042226304496347
local Distribution = require "perilune.distribution"
local constraints  = require "perilune.constraints"

local VonMises = Distribution:extend("VonMises", {
  kernels = "vonmises",
  params = {
    { "loc",           constraints.real,     default = 0 },
    { "concentration", constraints.nonnegative, default = 1 },
  },
  support = constraints.real,
  is_circular = true,
  kl_moments  = false,   -- those of directions are no expectations of x
})

local function centre (self) return self:batched(self.loc) end

VonMises.mean, VonMises.median, VonMises.mode = centre, centre, centre

return VonMises
