--- Whether a maximum of the likelihood is one: verdicts in sentences.
local core     = require "perilune.core"
local maximum  = require "perilune.fit.maximum"
local refusals = require "perilune.fit.refusals"
local show     = require "perilune.show"

local FAR    = 8      -- free numbers beyond this may be on their way to an end,
local FAR_ON_THE_LINE = 100   -- those that are parameters themselves,
local LOST   = 12     -- and have standard errors like this
local LEFT   = 1e-6   -- nats that may be left to gain
local FLAT   = 1e4    -- standard errors of free numbers that are those of rounding errors
local POINT  = 20     -- free numbers beyond this make a point of a law, of data that are all the same
local EDGE   = 1e-3   -- standard errors of free numbers below this part of 1/n are none of a curvature
local NEARBY = 0.01   -- a change of free numbers that is none to speak of

local SAME = "not converged: the likelihood is flat in some direction; the data cannot tell the parameters"

-- Where a parameter goes whose free number runs off.
local function goal_of (site, is_up)
  if site.name == "logits" and site.reported == "probs" then return is_up and "1" or "0" end
  local c = type(site.constraint) == "table" and site.constraint or {}
  local goal = is_up and c.high or not is_up and c.low or nil
  if goal == nil then return is_up and "its upper end" or "its lower end" end
  if goal == math.huge or goal == -math.huge then return is_up and "infinity" or "-infinity" end
  return show.parameter(goal)
end

-- The free numbers that are far out: { site, at = place in u, way = "scale goes to 0" }.
local function runaways (likelihood, u)
  local list = {}
  for _, site in ipairs(likelihood.sites) do
    local is_line = type(site.constraint) == "table" and site.constraint.low == -math.huge and site.name ~= "logits"
    local name = site.size > 1 and "an element of " .. site.reported or site.reported
    for i = site.at, site.at + site.size - 1 do
      if math.abs(u[i]) > (is_line and FAR_ON_THE_LINE or FAR) then
        list[#list + 1] = { site = site, at = i, way = string.format("%s goes to %s", name, goal_of(site, u[i] > 0)) }
      end
    end
  end
  return list
end

-- Raises if a free number runs off and the likelihood rises on. Places of those that are at an end, and sentences.
local function at_ends (likelihood, found, free_se, original)
  local c, held, reasons = likelihood.class, {}, {}
  local support = likelihood:distribution(found.u).support
  local is_bounded = support and support.is_discrete   -- by 1
  for _, one in ipairs(runaways(likelihood, found.u)) do
    local is_lost = not free_se or free_se[one.at] > LOST
    local is_rising = is_lost and math.abs(found.gradient[one.at]) > maximum.RISING
    local is_point = math.abs(found.u[one.at]) > POINT and refusals.is_constant(original)
    if not is_bounded and (is_point or is_rising) then refusals.unbounded(c, original, one.way) end
    if is_lost then
      held[one.at] = one.site.reported
      reasons[#reasons + 1] = string.format("at an end: the likelihood still rises as %s, and is all but flat there",
                                            one.way)
    end
  end
  return held, reasons
end

-- Standard errors where some free numbers are held at an end, by name. With a parameter at an end others may be at the
-- edge of a support (the loc of a SkewNormal that is half of a normal law): there is no curvature of n data there.
local function held_errors (likelihood, u, held, n)
  local se, free_se = likelihood:errors(u, held)
  if not se then return {} end
  for _, site in ipairs(likelihood.sites) do
    local is_edge = site.size == 1 and free_se[site.at] < EDGE / n
    if is_edge then se[site.reported] = nil end
  end
  for _, name in pairs(held) do se[name] = nil end
  return se
end

-- What is wrong with an end that is no maximum, though no free number is far out. Raises for densities that are
-- infinite next to it.
local function reason_of (likelihood, found, original)
  local x = likelihood.x
  local around = { likelihood:distribution(found.u + NEARBY), likelihood:distribution(found.u - NEARBY) }
  for _, d in ipairs(around) do refusals.infinite(likelihood.class, d, x, original) end
  for _, d in ipairs(around) do
    if refusals.place_of(d, x, -math.huge) then
      return "at an end: the likelihood rises up to where the support of the law ends at the data"
    end
  end
  if found.gain <= LEFT then return SAME end
  return string.format("not converged: %s is left to gain; give start = { ... }, or more data",
                       found.gain < 1e9 and string.format("%.2g in log likelihood", found.gain) or "more")
end

--- What is to be thought of `found`, the best end of a likelihood: sentences, none of them if it is a maximum; standard
-- errors by name; and a set of the names of parameters at an end. Raises where there is no maximum. `original` has the
-- data in the user's units.
return function (likelihood, found, original)
  if likelihood.size == 0 then return {}, {}, {} end
  local se, free_se
  if found.is_peak and found.gain <= LEFT then se, free_se = likelihood:errors(found.u) end
  local held, reasons = at_ends(likelihood, found, free_se, original)
  local names = {}
  if next(held) then
    se = held_errors(likelihood, found.u, held, core.shape(original)[1])
    for _, name in pairs(held) do names[name] = true end
  elseif not se then reasons[1] = reason_of(likelihood, found, original)
  elseif free_se:max() > FLAT then reasons[1], se = SAME, nil
  end
  return reasons, se or {}, names
end
