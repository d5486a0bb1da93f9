--- The last stretches of a law before the ends of its support, where doubles fail: they cannot tell x from
-- an end other than 0 that it is close to, and near 0 or infinity x and f(x) leave their range.
--
-- With s = log(w/|x - e|) for x within a small w of the end e, or s = log(|x|/w) for x beyond a large w,
-- log p and most f, or log |f|, are quadratics in s but for a term like e^-s. That is read off at points which
-- are exact, and followed to the end:
--
--   int f p dx  =  w int_0^inf f(s) p(s) e^-+s ds
local batches    = require "perilune.batches"
local core       = require "perilune.core"
local functions  = require "perilune.functions"
local quadrature = require "perilune.quadrature"

local where, maximum, minimum, abs, exp = functions.where, functions.maximum, functions.minimum, functions.abs,
                                          functions.exp
local gt, lt, le, log = functions.gt, functions.lt, functions.le, functions.log
local INF     = math.huge
local REACH   = 700      -- e^-REACH is a normal number
local STRIDE  = 16       -- over which the decay at REACH is judged

-- w, as a part of |e| where e is neither 0 nor infinite; and |log2| of |x - e|/w or |x|/w at the points: the
-- first FIT are fitted, the others show whether that is right.
local WIDTH, PLACES   = 2 ^ -21,   { 0, 3, 7, 17, 22, 27, 1, 5, 9, 12, 14, 19, 20, 25, 29, 30 }
local FAR, FAR_PLACES = 2.0 ^ 380, { 0, 3, 30, 60, 90, 120, 1, 10, 20, 40, 50, 70, 80, 100, 105, 115 }
local FIT = 6
local PROBES = { 200, 400, 620, 690 }   -- further out, where jumps of f may be
local REGULAR = 0.95     -- a density that decays faster than e^(-REGULAR s) hides nothing
local ROUGH   = 1e-7     -- no quadratic: further from the points than this part of its size
local MISLED  = 8        -- times the part of the mass by which a density is off: what it may do to an integral
local MOVES   = 1e-6     -- f that changes by less than this part of itself at the last points has arrived

-- Break points between 0 and REACH: panels between them are enough for e^-t times something smooth.
local BREAKS = { 0.25, 0.6, 1.1, 1.8, 2.7, 4, 6, 8.5, 12, 16.5, 23, 34, 64, 200 }
local FEW, FEWEST = { 1.1, 4, 12, 34 }, { 3, 16 }   -- for points that are dear,
local DEAR, DEARER = 5, 50                          -- in units of effort.lua;
local PAID = 12                                     -- if it is known what may be spent, dear ones are from here on

local ends = { REACH = REACH, BREAKS = BREAKS, FEW_BREAKS = FEW, FEWEST_BREAKS = FEWEST, NAMES = { "low", "high" } }

local LISTS = { BREAKS, FEW, FEWEST }   -- ever fewer

--- The first of these lists, from this number on, that is_paid(list) holds for, or nil.
function ends.affordable (first, is_paid)
  for k = first, #LISTS do
    if is_paid(LISTS[k]) then return LISTS[k] end
  end
end

local function anything () return true end

--- The first break points of an integral over either half, where a point costs so much; fewer that is_paid(list)
-- holds for, or `least`, which are the fewest unless told.
function ends.breaks (each, is_paid, least)
  local first = each < (is_paid and PAID or DEAR) and 1 or each < DEARER and 2 or 3
  return ends.affordable(first, is_paid or anything) or least or FEWEST
end

--- The ends of a support, which a distribution may be silent about.
function ends.of (support)
  if support == nil then return -INF, INF end
  return support.low or -INF, support.high or INF
end

local rows, any = batches.rows, batches.any


-- Quadratics ------------------------------------------------------------------

-- The first rows of t, { 1, batch... } each.
local function each (t)
  local list = {}
  for i = 1, FIT do list[i] = t:narrow(1, i, 1) end
  return list
end

-- The quadratic in s through the last three points, its slope at 0 and its bend; a straight line where the
-- bend is no more than rounding.
local function quadratic (s, y)
  local wide, low = (y[6] - y[4]) / (s[6] - s[4]), (y[5] - y[4]) / (s[5] - s[4])
  local bend = (wide - low) / (s[6] - s[5])
  local noise = 2 ^ -50 * maximum(abs(y[4]), abs(y[6])) / functions.square(s[6] - s[5])
  bend = where(lt(abs(bend), noise), 0, bend)
  return function (at) return y[4] + (at - s[4]) * (wide + (at - s[6]) * bend) end, wide - bend * (s[4] + s[6]), bend
end

