--- Expectations E[f(X)] of distributions of single numbers, without sampling.
--
-- Continuous: an integral over quantiles. Either half of the mass is read from its own end,
--
--   E f(X) = 1/2 int_0^inf (f(icdf(u)) + f(isf(u))) e^-t dt,    u = e^-t/2,
--
-- so that tails and singular ends keep their digits and become smooth; no density is needed. A class
-- without quantiles has its density integrated over its support. Discrete: a sum, see outcomes.lua.
local attempt    = require "perilune.attempt"
local batches    = require "perilune.batches"
local class      = require "perilune.class"
local core       = require "perilune.core"
local effort     = require "perilune.effort"
local errors     = require "perilune.errors"
local functions  = require "perilune.functions"
local ends       = require "perilune.ends"
local modes      = require "perilune.modes"
local outcomes   = require "perilune.outcomes"
local masses     = require "perilune.points"
local quadrature = require "perilune.quadrature"
local quantile_path = require "perilune.quantile_path"
local show       = require "perilune.show"
local slopes     = require "perilune.expectation_slopes"
local tensor     = require "perilune.tensor"

local where, maximum, minimum, abs, exp = functions.where, functions.maximum, functions.minimum, functions.abs,
                                          functions.exp
local gt       = functions.gt
local INF      = math.huge
local REACH    = ends.REACH
local EXTREME  = 1e150    -- beyond it squares overflow
local FAR      = 2.0 ^ 380   -- beyond it ends.lua follows f wherever there is something to follow
local STEEP    = 1e290    -- times the mass beyond: quantiles there may move infinitely as it does
local FAINT, NOTHING = 1e-12, 1e-60   -- masses that are next to none at an end, and far out
local FINEST   = 2 ^ -50  -- levels closer together than this have the same quantile, near the median
local ROOM     = 2 ^ 15   -- elements of points in one call of f: they stay in the cache
local PANELS   = 96       -- of either half of an element that are cut: some 9000 points

-- In units of effort.lua: what an expectation of an element may cost; of a point, quadrature with f, and a step along
-- a path.
local BUDGET, POINT, STEP = 12000, 0.2, 0.2
local MOST_FIRST = 2   -- times what is left that first panels may take: most digits come from them

local own, rows, any = batches.own, batches.rows, batches.any


-- Continuous ------------------------------------------------------------------

-- Is x so close to the end e that nothing is left of the distance?
local function is_at (x, e)
  if type(e) == "number" and abs(e) == INF then return 0 end
  return functions.le(abs(x - e), 2 ^ -52 * abs(e)) * functions.isfinite(e)
end

-- What quadrature cannot see: f at points that were rounded to an end of the support, or where x or its square
-- overflows. Of both halves, { 2, batch... }: `mass` bounds their probability, `largest` is the greatest finite
-- |f|, some f may be `infinite`.
local function new_losses (shape, is_mixed)
  local none = core.zeros(shape)
  return { mass = none, largest = none, infinite = none, is_mixed = is_mixed }
end

-- Where x is rounded to an end, which has no mass itself, or f is not finite for being extreme: a tensor, or 0.
local function lost_at (d, x, finite, is_mixed)
  local low, high = ends.of(d.support)
  local lost = is_mixed and 0 * functions.eq(x, x) or maximum(is_at(x, low), is_at(x, high))
  if core.item(finite:min()) ~= 0 then return any(lost) and lost or 0 end
  local size = abs(x)
  local extreme = maximum(size:gt(EXTREME), size:lt(1 / EXTREME) * maximum(functions.eq(low, 0), functions.eq(high, 0)))
  return maximum(lost, extreme * (1 - finite))
end

-- Points with next to no mass where slopes of f, or of quantiles, may overflow: those that are `lost`, or far out.
local function is_steep (x, mass, lost)
  local size = abs(x)
  local is_far = maximum(functions.lt(size, 1 / FAR), gt(size, minimum(FAR, STEEP * mass)))
  return maximum(lost * functions.lt(mass, FAINT), is_far * functions.lt(mass, NOTHING))
end

