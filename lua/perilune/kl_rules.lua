--- Divergences of distributions that are made of others: rules that lead back to the parts.
--
-- A rule is a function of p, q and the options of kl_divergence. It returns the value, how it was found (nil: by a
-- formula), an estimate of its error and a function that gives what is to be added to that, or nil where it does not
-- apply.
local Distribution = require "perilune.distribution"
local class        = require "perilune.class"
local core         = require "perilune.core"
local events       = require "perilune.events"
local fallback     = require "perilune.kl_fallback"
local functions    = require "perilune.functions"
local points       = require "perilune.points"
local show         = require "perilune.show"

local where = functions.where
local INF   = math.huge

-- KL of parts, with what else a rule returns.
local function of_parts (p, q, opts) return require "perilune.kl".answer(p, q, opts) end

local function as_tensor (x) return core.is_tensor(x) and x or core.tensor(x) end

local function all (flags)
  if type(flags) == "number" then return flags ~= 0 end
  return core.numel(flags) == 0 or core.item(flags:min()) ~= 0
end


-- Products ---------------------------------------------------------------------

-- Independent without the first n dimensions of its events, which join the batch.
local function peeled (d, n)
  local rest = d.reinterpreted_batch_ndims - n
  return rest == 0 and d.base_dist or class.of(d)(d.base_dist, rest)
end

local function summed (x, n) return core.is_tensor(x) and events.sum_rightmost(x, n) or x end

-- KL of independent parts is the sum of theirs; of as many dimensions as both have apart.
local function independent (p, q, opts)
  if show.shape(p.event_shape) ~= show.shape(q.event_shape) then return nil end
  local n = math.min(p.reinterpreted_batch_ndims, q.reinterpreted_batch_ndims)
  if n == 0 then return of_parts(peeled(p, 0), peeled(q, 0), opts) end
  local value, method, error, more = of_parts(peeled(p, n), peeled(q, n), opts)
  return summed(value, n), method, summed(error, n), more and function () return summed(more(), n) end
end

local names   = { "a", "b", "c", "d" }
local vectors = core.bind("kl/multivariatenormal", "MultivariateNormal", "kl_divergence", names, names)

-- Independent normals are a vector with a diagonal triangle.
local function normals_to_vector (p, q)
  local base, Normal = p.base_dist, require "perilune.distributions.Normal"
  if class.of(base) ~= Normal or p.reinterpreted_batch_ndims ~= 1 then return nil end
  local loc, scale = base:mean(), base:stddev()
  return vectors(loc, scale:unsqueeze(-1) * core.eye(p.event_shape[1]), q.loc, q.scale_tril)
end

-- All mass at one point: what q says of it.
local function point (p, q) return -q:log_prob(p.v) end

-- Is the entropy a formula?
local function has_formula (p)
  if p.reinterpreted_batch_ndims then return has_formula(p.base_dist) end
  return p.kernels ~= nil and p.entropy ~= Distribution.entropy
end

-- E log p, how it was found, and its error.
local function negentropy (p)
  if has_formula(p) then return -p:entropy(), "closed form", 0 end
  local value, error = p:expectation(function (x) return p:log_prob(x) end)
  return value, "quadrature", error
end

-- A density of 1 has no total: what is left is minus the entropy of p, which may be negative.
local function to_flat (p, q)
  local value, method, error = negentropy(p)
  value = where(fallback.within(p, q), value, INF)
  local shape = core.broadcast_shape(as_tensor(value), core.zeros(q.batch_shape))
  return #shape > 0 and as_tensor(value):expand(shape) or value, method, error
end



-- Transforms -------------------------------------------------------------------

-- How many transforms at the end of both lists are equal and one to one: X and its image have the same
-- divergences.
local function common_end (a, b)
  local n = 0
  while n < #a and n < #b and a[#a - n] == b[#b - n] and a[#a - n].bijective do n = n + 1 end
  return n
end

