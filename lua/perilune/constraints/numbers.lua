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

local greater_than = number_kind("greater_than", "greater_than", { "x", "self.low" }, {
  params = { "low" }, high = math.huge, left_open = true,
  rule = function (self) return "greater than " .. show.parameter(self.low) end,
})

local greater_than_eq = interval_kind("greater_than_eq", "interval", {
  params = { "low" },
  rule = function (self) return "at least " .. show.parameter(self.low) end,
})

local less_than = interval_kind("less_than", "half_open_interval", {
  params = { "high" }, right_open = true,
  rule = function (self) return "less than " .. show.parameter(self.high) end,
})

local interval = interval_kind("interval", "interval", { params = { "low", "high" } })

local half_open_interval = interval_kind("half_open_interval", "half_open_interval", {
  params = { "low", "high" }, right_open = true,
})

local left_open_interval = interval_kind("left_open_interval", "left_open_interval", {
  params = { "low", "high" }, left_open = true,
})

local integer_interval = interval_kind("integer_interval", "integer_interval", {
  params = { "low", "high" }, is_discrete = true,
  rule = function (self)
    return self.low == -math.huge and self.high == math.huge and "an integer" or "an integer in " .. between(self)
  end,
})

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

--- The constraint with these ends, by its plainest name. Where both are open it is the
-- closed interval, which differs by two points.
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
