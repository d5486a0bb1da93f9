--- Other measures of how two distributions differ: cross-entropy, Jeffreys, Jensen-Shannon, Renyi (and
-- wasserstein.lua). As kl_divergence: nats, one value for each element of the batch, a number for numbers. All return
-- an estimate of the error as well, as kl_explain does.
local Distribution = require "perilune.distribution"
local attempt      = require "perilune.attempt"
local batches      = require "perilune.batches"
local class        = require "perilune.class"
local errors       = require "perilune.errors"
local fallback     = require "perilune.kl_fallback"
local functions    = require "perilune.functions"
local kl           = require "perilune.kl"
local show         = require "perilune.show"

local where, maximum, minimum, abs = functions.where, functions.maximum, functions.minimum, functions.abs
local log, exp, sqrt               = functions.log, functions.exp, functions.sqrt
local raise = errors.raise
local INF   = math.huge
local LOG_2 = math.log(2)

local divergences = {}

local function is_discrete (d) return d.support and d.support.is_discrete or false end

local any = batches.any

-- What logarithms of densities, whose difference is taken, are rounded by.
local ROUNDING = 2 ^ -50


-- KL(p || q), of which a few digits will do where there is no formula: they are paid for from this purse.
local function rough_kl (p, q, opts, purse)
  local options = { rough = purse }
  for key, value in pairs(opts or {}) do options[key] = value end
  return (kl.answer(p, q, options))
end

-- opts of an expectation with this part of what is left in a purse.
local function with_share (opts, purse, part)
  local options = { purse = purse:share(part) }
  for key, value in pairs(opts or {}) do options[key] = value end
  return options
end


-- What is masked in one of them does not count, as of KL: the mask of both, if there is one, and the laws without it.
local function unmasked (p, q)
  local a, b = rawget(p, "mask"), rawget(q, "mask")
  return (a or b) and (a or 1) * (b or 1), a and p.base or p, b and q.base or q
end

local function where_counted (mask, value, error) return where(mask, value, 0), where(mask, error, 0) end


-- Sums of divergences --------------------------------------------------------------

--@ peri.cross_entropy(p, q, options) -> number or Tensor, number or Tensor
-- -E[log q(X)] with X from p, in nats, and an estimate of its error: the entropy of p and KL(p || q) together.
--   options  samples = draws where nothing better is known (10000); rng; fallback = false raises where no pair is
--            registered (true)
-- > item(cross_entropy(Normal(0, 1), Normal(1, 2)))
-- 1.8620857137646
function divergences.cross_entropy (p, q, opts, ...)
  errors.no_more("cross_entropy(p, q, opts)", ...)
  fallback.check("cross_entropy", p, q, opts)
  local mask, a, b = unmasked(p, q)
  if mask then return where_counted(mask, divergences.cross_entropy(a, b, opts)) end
  local function expectation (from, of, options)
    return fallback.expectation(from, of, function (x) return -of:log_prob(x) end, options or opts)
  end
  local on_line = #p.event_shape == 0
  local entropy = not on_line and attempt.method(p, "entropy")   -- rows and matrices may have none
  local is_sum = entropy or on_line and p.entropy ~= Distribution.entropy and kl.closed(p, q)
  if not is_sum then
    p, q = fallback.alike(p, q)
    if not any(fallback.within(p, q)) then return fallback.infinite(p, q), 0 end
    local purse = fallback.purse(p)
    local value, error = expectation(p, q, with_share(opts, purse, 0.8))
    if not any(1 - functions.eq(value, INF)) then return value, error end
    local rough = rough_kl(p, q, opts, purse)
    return where(functions.isinf(rough), INF, value), error
  end
  local found = kl.kl_explain(p, q, opts)
  if found.method == "infinite" then return found.value, 0 end
  entropy = entropy or p:entropy()
  local value, error = entropy + found.value, found.error + 0 * entropy
  local cancelled = functions.lt(abs(value), 1e-3 * abs(entropy))
  if not (any(cancelled) and on_line) then return value, error end
  local better, its_error = expectation(fallback.alike(p, q))
  return where(cancelled, better, value), where(cancelled, its_error, error)
end

--@ peri.jeffreys(p, q, options) -> number or Tensor, number or Tensor
-- KL(p || q) + KL(q || p), in nats, and an estimate of its error.
--   options  samples = draws where nothing better is known (10000); rng; fallback = false raises where no pair is
--            registered (true)
-- > item(jeffreys(Normal(0, 1), Normal(1, 2)))
-- 1.75
function divergences.jeffreys (p, q, opts, ...)
  errors.no_more("jeffreys(p, q, opts)", ...)
  fallback.check("jeffreys", p, q, opts)
  local there, back = kl.kl_explain(p, q, opts), kl.kl_explain(q, p, opts)
  return there.value + back.value, there.error + back.error
