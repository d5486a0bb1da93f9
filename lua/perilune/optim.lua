--- Optimisers: peri.optim.Adam(params, { lr = 0.01 }), and schedules and clipping of gradients.
--
--   opt:step()           moves the parameters by their gradients; one without a gradient stays
--   opt:zero_grad()      forgets the gradients
--   opt:schedule(fn)     fn(number of steps taken) is a factor of lr
--   opt:state()          a plain table, from which opt:restore(table) goes on
--
-- One call of C moves all parameters (src/api/optim.c; src/kernel/optim.c has the formulas). Names and defaults of
-- options are torch's.
local core      = require "perilune.core"
local errors    = require "perilune.errors"
local Optimiser = require "perilune.optim.optimiser"
local params    = require "perilune.optim.params"

local rules = Optimiser.rules
local rate_of, count_step, sqrt = Optimiser.rate, Optimiser.count_step, math.sqrt
local NO_CLIP = math.huge

-- The names of rows of memory, or of none. Forms of one kind differ in how many they have.
local function names_of (self, rows)
  for _, form in ipairs(rows and self.forms or {}) do
    if #form.rows == #rows then return form.rows end
  end
  return {}
end

-- A parameter's first rows in a form.
local function new_rows (self, form, entry)
  return core.full({ #form.rows, entry.size }, self.initial and self:initial() or 0)
end

-- Another form of the rows of a parameter: those of the same name stay.
local function converted (self, form, entry, last)
  local rows = new_rows(self, form, entry)
  for r, name in ipairs(form.rows) do
    for k, known in ipairs(names_of(self, last)) do
      if known == name then rows[r] = last[k] end
    end
  end
  return rows
end

-- Gives parameters that have gradients memory in the form that the options ask for. Options may be changed between
-- steps: then steps are counted anew.
local function complete (self, form)
  for i, entry in ipairs(self.entries) do
    local rows = core.recall(self.memory, i)
    if core.grad(entry.param) and not (rows and #rows == #form.rows) then
      core.remember(self.memory, i, converted(self, form, entry, rows), 0)
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
    local memory, form = self.memory, form_of and form_of(self) or forms[1]
    local count = form.ready(memory)
    if count == false then
      params.check_finite(self.name, self.entries)
      complete(self, form)
      count = form.ready(memory)
    end
    local rate = self.factor and rate_of(self) or self.lr
    while count do   -- that of all parameters, unless one was once without a gradient
      count = form.update(memory, count, constants(self, rate, count + 1))
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

-- An optimiser that works element by element: its forms, { kernel, rows = names of rows of memory }, those of more rows
-- first; which of them the options ask for (the first, unless `form` says); and the kernel's constants for a
-- learning rate and the number of this step.
local function elementwise (kind)
  for _, form in ipairs(kind.forms) do
    form.ready, form.update = core.bind_ready(form[1]), core.bind_update(form[1])
  end
  kind.step, kind.save, kind.load = stepper(kind.forms, kind.form, kind.constants), save, load
  function kind.start (self)
    self.memory = core.memory(self.params)
    if kind.check then kind.check(self) end
  end
  return Optimiser.kind(kind)
end

--@ peri.optim
-- Optimisers, with torch's names, defaults and steps; schedules of learning rates; clipping of gradients.
-- > w = param { 5, -5 }
-- > opt = optim.Adam(w, { lr = 0.1 })
-- > for _ = 1, 300 do
-- >   opt:zero_grad()
-- >   local loss = (w * w):sum()
-- >   loss:backward()
-- >   opt:step()
-- > end
-- > w:detach():abs():max() < 0.1
-- true
local optim = {
  schedules       = require "perilune.optim.schedules",
  LBFGS           = require "perilune.optim.lbfgs",
  clip_grad_norm  = params.clip_grad_norm,
  clip_grad_value = params.clip_grad_value,
}

--@ peri.optim.SGD(params, options) -> Optimiser
-- Gradient descent, with momentum if told: m = momentum m + (1 - dampening) g; x = x - lr m.
--   params   parameter, or a (nested) table of parameters
--   options  lr = learning rate (0.001); momentum = share of the last move that is kept (0); dampening = share of the
--            gradient that is left out of the momentum (0); nesterov = true looks ahead along the momentum (false);
--            weight_decay = times the parameter is added to its gradient (0)
-- > w = param(1)
-- > opt = optim.SGD(w, { lr = 0.25 })
-- > loss = w * w
-- > loss:backward()
-- > opt:step()
-- > item(w)
-- 0.5
optim.SGD = elementwise {
  name = "SGD", forms = { { "sgd", rows = { "momentum" } }, { "descent", rows = {} } },
  options = {
    { "lr", 1e-3, rules.positive }, { "momentum", 0, rules.nonnegative }, { "dampening", 0, rules.number },
    { "nesterov", false, rules.boolean }, { "weight_decay", 0, rules.nonnegative },
  },
  check = function (self)
    if self.nesterov and (self.momentum == 0 or self.dampening ~= 0) then
      errors.raise("SGD: nesterov needs a positive momentum and no dampening")
    end
  end,
  form = function (self) return self.forms[self.momentum == 0 and 2 or 1] end,
  constants = function (self, rate, count)   -- the first gradient is the first momentum
    local keep, take = self.momentum, count == 1 and 1 or 1 - self.dampening
    local direct, through = 0, 1
    if self.nesterov then direct, through = 1, keep end
    return NO_CLIP, self.weight_decay, rate, keep, take, direct, through
  end,
}

-- Adam's constants; where its relatives differ: bounds of gradients, decay as part of them or as a factor of the
-- parameter, and eps added to the square root of the mean square before its correction.
local function adam_constants (self, rate, count, clip, decay, shrink, eps_first)
  local betas = self.betas
  local b1, b2 = betas[1], betas[2]
  local root = sqrt(1 - b2 ^ count)
  local eps = eps_first and self.eps / root or self.eps
  return clip or NO_CLIP, decay or self.weight_decay, rate / (1 - b1 ^ count), shrink or 1, b1, b2, 1 / root, eps
end

local function adam_options (weight_decay, ...)
  return {
    { "lr", 1e-3, rules.positive }, { "betas", { 0.9, 0.999 }, rules.fractions }, { "eps", 1e-8, rules.nonnegative },
    { "weight_decay", weight_decay, rules.nonnegative }, ...
  }
end

--@ peri.optim.Adam(params, options) -> Optimiser
-- Adam (Kingma and Ba 2015): steps about as long as lr, whatever the scale of gradients. For noisy gradients.
--   params   parameter, or a (nested) table of parameters
--   options  lr = learning rate (0.001); betas = decay of the means of gradients and of their squares ({ 0.9, 0.999
--            }); eps = added to the root of the latter (1e-8); weight_decay = times the parameter is added to its
--            gradient (0)
-- > w = param(1)
-- > opt = optim.Adam(w, { lr = 0.25 })
-- > loss = w * w
-- > loss:backward()
-- > opt:step()
-- > string.format("%.6f", item(w))
-- 0.750000
optim.Adam = elementwise {
  name = "Adam", forms = { { "adam", rows = { "momentum", "square" } } }, options = adam_options(0),
  constants = adam_constants,
}

--@ peri.optim.AdamW(params, options) -> Optimiser
-- Adam whose decay of weights is no part of the gradient (Loshchilov and Hutter 2019).
--   params   parameter, or a (nested) table of parameters
--   options  lr = learning rate (0.001); betas = decay of the means of gradients and of their squares ({ 0.9, 0.999
--            }); eps = added to the root of the latter (1e-8); weight_decay = parameters are multiplied by 1 - lr
--            weight_decay first (0.01)
-- > optim.AdamW(param(1)).weight_decay
-- 0.01
optim.AdamW = elementwise {
  name = "AdamW", forms = { { "adam", rows = { "momentum", "square" } } }, options = adam_options(1e-2),
  constants = function (self, rate, count)
    return adam_constants(self, rate, count, nil, 0, 1 - rate * self.weight_decay)
  end,
}

--@ peri.optim.ClippedAdam(params, options) -> Optimiser
-- Pyro's Adam, for gradients with outliers: their elements are moved into [-clip_norm, clip_norm], and lr is
-- multiplied by lrd at every step.
--   params   parameter, or a (nested) table of parameters
--   options  lr = learning rate (0.001); betas = decay of the means of gradients and of their squares ({ 0.9, 0.999
--            }); eps = added to the root of the latter (1e-8); weight_decay = times the parameter is added to its
--            gradient (0); clip_norm = bound of each element (10); lrd = factor of lr at every step (1)
-- > optim.ClippedAdam(param(1), { lrd = 0.999 }).lrd
-- 0.999
optim.ClippedAdam = elementwise {
  name = "ClippedAdam", forms = { { "adam", rows = { "momentum", "square" } } },
  options = adam_options(0, { "clip_norm", 10, rules.positive }, { "lrd", 1, rules.positive }),
  constants = function (self, rate, count)
    local lr = rate * self.lrd ^ (self.steps + 1)
    return adam_constants(self, lr, count, self.clip_norm, nil, nil, true)
  end,
}

--@ peri.optim.RMSprop(params, options) -> Optimiser
-- RMSprop (Hinton 2012): gradients divided by the root of their mean square, or of their variance.
--   params   parameter, or a (nested) table of parameters
--   options  lr = learning rate (0.01); alpha = decay of the mean square (0.99); eps = added to the root (1e-8);
--            weight_decay = times the parameter is added to its gradient (0); momentum = share of the last move that
--            is kept (0); centered = true divides by the root of the variance (false)
-- > optim.RMSprop(param(1)).alpha
-- 0.99
optim.RMSprop = elementwise {
  name = "RMSprop",
  forms = { { "rmsprop_moving", rows = { "momentum", "square", "mean" } }, { "rmsprop", rows = { "square" } } },
  options = {
    { "lr", 1e-2, rules.positive }, { "alpha", 0.99, rules.fraction }, { "eps", 1e-8, rules.nonnegative },
    { "weight_decay", 0, rules.nonnegative }, { "momentum", 0, rules.nonnegative },
    { "centered", false, rules.boolean },
  },
  form = function (self) return self.forms[self.momentum == 0 and not self.centered and 2 or 1] end,
  constants = function (self, rate)
    return NO_CLIP, self.weight_decay, rate, self.alpha, self.momentum, self.centered and 1 or 0, self.eps
  end,
}

--@ peri.optim.Adagrad(params, options) -> Optimiser
-- Adagrad (Duchi, Hazan and Singer 2011): gradients divided by the root of the sum of all squares so far.
--   params   parameter, or a (nested) table of parameters
--   options  lr = learning rate (0.01); lr_decay = the rate after n steps is lr/(1 + n lr_decay) (0); weight_decay =
--            times the parameter is added to its gradient (0); initial_accumulator_value = where the sum begins (0);
--            eps = added to the root (1e-10)
-- > optim.Adagrad(param(1)).lr
-- 0.01
optim.Adagrad = elementwise {
  name = "Adagrad", forms = { { "adagrad", rows = { "total" } } },
  options = {
    { "lr", 1e-2, rules.positive }, { "lr_decay", 0, rules.nonnegative }, { "weight_decay", 0, rules.nonnegative },
    { "initial_accumulator_value", 0, rules.nonnegative }, { "eps", 1e-10, rules.nonnegative },
  },
  initial = function (self) return self.initial_accumulator_value end,
  constants = function (self, rate, count)
    return NO_CLIP, self.weight_decay, rate / (1 + (count - 1) * self.lr_decay), self.eps
  end,
}

return errors.module("optim", optim)
