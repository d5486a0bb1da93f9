--- Recurrences: a step that is recorded once and run for every row.
local core   = require "perilune.core"
local errors = require "perilune.errors"
local show   = require "perilune.show"

local raise = errors.raise

-- A list of numbers, or of such lists, is a tensor: no deeper than one may have dimensions.
local function is_list (x, dimensions)
  if dimensions == 0 or core.table_kind(x) ~= "data" then return false end
  for i = 1, rawlen(x) do
    local element = rawget(x, i)
    if type(element) ~= "number" and not is_list(element, dimensions - 1) then return false end
  end
  return true
end

local function is_value (x) return type(x) == "number" or core.is_tensor(x) or is_list(x, 16) end

local function is_table (x)
  local kind = core.table_kind(x)
  return kind == "named" or kind == "data"
end

local function path_of (path, key)
  return type(key) == "string" and path .. "." .. key or path .. "[" .. tostring(key) .. "]"
end

-- Appends all values in x to a list, and their names to another. The form of x: the place of its value in the list,
-- or a table of forms.
local function flatten (x, path, list, names, open)
  if is_value(x) then
    list[#list + 1], names[#names + 1] = type(x) == "table" and core.tensor(x) or x, path
    return #list
  end
  if not is_table(x) then
    raise("scan: %s must be a number, a tensor or a table of them, got %s", path, show.value(x))
  end
  if open[x] then raise("scan: %s must not contain itself", path) end
  local form = {}
  open[x] = true
  for key, value in next, x do form[key] = flatten(value, path_of(path, key), list, names, open) end
  open[x] = nil
  return form
end

-- Values in the form that they came in; the first is list[1 + offset].
local function build (form, list, offset)
  if type(form) == "number" then return list[form + offset] end
  local built = {}
  for key, inner in pairs(form) do built[key] = build(inner, list, offset) end
  return built
end

-- Puts the values of x, which must have this form, into their places.
local function fill (form, x, path, list)
  if type(form) == "number" then
    if not is_value(x) then
      raise("scan: %s must be a number or a tensor, f returned %s%s", path, show.value(x),
            type(x) == "table" and "; peri.stack makes a tensor of a list" or "")
    end
    list[form] = x
    return
  end
  if not is_table(x) then raise("scan: %s must be a table as it was, f returned %s", path, show.value(x)) end
  for key, inner in pairs(form) do
    if x[key] == nil then raise("scan: %s is not in what f returned", path_of(path, key)) end
    fill(inner, x[key], path_of(path, key), list)
  end
  for key in next, x do
    if form[key] == nil then raise("scan: f returned %s, which the state has not", path_of(path, key)) end
  end
end

-- How many rows all of these have.
local function count_rows (list, names)
  local n
  for k, x in ipairs(list) do
    local shape = core.is_tensor(x) and x.shape or {}
    if #shape == 0 then raise("scan: %s must have rows, got the number %s", names[k], show.value(x)) end
    n = n or shape[1]
    if shape[1] ~= n then
      raise("scan: %s has %d rows, but %s has %d", names[1], n, names[k], shape[1])
    end
  end
  if not n then raise("scan: xs must have tensors in it") end
  if n == 0 then raise("scan: %s must have at least one row", names[1]) end
  return n
end

-- xs as a list of tensors, with its form.
local function read_xs (xs)
  local list, names = {}, {}
  if type(xs) == "number" then
    local n = math.tointeger(xs)
    if not n or n < 1 then raise("scan: xs must be tensors, or a number of steps from 1 on, got %s", show.value(xs)) end
    return 1, { core.arange(1, n + 1) }, n
  end
  local form = flatten(xs, "xs", list, names, {})
  return form, list, count_rows(list, names)
end

local scan = {}

--@ peri.scan(f, init, xs) -> Tensor or table, number or Tensor or table
-- A recurrence, run in C: state, output = f(state, row of xs) from init on. Gives the outputs of all steps (the
-- states, where f returns no output), along a first dimension, and the last state. f is called once and recorded.
--   f     function (state, x) that returns the next state, in the form of init, and an output or none
--   init  number, tensor or (nested) table of them: the first state
--   xs    tensor, of which each step gets a row; a table of tensors with as many rows; or an integer n: n steps, x
--         being 1 to n
-- > all, last = scan(function (s, x) return 0.5 * s + x end, 0, { 1, 1, 1 })
-- > all
-- Tensor(3)
--      1   1.5  1.75
function scan.scan (f, init, xs, ...)
  errors.no_more("scan(f, init, xs)", ...)
  f = errors.check_function("scan", "f", f)
  local states, names = {}, {}
  local state_form = flatten(init, "init", states, names, {})
  if #states == 0 then raise("scan: init must have a number or a tensor in it") end
  for k, name in ipairs(names) do names[k] = name:gsub("^init", "state") end
  local x_form, rows, n = read_xs(xs)
  local n_states, out_form = #states, nil

  local function step (leaves)
    local made = {}
    local returned = table.pack(f(build(state_form, leaves, 0), build(x_form, leaves, n_states)))
    local state, output = returned[1], returned[2]
    if state == nil then raise("scan: f must return the new state, got nil") end
    if returned.n > 2 then raise("scan: f must return a state, and at most one output, got %d values", returned.n) end
    fill(state_form, state, "state", made)
    if output ~= nil then
      local outputs = {}
      out_form = flatten(output, "output", outputs, {}, {})
      table.move(outputs, 1, #outputs, n_states + 1, made)
    end
    return made
  end

  local stacked, last = core.scan(step, n, states, rows, names)
  return build(out_form or state_form, stacked, 0), build(state_form, last, 0)
end

return scan
