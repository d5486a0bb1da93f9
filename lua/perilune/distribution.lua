--- Distribution: the base class. Construction, validation, shapes, and the
-- methods that follow from other methods.
local class     = require "perilune.class"
local core      = require "perilune.core"
local functions = require "perilune.functions"
local show      = require "perilune.show"
require "perilune.tensor"   -- parameters are tensors with methods

local Distribution = { __name = "Distribution", params = {}, has_rsample = false }
Distribution.__index = Distribution

-- The shape of a single number, shared by all: it cannot be written to.
local SCALAR = setmetatable({}, {
  __newindex  = function () error("batch_shape and event_shape cannot be changed", 2) end,
  __metatable = false,
})
Distribution.batch_shape = SCALAR
Distribution.event_shape = SCALAR

local MAX_PARAMS = 6
local validation = true

--- peri.validate(on): checks parameters at construction unless told not to.
function Distribution.validate (on)
  if type(on) ~= "boolean" then error("validate: on must be true or false, got " .. show.value(on), 2) end
  validation = on
end


-- Construction ---------------------------------------------------------------

-- One table with string keys holds named parameters; an array is data.
local function is_named (x)
  return type(x) == "table" and getmetatable(x) == nil and x[1] == nil and next(x) ~= nil
end

local function fail (c, level, ...)
  error(class.name(c) .. ": " .. string.format(...), level + 1)
end

local function check_names (c, named, level)
  for key in pairs(named) do
    local known = key == "validate"
    for _, param in ipairs(c.params) do known = known or key == param[1] end
    if not known then fail(c, level + 1, "there is no parameter %s", tostring(key)) end
  end
end

-- A parameter's constraint may depend on those before it.
local function check (self, c, param, value, level)
  local constraint = param[2]
  if type(constraint) == "function" then constraint = constraint(self) end
  local bad, i, j, k = constraint:violation(value)
  if bad == nil then return end
  local place = i and " at [" .. table.concat({ i, j, k }, ", ") .. "]" or ""
  fail(c, level + 1, "%s must be %s, got %s%s", param[1], constraint:rule(), show.number(bad), place)
end

-- A parameter that is no number, as it is kept: a tensor, or the default.
local function kept (c, param, value, level)
  if core.is_tensor(value) then return value end
  if value == nil then
    if param.default == nil then fail(c, level + 1, "%s is missing", param[1]) end
    return param.default
  end
  if type(value) ~= "table" or getmetatable(value) ~= nil then
    fail(c, level + 1, "%s must be a number, a table of numbers or a tensor, got %s", param[1], show.value(value))
  end
  local ok, tensor = pcall(core.tensor, value)
  if not ok then fail(c, level + 1, "%s: %s", param[1], (tensor:gsub("^.*tensor: ", ""))) end
  return tensor
end

