--- FisherSnedecor(df1, df2): the quotient of two variances.
local Distribution = require "perilune.distribution"
local constraints  = require "perilune.constraints"
local functions    = require "perilune.functions"

local FisherSnedecor = Distribution:extend("FisherSnedecor", {
  kernels = "fishersnedecor",
  params = {
    { "df1", constraints.positive },
    { "df2", constraints.positive },
  },
  support = constraints.nonnegative,
  help = {
    summary = "the quotient of two variances",
    params  = { df1 = "degrees of freedom of the numerator", df2 = "degrees of freedom of the denominator" },
    formula = "p(x) = u^(df1/2) (1 + u)^(-(df1 + df2)/2)/(x B(df1/2, df2/2)),  u = (df1/df2) x",
    example = { "FisherSnedecor(5, 7):sf(3)", 0.09224656102055 },
  },
})

--- Infinite for df2 <= 2.
function FisherSnedecor:mean ()
  local mean = functions.where(functions.gt(self.df2, 2), self.df2 / (self.df2 - 2), math.huge)
  return self:batched(mean)
end

--- Infinite for df2 <= 4, and for df2 <= 2 there is none.
function FisherSnedecor:variance ()
  local df1, df2, where, gt = self.df1, self.df2, functions.where, functions.gt
  local mean = df2 / (df2 - 2)
  local variance = 2 * mean * mean * ((df1 + (df2 - 2)) / df1 / (df2 - 4))
  return where(gt(df2, 4), variance, where(gt(df2, 2), math.huge, 0 / 0))
end

function FisherSnedecor:mode ()
  local inside = (self.df1 - 2) / self.df1 * (self.df2 / (self.df2 + 2))
  return functions.where(functions.gt(self.df1, 2), inside, 0)
end

return FisherSnedecor
