--- Schedules: functions of the number of steps taken (0 at first) that give a factor of the learning rate.
local errors    = require "perilune.errors"
local functions = require "perilune.functions"   -- its pow has the same digits on every machine
local show      = require "perilune.show"

local raise = errors.raise

--@ peri.optim.schedules
-- Functions of the number of steps taken, 0 at first, that give a factor of the learning rate: for opt:schedule.
-- > halve = optim.schedules.step(10, 0.5)
-- > halve(0), halve(10), halve(25)
-- 1.0  0.5  0.25
local schedules = {}

local function check (who, name, value, holds, rule)
  if type(value) ~= "number" or not holds(value) then
    raise("schedules.%s: %s must be %s, got %s", who, name, rule, show.value(value))
  end
  return value
end

local function is_positive (x) return x > 0 and x < math.huge end
local function is_nonnegative (x) return x >= 0 and x < math.huge end
local function is_count (x) return x >= 1 and x == math.floor(x) and x < math.huge end

--@ peri.optim.schedules.constant(factor) -> function
-- The same factor always.
--   factor  number; 1 unless told
-- > optim.schedules.constant(0.5)(100)
-- 0.5
function schedules.constant (...)
  errors.check_arguments("schedules.constant", { "factor" }, ...)
  local factor = ...
  factor = check("constant", "factor", factor or 1, is_nonnegative, "a non-negative number")
  return function () return factor end
end

--@ peri.optim.schedules.step(every, gamma) -> function
-- Times gamma after every so many steps.
--   every  integer
--   gamma  number; 0.1 unless told
-- > optim.schedules.step(10, 0.5)(25)
-- 0.25
function schedules.step (...)
  errors.check_arguments("schedules.step", { "every", "gamma" }, ...)
  local every, gamma = ...
  check("step", "every", every, is_count, "a positive integer")
  gamma = check("step", "gamma", gamma or 0.1, is_positive, "positive")
  return function (n) return functions.pow(gamma, math.floor(n / every)) end
end

--@ peri.optim.schedules.exponential(gamma) -> function
-- gamma^n after n steps.
--   gamma  number
-- > optim.schedules.exponential(0.5)(3)
-- 0.125
function schedules.exponential (...)
  errors.check_arguments("schedules.exponential", { "gamma" }, ...)
  local gamma = ...
  check("exponential", "gamma", gamma, is_positive, "positive")
  return function (n) return functions.pow(gamma, n) end
end

--@ peri.optim.schedules.cosine(steps, final) -> function
-- Half a wave of a cosine from 1 down to final, which is kept after so many steps.
--   steps  integer
--   final  number; 0 unless told
-- > optim.schedules.cosine(100)(50)
-- 0.5
function schedules.cosine (...)
  errors.check_arguments("schedules.cosine", { "steps", "final" }, ...)
  local steps, final = ...
  check("cosine", "steps", steps, is_count, "a positive integer")
  final = check("cosine", "final", final or 0, is_nonnegative, "a non-negative number")
  return function (n)
    local turn = math.min(n / steps, 1)
    return final + (1 - final) * (1 + math.cos(math.pi * turn)) / 2
  end
end

--@ peri.optim.schedules.warmup(steps, after) -> function
-- A line up to 1 at the last of so many steps, then another schedule from its beginning.
--   steps  integer
--   after  function, a schedule; constant unless told
-- > optim.schedules.warmup(10)(4)
-- 0.5
function schedules.warmup (...)
  errors.check_arguments("schedules.warmup", { "steps", "after" }, ...)
  local steps, after = ...
  check("warmup", "steps", steps, is_count, "a positive integer")
  if after ~= nil and type(after) ~= "function" then
    raise("schedules.warmup: after must be a schedule, got %s", show.value(after))
  end
  return function (n)
    if n < steps then return (n + 1) / steps end
    return after and after(n - steps) or 1
  end
end

return errors.module("optim.schedules", schedules)
