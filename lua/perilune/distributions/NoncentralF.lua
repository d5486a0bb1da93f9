--@ peri.NoncentralF
-- The quotient of two variances, the first of Normals not all about 0, as the power of an analysis of variance needs.
--   df1            degrees of freedom of the numerator
--   df2            degrees of freedom of the denominator
--   noncentrality  sum of the squares of the numerator's means
--   formula        (Y/df1)/(V/df2),  Y from NoncentralChi2(df1, noncentrality), V from Chi2(df2)
-- > NoncentralF(2, 5, 1):cdf(1)
-- 0.432721800845447
local Distribution = require "perilune.distribution"
local constraints  = require "perilune.constraints"
local f            = require "perilune.functions"

local where, gt = f.where, f.gt

local NoncentralF = Distribution:extend("NoncentralF", {
  kernels = "noncentralf",
  params = {
    { "df1",           constraints.positive },
    { "df2",           constraints.positive },
    { "noncentrality", constraints.nonnegative },
  },
  support = constraints.nonnegative,
})

local function mean_of (self, df2) return (1 + self.noncentrality / self.df1) * (1 + 2 / (df2 - 2)) end

--- Infinite for df2 <= 2.
function NoncentralF:mean ()
  local has = gt(self.df2, 2)
  return where(has, mean_of(self, where(has, self.df2, 3)), math.huge)
end

--- Infinite for df2 <= 4.
function NoncentralF:stddev ()
  local has = gt(self.df2, 4)
  local df2, whole = where(has, self.df2, 5), self.df1 + self.noncentrality
  local numerator = (1 + self.noncentrality / whole) / whole   -- squared variation of Y
  local spread = 2 / (df2 - 4) + 2 * numerator * (1 + 2 / (df2 - 4))
  return where(has, mean_of(self, df2) * f.sqrt(spread), math.huge)
end

function NoncentralF:variance () return f.square(self:stddev()) end

function NoncentralF:moments_below () return self.df2 / 2 end

return NoncentralF
