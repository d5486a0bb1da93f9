--- Methods of Flat.
local class        = require "perilune.class"
local constraints  = require "perilune.constraints"
local construction = require "perilune.construction"
local core         = require "perilune.core"
local errors       = require "perilune.errors"
local events       = require "perilune.events"
local functions    = require "perilune.functions"
local show         = require "perilune.show"

local raise = errors.raise


-- Construction -------------------------------------------------------------------

local fail = construction.fail

-- The constraint on single numbers that events are made of, or the constraint itself.
local function innermost (constraint)
  while constraint.base do constraint = constraint.base end
  return constraint
end

-- The shape with the dimensions of ends that are tensors.
local function with_ends (c, constraint, shape)
  local inner, parts = innermost(constraint), { core.tensor(0):expand(shape) }
  for _, name in ipairs { "low", "high" } do
    if core.is_tensor(inner[name]) then parts[#parts + 1] = inner[name] end
  end
  local whole, why = core.broadcast_shape(table.unpack(parts))
  if not whole then fail(c, "shape and the ends of the constraint of %s", why) end
  return whole
end

-- The batch of values of this shape, which must suit the constraint; any suits one of single numbers.
local function batch_of (c, constraint, shape)
  if constraint.event_dim == 0 and constraint.low then return shape end
  local ok, answers = require "perilune.attempt".call("constraint", "Tensor:", constraint.holds, constraint,
                                                      core.tensor(0):expand(shape))
  if not ok then fail(c, "shape %s does not suit the constraint %s", show.shape(shape), tostring(constraint)) end
  return core.shape(answers)
end

local function assemble (c, constraint, shape)
  local n = constraint.event_dim
  if #shape < n then
    fail(c, "shape must have at least %d dimension%s for the constraint %s, got %s", n, n == 1 and "" or "s",
         tostring(constraint), show.shape(shape))
  end
  shape = with_ends(c, constraint, shape)
  local self = setmetatable({ constraint = constraint, support = constraint }, c)
  local batch = batch_of(c, constraint, shape)
  if #shape > n then self.batch_shape = batch end
  if n > 0 then self.event_shape = { table.unpack(shape, #shape - n + 1) } end
  return self
end

local function make (c, ...)
  local constraint, shape = construction.arguments(c, { "constraint", "shape" }, ...)
  if shape == nil and constraint ~= nil and not constraints.is_constraint(constraint) then   -- a shape alone
    constraint, shape = nil, constraint
  end
  if constraint == nil then constraint = constraints.real end
  if not constraints.is_constraint(constraint) then
    fail(c, "constraint must be a constraint, got %s", show.value(constraint))
  end
  return assemble(c, constraint, shape == nil and {} or core.to_shape(shape, class.name(c)))
end

local Flat = { construct = make }

function Flat:__tostring ()
  local whole = events.joined(self.batch_shape, self.event_shape)
  local shape = #whole > 0 and ", shape={" .. table.concat(whole, ", ") .. "}" or ""
  return string.format("%s(constraint=%s%s)", class.name(class.of(self)), tostring(self.constraint), shape)
end

function Flat:with_batch (shape)
  shape = core.to_shape(shape, "Flat:with_batch")
  core.expand(core.zeros(self.batch_shape), shape)   -- or raises
  return assemble(class.of(self), self.constraint, events.joined(shape, self.event_shape))
end


-- Methods ------------------------------------------------------------------------

--- 0 or -inf; NaN where x has one.
function Flat:log_prob (x)
  x = events.argument(self, "log_prob", x)
  local outside = events.sum_rightmost(-functions.abs(x) - math.huge, #self.event_shape)   -- what it is outside
  return functions.where(self.constraint:holds(x), self:batched(0.0), outside)
end

local function refuse_draws (self) raise("%s has no draws: it is improper", class.name(class.of(self))) end

function Flat:sample (_, _) refuse_draws(self) end
function Flat:rsample (_, _) refuse_draws(self) end

function Flat:expectation (_, _) raise("%s has no expectation: it is improper", class.name(class.of(self))) end

return Flat
