--- Slopes of expectations in the parameters of a law: which way they are taken, what ends and points that move do to
-- them, and where there are none.
local attempt   = require "perilune.attempt"
local batches   = require "perilune.batches"
local core      = require "perilune.core"
local ends      = require "perilune.ends"
local errors    = require "perilune.errors"
local functions = require "perilune.functions"
local masses    = require "perilune.points"
local tensor    = require "perilune.tensor"

local where, maximum, minimum, abs, exp = functions.where, functions.maximum, functions.minimum, functions.abs,
                                          functions.exp
local gt = functions.gt
local own, rows, any = batches.own, batches.rows, batches.any
local WEIGHTLESS = 1e-250   -- weights of no account
local INEXACT    = 2 ^ -44  -- part of a number by which transforms round it at most
local GROWS_FROM, GROWTH = 2 ^ -20, 0.1   -- f that changes by more, closer to a point than this part of it, has a pole

local slopes = {}

--- A number on one side of c, further away than transforms round what f is made of.
function slopes.beside (c, side) return c + side * maximum(INEXACT * minimum(abs(c), 1e308), 5e-324) end

-- Ends of d that move with parameters: a list of their sides, -1 or 1, with `finish`, and the place `x` next to it
-- where there is mass, { 1, batch... }.
local function moving_ends (d)
  local low, high = ends.of(d.support)
  local list = {}
  if core.tracked(low) then
    list[1] = { side = -1, finish = low, x = rows(d, 1, masses.after(core.bare(low))) }
  end
  if core.tracked(high) then
    list[#list + 1] = { side = 1, finish = high, x = rows(d, 1, masses.before(core.bare(high))) }
  end
  return list
end

-- Are density and f finite at ends that move?
local function are_plain (d, f, list)
  for _, stop in ipairs(list) do
    local size = core.bare(d:log_prob(stop.x)) + abs(core.bare(f(stop.x)))
    if any(1 - functions.isfinite(size)) then return false end
  end
  return true
end

--- May derivatives be taken at quantiles that stay where they are, d E f = E[f d log p]? Then neither jumps of f nor
-- infinite slopes of it or of quantiles matter. So it is for densities between ends that no parameter moves; and also
-- where ends move, if f may jump or have poles at points in between, with what they cut off.
function slopes.has_score (d, f, quarters, is_mixed, points)
  if is_mixed or d.is_circular or not own(d, "log_prob") then return false end
  if not core.tracked(d:log_prob(quarters:select(1, 1))) then return false end
  local list = moving_ends(d)
  return #list == 0 or points ~= nil and #points > 0 and are_plain(d, f, list)
end

--- Values of f at quantiles x, { n, batch... }, that move as their weights do. E d log p = 0, so that it does not
-- matter what is taken off f, but for rounding: what it is in the middle. Where weights do not count x is not looked
-- at.
function slopes.weighed (d, values, x, weights, middle)
  local n, log_p = #x, core.bare(core.no_grad(d.log_prob, d, x))
  local counts = gt(weights, WEIGHTLESS) * functions.isfinite(log_p)
  log_p = rows(d, n, d:log_prob(where(counts, x, middle.x)))
  local above = core.bare(values) - middle.f
  return values + where(functions.isfinite(above), above, 0) * functions.expm1(log_p - core.bare(log_p))
end

--- 0, with the slopes of what ends that move cut off.
function slopes.cut_off (d, f, middle)
  local sum = 0
  for _, stop in ipairs(moving_ends(d)) do
    local above = core.bare(rows(d, 1, f(stop.x))) - middle.f
    local rate = exp(core.bare(rows(d, 1, d:log_prob(stop.x)))) * above
    sum = sum + (stop.side * rate * rows(d, 1, stop.finish - core.bare(stop.finish))):select(1, 1)
  end
  return sum
end

-- By what f jumps at points c, { n, batch... }; nothing where that is not finite, or c was met before. Elsewhere it is
-- continuous, and the difference is rounding.
local function jumps_of (d, f, c)
  local n, seen = #c, {}
  local jumps = rows(d, n, core.bare(f(slopes.beside(c, 1)))) - rows(d, n, core.bare(f(slopes.beside(c, -1))))
  for i = 1, n do
    local again = 0
    for j = 1, i - 1 do again = maximum(again, functions.eq(c:select(1, i), c:select(1, j))) end
    local jump = jumps:select(1, i)
    seen[i] = where(functions.isfinite(jump), (1 - again) * jump, 0)
  end
  return tensor.stack(seen)
end

-- Points of a list that move with parameters, or do not, as rows.
local function rows_that_move (d, list, moves)
  local found = {}
  for _, point in ipairs(list) do
    if core.tracked(point) == moves then found[#found + 1] = rows(d, 1, point) end
  end
  return found
end

-- Refuses f that grows without end towards points that move, { n, batch... }, as the logarithm of a density with a pole
-- does: slopes of f at other places do not add up to that of E f.
local function check_poles (d, f, points, counts, width)
  local c = core.bare(points)
  for side = -1, 1, 2 do
    local near, far = rows(d, #c, core.bare(f(slopes.beside(c, side)))),
                      rows(d, #c, core.bare(f(c + side * GROWS_FROM * maximum(abs(c), width))))
    if any(counts * functions.isfinite(far) * (1 - functions.le(abs(near - far), GROWTH))) then
      errors.raise("expectation: has no gradient here: f has a pole that moves, as logarithms of densities have where "
                   .. "these begin with one; peri.no_grad gives the value alone")
    end
  end
end

--- What moving the points, or mass across them, does to E f, where f jumps there: a quantile that passes one takes its
-- level along, of which the slope of f along quantiles knows nothing; or where mass stays in place, the density there.
-- The value is 0.
function slopes.across (d, f, list, has_middle)
  local moving, x = rows_that_move(d, list, true), rows_that_move(d, list, false)
  table.move(x, 1, #x, #moving + 1, moving)   -- of points at one place the first counts
  local n = #moving - #x
  if #moving == 0 then return 0 end
  x = tensor.cat(moving)
  local c, levels = core.bare(x), attempt.method(d, "cdf", x)
  if not (core.is_tensor(levels) and core.tracked(levels)) then return 0 end
  local fixed, quarters = core.bare(levels), core.bare(tensor.cat { rows(d, 1, d:icdf(0.25)), rows(d, 1, d:isf(0.25)) })
  local inside = gt(fixed, 0) * functions.lt(fixed, 1)
  local safe = where(inside, c, quarters:narrow(1, 1, 1))
  if n > 0 then
    local width = abs(quarters:narrow(1, 2, 1) - quarters:narrow(1, 1, 1))
    core.no_grad(check_poles, d, f, safe:narrow(1, 1, n), inside:narrow(1, 1, n), width)
  end
  local passed = has_middle and core.bare(core.no_grad(d.prob, d, c)) * (x - c) or levels - fixed
  return -where(inside, core.no_grad(jumps_of, d, f, safe) * passed, 0):sum(1)
end

return slopes
