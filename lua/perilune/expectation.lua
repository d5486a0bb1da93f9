--- Expectations E[f(X)] of distributions of single numbers, without sampling.
--
-- Continuous: an integral over quantiles. Either half of the mass is read from its own end,
--
--   E f(X) = 1/2 int_0^inf (f(icdf(u)) + f(isf(u))) e^-t dt,    u = e^-t/2,
--
-- so that tails and singular ends keep their digits and become smooth; no density is needed. A class
-- without quantiles has its density integrated over its support. Discrete: a sum, see outcomes.lua.
local Distribution = require "perilune.distribution"
local class        = require "perilune.class"
local core         = require "perilune.core"
local functions    = require "perilune.functions"
local outcomes     = require "perilune.outcomes"
local quadrature   = require "perilune.quadrature"
local show         = require "perilune.show"

local where, maximum, minimum, abs, exp = functions.where, functions.maximum, functions.minimum, functions.abs,
                                          functions.exp
local INF      = math.huge
local REACH    = 700      -- e^-REACH is a normal number
local STRIDE   = 16       -- over which the decay at REACH is judged
local FEW      = 64       -- a batch up to this size has its kinks as break points
local EXTREME  = 1e150    -- beyond it squares overflow, and below its reciprocal they vanish
local ROOM     = 2 ^ 20   -- elements of points in one call of f

-- The method of d, or nil where there is only the one that says it is missing.
local function own (d, name) return d[name] ~= Distribution[name] and d[name] or nil end

-- The value of a method, or nil where it is missing or refuses.
local function attempt (d, name, ...)
  local ok, value = pcall(d[name], d, ...)
  return ok and value or nil
end

-- Numbers of a number or a tensor.
local function elements (x) return core.is_tensor(x) and x:reshape(-1):totable() or { x } end

local function rank_of (d) return #d.batch_shape end

-- x for n rows of the batch, whatever f or a quantile made of it.
local function rows (d, n, x)
  local t = core.is_tensor(x) and x or core.tensor(x)
  return t:expand(n, table.unpack(d.batch_shape))
end

-- The ends of a support, which a distribution may be silent about.
local function ends (support)
  if support == nil then return -INF, INF end
  return support.low or -INF, support.high or INF
end

local function batch_size (d)
  local size = 1
  for _, n in ipairs(d.batch_shape) do size = size * n end
  return size
end


-- Singular ends ---------------------------------------------------------------

-- A density like |x - e|^(b - 1) has mass so close to its end e that doubles cannot tell x from e, unless
-- e is 0. With s = log(w/|x - e|), for x within a small w of e, log p and most f are quadratics in s but
-- for a term like e^-s. That is read off at points which are exact, and followed to the end:
--
--   int f p dx  =  w int_0^inf f(s) p(s) e^-s ds

local WIDTH, WIDTH_AT_0   = 2 ^ -21, 2.0 ^ -400   -- w, as a part of |e|
local PLACES, PLACES_AT_0 = { 0, 3, 7, 17, 22, 27 }, { 0, 3, 170, 340, 440, 540 }   -- -log2(|x - e|/w) of the points
local REGULAR = 0.95    -- a density that decays faster than e^(-REGULAR s) hides nothing
local ROUGH   = 1e-7    -- no quadratic: further from the third point than this part of its size

-- The quadratic in s through the last three points, its slope at 0 and its bend; a straight line where the
-- bend is no more than rounding.
local function quadratic (s, y)
  local wide, low = (y[6] - y[4]) / (s[6] - s[4]), (y[5] - y[4]) / (s[5] - s[4])
  local bend = (wide - low) / (s[6] - s[5])
  local noise = 2 ^ -50 * maximum(abs(y[4]), abs(y[6])) / functions.square(s[6] - s[5])
  bend = where(functions.lt(abs(bend), noise), 0, bend)
  return function (at) return y[4] + (at - s[4]) * (wide + (at - s[6]) * bend) end, wide - bend * (s[4] + s[6]), bend
end

-- That and a term (a + b s) e^-s which meets the first two points, as a function of s; how far it is from
-- the third point; slope and bend of the quadratic.
local function fitted (s, y)
  local main, slope, bend = quadratic(s, y)
  local rest
  for _ = 1, 4 do   -- each time with less of the term left, which at the last points is small
    local a, b = (y[1] - main(s[1])) * exp(s[1]), (y[2] - main(s[2])) * exp(s[2])
    local without, rise = {}, (b - a) / (s[2] - s[1])
    rest = function (at) return (a + rise * (at - s[1])) * exp(-at) end
    for i = 1, #y do without[i] = y[i] - rest(s[i]) end
    main, slope, bend = quadratic(s, without)
  end
  local function value (at) return main(at) + rest(at) end
  return value, abs(value(s[3]) - y[3]), slope, bend
