--- Optimisers that work element by element: data, and one kernel of src/kernel/optim.c for each form of their memory.
--
-- One call of C moves all parameters (src/api/optim.c). A parameter's memory is rows of numbers, and a count of its
-- steps.
local core      = require "perilune.core"
local errors    = require "perilune.errors"
local Optimiser = require "perilune.optim.optimiser"
local params    = require "perilune.optim.params"

local rate_of, count_step = Optimiser.rate, Optimiser.count_step

-- The names of rows of memory, or of none. Forms of one kind differ in how many they have.
local function names_of (self, rows)
  for _, form in ipairs(rows and self.forms or {}) do
    if #form.rows == #rows then return form.rows end
  end
  return {}
end

-- A parameter's first rows in a form: zeros, or what the option says that `initial` names.
local function new_rows (self, form, entry)
  local rows = core.zeros(#form.rows, entry.size)
  for r, name in ipairs(form.rows) do
    local option = self.initial and self.initial[name]
    if option then rows[r] = self[option] end
  end
  return rows
end

-- Another form of the rows of a parameter: those of the same name stay. Steps are counted anew if there are none.
local function converted (self, form, entry, last, count)
  local rows, kept = new_rows(self, form, entry), false
  for r, name in ipairs(form.rows) do
    for k, known in ipairs(names_of(self, last)) do
      if known == name then rows[r], kept = last[k], true end
    end
  end
  return rows, kept and count or 0
end

-- Gives parameters that have gradients memory in the form that the options ask for, which may be changed between
-- steps.
local function complete (self, form)
  for i, entry in ipairs(self.entries) do
    local rows, count = core.recall(self.memory, i)
    if core.grad(entry.param) and not (rows and #rows == #form.rows) then
      core.remember(self.memory, i, converted(self, form, entry, rows, count))
    end
  end
end

--@ Optimiser:step(closure) -> any
-- Moves the parameters by their gradients; one without a gradient stays. Raises where a gradient is not finite, names
-- it, and moves nothing.
--   closure  function that is called first and whose result is returned; needed by LBFGS, none unless told
-- > w = param(1)
-- > w.grad = 2
-- > optim.SGD(w, { lr = 0.25 }):step()
-- > item(w)
-- 0.5

-- The method that moves the parameters that have gradients; none, if a gradient is not finite.
local function stepper (forms, form_of, constants)
  return function (self, closure)
    local loss
    if closure ~= nil then loss = errors.check_function(self.name .. ":step", "closure", closure)() end
    local memory, form = self.memory, form_of and form_of(self, forms) or forms[1]
    local count = form.ready(memory)
    if count == false then
      params.check_finite(self.name, self.entries)
      complete(self, form)
      count = form.ready(memory)
    end
    local rate, sign = self.factor and rate_of(self) or self.lr, self.maximize and -1 or 1
    while count do   -- that of all parameters, unless one was once without a gradient
      count = form.update(memory, count, sign, constants(self, rate, count + 1))
    end
    count_step(self)
    return loss
  end
end

local function save (self)
  local saved = {}
  for i, entry in ipairs(self.entries) do
    local rows, count = core.recall(self.memory, i)
    saved[i] = { count = count, size = entry.size }
    for r, name in ipairs(names_of(self, rows)) do saved[i][name] = rows[r]:totable() end
  end
  return saved
end

local function has_rows (form, saved)
  for _, name in ipairs(form.rows) do
    if saved[name] == nil then return false end
  end
  return true
end

-- The largest form of which all rows are there, or nil.
local function saved_form (self, saved)
  for _, form in ipairs(self.forms) do
    if has_rows(form, saved) then return form end
  end
end

-- What save gave for one parameter: the count, and rows if it was moved; nil if it is of another size.
local function loaded (self, entry, saved)
  local count = type(saved) == "table" and math.tointeger(saved.count)
  if not count or saved.size ~= nil and saved.size ~= entry.size then return nil end
  if count == 0 then return 0 end
  local form = saved_form(self, saved)
  if not form then return nil end
  local rows = new_rows(self, form, entry)
  for r, name in ipairs(form.rows) do
    local row = self.numbers(saved[name], entry.size)
    if not row then return nil end
    rows[r] = row
  end
  return count, rows
end

local function load (self, saved)
  local memory = core.memory(self.params)
  if #saved ~= #self.entries then return nil end
  for i, entry in ipairs(self.entries) do
    local count, rows = loaded(self, entry, saved[i])
    if not count then return nil end
    core.remember(memory, i, rows, count)
  end
  return memory
end

--- A kind of optimiser, from data:
--
--   name, options        as Optimiser.kind has them; `maximize` is added
--   forms                { kernel, rows = names of rows of memory, but count and size }, those of more rows first
--   form(self, forms)    which of them the options ask for; the first, if there is no such function
--   initial              the option that a row's first elements are, by the name of the row; 0 for others
--   check(self)          raises, if options do not fit together
--   constants(self, rate, count)   the kernel's constants after the sign, for a learning rate and the number of a step
return function (kind)
  for _, form in ipairs(kind.forms) do
    form.ready, form.update = core.bind_ready(form[1]), core.bind_update(form[1])
  end
  kind.options[#kind.options + 1] = { "maximize", false, Optimiser.rules.boolean }
  kind.step, kind.save, kind.load = stepper(kind.forms, kind.form, kind.constants), save, load
  function kind.start (self)
    self.memory = core.memory(self.params)
    if kind.check then kind.check(self) end
  end
  return Optimiser.kind(kind)
end
