--- Quadrature: integrals of functions on tensors, and roots, for many functions at once.
--
-- Adaptive: a panel is measured by the 21 points of Kronrod's rule, and its error by how the coefficients of
-- Legendre polynomials through these points decay. Those of a smooth function fall off as a power r^k; those of
-- one with a jump or a kink do not, wherever in the panel that is, but for the gaps between the outermost points and
-- the ends of the panel: there the polynomial is compared with one more value. Every element of a batch has
-- panels of its own. All panels of a round are one call of the integrand, so that its loops run in C.
local core      = require "perilune.core"
local raise     = require "perilune.errors".raise
local functions = require "perilune.functions"
local settling  = require "perilune.settling"
local show      = require "perilune.show"
local tensor    = require "perilune.tensor"

local quadrature = {}

local where, maximum, abs, sqrt = functions.where, functions.maximum, functions.abs, functions.sqrt
local lt, le, gt = functions.lt, functions.le, functions.gt
local INF = math.huge
local ROUNDING = 1e-15       -- no integral is better than this part of that of |f|
local ROUGH    = 1e-6        -- an error above this part of that integral is that of a pole, jump or kink
local NOISE    = 2 ^ -46     -- an error below this part of the integral of |f| over the panel is rounding
local FAINT    = 1e-9        -- one that stays when a panel is cut is so, if it is no more than this
local NARROW   = 2 ^ -46     -- a panel whose points can still be told apart, relative to its ends
local WATCH    = 32          -- rounds between looks at whether there is progress
local PARTS    = 2.5         -- of a panel that is cut: two or three
local PANELS   = 256         -- of an element that are cut, unless told

-- Nodes from 1 down to 0, and Kronrod's weights.
local NODES = {
  0.995657163025808080735527, 0.973906528517171720077964, 0.930157491355708226001207, 0.865063366688984510732097,
  0.780817726586416897063718, 0.679409568299024406234327, 0.562757134668604683339000, 0.433395394129247190799266,
  0.294392862701460198131127, 0.148874338981631210884826, 0,
}
local KRONROD = {
  0.011694638867371874278064, 0.032558162307964727478819, 0.054755896574351996031381, 0.075039674810919952767043,
  0.093125454583697605535065, 0.109387158802297641899211, 0.123491976262065851077958, 0.134709217311473325928054,
  0.142775938577060080797094, 0.147739104901338491374842, 0.149445554002916905664936,
}
local INNER, POINTS = 21, 23   -- points of the rule, and with those next to the ends, which come last

--- So many points f is asked for in each panel.
quadrature.POINTS = POINTS
local GAP  = 1 - NODES[1]      -- between the outermost points and the ends
local EDGE = 1 - 2 ^ -40       -- next to an end, but not at it: f may jump there

-- All 21 of a list of 11, of which the first ten have a mirror image with this sign.
local function mirrored (list, sign)
  local all = {}
  for i = 1, INNER do all[i] = i <= 11 and sign * list[i] or list[INNER + 1 - i] end
  return all
end

local nodes, weights = mirrored(NODES, -1), mirrored(KRONROD, 1)

-- P_k(x), by the recurrence of Legendre polynomials.
local function legendre (k, x)
  local before, value = 0, 1
  for j = 1, k do before, value = value, ((2 * j - 1) * x * value - (j - 1) * before) / j end
  return value
end

-- A row that gives the coefficient of the normalised polynomial of degree k.
local function coefficient (k)
  local row = {}
  for i = 1, INNER do row[i] = math.sqrt(k + 0.5) * weights[i] * legendre(k, nodes[i]) end
  return row
end

-- A row that gives the value at x of the polynomial through all points.
local function extrapolation (x)
  local row = {}
  for i = 1, INNER do
    row[i] = 1
    for j = 1, INNER do row[i] = j == i and row[i] or row[i] * (x - nodes[j]) / (nodes[i] - nodes[j]) end
  end
  return row
end

