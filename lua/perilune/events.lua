--- Events: the last dimensions of what a distribution of rows or matrices gives, or is asked about.
local class  = require "perilune.class"
local core   = require "perilune.core"
local errors = require "perilune.errors"
local show   = require "perilune.show"

local events = {}

--- Raises that x is of another shape, for the method `name` of d.
function events.refuse (d, name, x)
  errors.raise("%s:%s: x must be an event of shape %s, or a batch of them, got %s", class.name(class.of(d)), name,
               show.shape(d.event_shape), show.value(x))
end

--- What the method `name` of d was given, which messages call `of` (x), as a number or a tensor whose last dimensions
-- are those of an event.
function events.argument (d, name, x, of)
  if not core.is_tensor(x) then x = core.operand(x, class.name(class.of(d)) .. ":" .. name, of or "x") end
  if not core.ends_with(x, d.event_shape) then events.refuse(d, name, x) end
  return x
end

--- The shape of a batch and an event together.
function events.joined (batch, event)
  local whole = { table.unpack(batch) }
  for _, n in ipairs(event) do whole[#whole + 1] = n end
  return whole
end

--- x summed over its last n dimensions.
function events.sum_rightmost (x, n)
  for _ = 1, n do x = x:sum(-1) end
  return x
end

return events
