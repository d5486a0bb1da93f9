--@ peri.NoncentralT
-- Student's t of data whose mean is not 0, as the power of a t-test needs: (noncentrality + normal)/sqrt(Chi2(df)/df).
--   df             degrees of freedom
--   noncentrality  mean of the numerator, in its standard deviations
--   loc            location
--   scale          scale
--   formula        F(x) = E[Phi(z s - noncentrality)],  z = (x - loc)/scale,  df s^2 from Chi2(df)
-- > NoncentralT(3, 1):cdf(2)
-- 0.7436298684076653
local Distribution = require "perilune.distribution"
local constraints  = require "perilune.constraints"
local f            = require "perilune.functions"

local where, gt, lt = f.where, f.gt, f.lt
local INF, NAN = math.huge, 0 / 0

local NoncentralT = Distribution:extend("NoncentralT", {
  kernels = "noncentralt",
  params = {
    { "df",            constraints.positive },
    { "noncentrality", constraints.real },
    { "loc",           constraints.real,     default = 0 },
    { "scale",         constraints.positive, default = 1 },
  },
  support = constraints.real,
  affine = function (d, loc, scale)
    return d.df, f.sign(scale) * d.noncentrality, loc + scale * d.loc, f.abs(scale) * d.scale
  end,
})

--- E 1/s = sqrt(df/2) Gamma((df - 1)/2)/Gamma(df/2); there is none for df <= 1.
function NoncentralT:mean ()
  local df = where(gt(self.df, 1), self.df, 2)
  local ratio = f.sqrt(0.5 * df) * f.exp(f.log_poch(0.5 * df, -0.5))
  return self.loc + self.scale * where(gt(self.df, 1), ratio * self.noncentrality, NAN)
end

-- 1 - y (Gamma(y + 1/2)/Gamma(y + 1))^2, the share of the variance in E 1/s^2 = df/(df - 2), y = df/2 - 1; from y = 16
-- on in powers of 1/y
local SHARE = { 0.0019498067558743060, -0.0075560277327895164, -0.00086330994963645935, 0.0032819211483001709,
                0.00061571598052978516, -0.0022621154785156250, -0.00080871582031250000, 0.0028076171875000000,
                0.0024414062500000000, -0.0078125000000000000, -0.03125, 0.25, 0 }

local function share (y)
  local is_far = gt(y, 16)
  local r, sum = 1 / where(is_far, y, 16), SHARE[1]
  for i = 2, #SHARE do sum = sum * r + SHARE[i] end
  local near = where(is_far, 1, y)
  return where(is_far, sum, -f.expm1(f.log(near) + 2 * f.log_poch(near + 1, -0.5)))
end

--- Infinite for df <= 2, and for df <= 1 there is none.
function NoncentralT:stddev ()
  local y = where(gt(self.df, 2), 0.5 * self.df - 1, 1)
  local sd = f.sqrt(1 + 1 / y) * f.hypot(1, self.noncentrality * f.sqrt(share(y)))
  return self:batched(self.scale * where(gt(self.df, 2), sd, where(lt(1, self.df), INF, NAN)))
end

function NoncentralT:variance () return f.square(self:stddev()) end

function NoncentralT:moments_below () return self.df, self.df end

return NoncentralT
