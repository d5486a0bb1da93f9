--- TransformedDistribution(base, transforms): the law of a transform of a random variable.
--
-- Each transform is one stage on top of the law below it, a distribution or another stage.
-- A stage knows the densities, tails, quantiles and moments of its values; a chain of them
-- is all there is to several transforms.
local Distribution = require "perilune.distribution"
local Independent  = require "perilune.distributions.Independent"
local class        = require "perilune.class"
local constraints  = require "perilune.constraints"
local construct    = require "perilune.construct"
local core         = require "perilune.core"
local errors       = require "perilune.errors"
local events       = require "perilune.events"
local functions    = require "perilune.functions"
local levels       = require "perilune.levels"
local peaks        = require "perilune.peaks"
local quadrature   = require "perilune.quadrature"
local show         = require "perilune.show"
local transforms   = require "perilune.transforms"

local where, maximum, minimum, abs, log = functions.where, functions.maximum, functions.minimum, functions.abs,
                                          functions.log
local raise         = errors.raise
local sum_rightmost = transforms.sum_rightmost
local INF = math.huge

-- The largest of the last n dimensions.
local function any (flags, n)
  for _ = 1, n do flags = flags:max(-1) end
  return flags
end


-- A stage: y = map(x), x from the law below --------------------------------------------

local Stage = {}
Stage.__index = Stage

-- -inf outside the support, NaN for NaN.
local function masked (self, y, value)
  local support, event_dim = self.support, self.event_dim
  if event_dim == 0 then
    if support.low == -INF and support.high == INF then return value end
    return where(support:holds(y), value, -abs(y) - INF)
  end
  local outside = any(1 - support:holds(y), event_dim - support.event_dim)
  return where(any(functions.isnan(y), event_dim), 0 / 0, where(outside, -INF, value))
end

-- A discrete x whose image is y but for rounding.
local function settled (self, y)
  local x = self.map:inverse(y)
  local whole = functions.round(x)
  local close = functions.le(abs(self.map:forward(whole) - y), 4e-15 * abs(y))
  return where(close, whole, x)
end

-- log p where y lies in the support; elsewhere nonsense. An image is exact: what lies in it
-- comes from the support below.
local function log_density (self, y)
  local x, below = self.map:inverse(y), self.below
  local is_inside = self.is_exact and getmetatable(below) == Stage
  local density = is_inside and log_density(below, x) or below:log_prob(x)
  local stretch = sum_rightmost(self.map:log_abs_det_jacobian(x, y), self.extra)
  if self.is_affine then return density - stretch end
  return where(functions.eq(density, -INF), -INF, density - stretch)   -- whatever the stretch
end

function Stage:log_prob (y)
  if self.is_discrete then
    local x = settled(self, y)
    return where(functions.eq(x, x), self.below:log_prob(x), -abs(y) - INF)   -- x is NaN where no x has this image
  end
  return masked(self, y, log_density(self, y))
end

-- The tail below y that is called `rising` where map increases, `falling` where it decreases:
-- there P(Y <= y) is P(X >= x).
local function tail (self, y, rising, falling)
  local map, below, sign = self.map, self.below, self.map.sign
  y = minimum(maximum(y, self.support.low), self.support.high)
  local x = self.is_discrete and settled(self, y) or map:inverse(y)
  local from_above = self.is_discrete and functions.ceil(x) - 1 or x
  if sign == 1 then return below[rising](below, x) end
  if sign == -1 then return below[falling](below, from_above) end
  return where(functions.gt(sign, 0), below[rising](below, x), below[falling](below, from_above))
end

function Stage:cdf (y) return tail(self, y, "cdf", "sf") end
function Stage:sf (y) return tail(self, y, "sf", "cdf") end
function Stage:log_cdf (y) return tail(self, y, "log_cdf", "log_sf") end
function Stage:log_sf (y) return tail(self, y, "log_sf", "log_cdf") end

