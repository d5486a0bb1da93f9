--@ peri.Gompertz
-- Lifetimes whose hazard grows exponentially.
--   concentration  c: the hazard at 0 is c rate
--   rate           growth of the hazard
--   formula        log p(x) = log(c rate) + rate x - c (e^(rate x) - 1) for x >= 0,  c = concentration
-- > Gompertz(0.1, 2):sf(1)
-- 0.5278698035369592
local Distribution = require "perilune.distribution"
local constraints  = require "perilune.constraints"
local f            = require "perilune.functions"

local Gompertz = Distribution:extend("Gompertz", {
  kernels = "gompertz",
  params = {
    { "concentration", constraints.positive },
    { "rate",          constraints.positive, default = 1 },
  },
  support = constraints.nonnegative,
  affine = function (d, loc, scale)
    if loc == 0 and type(scale) == "number" and scale > 0 then return d.concentration, d.rate / scale end
  end,
})

function Gompertz:median () return f.log1p(math.log(2) / self.concentration) / self.rate end
function Gompertz:mode () return f.maximum(-f.log(self.concentration), 0.0) / self.rate end

function Gompertz:variance () return f.square(self:stddev()) end

return Gompertz
