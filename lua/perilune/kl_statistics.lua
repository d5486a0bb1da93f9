--- Divergences between different families, from statistics of p alone:
--
--   KL(p || q) = -H(p) - E[log q(X)],    X from p
--
-- `forms` says for each q which statistics of X its -E[log q(X)] needs, and what it makes of them;
-- `statistics` says of which p they are known. A pair is closed where all of them are; where p has
-- mass outside the support of q it is infinite (kl.lua). A class may bring its own: `kl_form` = { "log square",
-- function (q, E) } as in a form here, and `kl_statistics` = { log = function (p), ... } as in the tables below.
local f        = require "perilune.functions"
local families = require "perilune.kl_families"
local rounding = require "perilune.rounding"

local log, exp, lgamma, digamma, trigamma = f.log, f.exp, f.lgamma, f.digamma, f.trigamma
local where, xlogy, expm1, square         = f.where, f.xlogy, f.expm1, f.square

local EULER        = 0.57721566490153286061
local HALF_LOG_2PI = 0.91893853320467274178
local HALF_LOG_PI_2 = 0.22579135264472743236   -- log(pi/2)/2
local BASEL        = math.pi ^ 2 / 6
local INF          = math.huge
local ROUNDING     = 2.0 ^ -48   -- of a term, or of a parameter

-- What every q needs -------------------------------------------------------------

local forms = {}   -- [name of q] = { needs = { names of statistics }, terms = function (q, E) }

