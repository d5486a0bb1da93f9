--- The closed forms of KL(P || Q) that are formulas, one line a pair. A kernel of src/kernel/kl/<p>.c that has the
-- name of a class is a pair as well (kl.lua), and others follow from statistics of p (kl_statistics.lua).
local core         = require "perilune.core"
local f            = require "perilune.functions"
local matrices     = require "perilune.matrix_functions"
local not_negative = require "perilune.kl_fallback".not_negative

local kl_pairs = {}

-- A kernel of src/kernel/kl as a function of numbers or tensors.
local function kernel (file, name, n)
  local names = { table.unpack({ "a", "b", "c", "d", "e", "f" }, 1, n) }
  return core.bind("kl/" .. file, name, "kl_divergence", names, names)
end

local bernoulli   = kernel("bernoulli", "Bernoulli", 2)
local categorical = kernel("categorical", "Categorical", 2)
local cauchy      = kernel("cauchy", "Cauchy", 4)
local exponential = kernel("exponential", "Exponential", 2)
local gamma       = kernel("gamma", "Gamma", 4)
local geometric   = kernel("geometric", "Geometric", 2)
local gumbel      = kernel("gumbel", "Gumbel", 4)
local lkj         = kernel("lkjcholesky", "LKJCholesky", 4)
local logistic    = kernel("logistic", "same_scale", 4)
local normal      = kernel("normal", "Normal", 4)
local vectors     = kernel("multivariatenormal", "MultivariateNormal", 4)
local weibull     = kernel("weibull", "Weibull", 4)
local wishart     = kernel("wishart", "Wishart", 4)
local generalized_normal = kernel("generalizednormal", "same_loc", 4)

local SQRT2, INF = math.sqrt(2), math.huge

-- n times the divergence of one trial; nothing where there is none.
local function times (n, divergence) return f.where(f.eq(n, 0), 0, n * divergence) end

-- A coin to any law on the integers, outcome by outcome.
local function coin (p, q)
  local head, tail = p.probs, f.sigmoid(-p.logits)
  local function part (share, outcome) return f.where(f.eq(share, 0), 0, -share * q:log_prob(outcome)) end
  return not_negative(part(head, 1) + part(tail, 0) - p:entropy())
end

