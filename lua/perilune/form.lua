--- Forms of saved values: functions of a value that say whether it is of this form. Whoever restores something looks at
-- all of it before any of it is used.
local core = require "perilune.core"

local form = {}

function form.any () return true end
function form.number (x) return type(x) == "number" end
function form.positive (x) return type(x) == "number" and x > 0 and x < math.huge end
function form.string (x) return type(x) == "string" end
function form.boolean (x) return type(x) == "boolean" end

--- The state of a generator.
function form.rng (x) return type(x) == "string" and core.rng(0):restore(x) == true end

--- An integer from `low` to `high`, or to any.
function form.integer (low, high)
  return function (x) return math.type(x) == "integer" and x >= low and (not high or x <= high) end
end

--- One of these values.
function form.one_of (...)
  local values = {}
  for _, value in ipairs { ... } do values[value] = true end
  return function (x) return x ~= nil and x == x and values[x] == true end
end

function form.maybe (of) return function (x) return x == nil or of(x) end end

function form.either (a, b) return function (x) return a(x) or b(x) end end

--- A tensor of this shape. A dimension that is false is any.
function form.tensor (...)
  local wanted = { ... }
  return function (x)
    local shape = core.is_tensor(x) and core.shape(x)
    if not shape or #shape ~= #wanted then return false end
    for d, n in ipairs(wanted) do
      if n and shape[d] ~= n then return false end
    end
    return true
  end
end

--- A tensor of the shape that this one has.
function form.like (t) return form.tensor(table.unpack(core.shape(t))) end

--- A list of at most so many (any number, unless told) of a form.
function form.list (of, most)
  return function (x)
    if type(x) ~= "table" then return false end
    local n = 0
    for _ in next, x do n = n + 1 end
    for i = 1, n do
      if x[i] == nil or not of(x[i]) then return false end
    end
    return not most or n <= most
  end
end

--- A list of such forms, one for each of these.
function form.each (list, of)
  local forms = {}
  for i, one in ipairs(list) do forms[i] = of(one) end
  return form.fields(forms)
end

--- A table from names, or other keys, to values of a form.
function form.map (of)
  return function (x)
    if type(x) ~= "table" then return false end
    for _, value in next, x do
      if not of(value) then return false end
    end
    return true
  end
end

--- A table of these fields and no others.
function form.fields (forms)
  return function (x)
    if type(x) ~= "table" then return false end
    for key in next, x do
      if not forms[key] then return false end
    end
    for key, of in pairs(forms) do
      if not of(x[key]) then return false end
    end
    return true
  end
end

return form
