--- Hulls of supports: where values may lie that come from any of several laws, as those of mixtures do.
--
-- A support with the flag is_wide is known to contain all values, and maybe others that are none.
local constraints = require "perilune.constraints"
local core        = require "perilune.core"
local events      = require "perilune.events"
local tensor      = require "perilune.tensor"

local hulls = {}

--- A support that is discrete, or wide, as its own kind is not: for rows and matrices their parts are.
function hulls.marked (support, is_discrete, is_wide)
  if support.dims then
    return constraints.independent(hulls.marked(support.base, is_discrete, is_wide), support.dims)
  end
  local copy = {}
  for key, value in pairs(support) do copy[key] = value end
  copy.is_discrete, copy.is_wide = is_discrete or support.is_discrete, is_wide
  return setmetatable(copy, getmetatable(support))
end

--- Is a support, which may be nil, more than the values that there are?
function hulls.is_wide (support) return support ~= nil and (support.base or support).is_wide or false end

-- The constraint of the single numbers that events are made of, whose ends are parameters, and the number of
-- dimensions that count these numbers; nil where no such constraint is known.
local function numbers_of (support)
  local base, n = support.base or support, support.dims or 0
  if base.is_wide then return nil end
  if base.low and base.high then return base, n end
  if base == constraints.one_hot then return constraints.boolean, n + 1 end
  if base == constraints.simplex then return constraints.unit_interval, n + 1 end
  local total = base.total_count
  if total then
    return constraints.integer_interval(0, core.is_tensor(total) and total:unsqueeze(-1) or total), n + 1
  end
end

local function is_single (x) return core.numel(x) > 0 and core.item(x:min()) == core.item(x:max()) end

--- The hull of a support along the last dimension of the batch, where it is that of laws of one family.
function hulls.along (support, batch, event)
  local base, n = nil, nil
  if support then base, n = numbers_of(support) end
  if not base or not (core.is_tensor(base.low) or core.is_tensor(base.high)) then return support end
  local total = support.total_count
  if total and is_single(total) then return constraints.multinomial(core.item(total:max())) end
  local shape = events.joined(batch, event)
  local function over (x, pick)
    if not core.is_tensor(x) then return x end
    x = x:expand(shape)
    return x[pick](x, -1 - n)
  end
  return constraints.independent(getmetatable(base).new(over(base.low, "min"), over(base.high, "max")), n)
end


-- Of several families ----------------------------------------------------------------

-- An end of all of these: a number where all are, or one is infinite; else one for each law, side by side.
local function end_of (bases, list, which, pick, infinite)
  local ends, are_numbers = {}, true
  for k, base in ipairs(bases) do
    ends[k] = base[which]
    if ends[k] == infinite then return infinite end
    are_numbers = are_numbers and type(ends[k]) == "number"
  end
  if are_numbers then return pick(table.unpack(ends)) end
  for k, d in ipairs(list) do
    local x = core.is_tensor(ends[k]) and ends[k] or core.tensor(ends[k])
    ends[k] = x:expand(events.joined(d.batch_shape, d.event_shape))
  end
  return tensor.stack(ends, -1 - #list[1].event_shape)
end

-- Is this end open for all that have it?
local function is_open (bases, which, finish, flag)
  for _, base in ipairs(bases) do
    if base[which] == finish and not base[flag] then return false end
  end
  return type(finish) == "number"
end

-- Any numbers, where the events of these laws are not known to have ends.
local function unknown (first)
  local all = constraints.independent(constraints.real, #first.event_shape)
  return hulls.marked(all, first.support.is_discrete, true)
end

--- That of a list of laws with one batch and events of one shape. Ends that depend on the law have a dimension for it,
-- the last of the batch.
function hulls.of_list (list)
  local first, is_same, bases, n = list[1], true, {}, nil
  for k, d in ipairs(list) do
    if not d.support then return nil end
    is_same = is_same and d.support == first.support
    bases[k], n = numbers_of(d.support)
    if n ~= #first.event_shape then bases[k] = nil end
  end
  if is_same then return first.support end
  for k in ipairs(list) do
    if not bases[k] then return unknown(first) end
  end
  local low = end_of(bases, list, "low", math.min, -math.huge)
  local high = end_of(bases, list, "high", math.max, math.huge)
  local all = first.support.is_discrete and constraints.integer_interval(low, high)
              or constraints.between(low, high, is_open(bases, "low", low, "left_open"),
                                     is_open(bases, "high", high, "right_open"))
  return constraints.independent(all, n)
end

return hulls
