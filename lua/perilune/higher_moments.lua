--- Skewness, kurtosis and moments: formulas where a family has one, else expectations.
local class = require "perilune.class"
local f     = require "perilune.functions"
local line  = require "perilune.line_moments"
local raise = require "perilune.errors".raise
local show  = require "perilune.show"

local where, sqrt, square, gt = f.where, f.sqrt, f.square, f.gt
local INF, NAN = math.huge, -(0 / 0)

local higher_moments = {}

-- [name of a family] = { skewness(d), excess kurtosis(d) }
local zero = function () return 0 end
local function always (x) return function () return x end end

-- Of a law with these cumulants from the second on.
local function by_cumulants (cumulants)
  return {
    function (d)
      local second, third = cumulants(d)
      return third / second / sqrt(second)
    end,
    function (d)
      local second, _, fourth = cumulants(d)
      return fourth / second / second
    end,
  }
end

-- NaN for 0, the variance of a single point.
local function spread (x) return where(gt(x, 0), x, NAN) end

-- Trials with odds e^logits for and against.
local trials = {
  function (d) return f.tanh(-0.5 * d.logits) / sqrt(spread(d:variance())) end,
  function (d) return (1 - 6 * d.probs * f.sigmoid(-d.logits)) / spread(d:variance()) end,
}

-- Failures or successes until there are n of the others.
local function waiting (n, odds)
  return {
    function (d) return (1 + 2 * odds(d)) / sqrt(spread(n(d) * odds(d) * (1 + odds(d)))) end,
    function (d) return 6 / n(d) + 1 / spread(n(d) * odds(d) * (1 + odds(d))) end,
  }
end

-- sqrt(tail^2 - skew^2) of a NormalInverseGaussian; where it is 0 there is no mean.
local function steepness (d) return spread(sqrt(d.tail - d.skew) * sqrt(d.tail + d.skew)) end

local formulas = {
  Normal      = { zero, zero },
  HalfNormal  = { always(0.99527174643115604244), always(0.86917730360597411666) },
  Uniform     = { zero, always(-1.2) },
  Laplace     = { zero, always(3) },
  Logistic    = { zero, always(1.2) },
  Gumbel      = { always(1.1395470994046486575), always(2.4) },
  Exponential = { always(2), always(6) },
  Rayleigh    = { always(0.63111065781893713819), always(0.24508930068763806285) },
  Maxwell     = { always(0.48569282804959080866), always(0.10816384281629414695) },
  Cauchy      = { always(NAN), always(NAN) },
  HalfCauchy  = { always(NAN), always(NAN) },
  Gamma       = { function (d) return 2 / sqrt(d.concentration) end, function (d) return 6 / d.concentration end },
  Chi2        = { function (d) return sqrt(8 / d.df) end, function (d) return 12 / d.df end },
  Poisson     = { function (d) return 1 / sqrt(d.rate) end, function (d) return 1 / d.rate end },
  Bernoulli   = trials,
  Binomial    = trials,
  Geometric   = waiting(always(1), function (d) return (d:mean()) end),
  NegativeBinomial = waiting(function (d) return d.total_count end, function (d) return f.exp(d.logits) end),
  NoncentralChi2 = by_cumulants(function (d)
    local k, a = d.df, d.noncentrality
    return 2 * (k + 2 * a), 8 * (k + 3 * a), 48 * (k + 4 * a)
  end),
  Skellam     = by_cumulants(function (d)
    local second = d.rate1 + d.rate2
    return second, d.rate1 - d.rate2, second
  end),
  ExGaussian  = by_cumulants(function (d)   -- in units of 1/rate
    return 1 + square(d.scale * d.rate), 2, 6
  end),
  NormalInverseGaussian = {
    function (d) return 3 * (d.skew / d.tail) / sqrt(steepness(d)) end,
    function (d) return 3 * (1 + 4 * square(d.skew / d.tail)) / steepness(d) end,
  },
  InverseGaussian = {
    function (d) return 3 * sqrt(d.loc / d.concentration) end, function (d) return 15 * d.loc / d.concentration end,
  },
  InverseGamma = {
    function (d)
      local a = d.concentration
      return where(gt(a, 3), 4 * sqrt(where(gt(a, 2), a - 2, 1)) / (a - 3), where(gt(a, 2), INF, NAN))
    end,
    function (d)
      local a = d.concentration
      return where(gt(a, 4), 6 * (5 * a - 11) / ((a - 3) * (a - 4)), where(gt(a, 2), INF, NAN))
    end,
  },
  StudentT = {
    function (d) return where(gt(d.df, 3), 0, NAN) end,
    function (d) return where(gt(d.df, 4), 6 / (d.df - 4), where(gt(d.df, 2), INF, NAN)) end,
  },
  LogNormal = {
    function (d)
      local e = f.expm1(square(d.scale))
      return (e + 3) * sqrt(e)
    end,
    function (d)   -- w^4 + 2 w^3 + 3 w^2 - 6 with w = 1 + e
      local e = f.expm1(square(d.scale))
      return e * (16 + e * (15 + e * (6 + e)))
    end,
  },
  Pareto = {
    function (d)
      local a = d.alpha
      return where(gt(a, 3), 2 * (1 + a) / (a - 3) * sqrt(where(gt(a, 2), (a - 2) / a, 1)), where(gt(a, 2), INF, NAN))
    end,
    function (d)
      local a = d.alpha
      local value = 6 * (a * (a * (a + 1) - 6) - 2) / (a * (a - 3) * (a - 4))
      return where(gt(a, 4), value, where(gt(a, 2), INF, NAN))
    end,
  },
  Beta = {
    function (d)
      local a, b = d.concentration1, d.concentration0
      return 2 * (b - a) / (a + b + 2) * sqrt(a + b + 1) / sqrt(a) / sqrt(b)
    end,
    function (d)
      local a, b = d.concentration1, d.concentration0
      local n = a + b
      return 6 * (square((a - b) / (n + 2)) * (n + 1) * (n + 2) / a / b - 1) / (n + 3)
    end,
  },
}

