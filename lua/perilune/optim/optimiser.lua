--- What all optimisers share: parameters, checked options, schedules, state as a plain table.
--
-- A kind of optimiser has a name, `options` in the order in which they are shown, { name, default, rule }, and
-- a method `step`. Options become fields of the optimiser and may be changed between steps: opt.lr = 0.1.
local core   = require "perilune.core"
local errors = require "perilune.errors"
local params = require "perilune.optim.params"
local show   = require "perilune.show"

--@ Optimiser
-- An optimiser of parameters. Its options are fields, and may be changed between steps: opt.lr = 0.1; opt.steps
-- counts.
-- > opt = optim.SGD(param(1), { lr = 0.1 })
-- > opt.lr = 0.01
-- > opt.lr, opt.steps
-- 0.01  0
local Optimiser = {}

--- Rules for options: what they say, and whether a value obeys.
local function is_number (x) return type(x) == "number" and x == x end
local function is_count (x) return is_number(x) and x > 0 and x == math.floor(x) and x < math.huge end
local function is_fraction (x) return is_number(x) and x >= 0 and x < 1 end

-- A rule for two numbers.
local function pair (text, holds)
  return { text, function (x)
    return type(x) == "table" and #x == 2 and is_number(x[1]) and is_number(x[2]) and holds(x[1], x[2])
  end, is_pair = true }
end

Optimiser.rules = {
  positive    = { "positive", function (x) return is_number(x) and x > 0 end },
  nonnegative = { "a non-negative number", function (x) return is_number(x) and x >= 0 and x < math.huge end },
  fraction    = { "at least 0 and below 1", is_fraction },
  number      = { "a number", is_number },
  count       = { "a positive integer", is_count },
  count_or_none = { "a positive integer", function (x) return x == nil or is_count(x) end },
  boolean     = { "true or false", function (x) return type(x) == "boolean" end },
  fractions   = pair("two numbers of at least 0 and below 1", function (a, b)
    return is_fraction(a) and is_fraction(b)
  end),
  factors     = pair("a number between 0 and 1 and one above 1", function (a, b)
    return 0 < a and a < 1 and 1 < b and b < math.huge
  end),
  bounds      = pair("two positive numbers in ascending order", function (a, b)
    return 0 < a and a <= b and b < math.huge
  end),
}

local function fail (self, ...) errors.raise("%s: %s", self.name, string.format(...)) end

-- An option of two numbers, as a table of its own: assignments to its elements are seen, too.
local function two_numbers (self, key, rule, a, b)
  local values = { a, b }
  return setmetatable({}, {
    __index = values,
    __len   = function () return 2 end,
    __pairs = function () return ipairs(values) end,
    __newindex = function (_, i, value)
      if not (i == 1 and rule[2] { value, values[2] } or i == 2 and rule[2] { values[1], value }) then
        fail(self, "%s must be %s, got %s at [%s]", key, rule[1], show.value(value), tostring(i))
      end
      values[i] = value
    end,
  })
end

-- What assigning a field of an optimiser does: options are checked, parameters stay.
local function assign (self, values, key, value)
  local rule = self.rule_of[key]
  if rule then
    if not rule[2](value) then fail(self, "%s must be %s, got %s", key, rule[1], show.value(value)) end
    if rule.is_pair then value = two_numbers(self, key, rule, value[1], value[2]) end
    values[key] = value
  elseif rawget(values, key) then
    fail(self, "%s must stay as they are; a new optimiser takes other parameters", key)
  else rawset(self, key, value) end
end

local function set_options (self, given)
  errors.check_options(self.name, given, self.option_names)
  for _, option in ipairs(self.options) do
    local value = given[option[1]]
    if value == nil then value = option[2] end
    self[option[1]] = value
  end
end

-- A new optimiser of a kind for the parameters in a list. Options and parameters are not its own fields, so that
-- assignments to them are seen.
local function new (kind, list)
  local values = setmetatable({}, kind.fields)
  values.entries, values.params = params.list(kind.name, list)
  return setmetatable({ steps = 0, factor = false }, {
    __index = values, __tostring = kind.__tostring, __name = kind.__name,
    __newindex = function (self, key, value) assign(self, values, key, value) end,
  })
end