-- The quantile by the one of the law below that is called `rising` where map increases, `falling` where it
-- decreases. There the smallest y is the largest x: the outcome after the one that reaches p exactly. `beyond` is
-- 1 if levels above p lead there, -1 if those below do.
local function quantile (self, p, rising, falling, beyond)
  local map, below, sign = self.map, self.below, self.map.sign
  if sign == 1 then return map:forward(below[rising](below, p)) end
  local other = self.is_discrete and levels.beyond(p, beyond) or p
  if sign == -1 then return map:forward(below[falling](below, other)) end
  return map:forward(where(functions.gt(sign, 0), below[rising](below, p), below[falling](below, other)))
end

function Stage:icdf (p) return quantile(self, p, "icdf", "isf", -1) end
function Stage:isf (q) return quantile(self, q, "isf", "icdf", 1) end

-- opts of an expectation over y for one over x: points where f has kinks, and the inner part of f.
local function options_below (self, opts)
  local options = {}
  for key, value in pairs(opts or {}) do options[key] = value end
  options.points = {}
  for _, y in ipairs(opts and opts.points or {}) do self:add_preimages(y, options.points) end
  if opts and opts.parts then
    local inner = opts.parts.inner
    options.parts = { inner = function (x) return inner(self.map:forward(x)) end, outer = opts.parts.outer }
  end
  return options
end

