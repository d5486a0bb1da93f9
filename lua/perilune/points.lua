--- Laws of which single points have mass: discrete ones, and those made of a Censored law or of a single point, which
-- Delta is, and others are at the ends of their parameters.
local batches    = require "perilune.batches"
local class      = require "perilune.class"
local core       = require "perilune.core"
local functions  = require "perilune.functions"
local transforms = require "perilune.transforms"

local maximum, minimum, abs = functions.maximum, functions.minimum, functions.abs

local points = {}

-- Where a law is a single point, else NaN, for each element; nothing if it is none.
local function single (d)
  if not batches.own(d, "icdf") or #d.event_shape > 0 then return {} end
  local low, high = core.bare(d:icdf(0)), core.bare(d:icdf(1))
  local is_point = functions.eq(low, high)
  return batches.any(is_point) and { functions.where(is_point, low, 0 / 0) } or {}
end

-- What the components of a mixture have, for each element.
local function of_components (component)
  local list = {}
  for _, x in ipairs(points.of(component)) do
    for k = 1, core.shape(x)[#core.shape(x)] do list[#list + 1] = x:select(-1, k) end
  end
  return list
end

--- Points of a law that is not discrete which may have mass: numbers, or tensors of its batch; NaN for none.
function points.of (d)
  local component, inner, list = d.component_distribution, d.base or d.base_dist, {}
  if d.support and d.support.is_discrete then return list end
  if component and not component.list then return of_components(component) end
  if not (component or class.of(inner)) then return single(d) end
  for _, part in ipairs(component and component.list or { inner }) do
    local found = class.of(part) and points.of(part) or {}
    table.move(found, 1, #found, #list + 1, list)
  end
  for i, x in ipairs(list) do
    for _, map in ipairs(d.transforms or {}) do x = map:forward(x) end
    list[i] = x
  end
  for _, x in ipairs(d.has_mass_at_ends and { core.bare(d.low), core.bare(d.high) } or {}) do
    if batches.any(functions.isfinite(x)) then list[#list + 1] = functions.where(functions.isfinite(x), x, 0 / 0) end
  end
  return list
end

local ENDS = 16   -- of components, at most

-- Adds the ends of a support that are finite to a list.
local function add_ends (support, list)
  for _, stop in ipairs { "low", "high" } do
    local x = support and support[stop]
    if core.is_tensor(x) or x and math.abs(x) < math.huge then list[#list + 1] = x end
  end
end

-- Adds places in components of one family to a list: those in a last dimension one by one.
local function add_each (places, list)
  for _, x in ipairs(places) do
    local count = core.is_tensor(x) and core.rank(x) > 0 and core.shape(x)[core.rank(x)]
    for k = 1, math.min(ENDS, count or 0) do list[#list + 1] = x:select(-1, k) end
    if not count then list[#list + 1] = x end
  end
end

--- Places where the density of a law may jump that are not its ends: those of what it is made of. A list.
function points.inner_jumps (d)
  local component, inner, list = d.component_distribution, d.below or d.base or d.base_dist, {}
  if component and component.list then
    for k = 1, math.min(ENDS, #component.list) do
      local found = points.jumps(component.list[k])
      table.move(found, 1, #found, #list + 1, list)
    end
  elseif component then
    add_each(points.jumps(component), list)
  elseif type(inner) == "table" and (d.event_dim or #d.event_shape) == 0 then
    list = points.jumps(inner)
    for i, x in ipairs(list) do
      for _, map in ipairs(d.transforms or { d.map }) do x = map:forward(x) end
      list[i] = x
    end
  end
  return list
end

--- The same with its ends.
function points.jumps (d)
  local list = points.inner_jumps(d)
  add_ends(d.support, list)
  return list
end

--- May points of a law that is not discrete have mass?
function points.exist (d) return #points.of(d) > 0 end

local function grain (x) return maximum(2 ^ -52 * minimum(abs(x), 1e308), 5e-324) end

--- A number close below x: if points have mass, the cdf there is P(X < x).
function points.before (x) return x - grain(x) end

--- 1 where one of these points is at x, as far as rounding tells.
function points.is_at (list, x)
  local found = 0
  for _, point in ipairs(list) do found = maximum(found, functions.le(abs(point - x), 4 * grain(x))) end
  return found
end

--- The place x at which a cut begins; a number close below where one of these points is.
function points.begin (list, x)
  if #list == 0 then return x end
  return functions.where(points.is_at(list, x), points.before(x), x)
end

--- A number close above x.
function points.after (x) return x + grain(x) end

--- The ends of brackets in which quantiles lie, moved to points of this list: a level that falls into the mass of one
-- leaves that point alone; a bracket of one number stays. A `tail` is a lower one, or where `upper` an upper one, which
-- below(x) and above(x) tell.
function points.narrowed (list, below, above, tail, upper, low, high)
  local has_upper, has_lower = batches.any(upper), batches.any(1 - upper)
  local function is_reached (x)
    local by_upper = has_upper and functions.le(above(x), tail)
    local by_lower = has_lower and functions.ge(below(x), tail)
    return by_upper and by_lower and functions.where(upper, by_upper, by_lower) or by_upper or by_lower
  end
  local is_open = 1 - functions.eq(low, high)
  for _, point in ipairs(list) do
    local is_point = is_open * functions.isfinite(point)
    local x = functions.where(is_point, point, 0)
    local before = points.before(x)
    local there, sooner = is_point * is_reached(x), is_reached(before)
    low  = functions.where(is_point * (1 - sooner) * (1 - functions.ge(low, x)), x, low)   -- or it is NaN
    high = functions.where(there * functions.gt(high, x), x, high)
    high = functions.where(there * sooner * functions.gt(high, before), before, high)
  end
  return minimum(low, high), high
end

--- The place where the cdf of a discrete law is P(X < x).
function points.outcome_before (x) return functions.ceil(x) - 1 end

--- Does a transform leave integers integers?
function points.keeps_integers (map)
  if getmetatable(map) == transforms.Abs then return true end
  if getmetatable(map) ~= transforms.Affine then return false end
  local function is_whole (x) return not batches.any_now(functions.ne(x, functions.floor(x))) end
  return is_whole(map.loc) and is_whole(map.scale)
end

--- Are outcomes of a discrete law integers, as far as is known?
function points.has_integers (d)
  for _, map in ipairs(d.transforms or {}) do
    if not points.keeps_integers(map) then return false end
  end
  for _, part in ipairs(d.list or { d.base_dist or d.base or d.component_distribution }) do
    if type(part) == "table" and not points.has_integers(part) then return false end
  end
  return true
end

return points
