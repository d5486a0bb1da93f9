--- The world in which a case runs: what the text of a case may name, and the watch over every call.
--
--   peri                  the library
--   v[1], v[2], ...       values made so far
--   set(k, fn)            v[k] = fn(), watched
--   try(fn)               fn(), watched
--   law.name(...)         see laws.lua
--   odd.name              values of wrong types
--   finalizer(x, fn)      garbage that holds x, and calls fn(x) when it is collected
--   spoil(t, key, value)  t[key] = value until the case ends: a class table changed in use
--   relax()               parameters are no longer checked, and distributions owe nothing
--   own_error             an error that is the case's own
--   total(x)              a single number out of anything: the sum of a tensor
--   changed(text, n)      a text of which byte n, counted round and round, is another
--   graft(name)           something that has the metatable of an object of ours, and is none
--   graft_light(x)        odd.light gets the metatable of x
--   folder                where files may be written
--
-- Watched means: the call ends soon and with little memory, its result prints, and an error is one of
-- perilune's messages, at the line of whoever called. What breaks a rule is raised as a fault.
local peri  = require "perilune"
local core  = require "perilune.core"
local fault = require "spec.fuzz.fault"

local HOOK_COUNT = 10000     -- instructions between looks at the clock
local MOST_ELEMENTS = 5000    -- of a value that is kept, so that the next calls are quick, too

local world = setmetatable({ peri = peri, v = {}, own_error = "an error of the case's own" }, { __index = _G })

--- Of a call: seconds, which a sanitizer multiplies, and all memory of Lua.
world.limits = { seconds = tonumber(os.getenv "FUZZ_PATIENCE") or 1, kilobytes = 2 ^ 20 }


-- Errors ---------------------------------------------------------------------------

-- What Lua says where a library has not checked its arguments.
local RAW = {
  "attempt to perform", "attempt to index", "attempt to call", "attempt to compare", "attempt to concatenate",
  "attempt to get length", "attempt to unm", "bad argument", "'for' .- must be", "has no integer representation",
  "stack overflow", "assertion failed", "invalid key to 'next'", "index is n[ia]", "in table for 'concat'",
  "too many results", "wrong number of arguments", "string expected", "number expected", "table expected",
  "invalid order function", "error in error handling", "invalid value", "invalid format", "not a number or string",
}

local function is_raw (message)
  for _, pattern in ipairs(RAW) do
    if message:find(pattern) then return true end
  end
  return false
end

-- Whether the function that raised is the case itself, which may do what it likes.
local function raised_by_case (source)
  local info = debug.getinfo(3, "S")
  return info ~= nil and (info.source == source or info.source:find("spec/fuzz/", 1, true) ~= nil)
end

-- Raises a fault unless an error is as errors should be.
local function judge_error (message, is_own)
  if message == world.own_error or is_own or world.spoilt then return end
  local is_raised_again = type(message) == "string" and message:find "^case:%d+: attempt to "   -- the case's own
  if is_raised_again then return end
  if type(message) ~= "string" then fault.raise("object", "the error is a %s", type(message)) end
  if is_raw(message) then fault.raise("raw", "%s", message) end
  if message:find("perilune/[%w_/]+%.lua:%d+:") then fault.raise("position", "%s", message) end
end


-- Time and memory --------------------------------------------------------------------

-- Stops a call: with a fault, unless the case has spoilt what the call relies on.
local function stop (kind, what)
  if world.spoilt then error(world.own_error, 0) end
  fault.raise(kind, "%s\n%s", what, debug.traceback("", 3))
end

-- Looks at a call that began at `start`. What it raises may be caught on the way: then it raises again soon.
local function watch (start)
  local limits = world.limits
  return function ()
    if os.clock() - start > 5 * limits.seconds then stop("hang", "a call does not end") end
    if collectgarbage "count" < limits.kilobytes then return end
    collectgarbage()
    if collectgarbage "count" > limits.kilobytes then stop("memory", "a call takes too much memory") end
  end
end

-- Calls fn() and judges. Returns whether it succeeded, and its result.
local function watched (fn)
  local source, start, is_own = debug.getinfo(fn, "S").source, os.clock(), false
  debug.sethook(watch(start), "", HOOK_COUNT)
  local ok, result = xpcall(fn, function (message)
    is_own = raised_by_case(source)
    return message
  end)
  debug.sethook()
  if not ok and fault.is(result) then error(result, 0) end
  local seconds = os.clock() - start
  if seconds > world.limits.seconds and not world.spoilt then fault.raise("slow", "a call takes %.1f s", seconds) end
  if not ok then judge_error(result, is_own) end
  return ok, result
end

function world.try (fn) return (watched(fn)) end

local function is_printed (x)
  return peri.is_tensor(x) or type(x) == "table" and getmetatable(x) ~= nil and not world.is_odd[x]
end

local function check_printing (x)
  if getmetatable(x).__name == "posed model" then return tostring(x) end   -- runs a body, which may raise
  local ok, text = pcall(tostring, x)
  if not (ok and type(text) == "string") then
    fault.raise("tostring", "a %s cannot be printed: %s", type(x), tostring(text))
  end
end

--- v[k] = fn(), if that succeeds and is of some use to the next calls.
function world.set (k, fn)
  local ok, x = watched(fn)
  if not ok or x == nil or peri.is_tensor(x) and core.numel(x) > MOST_ELEMENTS then return end
  if is_printed(x) and not world.spoilt then world.try(function () check_printing(x) end) end
  world.v[k] = x
