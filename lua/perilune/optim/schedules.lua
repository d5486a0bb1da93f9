--- Schedules: functions of the number of steps taken (0 at first) that give a factor of the learning rate.
local errors = require "perilune.errors"
local show   = require "perilune.show"

local raise = errors.raise

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

--- The same factor always.
function schedules.constant (...)
  errors.check_arguments("schedules.constant", { "factor" }, ...)
  local factor = ...
  factor = check("constant", "factor", factor or 1, is_nonnegative, "a non-negative number")
  return function () return factor end
end

--- Times gamma after every `every` steps.
function schedules.step (...)
  errors.check_arguments("schedules.step", { "every", "gamma" }, ...)
  local every, gamma = ...
  check("step", "every", every, is_count, "a positive integer")
  gamma = check("step", "gamma", gamma or 0.1, is_positive, "positive")
  return function (n) return gamma ^ math.floor(n / every) end
end

--- gamma^n.
function schedules.exponential (...)
  errors.check_arguments("schedules.exponential", { "gamma" }, ...)
  local gamma = ...
  check("exponential", "gamma", gamma, is_positive, "positive")
  return function (n) return gamma ^ n end
end

--- Half a wave of a cosine from 1 down to `final`, which is kept after `steps` steps.
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

--- A line up to 1 at the last of `steps` steps, then another schedule (constant unless told) from its beginning.
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
