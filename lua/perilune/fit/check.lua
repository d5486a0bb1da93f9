--- How far data are from a distribution: the Kolmogorov-Smirnov distance and quantiles beside quantiles.
local core      = require "perilune.core"
local functions = require "perilune.functions"

local check = {}

-- Data in order, and the share of weight at or below each.
local function ordered (x, w)
  local sorted, order = x:sort()
  local n = core.numel(x)
  if not w then return sorted, core.public.arange(1, n + 1) / n end
  local below = w[order]:cumsum()
  return sorted, below / below[n]
end

--- The largest difference between the cdf of d and that of the data; nil for laws of rows.
function check.distance (d, x, w)
  if core.rank(x) ~= 1 or #d.event_shape > 0 then return nil end
  local sorted, share = ordered(x, w)
  local n = core.numel(x)
  local before = core.zeros(n)
  if n > 1 then before:narrow(1, 2, n - 1):copy(share:narrow(1, 1, n - 1)) end
  local at = d:cdf(sorted)
  if not d.support.is_discrete then return functions.maximum(share - at, at - before):max() end
  -- of steps, only the last of equal values counts above, and the first below
  local is_first, is_last = core.public.ones(n), core.public.ones(n)
  if n > 1 then
    local changes = sorted:narrow(1, 1, n - 1):ne(sorted:narrow(1, 2, n - 1))
    is_last:narrow(1, 1, n - 1):copy(changes)
    is_first:narrow(1, 2, n - 1):copy(changes)
  end
  local above = (share - at):abs() * is_last
  local below = (d:cdf(sorted - 1) - before):abs() * is_first
  return functions.maximum(above, below):max()
end

return check
