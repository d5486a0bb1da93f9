--@ peri.GeneralizedPareto
-- Excesses over a high threshold; exponential for concentration 0.
--   loc            lower end
--   scale          scale
--   concentration  c: a tail x^(-1/c) if positive, an upper end loc - scale/c if negative
--   formula        log p(x) = -(1 + 1/c) log(1 + c z) - log(scale),  z = (x - loc)/scale,  c = concentration
-- > GeneralizedPareto(0, 1, 0.5):sf(2)
-- 0.25
local Distribution = require "perilune.distribution"
local constraints  = require "perilune.constraints"
local functions    = require "perilune.functions"

local GeneralizedPareto = Distribution:extend("GeneralizedPareto", {
  kernels = "generalizedpareto",
  params = {
    { "loc",           constraints.real,     default = 0 },
    { "scale",         constraints.positive, default = 1 },
    { "concentration", constraints.real,     default = 0 },
  },
  init = function (self) self.support = constraints.interval(self.loc, self:icdf(1)) end,
})

-- 1 - order c, and 0, which makes the moment infinite, if that is negative.
local function room (c, order) return functions.maximum(1 - order * c, 0) end

function GeneralizedPareto:mean () return self.loc + self.scale / room(self.concentration, 1) end

function GeneralizedPareto:stddev ()
  local c = self.concentration
  return self:batched(self.scale / room(c, 1) / functions.sqrt(room(c, 2)))
end

function GeneralizedPareto:variance ()
  local sd = self:stddev()
  return sd * sd
end

--- The upper end where the density rises throughout, concentration < -1.
function GeneralizedPareto:mode ()
  return functions.where(functions.lt(self.concentration, -1), self:icdf(1), self.loc)
end

function GeneralizedPareto:moments_below ()
  local c = self.concentration
  return functions.where(functions.gt(c, 0), 1 / c, math.huge)
end

return GeneralizedPareto
