--- Laws of which single points have mass: discrete ones, and those made of a Delta or a Censored law.
local class     = require "perilune.class"
local functions = require "perilune.functions"

local maximum, minimum, abs = functions.maximum, functions.minimum, functions.abs

local points = {}

local NAMES = { Delta = true, Censored = true }

--- May points of a law that is not discrete have mass?
function points.exist (d)
  if NAMES[class.name(class.of(d))] then return true end
  for _, part in ipairs(d.list or { d.component_distribution or d.base or d.base_dist }) do
    if class.of(part) and points.exist(part) then return true end
  end
  return false
end

--- A number close below x: if points have mass, the cdf there is P(X < x).
function points.before (x) return x - maximum(2 ^ -52 * minimum(abs(x), 1e308), 5e-324) end

--- The place where the cdf of a discrete law is P(X < x).
function points.outcome_before (x) return functions.ceil(x) - 1 end

return points