function Stage:add_preimages (y, list) list[#list + 1] = self.map:inverse(y) end

function Stage:expectation (f, opts)
  return self.below:expectation(function (x) return f(self.map:forward(x)) end, options_below(self, opts))
end

local function identity (y) return y end

function Stage:mean ()
  if self.is_affine or self.is_reshape then return self.map:forward(self.below:mean()) end
  return (self:expectation(identity))
end

function Stage:variance ()
  if self.is_reshape then return self.map:forward(self.below:variance()) end
  if self.is_affine then return self.map.scale * self.map.scale * self.below:variance() end
  local mean = self:mean()
  local variance = self:expectation(function (y) return (y - mean) ^ 2 end)
  return where(functions.isinf(mean), INF, variance)
end

function Stage:stddev ()
  if self.is_reshape then return self.map:forward(self.below:stddev()) end
  if self.is_affine then return abs(self.map.scale) * self.below:stddev() end
  return functions.sqrt(self:variance())
end

-- H(Y) = H(X) + E log|dy/dx|
function Stage:entropy ()
  local below = self.below:entropy()
  if self.is_discrete or self.is_reshape then return below end
  if self.is_affine then
    return below + sum_rightmost(self.map:log_abs_det_jacobian(self.below:mean()), self.extra)
  end
  return below + self.below:expectation(function (x) return self.map:log_abs_det_jacobian(x) end)
end


-- |X|: every y > 0 has two preimages -------------------------------------------------------

local Folded = setmetatable({}, Stage)
Folded.__index = Folded

function Folded:log_prob (y)
  local plus, minus = self.below:log_prob(y), self.below:log_prob(-y)
  local both = functions.logaddexp(plus, minus)
  if self.is_discrete then both = where(functions.eq(y, 0), plus, both) end
  return masked(self, y, both)
end

-- P(X < -y)
local function left_of (self, name, y)
  return self.below[name](self.below, self.is_discrete and functions.ceil(-y) - 1 or -y)
end

function Folded:sf (y)
  return where(functions.lt(y, 0), 1, self.below:sf(y) + left_of(self, "cdf", y))
end

-- The logarithm of a tail that is log_tail where it is small, else that of 1 - other.
local function log_of (log_tail, other) return where(functions.lt(other, 0.5), functions.log1p(-other), log_tail) end

function Folded:log_sf (y)
  local outer = functions.logaddexp(self.below:log_sf(y), left_of(self, "log_cdf", y))
  return where(functions.lt(y, 0), 0, log_of(outer, self:cdf(y)))
end

-- P(-y <= X <= y) as an integral of the density, for y close to 0.
local function mass_near_zero (self, y, shape)
  local row = (core.is_tensor(y) and y or core.tensor(y)):expand(shape)
  local density = quadrature.integrate(function (t)
    return where(functions.gt(row, 0), functions.exp(self:log_prob(row * t)), 0)
  end, 0, 1, { shape = shape })
  return row * density
end

local function is_any (flags)
  if type(flags) == "number" then return flags ~= 0 end
  return core.numel(flags) > 0 and core.item(flags:max()) ~= 0
end

-- P(-y <= X <= y), the difference of those tails that are small
function Folded:cdf (y)
  local low, high = left_of(self, "cdf", y), self.below:cdf(y)
  local low_sf, high_sf = left_of(self, "sf", y), self.below:sf(y)
  local inner = where(functions.lt(high, 0.5), high - low,
                      where(functions.lt(low_sf, 0.5), low_sf - high_sf, 1 - (low + high_sf)))
  local cancelled = functions.lt(inner, 0.05 * minimum(high, low_sf)) * functions.gt(y, 0)
  if not self.is_discrete and is_any(cancelled) then
    local shape = core.is_tensor(inner) and core.shape(inner) or {}
    inner = where(cancelled, mass_near_zero(self, y, shape), inner)
    inner = #shape == 0 and type(y) == "number" and core.is_tensor(inner) and core.item(inner) or inner
  end
  return where(functions.lt(y, 0), 0, inner)
end

function Folded:log_cdf (y) return log_of(log(self:cdf(y)), self:sf(y)) end

-- Where the smaller tail is as large as it should be. It lies within what either half of the
-- outer mass says; a small inner mass is that of the density at 0 as a first guess.
local function folded_quantile (self, p, q)
  if self.is_discrete then raise("TransformedDistribution has no quantiles of discrete magnitudes") end
  local upper, small = functions.lt(q, 0.5), minimum(q, 0.5)
  local half = 0.5 * small
  local function outermost (u) return maximum(abs(self.below:icdf(u)), abs(self.below:isf(u))) end
  local reach = outermost(half)
  local target = where(upper, log(q), log(p))
  local noise = 2 ^ -51 * maximum(1, abs(target))
  local outer = where(functions.gt(half, 0), 0.5 * reach, outermost(small))   -- the least number has no half
  local guess = where(upper, outer, minimum(p / functions.exp(self:log_prob(0)), reach))
  local y = quadrature.root(function (x)
    local reached = where(upper, self:log_sf(x), self:log_cdf(x))
    return where(upper, target - reached, reached - target), functions.exp(self:log_prob(x) - reached), noise
  end, 0 * reach, reach, guess)
  y = where(functions.eq(p, 0), 0, where(functions.eq(q, 0), reach, y))
  local nonsense = 1 - functions.ge(p, 0) * functions.ge(q, 0)
  return where(nonsense, 0 / 0, y)
end

function Folded:icdf (p) return folded_quantile(self, p, 1 - p) end
function Folded:isf (q) return folded_quantile(self, 1 - q, q) end

function Folded.add_preimages (_, y, list) list[#list + 1], list[#list + 2] = y, -y end

function Folded:expectation (f, opts)   -- |x| has a kink at 0
  local options = options_below(self, opts)
  options.points[#options.points + 1] = 0
  return self.below:expectation(function (x) return f(abs(x)) end, options)
end

function Folded:entropy ()
  return -self:expectation(function (y)
    local density = self:log_prob(y)
    return where(functions.eq(density, -INF), 0, density)
  end)
end


-- Construction -----------------------------------------------------------------------------

local function is_distribution (x)
  local c = class.of(x)
  return c ~= nil and class.descends(c, Distribution)
end

-- A support with is_discrete: the values of a transform of integers lie apart.
local function discrete_support (support)
  local copy = { is_discrete = true }
  for key, value in pairs(support) do copy[key] = value end
  return setmetatable(copy, getmetatable(support))
end

local function is_kind (t, name) return getmetatable(t) == transforms[name] end

local function new_stage (below, map, support, event_dim, is_discrete)
  local image = support and map:image(support) or map.codomain
  local stage = {
    below = below, map = map, is_discrete = is_discrete, is_affine = is_kind(map, "Affine"),
    is_reshape = is_kind(map, "Reshape"),
    support = is_discrete and discrete_support(image) or image,
    is_exact = type(map.sign) == "number" and support ~= nil and support.low ~= nil,
    extra = event_dim - map.domain.event_dim,
    event_dim = event_dim + map.codomain.event_dim - map.domain.event_dim,
  }
  return setmetatable(stage, is_kind(map, "Abs") and stage.event_dim == 0 and Folded or Stage)
end

local function is_elementwise (list)
  for _, t in ipairs(list) do
    if t.domain.event_dim > 0 or t.codomain.event_dim > 0 then return false end
  end
  return true
end

-- The law of the last stage. Independent parts that are transformed one by one stay so.
local function law_of (c, base, list)
  if #list == 0 then return base end
  if base:is_a(Independent) and is_elementwise(list) then
    return Independent(c(base.base_dist, list), base.reinterpreted_batch_ndims)
  end
  local law, support, event_dim = base, base.support, #base.event_shape
  local is_discrete = support and support.is_discrete
  for _, map in ipairs(list) do
    law = new_stage(law, map, support, event_dim, is_discrete)
    support, event_dim = law.support, law.event_dim
  end
  return law
end

local function joined (a, b)
  local whole = { table.unpack(a) }
  for _, n in ipairs(b) do whole[#whole + 1] = n end
  return whole
end

-- base with the batch that the transform's parameters ask for, and the events of its domain.
local function fitted (c, base, whole)
  local event_dim, shape = whole.domain.event_dim, joined(base.batch_shape, base.event_shape)
  if #shape < event_dim then
    raise("%s: base_distribution must have at least %d dimension%s, got %s", class.name(c), event_dim,
          event_dim == 1 and "" or "s", tostring(base))
  end
  local full = whole:inverse_shape(whole:forward_shape(shape))
  if show.shape(full) ~= show.shape(shape) then
    base = base:expand { table.unpack(full, 1, #full - #base.event_shape) }
  end
  local missing = event_dim - #base.event_shape
  return missing > 0 and Independent(base, missing) or base
end

local TransformedDistribution

--- Makes self the law of the transforms of base; for subclasses with parameters of their own.
local function complete (self, base, list)
  local whole = transforms.Compose(list)
  base = fitted(class.of(self), base, whole)
  local shape = whole:forward_shape(joined(base.batch_shape, base.event_shape))
  local cut = #base.batch_shape
  self.base_dist, self.transforms, self.transform = base, whole.parts, whole
  if rawget(base, "batch_shape") then self.batch_shape = { table.unpack(base.batch_shape) } end
  if #shape > cut then self.event_shape = { table.unpack(shape, cut + 1) } end
  self.has_rsample = base.has_rsample
  self.law = law_of(TransformedDistribution, base, whole.parts)
  local support = self.law.support
  self.support = support and constraints.independent(support, math.max(0, #self.event_shape - support.event_dim))
  return self
end

local function is_transform (t)
  return type(t) == "table" and t.log_abs_det_jacobian ~= nil and not class.is_class(t)
end

-- One transform, or a list of nothing else.
local function are_transforms (list)
  if is_transform(list) then return true end
  local all = core.table_kind(list) == "data"
  for _, t in ipairs(all and list or {}) do all = all and is_transform(t) end
  return all
end

local PARAMS = { "base_distribution", "transforms" }

local function make (c, ...)
  local base, list = construct.arguments(c, PARAMS, ...)
  if not is_distribution(base) then
    raise("%s: base_distribution must be a distribution, got %s", class.name(c), show.value(base))
  elseif not are_transforms(list) then
    raise("%s: transforms must be a transform or a list of them, got %s", class.name(c), show.value(list))
  end
  if not is_transform(list) then core.check_list(class.name(c), "transforms", list) end
  return complete(setmetatable({}, c), base, list)
end

TransformedDistribution = Distribution:extend("TransformedDistribution", {
  construct = make,
  complete  = complete,
  help = {
    summary = "the law of a transform, or of several in a row, of a random variable",
    params  = { base_distribution = "the law of x", transforms = "one of peri.transforms, or a list of them" },
    formula = "log p(y) = log p(x) - log|det dy/dx|,  x = inverse of y",
    example = { "TransformedDistribution(require 'perilune'.Normal(0, 1), require 'perilune'.transforms.Exp())"
                .. ":cdf(1)", 0.5 },
  },
})


-- Methods ------------------------------------------------------------------------------------

function TransformedDistribution:log_prob (x)
  local law = self.law
  return core.fused(law.log_prob, law, events.argument(self, "log_prob", x))
end

-- Refuses tails and quantiles of vectors, and of what increases here and decreases there.
local function check_ordered (self, name)
  local reason = nil
  for _, map in ipairs(self.transforms) do
    if not map.sign and not is_kind(map, "Abs") then reason = tostring(map) .. " is not monotone" end
  end
  if #self.event_shape > 0 then reason = "an event has shape " .. show.shape(self.event_shape) end
  if reason then raise("%s has no %s: %s", class.name(class.of(self)), name, reason) end
end

for name, of in pairs { cdf = "x", sf = "x", log_cdf = "x", log_sf = "x", icdf = "p", isf = "q" } do
  TransformedDistribution[name] = function (self, x)
    check_ordered(self, name)
    local law = self.law
    return core.fused(law[name], law, events.argument(self, name, x, of))
  end
end

function TransformedDistribution:median ()
  check_ordered(self, "median")
  return self.law:icdf(0.5)
end

-- Are all transforms such that the highest point stays the highest?
local function keeps_heights (self)
  local discrete = self.support and self.support.is_discrete
  for _, map in ipairs(self.transforms) do
    local plain = is_kind(map, "Affine") or is_kind(map, "Reshape")
    if not (plain or discrete and map.bijective) then return false end
  end
  return true
end

-- Refuses integrals over vectors.
local function check_integral (self, name)
  if #self.event_shape == 0 or class.of(self.law) == Independent or keeps_heights(self) then return end
  raise("%s has no %s: an event has shape %s", class.name(class.of(self)), name, show.shape(self.event_shape))
end

for _, name in ipairs { "mean", "variance", "stddev", "entropy" } do
  TransformedDistribution[name] = function (self)
    check_integral(self, name)
    return self.law[name](self.law)
  end
end

function TransformedDistribution:mode ()
  if keeps_heights(self) then return self.transform:forward(self.base_dist:mode()) end
  if class.of(self.law) == Independent then return self.law:mode() end
  check_ordered(self, "mode")
  return peaks.mode(self, self.base_dist, self.transforms)
end

function TransformedDistribution:expected (f, opts) return self.law:expectation(f, opts) end

function TransformedDistribution:rsample (shape, rng)
  if not self.has_rsample then
    raise("%s has no rsample: %s has none", class.name(class.of(self)), tostring(self.base_dist))
  end
  return self.transform:forward(self.base_dist:rsample(shape, rng))
end

--- Nothing of it is recorded.
function TransformedDistribution:sample (shape, rng)
  return core.no_grad(function () return self.transform:forward(self.base_dist:sample(shape, rng)) end)
end

function TransformedDistribution:with_batch (shape)
  shape = core.to_shape(shape, "TransformedDistribution:with_batch")
  local copy = {}
  for key, value in pairs(self) do copy[key] = value end
  return complete(setmetatable(copy, class.of(self)), self.base_dist:expand(shape), self.transforms)
end

function TransformedDistribution:enumerate_support ()
  if not (self.support and self.support.is_discrete) then return Distribution.enumerate_support(self) end
  return self.transform:forward(self.base_dist:enumerate_support())
end

function TransformedDistribution:__tostring ()
  local names = {}
  for i, t in ipairs(self.transforms) do names[i] = tostring(t) end
  return string.format("%s(%s, [%s])", class.name(class.of(self)), tostring(self.base_dist), table.concat(names, ", "))
end

return TransformedDistribution
