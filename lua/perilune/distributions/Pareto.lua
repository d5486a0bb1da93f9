--@ peri.Pareto
-- The power law above scale.
--   scale    lower end
--   alpha    exponent of the tail
--   formula  log p(x) = log(alpha/x) - alpha log(x/scale) for x >= scale
-- > Pareto(2, 3):sf(4)
-- 0.125
local Distribution = require "perilune.distribution"
local constraints  = require "perilune.constraints"
local functions    = require "perilune.functions"

local Pareto = Distribution:extend("Pareto", {
  kernels = "pareto",
  params = {
    { "scale", constraints.positive, default = 1 },
    { "alpha", constraints.positive, default = 1 },
  },
  range = "above zero",
  init = function (self) self.support = constraints.interval(self.scale, math.huge) end,
})

-- How far alpha is above a moment's order; 0, which makes the moment infinite, if it is not.
local function above (alpha, order) return functions.maximum(alpha - order, 0) end

function Pareto:mean () return self.scale * (self.alpha / above(self.alpha, 1)) end

function Pareto:stddev ()
  local alpha = self.alpha
  return self.scale / above(alpha, 1) * functions.sqrt(alpha / above(alpha, 2))
end

function Pareto:variance ()
  local sd = self:stddev()
  return sd * sd
end

function Pareto:mode () return self:batched(self.scale) end

function Pareto:moments_below () return self.alpha end

return Pareto
