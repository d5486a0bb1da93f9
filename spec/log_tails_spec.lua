-- Logarithms of tails that are too small for a double: finite wherever the density is, and right. With random
-- parameters of all sizes, so from Lua 5.3 on (spec/fuzz).
local core   = require "perilune.core"
local peri   = require "perilune"
local params = require "spec.fuzz.params"
local Random = require "spec.fuzz.random"

local INF = math.huge

-- A class, a method, x, the parameters in the order of operands, the value and perhaps its slopes in x and
-- parameters; 0 stands for less than 1e-300. By mpmath with 900 digits; those of F, InverseGaussian,
-- NormalInverseGaussian and SkewNormal by the leading terms of their expansions, of which the next is out of sight.
local REFERENCES = {
  { "Weibull", "log_cdf", 1e-300, { 92.89395496097359, 2.874492374300479 },
    -1998.6546304102551,
    { 2.874492374300479e+300, -0.030943804422021915, -695.30698647152853 } },
  { "Weibull", "log_cdf", 1e-10, { 1e20, 11 },
    -759.85308068803508,
    { 110000000000.0, -1.1e-19, -69.07755278982137 } },
  { "Weibull", "log_cdf", 1e300, { 1e308, 40 },
    -736.82722975809462,
    { 3.9999999999999998e-299, 0, -18.420680743952365 } },
  { "Frechet", "log_sf", 1e50, { 8.614371790406022, 9.458661113119032 },
    -1068.600020921809,
    { -9.458661113119031e-50, 1.0980093898029001, -112.97582270282161 } },
  { "Frechet", "log_sf", 1e300, { 1, 1.2018386108708465 },
    -830.20070087276486,
    { -1.2018386108708465e-300, 1.2018386108708465, -690.77552789821371 } },
  { "Frechet", "log_sf", 1e200, { 1, 0.5 },
    -230.25850929940457,
    { -5.0000000000000002e-201, 0.5, -460.51701859880914 } },
  { "Frechet", "log_sf", 1e300, { 10000000000.0, 0.001 },
    -0.91324484110628484,
    { 0, 7.6539271812403848e-14, -511.0907402811953 } },
  { "Pareto", "log_cdf", 3, { 2, 1e-310 },
    -714.70409928387205,
    { 0.82210115412547723, -1.2331517311882158, math.huge } },
  { "Pareto", "log_cdf", 2.0000000001, { 2, 1e-300 },
    -714.49452592599874,
    { 9999999172.3463585, -9999999172.8463585, 9.9999999999999997e+299 } },
  { "Pareto", "log_cdf", 1e300, { 2, 1e-300 },
    -684.23871691540467,
    { 0, -0.00072455117529594528, 9.9999999999999997e+299 } },
  { "Kumaraswamy", "log_cdf", 1e-300, { 23869.58140248235, 0.8282344973051732 },
    -16488522.882468084,
    { 2.3869581402482348e+304, -690.77552789821371, 1.2073875252162284 } },
  { "Kumaraswamy", "log_cdf", 0.5, { 2, 1e-308 },
    -710.44210796587331,
    { 4.6347459957096092, -0.803140279884403, 1.0000000000000001e+308 } },
  { "Kumaraswamy", "log_cdf", 1e-200, { 2, 3 },
    -919.93542490895016,
    { 2.0e+200, -460.51701859880914, 0.33333333333333333 } },
  { "Kumaraswamy", "log_cdf", 0.9, { 1, 1e-300 },
    -689.94149545296575,
    { 4.3429448190325188, -0.41181741504607609, 9.9999999999999997e+299 } },
  { "Burr", "log_cdf", 1e-300, { 2.3265447603608442, 185980.09445350483, 7.775742945899721 },
    -1599.7585543530909,
    { 2.3265447603608442e+300, -692.82653690745657, 5.3769195189327144e-6, -0.29920546197938166 } },
  { "Burr", "log_cdf", 1e-300, { 8.059227040392539, 3.0505843993834536, 9.96249507749008 },
    -5584.5282532523529,
    { 8.0592270403925388e+300, -693.07435544822604, 0.32780604273794478, -0.80895668983587142 } },
  { "Burr", "log_cdf", 2, { 1.5, 1e-305, 1 },
    -701.99395404619868,
    { 0.41274939372487194, 0.38146143805096236, 1.0e+305, -0.82549878744974389 } },
  { "Burr", "log_cdf", 1e-05, { 3, 1e-300, 2 },
    -727.39374583480423,
    { 299999.99999999996, -12.206072645530173, 9.9999999999999997e+299, -1.4999999999999999 } },
  { "GeneralizedPareto", "log_cdf", 1e-300, { 0, 7.574454452058751e180, 1e-06 },
    -1107.2656259664136,
    { 9.9999999999999997e+299, -9.9999999999999997e+299, -1.3202270953364807e-181, 0 } },
  { "GeneralizedPareto", "log_cdf", 1e-300, { 0, 2.5282537237869324e249, -3.2895213987659145e-05 },
    -1265.0467448904015,
    { 9.9999999999999997e+299, -9.9999999999999997e+299, -3.9552992272553837e-250, 0 } },
  { "GeneralizedPareto", "log_cdf", 1e-300, { 0, 1e20, 0 },
    -736.82722975809462,
    { 9.9999999999999997e+299, -9.9999999999999997e+299, -1.0e-20, 0 } },
  { "GeneralizedPareto", "log_cdf", 1, { 0, 1, 1e305 },
    -695.73410914132857,
    { 0.0014239163341090224, -0.0014239163341090224, -0.0014239163341090224, 0 } },
  { "GeneralizedExtremeValue", "log_sf", 10000000000.0, { -0.25, 5.1113458434620895, -5.8377008188824515e-264 },
    -1956431888.2943475,
    { -0.19564318882454367, 0.19564318882454367, 382762573.34392955, 1.913812866767493e+18 } },
  { "GeneralizedExtremeValue", "log_sf", 1000, { -8.912838206191216, 1, -0.0001981858982157491 },
    -1125.6296559288658,
    { -1.2499254686024814, 1.2499254686024814, 1261.0658520739331, 683379.58131425054 } },
  { "GeneralizedExtremeValue", "log_sf", 10000000000.0, { -8.856623198267819, 2.0878715413705606, 0 },
    -4789566700.2061974,
    { -0.47895666959642586, 0.47895666959642586, 2293994915.5407034, 1.1469974587862041e+19 } },
  { "GeneralizedExtremeValue", "log_sf", 1e300, { 1, 2, 0.25 },
    -2754.7843454261355,
    { -3.9999999999999998e-300, 3.9999999999999998e-300, 2.0, 11003.137381704542 } },
  { "GeneralizedExtremeValue", "log_sf", 1e300, { 1, 2, 0.9 },
    -766.64113355777324,
    { -1.111111111111111e-300, 1.111111111111111e-300, 0.55555555555555554, 850.58891382962457 } },
  { "Gompertz", "log_cdf", 1e-300, { 3.998069044956244e-96, 7.829219018949063 },
    -908.38002255696297,
    { 9.9999999999999997e+299, 2.5012074297755012e+95, 0.12772666054937274 } },
  { "Gompertz", "log_cdf", 1e-200, { 2.482321133249026e-140, 2.9474431017446614 },
    -780.88879950535229,
    { 1.0e+200, 4.0284876384673639e+139, 0.33927711765091455 } },
  { "Gompertz", "log_cdf", 3, { 1e-310, 2 },
    -707.80386065752312,
    { 2.0049698233136892, math.huge, 3.0074547349705338 } },
  { "Gompertz", "log_cdf", 1e-300, { 5.679729377954212e-294, 2.259926006735035e54 },
    -1240.8437145575475,
    { 9.9999999999999997e+299, 1.7606472658389071e+293, 4.4249236347552906e-55 } },
  { "Exponential", "log_cdf", 1e-300, { 1.2488005324619863e-220 },
    -1197.1220648403058,
    { 9.9999999999999997e+299, 8.0076839655771061e+219 } },
  { "Exponential", "log_cdf", 1e-310, { 0.001 },
    -720.7091341071363,
    { math.huge, 999.99999999999998 } },
  { "Exponential", "log_cdf", 1e-160, { 1e-160 },
    -736.82722975809462,
    { 1.0e+160, 1.0e+160 } },
  { "Uniform", "log_cdf", 1e-300, { 0, 1.5309122658285922e40 },
    -783.30479542786773,
    { 9.9999999999999997e+299, -9.9999999999999997e+299, -6.5320529616291187e-41 } },
  { "Uniform", "log_cdf", 3e-310, { 1e-310, 7 },
    -715.05414179664953,
    { math.huge, -math.huge, -0.14285714285714286 } },
  { "Uniform", "log_sf", -1e-300, { -1.5e40, 0 },
    -783.2843967260837,
    { -9.9999999999999997e+299, 6.6666666666666662e-41, 9.9999999999999997e+299 } },
  { "Triangular", "log_cdf", 1e-300, { 0, 9.286289610279417e162, 0 },
    -1065.3297048596403 },
  { "Triangular", "log_cdf", 1e-300, { 0, 1e100, 3e-301 },
    -920.5034089465561 },
  { "Triangular", "log_cdf", 1e-300, { 0, 1e100, 3e-300 },
    -922.13264948628638 },
  { "Triangular", "log_sf", -1e-300, { -9.286289610279417e162, 0, 0 },
    -1065.3297048596403 },
  { "Triangular", "log_sf", -1e-300, { -1e100, 0, -3e-301 },
    -920.5034089465561 },
  { "AsymmetricLaplace", "log_sf", -1e-300, { 0, 8.940273432688512, 7.466251573739622e287 },
    -1325.7046295302718,
    { -8.351256401666625e+286, 8.351256401666625e+286, -9.341164411293897e-15, -2.6787203461430864e-288 } },
  { "AsymmetricLaplace", "log_sf", -1e-200, { 0, 8.940273432688512, 1e200 },
    -920.92800884303899,
    { -1.0060085437001237e+199, 1.0060085437001237e+199, -0.011252547825012077, -1.8993991456299877e-200 } },
  { "AsymmetricLaplace", "log_cdf", 1e-300, { 0, 673.3362435996634, 2.344975782881379e-188 },
    -864.06744481633029,
    { 6.3332939582793848e+184, -6.3332939582793848e+184, -9.4058414625381251e-119, 8.5288727269605681e+187 } },
  { "ExGaussian", "log_cdf", -2, { 0, 1, 1e-300 },
    -695.54431142213082 },
  { "ExGaussian", "log_cdf", 1e-200, { 0, 1e-200, 1e-150 },
    -805.82475632906668 },
  { "ExGaussian", "log_cdf", 3e-200, { 1e-200, 1e-200, 1e-150 },
    -805.20739900212776 },
  { "ExGaussian", "log_cdf", -1e-20, { -4.67853934117627e-254, 2.8601980729528447e-128, 8.0572566306648277 },
    -6.1119217433219852274e214 },
  { "FisherSnedecor", "log_cdf", 1e200, { 3.8113526110087528, 9.1043518410055547e-172 }, -387.77821742509394292 },
  { "FisherSnedecor", "log_cdf", 1e100, { 3.8113526110087528, 9.1043518410055547e-172 }, -388.09208720190784194 },
  { "FisherSnedecor", "log_sf", 1e-300, { 2.6106181848668968e-75, 6.44331146165396 }, -165.66727204971909188 },
  { "FisherSnedecor", "log_sf", 1e-300, { 1.1375110943204209e-281, 1.0059314103667695e+106 }, -640.39194213577655607 },
  { "FisherSnedecor", "log_prob", 1e-300, { 1.2773151593180418e+50, 3.5762623870507108e-294 }, -1788116.7968437488733 },
  { "FisherSnedecor", "log_cdf", 1e-300, { 1.2773151593180418e+50, 3.5762623870507108e-294 }, -1788821.9690538128083 },
  { "FisherSnedecor", "log_cdf", 1, { 1.2773151593180418e+50, 3.5762623870507108e-294 }, -669.86294670457396412 },
  { "InverseGaussian", "log_sf", 1e300, { 1, 0.23730459734700748 }, -1.1865229867350374838e299 },
  { "InverseGaussian", "log_sf", 1e300, { 2.3472044536868828, 4349.5874203862068 }, -3.9474462681708570816e302 },
  { "NormalInverseGaussian", "log_cdf", -1e100, { 1.0260799732708728e+122, -5.5096434118119594e+121, 0, 1 },
    -4.7511563208967690240e221 },
  { "NormalInverseGaussian", "log_sf", 1e100, { 1.0260799732708728e+122, -5.5096434118119594e+121, 0, 1 },
    -1.5770443144520688085e222 },
  { "NormalInverseGaussian", "log_cdf", -1e10,
    { 749693.0596248206, -595148.87900093454, 131.73650259883462, 0.018065015389970789 }, -85548879601161225.352 },
  { "NormalInverseGaussian", "log_sf", 1e200,
    { 2.7596118699607688e-161, 2.7596118699607688e-161, 6.5053671963710905e-84, 6.4395321893280331 },
    -414.40362766852825944 },
  { "Rice", "log_prob", 1.0975721875404062e169, { 1.0975721875404062e169, 6.547618780034913e-225 },
    515.28360595193979911 },
  { "Rice", "log_prob", 0, { 1.0975721875404062e169, 6.547618780034913e-225 }, -math.huge },
  { "SkewNormal", "log_cdf", -1e10, { -67186.317382583613, 1, 6.4488692322502275e+137 }, -2.0793677774389013372e295 },
  { "SkewNormal", "log_sf", 1e-200, { 0, 3.4207258476381419, -5.296009142681338e+281 }, -1.1984803508424844368e162 },
  { "SkewNormal", "log_cdf", -1e-295, { 0, 1, 1e300 }, -5000000714.9461098395 },
  { "Gompertz", "log_sf", 1000, { 1.1028289908062102e+242, 0.59583910379071281 }, -math.huge },
}

