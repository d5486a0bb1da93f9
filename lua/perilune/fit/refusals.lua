--- Data that a family cannot be fitted to: what is said of them.
local class     = require "perilune.class"
local core      = require "perilune.core"
local functions = require "perilune.functions"
local raise     = require "perilune.errors".raise
local show      = require "perilune.show"

local refusals = {}

--- Raises a message about class c.
local function fail (c, ...) raise("fit: %s: %s", class.name(c), string.format(...)) end

refusals.fail = fail

--- Raises that x violates a constraint, if it does.
function refusals.violation (c, constraint, x)
  local bad, i, j, k = constraint:violation(x)
  if bad == nil then return end
  fail(c, "x must be %s, got %s at [%s]", constraint:rule(), type(bad) == "number" and show.number(bad) or bad,
       table.concat({ i, j, k }, ", "))
end

--- The place of the first of the data whose log density is this value, or nil.
function refusals.place_of (d, x, value)
  local found = functions.eq(d:log_prob(x), value)
  if found:max() == 1 then return math.tointeger(found:argmax()) end
  return nil
end

--- Raises if one of the data has an infinite density under d. `original` has them in the user's units.
function refusals.infinite (c, d, x, original)
  local at = refusals.place_of(d, x, math.huge)
  if not at then return end
  fail(c, "the likelihood is unbounded: there are parameters with an infinite density at x[%d] = %s", at,
       show.parameter(original[at]))
end

--- The same, or if one of them has density 0.
function refusals.impossible (c, d, x, original)
  refusals.infinite(c, d, x, original)
  local at = refusals.place_of(d, x, -math.huge)
  if not at then return end
  fail(c, "no parameters were found that give x[%d] = %s a density above 0", at, show.parameter(original[at]))
end

--- Are all events the same?
function refusals.is_constant (x) return core.tensor(x:max(1) - x:min(1)):max() == 0 end

--- Raises that there is no maximum; `way` says where to the likelihood rises.
function refusals.unbounded (c, x, way)
  local what = ""
  if refusals.is_constant(x) then
    what = core.shape(x)[1] == 1 and "there is one value only: "
           or string.format("all values are %s: ", show.parameter(x[1]))
  end
  fail(c, "%sthe likelihood grows without bound as %s; fix a parameter (fixed = { ... }), or choose another family",
       what, way)
end

return refusals
