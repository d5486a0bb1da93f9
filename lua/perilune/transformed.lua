--- Construction of a TransformedDistribution.
local Distribution = require "perilune.distribution"
local Independent  = require "perilune.distributions.Independent"
local batches      = require "perilune.batches"
local class        = require "perilune.class"
local constraints  = require "perilune.constraints"
local construction = require "perilune.construction"
local core         = require "perilune.core"
local events       = require "perilune.events"
local functions    = require "perilune.functions"
local show         = require "perilune.show"
local stages       = require "perilune.stages"
local transforms   = require "perilune.transforms"

local transformed = {}

local function is_elementwise (list)
  for _, t in ipairs(list) do
    if t.domain.event_dim > 0 or t.codomain.event_dim > 0 then return false end
  end
  return true
end

-- The least and the largest of an end of a support, as numbers; nil where it has none, or one that may change.
local function extremes (x)
  if type(x) == "number" then return x, x end
  if not core.is_tensor(x) or core.tracked(x) or core.numel(x) == 0 then return nil end
  return core.item(x:min()), core.item(x:max())
end

-- Refuses values outside the numbers that a map takes.
local function check_domain (c, map, support)
  if not core.validates() then return end
  local domain = map.domain
  local low, high = extremes(support and support.low), select(2, extremes(support and support.high))
  if type(domain.low) ~= "number" or type(domain.high) ~= "number" or not (low and high) then return end
  if low < domain.low or high > domain.high then
    construction.fail(c, "values must be %s for %s, got the support %s", domain:rule(), tostring(map),
                      tostring(support))
  end
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
    check_domain(c, map, support)
    law = stages.on(law, map, support, event_dim, is_discrete)
    support, event_dim = law.support, law.event_dim
  end
  return law
end

-- Has a law of single numbers only numbers as parameters, but a transform of it a tensor? Then what follows is tensors,
-- which may lead back to parameters.
local function needs_tensors (base, whole)
  local is_plain = rawget(base, "batch_shape") == nil and #base.event_shape == 0 and whole.domain.event_dim == 0
  return is_plain and core.is_tensor(whole:forward(1.0))
end

-- base with the batch that the transform's parameters ask for, and the events of its domain.
local function fitted (c, base, whole)
  local event_dim, shape = whole.domain.event_dim, events.joined(base.batch_shape, base.event_shape)
  if #shape < event_dim then
    construction.fail(c, "base_distribution must have at least %d dimension%s, got %s", event_dim,
                   event_dim == 1 and "" or "s", tostring(base))
  end
  local full = whole:inverse_shape(whole:forward_shape(shape))
  if show.shape(full) ~= show.shape(shape) or needs_tensors(base, whole) then
    base = base:expand { table.unpack(full, 1, #full - #base.event_shape) }
  end
  local missing = event_dim - #base.event_shape
  return missing > 0 and Independent(base, missing) or base
end

-- Are directions only turned, or reflected?
local function are_turns (list)
  for _, map in ipairs(list) do
    local is_turn = stages.is_kind(map, "Affine") and not batches.any_now(functions.ne(functions.abs(map.scale), 1))
    if not is_turn then return false end
  end
  return true
end

--- Makes self the law of the transforms of base; for subclasses with parameters of their own.
function transformed.complete (self, base, list)
  local whole = transforms.Compose(list)
  self.is_circular = base.is_circular and are_turns(whole.parts) or nil
  if base.is_circular and not self.is_circular then base = require "perilune.one_turn"(base) end
  base = fitted(class.of(self), base, whole)
  local shape = whole:forward_shape(events.joined(base.batch_shape, base.event_shape))
  local cut = #base.batch_shape
  self.base_dist, self.transforms, self.transform = base, whole.parts, whole
  if rawget(base, "batch_shape") then self.batch_shape = { table.unpack(base.batch_shape) } end
  if #shape > cut then self.event_shape = { table.unpack(shape, cut + 1) } end
  self.has_rsample = base.has_rsample
  self.law = law_of(require "perilune.distributions.TransformedDistribution", base, whole.parts)
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
  for i = 1, all and rawlen(list) or 0 do all = all and is_transform(rawget(list, i)) end
  return all
end

local PARAMS = { "base_distribution", "transforms" }

--- A law of this class, for `construct`.
function transformed.make (c, ...)
  local base, list = construction.arguments(c, PARAMS, ...)
  if not class.is_instance(base, Distribution) then
    construction.fail(c, "base_distribution must be a distribution, got %s", show.value(base))
  elseif not are_transforms(list) then
    construction.fail(c, "transforms must be a transform or a list of them, got %s", show.value(list))
  end
  if not is_transform(list) then list = core.check_list(class.name(c), "transforms", list) end
  return transformed.complete(setmetatable({}, c), base, list)
end

return transformed
