--- Statements that change what others rely on: the collector, threads, elements, classes, the stack.
local surface = require "spec.fuzz.surface"

local function form (...)
  local forms = { ... }
  return function (source) return "try(function () " .. source.random:pick(forms) .. " end)" end
end

local collect = form("collectgarbage()", "collectgarbage 'step'", "collectgarbage('generational')",
                     "collectgarbage('incremental', 120, 400, 13)", "collectgarbage('incremental')",
                     "collectgarbage 'stop'", "collectgarbage 'restart'")

local settings = form("peri.set_threads(2)", "peri.set_threads(1)", "relax()",
                      "peri.seed(7)", "peri.kl_fallback(false)", "peri.kl_fallback(true)")

-- Writes into a tensor that others may have been computed from.
local function write (source)
  local ref = source:ref "tensor"
  if not ref then return nil end
  local forms = { "%s[%s] = %s", "%s:copy(%s, %s)", "%s.grad = %s, %s", "%s:narrow(1, 1, 1):copy(%s, %s)",
                  "%s:select(1, %s):copy(%s)" }
  return string.format("try(function () " .. source.random:pick(forms) .. " end)", ref, source:argument "integer",
                       source:argument "operand")
end

local function forget (source)
  return source.last > 0 and string.format("try(function () v[%d] = nil end)", source.random:integer(1, source.last))
end

-- Garbage whose finalizer computes with what it held, and hands it out again.
local function finalizer (source)
  local held = source:ref(source.random:pick { "tensor", "distribution", "posed model", "running fit", "trace" })
  if not held then return nil end
  local body = source.random:pick {
    "v[%d] = x", "v[%d] = peri.exp(x)", "x:backward() v[%d] = x.grad", "x:copy(0) v[%d] = x",
    "collectgarbage() v[%d] = peri.param(peri.zeros(600)):exp()", "v[%d] = x:sum() + x", "v[%d] = x:sample(3)",
    "peri.set_threads(2) v[%d] = x", "v[%d] = peri.trace(function () return total(peri.mul(x, x)) end)",
    "v[%d] = peri.model(function (m) m.a = peri.Normal(total(x), 1) end) {}:map()", "error(own_error, 0) v[%d] = x",
    "coroutine.yield() v[%d] = x",
  }
  local drop = source.random:once_in(2) and " " .. held .. " = nil" or ""
  return string.format("try(function () finalizer(%s, function (x) " .. body .. " end)%s collectgarbage() end)", held,
                       source:next(), drop)
end

local function inside_coroutine (source)
  local calls = require "spec.fuzz.calls"
  local expression = source.random:weighted(calls)[2](source)
  local form_of = "try(function () inside_coroutine(function () coroutine.yield() v[%d] = %s end) end)"
  return expression and form_of:format(source:next(), expression)
end

-- A law of one's own, whose methods are callbacks.
local function own_law (source)
  local form_of = "set(%d, function () local C = peri.Distribution:extend('Own', { support = %s, "
               .. "params = { { 'loc', %s } } }) local f, g = %s, %s function C.log_prob (_, x) return f(x) end "
               .. "function C.sample (_, shape, rng) return g(shape, rng) end return C(%s) end)"
  return form_of:format(source:next(), source:constraint(), source:constraint(), source:callback(), source:callback(),
                        source:argument "number")
end

-- Metatables of our objects on what is none.
local function graft (source)
  local like = source:ref(source.random:pick { "tensor", "rng", "trace" }) or "peri.zeros(2)"
  local use = source.random:pick { "peri.exp(odd.light)", "odd.light:sum()", "odd.light:normal(2)",
                                   "odd.light:backward()",
                                   "peri.cat { odd.light }", "peri.Normal(odd.light, 1)", "tostring(odd.light)" }
  return string.format("try(function () graft_light(%s) %s end)", like, use)
end

local FIELDS = { "params", "operands", "support", "log_prob", "__index", "batch_shape", "event_shape", "super",
                 "__name", "init", "construct", "derived", "sample", "icdf", "has_rsample", "inherit_kl", "__tostring" }

-- A field of a class, an instance or a transform replaced.
local function spoil (source)
  local target = source.random:once_in(2) and source:ref "distribution" or source:class()
  if source.random:once_in(4) then target = "peri.transforms." .. source.random:pick(surface.transforms) end
  return string.format("try(function () spoil(%s, %q, %s) end)", target, source.random:pick(FIELDS), source:anything())
end

local function extend (source)
  local name = source.random:pick(surface.classes)
  return string.format("set(%d, function () local C = peri.%s:extend('My', { inherit_kl = %s }) "
                       .. "peri.register_kl(C, C, %s) return setmetatable(%s, C) end)", source:next(), name,
                       source:boolean(), source:callback(), source:of_class(name))
end

return {
  { 4, collect }, { 3, settings }, { 5, write }, { 2, forget }, { 4, finalizer }, { 3, inside_coroutine }, { 1, spoil },
  { 2, extend }, { 2, graft }, { 1, own_law },
}
