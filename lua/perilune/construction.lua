--- Construction: arguments read, checked and kept as the fields of an instance (construct.lua says of which).
local class       = require "perilune.class"
local constraints = require "perilune.constraints"
local construct   = require "perilune.construct"
local core        = require "perilune.core"
local errors      = require "perilune.errors"
local show        = require "perilune.show"

local raise = errors.raise

local construction = {}

local MAX_PARAMS = 6

--@ peri.validate(on) -> nothing
-- Are parameters checked when distributions are made? They are at first. Unchecked ones may be NaN, and so are
-- results. Normal { loc = 0, scale = -1, validate = false } leaves out one check.
--   on  true or false
-- > validate(false)
-- > d = Normal(0, -1)
-- > validate(true)
-- > d:mean()
-- 0
function construction.validate (on, ...)
  errors.no_more("validate(on)", ...)
  if type(on) ~= "boolean" then raise("validate: on must be true or false, got %s", show.value(on)) end
  core.validate(on)
end

--- unchecked(fn, ...): fn(...), with parameters unchecked meanwhile: what it computes from bad ones is NaN, or
-- infinite.
construction.unchecked = core.unchecked

-- One table with string keys holds named parameters; an array is data.
local function is_named (x) return type(x) == "table" and core.table_kind(x) == "named" end

local function fail (c, ...) raise("%s: %s", class.name(c), string.format(...)) end

--- Raises an error of a class that makes its instances itself.
construction.fail = fail

local function check_names (c, named, names)
  for key in next, named do
    local known = false
    for _, name in ipairs(names) do known = known or key == name end
    if not known then errors.unknown(class.name(c), "parameter", key, names) end
  end
end

-- What a parameter must be beside its constraint, by its `infinite`.
local BOUNDS = {
  none  = constraints.finite,
  above = constraints.greater_than(-math.huge),
  below = constraints.less_than(math.huge),
}

local function check (self, c, param, value)
  local constraint = param[2]
  if type(constraint) == "function" then
    constraint = constraint(self)
    if not constraints.is_constraint(constraint) then
      fail(c, "the function that gives the constraint of %s must return one, got %s", param[1], show.value(constraint))
    end
  end
  local bad, i, j, k = constraint:violation(value)
  if bad == nil then
    if type(value) == "number" and value - value == 0 then return end   -- finite
    constraint = BOUNDS[param.infinite or "none"]
    if constraint then bad, i, j, k = constraint:violation(value) end
    if bad == nil then return end
  end
  local place = i and " at [" .. table.concat({ i, j, k }, ", ") .. "]" or ""
  fail(c, "%s must be %s, got %s%s", param[1], constraint:rule(),
       type(bad) == "number" and show.number(bad) or bad, place)
end

-- A parameter that is no number, as it is kept: a tensor, or the default.
local function kept (c, param, value)
  if core.is_tensor(value) then return value end
  if value == nil then
    if param.default == nil and not param.gives then fail(c, "%s is missing", param[1]) end
    return param.default
  end
  return core.operand(value, class.name(c), param[1])
end

-- Refuses a parameter with fewer dimensions than its event.
local function check_event (c, param, value)
  local rank = core.is_tensor(value) and core.rank(value) or 0
  if rank < param.event then
    fail(c, "%s must have at least %d dimension%s, got %s", param[1], param.event,
         param.event == 1 and "" or "s", show.value(value))
  end
  if core.numel(value) == 0 then fail(c, "%s must not be empty, got %s", param[1], show.value(value)) end
end

--- A view of a parameter without its event: one element of each.
local function batch_of (value, event)
  for _ = 1, event or 0 do value = core.select(value, -1, 1) end
  return value
end

-- The one of a group that was passed.
local function passed_of (self, c, group, names)
  local passed = nil
  for i = 1, #group do
    local param = group[i]
    if rawget(self, param[1]) ~= nil then
      if passed then fail(c, "%s and %s exclude each other", passed[1], param[1]) end
      passed = param
    end
  end
  if not passed then fail(c, "%s is missing", table.concat(names, " or ")) end
  return passed
end

-- Exactly one alternative of each group was passed; what kernels need of the others follows.
local function settle_alternatives (self, c)
  local found, operands = construct.groups(c.params), c.operands
  for i = 1, #found do
    local passed = passed_of(self, c, found[i].group, found[i].names)
    for k = 1, #operands do
      local derive = passed.gives[operands[k]]
      if derive then self[operands[k]] = derive(self[passed[1]]) end
    end
    if c.one_sided and passed[1] == "probs" and core.tracked(self.probs) then
      require "perilune.one_sided".complete(self, c, passed)
    end
  end