local function agrees (expected, value)
  if expected == 0 then return math.abs(value) < 1e-290 end
  return value == expected or math.abs(value - expected) <= 1e-13 * math.abs(expected)
end

local function text (row, k, expected, value)
  return string.format("%s:%s at %g, number %d: %.17g for %.17g", row[1], row[2], row[3], k, value, expected)
end

describe("Logarithms of tails that underflow", function ()
  for _, row in ipairs(REFERENCES) do
    it(string.format("are those of mpmath: %s:%s(%g)", row[1], row[2], row[3]), function ()
      local class, operands, names, named = peri[row[1]], { row[3] }, { "x" }, {}
      for i, name in ipairs(class.operands) do
        operands[i + 1], names[i + 1], named[name] = row[4][i], name, row[4][i]
      end
      local d = class(named)
      local value = peri.item(d[row[2]](d, row[3]))
      assert(agrees(row[5], value), text(row, 0, row[5], value))
      if not row[6] then return end
      local slopes = { core.bind_partials(class.kernels, row[2], row[2], names, names)(table.unpack(operands)) }
      for k, expected in ipairs(row[6]) do assert(agrees(expected, slopes[k]), text(row, k, expected, slopes[k])) end
    end)
  end
end)


-- The part of a period that a law is cut at says where its tails end.
local IS_PERIODIC = { VonMises = true }

