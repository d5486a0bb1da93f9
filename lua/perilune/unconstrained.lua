--- From free numbers to constraints: biject_to(constraint) and transform_to(constraint) give transforms.
local class           = require "perilune.class"
local constraints     = require "perilune.constraints"
local core            = require "perilune.core"
local errors          = require "perilune.errors"
local show            = require "perilune.show"
local transform_parts = require "perilune.transform_parts"
local transforms      = require "perilune.transforms"

local raise = errors.raise

local Registry = {}
Registry.__index = Registry

--@ Registry:register(kind, factory) -> nothing
-- Of biject_to and transform_to: makes factory(constraint), which returns a transform, the way to the constraints of a
-- kind.
--   kind     constraint, or a kind of constraints
--   factory  function of a constraint
-- > biject_to:register(constraints.positive, function () return transforms.Exp() end)
--
function Registry:register (kind, factory)
  if not (constraints.is_constraint(kind) or class.is_class(kind) and kind.violation) then
    raise("%s: register: kind must be a constraint or a kind of them, got %s", self.name, show.value(kind))
  elseif type(factory) ~= "function" then
    raise("%s: register: factory must be a function of a constraint, got %s", self.name, show.value(factory))
  end
  self.factories[rawget(kind, "__index") and kind or getmetatable(kind)] = factory
end

function Registry:__call (constraint)
  if not constraints.is_constraint(constraint) then
    raise("%s: constraint must be a constraint, got %s", self.name, show.value(constraint))
  end
  local factory = self.factories[getmetatable(constraint)]
  if not factory then
    raise("%s: there is no transform to %s; %s:register(constraint, factory) adds one", self.name,
          tostring(constraint), self.name)
  end
  return factory(constraint)
end

function Registry:__tostring () return self.name end

errors.count_arguments("Registry", Registry, "register")

local function new_registry (name) return setmetatable({ name = name, factories = {} }, Registry) end

--@ peri.biject_to(constraint) -> Transform
-- A transform from free numbers onto a constraint that is one to one, with a determinant. transforms.biject_to is the
-- same.
--   constraint  constraint
-- > biject_to(constraints.positive)
-- Exp

--@ peri.transform_to(constraint) -> Transform
-- A transform from free numbers onto a constraint, not always one to one, but kind to optimisers.
-- transforms.transform_to is the same.
--   constraint  constraint
-- > transform_to(constraints.simplex)
-- Softmax
local biject_to    = new_registry "biject_to"      -- one to one, with a determinant
local transform_to = new_registry "transform_to"   -- onto, and friendly to optimisers

local function register_both (c, factory)
  biject_to:register(c, factory)
  transform_to:register(c, factory)
end

local function from (name) return function () return transforms[name]() end end

local function above (c) return transforms.Compose { transforms.Exp(), transforms.Affine(c.low, 1) } end
local function below (c) return transforms.Compose { transforms.Exp(), transforms.Affine(c.high, -1) } end

-- Between two ends: Sigmoid, stretched unless it fits. An end may be infinite.
local function inside (c)
  if c.high == math.huge then return c.low == -math.huge and transforms.identity or above(c) end
  if c.low == -math.huge then return below(c) end
  if c == constraints.unit_interval then return transforms.Sigmoid() end
  return transforms.Compose { transforms.Sigmoid(), transforms.Affine(c.low, c.high - c.low) }
end

register_both(constraints.real, function () return transforms.identity end)
register_both(constraints.positive, from "Exp")
register_both(constraints.nonnegative, from "Exp")
register_both(constraints.greater_than, above)
register_both(constraints.greater_than_eq, above)
register_both(constraints.less_than, below)
register_both(constraints.interval, inside)
register_both(constraints.half_open_interval, inside)
register_both(constraints.left_open_interval, inside)
register_both(constraints.corr_cholesky, from "CorrCholesky")
register_both(constraints.corr_matrix, from "CorrMatrix")
register_both(constraints.lower_cholesky, from "LowerCholesky")
register_both(constraints.positive_definite, from "PositiveDefinite")
register_both(constraints.positive_semidefinite, from "PositiveDefinite")
register_both(constraints.ordered_vector, from "Ordered")
register_both(constraints.positive_ordered, function ()
  return transforms.Compose { transforms.Ordered(), transforms.Exp() }
end)
biject_to:register(constraints.simplex, from "StickBreaking")
transform_to:register(constraints.simplex, from "Softmax")
transform_to:register(constraints.sphere, from "UnitVector")

for _, registry in ipairs { biject_to, transform_to } do
  local function each (list)
    local found = {}
    for i, c in ipairs(list) do found[i] = registry(c) end
    return found
  end
  registry:register(constraints.real_vector, function (c) return transforms.Independent(registry(c.base), c.dims) end)
  registry:register(constraints.cat { constraints.real }, function (c)
    local parts, lengths = each(c.list), {}
    for i, part in ipairs(parts) do
      local is_row, n = part.domain.event_dim > 0 and transform_parts.is_last(c), c.lengths[i]
      lengths[i] = is_row and transform_parts.length_behind(part, "inverse_shape", part.codomain.event_dim, n) or n
    end
    return transforms.Cat(parts, c.dim, lengths)
  end)
  registry:register(constraints.stack { constraints.real }, function (c)
    return transforms.Stack(each(c.list), c.dim)
  end)
end

return core.keep("unconstrained", { biject_to = biject_to, transform_to = transform_to })
