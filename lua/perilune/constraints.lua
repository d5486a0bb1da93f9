--- Constraints: which values a parameter may take, or a distribution produces.
--
-- `rule` completes the sentence "scale must be ..."; `violation(x)` gives nothing
-- when all of x satisfies the constraint, else the first offender (a number, or a text
-- for a row or a matrix) and its indices; `holds(x)` says it for each event, 1 or 0;
-- `check(x)` for all in one boolean. A constraint speaks of events of `event_dim`
-- dimensions. Those on the real line have ends, `low` and `high`, which belong to
-- them unless `left_open`, `right_open`.
--
-- Two constraints of one kind with equal parameters are equal. A kind is the metatable
-- of its constraints, and makes them when called: constraints.greater_than(2).
local class  = require "perilune.class"
local core   = require "perilune.core"
local errors = require "perilune.errors"
local layout = require "perilune.layout"
local show   = require "perilune.show"
require "perilune.tensor"

local raise = errors.raise

local Constraint = { event_dim = 0, is_discrete = false, params = {} }
Constraint.__index = Constraint

--- Does every event of x satisfy the constraint?
function Constraint:check (x) return self:violation(x) == nil end

errors.count_arguments("Constraint", Constraint, "check")

local function same_list (a, b)
  for i = 1, math.max(#a, #b) do
    if a[i] ~= b[i] then return false end
  end
  return true
end

local function same (a, b)
  local plain = core.table_kind(a) == "data" and core.table_kind(b) == "data"
  return a == b or plain and same_list(a, b)
end

local function equal (a, b)
  local kind = getmetatable(a)
  if kind ~= getmetatable(b) then return false end
  for _, name in ipairs(kind.params) do
    if not same(a[name], b[name]) then return false end
  end
  return true
end

local function text_of (value)
  if core.table_kind(value) ~= "data" then return show.parameter(value) end
  local parts = {}
  for i, part in ipairs(value) do parts[i] = text_of(part) end
  return "{" .. table.concat(parts, ", ") .. "}"
end

local function describe (self)
  local parts = {}
  for i, name in ipairs(self.params) do parts[i] = text_of(self[name]) end
  return self.name .. (#parts > 0 and "(" .. table.concat(parts, ", ") .. ")" or "")
end

-- A parameter as it is kept: a table of numbers becomes a tensor.
local function kept (kind, name, value)
  if type(value) == "number" then return value end
  if value == nil then raise("%s: %s is missing", kind.name, name) end
  return core.operand(value, kind.name, name)
end

-- A constraint of a kind. None that is made so has more than two parameters.
local function make (kind, ...)
  local params, a, b = kind.params, ...
  errors.check_arguments(kind.name, params, ...)
  local first, second = params[1], params[2]
  if second then return setmetatable({ [first] = kept(kind, first, a), [second] = kept(kind, second, b) }, kind) end
  return setmetatable(first and { [first] = kept(kind, first, a) } or {}, kind)
end

local function new_kind (name, kind)
  kind.name, kind.__index, kind.__eq, kind.__tostring = name, kind, equal, describe
  kind.__name = name .. " constraint"
  errors.count_arguments(kind.__name, kind, "holds rule violation")
  local function kind_name () return "kind " .. name end
  return setmetatable(kind, { __index = Constraint, __call = make, __tostring = kind_name })
end

-- A constraint with a name of its own, equal to those of its kind.
local function named (name, constraint)
  constraint.name, constraint.params = name, {}
  return constraint
end


-- Of single numbers ------------------------------------------------------------

-- A kind tested by an elementwise kernel of src/kernel/constraint.c.
local function number_kind (name, kernel, operands, kind)
  local arguments = { "self", "x" }
  local who = name .. " constraint:"
  kind.violation = core.bind_predicate("constraint", kernel, who .. "violation", arguments, operands)
  kind.holds     = core.bind("constraint", kernel, who .. "holds", arguments, operands)
  function kind.new (low, high) return setmetatable({ low = low, high = high }, kind) end   -- with other ends
  return new_kind(name, kind)
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


-- Of rows and matrices -----------------------------------------------------------

local function as_tensor (x) return core.is_tensor(x) and x or core.tensor(x) end

-- What is wrong with an event that has not even the shape, or nil.
local function misfit (self, shape)
  local rows, columns = shape[#shape - 1], shape[#shape]
  if #shape < self.event_dim then
    return #shape == 0 and "a number" or "a row of " .. columns
  elseif self.event_dim == 2 and rows ~= columns then
    return string.format("a matrix of %d by %d", rows, columns)
  end
end

-- The event at these batch indices.
local function event_at (x, ...)
  for _, index in ipairs { ... } do x = x:select(1, index) end
  return x
end

local function batch_shape (shape, event_dim) return { table.unpack(shape, 1, #shape - event_dim) } end

-- x with a batch as large as that of the answers.
local function stretched (self, x, answers)
  local shape, own = core.shape(answers), core.shape(x)
  for d = #own - self.event_dim + 1, #own do shape[#shape + 1] = own[d] end
  return x:expand(shape)
end

local function explain (self, event)
  for _, finding in ipairs(self.findings) do
    local text = finding(event)
    if text then return text end
  end
end

local function row_violation (self, x)
  x = core.bare(as_tensor(x))
  local text = misfit(self, core.shape(x))
  if text then return text end
  local answers = self:holds(x)
  local place = { positive:violation(answers) }
  if place[1] == nil then return nil end
  return explain(self, event_at(stretched(self, x, answers), table.unpack(place, 2))), table.unpack(place, 2)
end

-- A kind tested by a row kernel; `findings` look for what is wrong with an event.
local function row_kind (name, event_dim, rule, findings, params)
  local operands = { "x" }
  for i, param in ipairs(params or {}) do operands[i + 1] = "self." .. param end
  return new_kind(name, {
    params = params or {}, event_dim = event_dim, findings = findings, violation = row_violation,
    rule   = type(rule) == "function" and rule or function () return rule end,
    holds  = core.bind("row/constraint", name, name .. " constraint:holds", { "self", "x" }, operands),
  })
end

-- "a row with 0.5": the first element that is odd.
local function with (is_odd)
  return function (event)
    for _, v in ipairs(event:reshape(-1):totable()) do
      if is_odd(v) then return (#core.shape(event) == 1 and "a row with " or "a matrix with ") .. show.number(v) end
    end
  end
end

local function is_negative (v) return v ~= v or v < 0 end
local function is_no_count (v) return is_negative(v) or v % 1 ~= 0 end
local function is_no_bit (v) return v ~= 0 and v ~= 1 end
local function is_nan (v) return v ~= v end

local function sum (event) return "a row that sums to " .. show.number(core.item(event:sum())) end

local function length (event) return "a row of length " .. show.number(core.item((event * event):sum()) ^ 0.5) end

local function descent (event)
  for i = 2, #event do
    if event[i] <= event[i - 1] then
      return string.format("a row with %s before %s", show.number(event[i - 1]), show.number(event[i]))
    end
  end
end

local function each_element (event, look)
  for i, row in ipairs(event:totable()) do
    for j, v in ipairs(row) do
      local text = look(i, j, v)
      if text then return text end
    end
  end
end

local function above (event)
  return each_element(event, function (i, j, v)
    return j > i and v ~= 0 and string.format("a matrix with %s above the diagonal", show.number(v))
  end)
end

local function diagonal (event)
  return each_element(event, function (i, j, v)
    return i == j and v <= 0 and string.format("a matrix with %s on the diagonal", show.number(v))
  end)
end

local function long_row (event)
  for i = 1, #event do
    local norm = core.item((event[i] * event[i]):sum()) ^ 0.5
    if math.abs(norm - 1) > 1e-6 then return "a matrix with a row of length " .. show.number(norm) end
  end
end

local function asymmetry (event)
  local room = 1e-6 * core.item(event:abs():max())
  return each_element(event, function (i, j, v)
    local w = event:at(j, i)
    return math.abs(v - w) > room
           and string.format("a matrix with %s and %s across the diagonal", show.number(w), show.number(v))
  end)
end

local function always (text) return function () return text end end

local simplex = row_kind("simplex", 1, "a simplex (non-negative, summing to 1)", { with(is_negative), sum })()
local one_hot = row_kind("one_hot", 1, "one-hot (a single 1 among zeros)", { with(is_no_bit), sum })()
one_hot.is_discrete = true

local multinomial = row_kind("multinomial", 1, function (self)
  return "counts that sum to " .. show.parameter(self.total_count)
end, { with(is_no_count), sum }, { "total_count" })
multinomial.is_discrete = true

local ordered_vector = row_kind("ordered_vector", 1, "in increasing order", { with(is_nan), descent })()
local sphere         = row_kind("sphere", 1, "a unit vector", { with(is_nan), length })()

local lower_triangular = row_kind("lower_triangular", 2, "a lower-triangular matrix", { with(is_nan), above })()
local lower_cholesky   = row_kind("lower_cholesky", 2, "a lower-triangular matrix with positive diagonal",
                                  { with(is_nan), above, diagonal })()
local corr_cholesky    = row_kind("corr_cholesky", 2,
                                  "a lower-triangular matrix with positive diagonal and rows of length 1",
                                  { with(is_nan), above, diagonal, long_row })()
local symmetric        = row_kind("symmetric", 2, "a symmetric matrix", { with(is_nan), asymmetry })()

local positive_definite = row_kind("positive_definite", 2, "a positive-definite matrix",
  { with(is_nan), asymmetry, always "a symmetric matrix that is not" })()
local positive_semidefinite = row_kind("positive_semidefinite", 2, "a positive-semidefinite matrix",
  { with(is_nan), asymmetry, always "a symmetric matrix that is not" })()

local square = new_kind("square", {
  event_dim = 2,
  rule = function () return "a square matrix" end,
  holds = function (self, x)
    local shape = core.shape(as_tensor(x))
    local answer, batch = misfit(self, shape) and 0 or 1, batch_shape(shape, 2)
    return #batch == 0 and answer or core.full(batch, answer)
  end,
  violation = function (self, x) return misfit(self, core.shape(as_tensor(x))) end,
})()


-- Made of others ------------------------------------------------------------------

-- Answers for each of the last n dimensions together.
local function joined (answers, n)
  for _ = 1, n do answers = answers:min(-1) end
  return answers
end

--- Events of n more dimensions, in which each part satisfies the base.
local independent = new_kind("independent", {
  params = { "base", "dims" },
  rule = function (self) return self.base:rule() end,
  violation = function (self, x) return self.base:violation(x) end,
  holds = function (self, x)
    x = as_tensor(x)
    local n = self.event_dim
    if core.rank(x) < n then
      raise("constraint: x must have at least %d dimension%s, got %s", n, n == 1 and "" or "s", show.value(x))
    end
    return joined(self.base:holds(x), self.dims)
  end,
})

local function largest_event (list)
  local largest, discrete = 0, false
  for _, c in ipairs(list) do
    largest, discrete = math.max(largest, c.event_dim), discrete or c.is_discrete
  end
  return largest, discrete
end

-- The rules of all parts.
local function parts_rule (self)
  local rules = {}
  for i, c in ipairs(self.list) do rules[i] = c:rule() end
  return (self.name == "cat" and "made of parts that are " or "made of slices that are ") .. table.concat(rules, ", ")
end

-- Answers of the parts of x: together where parts lie within one event, else side by side.
local function parts_holds (self, x, join)
  local answers, within = {}, self:is_within(core.rank(x))
  for i, c in ipairs(self.list) do
    local extra = self.part_event_dim - c.event_dim
    answers[i] = joined(c:holds(self:part(x, i)), extra)
    if within and i > 1 then answers[i] = answers[i] * answers[i - 1] end
  end
  return within and answers[#answers] or join(answers, self.dim)
end

-- The first part that is wrong; `place` corrects its indices.
local function parts_violation (self, x)
  x = as_tensor(x)
  for i, c in ipairs(self.list) do
    local found = { c:violation(self:part(x, i)) }
    if found[1] ~= nil then
      self:place(found, i, #core.shape(x))
      return table.unpack(found)
    end
  end
end

local function positive_dim (dim, rank) return dim > 0 and dim or dim + rank + 1 end

--- Is this a constraint?
local function is_constraint (c)
  return type(c) == "table" and c.violation ~= nil and c.params ~= nil and not class.is_class(c)
end

local function check_parts (name, list)
  if core.table_kind(list) ~= "data" or #list == 0 then
    raise("%s: constraints must be a table of at least one constraint, got %s", name, show.value(list))
  end
  core.check_list(name, "constraints", list)
  for i, c in ipairs(list) do
    if not is_constraint(c) then raise("%s: constraint %d must be a constraint, got %s", name, i, show.value(c)) end
  end
end

local Cat = new_kind("cat", {
  params = { "list", "dim", "lengths" }, rule = parts_rule, violation = parts_violation,
  -- Does the dimension lie within the events of an x of this rank?
  is_within = function (self, rank) return rank - positive_dim(self.dim, rank) < self.event_dim end,
  holds = function (self, x) return parts_holds(self, as_tensor(x), require "perilune.tensor".cat) end,
  part = function (self, x, i)
    local at = 1
    for j = 1, i - 1 do at = at + self.lengths[j] end
    return x:narrow(self.dim, at, self.lengths[i])
  end,
  place = function (self, found, i, rank)
    local d = 1 + positive_dim(self.dim, rank)
    for j = 1, found[d] and i - 1 or 0 do found[d] = found[d] + self.lengths[j] end
  end,
})

--- Parts of the given lengths (1 each unless told) along a dimension.
local function cat (list, dim, lengths, ...)
  errors.no_more("cat(constraints, dim, lengths)", ...)
  check_parts("cat", list)
  local self = setmetatable({ list = list, dim = layout.dimension("cat", dim or 1) }, Cat)
  self.lengths = layout.lengths("cat", lengths, #list)
  self.event_dim, self.is_discrete = largest_event(list)
  self.part_event_dim = self.event_dim
  return self
end

local Stack = new_kind("stack", {
  params = { "list", "dim" }, rule = parts_rule, violation = parts_violation,
  is_within = function (self) return self.dim < 0 and -self.dim <= self.part_event_dim + 1 end,
  holds = function (self, x) return parts_holds(self, as_tensor(x), require "perilune.tensor".stack) end,
  part = function (self, x, i) return x:select(self.dim, i) end,
  place = function (self, found, i, rank)
    local d = 1 + positive_dim(self.dim, rank)
    if d <= #found + 1 then table.insert(found, d, i) end
  end,
})

--- Slices along a dimension, each with a constraint of its own.
local function stack (list, dim, ...)
  errors.no_more("stack(constraints, dim)", ...)
  check_parts("stack", list)
  local self = setmetatable({ list = list, dim = layout.dimension("stack", dim or 1) }, Stack)
  self.part_event_dim, self.is_discrete = largest_event(list)
  self.event_dim = self.part_event_dim + (self:is_within() and 1 or 0)
  return self
end

local function undecided (_, _)
  raise("constraints.dependent depends on other parameters and cannot be checked by itself")
end

local dependent = new_kind("dependent", {
  rule = function () return "what other parameters allow" end, violation = undecided, holds = undecided,
})()


local constraints = {
  Constraint = Constraint,
  real = real, finite = finite, positive = positive, nonnegative = nonnegative,
  greater_than = greater_than, greater_than_eq = greater_than_eq, less_than = less_than,
  interval = interval, half_open_interval = half_open_interval, left_open_interval = left_open_interval,
  integer_interval    = integer_interval,
  unit_interval       = named("unit_interval", interval(0, 1)),
  boolean             = named("boolean", integer_interval(0, 1)),
  integer             = named("integer", integer_interval(-math.huge, math.huge)),
  nonnegative_integer = named("nonnegative_integer", integer_interval(0, math.huge)),
  positive_integer    = named("positive_integer", integer_interval(1, math.huge)),
  simplex = simplex, one_hot = one_hot, multinomial = multinomial, ordered_vector = ordered_vector, sphere = sphere,
  square = square, symmetric = symmetric, lower_triangular = lower_triangular, lower_cholesky = lower_cholesky,
  corr_cholesky = corr_cholesky, positive_definite = positive_definite, positive_semidefinite = positive_semidefinite,
  cat = cat, stack = stack, dependent = dependent,
}

constraints.is_constraint = is_constraint

--- Are these parameters the same: numbers, tensors, or lists of such?
constraints.same = same

function constraints.independent (base, dims, ...)
  errors.no_more("independent(base, dims)", ...)
  if not is_constraint(base) then
    raise("independent: base must be a constraint, got %s", show.value(base))
  elseif math.type(dims) ~= "integer" or dims < 0 then
    raise("independent: dims must be a non-negative integer, got %s", show.value(dims))
  end
  if dims == 0 then return base end
  if getmetatable(base) == independent then base, dims = base.base, base.dims + dims end
  local self = setmetatable({ base = base, dims = dims }, independent)
  self.event_dim, self.is_discrete = base.event_dim + dims, base.is_discrete
  return self
end

constraints.real_vector = named("real_vector", constraints.independent(real, 1))

--- The constraint with these ends, by its plainest name. Where both are open it is the
-- closed interval, which differs by two points.
function constraints.between (low, high, left_open, right_open)
  local unbounded_below, unbounded_above = low == -math.huge, high == math.huge
  if unbounded_below and unbounded_above then return real end
  if unbounded_above and low == 0 then return left_open and positive or nonnegative end
  if unbounded_above then return left_open and greater_than(low) or greater_than_eq(low) end
  if unbounded_below and right_open then return less_than(high) end
  if left_open and not right_open then return left_open_interval(low, high) end
  if right_open and not left_open then return half_open_interval(low, high) end
  return low == 0 and high == 1 and constraints.unit_interval or interval(low, high)
end

return core.keep("constraints", errors.module("constraints", constraints))
