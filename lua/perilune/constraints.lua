--- Constraints: which values a parameter may take, or a distribution produces.
--
-- Each kind has three parts: `rule` completes the sentence "scale must be
-- ...", `violation(x)` gives nothing when all of x satisfies the constraint,
-- else the first offending value and its indices, and `__tostring` names it.
local core = require "perilune.core"
local show = require "perilune.show"

local Constraint = {}
Constraint.__index = Constraint

--- Does every element of x satisfy the constraint?
function Constraint:check (x) return self:violation(x) == nil end

local function new_kind ()
  local kind = setmetatable({}, Constraint)
  kind.__index = kind
  function kind:__tostring () return self:rule() end
  function kind.new (low, high) return setmetatable({ low = low, high = high }, kind) end
  return kind
end

local function predicate (kernel, operands)
  return core.bind_predicate("constraint", kernel, "constraint", { "self", "x" }, operands)
end


-- Constraints without parameters: one kind, and one constraint of it.
local function simple (kernel, rule)
  local kind = new_kind()
  kind.violation, kind.plain_kernel = predicate(kernel, { "x" }), kernel
  function kind.rule () return rule end
  return kind.new()
end

local GreaterThan = new_kind()
GreaterThan.violation = predicate("greater_than", { "x", "self.low" })
function GreaterThan:rule () return "greater than " .. show.parameter(self.low) end

local function ends (self, left, right)
  return (left or "[") .. show.parameter(self.low) .. ", " .. show.parameter(self.high) .. (right or "]")
end

local Interval = new_kind()
Interval.violation = predicate("interval", { "x", "self.low", "self.high" })
function Interval:rule () return "in the interval " .. ends(self) end

local HalfOpenInterval = new_kind()
HalfOpenInterval.violation = predicate("half_open_interval", { "x", "self.low", "self.high" })
function HalfOpenInterval:rule () return "in the interval " .. ends(self, "[", ")") end

local LeftOpenInterval = new_kind()
LeftOpenInterval.violation = predicate("left_open_interval", { "x", "self.low", "self.high" })
function LeftOpenInterval:rule () return "in the interval " .. ends(self, "(", "]") end

local IntegerInterval = new_kind()
IntegerInterval.violation = predicate("integer_interval", { "x", "self.low", "self.high" })
IntegerInterval.is_discrete = true
function IntegerInterval:rule ()
  return self.low == -math.huge and self.high == math.huge and "an integer" or "an integer in " .. ends(self)
end


return {
  Constraint          = Constraint,
  real                = simple("real", "a real number"),
  positive            = simple("positive", "positive"),
  nonnegative         = simple("nonnegative", "non-negative"),
  greater_than        = GreaterThan.new,
  interval            = Interval.new,
  half_open_interval  = HalfOpenInterval.new,
  left_open_interval  = LeftOpenInterval.new,
  integer_interval    = IntegerInterval.new,
  unit_interval       = Interval.new(0, 1),
  boolean             = IntegerInterval.new(0, 1),
  integer             = IntegerInterval.new(-math.huge, math.huge),
  nonnegative_integer = IntegerInterval.new(0, math.huge),
}
