--- Constraints of parts along a dimension, and the one that only other parameters decide.
local constraint = require "perilune.constraint"
local core       = require "perilune.core"
local errors     = require "perilune.errors"
local layout     = require "perilune.layout"
local show       = require "perilune.show"
local tensor     = require "perilune.tensor"

local raise = errors.raise

local compound = {}

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

-- Answers of the parts of x, which has at least n dimensions: together where parts lie within one event, else side
-- by side.
local function parts_holds (self, x, n, join)
  x = constraint.with_rank(x, n)
  local answers, within = {}, self:is_within(core.rank(x))
  for i, c in ipairs(self.list) do
    local extra = self.part_event_dim - c.event_dim
    answers[i] = constraint.joined(c:holds(self:part(x, i)), extra)
    if within and i > 1 then answers[i] = answers[i] * answers[i - 1] end
  end
  return within and answers[#answers] or join(answers, self.dim)
end

-- The first part that is wrong; `place` corrects its indices.
local function parts_violation (self, x)
  x = constraint.as_tensor(x)
  for i, c in ipairs(self.list) do
    local found = { c:violation(self:part(x, i)) }
    if found[1] ~= nil then
      self:place(found, i, #core.shape(x))
      return table.unpack(found)
    end
  end
end

local function positive_dim (dim, rank) return dim > 0 and dim or dim + rank + 1 end

-- The parts as a list of our own.
local function checked_parts (name, list)
  if core.table_kind(list) ~= "data" or rawlen(list) == 0 then
    raise("%s: constraints must be a table of at least one constraint, got %s", name, show.value(list))
  end
  list = core.check_list(name, "constraints", list)
  for i, c in ipairs(list) do
    if not constraint.is_constraint(c) then
      raise("%s: constraint %d must be a constraint, got %s", name, i, show.value(c))
    end
  end
  return list
end

local Cat = constraint.kind("cat", {
  params = { "list", "dim", "lengths" }, rule = parts_rule, violation = parts_violation,
  -- Does the dimension lie within the events of an x of this rank?
  is_within = function (self, rank) return rank - positive_dim(self.dim, rank) < self.event_dim end,
  holds = function (self, x) return parts_holds(self, x, math.max(1, self.event_dim), tensor.cat) end,
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

--@ peri.constraints.cat(list, dim, lengths) -> Constraint
-- Parts along a dimension, each with a constraint of its own.
--   list     list of constraints
--   dim      integer, from 1, or from -1 backwards; 1 unless told
--   lengths  list of integers: the parts' lengths; 1 each unless told
-- > constraints.cat({ constraints.positive, constraints.real }, 1, { 2, 1 }):check { 1, 2, -3 }
-- true
function compound.cat (list, dim, lengths, ...)
  errors.no_more("cat(constraints, dim, lengths)", ...)
  list = checked_parts("cat", list)
  local self = setmetatable({ list = list, dim = layout.dimension("cat", dim or 1) }, Cat)
  self.lengths = layout.lengths("cat", lengths, #list)
  self.event_dim, self.is_discrete = largest_event(list)
  self.part_event_dim = self.event_dim
  return self
end

local Stack = constraint.kind("stack", {
  params = { "list", "dim" }, rule = parts_rule, violation = parts_violation,
  is_within = function (self) return self.dim < 0 and -self.dim <= self.part_event_dim + 1 end,
  holds = function (self, x) return parts_holds(self, x, self.part_event_dim + 1, tensor.stack) end,
  part = function (self, x, i) return x:select(self.dim, i) end,
  place = function (self, found, i, rank)
    local d = 1 + positive_dim(self.dim, rank)
    if d <= #found + 1 then table.insert(found, d, i) end
  end,
})

--@ peri.constraints.stack(list, dim) -> Constraint
-- Slices along a dimension, each with a constraint of its own.
--   list  list of constraints
--   dim   integer, from 1, or from -1 backwards; 1 unless told
-- > constraints.stack({ constraints.positive, constraints.real }):check { 1, -3 }
-- true
function compound.stack (list, dim, ...)
  errors.no_more("stack(constraints, dim)", ...)
  list = checked_parts("stack", list)
  local self = setmetatable({ list = list, dim = layout.dimension("stack", dim or 1) }, Stack)
  self.part_event_dim, self.is_discrete = largest_event(list)
  self.event_dim = self.part_event_dim + (self:is_within() and 1 or 0)
  return self
end

local function undecided (_, _)
  raise("constraints.dependent depends on other parameters and cannot be checked by itself")
end

--@ peri.constraints.dependent -> Constraint
-- What only other parameters decide: to check it raises.
-- > constraints.dependent:rule()
-- what other parameters allow
compound.dependent = constraint.kind("dependent", {
  rule = function () return "what other parameters allow" end, violation = undecided, holds = undecided,
})()

return compound