end


-- Values of wrong types ----------------------------------------------------------------

local cyclic = {}
cyclic[1], cyclic.self = cyclic, cyclic

world.odd = {
  cyclic    = cyclic,
  empty     = {},
  nested    = { {} },
  ragged    = { { 1, 2 }, { 3 } },
  words     = { "x", "y" },
  named     = { x = 1, loc = 2 },
  holes     = { 1, nil, 3 },
  sparse    = { [1] = 1, [1000000] = 2 },
  data      = setmetatable({ 1, 2, 3 }, { __name = "decoded" }),
  raising   = setmetatable({}, { __index = function () error(world.own_error, 0) end }),
  bottomless = setmetatable({}, { __index = function (t) return t end, __len = function () return 3 end }),
  callable  = setmetatable({}, { __call = function (_, x) return x end }),
  lying     = setmetatable({}, { __len = function () return 2 ^ 40 end }),
  unprintable = setmetatable({}, { __tostring = function () return 1 end, __name = 7 }),
  fn        = function (x) return x end,
  thread    = coroutine.create(function () end),
  file      = io.stderr,
  nul       = "a\0b",
  long      = string.rep("x", 5000),
  class     = setmetatable({ __name = "Odd" }, { __index = peri.Normal }),
}
world.odd.class.__index = world.odd.class

local LIGHT = debug.upvalueid(function () return cyclic end, 1)
world.odd.light = LIGHT

-- Metatables of our objects on what is none of them.
local function grafted (x, like) return debug.setmetatable(x, debug.getmetatable(like)) end
local a_trace = peri.trace(function () return peri.param(1) * 2 end)

world.grafts = {
  file_as_tensor  = grafted(io.tmpfile(), peri.zeros(1)),
  file_as_rng     = grafted(io.tmpfile(), peri.rng(1)),
  table_as_tensor = grafted({ 1, 2 }, peri.zeros(1)),
  tensor_as_rng   = grafted(peri.zeros(3), peri.rng(1)),
  rng_as_tensor   = grafted(peri.rng(1), peri.zeros(1)),
  tensor_as_trace = grafted(peri.zeros(40), a_trace),
  trace_as_tensor = grafted(a_trace, peri.zeros(1)),
  table_as_posterior = setmetatable({}, require "perilune.inference.posterior"),
  table_as_fit    = setmetatable({}, require "perilune.inference.running"),
  table_as_model  = setmetatable({}, getmetatable(peri.model(function () end) {})),
}

--- One of them. From now on raw errors are nobody's fault: no memory is touched that must not be, and no more.
function world.graft (name)
  world.spoilt = true
  return world.grafts[name]
end

--- All light userdata get the metatable of x.
function world.graft_light (x)
  world.spoilt = true
  debug.setmetatable(LIGHT, debug.getmetatable(x))
end

world.is_odd = {}
for _, x in pairs(world.odd) do world.is_odd[x] = true end
for _, x in pairs(world.grafts) do world.is_odd[x] = true end


-- Surprises ---------------------------------------------------------------------------

--- Garbage that holds x and calls fn(x) when it is collected. Its errors harm nobody.
function world.finalizer (x, fn)
  setmetatable({ x }, { __gc = function (self) pcall(fn, self[1]) end })
end

world.folder = os.getenv "FUZZ_FOLDER" or "build"

function world.changed (text, n)
  if type(text) ~= "string" or #text == 0 then return text end
  n = n % #text + 1
  return text:sub(1, n - 1) .. string.char(text:byte(n) ~ 4) .. text:sub(n + 1)
end

function world.total (x) return peri.is_tensor(x) and x:sum() or type(x) == "number" and x or 1 end

local spoils = {}

--- Changes a table until the case ends. From now on raw errors are nobody's fault.
function world.spoil (t, key, value)
  if type(t) ~= "table" then return end
  spoils[#spoils + 1] = { t, key, rawget(t, key) }
  world.spoilt = true
  t[key] = value
end

--- Runs fn in a coroutine, to its end, whatever it yields.
function world.inside_coroutine (fn)
  local co = coroutine.create(fn)
  for _ = 1, 1000 do
    local ok, message = coroutine.resume(co)
    if not ok and (fault.is(message) or type(message) ~= "string") then error(message, 0) end
    if not ok then   -- the position is that of the coroutine
      local harmless = message:find("attempt to yield", 1, true)
      return not harmless and error(message, 0) or nil
    end
    if coroutine.status(co) == "dead" then return end
  end
end

--- As before any case. Finalizers of the last one run now.
function world.reset ()
  for i = #spoils, 1, -1 do rawset(table.unpack(spoils[i], 1, 3)) end
  spoils, world.spoilt = {}, false
  debug.setmetatable(LIGHT, nil)
  for key in pairs(world.v) do world.v[key] = nil end
  collectgarbage("incremental", 200, 100, 13)
  collectgarbage "restart"
  collectgarbage()
  world.law.are_relaxed = false
  peri.set_threads(1)
  peri.validate(true)
  peri.kl_fallback(true)
  peri.seed(0)
end

local laws = require "spec.fuzz.laws"
world.law = laws

function world.relax ()
  laws.are_relaxed = true
  peri.validate(false)
end

return world
