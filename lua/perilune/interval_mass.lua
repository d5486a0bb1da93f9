--- Masses of intervals of a law.
--
-- They are differences of tails, where these have digits enough; else what the components of a mixture tell of theirs,
-- or its density.
local batches   = require "perilune.batches"
local core      = require "perilune.core"
local functions = require "perilune.functions"
local lazy      = require "perilune.lazy"
local tails     = require "perilune.tails"

local points  = lazy "points"
local slivers = lazy "slivers"
local sums    = lazy "mixture_sums"

local where, maximum, abs = functions.where, functions.maximum, functions.abs
local lt, le, gt, eq      = functions.lt, functions.le, functions.gt, functions.eq
local INF        = math.huge
local LAST_DIGIT = 2 ^ -50
local NOISE      = 2 ^ -38   -- part of tails that these are never off by
local NARROW     = 1e-3      -- a difference of tails smaller than this part of them has lost digits,
local SHORT      = 1e-5      -- and one smaller than this so many that more densities are worth it
local RETOLD     = 1e-10     -- part of a mass that is worth asking what the law is made of
local CLOSE      = 1         -- to logarithms of masses that are looked for

local interval_mass = {}

--- A place x with the logarithms of both tails of the base there.
function interval_mass.at (base, x)
  local below, above = tails.logarithms(base, x)
  return { x = x, below = below, above = above }
end

-- log P(a < X <= b) of a mixture from its components, and about how wrong that is.
local function log_mixed (law, a, b)
  local parts = law.component_distribution
  local masses, error = interval_mass.log(parts, interval_mass.at(parts, sums.padded(law, a)),
                                          interval_mass.at(parts, sums.padded(law, b)))
  return sums.log_mixed(law, masses), core.is_tensor(error) and error:max(-1) or error
end

-- The mixture that a law without points of mass is made of by monotone transforms, with the preimages of an interval;
-- nil for others.
local function untransformed (base, a, b)
  local law = base
  while law.transforms do
    for i = #law.transforms, 1, -1 do
      local map = law.transforms[i]
      if not map.sign then return nil end
      local rises, from, to = gt(map.sign, 0), map:inverse(a), map:inverse(b)
      a, b = where(rises, from, to), where(rises, to, from)
    end
    law = law.base_dist
  end
  if law == base or not law.component_distribution or points.exist(law) then return nil end
  return law, a, b
end

-- A mass of the base and its error, or where it is far off what components tell that the base is made of.
local function retold (base, a, b, mass, error, narrow)
  local is_off = narrow * gt(error, RETOLD)
  if not (base.transforms and batches.any_may_be(is_off)) then return mass, error end
  local law, from, to = untransformed(base, a, b)
  if not law then return mass, error end
  local other, other_error = log_mixed(law, from, to)
  other_error = other_error + LAST_DIGIT * maximum(abs(from), abs(to)) / (to - from)
  local is_better = is_off * lt(other_error, error)
  return where(is_better, other, mass), where(is_better, other_error, error)
end

-- log P(a < X <= b) of the base, which tails at both do not tell: components of a mixture may still know theirs. Where
-- the density moves too much for a sliver, `mass` by these tails, if the `gap` of their logarithms has more digits. And
-- about how wrong that is.
local function log_narrow (base, a, b, mass, gap, narrow, goal)
  if not base.component_distribution then
    local sliver, error = slivers.log_mass(base, a, b, function (log_mass)
      local is_lost = narrow * lt(abs(gap), SHORT)
      return goal and is_lost * le(abs(log_mass - goal), CLOSE) or is_lost
    end)
    local has_missed = gt((abs(sliver - mass) - error) * abs(gap), NOISE)   -- a peak between its points
    local is_rough = maximum(gt(error * abs(gap), 2 ^ -50), has_missed)
    local best, its_error = where(is_rough, mass, sliver), where(is_rough, LAST_DIGIT / abs(gap), error)
    return retold(base, a, b, best, its_error, narrow)
  end
  return log_mixed(base, a, b)
end

--- log P(a < X <= b) of the base between two places, and about how wrong that is where it is more than
-- rounding. With a `goal` only what is close to that has to be so.
function interval_mass.log (base, first, last, goal)
  local a, b, below, above = first.x, last.x, last.below, first.above
  local upper = lt(above, below)
  local large, small = where(upper, above, below), where(upper, last.above, first.below)
  local gap = small - large
  local mass = where(eq(large, -INF), large, large + functions.log1mexp(gap))
  if base.support and base.support.is_discrete and not base.component_distribution then return mass, 0 end
  local narrow = gt(gap, maximum(-0.5, -NARROW * (1 + abs(large)))) * lt(a, b)
  if not batches.any_may_be(narrow) then return mass, 0 end
  local of_narrow, error = log_narrow(base, a, b, mass, gap, narrow, goal)
  return where(narrow, of_narrow, mass), where(narrow, error, 0)
end

return interval_mass
