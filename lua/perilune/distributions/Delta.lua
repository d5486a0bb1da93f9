--@ peri.Delta
-- All of the mass at one point.
--   v        the point
--   formula  log P(v) = 0, -inf elsewhere
-- > Delta(2):cdf(1)
-- 0
local Distribution = require "perilune.distribution"
local constraints  = require "perilune.constraints"
local core         = require "perilune.core"

local Delta = Distribution:extend("Delta", {
  kernels = "delta",
  params = {
    { "v", constraints.real },
  },
  init = function (self) self.support = constraints.interval(self.v, self.v) end,
})

local function point (self) return self.v end

Delta.mean, Delta.median, Delta.mode = point, point, point

function Delta:enumerate_support () return core.tensor(self.v):unsqueeze(1) end

function Delta:variance () return self:batched(0.0) end
function Delta:entropy () return self:batched(0.0) end

return Delta