-- Only of the classes themselves: others may have another density.
local function formula (d, i)
  local c = class.of(d)
  local own = rawget(c, "kernels") and formulas[class.name(c)]
  return own and own[i]
end


-- Tails ------------------------------------------------------------------------------

--- The orders from which on moments of the upper and of the lower tail are infinite. A class with a heavy tail has a
-- method `moments_below` that returns them, one or both; of others they are taken to be inf.
function higher_moments.orders (d)
  if not d.moments_below then return INF, INF end
  local upper, lower = d:moments_below()
  return upper, lower or INF
end

--- The same of d where values beyond low or high are left out, or are brought to these ends.
function higher_moments.orders_within (d, low, high)
  local upper, lower = higher_moments.orders(d)
  return where(f.lt(high, INF), INF, upper), where(gt(low, -INF), INF, lower)
end

-- The value, and its error, of an expectation of what grows like x^k: infinite where a tail makes it so, and undefined
-- where both do with different signs.
local function of_order (d, k, value, error)
  local upper, lower = higher_moments.orders(d)
  local above = where(f.ge(k, upper), INF, 0)
  local below = where(f.ge(k, lower), k % 2 == 0 and INF or -INF, 0)
  local endless = above + below
  local is_finite = f.eq(endless, 0)
  return where(is_finite, value, endless), where(is_finite, error, 0)
end


-- What there is -----------------------------------------------------------------------

-- E ((X - mean)/sd)^k
local function standardised (d, k)
  local mean, sd = (d:mean()), line.stddev(d)
  local value, error = of_order(d, k, d:expectation(function (x) return ((x - mean) / sd) ^ k end))
  local is_known = f.isfinite(mean) * f.isfinite(sd)
  return where(is_known, value, NAN), where(is_known, error, INF)
end

local function check_numbers (d, name)
  if #d.event_shape > 0 then
    raise("%s has no %s: an event has shape %s", class.name(class.of(d)), name, show.shape(d.event_shape))
  end
end

--- E ((X - mean)/stddev)^3; a formula, or an integral and an estimate of its error.
function higher_moments.skewness (d)
  check_numbers(d, "skewness")
  local known = formula(d, 1)
  if known then return d:batched(known(d)) end
  return standardised(d, 3)
end

--- E ((X - mean)/stddev)^4 - 3, which is 0 of a Normal.
function higher_moments.kurtosis (d)
  check_numbers(d, "kurtosis")
  local known = formula(d, 2)
  if known then return d:batched(known(d)) end
  local value, error = standardised(d, 4)
  return value - 3, error
end

--- E X^k.
function higher_moments.moment (d, k)
  local who = class.name(class.of(d))
  check_numbers(d, "moment")
  if math.type(k) ~= "integer" and not (type(k) == "number" and k % 1 == 0) or k < 0 then
    raise("%s:moment: k must be an integer from 0 on, got %s", who, show.value(k))
  end
  if k == 0 then return d:batched(1.0) end
  if k == 1 then return d:mean() end
  if k == 2 then
    return (of_order(d, 2, square((d:mean())) + line.variance(d), 0))
  end
  return of_order(d, k, d:expectation(function (x) return x ^ k end))
end

return higher_moments
