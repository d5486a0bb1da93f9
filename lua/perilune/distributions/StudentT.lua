--@ peri.StudentT
-- The bell curve with heavy tails.
--   df       degrees of freedom: 1 is Cauchy, infinity Normal
--   loc      centre
--   scale    width
--   formula  p(x) = (1 + z^2/df)^(-(df + 1)/2)/(scale sqrt(df) B(df/2, 1/2)),  z = (x - loc)/scale
-- > StudentT(3, 0, 1):cdf(-2)
-- 0.06966298427942
local Distribution = require "perilune.distribution"
local constraints  = require "perilune.constraints"
local functions    = require "perilune.functions"

local StudentT = Distribution:extend("StudentT", {
  kernels = "studentt",
  params = {
    { "df",    constraints.positive, infinite = true },
    { "loc",   constraints.real,     default = 0 },
    { "scale", constraints.positive, default = 1 },
  },
  support = constraints.real,
})

function StudentT:mode () return self:batched(self.loc) end
function StudentT:median () return self:batched(self.loc) end

--- There is none for df <= 1.
function StudentT:mean ()
  return self:batched(functions.where(functions.gt(self.df, 1), self.loc, 0 / 0))
end

--- Infinite for df <= 2, and for df <= 1 there is none.
function StudentT:stddev ()
  local df, where, gt = self.df, functions.where, functions.gt
  local ratio = where(gt(df, 2), functions.sqrt(1 + 2 / (df - 2)), where(gt(df, 1), math.huge, 0 / 0))
  return self:batched(self.scale * ratio)
end

function StudentT:variance ()
  local df, where, gt = self.df, functions.where, functions.gt
  local ratio = where(gt(df, 2), 1 + 2 / (df - 2), where(gt(df, 1), math.huge, 0 / 0))
  return self:batched(functions.square(self.scale) * ratio)
end

function StudentT:moments_below () return self.df, self.df end

return StudentT