end


-- Jensen-Shannon ---------------------------------------------------------------------

-- With d = log q - log p: log p - log((p + q)/2) = log 2 - log(1 + e^d)
local function against_middle (d) return LOG_2 - functions.softplus(d) end

local function sinh (h) return 0.5 * (functions.expm1(h) - functions.expm1(-h)) end

-- The terms of p and of q together, for an expectation over p: with h = d/2,
-- 2 e^h (h sinh h - cosh h log cosh h) >= 0, which is about h^2; written out where that might overflow.
local function both_terms (d)
  local h = 0.5 * d
  local is_near = functions.lt(abs(h), 1)
  local near = where(is_near, h, 0)
  local cosh_less_1 = 2 * functions.square(sinh(0.5 * near))
  local together = 2 * exp(near) * (near * sinh(near) - (1 + cosh_less_1) * functions.log1p(cosh_less_1))
  return where(is_near, together, against_middle(d) + exp(d) * against_middle(-d))
end

-- The terms apart, over p and over q, and their error.
local function apart (p, q, opts, purse)
  local from_p, error_p = fallback.expectation_of_ratio(p, q, against_middle, with_share(opts, purse, 0.4))
  local from_q, error_q = fallback.expectation_of_ratio(q, p, against_middle, with_share(opts, purse, 0.6))
  return 0.5 * (from_p + from_q), 0.5 * (error_p + error_q) + ROUNDING
end

-- The terms together, where those apart nearly cancel, so that they give no more than `value`.
local function together (p, q, value, opts, purse)
  opts = { samples = opts and opts.samples, rng = opts and opts.rng, rtol = fallback.tolerance(value), purse = purse }
  local both, error = fallback.expectation_of_ratio(p, q, both_terms, opts)
  return 0.5 * both, 0.5 * error + ROUNDING * sqrt(abs(both))   -- d itself is rounded
end

--@ peri.js_divergence(p, q, options) -> number or Tensor, number or Tensor
-- Jensen-Shannon: the mean of KL(p || m) and KL(q || m), m being the mixture of equal parts: from 0 to log 2; and an
-- estimate of its error. Its root is a distance.
--   options  samples = draws where nothing better is known (10000); rng; fallback = false raises where no pair is
--            registered (true)
-- > string.format("%.6f", (js_divergence(Normal(0, 1), Normal(1, 2))))
-- 0.128175
function divergences.js_divergence (p, q, opts, ...)
  errors.no_more("js_divergence(p, q, opts)", ...)
  fallback.check("js_divergence", p, q, opts)
  local mask, a, b = unmasked(p, q)
  if mask then return where_counted(mask, divergences.js_divergence(a, b, opts)) end
  p, q = fallback.alike(p, q)
  if is_discrete(p) ~= is_discrete(q) then return p:batched(LOG_2), p:batched(0) end
  local separate = fallback.are_apart(p, q)
  if not any(1 - separate) then return p:batched(LOG_2), p:batched(0) end
  local purse = fallback.purse(p)
  local value, error = apart(p, q, opts, purse)
  local near = functions.lt(value, 1e-2)
  if any(near) and fallback.is_same_support(p, q) then
    local close, its_error = together(p, q, value, opts, purse)
    its_error = its_error + fallback.missed(p, q, close, value, error, 0)
    local better = near * functions.lt(its_error, error)
    value, error = where(better, close, value), where(better, its_error, error)
  end
  local unknown = functions.isnan(value)   -- but it lies between
  value = where(unknown, 0.5 * LOG_2, minimum(maximum(value, 0), LOG_2))
  error = where(unknown, 0.5 * LOG_2, minimum(error, LOG_2))
  return where(separate, LOG_2, value), where(separate, 0, error)
end


-- Renyi ------------------------------------------------------------------------------

-- Closed forms: [class of both] = function (p, q, alpha).
local renyi = {}

-- With v = alpha sq^2 + (1 - alpha) sp^2, infinite where that is not positive.
function renyi.Normal (p, q, alpha)
  local ratio = functions.square(p.scale / q.scale)
  local v, z = alpha + (1 - alpha) * ratio, (p.loc - q.loc) / q.scale
  -- log(sq/sp) - log(v)/(2 (alpha - 1)), with v = 1 + (1 - alpha)(ratio - 1)
  local spread = -0.5 * log(ratio) - 0.5 * functions.log1p((1 - alpha) * (ratio - 1)) / (alpha - 1)
  return where(functions.gt(v, 0), spread + 0.5 * alpha * z * z / v, INF)
