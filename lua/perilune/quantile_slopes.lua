--- Slopes of quantiles that were searched for without: at x they are those of the tail there over the density. Both may
-- be next to nothing, so logarithms are taken.
local core      = require "perilune.core"
local functions = require "perilune.functions"

local any = require "perilune.batches".any
local where, log, exp = functions.where, functions.log, functions.exp

local quantile_slopes = {}

--- Does the law d, or a level, depend on parameters?
function quantile_slopes.are_wanted (d, tail) return core.tracked(tail) or core.tracked(d:log_prob(1)) end

--- The quantile x of d of a lower tail, or where `upper` an upper one, with the slopes of both; where nothing is beyond
-- it, it is finish(), an end that may move.
function quantile_slopes.attached (d, x, tail, upper, finish)
  local reached, density = where(upper, d:log_sf(x), d:log_cdf(x)), core.bare(d:log_prob(x))
  local pace = where(upper, -1, 1) * exp(core.bare(reached) - density)
  local is_known = functions.isfinite(pace) * functions.isfinite(core.bare(reached)) * functions.gt(core.bare(tail), 0)
  local off = where(is_known, log(where(is_known, tail, 1)) - where(is_known, reached, 0), 0)
  local sloped, is_end = x + where(is_known, pace, 0) * (off - core.bare(off)), functions.eq(core.bare(tail), 0)
  if not any(is_end) then return sloped end
  local last = finish()
  is_end = is_end * functions.isfinite(core.bare(last))
  return any(is_end) and where(is_end, last, sloped) or sloped
end

return quantile_slopes
