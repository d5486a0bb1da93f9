--- Parameters to optimise: collected from tables, and their gradients kept within bounds.
local core      = require "perilune.core"
local errors    = require "perilune.errors"
local functions = require "perilune.functions"
local show      = require "perilune.show"

local raise = errors.raise

local params = {}

-- Numbers before strings, each in order: the same order for the same table, which is read raw.
local function sorted_keys (t)
  local keys = {}
  for key in next, t do keys[#keys + 1] = key end
  table.sort(keys, function (a, b)
    if type(a) == type(b) and (type(a) == "number" or type(a) == "string") then return a < b end
    return type(a) == "number" or type(b) ~= "number" and tostring(a) < tostring(b)
  end)
  return keys
end

local function is_parameter (x)
  local _, is_leaf = core.tracked(x)
  return is_leaf
end

local function collect (who, x, path, found)
  if core.is_tensor(x) or type(x) ~= "table" then
    if not is_parameter(x) then
      raise("%s: %s must be a parameter (see peri.param), got %s", who, path, show.value(x))
    end
    if not found.seen[x] then
      found.seen[x] = true
      found[#found + 1] = { param = x, path = path, size = core.numel(x), value = core.bare(x):reshape(-1),
                            is_flat = #core.shape(x) == 1 }
    end
    return
  end
  if found.open[x] then raise("%s: %s must not contain itself", who, path) end
  found.open[x] = true
  for _, key in ipairs(sorted_keys(x)) do
    local place = type(key) == "number" and "[" .. key .. "]" or "." .. tostring(key)
    collect(who, x[key], path .. place, found)
  end
  found.open[x] = nil
end

--- The parameters in x, a parameter or a nested table of them: { param =, path =, size =, value =, is_flat = }, where
-- value is a flat view of the elements. Each appears once, in an order given by the keys alone. And a list of
-- the parameters themselves.
function params.list (who, x)
  local found = { seen = {}, open = {} }   -- parameters met; tables that one is inside of
  collect(who, x, "params", found)
  if #found == 0 then raise("%s: params must hold at least one parameter, got none", who) end
  found.seen, found.open = nil, nil
  local parameters = {}
  for i, entry in ipairs(found) do parameters[i] = entry.param end
  return found, parameters
end

--- The gradient of an entry as a flat tensor, or nil.
function params.gradient (entry)
  local grad = core.grad(entry.param)
  if grad == nil or entry.is_flat then return grad end
  return core.is_tensor(grad) and grad:reshape(-1) or core.tensor { grad }
end

local nonfinite = core.bind_predicate("op/compare", "isfinite", "isfinite", { "x" }, { "x" })

--- Raises if a gradient in the list is not finite, and says where.
function params.check_finite (who, list)
  for _, entry in ipairs(list) do
    if core.finite_grad(entry.param) == false then
      local found = { nonfinite(core.grad(entry.param)) }
      local place = #found > 1 and " at [" .. table.concat(found, ", ", 2) .. "]" or ""
      raise("%s: the gradient of %s must be finite, got %s%s", who, entry.path, show.number(found[1]), place)
    end
  end
end

local function check_positive (who, name, x)
  if type(x) ~= "number" or x ~= x or x <= 0 then raise("%s: %s must be positive, got %s", who, name, show.value(x)) end
end

-- Gradients that somebody holds change where they are.
local function set_gradient (param, value)
  local grad = core.grad(param)
  if core.is_tensor(grad) then grad:copy(value) else core.newindex(param, "grad", value) end
end

-- The gradients that there are in a list, by entry, as flat tensors; and the largest of all their elements, or nan.
local function gradients_of (list)
  local grads, largest = {}, 0.0   -- no number is larger than nan
  for _, entry in ipairs(list) do
    local grad = params.gradient(entry)
    if grad and entry.size > 0 then
      grads[entry] = grad
      local most = functions.abs(grad):max()
      if most ~= most or most > largest then largest = most end
    end
  end
  return grads, largest
end

local function power (x, p)
  if p == 1 then return x end
  return p == 2 and functions.square(x) or x ^ p
end

-- The p-norm of all gradients in units of the largest element: powers of large numbers overflow.
local function relative_norm (list, grads, largest, p)
  if p == math.huge or largest - largest ~= 0 then return 1 end
  local total = 0
  for _, entry in ipairs(list) do
    if grads[entry] then total = total + power(functions.abs(grads[entry] / largest), p):sum() end
  end
  return total ^ (1 / p)
end

-- Does a gradient that is not finite raise?
local function raises (who, options)
  errors.check_options(who, options, { "error_if_nonfinite" })
  local value = options and options.error_if_nonfinite
  if value ~= nil and type(value) ~= "boolean" then
    raise("%s: error_if_nonfinite must be true or false, got %s", who, show.value(value))
  end
  return value ~= false
end

--@ peri.optim.clip_grad_norm(params, max, p, options) -> number
-- Scales all gradients by one factor so that the p-norm of all together is at most max; returns the norm that they had.
-- One that is not finite raises; if that is turned off, inf makes itself nan and all others 0, and nan makes all nan.
--   params   parameter, or a (nested) table of parameters
--   max      positive number
--   p        positive number, math.huge for the largest element; 2 unless told
--   options  error_if_nonfinite = false as torch's default does (true)
-- > w = param { 0, 0 }
-- > w.grad = tensor { 3, 4 }
-- > optim.clip_grad_norm(w, 1), w.grad[2]
-- 5.0  0.8
function params.clip_grad_norm (x, max, p, options, ...)
  local who = "clip_grad_norm"
  errors.no_more("clip_grad_norm(params, max, p, options)", ...)
  local list = params.list(who, x)
  check_positive(who, "max", max)
  if p == nil then p = 2 end
  check_positive(who, "p", p)
  if raises(who, options) then params.check_finite(who, list) end
  local grads, largest = gradients_of(list)
  if largest == 0 then return 0.0 end
  local relative = relative_norm(list, grads, largest, p)
  local norm = largest * relative
  if norm ~= norm or norm > max then
    local scale = max / relative
    for entry in pairs(grads) do set_gradient(entry.param, core.grad(entry.param) / largest * scale) end
  end
  return norm
end

--@ peri.optim.clip_grad_value(params, max) -> nothing
-- Moves every element of every gradient into [-max, max]; nan stays.
--   params  parameter, or a (nested) table of parameters
--   max     positive number
-- > w = param { 0, 0 }
-- > w.grad = tensor { 3, -0.5 }
-- > optim.clip_grad_value(w, 1)
-- > w.grad
-- Tensor(2)
--      1  -0.5
function params.clip_grad_value (x, max, ...)
  errors.no_more("clip_grad_value(params, max)", ...)
  local list = params.list("clip_grad_value", x)
  check_positive("clip_grad_value", "max", max)
  for _, entry in ipairs(list) do
    local grad = core.grad(entry.param)
    if grad then set_gradient(entry.param, functions.maximum(functions.minimum(grad, max), -max)) end
  end
end

return params
