--- GeneralizedExtremeValue(loc, scale, concentration): the limit laws of maxima.
local Distribution = require "perilune.distribution"
local constraints  = require "perilune.constraints"
local f            = require "perilune.functions"

local where, lt = f.where, f.lt
local INF, EULER, LOG_LOG_2 = math.huge, 0.57721566490153286061, -0.36651292058166432701

local GeneralizedExtremeValue = Distribution:extend("GeneralizedExtremeValue", {
  kernels = "generalizedextremevalue",
  params = {
    { "loc",           constraints.real,     default = 0 },
    { "scale",         constraints.positive, default = 1 },
    { "concentration", constraints.real,     default = 0 },
  },
  init = function (self) self.support = constraints.interval(self:icdf(0), self:icdf(1)) end,
  help = {
    summary = "the limit laws of maxima: Gumbel for concentration 0, Frechet above it, reversed Weibull below",
    params  = {
      loc = "location", scale = "scale",
      concentration = "c: a tail x^(-1/c) if positive, an upper end loc - scale/c if negative (SciPy's c is -c)",
    },
    formula = "F(x) = exp(-(1 + c z)^(-1/c)),  z = (x - loc)/scale,  c = concentration",
    example = { "GeneralizedExtremeValue(0, 1, 0.5):cdf(2)", 0.77880078307140487 },
  },
  affine = function (d, loc, scale)
    if type(scale) == "number" and scale > 0 then return loc + scale * d.loc, scale * d.scale, d.concentration end
  end,
})

-- c with another value where it is 0, or beyond the last moment.
local function nonzero (c) return where(f.eq(c, 0), 1e-300, c) end

--- loc + scale (Gamma(1 - c) - 1)/c
function GeneralizedExtremeValue:mean ()
  local c = nonzero(f.minimum(self.concentration, 0.9999999999999999))
  local z = where(f.eq(self.concentration, 0), EULER, f.expm1(f.log_poch(1, -c)) / c)
  return self.loc + self.scale * where(lt(self.concentration, 1), z, INF)
end

-- (log Gamma(1 + 2 y) - 2 log Gamma(1 + y))/y^2 for |y| <= 1/16, as in src/kernel/power.h
local GAP = { -2293.0851441468791816, 1227.9062321220574953, -629.48822529513912712, 340.93775584056992188,
              -186.09349531452305837, 102.30248270366225741, -56.780473432937272808, 31.879454911857553038,
              -18.150286994283264516, 10.512544974587413192, -6.2215665308598753967, 3.7881313179888008945,
              -2.4041138063191885845, 1.6449340668482264438 }

-- (e^(g) - 1)/c^2, g = log Gamma(1 - 2 c) - 2 log Gamma(1 - c), c < 1/2
local function spread (c)
  local y = -f.minimum(f.maximum(c, -0.0625), 0.0625)
  local q = GAP[1]
  for i = 2, #GAP do q = q * y + GAP[i] end
  local g = q * f.square(y)
  local near = q * (1 + g * (1 / 2 + g * (1 / 6 + g * (1 / 24 + g * (1 / 120 + g / 720)))))
  local far = where(lt(f.abs(c), 0.0625), 0.25, c)
  return where(lt(f.abs(c), 0.0625), near,
               f.expm1(f.lgamma(1 - 2 * far) - 2 * f.lgamma(1 - far)) / f.square(far))
end

function GeneralizedExtremeValue:stddev ()
  local c = f.minimum(self.concentration, 0.49999999999999994)
  local sd = self.scale * f.exp(f.log_poch(1, -c)) * f.sqrt(spread(c))
  return self:batched(where(lt(self.concentration, 0.5), sd, INF))
end

function GeneralizedExtremeValue:variance () return f.square(self:stddev()) end

--- The upper end where the density rises throughout, concentration <= -1.
function GeneralizedExtremeValue:mode ()
  local c = nonzero(f.maximum(self.concentration, -1))
  local z = where(f.eq(self.concentration, 0), 0, f.expm1(-f.xlog1py(c, c)) / c)
  return where(lt(self.concentration, -1), self:icdf(1), self.loc + self.scale * z)
end

function GeneralizedExtremeValue:median ()
  local c = nonzero(self.concentration)
  local z = where(f.eq(self.concentration, 0), -LOG_LOG_2, f.expm1(-c * LOG_LOG_2) / c)
  return self.loc + self.scale * z
end

return GeneralizedExtremeValue
