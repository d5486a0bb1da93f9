--@ peri.GeneralizedExtremeValue
-- The limit laws of maxima: Gumbel for concentration 0, Frechet above it, reversed Weibull below.
--   loc            location
--   scale          scale
--   concentration  c: a tail x^(-1/c) if positive, an upper end loc - scale/c if negative (SciPy's c is -c)
--   formula        F(x) = exp(-(1 + c z)^(-1/c)),  z = (x - loc)/scale,  c = concentration
-- > GeneralizedExtremeValue(0, 1, 0.5):cdf(2)
-- 0.7788007830714049
local Distribution = require "perilune.distribution"
local constraints  = require "perilune.constraints"
local f            = require "perilune.functions"

local where, lt = f.where, f.lt
local INF, LOG_LOG_2 = math.huge, -0.36651292058166432701

local GeneralizedExtremeValue = Distribution:extend("GeneralizedExtremeValue", {
  kernels = "generalizedextremevalue",
  params = {
    { "loc",           constraints.real,     default = 0 },
    { "scale",         constraints.positive, default = 1 },
    { "concentration", constraints.real,     default = 0 },
  },
  init = function (self) self.support = constraints.interval(self:icdf(0), self:icdf(1)) end,
  affine = function (d, loc, scale)
    if type(scale) == "number" and scale > 0 then return loc + scale * d.loc, scale * d.scale, d.concentration end
  end,
})

-- (e^g(c) - 1)/c for g = log Gamma(1 - c), -c log(1 + c) and -c log(log 2), in powers of c for |c| <= 1/16: the last
-- of a list is the value at 0
local MEAN = {
  0.99998475269937704874, 0.9999695177634821045, 0.99993906420644431684, 0.99987827131513327573,
  0.99975659750860128703, 0.99951565607277744107, 0.99902526762195486779, 0.99810569378312892198,
  0.99600176044243153397, 0.99314911462127619315, 0.9819950689031452021, 0.98172808683440018734,
  0.90747907608088628902, 0.9890559953279725554, 0.57721566490153286061
}
local MODE = {
  -0.00074404761904761904762, 0.0010182679974346641013, -0.0012896825396825396825,
  0.00049603174603174603175, 0.0041666666666666666667, -0.012301587301587301587, 0,
  0.091666666666666666667, -0.25, 0.16666666666666666667, 0.5, -1.0, 0
}
local MEDIAN = {
  8.0759531539418187422e-9, 1.7627652833903039956e-7, 3.3666908561229678502e-6,
  0.000055114414806113023532, 0.00075187546892815123414, 0.0082057185622259405519,
  0.067165860476650691122, 0.36651292058166432701
}

-- Such a quotient, whose slope is right at 0 as well.
local function quotient (c, powers, g)
  local is_near = lt(f.abs(c), 0.0625)
  local y, sum = f.minimum(f.maximum(c, -0.0625), 0.0625), powers[1]
  for i = 2, #powers do sum = sum * y + powers[i] end
  local far = where(is_near, 0.25, c)
  return where(is_near, sum, f.expm1(g(far)) / far)
end

--- loc + scale (Gamma(1 - c) - 1)/c
function GeneralizedExtremeValue:mean ()
  local c = f.minimum(self.concentration, 0.9999999999999999)
  local z = quotient(c, MEAN, function (far) return f.log_poch(1, -far) end)
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
  local c = f.maximum(self.concentration, -1)
  local z = quotient(c, MODE, function (far) return -f.xlog1py(far, far) end)
  return where(lt(self.concentration, -1), self:icdf(1), self.loc + self.scale * z)
end

function GeneralizedExtremeValue:median ()
  local z = quotient(self.concentration, MEDIAN, function (far) return -far * LOG_LOG_2 end)
  return self.loc + self.scale * z
end

function GeneralizedExtremeValue:moments_below ()
  return where(f.gt(self.concentration, 0), 1 / self.concentration, INF)
end

return GeneralizedExtremeValue
