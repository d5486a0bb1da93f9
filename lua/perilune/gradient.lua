--- Gradients: parameters, and functions that differentiate functions.
local core   = require "perilune.core"
local errors = require "perilune.errors"
local show   = require "perilune.show"

local raise = errors.raise

local gradient = { param = core.param, no_grad = core.no_grad }

-- A number, tensor or table of them: not a class, an instance or a list of numbers, which is a tensor.
local function is_structure (x)
  local kind = core.table_kind(x)
  return kind == "named" or kind == "data" and type(x[1]) ~= "number"
end

-- Applies fn to every leaf of x, and gives the results in the same structure; `open` has the tables that x is in.
local function map (x, fn, path, open)
  if not is_structure(x) then return fn(x, path) end
  if open[x] then raise("value_and_grad: %s must not contain itself", path or "the first argument") end
  local mapped = {}
  open[x] = true
  for key, value in next, x do
    mapped[key] = map(value, fn, path and path .. "." .. tostring(key) or tostring(key), open)
  end
  open[x] = nil
  return mapped
end

-- The parameters of functions that are being differentiated now.
local active = setmetatable({}, { __mode = "k" })

-- A leaf of the first argument as a parameter.
local function as_param (x, path)
  local is_tensor = core.is_tensor(x)
  if not (type(x) == "number" or is_tensor or core.table_kind(x) == "data") then
    raise("value_and_grad: %s must be a number, a tensor or a table of them, got %s", path or "the first argument",
          show.value(x))
  end
  local is_tracked, is_param = core.tracked(x)
  if is_tracked and (active[x] or not is_param) then
    raise("value_and_grad: %s has a gradient already, and there are no second derivatives; detach() what should have "
          .. "no gradient here", path or "the first argument")
  end
  local param = core.param(is_tensor and x:detach() or x)
  active[param] = true
  return param
end

-- Of a parameter: its gradient, as a number where a number was given.
local function grad_of (param, original)
  local grad = param.grad or core.zeros(param.shape)
  active[param] = nil
  return type(original) == "number" and core.item(grad) or grad
end

local function grads_of (params, original)
  if not is_structure(original) then return grad_of(params, original) end
  local all = {}
  for key in next, original do all[key] = grads_of(params[key], original[key]) end
  return all
end

--@ peri.value_and_grad(f) -> function
-- A function that gives the value of f and its gradient with respect to the first argument: a number, a tensor or a
-- nested table of them, and the gradient has the same form. What f returns after its value comes after the gradient.
--   f  function that returns a number, or a tensor of one element
-- > value_and_grad(function (x) return x ^ 3 end)(2)
-- 8.0  12.0
function gradient.value_and_grad (f, ...)
  errors.no_more("value_and_grad(f)", ...)
  f = errors.check_function("value_and_grad", "f", f)
  return function (x, ...)
    local params = map(x, as_param, nil, {})
    local results = table.pack(core.with_grad(f, params, ...))
    local value = results[1]
    if type(value) ~= "number" and not core.is_tensor(value) then
      raise("value_and_grad: f must return a number or a tensor of one element, got %s", show.value(value))
    end
    if core.tracked(value) then value:backward() end
    local plain = core.is_tensor(value) and core.item(value) or value
    return plain, grads_of(params, x), table.unpack(results, 2, results.n)
  end
end

--@ peri.grad(f) -> function
-- A function that gives the gradient of f with respect to its first argument.
--   f  function that returns a number, or a tensor of one element
-- > grad(function (x) return x ^ 3 end)(2)
-- 12.0
-- > grad(function (p) return (p.a * p.b):sum() end)({ a = { 1, 2 }, b = 3 }).b
-- 3.0
function gradient.grad (f, ...)
  errors.no_more("grad(f)", ...)
  errors.check_function("grad", "f", f)
  local both = gradient.value_and_grad(f)
  return function (...)
    local _, grads = both(...)
    return grads
  end
end

--@ peri.trace(f) -> Trace
-- What f() records, to be replayed without entering Lua: with the present values of parameters and data, and new draws
-- of rsample. Raises for what a replay could not repeat, such as item() of what depends on a parameter.
--   f  function without arguments that returns a tensor of one element
-- > w = param(3)
-- > loss = trace(function () return w * w end)
-- > w:copy(4)
-- > loss(), loss:backward(), item(w.grad)
-- 16.0  16.0  8.0
function gradient.trace (f, ...)
  errors.no_more("trace(f)", ...)
  return core.trace(type(f) == "function" and core.located(f) or f)
end

--@ peri.func(options) -> function
-- A function with a gradient of one's own.
--   options  forward = function (...) that gives a tensor; backward = function (above, result, ...) that gives the
--            gradient with respect to each argument (nil: none), given that of the result
-- > clip = func { forward = function (x) return x end, backward = function (above) return minimum(above, 1) end }
-- > grad(function (x) return 100 * clip(x) end)(3)
-- 1.0
function gradient.func (spec, ...)
  errors.no_more("func { forward =, backward = }", ...)
  if type(spec) == "table" then errors.check_options("func", spec, { "forward", "backward" }) end
  if type(spec) ~= "table" or type(spec.forward) ~= "function" or type(spec.backward) ~= "function" then
    raise("func: takes { forward = function, backward = function }")
  end
  local user_forward, user_backward = core.located(spec.forward), core.located(spec.backward)
  return function (...)
    local arguments, inputs, places = table.pack(...), {}, {}
    local result = core.no_grad(user_forward, ...)
    for i = 1, arguments.n do
      if core.tracked(arguments[i]) then
        inputs[#inputs + 1], places[#places + 1] = arguments[i], i
      end
    end
    if #inputs == 0 then return result end
    result = core.is_tensor(result) and result or core.tensor(result)
    local function backward (above)
      local all = table.pack(core.no_grad(user_backward, above, result, table.unpack(arguments, 1, arguments.n)))
      local needed = {}
      for k, i in ipairs(places) do needed[k] = all[i] end
      return table.unpack(needed, 1, #places)
    end
    return core.record(result, backward, table.unpack(inputs))
  end
end

return gradient