end

function renyi.Exponential (p, q, alpha)
  local ratio = q.rate / p.rate
  local v = alpha + (1 - alpha) * ratio   -- over p.rate
  local value = -log(ratio) - functions.log1p((1 - alpha) * (ratio - 1)) / (alpha - 1)
  return where(functions.gt(v, 0), value, INF)
end

-- Is d of our own class of this name?
local function is_own (d, name) return class.of(d) == require("perilune.distributions." .. name) end

local function closed_form (p, q)
  local name = class.name(class.of(p))
  return renyi[name] and is_own(p, name) and is_own(q, name) and renyi[name] or nil
end

-- log E[e^(t r)]/t with r = log p - log q, about c: c + log E[e^(t (r - c))]/t, and its error.
local function renyi_about (p, q, t, c, opts)
  local mean, error = fallback.expectation_of_ratio(p, q, function (d) return exp(-t * (d + c)) end, opts)
  return c + log(mean) / t, error / (abs(t) * mean)
end

-- The same about a centre c near KL, where the whole is near: c + log(1 + E[e^(t (r - c)) - 1])/t; and for which
-- elements it is not.
local function renyi_about_kl (p, q, t, centre, opts)
  local excess, error = fallback.expectation_of_ratio(p, q, function (d)
    return functions.expm1(-t * (d + centre))
  end, opts)
  local far = 1 - functions.lt(abs(excess), 0.9)
  return centre + functions.log1p(excess) / t, error / (abs(t) * (1 + excess)), far
end

-- How far above KL to look where the mean about it overflows: t times that.
local OVERFLOW = 600

local LEAST = 0.25   -- of what a first result has cost there must be enough for a better one

-- t = alpha - 1
local function renyi_numerically (p, q, t, opts)
  local purse = fallback.purse(p)
  local centre = fallback.is_dear(p, q) and 0 or rough_kl(p, q, opts, purse)
  centre = where(functions.isfinite(centre), centre, 0)
  purse:lap(1)
  local value, error, far = renyi_about_kl(p, q, t, centre, with_share(opts, purse, 0.5))
  if any(far) and (purse:affords(LEAST) or any(1 - functions.isfinite(value))) then
    local other = t < 0 and 0 or centre + OVERFLOW / t
    local value_far, error_far = renyi_about(p, q, t, where(functions.isfinite(value), value, other),
                                               with_share(opts, purse, 1))
    value, error = where(far, value_far, value), where(far, error_far, error)
  end
  value = where(functions.eq(value, -INF), 0 / 0, maximum(value, 0))   -- not known, or rounded
  return value, where(functions.isfinite(value), error + ROUNDING * (1 + abs(value)), INF)
end

--@ peri.renyi_divergence(p, q, alpha, options) -> number or Tensor, number or Tensor
-- Renyi's divergence, log E[(p(X)/q(X))^(alpha - 1)]/(alpha - 1) with X from p, in nats, and an estimate of its error;
-- KL where alpha is 1.
--   alpha    positive number
--   options  samples = draws where nothing better is known (10000); rng; fallback = false raises where no pair is
--            registered (true)
-- > item(renyi_divergence(Normal(0, 1), Normal(1, 2), 0.5))
-- 0.32314355131421
function divergences.renyi_divergence (p, q, alpha, opts, ...)
  errors.no_more("renyi_divergence(p, q, alpha, opts)", ...)
  fallback.check("renyi_divergence", p, q, opts)
  if type(alpha) ~= "number" or not (alpha > 0 and alpha < INF) then
    raise("renyi_divergence: alpha must be positive and finite, got %s", show.value(alpha))
  end
  if alpha == 1 then
    local found = kl.kl_explain(p, q, opts)
    return found.value, found.error
  end
  local mask, a, b = unmasked(p, q)
  if mask then return where_counted(mask, divergences.renyi_divergence(a, b, alpha, opts)) end
  local closed = closed_form(p, q)
  if closed then
    local value = closed(p, q, alpha)
    return value, where(functions.isinf(value), 0, ROUNDING * (1 + value))
  end
  p, q = fallback.alike(p, q)
  local within = alpha < 1 and (is_discrete(p) == is_discrete(q) and 1 or 0) or fallback.within(p, q)
  if not any(within) then return fallback.infinite(p, q), 0 end
  local value, error = renyi_numerically(p, q, alpha - 1, opts)
  return where(within, value, INF), where(within, error, 0)
end

return divergences
