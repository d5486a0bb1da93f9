--- Normal(loc, scale): the bell curve.
local Distribution = require "perilune.distribution"
local constraints  = require "perilune.constraints"

local Normal = Distribution:extend("Normal", {
  kernels = "normal",
  params = {   -- in the order of the kernels' operands
    { "loc",   constraints.real,     default = 0 },
    { "scale", constraints.positive, default = 1 },
  },
  support = constraints.real,
})

function Normal:mean () return self:batched(self.loc) end
function Normal:mode () return self:batched(self.loc) end
function Normal:median () return self:batched(self.loc) end
function Normal:stddev () return self:batched(self.scale) end
function Normal:variance () return self:batched(self.scale * self.scale) end

return Normal
