--@ peri.Triangular
-- A density that rises straight to its peak and falls straight from it.
--   low      lower end
--   high     upper end
--   peak     where the density is largest, 2/(high - low)
--   formula  p(x) = 2 (x - low)/((high - low) (peak - low)) up to the peak, and likewise down from it
-- > Triangular(0, 4, 1):cdf(1)
-- 0.25
local Distribution = require "perilune.distribution"
local constraints  = require "perilune.constraints"
local functions    = require "perilune.functions"

local Triangular = Distribution:extend("Triangular", {
  kernels = "triangular",
  has_cusp = true,
  params = {
    { "low",  constraints.real, default = 0 },
    { "high", function (self) return constraints.greater_than(self.low) end, default = 1 },
    { "peak", function (self) return constraints.interval(self.low, self.high) end, default = 0.5 },
  },
  range = "bounded",
  init = function (self) self.support = constraints.interval(self.low, self.high) end,
})

function Triangular:mean () return (self.low + self.high + self.peak) / 3 end
function Triangular:mode () return self:batched(self.peak) end

function Triangular:stddev ()
  local width = self.high - self.low
  local below, above = (self.peak - self.low) / width, (self.high - self.peak) / width
  return width * functions.sqrt((1 - below * above) / 18)
end

function Triangular:variance ()
  local sd = self:stddev()
  return sd * sd
end

return Triangular
