--- Constraints (constraint.lua): those of single numbers are loaded with this file, other families of them, each a file
-- of constraints/, when a name is asked for that is not yet known.
local constraint = require "perilune.constraint"
local core       = require "perilune.core"
local errors     = require "perilune.errors"

--@ peri.constraints
-- Constraints: what parameters must be, and what the supports of distributions are. constraints.positive is one,
-- constraints.interval(0, 2) makes one.
-- > constraints.interval(0, 2):check { 0.5, 1 }, constraints.interval(0, 2):check(3)
-- true  false
local constraints = {
  Constraint = constraint.Constraint, is_constraint = constraint.is_constraint,
}

local function add (family)
  for name, value in pairs(require("perilune.constraints." .. family)) do constraints[name] = value end
end

local families = {}   -- those that are not loaded
for _, family in ipairs(core.modules "constraints") do
  if family == "numbers" then add(family) else families[#families + 1] = family end
end

local function find (name)
  while families[1] and rawget(constraints, name) == nil do add(table.remove(families)) end
  return rawget(constraints, name)
end

local function load_all ()
  while families[1] do add(table.remove(families)) end
end

return core.keep("constraints", errors.module("constraints", constraints, find, load_all))
