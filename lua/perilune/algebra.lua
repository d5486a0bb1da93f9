--- Distributions as random variables: loc + scale X, sums of independent ones, and equality.
--
-- A distribution stands for a variable that is independent of all others, itself included: X + X is the sum of two
-- draws, 2 * X is twice one. An affine map of a family that has it is a member of the family, else a
-- TransformedDistribution. A sum is a member of a family, or refused.
local Distribution = require "perilune.distribution"
local class        = require "perilune.class"
local constraint   = require "perilune.constraint"
local core         = require "perilune.core"
local f            = require "perilune.functions"
local lazy         = require "perilune.lazy"
local raise        = require "perilune.errors".raise
local show         = require "perilune.show"

local abs, where, gt = f.abs, f.where, f.gt

local distributions = setmetatable({}, {
  __index = function (self, name)
    self[name] = require("perilune.distributions." .. name)
    return self[name]
  end,
})
local transforms = lazy "transforms"

local algebra = {}

local function is_distribution (x) return class.is_instance(x, Distribution) and not class.is_class(x) end

local function name_of (d) return class.name(class.of(d)) end

-- Is d of this family of ours itself? A subclass may have another density.
local function is (d, name) return class.of(d) == distributions[name] end

-- The name of the class of d, if that is one of ours.
local ours = nil
local function family_of (d)
  if not ours then
    ours = {}
    for _, name in ipairs(core.classes()) do ours[name] = true end
  end
  local name = name_of(d)
  return ours[name] and is(d, name) and name or nil
end

local function all (flags)
  if not core.is_tensor(flags) then return flags ~= 0 end
  return core.numel(flags) == 0 or core.item(core.bare(flags):min()) ~= 0
end


-- Affine maps ----------------------------------------------------------------------

local function square (x) return f.square(x) end

-- [family] = function (d, loc, scale): the parameters of loc + scale X, or nil where it is not of the family.
local affine = {}

local function located (d, loc, scale) return loc + scale * d.loc, abs(scale) * d.scale end

for _, name in ipairs { "Normal", "Cauchy", "Laplace", "Logistic" } do affine[name] = located end

-- These are not symmetric: no negative factors.
local function upwards (of)
  return function (d, loc, scale)
    if all(gt(scale, 0)) then return of(d, loc, scale) end
  end
end

affine.Gumbel = upwards(located)

function affine.StudentT (d, loc, scale) return d.df, located(d, loc, scale) end

function affine.GeneralizedNormal (d, loc, scale)
  local l, s = located(d, loc, scale)
  return l, s, d.shape
end

function affine.SkewNormal (d, loc, scale)
  local l, s = located(d, loc, scale)
  return l, s, f.sign(scale) * d.skewness
end

function affine.AsymmetricLaplace (d, loc, scale)
  local l, s = located(d, loc, scale)
  return l, s, where(gt(scale, 0), d.asymmetry, 1 / d.asymmetry)
end

affine.GeneralizedPareto = upwards(function (d, loc, scale)
  local l, s = located(d, loc, scale)
  return l, s, d.concentration
end)

local function swapped (d, loc, scale)
  local low, high = loc + scale * d.low, loc + scale * d.high
  return where(gt(scale, 0), low, high), where(gt(scale, 0), high, low)
end

affine.Uniform = swapped

function affine.Triangular (d, loc, scale)
  local low, high = swapped(d, loc, scale)
  return low, high, loc + scale * d.peak
end

function affine.TruncatedNormal (d, loc, scale)
  local l, s = located(d, loc, scale)
  return l, s, swapped(d, loc, scale)
end

function affine.Delta (d, loc, scale) return loc + scale * d.v end

-- Families on the half-line: positive multiples only.
local function scaled (of)
  return function (d, loc, scale)
    if type(loc) == "number" and loc == 0 and all(gt(scale, 0)) then return of(d, scale) end
  end
end

for _, name in ipairs { "HalfNormal", "HalfCauchy", "Rayleigh", "Maxwell" } do
  affine[name] = scaled(function (d, c) return c * d.scale end)
end
affine.Exponential     = scaled(function (d, c) return d.rate / c end)
affine.Gamma           = scaled(function (d, c) return d.concentration, d.rate / c end)
affine.InverseGamma    = scaled(function (d, c) return d.concentration, c * d.rate end)
affine.Weibull         = scaled(function (d, c) return c * d.scale, d.concentration end)
affine.Frechet         = affine.Weibull
affine.Pareto          = scaled(function (d, c) return c * d.scale, d.alpha end)
affine.LogNormal       = scaled(function (d, c) return d.loc + f.log(c), d.scale end)
affine.LogUniform      = scaled(function (d, c) return c * d.low, c * d.high end)
affine.InverseGaussian = scaled(function (d, c) return c * d.loc, c * d.concentration end)