end

-- The points near the end e, as { 1, batch... } each, and their s.
local function points_near (d, e, side, w)
  local x, s = {}, {}
  for i, place in ipairs(PLACES) do
    local part = where(functions.eq(e, 0), 2.0 ^ -PLACES_AT_0[i], 2.0 ^ -place)
    x[i] = rows(d, 1, e - side * w * part)
    s[i] = functions.log(w / abs(x[i] - e))
  end
  return x, s
end

-- The last stretch of the law of d before its end e, above (side = 1) or below it (side = -1), in so far
-- as it `is_singular` there; or nil. `span` is the width of the support.
local function stretch_at (d, e, side, span)
  if type(e) == "number" and abs(e) == INF or not own(d, "log_prob") then return nil end
  local w = minimum(where(functions.eq(e, 0), WIDTH_AT_0, WIDTH * abs(e)), 0.125 * span)
  local x, s = points_near(d, e, side, w)
  local log_p, size = {}, 0
  for i = 1, #x do
    log_p[i] = rows(d, 1, d:log_prob(x[i]))
    size = maximum(size, abs(log_p[i]))
  end
  local density, off, slope, bend = fitted(s, log_p)
  local rate, curve = 1 - slope, functions.sqrt(maximum(-2 * bend, 0))
  local is_singular = functions.lt(rate, REGULAR) * functions.lt(bend, 1e-10) * functions.lt(off, ROUGH)
                      * maximum(functions.gt(rate, 1e-6), functions.gt(curve, 1e-4))
  if core.item(is_singular:max()) == 0 then return nil end
  return { side = side, w = w, x = x, s = s, density = density, off = off, size = size,
           is_singular = is_singular, scale = 1 / where(is_singular, maximum(rate, curve), 1) }
end

-- The part of E f in a stretch, its error, and for which elements f can be followed that far.
local function followed (d, stretch, f, opts)
  local y, size = {}, 0
  for i, x in ipairs(stretch.x) do
    y[i] = rows(d, 1, f(x))
    size = maximum(size, abs(y[i]))
  end
  local value, off = fitted(stretch.s, y)
  local known = stretch.is_singular * functions.le(off, ROUGH * maximum(size, 1e-300))
  if core.item(known:max()) == 0 then return 0, 0, known:select(1, 1) end
  local function part (h)
    return quadrature.integrate(function (t)
      local s = t * stretch.scale
      return where(known, h(s) * exp(stretch.density(s) - s) * stretch.scale * stretch.w, 0)
    end, 0, REACH, opts)
  end
  local sum, error = part(value)
  local mass = part(function () return 1 end)
  local bend = 2 ^ -55 * stretch.scale ^ 2   -- what rounding can make of a quadratic by the time s has decayed
  local doubt = 20 * (off * mass + abs(sum) * stretch.off) + 1e-13 * size * mass
                + bend * (size * mass + stretch.size * abs(sum))
  return sum, error + where(known, doubt, 0):select(1, 1), known:select(1, 1)
end

-- The stretches at both ends of the law of d that have any, as { low =, high = }.
local function stretches (d)
  local low, high = ends(d.support)
  return { low = stretch_at(d, low, -1, high - low), high = stretch_at(d, high, 1, high - low) }
end

-- Follows f to singular ends: the sum of these parts, and their error. Each stretch learns for which elements
-- it is `known`: there the rest of the integral stops at its beginning.
local function to_the_ends (d, list, f, opts)
  local sum, error = 0, 0
  for _, stretch in pairs(list) do
    local part, part_error, known = followed(d, stretch, f, opts)
    stretch.known = known
    sum, error = sum + part, error + part_error
  end
  return sum, error
end


-- Continuous ------------------------------------------------------------------

-- What quadrature cannot see: f at points that were rounded to an end of the support, or where x
-- or its square overflows. `mass` bounds their probability, `largest` is the greatest finite |f| in the
-- same half.
local function new_losses () return { mass = 0, largest = 0 } end

-- f at x, with 0 where it is not finite by rounding only; the weights there are lost.
local function values_at (d, f, x, weights, losses)
  local n, low, high = #x, ends(d.support)
  local values, size = rows(d, n, f(x)), abs(x)
  local rounded = maximum(functions.le(x, low), functions.ge(x, high))
  local extreme = maximum(size:gt(EXTREME), size:lt(1 / EXTREME))
  local finite = values:isfinite()
  local lost = maximum(rounded, extreme) * (1 - finite)
  losses.mass = maximum(losses.mass, (lost * weights):max(1))
  losses.largest = maximum(losses.largest, where(finite, abs(values), 0):max(1))
  return where(lost, 0, values)
