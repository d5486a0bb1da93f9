--@ peri.NoncentralChi2
-- A sum of squares of Normals with variance 1 that are not all about 0.
--   df             how many, or any number > 0
--   noncentrality  sum of the squares of their means
--   formula        p(x) = e^(-(x + l)/2) (x/l)^(df/4 - 1/2) I_(df/2 - 1)(sqrt(l x))/2,  l = noncentrality
-- > NoncentralChi2(2, 1):cdf(1)
-- 0.2671201962031798
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
})

function NoncentralChi2:mean () return self.df + self.noncentrality end
function NoncentralChi2:variance () return 2 * self.df + 4 * self.noncentrality end
function NoncentralChi2:stddev () return f.sqrt(self:variance()) end

return NoncentralChi2
