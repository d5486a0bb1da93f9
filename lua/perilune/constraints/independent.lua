--- Constraints of events whose parts satisfy another one each.
local constraint = require "perilune.constraint"
local errors     = require "perilune.errors"
local numbers    = require "perilune.constraints.numbers"
local show       = require "perilune.show"

local raise = errors.raise

local independent = {}

-- Events of n more dimensions, in which each part satisfies the base.
local Independent = constraint.kind("independent", {
  params = { "base", "dims" },
  rule = function (self) return self.base:rule() end,
  violation = function (self, x) return self.base:violation(x) end,
  holds = function (self, x)
    return constraint.joined(self.base:holds(constraint.with_rank(x, self.event_dim)), self.dims)
  end,
})

--@ peri.constraints.independent(base, dims) -> Constraint
-- A constraint of single parts as one of events of so many more dimensions.
--   base  constraint
--   dims  integer
-- > constraints.independent(constraints.positive, 1):holds { { 1, 2 }, { 1, -2 } }
-- Tensor(2)
--   1  0
function independent.independent (base, dims, ...)
  errors.no_more("independent(base, dims)", ...)
  if not constraint.is_constraint(base) then
    raise("independent: base must be a constraint, got %s", show.value(base))
  elseif math.type(dims) ~= "integer" or dims < 0 then
    raise("independent: dims must be a non-negative integer, got %s", show.value(dims))
  end
  if dims == 0 then return base end
  if getmetatable(base) == Independent then base, dims = base.base, base.dims + dims end
  local self = setmetatable({ base = base, dims = dims }, Independent)
  self.event_dim, self.is_discrete = base.event_dim + dims, base.is_discrete
  return self
end

--@ peri.constraints.real_vector -> Constraint
-- Rows of any numbers but NaN.
-- > constraints.real_vector.event_dim
-- 1
independent.real_vector = constraint.named("real_vector", independent.independent(numbers.real, 1))

return independent