-- That and a term (a + b s) e^-s which meets the first two points, as a function of s; how far it is from
-- the points that it does not meet; slope and bend of the quadratic. s and y have a row for each point.
local function fitted (s, y)
  local at, values = each(s), each(y)
  local main, slope, bend = quadratic(at, values)
  local rest
  for _ = 1, 4 do   -- each time with less of the term left, which at the last points is small
    local a, b = (values[1] - main(at[1])) * exp(at[1]), (values[2] - main(at[2])) * exp(at[2])
    local without, rise = {}, (b - a) / (at[2] - at[1])
    rest = function (t) return (a + rise * (t - at[1])) * exp(-t) end
    for i = 4, FIT do without[i] = values[i] - rest(at[i]) end
    main, slope, bend = quadratic(at, without)
  end
  local function value (t) return main(t) + rest(t) end
  return value, abs(value(s) - y):max(1, true), slope, bend
end

-- How wrong the fit may be at s: as it is at the points and more so beyond them, and by what rounding makes of
-- slope and bend.
local function doubt_of (s, size, off, bend)
  local noise, at = 2 ^ -50 * size, each(s)
  local misfit = maximum(off - 4 * noise, 0)
  local slope, curve = noise / (at[6] - at[4]), where(functions.eq(bend, 0), 0, noise / functions.square(at[6] - at[5]))
  return function (t)
    return 4 * misfit * (1 + functions.square(t / at[6]) * (t / at[6])) + noise + t * (slope + t * curve)
  end
end

-- What y at the points is along the stretch: `value(s)`, how wrong that may be, and whether it `is_known`.
local function followed (s, y)
  local value, off, _, bend = fitted(s, y)
  local size = abs(y):max(1, true)
  return { value = value, doubt = doubt_of(s, size, off, bend), off = off, size = size,
           is_known = le(off, ROUGH * maximum(size, 1e-300)) * functions.isfinite(size) }
end


-- Stretches -------------------------------------------------------------------

-- The parts of w at which the points are, as a column before the batch of d.
local function column (d, places, sign)
  local list = {}
  for i, place in ipairs(places) do list[i] = 2.0 ^ (sign * place) end
  local t = core.tensor(list)
  for _ = 1, #d.batch_shape do t = t:unsqueeze(-1) end
  return t
end

-- The stretch before the end e, above (side = 1) or below it (side = -1), with its w and where it starts;
-- `outwards` is 1 where e is infinite, else -1. `span` is the width of the support.
local function new_stretch (e, side, span)
  local far = functions.eq(abs(e), INF)
  local outwards, finite = where(far, 1, -1), where(far, 0, e)
  local w = where(far, FAR, minimum(where(functions.eq(e, 0), 1 / FAR, WIDTH * abs(e)), 0.125 * span))
  return { side = side, finite_end = finite, w = w, outwards = outwards, start = finite + outwards * side * w }
end

--- The stretches at both ends of the law of d, as { low =, high = }.
function ends.stretches (d)
  if not batches.own(d, "log_prob") then return {} end
  local low, high = ends.of(d.support)
  return { low = new_stretch(low, -1, high - low), high = new_stretch(high, 1, high - low) }
end

