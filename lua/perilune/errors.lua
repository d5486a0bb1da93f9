--- Errors: what is refused, and how it is said.
--
-- A message has the form "who: argument must be rule, got value", and begins with the line of whoever called the
-- library, from however deep within it: no caller counts levels.
local core = require "perilune.core"

core.library "errors"   -- this file is one of the library's, and so is what lies beside it

local errors = {}

--- Raises a message, made as string.format makes it.
local function raise (...) core.raise(string.format(...)) end

errors.raise = raise


-- Names that are not known ---------------------------------------------------------

--- Raises that there is no such "parameter" or "option", names the nearest, and lists all.
function errors.unknown (...) raise("%s", require "perilune.names".unknown(...)) end

--- Refuses options with names other than these. What is no table, or an object, holds none.
function errors.check_options (who, given, names)
  if given == nil then return end
  local kind = core.table_kind(given)
  if kind == nil or kind == "object" then raise("%s: options must be a table, got %s", who, core.describe(given)) end
  for name in next, given do
    local known = false
    for i = 1, #names do known = known or name == names[i] end
    if not known then errors.unknown(who, "option", name, names) end
  end
end

--- A function of a user's, or an object to be called, as the library calls it: its errors have lines.
function errors.check_function (who, name, f)
  local meta = getmetatable(f)
  if type(f) ~= "function" and not (type(meta) == "table" and meta.__call) then
    raise("%s: %s must be a function, got %s", who, name, core.describe(f))
  end
  return core.located(f)
end

--- check_arguments(who, names, ...): refuses more arguments than there are names, and nil for one: a default is for
-- what is not there.
errors.check_arguments = core.check_arguments

--- Refuses arguments beyond those that `call` names, as in errors.no_more("grad(f)", ...). One more nil is nothing.
function errors.no_more (call, ...)
  for i = 1, select("#", ...) do
    local x = select(i, ...)
    if x ~= nil then raise("%s takes no more arguments, got %s", call, core.describe(x)) end
  end
end

--- Makes the methods of these names count their arguments, those that a table has ("step result").
function errors.count_arguments (who, methods, names)
  for name in names:gmatch("%S+") do
    if methods[name] then methods[name] = core.counted(who, name, methods[name]) end
  end
end

--- Makes a table a module: a field that is not there is an error which names the nearest. `find(name)` may know
-- more than the table holds, and `add_names(list)` list it. (Names that begin with _ are probed for by others: nil.)
-- `pairs` gives all of it, each name loaded when its turn comes; `__names` of the metatable lists without loading.
function errors.module (who, module, find, add_names)
  local function all_names () return require "perilune.names".of_module(module, add_names) end
  return setmetatable(module, {
    __names = all_names,
    __name  = who,
    __tostring = function () return require "perilune.readable".names(who, all_names()) end,
    __pairs = function () return require "perilune.names".each(module, all_names()) end,
    __index = function (_, name)
      if type(name) ~= "string" or name:find "^_" then return nil end
      local value = find and find(name)
      if value ~= nil then return value end
      local near = core.nearest(name, all_names())
      raise("%s has no %s%s", who, name, near and "; did you mean " .. near .. "?" or "")
    end,
  })
end

return errors