-- loc + scale X for the last of these maps, with the maps before it.
local function after (d, loc, scale)
  local maps = { table.unpack(d.transforms) }
  local last = maps[#maps]
  if last and getmetatable(last) == transforms.Affine and last.event_dim == 0 then
    maps[#maps], loc, scale = nil, loc + scale * last.loc, scale * last.scale
  end
  maps[#maps + 1] = transforms.Affine(loc, scale)
  return distributions.TransformedDistribution(d.base_dist, maps)
end

local function check_scale (d, scale)
  if all(f.ne(scale, 0)) and all(f.isfinite(scale)) then return end
  raise("%s times %s: the factor must be finite and not 0", name_of(d), show.parameter(scale))
end

-- loc + scale X.
local function mapped (d, loc, scale)
  check_scale(d, scale)
  local name = family_of(d)
  local of = rawget(class.of(d), "affine") or name and affine[name]
  if of then
    local params = { of(d, loc, scale) }
    if params[1] ~= nil then return class.of(d)(table.unpack(params)) end
  end
  if name == "TransformedDistribution" then return after(d, loc, scale) end
  return distributions.TransformedDistribution(d, transforms.Affine(loc, scale))
end


-- Sums -----------------------------------------------------------------------------

-- [family][family] = function (a, b): the law of the sum, or nil and what would have to be equal.
local sums = {}

local function sum (A, B, of)
  sums[A], sums[B] = sums[A] or {}, sums[B] or {}
  sums[A][B] = of
  if A ~= B then sums[B][A] = function (a, b) return of(b, a) end end
end

local function same (a, b, names)
  for name in names:gmatch("%S+") do
    if not all(f.eq(a[name], b[name])) then return nil, name end
  end
  return true
end

sum("Normal", "Exponential", function (a, b) return distributions.ExGaussian(a.loc, a.scale, b.rate) end)
sum("Normal", "ExGaussian", function (a, b)
  return distributions.ExGaussian(a.loc + b.loc, f.hypot(a.scale, b.scale), b.rate)
end)
sum("Normal", "Normal", function (a, b)
  return distributions.Normal(a.loc + b.loc, f.hypot(a.scale, b.scale))
end)
sum("Cauchy", "Cauchy", function (a, b) return distributions.Cauchy(a.loc + b.loc, a.scale + b.scale) end)
sum("Poisson", "Poisson", function (a, b) return distributions.Poisson(a.rate + b.rate) end)
sum("Chi2", "Chi2", function (a, b) return distributions.Chi2(a.df + b.df) end)

-- concentration and rate of those that are Gamma variables
local gammas = {
  Gamma       = function (d) return d.concentration, d.rate end,
  Exponential = function (d) return 1, d.rate end,
  Chi2        = function (d) return 0.5 * d.df, 0.5 end,
}
for A, of_a in pairs(gammas) do
  for B, of_b in pairs(gammas) do
    if not (sums[A] and sums[A][B]) then
      sum(A, B, function (a, b)
        local shape_a, rate_a = of_a(a)
        local shape_b, rate_b = of_b(b)
        if not all(f.eq(rate_a, rate_b)) then return nil, "rate" end
        return distributions.Gamma(shape_a + shape_b, rate_a)
      end)
    end
  end
end

-- A count of successes with the logits of d.
local function counting (family, n, d)
  if rawget(d, "probs") ~= nil then return distributions[family] { total_count = n, probs = d.probs } end
  return distributions[family] { total_count = n, logits = d.logits }
end

local function add_counts (family, count_a, count_b)
  return function (a, b)
    local ok, what = same(a, b, "logits")
    if not ok then return nil, what and "probs" end
    return counting(family, count_a(a) + count_b(b), a)
  end
end

local function one () return 1 end
local function total (d) return d.total_count end
sum("Binomial", "Binomial", add_counts("Binomial", total, total))
sum("Binomial", "Bernoulli", add_counts("Binomial", total, one))
sum("Bernoulli", "Bernoulli", add_counts("Binomial", one, one))
sum("NegativeBinomial", "NegativeBinomial", add_counts("NegativeBinomial", total, total))

sum("Geometric", "Geometric", function (a, b)   -- failures before the second success
  if not same(a, b, "logits") then return nil, "probs" end
  return distributions.NegativeBinomial { total_count = 2, logits = -a.logits }
end)

sum("InverseGaussian", "InverseGaussian", function (a, b)
  local drift_a, drift_b = a.concentration / square(a.loc), b.concentration / square(b.loc)
  if not all(f.le(abs(drift_a - drift_b), 2 ^ -50 * drift_a)) then return nil, "concentration/loc^2" end
  local loc = a.loc + b.loc
  return distributions.InverseGaussian(loc, drift_a * square(loc))
end)

sum("MultivariateNormal", "MultivariateNormal", function (a, b)
  return distributions.MultivariateNormal {
    loc = a.loc + b.loc, covariance_matrix = a.covariance_matrix + b.covariance_matrix,
  }
end)

-- Differences that are no sum with -b: of families on the half-line.
local differences = { Gumbel = {}, Exponential = {}, Poisson = {} }

function differences.Poisson.Poisson (a, b) return distributions.Skellam(a.rate, b.rate) end

function differences.Gumbel.Gumbel (a, b)
  if not same(a, b, "scale") then return nil, "scale" end
  return distributions.Logistic(a.loc - b.loc, a.scale)
end

function differences.Exponential.Exponential (a, b)   -- rates: above 0 that of a
  local asymmetry = f.sqrt(a.rate / b.rate)
  return distributions.AsymmetricLaplace(0, 1 / f.sqrt(a.rate) / f.sqrt(b.rate), asymmetry)
end

-- What classes that come later say of themselves: sum_with = { Other = function (self, other) }.
local function rule_of (a, b, rules, field)
  local A, B = family_of(a), family_of(b)
  if not (A and B) then return nil end
  local own = class.of(a)[field]
  local other = class.of(b)[field]
  return rules[A] and rules[A][B] or own and own[B]
         or field == "sum_with" and other and other[A] and function (x, y) return other[A](y, x) end or nil
end

local function refuse (a, b, sign, what)
  if what then
    raise("%s %s %s: there is no closed form unless both have the same %s", name_of(a), sign, name_of(b), what)
  end
  raise("%s %s %s: the law of %s has no closed form; draw from both and %s", name_of(a), sign, name_of(b),
        sign == "+" and "the sum" or "the difference", sign == "+" and "add" or "subtract")
end

local function is_point (d) return is(d, "Delta") end

local function added (a, b)
  if is_point(a) then return mapped(b, a.v, 1) end
  if is_point(b) then return mapped(a, b.v, 1) end
  local rule, what = rule_of(a, b, sums, "sum_with"), nil
  if rule then
    local law
    law, what = rule(a, b)
    if law then return law end
  end
  refuse(a, b, "+", what)
end

local function subtracted (a, b)
  if is_point(a) then return mapped(b, a.v, -1) end
  if is_point(b) then return mapped(a, -b.v, 1) end
  local rule, what = rule_of(a, b, differences, "difference_with"), nil
  if rule then
    local law
    law, what = rule(a, b)
    if law then return law end
  end
  local minus = affine[family_of(b) or ""] and mapped(b, 0, -1)
  local sum_rule = minus and not what and class.of(minus) == class.of(b) and rule_of(a, minus, sums, "sum_with")
  local law = sum_rule and sum_rule(a, minus)
  if law then return law end
  refuse(a, b, "-", what)
end


-- Operators --------------------------------------------------------------------------

local function number (who, x, d)
  if type(x) == "number" or core.is_tensor(x) then return x end
  if core.table_kind(x) == "data" then return core.operand(x, who, "x") end
  raise("%s: %s goes with numbers, tensors and distributions, not with %s", who, name_of(d), show.value(x))
end

function algebra.add (a, b)
  if is_distribution(a) and is_distribution(b) then return added(a, b) end
  if is_distribution(a) then return mapped(a, number("add", b, a), 1) end
  return mapped(b, number("add", a, b), 1)
end

function algebra.sub (a, b)
  if is_distribution(a) and is_distribution(b) then return subtracted(a, b) end
  if is_distribution(a) then return mapped(a, -number("sub", b, a), 1) end
  return mapped(b, number("sub", a, b), -1)
end

function algebra.mul (a, b)
  if is_distribution(a) and is_distribution(b) then
    raise("%s * %s: the law of a product has no closed form; draw from both and multiply", name_of(a), name_of(b))
  end
  if is_distribution(a) then return mapped(a, 0, number("mul", b, a)) end
  return mapped(b, 0, number("mul", a, b))
end

function algebra.div (a, b)
  if not is_distribution(a) or is_distribution(b) then
    raise("div: only a distribution divided by numbers is one, not %s by %s", show.value(a), show.value(b))
  end
  return mapped(a, 0, 1 / number("div", b, a))
end

function algebra.unm (a) return mapped(a, 0, -1) end


-- Equality ---------------------------------------------------------------------------

local function same_shape (a, b) return show.shape(a) == show.shape(b) end

local function same_value (a, b)
  if core.is_tensor(a) ~= core.is_tensor(b) then return false end
  return constraint.same(a, b)
end

-- What the instances of a class without operands hold, by their names.
local function same_fields (a, b)
  for key, value in pairs(a) do
    if type(value) ~= "function" and key ~= "law" and not same_value(value, rawget(b, key)) then return false end
  end
  for key in pairs(b) do
    if rawget(a, key) == nil then return false end
  end
  return true
end

--- Are these of one class, with equal parameters? For ==.
function algebra.equal (a, b)
  local c = class.of(a)
  if c ~= class.of(b) or not is_distribution(a) or not is_distribution(b) then return false end
  if not (same_shape(a.batch_shape, b.batch_shape) and same_shape(a.event_shape, b.event_shape)) then return false end
  if #c.operands == 0 then return same_fields(a, b) end
  for _, name in ipairs(c.operands) do
    if not same_value(a[name], b[name]) then return false end
  end
  return true
end

return algebra
