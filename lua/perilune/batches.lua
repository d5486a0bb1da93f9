--- What expectations and divergences ask of a distribution and of its batch.
local Distribution = require "perilune.distribution"
local core         = require "perilune.core"
local functions    = require "perilune.functions"

local batches = {}

--- The method of d, or nil where there is only the one that says it is missing.
function batches.own (d, name) return d[name] ~= Distribution[name] and d[name] or nil end

--- The number of elements.
function batches.size (d)
  local size = 1
  for _, n in ipairs(d.batch_shape) do size = size * n end
  return size
end

--- x for n rows of the batch, whatever f or a quantile made of it.
function batches.rows (d, n, x)
  local t = core.is_tensor(x) and x or core.tensor(x)
  return t:expand(n, table.unpack(d.batch_shape))
end

--- Errors of components { batch..., K }, in a row, that do not matter beside the whole, which has these weights: a
-- function of their values. Where `halves` are given values are those of as many parts of each.
function batches.enough (weights, rtol, shape, halves)
  local least, all = functions.maximum(weights, 1e-300), { halves or 1, table.unpack(shape) }
  return function (value)
    local total = (value:reshape(all):sum(1) * weights):sum(-1, true)
    local error = (rtol * functions.abs(total) / least):expand(all):reshape(-1)
    return functions.where(functions.isfinite(error), error, 0)
  end
end

--- Is any of these flags, or this one, set?
function batches.any (flags)
  if not core.is_tensor(flags) then return flags ~= 0 end
  return core.numel(flags) > 0 and core.item(flags:max()) ~= 0
end

--- The same for what is selected by the flags afterwards: within a trace any may be set in a replay.
function batches.any_may_be (flags) return core.tracked(flags) or batches.any(flags) end

--- The same of the values that there are now, for checks, which no replay repeats.
function batches.any_now (flags) return batches.any(core.bare(flags)) end

return batches