-- Values of f at x, but next to x where f is not finite at a single point, a pole that x was rounded to. (To 0 numbers
-- are not rounded.)
local function past_poles (d, f, values, x)
  local is_rounded = functions.isfinite(x) * gt(abs(x), 1 / EXTREME)
  local is_pole = (1 - core.bare(values):isfinite()) * (1 - functions.isnan(core.bare(values))) * is_rounded
  if not any(is_pole) then return values end
  local shape, flat = core.shape(values), core.bare(x):reshape(-1, table.unpack(d.batch_shape))
  for side = -1, 1, 2 do
    local other = rows(d, #flat, core.bare(core.no_grad(f, slopes.beside(flat, side)))):reshape(shape)
    values = where(is_pole * functions.isfinite(other), other, values)
  end
  return values
end

-- f at quantiles x of both halves, all { 2, n, batch... }, with weights that are lost where x is.
local function values_at (d, f, values, x, weights, losses)
  local bare = core.bare(values)
  local finite = bare:isfinite()
  local lost = lost_at(d, x, finite, losses.is_mixed)
  losses.largest = maximum(losses.largest, where(finite, abs(bare), 0):max(2))
  if core.tracked(values) then values = where(is_steep(core.bare(x), core.bare(weights), lost), bare, values) end
  if lost == 0 then return values end
  local hidden = lost * (1 - finite)
  losses.mass     = maximum(losses.mass, (lost * weights):max(2))
  losses.infinite = maximum(losses.infinite, hidden:max(2))
  return where(hidden, 0, past_poles(d, f, values, x))
end

-- { 2, batch... } of what is known of the lower and of the upper half.
local function both (d, lower, upper) return tensor.cat { rows(d, 1, lower), rows(d, 1, upper) } end

-- The level t of the quantile at which a stretch begins; `tail` names the mass beyond.
local function level (d, tail, stretch) return -functions.log(2 * d[tail](d, stretch.start)) end

-- Levels t between which a half is integrated: from 0, or where the stretch at the far end begins if that has
-- more than half of the mass; to REACH, or where the stretch at the near end begins.
local function range_of (d, tail, near, far)
  local from = far and where(far.is_used, maximum(level(d, tail, far), 0), 0) or 0
  return from, near and where(near.is_used, maximum(level(d, tail, near), from), REACH) or REACH
end

-- Where the stretches of either half that are used begin, else NaN; and their mass.
local function starts_of (d, lower, upper)
  local function start (stretch) return stretch and where(stretch.is_used, stretch.start, 0 / 0) or 0 / 0 end
  return both(d, start(lower), start(upper))
end

local function mass_of (stretch) return stretch and where(stretch.is_used, stretch.mass, 0) or 0 end

-- Those of both halves, which are spread over v = 0 ... REACH; nil where they are that themselves.
local function ranges_of (d, low, high)
  if not (low or high) then return nil end
  local from_low, to_low = range_of(d, "cdf", low, high)
  local from_high, to_high = range_of(d, "sf", high, low)
  local from, to = both(d, from_low, from_high), both(d, to_low, to_high)
  return { from = from, pace = (to - from) / REACH, is_cut = functions.lt(to, REACH), is_open = functions.lt(from, to),
           first = where(gt(from, 0), starts_of(d, high, low), 0 / 0), last = starts_of(d, low, high),
           outside = mass_of(low) + mass_of(high) }
end

-- How many of the n levels of a half differ: all, or one where it has no panels any more.
local function count_of (t, n) return core.item(t:min()) == core.item(t:max()) and 1 or n end

-- The first `low` rows of the lower half and the first `high` of the upper one, of t { 2, n, batch... }, in a row.
local function firsts (t, low, high)
  return tensor.cat { t:select(1, 1):narrow(1, 1, low), t:select(1, 2):narrow(1, 1, high) }
end

-- { 2, n, batch... } of these rows, the last of each half repeated.
local function full (d, t, n, low, high)
  if low < n or high < n then
    t = tensor.cat { rows(d, n, t:narrow(1, 1, low)), rows(d, n, t:narrow(1, low + 1, high)) }
  end
  return t:reshape(2, n, table.unpack(d.batch_shape))
end

local function quantiles_at (d, weights, low, high)
  return tensor.cat { rows(d, low, d:icdf(weights:select(1, 1):narrow(1, 1, low))),
                      rows(d, high, d:isf(weights:select(1, 2):narrow(1, 1, high))) }
end

-- Points of a path (quantile_path.lua) at v, and p |dx/dv|; or where the density is not finite, at an end, weights.
local function points_along (d, path, v, weights, low, high)
  local x, log_slope = path.at(v)
  x, log_slope = firsts(x:transpose(1, 2), low, high), firsts(log_slope:transpose(1, 2), low, high)
  local along = path.factor * exp(rows(d, low + high, d:log_prob(x)) + log_slope)
  return x, where(functions.isfinite(along), along, firsts(weights, low, high))
end

-- f at x, { n, batch... }, without slopes where x is at an end of the support, beyond squares or next to 0: infinite
-- ones would be NaN even where they are multiplied by 0. Instead of there, slopes are asked for at a `safe` place.
local function values_of (d, f, x, safe)
  local values = rows(d, #x, f(x))
  if not core.tracked(values) then return values end
  local low, high = ends.of(d.support)
  local place = core.bare(x)
  local is_end = maximum(is_at(place, core.bare(low)), is_at(place, core.bare(high)))
  is_end = maximum(is_end, maximum(gt(abs(place), EXTREME), functions.lt(abs(place), 1 / STEEP)))
  if not any(is_end) then return values end
  return where(is_end, core.bare(values), rows(d, #x, f(where(is_end, core.bare(safe), x))))
end

-- The integrands over both halves of the mass, as functions of v. Points cost so much `each`; f has slopes at a `safe`
-- place. With a `middle` derivatives are those of weights.
local function halves (d, f, losses, range, path, each, safe, middle)
  local from, pace, is_open
  if range then from, pace, is_open = range.from:unsqueeze(2), range.pace:unsqueeze(2), range.is_open:unsqueeze(2) end
  return function (v)
    local n, t = #v, v:transpose(1, 2)
    local low, high = count_of(t:select(1, 1), n), count_of(t:select(1, 2), n)
    effort.spend(each, (low + high) * batches.size(d))
    local weights, x, along = 0.5 * exp(-(range and from + t * pace or t))
    local of_v = range and weights * pace or weights
    if path then x, along = points_along(d, path, v, of_v, low, high)
    elseif middle then x = core.no_grad(quantiles_at, d, weights, low, high)
    else x = quantiles_at(d, weights, low, high) end
    local values = losses.is_mixed and rows(d, low + high, f(x)) or values_of(d, f, x, safe)
    if middle then values = slopes.weighed(d, values, x, firsts(weights, low, high), middle) end
    values = full(d, values, n, low, high)
    values = values_at(d, f, values, full(d, x, n, low, high), range and weights * is_open or weights, losses)
    return ((path and full(d, along, n, low, high) or of_v) * values):transpose(1, 2)
  end
end

-- v, { n, half, batch... }, at which the path is at x, from those at which quantiles are: Newton's method.
local function moved_to (path, x, v)
  local target, sides = x:unsqueeze(2), core.tensor { -1, 1 }
  for _ = 3, #core.shape(v) do sides = sides:unsqueeze(-1) end
  for _ = 1, 4 do
    local here, log_slope = path(maximum(v, 0))
    local next = v - sides * (here - target) * exp(-log_slope)
    v = where(gt(v, 0) * functions.isfinite(next), next, v)
  end
  return v
end

-- v at which quantiles are x, { n, batch... }, or the path is, in the half that each belongs to.
local function add_levels (d, x, range, list, path)
  local n, below, above = #x, attempt.method(d, "cdf", x), attempt.method(d, "sf", x)
  if not (below and above) then return end
  local is_low = functions.lt(below, above)
  local t = tensor.stack { rows(d, n, where(is_low, below, 1)), rows(d, n, where(is_low, 1, above)) }
  t = -functions.log(2 * t):transpose(1, 2)
  local v = range and (t - range.from) / range.pace or t
  v = path and core.no_grad(moved_to, path, core.bare(x), core.bare(v)) or v
  for i = 1, n do list[#list + 1] = v:select(1, i) end
end

-- Break points in v: those of all that decays, the mode, where densities have their kinks, and opts.points.
local function quantile_points (d, opts, range, breaks, path)
  local list, points = { table.unpack(breaks) }, { modes.of(d) }
  for _, x in ipairs(opts.points or {}) do points[#points + 1] = x end
  for i, x in ipairs(points) do points[i] = rows(d, 1, x) end
  if #points > 0 then add_levels(d, tensor.cat(points), range, list, path) end
  return list
end

-- Options of the quadrature of a batch of this shape: the caller's, break points, and as many panels in a call as
-- memory likes.
local function settings (d, opts, shape, points)
  return {
    shape = shape, as_tensor = rawget(d, "batch_shape") ~= nil, points = points,
    rtol = opts.rtol, atol = opts.atol, panels = opts.panels or PANELS, rounds = opts.rounds,
    purse = opts.purse,
    at_once = math.max(1, math.floor(ROOM / (2 * quadrature.POINTS * batches.size(d)))),
  }
end

local TAILS = { low = "cdf", high = "sf" }

local function quartiles (d) return both(d, d:icdf(0.25), d:isf(0.25)) end

-- |f| at the quartiles.
local function typical_of (d, f, quarters) return abs(rows(d, 2, f(quarters))):max(1) end

local function finite (x) return where(functions.isfinite(x), x, 0) end

-- A place where there is mass, and f there.
local function middle_of (d, f, quarters)
  local x = core.bare(quarters):narrow(1, 1, 1)
  return { x = x, f = finite(core.bare(rows(d, 1, f(x)))) }
end

-- The stretches of d along which f can be followed, beginning before REACH.
local function followed_stretches (d, f, opts, quarters)
  local list, found = own(d, "cdf") and ends.stretches(d) or {}, {}
  for _, name in ipairs(ends.NAMES) do
    local stretch, tail = list[name], TAILS[name]
    local begins = stretch and functions.lt(level(d, tail, stretch), REACH)
    if stretch and any(begins) then
      ends.follow(d, stretch, f, opts.parts, typical_of(d, f, quarters))
      stretch.is_used, stretch.mass = stretch.is_used * begins, d[tail](d, stretch.start)
      found[name] = any(stretch.is_used) and stretch or nil
    end
  end
  return found
end

-- The part of the mass that lies within rounding of a point: that of a jump of f may be on its wrong side. It is
-- judged at the quartiles x, or where stretches begin. `grain` says how far x moves if f's argument is off by its size.
local function resolution_of (d, list, x, grain)
  local low, high = list.low, list.high
  x = low and where(low.is_used, maximum(x, low.start), x) or x
  x = high and where(high.is_used, minimum(x, high.start), x) or x
  local size = grain and maximum(abs(x), finite(rows(d, 2, grain(x)))) or abs(x)
  local part = 2 ^ -52 * size * exp(rows(d, 2, d:log_prob(x)))
  return where(functions.isfinite(part), minimum(part, 1), 0):max(1)
end

-- Levels t of either half where most of the mass is, and some of them for laws whose quantiles are dear.
local COMMON, SOME, DEAR = core.linspace(0, 6.2, 32), core.linspace(0, 6.2, 8), 5

-- Quantiles there, or points near them on a path, { n, batch... }.
local function common_points (d, path)
  local t = (path or effort.quantile(d) < DEAR) and COMMON or SOME
  local n = #t
  for _ = 1, #d.batch_shape do t = t:unsqueeze(-1) end
  if path then
    local x = path.at(rows(d, n, t):unsqueeze(2):expand(n, 2, table.unpack(d.batch_shape)))
    return x:reshape(2 * n, table.unpack(d.batch_shape))
  end
  local levels = 0.5 * exp(-t)
  return tensor.cat { rows(d, n, d:icdf(levels)), rows(d, n, d:isf(levels)) }
end

-- How far f moves over these points, as far as it is finite.
local function swing_of (d, f, path)
  local x = common_points(d, path)
  local values = core.bare(rows(d, #x, f(x)))
  local counts = values:isfinite()
  local swing = where(counts, values, -INF):max(1) - where(counts, values, INF):min(1)
  return finite(swing)
end

-- What rounding of x does to the mass on either side of a jump of f; of divergences, which have none, nothing.
local function blurred (d, f, opts, list, path, quarters)
  if opts.parts or opts.rest or not own(d, "log_prob") then return 0 end
  return swing_of(d, f, path) * resolution_of(d, list, quarters, opts.grain)
end

-- The parts of E f in all stretches, and their error, beside the `value` of the rest.
local function in_stretches (d, list, value, opts)
  local sum, error = 0, 0
  for _, name in ipairs(ends.NAMES) do
    local stretch = list[name]
    if stretch then
      local part, part_error = ends.part(stretch, value, settings(d, opts, d.batch_shape), stretch.mass)
      sum, error = sum + part, error + part_error
    end
  end
  return sum, error
end

-- A path that stands for the quantiles of d where these are dearer than its density, or nil.
local function path_of (d, range)
  if not quantile_path.is_worth(d) then return nil end
  local breaks = ends.breaks(effort.density(d))
  return quantile_path.new(d, function (path) return quantile_points(d, {}, range, breaks, path) end, range)
end

-- What may be spent on an expectation under d, or on several.
local function purse_of (d, count) return effort.begin((count or 1) * BUDGET * batches.size(d)) end

-- E f beyond the ends of a path, as if f were there what it is where the path ends; and how far from that it is at the
-- ends of the support. { 2, batch... }
local function beyond_path (d, f, path)
  local function asked (x) return rows(d, 2, core.bare(f(rows(d, 2, x)))) end
  local low, high = ends.of(d.support)
  local finish, values = both(d, low, high), asked(path.last)
  local others = asked(where(functions.isfinite(finish), finish, path.last))
  local far = where(functions.isfinite(others), abs(others - values), abs(values))
  return finite(path.beyond * values), finite(path.beyond * far)
end

local function by_quantiles (d, f, opts)
  local purse = opts.purse or purse_of(d)
  local shape = { 2, table.unpack(d.batch_shape) }
  local is_mixed = masses.exist(d)   -- then densities do not tell
  local losses = new_losses(shape, is_mixed)
  local quarters = quartiles(d)
  local list = is_mixed and {} or followed_stretches(d, f, opts, quarters)
  local middle = slopes.has_score(d, f, quarters, is_mixed, opts.points) and middle_of(d, f, quarters)
  local range = middle and core.no_grad(ranges_of, d, list.low, list.high) or ranges_of(d, list.low, list.high)
  local path = not is_mixed and path_of(d, range) or nil
  local first = path and effort.density(d) or effort.quantile(d)
  local each = POINT + (opts.beside or 0) + first + (path and STEP or 0)
  local safe = quarters:narrow(1, 1, 1)
  local integrand = halves(d, f, losses, range, path, each, safe, middle)
  local panel = 2 * quadrature.POINTS * batches.size(d) * each
  local function is_paid (breaks) return (#breaks + 1) * panel < MOST_FIRST * purse:left() end
  local least = path and ends.breaks(first) or nil   -- along a path they are cheap beside the path itself
  local breaks = opts.breaks or ends.breaks(first + (opts.beside or 0), is_paid, least)
  local options = settings(d, opts, shape, quantile_points(d, opts, range, breaks, path and path.at))
  options.finest, options.purse = FINEST, purse
  options.enough = opts.weights and batches.enough(core.bare(opts.weights), opts.rtol or 1e-13, d.batch_shape, 2)
  local value, error = quadrature.integrate(integrand, 0, REACH, options)
  local rest, doubt = opts.rest, opts.rest_error
  if not rest then
    -- only quantiles tell how it decays
    local exact = path and halves(d, f, losses, range, nil, each, safe) or integrand
    rest, doubt = ends.remainder(exact, shape, value, range and range.is_cut or 0)
  end
  local lost = 2 * (losses.mass * losses.largest):sum(1)   -- by mass that was lost
  value, error = (value + rest):sum(1), (error + doubt):sum(1) + lost
                 + blurred(d, f, opts, list, not range and path, quarters)
  if path then
    local missed, its_error = beyond_path(d, f, path)
    value = value + missed:sum(1)
    error = error + its_error:sum(1) + path.off * maximum(abs(value), finite(typical_of(d, f, quarters)))
  end
  -- f is infinite, and outweighs what was found
  value = where(losses.infinite:max(1) * functions.gt(lost, 0.5 * abs(value)), functions.sign(value) * INF, value)
  local part, part_error = in_stretches(d, list, value, opts)
  value, error = value + part, error + part_error
  if middle then value = value + slopes.cut_off(d, f, middle) end
  if middle and range then   -- what was taken off f is missed only where quantiles were asked for
    local outside = mass_of(list.low) + mass_of(list.high)
    value = value - middle.f:select(1, 1) * (outside - core.bare(outside))
  end
  local vain = functions.gt(losses.mass:max(1), 0.25)   -- hardly anything was seen
  error = where(functions.isfinite(value) * (1 - vain) * (1 - functions.isnan(error)), error, INF)
  return value, error, middle ~= nil and middle ~= false
end

local measured = setmetatable({}, { __mode = "k" })   -- whose mean may be this very expectation

-- Where the mass is, and how wide, as far as a distribution can say.
local function place (d)
  if measured[d] or not (own(d, "mean") and (own(d, "variance") or own(d, "stddev"))) then
    return require "perilune.tabulated".place(d)
  end
  measured[d] = true
  local centre, scale = attempt.method(d, "mean") or 0, attempt.method(d, "stddev") or 1
  measured[d] = nil
  return centre, scale
end

-- x(t) and dx/dt for t on the real line, by the kind of the support of each element; and t where a stretch
-- begins.
local function substitution (d)
  local low, high = ends.of(d.support)
  local centre, scale = place(d)
  centre, scale = where(functions.isfinite(centre), centre, 0), where(functions.isfinite(scale), scale, 1)
  local has_low, has_high = functions.isfinite(low), functions.isfinite(high)
  return function (t)
    local up, down, part = exp(t), exp(-t), functions.sigmoid(t)
    local wide, above, below = scale * 0.5 * (up + down), scale * up, scale * down
    local x = where(has_low, where(has_high, low + (high - low) * part, low + above),
                    where(has_high, high - below, centre + scale * 0.5 * (up - down)))
    local slope = where(has_low, where(has_high, (high - low) * part * functions.sigmoid(-t), above),
                        where(has_high, below, wide))
    return x, slope
  end, function (stretch)
    local share = stretch.w / (high - low)
    local ratio = where(functions.gt(stretch.outwards, 0), stretch.w / scale, scale / stretch.w)
    local sinh = where(maximum(has_low, has_high), 1, 2)
    return functions.log(where(has_low * has_high, (1 - share) / share, sinh * ratio))
  end
end

-- For a class that has a density only. What rounding hides of a singular end shows in the integral of
-- the density itself. v = -REACH ... REACH is spread over t between the stretches.
local function by_density (d, f, opts)
  local points, hidden, list = { 0 }, 0, ends.stretches(d)
  local x_of, start_of = substitution(d)
  for e = -20, 9 do points[#points + 1], points[#points + 2] = 2.0 ^ e, -2.0 ^ e end
  local function pace (stretch)
    return stretch and where(stretch.is_used, start_of(stretch) / REACH, 1) or 1
  end
  local function integrate (h, parts)
    for _, name in ipairs(next(list) and ends.NAMES or {}) do ends.follow(d, list[name], h, parts, 0) end
    local down, up = pace(list.low), pace(list.high)
    local value, error = quadrature.integrate(function (v)
      local step = where(v:lt(0), down, up)
      local x, slope = x_of(v * step)
      x = rows(d, #v, x)
      local weights, values = exp(rows(d, #v, d:log_prob(x))) * slope * step, rows(d, #v, h(x))
      weights = where(x:isinf(), 0, weights)   -- beyond all numbers
      local singular = weights:isinf()
      hidden = maximum(hidden, where(singular * values:isfinite(), abs(values), 0):max(1))
      return where(maximum(singular, weights:eq(0)), 0, weights * values)
    end, -REACH, REACH, settings(d, opts, d.batch_shape, points))
    local part, part_error = in_stretches(d, list, value, opts)
    return value + part, error + part_error
  end
  local value, error = integrate(f, opts.parts)
  local mass = integrate(function (x) return x:eq(x) end)
  local rounding = next(list) and 2 ^ -45 or 0   -- of x near an end
  return value, error + rounding * abs(value) + abs(1 - mass) * maximum(hidden, abs(value))
end


local function of_outcomes (d, f, opts)
  local options = {}
  for key, value in pairs(opts) do options[key] = value end
  options.purse = opts.purse or purse_of(d)
  return outcomes.expectation(d, f, options)
end


-- A result in the batch shape, or a number where all parameters are and f has no gradient.
local function shaped (d, x)
  local plain = rawget(d, "batch_shape") == nil
  if not plain or core.tracked(x) then return (core.is_tensor(x) and x or core.tensor(x)):reshape(d.batch_shape) end
  return core.item(x)
end

local function is_number (x) return type(x) == "number" and x >= 0 end
local function is_count (x) return math.type(x) == "integer" and x > 0 end
local function is_parts (x) return type(x) == "table" and x.inner and x.outer end

local function is_points (x)
  if core.table_kind(x) ~= "data" then return false end
  for _, point in ipairs(x) do
    if type(point) ~= "number" and not core.is_tensor(point) then return false end
  end
  return true
end

local RULES = {
  rtol     = { is_number, "a number from 0 on" },
  atol     = { is_number, "a number from 0 on" },
  panels   = { is_count,  "a positive integer" },
  outcomes = { is_count,  "a positive integer" },
  points   = { is_points, "a list of numbers or tensors" },
  parts    = { is_parts,  "a table with the functions inner and outer" },
}
local OPTIONS = { "rtol", "atol", "panels", "points", "outcomes", "parts" }
-- Which laws made of others, and divergences, pass on.
local OUR_OWN = { purse = true, beside = true, weights = true, grain = true, pieces = true }

-- Options that a user may have given.
local function theirs (opts)
  if type(opts) ~= "table" or getmetatable(opts) then return opts end
  local told = {}
  for name, value in pairs(opts) do
    if not OUR_OWN[name] then told[name] = value end
  end
  return told
end

local function check (d, who, opts)
  opts = theirs(opts)
  errors.check_options(who, opts, OPTIONS)
  for name, value in pairs(opts or {}) do
    local holds, rule = table.unpack(RULES[name])
    if not holds(value) then errors.raise("%s: %s must be %s, got %s", who, name, rule, core.describe(value)) end
  end
  if #d.event_shape > 0 then
    errors.raise("%s: only distributions of single numbers have one, here an event has shape %s", who,
                 show.shape(d.event_shape))
  end
end

local expectation = {}

--- The arguments f and opts of a method of d, checked: every class that has a better way calls this first.
function expectation.checked (d, f, opts, ...)
  errors.no_more("expectation(f, opts)", ...)
  local who = class.name(class.of(d)) .. ":expectation"
  f = errors.check_function(who, "f", f)
  check(d, who, opts)
  return f, opts or {}
end

--- What may be spent on an expectation under d, or on several.
expectation.purse = purse_of

--- E[X] of a law that has quantiles, as a distance from its median: so rounding of densities is a part of the spread,
-- and not of X.
function expectation.mean (d, opts)
  local centre = d.support and d.support.is_discrete and 0 or finite(d:icdf(0.5))
  centre = core.bare(centre)
  return centre + d:expectation(function (x) return x - centre end, opts)
end

--- E[f(X)] and an estimate of its error, for each element of the batch of d. f gets x of shape
-- { n, batch... } and returns as many values. opts: rtol, atol, panels as in quadrature.lua, and
-- points, a list of numbers or batches of them where f has a kink or jump; outcomes, after how many of an element
-- of a discrete distribution no more of them are looked at in between. Divergences say as well how many `rounds` of
-- panels there are at most, what a `purse` (effort.lua) may pay, what f costs `beside` a point, `weights` of components
-- whose sum matters, `pieces` that the law is known to have, the `grain` of transforms (stages.lua), and other `breaks`
-- of first panels, levels t; and of f without jumps the `rest` beyond the last of these levels, { 2, batch... }, with
-- its `rest_error`.
function expectation.of (d, f, opts)
  if batches.size(d) == 0 then return core.zeros(d.batch_shape), core.zeros(d.batch_shape) end
  local method = by_density
  if d.support and d.support.is_discrete then method = of_outcomes
  elseif own(d, "icdf") then method = by_quantiles end
  local value, error, has_middle = method(d, f, opts)
  if method == by_quantiles and opts.points then value = value + slopes.across(d, f, opts.points, has_middle) end
  return shaped(d, value), shaped(d, error)
end

return expectation