-- terms(q, E) returns all terms of the sum, one by one: how large they are says how it is rounded.
local function new_form (statistics, terms)
  local needs = {}
  for statistic in statistics:gmatch("%S+") do needs[#needs + 1] = statistic end
  return { needs = needs, terms = terms }
end

local function form (name, statistics, terms) forms[name] = new_form(statistics, terms) end

form("Normal", "square", function (q, E) return log(q.scale), HALF_LOG_2PI, 0.5 * E.square(q.loc, q.scale) end)
form("HalfNormal", "square", function (q, E) return log(q.scale), HALF_LOG_PI_2, 0.5 * E.square(0, q.scale) end)
form("Exponential", "mean", function (q, E) return q.rate * E.mean(), -log(q.rate) end)
form("Uniform", "", function (q) return log(q.high - q.low) end)
form("Laplace", "mean put", function (q, E)
  return log(2 * q.scale), (E.mean() - q.loc + 2 * E.put(q.loc)) / q.scale
end)
form("Gumbel", "mean exp", function (q, E)
  return log(q.scale), (E.mean() - q.loc) / q.scale, E.exp(-1 / q.scale, q.loc)
end)
form("Pareto", "log", function (q, E) return (q.alpha + 1) * E.log(), -log(q.alpha), -q.alpha * log(q.scale) end)
form("LogUniform", "log", function (q, E) return E.log(), log(log(q.high / q.low)) end)

form("Gamma", "log mean", function (q, E)
  local a = q.concentration
  return lgamma(a), -a * log(q.rate), -(a - 1) * E.log(), q.rate * E.mean()
end)

form("InverseGamma", "log reciprocal", function (q, E)
  local a = q.concentration
  return lgamma(a), -a * log(q.rate), (a + 1) * E.log(), q.rate * E.reciprocal()
end)

form("Weibull", "log power", function (q, E)
  local k = q.concentration
  return k * log(q.scale), -log(k), -(k - 1) * E.log(), E.power(k, q.scale)
end)

form("Rayleigh", "log square", function (q, E) return 2 * log(q.scale), -E.log(), 0.5 * E.square(0, q.scale) end)

form("Frechet", "log power", function (q, E)
  local a = q.concentration
  return (1 + a) * E.log(), -log(a), -a * log(q.scale), E.power(-a, q.scale)
end)

form("LogNormal", "log log_square", function (q, E)
  return E.log(), log(q.scale), HALF_LOG_2PI, 0.5 * E.log_square(q.loc, q.scale)
end)

form("InverseGaussian", "log mean reciprocal", function (q, E)
  local m, l = q.loc, q.concentration
  local drift = f.where(f.eq(m, math.huge), 0, (E.mean() / m - 2) / m)
  return HALF_LOG_2PI, -0.5 * log(l), 1.5 * E.log(), 0.5 * l * (drift + E.reciprocal())
end)

form("Beta", "log log_rest", function (q, E)
  local a, b = q.concentration1, q.concentration0
  return f.betaln(a, b), -(a - 1) * E.log(), -(b - 1) * E.log_rest()
end)

form("LogitNormal", "log log_rest logit_square", function (q, E)
  return log(q.scale), HALF_LOG_2PI, E.log(), E.log_rest(), 0.5 * E.logit_square(q.loc, q.scale)
end)

-- log of the density at 0, and the slope of the logarithm; infinite logits leave one point
form("ContinuousBernoulli", "mean", function (q, E)
  local is_point = f.isinf(q.logits)
  return where(is_point, INF, -q:log_prob(0)), where(is_point, 0, -q.logits * E.mean())
end)

form("AsymmetricLaplace", "mean put", function (q, E)
  local below = E.put(q.loc)
  local above = f.maximum(E.mean() - q.loc + below, 0)
  local k = q.asymmetry
  return log(q.scale), log(k + 1 / k), (k * above + below / k) / q.scale
end)


-- What is known of every p --------------------------------------------------------

local statistics = {}

-- E X and E ((X - c)/s)^2, which are known of every family
local moments = {
  mean   = function (p) return p:mean() end,
  square = function (p, c, s)
    local spread = p:stddev() / s
    return where(f.isfinite(spread), square(spread) + square((p:mean() - c) / s), INF)   -- infinite, never unknown
  end,
}

-- log(1 + u)/u - 1, for u > 0
local function slack (u)
  local series = -u * (1 / 2 - u * (1 / 3 - u * (1 / 4 - u * (1 / 5 - u * (1 / 6 - u / 7)))))
  return where(f.lt(u, 1e-3), series, where(f.lt(u, INF), f.log1p(u) / u, 0) - 1)
end

-- E log X
statistics.log = {
  Exponential  = function (p) return -EULER - log(p.rate) end,
  Gamma        = function (p) return digamma(p.concentration) - log(p.rate) end,
  InverseGamma = function (p) return log(p.rate) - digamma(p.concentration) end,
  Weibull      = function (p) return log(p.scale) - EULER / p.concentration end,
  Rayleigh     = function (p) return log(p.scale) + 0.5 * (math.log(2) - EULER) end,
  Frechet      = function (p) return log(p.scale) + EULER / p.concentration end,
  LogNormal    = function (p) return p.loc end,
  HalfNormal   = function (p) return log(p.scale) - 0.5 * (math.log(2) + EULER) end,
  HalfCauchy   = function (p) return log(p.scale) end,
  Pareto       = function (p) return log(p.scale) + 1 / p.alpha end,
  Beta         = function (p) return digamma(p.concentration1) - digamma(p.concentration1 + p.concentration0) end,
  Kumaraswamy  = function (p) return -(digamma(p.concentration0 + 1) + EULER) / p.concentration1 end,
  LogUniform   = function (p) return 0.5 * (log(p.low) + log(p.high)) end,
  Uniform      = function (p) return log(p.high) + slack((p.high - p.low) / p.low) end,
  InverseGaussian = function (p)
    local mean = p:finite_mean()
    return log(mean) - f.e1e(2 * p.concentration / mean)
  end,
  FisherSnedecor  = function (p)
    local df1, df2 = p:finite_df()
    return digamma(df1 / 2) - digamma(df2 / 2) + log(df2 / df1)
  end,
}

-- Var log X
local log_variance = {
  Exponential  = function () return BASEL end,
  Gamma        = function (p) return trigamma(p.concentration) end,
  InverseGamma = function (p) return trigamma(p.concentration) end,
  Weibull      = function (p) return BASEL / square(p.concentration) end,
  Rayleigh     = function () return BASEL / 4 end,
  Frechet      = function (p) return BASEL / square(p.concentration) end,
  LogNormal    = function (p) return square(p.scale) end,
  HalfNormal   = function () return math.pi ^ 2 / 8 end,
  HalfCauchy   = function () return math.pi ^ 2 / 4 end,
  Pareto       = function (p) return 1 / square(p.alpha) end,
  Beta         = function (p) return trigamma(p.concentration1) - trigamma(p.concentration1 + p.concentration0) end,
  Kumaraswamy  = function (p) return (BASEL - trigamma(p.concentration0 + 1)) / square(p.concentration1) end,
  LogUniform   = function (p) return square(log(p.high / p.low)) / 12 end,
  -- 1 - (x/sinh x)^2, e^(2 x) = high/low
  Uniform      = function (p)
    local x = 0.5 * f.log1p((p.high - p.low) / p.low)
    local y = square(x)
    local series = y * (1 / 3 - y * (1 / 15 - y * (2 / 189 - y / 675)))
    return where(f.lt(x, 0.02), series, 1 - 4 * y * exp(-2 * x) / square(expm1(-2 * x)))
  end,
  FisherSnedecor = function (p) return trigamma(p.df1 / 2) + trigamma(p.df2 / 2) end,
}

-- E ((log X - c)/s)^2
local function log_square_of (mean, variance)
  return function (p, c, s) return variance(p) / square(s) + square((mean(p) - c) / s) end
end

statistics.log_square = {}
for name, variance in pairs(log_variance) do
  statistics.log_square[name] = log_square_of(statistics.log[name], variance)
end
function statistics.log_square.Uniform (p, c, s)   -- log low may be -inf
  local spread = where(f.gt(p.low, 0), log_variance.Uniform(p), 1)
  return spread / square(s) + square((statistics.log.Uniform(p) - c) / s)
end

-- E (X/s)^k, infinite where it is not finite: s^-k and the moment, which may be beyond all doubles, meet as
-- logarithms
local function power_of (unit, log_moment)
  return function (p, k, s)
    local moment = log_moment(p, k)
    return exp(where(f.eq(moment, INF), INF, k * log(unit(p, k) / (s or 1)) + moment))
  end
end
-- the same for X = unit T^(order/k), T from Gamma(a, 1)
local function power_of_gamma (unit, a, order)
  return function (p, k, s)
    local shape, j = a(p), order(p, k)
    return where(f.gt(shape + j, 0), exp(f.log_poch(shape, j) + k * log(unit(p) / (s or 1))), INF)
  end
end
local function constant (x) return function () return x end end
local function concentration (p) return p.concentration end
local function scale (p) return p.scale end
local function wide_scale (p) return math.sqrt(2) * p.scale end
local function over_rate (p) return 1 / p.rate end
local function same (_, k) return k end
local function half (_, k) return 0.5 * k end

statistics.power = {
  Exponential  = power_of_gamma(over_rate, constant(1), same),
  Gamma        = power_of_gamma(over_rate, concentration, same),
  InverseGamma = power_of_gamma(function (p) return p.rate end, concentration, function (_, k) return -k end),
  Weibull      = power_of_gamma(scale, constant(1), function (p, k) return k / p.concentration end),
  Rayleigh     = power_of_gamma(wide_scale, constant(1), half),
  Frechet      = power_of_gamma(scale, constant(1), function (p, k) return -k / p.concentration end),
  HalfNormal   = power_of_gamma(wide_scale, constant(0.5), half),
  Pareto       = power_of(scale, function (p, k) return where(f.gt(p.alpha, k), -f.log1p(-k / p.alpha), INF) end),
  LogNormal    = function (p, k, s) return exp(k * (p.loc - log(s or 1)) + 0.5 * square(k * p.scale)) end,
  Beta         = power_of(function () return 1 end, function (p, k)
    local a, b = p.concentration1, p.concentration0
    return where(f.gt(a + k, 0), f.betaln(a + k, b) - f.betaln(a, b), INF)
  end),
  Kumaraswamy  = power_of(function () return 1 end, function (p, k)
    local a, b = 1 + k / p.concentration1, p.concentration0
    return where(f.gt(a, 0), log(b) + f.betaln(a, b), INF)
  end),
  -- |r^k - 1|/(|k| log r), r = high/low, in units of the end where X^k is larger
  LogUniform   = power_of(function (p, k) return where(f.gt(k, 0), p.high, p.low) end, function (p, k)
    local t = f.abs(k * log(p.high / p.low))
    return where(f.eq(t, 0), 0, log(-expm1(-t) / t))
  end),
  Uniform      = power_of(function (p) return p.high end, function (p, k)   -- with r = low/high
    local r, m = p.low / p.high, k + 1
    local t = m * log(r)
    local ratio = log(where(f.eq(m, 0), -log(r), f.abs(expm1(-f.abs(t)) / m))) + f.maximum(t, 0) - f.log1p(-r)
    return where(f.gt(r, 0), ratio, where(f.gt(m, 0), -log(m), INF))
  end),
}

-- E 1/X
local function reciprocal_of (power) return function (p) return power(p, -1) end end

statistics.reciprocal = { InverseGaussian = function (p) return 1 / p.loc + 1 / p.concentration end }
for name, power in pairs(statistics.power) do statistics.reciprocal[name] = reciprocal_of(power) end

-- E log(1 - X)
statistics.log_rest = {
  Beta    = function (p) return digamma(p.concentration0) - digamma(p.concentration1 + p.concentration0) end,
  Uniform = function (p)
    return f.log1p(-p.low) + slack((p.high - p.low) / (1 - p.high))
  end,
}

-- E ((log(X/(1 - X)) - c)/s)^2
statistics.logit_square = {
  Beta = function (p, c, s)
    local a, b = p.concentration1, p.concentration0
    return (trigamma(a) + trigamma(b)) / square(s) + square((digamma(a) - digamma(b) - c) / s)
  end,
}

-- E max(m - X, 0)
local function above_zero (put) return function (p, m) return where(f.gt(m, 0), put(p, f.maximum(m, 0)), 0) end end

-- for t >= 0, t - (1 - e^-t)
local function delay (t) return t + expm1(-t) end

local function beyond_scale (p, m) return f.maximum(m / p.scale, 1) end

statistics.put = {
  Normal   = function (p, m)
    local z = (m - p.loc) / p.scale
    return p.scale * (z * f.ndtr(z) + exp(-0.5 * square(z) - HALF_LOG_2PI))
  end,
  Laplace  = function (p, m)
    local z = (m - p.loc) / p.scale
    return p.scale * (f.maximum(z, 0) + 0.5 * exp(-f.abs(z)))
  end,
  Logistic = function (p, m) return p.scale * f.softplus((m - p.loc) / p.scale) end,
  Gumbel   = function (p, m)   -- s E1(t), t = e^-z
    local z = (m - p.loc) / p.scale
    local t = exp(-z)
    return p.scale * where(f.lt(t, 1e-300), z - EULER, exp(-t) * f.e1e(t))
  end,
  Uniform  = function (p, m)
    local width = p.high - p.low
    local inside = f.minimum(f.maximum(m - p.low, 0), width)
    return square(inside) / (2 * width) + f.maximum(m - p.high, 0)
  end,
  Exponential = above_zero(function (p, m) return delay(p.rate * m) / p.rate end),
  Gamma    = above_zero(function (p, m)
    local a, t = p.concentration, p.rate * m
    return m * f.gammainc(a, t) - a / p.rate * f.gammainc(a + 1, t)
  end),
  InverseGamma = above_zero(function (p, m)
    local a, t = p.concentration, p.rate / m
    local below = p.rate / (a - 1) * f.gammaincc(f.maximum(a - 1, 1e-300), t)
    return where(f.gt(a, 1), m * f.gammaincc(a, t) - below, INF)   -- as its mean is
  end),
  Weibull  = above_zero(function (p, m)
    local t, r = f.pow(m / p.scale, p.concentration), 1 + 1 / p.concentration
    local part = f.gammainc(r, t)
    return m * -expm1(-t) - p.scale * where(f.eq(part, 0), 0, exp(lgamma(r) + log(part)))
  end),
  Rayleigh = above_zero(function (p, m)
    local z = m / p.scale
    return m - p.scale * math.sqrt(math.pi / 2) * f.erf(z / math.sqrt(2))
  end),
  LogNormal = above_zero(function (p, m)
    local z = (log(m) - p.loc) / p.scale
    local w = z - p.scale   -- the mean of X below m, e^(loc + s^2/2) ndtr(w), is m e^(-z^2/2) erfcx(-w/sqrt 2)/2
    local far = 0.5 * m * exp(-0.5 * square(z)) * f.erfcx(-w / math.sqrt(2))
    return m * f.ndtr(z) - where(f.lt(w, 0), far, exp(p.loc + 0.5 * square(p.scale)) * f.ndtr(w))
  end),
  HalfNormal = above_zero(function (p, m)
    local z = m / p.scale
    return m * f.erf(z / math.sqrt(2)) + p.scale * math.sqrt(2 / math.pi) * expm1(-0.5 * square(z))
  end),
  Pareto   = function (p, m)   -- s (r - 1 - (1 - r^(1 - a))/(a - 1)), r = m/s
    local r, a = beyond_scale(p, m), p.alpha - 1
    local mean = where(f.eq(a, 0), log(r), -expm1(-a * log(r)) / a)
    return p.scale * (r - 1 - mean)
  end,
  Beta     = above_zero(function (p, m)
    local a, b, x = p.concentration1, p.concentration0, f.minimum(m, 1)
    return f.maximum(m - 1, 0) + x * f.betainc(a, b, x) - a / (a + b) * f.betainc(a + 1, b, x)
  end),
  LogUniform = function (p, m)
    local x = f.minimum(f.maximum(m, p.low), p.high)
    local inside = (xlogy(x, x / p.low) - (x - p.low)) / log(p.high / p.low)
    return inside + f.maximum(m - p.high, 0)
  end,
}

-- E e^(t (X - c))
statistics.exp = {
  Normal      = function (p, t, c) return exp(t * (p.loc - c) + 0.5 * square(p.scale * t)) end,
  Laplace     = function (p, t, c)
    local z = square(p.scale * t)
    return where(f.lt(z, 1), exp(t * (p.loc - c)) / (1 - z), INF)
  end,
  Logistic    = function (p, t, c)
    local z = f.abs(p.scale * t)
    return where(f.lt(z, 1), exp(t * (p.loc - c)) * math.pi * z / f.sin(math.pi * z), INF)
  end,
  Uniform     = function (p, t, c)
    local width = t * (p.high - p.low)
    return exp(t * (p.low - c)) * expm1(width) / width
  end,
  Exponential = function (p, t, c) return where(f.gt(p.rate, t), exp(-t * c) * p.rate / (p.rate - t), INF) end,
  Gamma       = function (p, t, c)
    local shrunk = f.log1p(-t / p.rate)
    return where(f.gt(p.rate, t), exp(-t * c - p.concentration * shrunk), INF)
  end,
  HalfNormal  = function (p, t, c)
    local z = p.scale * t
    return 2 * exp(-t * c + 0.5 * square(z) + f.log_ndtr(z))
  end,
}


local kl_statistics = {}

-- What a class brings with it, and what follows from that.
local function own_statistic (own, name)
  if name == "log_square" and own.log_variance then return log_square_of(own.log, own.log_variance) end
  if name == "reciprocal" and own.power then return reciprocal_of(own.power) end
  return own[name]
end

-- A statistic of the class P as a function of p and more, or nil.
local function statistic_of (P, name)
  if not families.is_family(P) then return nil end
  local own = rawget(P, "kl_statistics")
  return moments[name] or statistics[name] and statistics[name][P.__name] or own and own_statistic(own, name)
end

local own_forms = setmetatable({}, { __mode = "k" })   -- [Q] = the form that a class brings with it

local function form_of (Q)
  local own = rawget(Q, "kl_form")
  if own and not own_forms[Q] then own_forms[Q] = new_form(own[1], own[2]) end
  return forms[Q.__name] or own_forms[Q]
end

--- Is there such a pair?
function kl_statistics.has_pair (P, Q)
  local of_q = form_of(Q)
  if not (of_q and families.is_family(P)) then return false end
  for _, name in ipairs(of_q.needs) do
    if not statistic_of(P, name) then return false end
  end
  return true
end

local function sum (first, ...)
  for i = 1, select("#", ...) do first = first + select(i, ...) end
  return first
end

local function size_of (first, ...)
  local size = f.abs(first)
  for i = 1, select("#", ...) do size = size + f.abs((select(i, ...))) end
  return size
end

local function neighbours (d, c) return rounding.neighbours(d, c, ROUNDING) end

--- KL(p || q) for p of the class P and q of Q, which are a pair, as a function of both, for which p has no mass
-- outside the support of q. And another, of how far rounding may take it: by the size of its terms, and by what it is
-- for parameters a few ulps away.
function kl_statistics.pair (P, Q)
  local of_q, known = form_of(Q), {}
  for _, name in ipairs(of_q.needs) do known[name] = statistic_of(P, name) end
  local function terms (p, q)
    local E = {}
    for name, statistic in pairs(known) do
      E[name] = function (...) return statistic(p, ...) end
    end
    return of_q.terms(q, E)
  end
  local function rounding_error (p, q)
    local cross, entropy = sum(terms(p, q)), p:entropy()
    local error = ROUNDING * (size_of(terms(p, q)) + f.abs(entropy))
    for _, near in ipairs(neighbours(p, P)) do
      error = error + f.abs(sum(terms(near, q)) - cross) + f.abs(near:entropy() - entropy)
    end
    for _, near in ipairs(neighbours(q, Q)) do error = error + f.abs(sum(terms(p, near)) - cross) end
    return error
  end
  return function (p, q) return sum(terms(p, q)) - p:entropy() end, rounding_error
end

return kl_statistics
