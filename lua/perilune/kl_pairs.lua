--- The closed forms of KL(P || Q) that are formulas, one line a pair. A kernel of src/kernel/kl/<p>.c that has the
-- name of a class is a pair as well (kl.lua), and others follow from statistics of p (kl_statistics.lua).
local core         = require "perilune.core"
local f            = require "perilune.functions"
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
local gamma       = kernel("gamma", "Gamma", 4)
local geometric   = kernel("geometric", "Geometric", 2)
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
}

local function same_loc (p, q) return f.eq(p.loc, q.loc) end
local function same_scale (p, q) return f.eq(p.scale, q.scale) end
local function same_count (p, q) return f.eq(p.total_count, q.total_count) end
local function never (p) return f.eq(p.logits, -INF) end   -- all mass at 0

--- Pairs that are formulas for some parameters only, and numeric for the others. (Normal and Laplace are
-- GeneralizedNormals of shape 2 and 1.)
kl_pairs.conditional = {
  { "Binomial", "Binomial", function (p, q) return f.maximum(same_count(p, q), never(p)) end, function (p, q)
    local equal = times(p.total_count, bernoulli(p.logits, q.logits))
    return f.where(never(p), times(q.total_count, f.softplus(q.logits)), equal)
  end },
  { "NegativeBinomial", "NegativeBinomial", same_count, function (p, q)
    return times(p.total_count, geometric(-p.logits, -q.logits))
  end },
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
