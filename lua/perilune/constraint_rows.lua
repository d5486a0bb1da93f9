--- Constraints of rows and matrices by kernels of src/kernel/row/constraint.c, and what is wrong with an event.
local constraint = require "perilune.constraint"
local core       = require "perilune.core"
local lazy       = require "perilune.lazy"
local numbers    = require "perilune.constraints.numbers"

local finders = lazy "constraint_findings"

local constraint_rows = {}

--- What is wrong with an event that has not even the shape, or nil.
function constraint_rows.misfit (self, shape)
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

-- x with a batch as large as that of the answers.
local function stretched (self, x, answers)
  local shape, own = core.shape(answers), core.shape(x)
  for d = #own - self.event_dim + 1, #own do shape[#shape + 1] = own[d] end
  return x:expand(shape)
end

local function explain (self, event)
  for name in self.findings:gmatch "%S+" do
    local text = finders[name](event)
    if text then return text end
  end
end

local function row_violation (self, x)
  x = core.bare(constraint.as_tensor(x))
  local text = constraint_rows.misfit(self, core.shape(x))
  if text then return text end
  local answers = self:holds(x)
  local place = { numbers.positive:violation(answers) }
  if place[1] == nil then return nil end
  return explain(self, event_at(stretched(self, x, answers), table.unpack(place, 2))), table.unpack(place, 2)
end

--- A kind tested by a row kernel; `findings`, names of constraint_findings.lua, look for what is wrong with an event.
function constraint_rows.kind (name, event_dim, rule, findings, params)
  local operands = { "x" }
  for i, param in ipairs(params or {}) do operands[i + 1] = "self." .. param end
  return constraint.kind(name, {
    params = params or {}, event_dim = event_dim, findings = findings, violation = row_violation,
    rule   = type(rule) == "function" and rule or function () return rule end,
    holds  = core.bind("row/constraint", name, name .. " constraint:holds", { "self", "x" }, operands),
  })
end

return constraint_rows
