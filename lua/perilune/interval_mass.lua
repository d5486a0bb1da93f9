--- Masses of intervals of a law.
--
-- They are differences of tails, where these have digits enough; else what the components of a mixture tell of theirs,
-- or its density.
local batches   = require "perilune.batches"
local class     = require "perilune.class"
local core      = require "perilune.core"
local ends      = require "perilune.ends"
local functions = require "perilune.functions"
local lazy      = require "perilune.lazy"
local tails     = require "perilune.tails"

local effort  = lazy "effort"
local points  = lazy "points"
local slivers = lazy "slivers"
local sums    = lazy "mixture_sums"

local where, maximum, minimum, abs = functions.where, functions.maximum, functions.minimum, functions.abs
local lt, le, gt, ge, eq           = functions.lt, functions.le, functions.gt, functions.ge, functions.eq
local INF        = math.huge
local LAST_DIGIT = 2 ^ -50
local NOISE      = 2 ^ -38   -- part of tails that these are never off by, unless rounding of their logarithms is more
local NARROW     = 1e-3      -- a difference of tails smaller than this part of them has lost digits,
local SHORT      = 1e-5      -- and one smaller than this so many that more densities are worth it in a search
local NOTHING    = -40       -- the logarithm of a share that does not count
local RETOLD     = 1e-10     -- part of a mass that is worth asking what the law is made of
local CLOSE      = 1         -- to logarithms of masses that are looked for

local interval_mass = {}

--- Is this a mixture, or made of one, so that an interval may have peaks other than its highest, and gaps?
function interval_mass.has_peaks (d)
  local inner = d.base or d.base_dist
  return d.mixture_distribution ~= nil or class.of(inner) ~= nil and interval_mass.has_peaks(inner)
end

--- A place x with the logarithms of both tails of the base there.
function interval_mass.at (base, x)
  local below, above = tails.logarithms(base, x)
  return { x = x, below = below, above = above }
end

-- log P(a < X <= b) of a mixture from its components, and about how wrong that is. Components that count are worth
-- more densities, but not in a search.
local function log_mixed (law, a, b, is_search)
  local parts = law.component_distribution
  local from, to = interval_mass.at(parts, sums.padded(law, a)), interval_mass.at(parts, sums.padded(law, b))
  local masses, error = interval_mass.log(parts, from, to, -INF)
  if not is_search and batches.any_may_be(gt(error, LAST_DIGIT)) then
    local shares = law.log_weights + masses
    local counts = ge(shares, shares:max(-1, true) + NOTHING)
    masses, error = interval_mass.log(parts, from, to, where(counts, masses, -INF))
  end
  return sums.log_mixed(law, masses), core.is_tensor(error) and error:max(-1) or error
end

-- The preimages of an interval under a monotone map, which may not reach all of it.
local function preimages (map, a, b)
  local low, high = ends.of(map.codomain)
  local rises, from, to = gt(map.sign, 0), map:inverse(maximum(a, low)), map:inverse(minimum(b, high))
  return where(rises, from, to), where(rises, to, from)
end

-- The same of what is censored: its ends have the mass beyond them.
local function uncensored (law, a, b) return where(lt(a, law.low), -INF, a), where(ge(b, law.high), INF, b) end

--- The mixture that a law is, or is made of by monotone transforms and censoring, with the preimages of an interval;
-- nil for others.
function interval_mass.untransformed (law, a, b)
  while law and not law.component_distribution do
    local maps = law.transforms or { law.map }
    for i = #maps, 1, -1 do
      local map = maps[i]
      if type(map) ~= "table" or not map.sign then return nil end
      a, b = preimages(map, a, b)
    end
    if law.has_mass_at_ends then a, b = uncensored(law, a, b)
    elseif #maps == 0 then return nil end
    law = law.base_dist or law.below or law.base
  end
  return law, a, b
end

-- A mass of the base and its error, or where it is far off what components tell that the base is made of.
local function retold (base, a, b, mass, error, narrow, is_search)
  local is_off = narrow * gt(error, RETOLD)
  if not batches.any_may_be(is_off) then return mass, error end
  local law, from, to = interval_mass.untransformed(base, a, b)
  if not law or points.exist(law) then return mass, error end
  local other, other_error = log_mixed(law, from, to, is_search)
  other_error = other_error + LAST_DIGIT * maximum(abs(from), abs(to)) / (to - from)
  local is_better = is_off * lt(other_error, error)
  return where(is_better, other, mass), where(is_better, other_error, error)
end

-- log P(a < X <= b) of the base, which tails at both do not tell: components of a mixture may still know theirs. Where
-- the density moves too much for a sliver, `mass` by these tails, if the `gap` of their logarithms, of which one is
-- `large`, has more digits. And about how wrong that is.
local function log_narrow (base, a, b, mass, large, gap, narrow, goal)
  if not base.component_distribution then
    local sliver, error = slivers.log_mass(base, a, b, function (log_mass)
      if not goal then return narrow end
      if effort.is_dear(base) then return 0 end
      return narrow * lt(abs(gap), SHORT) * le(abs(log_mass - goal), CLOSE)
    end)
    local digit = LAST_DIGIT * maximum(1, abs(large))
    local is_rough = gt(error * abs(gap), digit)
    if interval_mass.has_peaks(base) then   -- one may be between its points
      is_rough = maximum(is_rough, gt((abs(sliver - mass) - error) * abs(gap), maximum(NOISE, digit)))
    end
    local best, its_error = where(is_rough, mass, sliver), where(is_rough, digit / abs(gap), error)
    return retold(base, a, b, best, its_error, narrow, goal ~= nil)
  end
  return log_mixed(base, a, b, goal ~= nil)
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
  local of_narrow, error = log_narrow(base, a, b, mass, large, gap, narrow, goal)
  return where(narrow, of_narrow, mass), where(narrow, error, 0)
end

return interval_mass