-- A TransformedDistribution without its last n transforms.
local function before (d, n)
  local rest = { table.unpack(d.transforms, 1, #d.transforms - n) }
  if #rest == 0 then return d.base_dist end
  return require "perilune.distributions.TransformedDistribution"(d.base_dist, rest)
end

-- The distribution whose law a transform of independent parts is, or d itself.
local function law_of (d) return class.is_instance(rawget(d, "law"), Distribution) and d.law or d end

local function transformed (p, q, opts)
  local n = p.transforms and q.transforms and common_end(p.transforms, q.transforms) or 0
  if n > 0 then return of_parts(before(p, n), before(q, n), opts) end
  local a, b = law_of(p), law_of(q)
  if a == p and b == q then return nil end
  return of_parts(a, b, opts)
end

-- The law of log(x/(1 - x)), or nil where it has no finite location.
local function logit_of (d)
  if d.temperature == nil then return require "perilune.distributions.Normal"(d.loc, d.scale) end
  local loc = d.logits / d.temperature
  if not all(functions.lt(functions.abs(loc), INF)) then return nil end
  return require "perilune.distributions.Logistic"(loc, 1 / d.temperature)
end

-- Laws that crowd at 0 and 1 are smooth as logits.
local function logits (p, q, opts)
  local a, b = logit_of(p), logit_of(q)
  if not (a and b) then return nil end
  return of_parts(a, b, opts)
end


-- Masks ------------------------------------------------------------------------

local function unmasked (d) return d.mask and d.base or d end

-- What counts is where both count.
local function masked (p, q, opts)
  local mask = (p.mask or 1) * (q.mask or 1)
  local value, method, error, more = of_parts(unmasked(p), unmasked(q), opts)
  return where(mask, value, 0), method, where(mask, error, 0), more and function () return where(mask, more(), 0) end
end


-- Truncation -------------------------------------------------------------------

-- Are these of one class, with equal parameters throughout the batch?
local function is_same (a, b)
  local c = class.of(a)
  if c ~= class.of(b) or #c.operands == 0 then return false end
  for _, name in ipairs(c.operands) do
    if not all(functions.eq(a[name], b[name])) then return false end
  end
  return true
end

-- Two truncations of one law differ by their masses; q may be the law itself.
local function truncated (p, q)
  local base = q.log_mass and q.base or q
  if not is_same(p.base, base) then return nil end
  local value = (q.log_mass or 0) - p.log_mass
  if not q.log_mass then return value, "closed form", 0 end
  local within = functions.ge(p.first, q.first) * functions.le(p.last, q.last)
  return where(within, value, INF), all(1 - within) and "infinite" or "closed form", 0
end


-- Censoring ----------------------------------------------------------------------

-- Masses at the ends have no density: of two laws with the same ends the divergence is a sum of that of the masses and
-- of an integral between, all in one expectation; others do not have the masses that p has.
local function censored (p, q)
  local alike = all(functions.eq(p.low, q.low)) and all(functions.eq(p.high, q.high))
  if not alike then return fallback.infinite(p, q), "infinite", 0 end
  p, q = fallback.alike(p, q)
  local jumps = {}
  for _, d in ipairs(p.support.is_discrete and {} or { p, q }) do
    local found = points.inner_jumps(d)
    table.move(found, 1, #found, #jumps + 1, jumps)
  end
  local value, error = p:expectation(function (x) return p:log_prob(x) - q:log_prob(x) end, { points = jumps })
  local within = fallback.within(p.base, q.base)
  return where(within, fallback.not_negative(value), INF), "quadrature", where(within, error, 0)
end

local function censored_to_other (p, q) return fallback.infinite(p, q), "infinite", 0 end


--- The rules: names of the classes of p and q, and the function. "Distribution" is any.
return {
  { "Independent",             "Independent",             independent },
  { "Independent",             "MultivariateNormal",      normals_to_vector },
  { "Delta",                   "Distribution",            point },
  { "Delta",                   "Masked",                  masked },
  { "Distribution",            "Flat",                    to_flat },
  { "Delta",                   "Flat",                    point },
  { "Masked",                  "Flat",                    masked },
  { "Truncated",               "Flat",                    to_flat },
  { "TransformedDistribution", "TransformedDistribution", transformed },
  { "TransformedDistribution", "Independent",             transformed },
  { "Independent",             "TransformedDistribution", transformed },
  { "RelaxedBernoulli",        "RelaxedBernoulli",        logits },
  { "RelaxedBernoulli",        "LogitNormal",             logits },
  { "LogitNormal",             "RelaxedBernoulli",        logits },
  { "Masked",                  "Masked",                  masked },
  { "Masked",                  "Distribution",            masked },
  { "Distribution",            "Masked",                  masked },
  { "Truncated",               "Truncated",               truncated },
  { "Truncated",               "Distribution",            truncated },
  { "Truncated",               "Masked",                  masked },
  { "Censored",                "Censored",                censored },
  { "Censored",                "Distribution",            censored_to_other },
  { "Censored",                "Masked",                  masked },
  { "Censored",                "Flat",                    to_flat },
}
