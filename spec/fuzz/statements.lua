--- Statements of all kinds, one line of Lua each: calls, laws to be checked, and surprises.
local calls     = require "spec.fuzz.calls"
local checks    = require "spec.fuzz.checks"
local learning  = require "spec.fuzz.learning"
local objects   = require "spec.fuzz.objects"
local surprises = require "spec.fuzz.surprises"

local statements = {}

local function call (source)
  local expression = source.random:weighted(calls)[2](source)
  return expression and string.format("set(%d, function () return %s end)", source:next(), expression)
end

-- A law; with extreme parameters, one that does not speak of accuracy.
local function check (source)
  local list = source.random.is_extreme and checks.of_any_numbers or checks.all
  return source.random:weighted(list)[2](source)
end

local function of (list)
  return function (source) return source.random:weighted(list)[2](source) end
end

local KINDS = { { 12, call }, { 4, of(learning) }, { 4, of(objects) }, { 5, check }, { 2, of(surprises) } }

--- The next statement of a case.
function statements.next (source)
  local text
  repeat text = source.random:weighted(KINDS)[2](source) until text
  return text
end

return statements