end

-- Levels t between which a half is integrated: from 0, or where the stretch at the far end begins if that has
-- more than half of the mass; to REACH, or where the stretch at the near end begins. `tail` names the mass
-- that this half counts. Both are spread over v = 0 ... REACH.
local function range_of (d, tail, near, far)
  local function level (stretch) return -functions.log(2 * d[tail](d, stretch.x[1]:select(1, 1))) end
  local from = far and where(far.known, maximum(level(far), 0), 0) or 0
  local to = near and where(near.known, maximum(level(near), from), REACH) or REACH
  return { from = from, pace = (to - from) / REACH, is_cut = functions.lt(to, REACH), is_open = functions.lt(from, to) }
end

-- The integrand over the half of the mass that `quantile` reads, as a function of v.
local function half (d, f, quantile, losses, range)
  return function (v)
    local weights = 0.5 * exp(-(range.from + v * range.pace))
    local x = quantile(d, rows(d, #v, weights))
    return weights * range.pace * values_at(d, f, rows(d, #v, x), weights * range.is_open, losses)
  end
end

-- v at which the quantile is x, for a few x that lie well within the mass.
local function levels (d, x, ranges, list)
  if #elements(x) > FEW or batch_size(d) > FEW then return end
  local below, above = attempt(d, "cdf", x), attempt(d, "sf", x)
  if not (below and above) then return end
  local t = -functions.log(2 * minimum(below, above))
  for _, range in ipairs(ranges) do
    for _, v in ipairs(elements((t - range.from) / range.pace)) do
      if v > 0 and v < REACH then list[#list + 1] = v end
    end
  end
end

-- Break points in v: powers of two, the mode, where densities have their kinks, and opts.points.
local function quantile_points (d, opts, ranges)
  local list, mode = { 0.5 }, attempt(d, "mode")
  for e = 0, 9 do list[#list + 1] = 2.0 ^ e end
  if mode then levels(d, mode, ranges, list) end
  for _, x in ipairs(opts.points or {}) do levels(d, x, ranges, list) end
  return list
end

-- Options of the quadrature: the caller's, break points, and as many panels in a call as memory likes.
local function settings (d, opts, points)
  return {
    rank = rank_of(d), as_tensor = rawget(d, "batch_shape") ~= nil, points = points,
    rtol = opts.rtol, atol = opts.atol, panels = opts.panels,
    at_once = math.max(1, math.floor(ROOM / (21 * batch_size(d)))),
  }
end

-- For what decays as e^-t.
local function decay_points ()
  local list = {}
  for e = -1, 9 do list[#list + 1] = 2.0 ^ e end
  return list
end

-- The integral beyond REACH of an integrand that decays as e^(-c t) there. It is infinite where there
-- is no decay, or one that slows down and falls behind that of 1/t; unless all that is nothing beside
-- `value`.
local function remainder (g, rank, value, is_cut)
  local shape = { 3 }
  for k = 1, rank do shape[k + 1] = 1 end
  local at = g(core.tensor { REACH - 2 * STRIDE, REACH - STRIDE, REACH }:reshape(shape))
  local first, second, last = at:select(1, 1), at:select(1, 2), at:select(1, 3)
  local decay, earlier = functions.log(second / last) / STRIDE, functions.log(first / second) / STRIDE
  local steady = functions.lt(abs(decay - earlier), 1e-3 * decay) * functions.gt(decay, 1e-9)
  local rest = where(maximum(steady, functions.gt(decay, 1 / REACH)), last / decay, functions.sign(last) * INF)
  return where(functions.gt(abs(last) * REACH, 1e-17 * abs(value)) * (1 - is_cut), rest, 0)
end

local function by_quantiles (d, f, opts)
  local low_losses, high_losses, rank = new_losses(), new_losses(), rank_of(d)
  local list = own(d, "cdf") and stretches(d) or {}
  local ends_value, ends_error = to_the_ends(d, list, f, settings(d, opts, decay_points()))
  local low_range, high_range = range_of(d, "cdf", list.low, list.high), range_of(d, "sf", list.high, list.low)
  local below, above = half(d, f, d.icdf, low_losses, low_range), half(d, f, d.isf, high_losses, high_range)
  local value, error = quadrature.integrate(function (v) return below(v) + above(v) end, 0, REACH,
                                            settings(d, opts, quantile_points(d, opts, { low_range, high_range })))
  local rest_below = remainder(below, rank, value, low_range.is_cut)
  local rest_above = remainder(above, rank, value, high_range.is_cut)
  local lost = 2 * (low_losses.mass * low_losses.largest + high_losses.mass * high_losses.largest)
  value = value + rest_below + rest_above + ends_value
  error = error + abs(rest_below) + abs(rest_above) + lost + ends_error
  -- what was lost outweighs what was found
  local vain = maximum(functions.gt(lost, 0.5 * abs(value)),
                       functions.gt(maximum(low_losses.mass, high_losses.mass), 0.25))
  value = where(vain, functions.sign(value) * INF, value)
  return value, where(functions.isfinite(value), error, INF)
end

local measured = setmetatable({}, { __mode = "k" })   -- whose mean may be this very expectation

-- Where the mass is, and how wide, as far as a distribution can say.
local function place (d)
  if measured[d] then return 0, 1 end
  measured[d] = true
  local centre, scale = attempt(d, "mean") or 0, attempt(d, "stddev") or 1
  measured[d] = nil
  return centre, scale
end

-- x(t) and dx/dt for t on the real line, by the kind of the support of each element; and t where a stretch
-- begins.
local function substitution (d)
  local low, high = ends(d.support)
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
    return stretch.side * functions.log(where(has_low * has_high, (1 - share) / share, scale / stretch.w))
  end
end

-- For a class that has a density only. What rounding hides of a singular end shows in the integral of
-- the density itself. v = -REACH ... REACH is spread over t between the stretches.
local function by_density (d, f, opts)
  local points, hidden, list = { 0 }, 0, stretches(d)
  local x_of, start_of = substitution(d)
  for e = -1, 9 do points[#points + 1], points[#points + 2] = 2.0 ^ e, -2.0 ^ e end
  local function pace (stretch)
    return stretch and where(stretch.known, stretch.side * start_of(stretch) / REACH, 1) or 1
  end
  local function integrate (h)
    local ends_value, ends_error = to_the_ends(d, list, h, settings(d, opts, decay_points()))
    local down, up = pace(list.low), pace(list.high)
    local value, error = quadrature.integrate(function (v)
      local step = where(v:lt(0), down, up)
      local x, slope = x_of(v * step)
      x = rows(d, #v, x)
      local weights, values = exp(rows(d, #v, d:log_prob(x))) * slope * step, rows(d, #v, h(x))
      local singular = weights:isinf()
      hidden = maximum(hidden, where(singular * values:isfinite(), abs(values), 0):max(1))
      return where(maximum(singular, weights:eq(0)), 0, weights * values)
    end, -REACH, REACH, settings(d, opts, points))
    return value + ends_value, error + ends_error
  end
  local value, error = integrate(f)
  local mass = integrate(function (x) return x:eq(x) end)
  local rounding = next(list) and 2 ^ -45 or 0   -- of x near an end
  return value, error + rounding * abs(value) + abs(1 - mass) * maximum(hidden, abs(value))
end


local function check (d, f, opts)
  local name = class.name(class.of(d)) .. ":expectation: "
  if type(f) ~= "function" then error(name .. "f must be a function, got " .. show.value(f), 3) end
  if opts ~= nil and type(opts) ~= "table" then error(name .. "opts must be a table, got " .. show.value(opts), 3) end
  if #d.event_shape > 0 then
    error(name .. "only distributions of single numbers have one, here an event has shape "
          .. show.shape(d.event_shape), 3)
  end
end

-- A result in the batch shape, or a number where all parameters are.
local function shaped (d, x)
  local plain = rawget(d, "batch_shape") == nil
  if not plain then return (core.is_tensor(x) and x or core.tensor(x)):reshape(d.batch_shape) end
  return core.item(x)
end

--- E[f(X)] and an estimate of its error, for each element of the batch of d. f gets x of shape
-- { n, batch... } and returns as many values. opts: rtol, atol, panels as in quadrature.lua, and
-- points, a list of numbers or batches of them where f has a kink or jump; outcomes, after how many of an element
-- of a discrete distribution no more of them are looked at in between.
return function (d, f, opts)
  check(d, f, opts)
  if batch_size(d) == 0 then return core.zeros(d.batch_shape), core.zeros(d.batch_shape) end
  local method = by_density
  if d.support and d.support.is_discrete then method = outcomes.expectation
  elseif own(d, "icdf") then method = by_quantiles end
  local value, error = method(d, f, opts or {})
  return shaped(d, value), shaped(d, error)
end
