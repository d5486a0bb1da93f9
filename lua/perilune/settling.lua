--- Many searches in step: those that have ended drop out, so that together they cost what they cost one by one.
local core   = require "perilune.core"
local tensor = require "perilune.tensor"

local settling = {}

local FEW = 64   -- points that are not worth a selection, unless told

local function all (flags)
  if core.is_tensor(flags) then return core.numel(flags) == 0 or core.item(flags:min()) ~= 0 end
  return flags ~= 0
end

-- Shape { n, batch... } for points of this shape, whose last `rank` dimensions are those of the batch.
local function rows_of (shape, rank)
  local rows = { 1 }
  for d, extent in ipairs(shape) do
    if d > #shape - rank then rows[#rows + 1] = extent else rows[1] = rows[1] * extent end
  end
  return rows
end

-- May rows of these flags be dropped, and is that worth it? In a trace, which keeps the rows that it has seen, not.
local function can_drop (flags, rank, few)
  return rank and core.is_tensor(flags) and core.rank(flags) > rank and core.numel(flags) > few
         and not core.tracked(flags)
end

-- The state of some rows, { n, batch... }, of points of this shape.
local function selected (state, shape, rows, index)
  local some = {}
  for key, value in pairs(state) do
    some[key] = core.is_tensor(value) and value:expand(shape):reshape(rows)[index] or value
  end
  return some
end

-- x of the points that have ended, and of the others what `go_on` makes of their state; or nil if those are the most.
local function without_ended (state, rank, go_on)
  local shape = core.shape(state.ended)
  local rows = rows_of(shape, rank)
  local flags = state.ended:reshape(rows[1], -1):min(2)
  local left = rows[1] - math.tointeger(core.item(flags:sum()))
  if 2 * left > rows[1] then return nil end
  local order = flags:argsort()
  local over = order:narrow(1, left + 1, rows[1] - left)
  local found = selected({ x = state.x }, shape, rows, over).x
  local x = go_on(selected(state, shape, rows, order:narrow(1, 1, left)))
  return tensor.cat { x, found }[order:argsort()]:reshape(shape)
end

--- state.x after as many steps as it takes, `limit` at most. step(state) changes fields of the state, numbers or
-- tensors for all points; `ended` flags those that have. Where the step knows a batch of this `rank`, points may
-- have dimensions in front of it; such rows drop out when half of them have ended and there are more than a `few`.
function settling.run (step, state, limit, rank, few)
  for taken = 0, limit do
    if taken > 0 then step(state) end
    if all(state.ended) then break end
    local x = can_drop(state.ended, rank, few or FEW) and without_ended(state, rank, function (others)
      return settling.run(step, others, limit - taken, rank, few)
    end)
    if x then return x end
  end
  return state.x
end

return settling
