--- What was found of laws, each kept as long as its law is what it was: parameters may be set, and written to.
local core = require "perilune.core"

local kept = {}

-- Adds the fields of a table, and of tables among them, to a list of their states: { holder, key, value, writes }. The
-- law itself is not named there, or nothing of it would ever be collected where tables have no ephemerons.
local function note (fields, holder, list, seen)
  for key, value in next, fields do
    local writes = core.is_tensor(value) and core.writes(value)
    list[#list + 1] = { holder = holder, key = key, value = value, writes = writes }
    if type(value) == "table" and not seen[value] then
      seen[value] = true
      note(value, value, list, seen)
    end
  end
end

local function state_of (d)
  local list = {}
  note(d, nil, list, { [d] = true })
  return list
end

-- Fields that came since are results that the law keeps itself.
local function is_unchanged (d, list)
  for _, field in ipairs(list) do
    local value = rawget(field.holder or d, field.key)
    if not rawequal(value, field.value) or field.writes and core.writes(value) ~= field.writes then return false end
  end
  return true
end

--- A function of laws that returns what find(d, ...) does, found once. Where call() has another result than then, it is
-- found again.
function kept.new (find, call)
  local known = setmetatable({}, { __mode = "k" })
  return function (d, ...)
    local entry, now = known[d], call and call()
    if not (entry and entry.call == now and is_unchanged(d, entry.state)) then
      entry = { call = now, value = find(d, ...) }
      entry.state = state_of(d)
      known[d] = entry
    end
    return entry.value
  end
end

return kept