-- A row for each point: its weight, what it adds to the coefficients of degree 5 to 20, and to the values at both ends.
local function rules ()
  local columns = { weights }
  for k = 5, 20 do columns[#columns + 1] = coefficient(k) end
  columns[#columns + 1], columns[#columns + 2] = extrapolation(-EDGE), extrapolation(EDGE)
  return core.tensor(columns):transpose(1, 2):contiguous()
end

local RULES, FOUND = rules(), core.zeros(3)   -- of a panel: error, integral of |f|, gap with a jump
local kronrod = core.tensor { weights }       -- to be multiplied with columns of values
local places = tensor.cat { core.tensor(nodes), core.tensor { -EDGE, EDGE } }:unsqueeze(-1)

local measured = core.bind("row/panel", "measure", "integrate", { "f", "largest", "rules", "found" },
                           { "f", "largest", "rules", "found" })
local sorted = core.bind("row/panel", "ends", "integrate", { "points", "a", "b" }, { "points", "a", "b" })


-- Panels ----------------------------------------------------------------------

-- The first panels of n elements, as { left =, right = } of shape { panel, element }, between a, the points of each
-- element that lie inside, and b; and how many each has. Those of elements that have fewer are empty.
local function first_panels (a, b, points, n)
  local numbers, parts = { a, b }, {}
  for _, x in ipairs(points) do
    if core.is_tensor(x) then parts[#parts + 1] = core.bare(x):reshape(n, 1) else numbers[#numbers + 1] = x end
  end
  parts[#parts + 1] = core.tensor(numbers):expand(n, #numbers)
  local ends = sorted(#parts == 1 and parts[1] or tensor.cat(parts, 2), a, b):transpose(1, 2)
  local left, right = ends:narrow(1, 1, #ends - 1), ends:narrow(1, 2, #ends - 1)
  local count = lt(left, right):sum(1)
  local most = math.tointeger(core.item(count:max()))
  return { left = left:narrow(1, 1, most), right = right:narrow(1, 1, most) }, count
end

-- The parts of the panel [a, b]: both halves, or if it has a jump between two of its points those points are ends.
local function parts_of (a, b, gap, finest)
  local middle, half = 0.5 * a + 0.5 * b, 0.5 * b - 0.5 * a
  if gap == 0 or GAP * half <= finest then return { a, middle, b } end
  local cuts = { a }
  if gap > 1 then cuts[2] = middle + half * nodes[gap - 1] end
  if gap <= INNER then cuts[#cuts + 1] = middle + half * nodes[gap] end
  cuts[#cuts + 1] = b
  return cuts
end

-- The parts of an element's panels that are flagged, as lists.
local function cut (panels, e, finest)
  local left, right, parent = {}, {}, {}
  for i, row in ipairs(panels.flags) do
    local cuts = row[e] ~= 0 and parts_of(panels.left[i][e], panels.right[i][e], panels.gap[i][e], finest) or {}
    for k = 1, #cuts - 1 do
      left[#left + 1], right[#right + 1], parent[#parent + 1] = cuts[k], cuts[k + 1], panels.error[i][e]
    end
  end
  return { left = left, right = right, parent = parent }
end

-- The panels of the next round: the parts of those that are flagged, with the errors of these. Elements that
-- have fewer than others have empty panels at `nowhere`.
local function next_panels (panels, n, nowhere, finest)
  local lists, most = {}, 0
  for e = 1, n do
    lists[e] = cut(panels, e, finest)
    most = math.max(most, #lists[e].left)
  end
  local function joined (name, missing)
    local all = {}
    for k = 1, most do
      for e = 1, n do all[#all + 1] = lists[e][name][k] or missing end
    end
    return core.tensor(all):reshape(-1, n)
  end
  return { left = joined("left", nowhere), right = joined("right", nowhere), parent = joined("parent", 0) }
end


-- Values ------------------------------------------------------------------------

-- Values of f at the points of all panels, of shape { panel, point, element }, and half the widths.
local function evaluate (f, left, right, shape)
  local half = 0.5 * right - 0.5 * left
  local x = (0.5 * left + 0.5 * right):unsqueeze(2) + half:unsqueeze(2) * places
  local n = #left * POINTS
  local values = f(x:reshape(n, table.unpack(shape)))
  local got = core.is_tensor(values) and core.shape(values) or {}
  local wanted = { n, table.unpack(shape) }
  if show.shape(got) ~= show.shape(wanted) then
    raise("integrate: f must return a tensor of shape %s, got %s", show.shape(wanted), show.value(values))
  end
  return values:reshape(#left, POINTS, -1), half
end

-- Integral, error and integral of |f| of each panel, of shape { panel, element }, the gap with a jump; and the
-- largest |f|. Infinities are left out of a panel that has finite values as well.
local function measure (values, half, largest)
  local inner, bare = values:narrow(2, 1, INNER), core.bare(values)
  local infinite = core.bare(inner):isinf()
  local has_infinite = core.item(infinite:max()) ~= 0
  local finite = has_infinite and where(infinite, 0, inner) or inner
  local highest = maximum(largest, abs(core.bare(finite)):max(2):max(1))
  local found = measured(bare:transpose(2, 3), highest, RULES, FOUND)
  local integral, error = kronrod:matmul(finite):select(2, 1) * half, found:select(3, 1) * half
  if has_infinite then
    integral = where(infinite:min(2), inner:sum(2), integral)
    error = where(integral:isinf(), INF, error)
  end
  local is_open = gt(half, 0)
  return where(is_open, integral, 0), where(is_open, error, 0), found:select(3, 2) * half, found:select(3, 3), highest
end

-- The same for all panels, not more than `at_once` of them in a call of f.
local function measure_all (f, panels, shape, largest, at_once)
  local parts, n = { {}, {}, {}, {} }, #panels.left
  for first = 1, n, at_once do
    local count, k = math.min(at_once, n - first + 1), #parts[1] + 1
    local left, right = panels.left:narrow(1, first, count), panels.right:narrow(1, first, count)
    local values, half = evaluate(f, left, right, shape)
    parts[1][k], parts[2][k], parts[3][k], parts[4][k], largest = measure(values, half, largest)
  end
  for i, list in ipairs(parts) do parts[i] = #list == 1 and list[1] or tensor.cat(list) end
  return parts[1], parts[2], parts[3], parts[4], largest
end


-- The work ----------------------------------------------------------------------

-- 1 for each panel whose points can hardly be told apart any more.
local function too_narrow (panels, opts)
  local place = maximum(abs(panels.left), abs(panels.right))
  return le(panels.right - panels.left, maximum(NARROW * place, opts.finest or 0))
end

-- 1 for each panel to be cut: one whose error is more than its share, for an element that is not yet good
-- enough and has panels left. An error that is faint, and was not left behind when a panel was cut, is that of f.
local function wanting (sums, panels, integral, error, size, opts)
  local value, total = core.bare(sums.value + integral:sum(1)), sums.error + error:sum(1)
  local rounding = ROUNDING * (sums.size + size:sum(1))
  local tolerance = maximum(maximum(rounding, opts.atol or 0), (opts.rtol or 1e-13) * abs(value))
  if opts.enough then tolerance = maximum(tolerance, opts.enough(value)) end
  local width, place = panels.right - panels.left, maximum(abs(panels.left), abs(panels.right))
  local noise = size * (NOISE + 0.25 * NARROW * place / width)   -- of f, and what rounding of x makes of it
  local flags = gt(error, maximum(tolerance / (2 * (sums.first + sums.cuts)), noise))
                * (1 - too_narrow(panels, opts))
  if panels.parent then flags = flags * (1 - gt(error, 0.3 * panels.parent) * le(error, FAINT * size)) end
  local affordable = le(sums.cuts + flags:sum(1), opts.panels or PANELS)
  return flags * gt(total, tolerance) * affordable * (1 - sums.stalled)
end

-- Adds what is kept of a round; a NaN is kept in any case.
local function add (sums, integral, error, size, kept)
  sums.value = sums.value + where(maximum(kept, integral:isnan()), integral, 0):sum(1)
  sums.error = sums.error + where(kept, error, 0):sum(1)
  sums.size  = sums.size + where(kept, size, 0):sum(1)
end

-- Those of the panels that are flagged whose parts can be paid for: all, or the worst alone.
local function affordable (purse, flags, error)
  local function affords (some) return purse:affords(PARTS * core.item(some:sum())) end
  if purse == nil or affords(flags) then return flags end
  local largest = (flags * error):max()
  for _, share in ipairs { 1e-3, 0.1, 0.5 } do
    local worst = flags * functions.ge(error, share * largest)
    if affords(worst) then return worst end
  end
  return 0 * flags
end

-- Every so many rounds: has the error of what was cut again stayed what it was? It does if the
-- integral diverges, and such an element is left alone.
local function watch (sums, round, error, flags)
  if round % WATCH ~= 0 then return end
  local now = where(flags, error, 0):sum(1)
  if sums.before then sums.stalled = maximum(sums.stalled, gt(now, 0.5 * sums.before)) end
  sums.before = now
end

--- The integral of f from a to b, and an estimate of its error.
--
-- f takes a tensor of n points and returns n values; for a batch of integrands, of opts.shape, points, values
-- and results are { n, batch... }. A panel is cut while the error of its element exceeds rtol |integral|, atol, and
-- `enough(integrals)` where that is given, and it is wider than `finest`, up to `panels` cuts for each element and
-- `rounds` of them. `points` are places between a and b where f has a kink, a jump or a peak, numbers or batches of
-- them; `at_once` limits the panels in one call of f; no panel is cut that a `purse` (effort.lua) does not afford;
-- `as_tensor` keeps a single integral a tensor, which remembers its gradient. A NaN of f makes the integral NaN;
-- infinities are ignored where they are single points, and make it infinite where they fill a panel.
function quadrature.integrate (f, a, b, opts)
  opts = opts or {}
  if not (a < b and a > -INF and b < INF) then
    raise("integrate: the ends must be finite and a < b, got %s and %s", show.value(a), show.value(b))
  end
  local shape, rounds, n = opts.shape or {}, opts.rounds or 200, 1
  for _, extent in ipairs(shape) do n = n * extent end
  local panels, first = first_panels(a, b, opts.points or {}, n)
  local zero = core.zeros(n)
  local sums = { value = zero, error = zero, size = zero, stalled = zero, cuts = zero, first = first }
  local largest = zero
  for round = 1, rounds do
    local integral, error, size, gap, flags
    if opts.purse then opts.purse:lap(core.numel(panels.left)) end
    integral, error, size, gap, largest = measure_all(f, panels, shape, largest, opts.at_once or 200)
    flags = wanting(sums, panels, integral, error, size, opts)
    watch(sums, round, error, flags)
    flags = affordable(opts.purse, flags * (round < rounds and 1 - sums.stalled or 0), error)
    local poles = too_narrow(panels, opts) * gt(error, ROUGH * size)   -- whose mass is not known
    error = error + where(poles, 4 * size, 0)
    add(sums, integral, error, size, 1 - flags)
    if core.item(flags:max()) == 0 then break end
    sums.cuts = sums.cuts + flags:sum(1)
    panels = next_panels({ left = panels.left:totable(), right = panels.right:totable(), error = error:totable(),
                           flags = flags:totable(), gap = gap:totable() }, n, 0.5 * a + 0.5 * b,
                         opts.finest or 0)
  end
  local err = where(sums.stalled, INF, sums.error + ROUNDING * sums.size)
  if #shape == 0 and not (opts.as_tensor or core.tracked(sums.value)) then
    return core.item(sums.value), core.item(err)
  end
  return sums.value:reshape(shape), err:reshape(shape)
end


-- Roots -----------------------------------------------------------------------

local HALVED, QUICK = 0.5, 0.25   -- a step of Newton's method leaves no more, or no more where a leap may do better
local LEAPS = 4                  -- of a search
local LAG  = 1                   -- rounds that may leave a bracket as wide as it was
local SOON = 5                   -- rounds of a search that is not slow
local POLISH = 2.0 ^ -20         -- a step, as a part of x, that may better the last digits
local PROBE = 4                  -- last digits of x to the point at which a root next to it is behind
local ULP, TINY, LARGEST = 2.0 ^ -52, 2.0 ^ -1074, (2 - 2.0 ^ -52) * 2.0 ^ 1023

-- Are the ends far apart, and not of opposite signs?
local function is_wide (low, high)
  local least, most = maximum(abs(low), TINY), maximum(abs(high), TINY)
  return maximum(lt(4 * least, most), lt(4 * most, least)) * functions.ge(low * functions.sign(high), 0)
         * functions.ge(high * functions.sign(low), 0)
end

-- A point beyond x, which is on the way to infinity: some ten of them lead to the last number, and then there.
local function beyond (x)
  local least = x + maximum(1, abs(x))
  return where(gt(x, 4), where(lt(x, LARGEST), functions.minimum(x * x, LARGEST), INF), least)
end

local UNEVEN = 2.0 ^ -32   -- an end that is so much closer to 0 than the other, on the other side of it

--- A point between: half way, in logarithms where the ends are far apart and not of opposite signs, or one of them is
-- next to 0; further and further from one end where the other is infinite, and 0 where both are.
function quadrature.middle (low, high)
  local least, most = maximum(abs(low), TINY), maximum(abs(high), TINY)
  local is_far = maximum(is_wide(low, high), maximum(lt(least, UNEVEN * most), lt(most, UNEVEN * least)))
  local half = where(is_far, functions.sign(low + high) * sqrt(least) * sqrt(most), 0.5 * low + 0.5 * high)
  half = where(functions.eq(high, INF), beyond(low), half)
  half = where(functions.eq(low, -INF), -beyond(-high), half)
  return where(functions.isnan(half) * functions.eq(low, -high), 0, half)
end

local function any (flags)
  if core.is_tensor(flags) then return core.numel(flags) > 0 and core.item(flags:max()) ~= 0 end
  return flags ~= 0
end

-- A point between, half way in logarithms of the distances from an `anchor` that is at an end or beyond, if these are
-- far apart: the root is expected close to it. `middle` where not.
local function near (anchor, low, high, middle)
  local a, b, least = low - anchor, high - anchor, ULP * abs(anchor)
  local from, to = maximum(abs(a), least), maximum(abs(b), least)
  local is_far = maximum(lt(16 * from, to), lt(16 * to, from)) * functions.ge(a * functions.sign(b), 0)
                 * functions.ge(b * functions.sign(a), 0) * lt(maximum(from, to), INF)
  return where(is_far, anchor + functions.sign(a + b) * sqrt(from) * sqrt(to), middle)
end

-- Where s.leap leads those searches that are `slow`, if they have leaps left; whether they go there, and whether that
-- is next to x, so that the root is.
local function leapt (s, x, value, low, high, slow)
  local may_leap = s.leap and s.rounds >= s.rounds_before and slow * gt(s.leaps_left, 0)
  if not (may_leap and any(may_leap)) then return x, 0, 0 end
  local guess = s.leap(x, s, value)
  local to = maximum(low, functions.minimum(guess, high))
  local is_between = functions.eq(guess, to)
  local leaps = may_leap * maximum(is_between, le(abs(guess - to), 16 * ULP * abs(to)))   -- but for rounding
  s.leaps_left = where(may_leap * (1 - is_between), 0, s.leaps_left - may_leap)   -- where one leads astray others do
  return to, leaps, may_leap * le(abs(to - x), 4 * ULP * abs(x))
end

-- Where a search for a level goes whose values are logarithms of the tail at x over the goal, or minus that where it is
-- an `upper` one: by Newton's method for the tail itself, which if that is too large leads less far than the one for
-- its logarithm, and ends next to where a density begins. And whether that is between low and high.
local function short_step (s, x, value, rate, low, high)
  local sign = where(s.upper, -1, 1)
  local to = x + sign * functions.expm1(-sign * value) / rate
  return to, gt(sign * value, 0) * lt(low, to) * lt(to, high) * gt(rate, 0)
end

-- How wide a bracket is: in logarithms where its ends are far apart.
local function width_of (low, high)
  local least, most = maximum(abs(low), TINY), maximum(abs(high), TINY)
  return where(is_wide(low, high), abs(functions.log(most) - functions.log(least)), high - low)
end

-- Has the bracket not become half as wide for some rounds?
local function lags (s, width)
  local is_half = le(width, 0.5 * (s.width or INF))
  s.width, s.lag = where(is_half, width, s.width or INF), where(is_half, 0, (s.lag or 0) + 1)
  return gt(s.lag, LAG)
end

-- Where searches go that `wander`, since steps of Newton's method do not halve the value: by a leap if they are `slow`,
-- by a short step if they `leave` the bracket, or half way, next to where one of these led. And whether that is a leap.
local function wandered (s, x, value, rate, low, high, slow, wander, leave)
  local to, leaps, is_next = leapt(s, x, value, low, high, slow)
  local middle = quadrature.middle(low, high)
  if s.upper and any(wander) then
    local short, is_short = short_step(s, x, value, rate, low, high)
    local may_guess = wander * (1 - lags(s, width_of(low, high)))
    is_short = is_short * may_guess * leave * (1 - leaps)
    local nearer = s.anchor and near(s.anchor, low, high, middle) or middle
    local anchor = where(is_short, where(gt(16 * abs(short), abs(x)), short, 0 / 0), s.anchor or 0 / 0)
    middle, s.anchor = where(is_short, short, where(may_guess, nearer, middle)), where(leaps, to, anchor)
  end
  return where(leaps, where(is_next, x, to), middle), leaps
end

-- Where Newton's method leads from x, or further: of values that shrink by much the same part in every round, as they
-- do before a gap, half as many steps at once as would lead to their rounding error.
local function stretched (s, x, newton, size, noise, low, high)
  s.rounds = s.rounds + 1
  if s.rounds <= SOON then return newton end
  local steps = 0.5 * functions.log(size / noise) / functions.log(s.before / size)
  local to = x + (newton - x) * steps
  local is_slow = s.trusted * gt(size, QUICK * s.before) * le(size, HALVED * s.before)
  return where(is_slow * gt(steps, 1) * lt(low, to) * lt(to, high), to, newton)
end

-- A round of the search for the roots of g.
local function approach (g, s)
  local x, low, high, before = s.x, s.low, s.high, s.before
  local value, slope, noise, log_slope = g(x, s)
  local size = abs(value)
  low, high = where(lt(value, 0), x, low), where(gt(value, 0), x, high)
  local ratio = log_slope and -value * functions.sign(x) * functions.exp(-log_slope - functions.log(abs(x)))
  local step = log_slope and x * ratio or -value / slope
  local newton = x + step
  local by_ratio = x * functions.exp(ratio or step / x)
  local rate = slope or functions.exp(log_slope)
  slope = slope or log_slope
  newton = where(is_wide(low, high) * lt(low, by_ratio) * lt(by_ratio, high), by_ratio, newton)
  local inside = le(low, newton) * le(newton, high) * lt(abs(newton), INF) * lt(slope, INF)
  local is_noise = maximum(le(size, noise), s.trusted * le(size, 64 * noise) * gt(size, HALVED * before))
  local stays = le(abs(newton - x), 2 * ULP * abs(x)) * lt(slope, INF)
  local is_polish = is_noise * le(abs(newton - x), POLISH * abs(x))   -- a longer step is made of noise
  local trusted = inside * maximum(is_polish, (1 - is_noise) * (1 - stays) * le(size, HALVED * before))
  -- Between neighbouring numbers the root is where Newton's method would go.
  local width = high - low
  local leads, least = functions.eq(newton, newton), ULP * maximum(abs(low), abs(high))
  local adjacent = lt(width, INF) * maximum(le(width, least) * leads, s.grain and le(width, s.grain) or 0)
  local is_near = s.upper and le(size, 1) or 1   -- far from it logarithms of tails lead less far than they should
  adjacent = maximum(adjacent, maximum(stays, s.probes) * le(width, 2 * PROBE * least) * leads * is_near)
  s.is_misled = maximum(s.is_misled, s.probes)   -- the root is not next to where a step was too small to move x
  local settled = maximum(is_noise, adjacent)
  local ended = maximum(s.ended, settled)
  local probes = stays * (1 - ended) * (1 - s.is_misled)
  local slow = (1 - ended) * (1 - trusted * le(size, s.quick * before))
  local middle, leaps = wandered(s, x, value, rate, low, high, slow, (1 - ended) * (1 - trusted), 1 - inside)
  local between = where(adjacent * leads, maximum(low, functions.minimum(newton, high)), middle)
  trusted = trusted * (1 - leaps)
  local next = where(trusted, stretched(s, x, newton, size, noise, low, high), where(is_noise, x, between))
  local probe = x - functions.sign(value) * maximum(PROBE * ULP * abs(x), TINY)
  next = where(probes, maximum(low, functions.minimum(probe, high)), next)
  local moves = gt(abs(next - x), 0.5 * ULP * abs(next)) * (1 - settled)
  s.x, s.ended = where(s.ended, x, next), maximum(s.ended, 1 - moves)
  s.low, s.high, s.before, s.trusted, s.probes = low, high, where(leaps, INF, size), trusted, probes
end

--- The root of an increasing function between low and high, numbers or tensors; either end may be
-- infinite, and `start` lies between. g(x) returns the value, the slope, and the rounding error of the
-- value; or where the slope may overflow nil, and its logarithm last. Newton's method, in logarithms where the bracket
-- is wide, with a halving of it where that leaves it or does not halve the value; a value close to its rounding error
-- that Newton's method does not halve is settled.
--
-- Where g knows a batch of this `rank`, points may have dimensions in front of it, and those that are found drop
-- out, with what is `given` of each: g(x, points) finds that in fields of `points`. So they do while they are more
-- than a `few`, see settling.lua. A `grain` that is given is how close the ends of a bracket need to come, and
-- leap(x, points, value) a guess on the other side of the root, for use where a step of Newton's method leaves more
-- than the part `quick` of a value, after `rounds_before`.
function quadrature.root (g, low, high, start, given, rank, few)
  local state = { x = start or quadrature.middle(low, high), low = low, high = high, before = INF, trusted = 0,
                  leaps_left = LEAPS, probes = 0, is_misled = 0, quick = QUICK, rounds = 0, rounds_before = 0,
                  ended = functions.eq(low, high) }
  for key, value in pairs(given or {}) do state[key] = value end
  return settling.run(function (s) approach(g, s) end, state, 200, rank, few)
end

return quadrature
