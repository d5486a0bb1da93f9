--@ peri.Uniform
-- Every value between the two ends alike.
--   low      lower end
--   high     upper end
--   formula  log p(x) = -log(high - low) for low <= x <= high
-- > Uniform(1, 5):cdf(2)
-- 0.25
local Distribution = require "perilune.distribution"
local constraints  = require "perilune.constraints"
local functions    = require "perilune.functions"

local Uniform = Distribution:extend("Uniform", {
  kernels = "uniform",
  params = {
    { "low",  constraints.real, default = 0 },
    { "high", function (self) return constraints.greater_than(self.low) end, default = 1 },
  },
  range = "bounded",
  init = function (self) self.support = constraints.interval(self.low, self.high) end,
})

local function middle (self) return 0.5 * self.low + 0.5 * self.high end

Uniform.mean, Uniform.median, Uniform.mode = middle, middle, middle   -- any point is a mode

function Uniform:stddev () return (self.high - self.low) / 12 ^ 0.5 end

function Uniform:variance () return functions.square(self.high - self.low) / 12 end

return Uniform