-- factor times the sum of c[i] x^(2 - 2 i)
local function series (x, c, factor)
  local y, sum = 1 / f.square(x), c[#c]
  for i = #c - 1, 1, -1 do sum = sum * y + c[i] end
  return sum * factor
end

-- mu(x) = log Gamma(x) - (x - 1/2) log x + x - log(2 pi)/2, and s(x) = log x - 1/(2 x) - psi(x), for x from 16 on
local STIRLING = { 1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156 }
local DIGAMMA  = { 1 / 12, -1 / 120, 1 / 252, -1 / 240, 1 / 132, -691 / 32760, 1 / 12 }
local function stirling (x) return series(x, STIRLING, 1 / x) end
local function digamma_rest (x) return series(x, DIGAMMA, 1 / f.square(x)) end

-- The entropy of the MultivariateNormal in d dimensions less that of the MultivariateStudentT of this scale_tril, with
-- a = df/2, b = d/2 and h = b/a:
--
--   b + log(Gamma(a + b)/(Gamma(a) a^b)) - (a + b) (psi(a + b) - psi(a))
--     = mu(a + b) - mu(a) + (a + b) (s(a + b) - s(a)) - (log(1 + h) + h)/2
--
-- where the second form keeps its digits as the first tends to 0.
local FAR, MOST = 16, 1e100
local function entropy_gap (df, d)
  local a, b = f.minimum(df, MOST) / 2, d / 2
  local is_far = f.ge(a, FAR)
  local near, far = f.minimum(a, FAR), f.maximum(a, FAR)
  local direct = b + f.lgamma(near + b) - f.lgamma(near) - b * f.log(near)
                 - (near + b) * (f.digamma(near + b) - f.digamma(near))
  local h = b / far
  local by_series = stirling(far + b) - stirling(far) + (far + b) * (digamma_rest(far + b) - digamma_rest(far))
                    - 0.5 * (f.log1p(h) + h)
  return f.where(is_far, by_series, direct)
end

-- Vectors with heavy tails to a Normal law: beside the divergence of the Normal of the same scale_tril there are the
-- gap between the entropies and, the covariance being df/(df - 2) as large, |L2^-1 L1|^2/(df - 2).
local function student_vectors (p, q)
  local df = p.df
  local has_variance = f.gt(df, 2)
  local room = f.where(has_variance, f.minimum(df, MOST) - 2, 1)
  local spread = matrices.solve_triangular(q.scale_tril, matrices.tril(p.scale_tril))   -- no slopes above the diagonal
  local square = (spread * spread):sum(-1):sum(-1)
  local normals = vectors(p.loc, p.scale_tril, q.loc, q.scale_tril)
  local value = normals + (square / room + entropy_gap(df, p.event_shape[1]))
  return not_negative(f.where(has_variance * f.lt(normals, INF), value, INF))
end

--- Pairs that are formulas. Where X has the law of p and Y that of q, g(X) and g(Y) have the same
-- divergence for every g that loses nothing: the logarithm of a LogNormal is a Normal.
kl_pairs.formulas = {
  { "Bernoulli",   "Binomial",    coin },
  { "Bernoulli",   "Geometric",   coin },
  { "Bernoulli",   "NegativeBinomial", coin },
  { "Bernoulli",   "Poisson",     coin },
  { "DiscreteUniform", "DiscreteUniform", function (p, q)
    local count, gaps = p.high - p.low + 1, (p.low - q.low) + (q.high - p.high)
    return f.where(f.ge(p.low, q.low) * f.le(p.high, q.high), f.log1p(f.maximum(gaps, 0) / count), INF)
  end },
  { "Multinomial", "Multinomial", function (p, q)
    return f.where(f.eq(p.total_count, q.total_count), times(p.total_count, categorical(p.logits, q.logits)), INF)
  end },
  { "OneHotCategorical", "OneHotCategorical", function (p, q) return categorical(p.logits, q.logits) end },
  { "HalfCauchy",  "HalfCauchy",  function (p, q) return cauchy(0, p.scale, 0, q.scale) end },
  { "InverseWishart", "InverseWishart", function (p, q)   -- the inverses are Wisharts, of inverse scales
    return wishart(p.df, q.scale_tril, q.df, p.scale_tril)
  end },
  { "LKJ", "LKJ", function (p, q) return lkj(p.concentration, p.frame, q.concentration, q.frame) end },   -- of factors
  { "LowRankMultivariateNormal", "MultivariateNormal", function (p, q)
    return vectors(p.loc, p.scale_tril, q.loc, q.scale_tril)
  end },
  { "MultivariateNormal", "LowRankMultivariateNormal", function (p, q)
    return vectors(p.loc, p.scale_tril, q.loc, q.scale_tril)
  end },
  { "MultivariateStudentT", "MultivariateNormal", student_vectors },
  { "MultivariateStudentT", "LowRankMultivariateNormal", student_vectors },
  { "HalfNormal",  "HalfNormal",  function (p, q) return normal(0, p.scale, 0, q.scale) end },
  { "Rayleigh",    "Rayleigh",    function (p, q) return 2 * normal(0, p.scale, 0, q.scale) end },
  { "Gamma",       "Exponential", function (p, q) return gamma(p.concentration, p.rate, 1, q.rate) end },
  { "Exponential", "Gamma",       function (p, q) return gamma(1, p.rate, q.concentration, q.rate) end },
  { "InverseGamma", "InverseGamma", function (p, q)
    return gamma(p.concentration, p.rate, q.concentration, q.rate)
  end },
  { "Frechet",     "Frechet",     function (p, q)   -- the reciprocals are Weibulls
    return weibull(q.scale, p.concentration, p.scale, q.concentration)
  end },
  { "Exponential", "Weibull",     function (p, q) return weibull(1 / p.rate, 1, q.scale, q.concentration) end },
  { "Weibull",     "Exponential", function (p, q) return weibull(p.scale, p.concentration, 1 / q.rate, 1) end },
  { "Rayleigh",    "Weibull",     function (p, q) return weibull(SQRT2 * p.scale, 2, q.scale, q.concentration) end },
  { "Weibull",     "Rayleigh",    function (p, q) return weibull(p.scale, p.concentration, SQRT2 * q.scale, 2) end },
  { "Exponential", "Rayleigh",    function (p, q) return weibull(1 / p.rate, 1, SQRT2 * q.scale, 2) end },
  { "Rayleigh",    "Exponential", function (p, q) return weibull(SQRT2 * p.scale, 2, 1 / q.rate, 1) end },
  { "LogNormal",   "LogNormal",   function (p, q) return normal(p.loc, p.scale, q.loc, q.scale) end },
  { "LogitNormal", "LogitNormal", function (p, q) return normal(p.loc, p.scale, q.loc, q.scale) end },
  { "Zipf",        "Geometric",   function (p, q)   -- there are k failures before the success
    return not_negative(-f.log(q.probs) - f.log1p(-q.probs) * p:mean() - p:entropy())
  end },
}

local function same_loc (p, q) return f.eq(p.loc, q.loc) end
local function same_scale (p, q) return f.eq(p.scale, q.scale) end
local function same_count (p, q) return f.eq(p.total_count, q.total_count) end
local function never (p) return f.eq(p.logits, -INF) end   -- all mass at 0

-- Where the shapes of q are those of p, log(1 + (x/scale)^c) of Burr and e^(rate x) - 1 of Gompertz are exponential
-- variables, and gamma + delta asinh(z) of JohnsonSU is a Normal one.
local function same_burr (p, q) return f.eq(p.concentration1, q.concentration1) * same_scale(p, q) end
local function same_johnson (p, q) return same_loc(p, q) * same_scale(p, q) end

-- For other rates, with r the quotient of both and E e^(rate x) = e^c c^-r Gamma(1 + r, c). It loses digits for rates
-- that are nearly the same, and e^c is not to be too large.
local function is_gompertz (p, q)
  local far = f.gt(f.abs(q.rate / p.rate - 1), 0.1) * f.lt(p.concentration, 100)
  return f.maximum(f.eq(p.rate, q.rate), far)
end

local function gompertz (p, q)
  local is_same, c, r = f.eq(p.rate, q.rate), p.concentration, q.rate / p.rate
  local power = f.exp(c - r * f.log(c) + f.lgamma(1 + r)) * f.gammaincc(1 + r, c)
  local logs = f.log(c / q.concentration) - f.log(r)
  local other = logs + (1 - r) * p.rate * p:mean() - 1 + q.concentration * (power - 1)
  return f.where(is_same, exponential(c, q.concentration), not_negative(f.where(is_same, 0, other)))
end

-- Extremes of concentration 0 are Gumbels; others that begin or end at the same point are powers of Exponentials.
local function is_gumbel (d) return f.eq(d.concentration, 0) end
local function end_of (d) return d.loc - d.scale / f.where(is_gumbel(d), 1, d.concentration) end

local function same_end (p, q)
  local sides = f.eq(f.sign(p.concentration), f.sign(q.concentration))
  return sides * f.maximum(is_gumbel(p), f.eq(end_of(p), end_of(q)))
end

local function extremes (p, q)
  local function power (d) return f.where(is_gumbel(d), 1, f.abs(d.concentration)) end
  local a, b = power(p), power(q)
  local above = weibull(q.scale / b, 1 / a, p.scale / a, 1 / b)
  local below = weibull(p.scale / a, 1 / a, q.scale / b, 1 / b)
  local tailed = f.where(f.gt(p.concentration, 0), above, below)
  return f.where(is_gumbel(p), gumbel(p.loc, p.scale, q.loc, q.scale), tailed)
end

--- Pairs that are formulas for some parameters only, and numeric for the others. (Normal and Laplace are
-- GeneralizedNormals of shape 2 and 1.) Last come names of parameters whose slopes a formula has not, since it holds
-- for equal ones only.
kl_pairs.conditional = {
  { "Binomial", "Binomial", function (p, q) return f.maximum(same_count(p, q), never(p)) end, function (p, q)
    local equal = times(p.total_count, bernoulli(p.logits, q.logits))
    return f.where(never(p), times(q.total_count, f.softplus(q.logits)), equal)
  end },
  { "NegativeBinomial", "NegativeBinomial", same_count, function (p, q)
    return times(p.total_count, geometric(-p.logits, -q.logits))
  end, "total_count" },
  { "Logistic", "Logistic", same_scale, function (p, q) return logistic(p.loc, p.scale, q.loc, q.scale) end },
  { "GeneralizedNormal", "GeneralizedNormal", same_loc, function (p, q)
    return generalized_normal(p.scale, p.shape, q.scale, q.shape)
  end },
  { "GeneralizedNormal", "Laplace", same_loc, function (p, q)
    return generalized_normal(p.scale, p.shape, q.scale, 1)
  end },
  { "Laplace", "GeneralizedNormal", same_loc, function (p, q)
    return generalized_normal(p.scale, 1, q.scale, q.shape)
  end },
  { "Burr", "Burr", same_burr, function (p, q) return exponential(p.concentration0, q.concentration0) end,
    "concentration1 scale" },
  { "Gompertz", "Gompertz", is_gompertz, gompertz, "rate" },
  { "JohnsonSU", "JohnsonSU", same_johnson, function (p, q)
    local shift = (q.gamma - p.gamma) - (q.delta - p.delta) / p.delta * p.gamma   -- of the Normal, in its own units
    return normal(0, q.delta, 0, p.delta) + 0.5 * f.square(shift)
  end, "loc scale" },
  { "GeneralizedExtremeValue", "GeneralizedExtremeValue", same_end, extremes, "loc scale concentration" },
  { "GeneralizedExtremeValue", "Gumbel", is_gumbel, function (p, q)
    return gumbel(p.loc, p.scale, q.loc, q.scale)
  end, "concentration" },
  { "Normal", "GeneralizedNormal", same_loc, function (p, q)
    return generalized_normal(SQRT2 * p.scale, 2, q.scale, q.shape)
  end },
}

-- Counts without an upper bound have no finite divergence to a bounded law, unless all of their mass is at 0.
local function counts_to_bounded (p, q) return f.where(f.eq(p:prob(0), 1), -q:log_prob(0), INF) end
for _, P in ipairs { "Geometric", "NegativeBinomial", "Poisson", "ZeroInflatedPoisson" } do
  for _, Q in ipairs { "Bernoulli", "BetaBinomial", "Binomial", "DiscreteUniform", "Hypergeometric" } do
    table.insert(kl_pairs.formulas, { P, Q, counts_to_bounded })
  end
end

return kl_pairs