end

local function set_batch_shape (self, c)
  local params, tensors = c.params, {}
  for i = 1, #params do
    local value = rawget(self, params[i][1])
    if core.is_tensor(value) then tensors[#tensors + 1] = batch_of(value, params[i].event) end
  end
  local shape, why = core.broadcast_shape(table.unpack(tensors))
  if not shape then fail(c, "parameters of %s", why) end
  self.batch_shape = shape
end

local function check_alone (c, ...)
  for i = 1, select("#", ...) do
    if (select(i, ...)) ~= nil then fail(c, "named parameters come alone, in one table") end
  end
end

-- Named parameters as positional ones, and whether to check them.
local function positional (c, named, ...)
  check_alone(c, ...)
  local values, names = {}, {}
  for i, param in ipairs(c.params) do values[i], names[i] = named[param[1]], param[1] end
  names[#names + 1] = "validate"
  check_names(c, named, names)
  local checking = core.validates()
  if named.validate ~= nil then checking = named.validate end
  return checking, table.unpack(values, 1, MAX_PARAMS)
end

-- A default is for a parameter that is not there; one that is nil was meant to be something.
local function refuse_nil (c, name, i) fail(c, "%s is nil (argument %d)", name, i) end

local function refuse_count (c, n, given) fail(c, "takes %d parameter%s, got %d", n, n == 1 and "" or "s", given) end

--- The arguments of a class that makes its instances itself, in the order of their names: from their places, or from
-- one table.
function construction.arguments (c, names, ...)
  local given, first = select("#", ...), ...
  if is_named(first) then
    check_alone(c, select(2, ...))
    check_names(c, first, names)
    local values = {}
    for i, name in ipairs(names) do values[i] = first[name] end
    return table.unpack(values, 1, #names)
  end
  while given > #names and (select(given, ...)) == nil do given = given - 1 end
  if given > #names then refuse_count(c, #names, given) end
  for i = 1, given do
    if (select(i, ...)) == nil then refuse_nil(c, names[i], i) end
  end
  return ...
end

--- The constructor, all cases: `given` parameters by position. What core.constructor makes goes ahead of it: it puts
-- named parameters in their places, and needs no help where all are plain numbers and
-- tensors, and operands.
function construction.full (c, given, v1, v2, v3, v4, v5, v6)
  local params, checking, scalars = c.params, core.validates(), true
  local n = #params
  if is_named(v1) then
    checking, v1, v2, v3, v4, v5, v6 = positional(c, v1, v2, v3, v4, v5, v6)
    given = 0
  end
  if given > n then refuse_count(c, n, given) end
  local self = setmetatable({}, c)
  for i = 1, n do
    local param, value = params[i], v1
    v1, v2, v3, v4, v5 = v2, v3, v4, v5, v6
    if value == nil and i <= given then refuse_nil(c, param[1], i) end
    if type(value) ~= "number" then
      value = kept(c, param, value)
      scalars = scalars and (value == nil or type(value) == "number")
    end
    if value ~= nil then
      if param.event then check_event(c, param, value) end
      if checking then check(self, c, param, value) end
      self[param[1]] = value
    end
  end
  settle_alternatives(self, c)
  if not scalars then set_batch_shape(self, c) end
  local init = rawget(c, "init")
  if init then init(self, checking) end
  return self
end

--- A description of parameters as a list of our own; refuses one that construction could not use.
function construction.checked_params (name, params)
  if type(params) ~= "table" or rawlen(params) > MAX_PARAMS then
    raise("extend: %s: params must be a table of at most %d, got %s", name, MAX_PARAMS,
          type(params) == "table" and rawlen(params) or show.value(params))
  end
  params = core.check_list("extend", "params", params)
  for i, param in ipairs(params) do
    local constraint = type(param) == "table" and param[2]
    if type(param) ~= "table" or type(param[1]) ~= "string"
       or not (type(constraint) == "function" or type(constraint) == "table" and constraint.violation)
       or class.is_class(constraint) then
      raise("extend: %s: parameter %d must be { name, constraint, default = number }", name, i)
    end
  end
  return params
end

--- What a class says of its draws, if it says anything.
function construction.check_support (name, support)
  if support and not require "perilune.constraint".is_constraint(support) then
    raise("extend: %s: support must be a constraint, as peri.constraints.real is, got %s", name, show.value(support))
  end
end

return core.keep("construction", construction)