local function set_batch_shape (self, c, level)
  local tensors = {}
  for _, param in ipairs(c.params) do
    local value = self[param[1]]
    if type(value) ~= "number" then tensors[#tensors + 1] = value end
  end
  if #tensors == 0 then return end
  local shape, why = core.broadcast_shape(table.unpack(tensors))
  if not shape then fail(c, level + 1, "parameters of %s", why) end
  self.batch_shape = shape
end

-- Named parameters as positional ones, and whether to check them.
local function positional (c, named, b)
  if b ~= nil then fail(c, 4, "named parameters come alone, in one table") end
  check_names(c, named, 4)
  local values = {}
  for i, param in ipairs(c.params) do values[i] = named[param[1]] end
  local checking = validation
  if named.validate ~= nil then checking = named.validate end
  return checking, table.unpack(values, 1, 6)
end

-- The constructor, all cases: six parameters are the most that a class has.
-- core.constructor goes ahead of it where all of them are plain numbers; that
-- function stands between this one and the caller, hence level 3.
local function construct (c, v1, v2, v3, v4, v5, v6, v7)
  local params, checking, scalars = c.params, validation, true
  local n = #params
  if is_named(v1) then checking, v1, v2, v3, v4, v5, v6 = positional(c, v1, v2) end
  local self = setmetatable({}, c)
  for i = 1, n do
    local param, value = params[i], v1
    v1, v2, v3, v4, v5, v6, v7 = v2, v3, v4, v5, v6, v7, nil
    if type(value) ~= "number" then value = kept(c, param, value, 3) end
    if type(value) ~= "number" then scalars = false end
    if checking then check(self, c, param, value, 3) end
    self[param[1]] = value
  end
  if v1 ~= nil or v2 ~= nil or v3 ~= nil or v4 ~= nil or v5 ~= nil or v6 ~= nil or v7 ~= nil then
    fail(c, 3, "takes %d parameters, got more", n)
  end
  if not scalars then set_batch_shape(self, c, 3) end
  local init = rawget(c, "init")
  if init then init(self, checking) end
  return self
end


-- Classes --------------------------------------------------------------------

-- Methods straight from the kernels of src/kernel/<file>.c: operands are the
-- parameters, preceded by x where the kernel takes one more.
local function bind_kernels (c, file)
  local kernels = core.kernels()[file]
  if not kernels then fail(c, 2, "there is no file of kernels named %s", file) end
  local params = {}
  for i, param in ipairs(c.params) do params[i] = "self." .. param[1] end
  for _, kernel in ipairs(kernels) do
    local who = c.__name .. ":" .. kernel.name
    local arguments, operands = { "self" }, { table.unpack(params) }
    if kernel.kind == "sampler" then arguments = { "self", "shape", "rng" }
    elseif kernel.n_in == #params + 1 then
      arguments[2] = "x"
      table.insert(operands, 1, "x")
    end
    c[kernel.name] = core.bind(file, kernel.name, who, arguments, operands)
  end
  for _, kernel in ipairs(kernels) do   -- what can be differentiated can be drawn
    if kernel.name == "rsample" then
      c.has_rsample = true
      c.sample = core.bind(file, "rsample", c.__name .. ":sample", { "self", "shape", "rng" }, params)
    end
  end
end

-- Parameters are { name, constraint, default = number }, six at most.
local function check_params (name, params)
  if type(params) ~= "table" or #params > MAX_PARAMS then
    error(string.format("extend: %s: params must be a table of at most %d, got %s", name, MAX_PARAMS,
                        type(params) == "table" and #params or show.value(params)), 3)
  end
  for i, param in ipairs(params) do
    local constraint = type(param) == "table" and param[2]
    if type(param) ~= "table" or type(param[1]) ~= "string"
       or not (type(constraint) == "function" or type(constraint) == "table" and constraint.violation) then
      error(string.format("extend: %s: parameter %d must be { name, constraint, default = number }", name, i), 3)
    end
  end
end

local function class_tostring (c) return "class " .. class.name(c) end

--- A new class with self as parent. `spec` holds class fields: params, support,
-- event_shape, inherit_kl; `kernels` names a file of src/kernel whose kernels
-- become methods; `init(self)` completes a new instance.
function Distribution:extend (name, spec)
  if type(name) ~= "string" or name == "" then
    error("extend: name must be a string, got " .. show.value(name), 2)
  end
  if spec ~= nil and type(spec) ~= "table" then
    error("extend: the description of " .. name .. " must be a table, got " .. show.value(spec), 2)
  end
  if spec and spec.params ~= nil then check_params(name, spec.params) end
  local c = {}
  if spec and spec.kernels then c = core.keep("class " .. name, c) end   -- the same after a second load
  for key, value in pairs(self) do   -- metamethods are fetched raw: copy them
    if type(key) == "string" and key:find("^__") then c[key] = value end
  end
  for key, value in pairs(spec or {}) do c[key] = value end
  c.__name, c.__index, c.super = name, c, self
  c.init = c.init or rawget(self, "init")
  local call = core.constructor(c.params or self.params, construct)
  setmetatable(c, { __index = self, __call = call, __tostring = class_tostring })
  if spec and spec.kernels then bind_kernels(c, spec.kernels) end
  return c
end

setmetatable(Distribution, { __call = core.constructor({}, construct), __tostring = class_tostring })


-- Methods --------------------------------------------------------------------

function Distribution:is_a (c) return class.descends(class.of(self), c) end

function Distribution:__tostring ()
  local parts = {}
  for i, param in ipairs(self.params) do
    parts[i] = param[1] .. "=" .. show.parameter(self[param[1]])
  end
  return class.name(class.of(self)) .. "(" .. table.concat(parts, ", ") .. ")"
end

--- A value that does not depend on every parameter, in the batch shape.
function Distribution:batched (value)
  if self.batch_shape == SCALAR then return value end
  return (core.is_tensor(value) and value or core.tensor(value)):expand(self.batch_shape)
end

--- The same distribution with a larger batch; nothing is copied.
function Distribution:expand (shape)
  if type(shape) == "number" then shape = { shape } end
  if type(shape) ~= "table" then
    error(class.name(class.of(self)) .. ":expand: shape must be an integer or a table of integers, got "
          .. show.value(shape), 2)
  end
  local copy = {}
  for key, value in pairs(self) do copy[key] = value end
  for _, param in ipairs(self.params) do
    local value = self[param[1]]
    local ok, expanded = pcall(core.expand, core.is_tensor(value) and value or core.tensor(value), shape)
    if not ok then fail(class.of(self), 2, "%s: %s", param[1], (expanded:gsub("^.*Tensor:expand: ", ""))) end
    copy[param[1]] = expanded
  end
  copy.batch_shape = { table.unpack(shape) }
  return setmetatable(copy, class.of(self))
end

function Distribution:prob (x) return functions.exp(self:log_prob(x)) end
function Distribution:stddev () return functions.sqrt(self:variance()) end
function Distribution:median () return self:icdf(0.5) end
function Distribution:cross_entropy (q) return self:entropy() + require "perilune.kl".kl_divergence(self, q) end

-- The rest of the family of the cdf, for classes that give no better.
function Distribution:sf (x) return 1 - self:cdf(x) end
function Distribution:log_cdf (x) return functions.log(self:cdf(x)) end
function Distribution:log_sf (x) return functions.log(self:sf(x)) end
function Distribution:isf (q) return self:icdf(1 - q) end

-- What only a class itself can say.
for _, name in ipairs { "log_prob", "cdf", "icdf", "mean", "variance", "mode", "entropy", "sample", "rsample",
                        "enumerate_support" } do
  Distribution[name] = function (self)
    local c = class.name(class.of(self))
    error(string.format("%s has no %s; a subclass may define %s:%s", c, name, c, name), 2)
  end
end

return core.keep("Distribution", Distribution)
