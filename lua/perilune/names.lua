--- Lists of names: what modules and tensors answer to, and what is said of a name that is not known.
local core = require "perilune.core"

local names = {}

--- All names of a module in alphabetical order, those that `add_names` knows too.
function names.of_module (module, add_names)
  local listed, list, seen = {}, {}, {}
  if add_names then add_names(listed) end
  for known in next, module do listed[#listed + 1] = known end
  for _, name in ipairs(listed) do
    if not seen[name] then list[#list + 1], seen[name] = name, true end
  end
  table.sort(list)
  return list
end

--- For `pairs`: name and field, each loaded when its turn comes.
function names.each (module, list)
  local at = 0
  return function ()
    at = at + 1
    local name = list[at]
    if name ~= nil then return name, module[name] end
  end
end

--- The keys of some tables.
function names.of_tables (...)
  local list = {}
  for _, t in ipairs { ... } do
    for name in next, t do list[#list + 1] = name end
  end
  return list
end

--- For `pairs`: what an object answers to these names.
function names.answers (object, list)
  local answers = {}
  for _, name in ipairs(list) do answers[name] = object[name] end
  return next, answers, nil
end

--- "Normal: there is no parameter sclae; did you mean scale? There are loc, scale"
function names.unknown (who, what, name, known)
  local near = core.nearest(tostring(name), known)
  local hint = near and "; did you mean " .. near .. "? There are " or "; there are "
  known = table.move(known, 1, #known, 1, {})
  table.sort(known)
  local all = #known > 0 and table.concat(known, ", ") or "none"
  return string.format("%s: there is no %s %s%s%s", who, what, tostring(name), hint, all)
end

return names
