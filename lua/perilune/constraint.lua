--- Constraint: what all constraints have, and how a kind of them is made. A family of kinds is a file of constraints/.
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
local show   = require "perilune.show"
require "perilune.tensor"

local raise = errors.raise

local constraint = {}

--@ Constraint
-- A constraint. Those of single numbers have the ends low and high, which belong to them unless left_open or
-- right_open; event_dim is the number of dimensions that count as one event, is_discrete says whether it holds
-- integers. Two of one kind with equal parameters are equal.
-- > constraints.greater_than(0).low, constraints.simplex.event_dim
-- 0  1

--@ peri.constraints.Constraint
-- The parent of all kinds of constraints.
-- > constraints.Constraint.event_dim
-- 0
local Constraint = { event_dim = 0, is_discrete = false, params = {} }
Constraint.__index = Constraint

--@ Constraint:check(x) -> boolean
-- Does every event of x satisfy the constraint? NaN never does.
--   x  number, table or tensor
-- > constraints.positive:check { 1, 2 }, constraints.positive:check { 1, -2 }
-- true  false

--@ Constraint:holds(x) -> number or Tensor
-- The same for each event: 1 or 0.
--   x  number, table or tensor
-- > constraints.positive:holds { 1, -2 }
-- Tensor(2)
--   1  0

--@ Constraint:violation(x) -> number or string or nil, integer
-- The first offender in x (a number, or a text for a row or a matrix) and its indices; nothing, if there is none.
--   x  number, table or tensor
-- > constraints.positive:violation { 1, -2 }
-- -2.0  2

--@ Constraint:rule() -> string
-- What it asks for, to end a sentence that begins "scale must be".
-- > constraints.greater_than(2):rule()
-- greater than 2
function Constraint:check (x) return self:violation(x) == nil end

errors.count_arguments("Constraint", Constraint, "check")

local function same_list (a, b)
  for i = 1, math.max(#a, #b) do
    if a[i] ~= b[i] then return false end
  end
  return true
end

--- Are these parameters the same: numbers, tensors, or lists of such?
function constraint.same (a, b)
  local plain = core.table_kind(a) == "data" and core.table_kind(b) == "data"
  return a == b or plain and same_list(a, b)
end

--- Are they of one kind, with the same parameters? Of transforms too.
function constraint.equal (a, b)
  local kind = getmetatable(a)
  if kind ~= getmetatable(b) then return false end
  for _, name in ipairs(kind.params) do
    if not constraint.same(a[name], b[name]) then return false end
  end
  return true
end

--- A parameter as texts show it.
function constraint.text_of (value)
  if core.table_kind(value) ~= "data" then return show.parameter(value) end
  local parts = {}
  for i, part in ipairs(value) do parts[i] = constraint.text_of(part) end
  return "{" .. table.concat(parts, ", ") .. "}"
end

local function describe (self)
  local parts = {}
  for i, name in ipairs(self.params) do parts[i] = constraint.text_of(self[name]) end
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

--- A kind of constraints, with its `params`, `rule`, `violation` and `holds`. It is the same after a second load.
function constraint.kind (name, kind)
  kind.name, kind.__index, kind.__eq, kind.__tostring = name, kind, constraint.equal, describe
  kind.__name = name .. " constraint"
  errors.count_arguments(kind.__name, kind, "holds rule violation")
  local function kind_name () return "kind " .. name end
  setmetatable(kind, { __index = Constraint, __call = make, __tostring = kind_name })
  return core.keep("constraint " .. name, kind)
end

--- A constraint with a name of its own, equal to those of its kind.
function constraint.named (name, c)
  c.name, c.params = name, {}
  return c
end

--@ peri.constraints.is_constraint(c) -> boolean
-- Is it a constraint (and not a kind of them)?
--   c  anything
-- > constraints.is_constraint(constraints.real), constraints.is_constraint(constraints.interval)
-- true  false
function constraint.is_constraint (c)
  return type(c) == "table" and c.violation ~= nil and c.params ~= nil and math.type(c.event_dim) == "integer"
     and not class.is_class(c)
end

--- What is to be checked, as a tensor.
function constraint.as_tensor (x) return core.is_tensor(x) and x or core.tensor(x) end

--- The same, having seen that it has at least n dimensions.
function constraint.with_rank (x, n)
  x = constraint.as_tensor(x)
  if core.rank(x) >= n then return x end
  raise("constraint: x must have at least %d dimension%s, got %s", n, n == 1 and "" or "s", show.value(x))
end

--- Answers for the last n dimensions together.
function constraint.joined (answers, n)
  for _ = 1, n do answers = answers:min(-1) end
  return answers
end

constraint.Constraint = Constraint

return constraint
