--@ peri.FisherSnedecor
-- The quotient of two variances.
--   df1      degrees of freedom of the numerator
--   df2      degrees of freedom of the denominator
--   formula  p(x) = u^(df1/2) (1 + u)^(-(df1 + df2)/2)/(x B(df1/2, df2/2)),  u = (df1/df2) x
-- > FisherSnedecor(5, 7):sf(3)
-- 0.09224656102055
local Distribution = require "perilune.distribution"
local constraints  = require "perilune.constraints"
local functions    = require "perilune.functions"

local LARGEST = 1.7976931348623157e308

-- Both infinite would be a point mass at 1.
local function positive_or_limit (self)
  local is_limit = functions.eq(self.df1, math.huge)
  return is_limit == 0 and constraints.positive
         or constraints.left_open_interval(0, functions.where(is_limit, LARGEST, math.huge))
end

local FisherSnedecor = Distribution:extend("FisherSnedecor", {
  kernels = "fishersnedecor",
  params = {
    { "df1", constraints.positive, infinite = true },
    { "df2", positive_or_limit,    infinite = true },
  },
  support = constraints.nonnegative,
})

--- df1 and df2, so large that it makes no difference where they are infinite.
function FisherSnedecor:finite_df () return functions.minimum(self.df1, 1e200), functions.minimum(self.df2, 1e200) end

--- Infinite for df2 <= 2.
function FisherSnedecor:mean ()
  local _, df2 = self:finite_df()
  return self:batched(functions.where(functions.gt(df2, 2), df2 / (df2 - 2), math.huge))
end

--- Infinite for df2 <= 4.
function FisherSnedecor:variance ()
  local df1, df2 = self:finite_df()
  local mean = df2 / (df2 - 2)
  local variance = 2 * mean * mean * ((df1 + (df2 - 2)) / df1 / (df2 - 4))
  return functions.where(functions.gt(df2, 4), variance, math.huge)
end

function FisherSnedecor:mode ()
  local df1, df2 = self:finite_df()
  return functions.where(functions.gt(df1, 2), (df1 - 2) / df1 * (df2 / (df2 + 2)), 0)
end

function FisherSnedecor:moments_below () return self.df2 / 2 end

return FisherSnedecor
