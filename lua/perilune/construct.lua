--- How a class is called, and what is derived of alternatives. The rules of construction are in construction.lua,
-- which is loaded when something is constructed that is not plain.
--
-- A class's `params` are { name, constraint, default = number }, in the order of
-- positional arguments. A constraint may be a function of the instance, for one
-- that depends on earlier parameters. A parameter must be finite, unless `infinite` says that
-- all methods give a limit law: true, or "above" or "below" for one of the infinities. A parameter
-- with `gives` and those it gives are alternatives, of which exactly one is passed:
-- gives[other](value) is what it makes of another one. `operands`, the fields that kernels work
-- on, are the params unless told; an operand that was not passed is derived at once, any other
-- alternative on demand. A parameter with `event` = n is a row or a matrix: its last n dimensions
-- are no batch. A class with `one_sided` completes instances to which probs were passed
-- (one_sided.lua).
local core = require "perilune.core"
local lazy = require "perilune.lazy"

local construction = lazy "construction"

local construct = {}

-- A parameter and its alternatives, in the order of the class; their names.
local function alternatives (params, param)
  local group, names = {}, {}
  for _, other in ipairs(params) do
    if other == param or param.gives[other[1]] then
      group[#group + 1], names[#names + 1] = other, other[1]
    end
  end
  return { group = group, names = names }
end

local groups_of = setmetatable({}, { __mode = "k" })

--- All groups of alternatives among params, found once.
function construct.groups (params)
  local found = groups_of[params]
  if found then return found end
  found = {}
  for _, param in ipairs(params) do
    local one = param.gives and alternatives(params, param)
    if one and one.group[1] == param then found[#found + 1] = one end
  end
  groups_of[params] = found
  return found
end

-- Does an alternative give an operand, which is derived when it is passed?
local function gives_operand (param, operands)
  for _, operand in ipairs(operands) do
    if param.gives[operand] then return true end
  end
  return false
end

-- The set of alternatives that are left out when nothing is derived; nil unless that leaves
-- just one of each group.
local function absent (params, operands)
  local set = {}
  for _, one in ipairs(construct.groups(params)) do
    local left = 0
    for _, param in ipairs(one.group) do
      if not param.gives or param.default ~= nil then return nil end
      set[param] = gives_operand(param, operands)
      if not set[param] then left = left + 1 end
    end
    if left ~= 1 then return nil end
  end
  return set
end

--- The value of an alternative that was not passed, or nil.
function construct.derive (self, c, name)
  for _, param in ipairs(c.params) do
    local derive = param.gives and param.gives[name]
    local value = derive and rawget(self, param[1])
    if value ~= nil then return derive(value) end
  end
end

-- Every case of a constructor.
local function full (c, given, v1, v2, v3, v4, v5, v6)
  return construction.full(c, given, v1, v2, v3, v4, v5, v6)
end

--- A function of a class and parameters that makes an instance, plain ones in C; the rest is as core.constructor
-- takes it.
function construct.by_params (params, ...) return core.constructor(params, full, ...) end

--- What a class does when it is called.
function construct.constructor (c)
  if rawget(c, "__newindex") ~= nil then return construct.by_params(c.params) end
  return construct.by_params(c.params, absent(c.params, c.operands), c, rawget(c, "init") ~= nil)
end

return core.keep("construct", construct)