-- The points of a stretch, { points, batch... }, and their s.
local function points_of (d, stretch)
  local finite, w, outwards = stretch.finite_end, stretch.w, stretch.outwards
  local part = where(functions.eq(finite, 0), column(d, FAR_PLACES, -1), column(d, PLACES, -1))
  part = where(gt(outwards, 0), column(d, FAR_PLACES, 1), part)
  local x = rows(d, #PLACES, finite + outwards * stretch.side * w * part)
  return x, outwards * log(abs(x - finite) / w)
end

-- Reads off how the density goes on: its mass between s and s + ds is e^log_mass(s) ds.
local function fit_density (stretch, s, log_p)
  local outwards, w = stretch.outwards, stretch.w
  local density, off, slope, bend = fitted(s, log_p)
  local rate, curve = -outwards - core.bare(slope), functions.sqrt(maximum(-2 * core.bare(bend), 0))
  local fits = lt(bend, 1e-10) * lt(off, ROUGH) * maximum(gt(rate, 1e-13), gt(curve, 1e-4))
  local start = where(fits, core.bare(log_p):narrow(1, 1, 1) + log(w), 0)
  -- such that no mass underflows: then what has an integral does not overflow
  stretch.scale = minimum(1, maximum(0.02, (REACH + start) / REACH)) / where(fits, maximum(rate, curve), 1)
  function stretch.log_mass (at) return density(at) + outwards * at + log(w) end
  stretch.doubt = doubt_of(s, abs(log_p):max(1, true), off, bend)
  return fits:select(1, 1)
end

-- Logarithms of |y| that keeps its sign, else NaN.
local function logarithms (y)
  local sign = functions.sign(y:narrow(1, FIT, 1))
  return where(functions.eq(functions.sign(y), sign), log(abs(y)), 0 / 0), sign
end

local function identity (y) return y end

-- Reads off how f goes on: itself, or by its logarithm; or by y = inner(x) if f(x) = outer(inner(x)) is known.
local function fit_f (stretch, s, y, parts)
  local plain = followed(s, y)
  plain.outer, stretch.plain, stretch.curved = parts and parts.outer or identity, plain, nil
  if parts then return plain.is_known:select(1, 1) end
  local logs, sign = logarithms(y)
  local curved = followed(s, logs)
  curved.sign, stretch.curved = sign, curved
  local is_known = maximum(plain.is_known, curved.is_known):select(1, 1)
  -- the better of both: what is nearly straight may be so in either
  local worse = gt(plain.off, 2 ^ -46 * plain.size) * lt(curved.off * plain.size, plain.off) * curved.is_known
  plain.is_known = plain.is_known * (1 - worse)
  return is_known
end

-- Is there a reason to follow? There is more mass than meets the eye, or f has not arrived yet; and f beside
-- its `typical` size is not so small that it cannot matter.
local function is_worth (mass, values, rate, typical)
  local terms, is_singular = abs(values) * mass, 1 - functions.ge(rate, REGULAR)
  local arrived = le(abs(values:select(1, FIT) - values:select(1, 4)), MOVES * abs(values):max(1))
  local vanishes = le(terms:max(1), 1e-25 * typical) * le(terms:select(1, FIT), 1e-3 * terms:select(1, 1))
  return maximum(is_singular * gt(mass:max(1), 1e-25), maximum(is_singular, 1 - arrived) * (1 - vanishes))
end

-- f by what is known of it at s, and how far off that may be.
local function seen (stretch, s)
  local plain, curved = stretch.plain, stretch.curved
  local y = plain.value(s)
  local value, off = plain.outer(y), abs(plain.outer(y + plain.doubt(s)) - plain.outer(y))
  if not curved then return value, off end
  local other = exp(curved.value(s))
  return where(plain.is_known, value, curved.sign * other),
         where(plain.is_known, off, other * functions.expm1(curved.doubt(s)))
end

-- Is f further out what it should be, for each element? At ends other than 0 there are no numbers there.
local function goes_on (d, stretch, f)
  local far = gt(stretch.outwards, 0)
  local part = where(far, column(d, PROBES, 1), column(d, PROBES, -1))
  local distance = rows(d, #PROBES, stretch.w * part)
  local expected, off = seen(stretch, stretch.outwards * log(distance / stretch.w))
  local y = rows(d, #PROBES, f(stretch.outwards * stretch.side * distance))
  local is_told = functions.isfinite(expected) * functions.isfinite(y) * functions.eq(stretch.finite_end, 0)
  local differs = gt(abs(y - expected), 10 * off + 1e-3 * maximum(abs(y), abs(expected)))
  return 1 - (is_told * differs):max(1)
end

--- Follows f along a stretch; afterwards it knows for which elements that `is_used`.
function ends.follow (d, stretch, f, parts, typical)
  local x, s = points_of(d, stretch)
  local log_p = rows(d, #PLACES, d:log_prob(x))
  local y = rows(d, #PLACES, (parts and parts.inner or f)(x))
  local values = parts and rows(d, #PLACES, parts.outer(y)) or y
  local log_mass = log_p + stretch.outwards * s + log(stretch.w)
  local mass = exp(log_mass)
  local rate = (log_mass:select(1, 4) - log_mass:select(1, 6)) / (s:select(1, 6) - s:select(1, 4))
  stretch.terms, stretch.is_used = abs(values) * mass, is_worth(mass, values, rate, typical)
  if not any(stretch.is_used) then return end
  stretch.is_used = stretch.is_used * fit_density(stretch, s, log_p) * fit_f(stretch, s, y, parts)
  local function whole (at) return parts and parts.outer(parts.inner(at)) or f(at) end
  if any(stretch.is_used) then stretch.is_used = stretch.is_used * goes_on(d, stretch, whole) end
end

-- f(s) times the mass, and how far off that may be, by one way to see f.
local function plainly (view, s, log_mass, doubt)
  local value, mass = view.value(s), exp(log_mass)
  local f = view.outer(value)
  local off = abs(view.outer(value + view.doubt(s)) - f) + abs(f) * doubt
  return where(functions.eq(mass, 0), 0, f * mass), where(functions.eq(mass, 0), 0, off * mass)
end

local function by_logarithm (view, s, log_mass, doubt)
  local term = exp(view.value(s) + log_mass)
  return view.sign * term, term * (functions.expm1(view.doubt(s)) + doubt)
end

local function terms_at (stretch, s)
  local plain, curved, log_mass, doubt = stretch.plain, stretch.curved, stretch.log_mass(s), stretch.doubt(s)
  local term, off = plainly(plain, s, log_mass, doubt)
  if not curved then return term, off end
  local other, other_off = by_logarithm(curved, s, log_mass, doubt)
  return where(plain.is_known, term, other), where(plain.is_known, off, other_off)
end

-- Can the stretch change `value`?
local function matters (stretch, value)
  local most = where(stretch.is_used, (stretch.terms * stretch.scale):max(1), 0)
  return any(1 - le(most, 1e-20 * abs(value)))
end

-- What a density that has the wrong mass along the stretch, by this factor, makes of the integral `sum` of f: nothing
-- where f stays what it is at the start, else about that part of what f adds to it.
local function misled (stretch, sum, share, factor)
  local start = 0 * stretch.scale
  local f = (terms_at(stretch, start) / exp(stretch.log_mass(start))):select(1, 1)
  local added = abs(sum - where(functions.isfinite(f), f, 0) * share)
  return where(functions.isfinite(added), MISLED * abs(1 - factor) * added, 0)
end

--- The part of E f in a stretch and its error, beside the `value` of the rest; `settings` are those of the
-- quadrature. `mass` is the true one of the stretch, where it is known.
function ends.part (stretch, value, settings, mass)
  if not (any(stretch.is_used) and matters(stretch, value)) then return 0, 0 end
  local used, scale = stretch.is_used, stretch.scale
  settings.points = ends.BREAKS
  local function integral (h) return quadrature.integrate(h, 0, REACH, settings) end
  local function f (t) return where(used, scale * terms_at(stretch, t * scale), 0) end
  local sum, error = integral(f)
  local rest, rest_error = ends.remainder(f, settings.shape, sum, 0)
  sum, error = sum + rest, error + rest_error
  local share = integral(function (t) return where(used, scale * exp(stretch.log_mass(t * scale)), 0) end)
  local factor = mass and where(used, mass / share, 0) or 1
  settings.rtol = 1e-2
  local doubt = integral(function (t) return where(used, scale * select(2, terms_at(stretch, t * scale)), 0) end)
  doubt = doubt + misled(stretch, sum, share, factor)
  return sum * factor, (error + where(functions.isfinite(sum), doubt, 0)) * factor
end


-- Beyond ------------------------------------------------------------------------

--- The integral beyond REACH of an integrand that decays as t^-k e^(-c t) there, and its error. With T = REACH and
-- z = c T that is T g(T) e^z E_k(z), about T g(T)/(z + k - 1 + z/(z + k)), which is exact for z = 0 and for k = 0.
-- It is infinite where there is no decay, or none faster than 1/t; unless all that is nothing beside `value`. Where g
-- was 0 before, or has changed its sign, nothing tells how it goes on, but that it has the mass e^-t.
function ends.remainder (g, shape, value, is_cut)
  local t = core.tensor { REACH - 2 * STRIDE, REACH - STRIDE, REACH }
  for _ = 1, #shape do t = t:unsqueeze(-1) end
  local at = g(t:expand(3, table.unpack(shape)))
  local first, second, last = at:select(1, 1), at:select(1, 2), at:select(1, 3)
  local counts = gt(abs(last) * REACH, 1e-17 * abs(value)) * (1 - is_cut)
  if not any(counts) then return 0, 0 end
  local decay, earlier = log(second / last) / STRIDE, log(first / second) / STRIDE
  local is_told = functions.isfinite(decay) * functions.isfinite(earlier)
  local here, there = REACH - 0.5 * STRIDE, REACH - 1.5 * STRIDE
  local k = (earlier - decay) / (1 / there - 1 / here)
  k = where(lt(abs(k), 1e-7), 0, k)
  local z = REACH * decay - k * REACH / here
  local share = z + k - 1 + where(functions.eq(z, 0), 0, z / (z + k))
  local rest = where(gt(share, 1e-7), REACH * last / share, functions.sign(last) * INF)
  local doubt = abs(rest) * minimum(1, abs(k) / functions.square(z + k) + 1e-6)
  rest, doubt = where(is_told, rest, last), where(is_told, doubt, REACH * abs(last))
  return where(counts, rest, 0), where(counts, doubt, 0)
end

return ends
