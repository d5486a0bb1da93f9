--- Constraints of single numbers: intervals, and integers in them.
local constraint = require "perilune.constraint"
local core       = require "perilune.core"
local show       = require "perilune.show"

local named = constraint.named

-- A kind tested by an elementwise kernel of src/kernel/constraint.c.
local function number_kind (name, kernel, operands, kind)
  local arguments = { "self", "x" }
  local who = name .. " constraint:"
  kind.violation = core.bind_predicate("constraint", kernel, who .. "violation", arguments, operands)
  kind.holds     = core.bind("constraint", kernel, who .. "holds", arguments, operands)
  function kind.new (low, high) return setmetatable({ low = low, high = high }, kind) end   -- with other ends
  return constraint.kind(name, kind)
end

-- Without parameters: one kind, and one constraint of it.
local function simple (name, rule, kind)
  kind.plain_kernel = name
  function kind.rule () return rule end
  return number_kind(name, name, { "x" }, kind)()
end

local function between (self)
  return (self.left_open and "(" or "[") .. show.parameter(self.low) .. ", " .. show.parameter(self.high)
         .. (self.right_open and ")" or "]")
end

-- A kind with ends. Kernels take both; an infinite end is a field of the kind.
local function interval_kind (name, kernel, kind)
  kind.low, kind.high = kind.low or -math.huge, kind.high or math.huge
  kind.rule = kind.rule or function (self) return "in the interval " .. between(self) end
  return number_kind(name, kernel, { "x", "self.low", "self.high" }, kind)
end

--@ peri.constraints.greater_than(low) -> Constraint
-- Numbers above low.
--   low  number, table or tensor
-- > constraints.greater_than(2):check(2)
-- false
local greater_than = number_kind("greater_than", "greater_than", { "x", "self.low" }, {
  params = { "low" }, high = math.huge, left_open = true,
  rule = function (self) return "greater than " .. show.parameter(self.low) end,
})

--@ peri.constraints.greater_than_eq(low) -> Constraint
-- Numbers from low on.
--   low  number, table or tensor
-- > constraints.greater_than_eq(2):check(2)
-- true
local greater_than_eq = interval_kind("greater_than_eq", "interval", {
  params = { "low" },
  rule = function (self) return "at least " .. show.parameter(self.low) end,
})

--@ peri.constraints.less_than(high) -> Constraint
-- Numbers below high.
--   high  number, table or tensor
-- > constraints.less_than(2):check(2)
-- false
local less_than = interval_kind("less_than", "half_open_interval", {
  params = { "high" }, right_open = true,
  rule = function (self) return "less than " .. show.parameter(self.high) end,
})

--@ peri.constraints.interval(low, high) -> Constraint
-- Numbers from low to high, both included.
--   low   number, table or tensor
--   high  number, table or tensor
-- > constraints.interval(0, 2):check { 0, 2 }
-- true
local interval = interval_kind("interval", "interval", { params = { "low", "high" } })

--@ peri.constraints.half_open_interval(low, high) -> Constraint
-- Numbers from low to high, without high.
--   low   number, table or tensor
--   high  number, table or tensor
-- > constraints.half_open_interval(0, 2):check(2)
-- false
local half_open_interval = interval_kind("half_open_interval", "half_open_interval", {
  params = { "low", "high" }, right_open = true,
})

--@ peri.constraints.left_open_interval(low, high) -> Constraint
-- Numbers from low to high, without low.
--   low   number, table or tensor
--   high  number, table or tensor
-- > constraints.left_open_interval(0, 2):check(0)
-- false
local left_open_interval = interval_kind("left_open_interval", "left_open_interval", {
  params = { "low", "high" }, left_open = true,
})

--@ peri.constraints.integer_interval(low, high) -> Constraint
-- Integers from low to high.
--   low   number, table or tensor
--   high  number, table or tensor
-- > constraints.integer_interval(1, 6):check { 1, 6 }, constraints.integer_interval(1, 6):check(2.5)
-- true  false
local integer_interval = interval_kind("integer_interval", "integer_interval", {
  params = { "low", "high" }, is_discrete = true,
  rule = function (self)
    return self.low == -math.huge and self.high == math.huge and "an integer" or "an integer in " .. between(self)
  end,
})

--@ peri.constraints.real -> Constraint
-- Any number but NaN.
-- > constraints.real:check(-1e300), constraints.real:check(0/0)
-- true  false

--@ peri.constraints.finite -> Constraint
-- Any number but infinities and NaN.
-- > constraints.finite:check(1/0)
-- false

--@ peri.constraints.positive -> Constraint
-- Numbers above 0.
-- > constraints.positive:check(0)
-- false

--@ peri.constraints.nonnegative -> Constraint
-- Numbers from 0 on.
-- > constraints.nonnegative:check(0)
-- true

--@ peri.constraints.unit_interval -> Constraint
-- Numbers from 0 to 1, both included.
-- > constraints.unit_interval:check { 0, 1 }
-- true

--@ peri.constraints.boolean -> Constraint
-- 0 or 1.
-- > constraints.boolean:check { 0, 1 }, constraints.boolean:check(0.5)
-- true  false

--@ peri.constraints.integer -> Constraint
-- Integers.
-- > constraints.integer:check(-3), constraints.integer:check(0.5)
-- true  false

--@ peri.constraints.nonnegative_integer -> Constraint
-- The integers 0, 1, 2, ...
-- > constraints.nonnegative_integer:check(0)
-- true

--@ peri.constraints.positive_integer -> Constraint
-- The integers 1, 2, 3, ...
-- > constraints.positive_integer:check(0)
-- false
local real        = simple("real", "a real number", { low = -math.huge, high = math.huge })
local finite      = simple("finite", "finite", { low = -math.huge, high = math.huge })
local positive    = simple("positive", "positive", { low = 0, high = math.huge, left_open = true })
local nonnegative = simple("nonnegative", "non-negative", { low = 0, high = math.huge })

local numbers = {
  real = real, finite = finite, positive = positive, nonnegative = nonnegative,
  greater_than = greater_than, greater_than_eq = greater_than_eq, less_than = less_than,
  interval = interval, half_open_interval = half_open_interval, left_open_interval = left_open_interval,
  integer_interval    = integer_interval,
  unit_interval       = named("unit_interval", interval(0, 1)),
  boolean             = named("boolean", integer_interval(0, 1)),
  integer             = named("integer", integer_interval(-math.huge, math.huge)),
  nonnegative_integer = named("nonnegative_integer", integer_interval(0, math.huge)),
  positive_integer    = named("positive_integer", integer_interval(1, math.huge)),
}

--@ peri.constraints.between(low, high, left_open, right_open) -> Constraint
-- The constraint with these ends, by its plainest name. Where both are open it is the closed interval, which differs
-- by two points.
--   low         number or tensor
--   high        number or tensor
--   left_open   true: without low; false unless told
--   right_open  true: without high; false unless told
-- > constraints.between(0, math.huge, true)
-- positive
function numbers.between (low, high, left_open, right_open)
  local unbounded_below, unbounded_above = low == -math.huge, high == math.huge
  if unbounded_below and unbounded_above then return real end
  if unbounded_above and low == 0 then return left_open and positive or nonnegative end
  if unbounded_above then return left_open and greater_than(low) or greater_than_eq(low) end
  if unbounded_below and right_open then return less_than(high) end
  if left_open and not right_open then return left_open_interval(low, high) end
  if right_open and not left_open then return half_open_interval(low, high) end
  return low == 0 and high == 1 and numbers.unit_interval or interval(low, high)
end

return numbers
