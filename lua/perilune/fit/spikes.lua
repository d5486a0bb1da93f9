--- Spikes: where the likelihood has no bound although no density is infinite.
--
-- A law with heavy tails can shrink to one of the data. Of n data k have that value, and a density that grows as
-- 1/scale; the densities of the others fall with a power of scale only, which may be small (a StudentT: scale^df). So
-- the likelihood grows without bound if n - k times that power is less than k, and with ties, or few data, it soon
-- exceeds any maximum. It is tried on the likelihood itself: the parameter that moves with x is put at a value that
-- comes often, one that grows with x at a thousandth and a millionth of the data's width, and all others on a grid.
local core   = require "perilune.core"
local show   = require "perilune.show"
local tensor = require "perilune.tensor"

local SHARE  = 0.1              -- of all data that are at a value: less is never enough
local SMALL  = { 1e-3, 1e-6 }   -- in units of the middle half of the data
local GRID   = { -6, -5, -4, -3, -2, -1, 0, 2, 4 }   -- free numbers of other parameters,
local MOST   = 2                -- of which there are no more
local RISES  = 1                -- nats from one of SMALL to the next

local spikes = {}

-- Values with at least a SHARE of the weight, ten at most.
local function frequent (x, w)
  local sorted, order = x:sort()
  local weights = w and w[order]:totable()
  local list, total = {}, 0
  for i, value in ipairs(sorted:totable()) do
    if #list == 0 or list[#list].at ~= value then list[#list + 1] = { at = value, weight = 0 } end
    local last, weight = list[#list], weights and weights[i] or 1
    last.weight, total = last.weight + weight, total + weight
  end
  local places = {}
  for _, one in ipairs(list) do
    if one.weight >= SHARE * total then places[#places + 1] = one.at end
  end
  return places
end

-- The sites of the one free parameter that moves with x, and of those that grow with it; nil where there is none.
local function kinds_of (likelihood, unit)
  if not unit.shifts then return nil end
  local loc, scales = nil, {}
  for name, moves in pairs(unit.shifts) do
    if moves and loc then return nil end
    loc = moves and name or loc
  end
  local place
  for _, site in ipairs(likelihood.sites) do
    if site.size > 1 then return nil end
    if site.name == loc then place = site
    elseif unit.powers[site.name] == 1 then scales[#scales + 1] = site end
  end
  return place, scales
end

-- Rows of free numbers: those of `at`, with all values of GRID in the columns of `others`.
local function rows_about (at, others, from, rows)
  if from > #others then
    rows[#rows + 1] = core.tensor(at)
    return
  end
  for _, value in ipairs(GRID) do
    at[others[from].at] = value
    rows_about(at, others, from + 1, rows)
  end
end

-- The largest likelihood with a scale at `small` and loc at a place.
local function height (likelihood, place, at, scale, small)
  local others, rows = {}, {}
  for _, site in ipairs(likelihood.sites) do
    if site ~= place and site ~= scale then others[#others + 1] = site end
  end
  if #others > MOST then return -math.huge end
  rows_about(likelihood:free({ [place.name] = at, [scale.name] = small }):totable(), others, 1, rows)
  local best = -math.huge
  for _, value in ipairs(likelihood:heights(tensor.stack(rows)):totable()) do
    if value > best and value < math.huge then best = value end
  end
  return best
end

--- Where the likelihood grows without bound as a law shrinks to one of the data: { name = of the parameter that goes to
-- 0, way = "scale goes to 0 and loc to 3", height = the likelihood of likelihood:part() on the way there }, or nil.
function spikes.of (likelihood, unit)
  local place, scales = kinds_of(likelihood, unit)
  if not place then return nil end
  local some, best = likelihood:part(), nil
  for _, at in ipairs(frequent(some.x, some.w)) do
    for _, scale in ipairs(scales) do
      local far, near = height(some, place, at, scale, SMALL[1]), height(some, place, at, scale, SMALL[2])
      if near > far + RISES and (not best or near > best.height) then
        best = { name = scale.name, height = near,
                 way = string.format("%s goes to 0 and %s to %s", scale.reported, place.reported,
                                     show.number(unit.outward(place.name, at))) }
      end
    end
  end
  return best
end

--- Are these parameters on the way to a spike?
function spikes.has (spike, values) return values[spike.name] < SMALL[1] end

return spikes