local function outcomes ()
  local xs = {}
  for _, power in ipairs { -300, -200, -100, -50, -20, -5, -1, 0, 1, 3, 10, 50, 100, 200, 300 } do
    local size = 10.0 ^ power
    xs[#xs + 1], xs[#xs + 2], xs[#xs + 3] = size, -size, 1 - size
  end
  return xs
end

-- The end of a support where it is a number, else the one that no x is beyond.
local function end_of (value, other) return value == nil and other or peri.item(value) end

local function check (d, x)
  local log_prob, log_cdf, log_sf = d:log_prob(x), d:log_cdf(x), d:log_sf(x)
  local where = string.format("%s at %.17g: log_prob %g, log_cdf %g, log_sf %g", tostring(d), x, log_prob, log_cdf,
                              log_sf)
  assert(log_prob == log_prob and log_cdf == log_cdf and log_sf == log_sf, where)
  if math.abs(log_prob) == INF then return end
  assert(log_cdf > -INF or x <= end_of(d.support.low, -INF), where)
  assert(log_sf > -INF or x >= end_of(d.support.high, INF) or d.support.is_discrete, where)
end

local function has_tails (d) return #d.event_shape == 0 and pcall(d.log_sf, d, 1) and pcall(d.log_prob, d, 1) end

describe("At random parameters of all sizes", function ()
  local xs = outcomes()
  for _, name in ipairs(peri.distributions()) do
    local class = peri[name]
    if not (class.construct or IS_PERIODIC[name]) then
      it("tails have logarithms wherever there is a density: " .. name, function ()
        local random = Random.new(7)
        for case = 1, 60 do
          random.is_extreme = case % 2 == 0
          local lists = params.batch(random, class, 1)
          local ok, d = pcall(class, lists and params.first(lists))
          if lists and ok and has_tails(d) then
            for _, x in ipairs(xs) do
              if pcall(d.log_prob, d, x) then check(d, x) end
            end
          end
        end
      end)
    end
  end
end)
