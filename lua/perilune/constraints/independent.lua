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

--- The base for each part of events of n more dimensions.
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

independent.real_vector = constraint.named("real_vector", independent.independent(numbers.real, 1))

return independent