--- A new kind: Kind(params, options) makes an optimiser. `start(self)`, if there is one, completes it.
function Optimiser.kind (kind)
  kind.option_names, kind.rule_of, kind.fields = {}, {}, { __index = kind }
  for i, option in ipairs(kind.options) do
    kind.option_names[i], kind.rule_of[option[1]] = option[1], option[3]
  end
  kind.__tostring, kind.__name = Optimiser.__tostring, "optim." .. kind.name
  errors.count_arguments(kind.__name, kind, "step")
  return setmetatable(kind, {
    __index = Optimiser,
    __tostring = function () return "optim." .. kind.name end,
    __call = function (_, list, options, ...)
      errors.no_more(kind.name .. "(params, options)", ...)
      local self = new(kind, list)
      set_options(self, options or {})
      if kind.start then kind.start(self) end
      return self
    end,
  })
end

--@ Optimiser:zero_grad() -> nothing
-- Forgets the gradients of all parameters; without it they add up.
-- > w = param(1)
-- > w.grad = 2
-- > optim.SGD(w):zero_grad()
-- > w.grad
-- nil
Optimiser.zero_grad = core.zero_grad

--@ Optimiser:schedule(schedule) -> Optimiser
-- Multiplies the learning rate by schedule(number of steps taken) from now on; returns the optimiser.
--   schedule  function of the number of steps taken, such as optim.schedules make
-- > optim.SGD(param(1), { lr = 0.1 }):schedule(optim.schedules.constant(0.5)):rate()
-- 0.05
function Optimiser:schedule (schedule)
  if type(schedule) ~= "function" then
    fail(self, "schedule must be a function of the step, got %s", show.value(schedule))
  end
  self.factor = schedule
  return self
end

--- One more step was taken.
function Optimiser:count_step ()
  local steps = self.steps
  if type(steps) ~= "number" then fail(self, "steps must be an integer, got %s", show.value(steps)) end
  self.steps = steps + 1
end

--@ Optimiser:rate() -> number
-- The learning rate of the next step.
-- > optim.SGD(param(1), { lr = 0.1 }):rate()
-- 0.1
function Optimiser:rate ()
  local schedule = self.factor
  if not schedule then return self.lr end
  if type(schedule) ~= "function" then fail(self, "factor must be a function, got %s", show.value(schedule)) end
  local factor = schedule(self.steps)
  if type(factor) ~= "number" then
    fail(self, "schedule must return a number, got %s at step %d", show.value(factor), self.steps)
  end
  return self.lr * factor
end

local function copied (value) return type(value) == "table" and { value[1], value[2] } or value end

--@ Optimiser:state() -> table
-- All that the next steps depend on, but parameters and schedule: numbers, strings and tables.
-- > optim.Adam(param(1)):state().name
-- Adam
function Optimiser:state ()
  local options = {}
  for _, option in ipairs(self.options) do options[option[1]] = copied(self[option[1]]) end
  return { name = self.name, steps = self.steps, options = options, memory = self:save() }
end

--- A list of n numbers out of a saved state as a tensor, or nil if it is none. Readers of JSON may give their tables
-- metatables.
function Optimiser.numbers (list, n)
  if type(list) ~= "table" or #list ~= n then return nil end
  return n == 0 and core.zeros(0) or core.tensor(table.move(list, 1, n, 1, {}))
end

--@ Optimiser:restore(state) -> Optimiser
-- Goes on from what state() gave, for an optimiser of the same kind on parameters of the same sizes; raises for
-- others.
--   state  table that state() gave
-- > optim.Adam(param(1)):restore(optim.Adam(param(2), { lr = 0.5 }):state()).lr
-- 0.5
function Optimiser:restore (state)
  if type(state) ~= "table" or type(state.memory) ~= "table" or type(state.options) ~= "table"
     or type(state.steps) ~= "number" or (math.tointeger(state.steps) or -1) < 0 then
    fail(self, "restore: state must be a table that state() gave, got %s", show.value(state))
  elseif state.name ~= self.name then
    fail(self, "restore: state must be of %s, got %s", self.name, show.value(state.name))
  end
  local memory = self:load(state.memory)
  if not memory then fail(self, "restore: state is of other parameters than these") end
  set_options(self, state.options)
  self.memory, self.steps = memory, math.tointeger(state.steps)
  return self
end

function Optimiser:__tostring ()
  local parts = {}
  for _, option in ipairs(self.options) do
    local value = self[option[1]]
    if type(value) == "table" then value = "{" .. show.number(value[1]) .. ", " .. show.number(value[2]) .. "}" end
    if type(value) == "number" then value = show.number(value) end
    if value ~= nil then parts[#parts + 1] = option[1] .. "=" .. tostring(value) end
  end
  return string.format("%s(%s)", self.name, table.concat(parts, ", "))
end

errors.count_arguments("Optimiser", Optimiser, "schedule state restore")

return Optimiser
