--- TransformedDistribution(base, transforms): the law of a transform of a random variable.
--
-- Each transform is one stage (stages.lua) on top of the law below it, a distribution or another stage; a chain of
-- them is all there is to several transforms.
local Distribution = require "perilune.distribution"
local Independent  = require "perilune.distributions.Independent"
local class        = require "perilune.class"
local constraints  = require "perilune.constraints"
local construct    = require "perilune.construct"
local core         = require "perilune.core"
local errors       = require "perilune.errors"
local events       = require "perilune.events"
local lazy         = require "perilune.lazy"
local show         = require "perilune.show"
local transforms   = require "perilune.transforms"

local peaks  = lazy "peaks"
local stages = lazy "stages"

local raise = errors.raise


-- Construction -----------------------------------------------------------------------------

local function is_distribution (x)
  local c = class.of(x)
  return c ~= nil and class.descends(c, Distribution)
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
    law = stages.on(law, map, support, event_dim, is_discrete)
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
    if not map.sign and not stages.is_kind(map, "Abs") then reason = tostring(map) .. " is not monotone" end
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
    local plain = stages.is_kind(map, "Affine") or stages.is_kind(map, "Reshape")
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

function TransformedDistribution:expectation (...)
  return self.law:expectation(require "perilune.expectation".checked(self, ...))
end

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
