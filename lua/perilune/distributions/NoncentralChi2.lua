--- NoncentralChi2(df, noncentrality): a sum of squares of Normals that are not all about 0.
local Distribution = require "perilune.distribution"
local constraints  = require "perilune.constraints"
local f            = require "perilune.functions"

local NoncentralChi2 = Distribution:extend("NoncentralChi2", {
  kernels = "noncentralchi2",
  params = {
    { "df",            constraints.positive },
    { "noncentrality", constraints.nonnegative },
  },
  support = constraints.nonnegative,
  help = {
    summary = "a sum of squares of Normals with variance 1 that are not all about 0",
    params  = { df = "how many, or any number > 0", noncentrality = "sum of the squares of their means" },
    formula = "p(x) = e^(-(x + l)/2) (x/l)^(df/4 - 1/2) I_(df/2 - 1)(sqrt(l x))/2,  l = noncentrality",
    example = { "NoncentralChi2(2, 1):cdf(1)", 0.26712019620317978 },
  },
})

function NoncentralChi2:mean () return self.df + self.noncentrality end
function NoncentralChi2:variance () return 2 * self.df + 4 * self.noncentrality end
function NoncentralChi2:stddev () return f.sqrt(self:variance()) end

return NoncentralChi2
