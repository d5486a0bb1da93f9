--- Quadrature: integrals of functions on tensors, and roots, for many functions at once.
--
-- Adaptive Gauss-Kronrod: every panel is measured by the 21 points of Kronrod's rule, and its error
-- by how far the 10 points of Gauss within it disagree. All panels of a round are one call of the
-- integrand, so that its loops run in C.
local core      = require "perilune.core"
local functions = require "perilune.functions"
local show      = require "perilune.show"
local tensor    = require "perilune.tensor"

local quadrature = {}

local where, maximum, abs = functions.where, functions.maximum, functions.abs
local POINTS   = 21          -- in a panel
local ROUNDING = 1e-15       -- no integral is better than this part of that of |f|
local NARROW   = 2 ^ -46     -- a panel whose points can still be told apart, relative to its ends
local WATCH    = 32          -- rounds between looks at whether there is progress

-- Nodes from 1 down to 0, Kronrod's weights, and those of Gauss for every second node.
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
local GAUSS = {
  0, 0.066671344308688137593569, 0, 0.149451349150580593145863, 0, 0.219086362515982043995535,
  0, 0.269266719309996355091227, 0, 0.295524224714752870173816, 0,
}

-- All 21 of a list of 11, of which the first ten have a mirror image with this sign.
local function mirrored (list, sign)
  local all = {}
  for i = 1, POINTS do all[i] = i <= 11 and sign * list[i] or list[POINTS + 1 - i] end
  return core.tensor(all)
end

local nodes   = mirrored(NODES, -1)
local kronrod = mirrored(KRONROD, 1):unsqueeze(1)   -- rows, to be multiplied with columns of values
local gauss   = mirrored(GAUSS, 1):unsqueeze(1)


-- Panels ----------------------------------------------------------------------

-- Panels between a, the break points that lie inside, and b: { left, right, left, right, ... }.
local function first_panels (a, b, points)
  local cuts = {}
  for _, x in ipairs(points or {}) do
    if x > a and x < b then cuts[#cuts + 1] = x end
  end
  table.sort(cuts)
  cuts[#cuts + 1] = b
  local panels, left = {}, a
  for _, x in ipairs(cuts) do
    if x > left then panels[#panels + 1], panels[#panels + 2], left = left, x, x end
  end
  return panels
end

-- The halves of those panels that are marked in `split` and not too narrow.
local function halves (panels, split)
  local children = {}
  for i, marked in ipairs(split) do
    local left, right = panels[2 * i - 1], panels[2 * i]
    if marked ~= 0 and right - left > NARROW * math.max(math.abs(left), math.abs(right)) then
      local n, middle = #children, 0.5 * left + 0.5 * right
      children[n + 1], children[n + 2], children[n + 3], children[n + 4] = left, middle, middle, right
    else split[i] = 0 end
  end
  return children
end

-- Values of f at the nodes of all panels, as { panel, node, element of the batch }, and half the
-- widths of the panels. `batch` receives the shape of the batch.
local function evaluate (f, panels, rank, batch)
  local ends = core.tensor(panels):reshape(-1, 2)
  local left, right = ends:select(2, 1):unsqueeze(-1), ends:select(2, 2):unsqueeze(-1)
  local half = 0.5 * right - 0.5 * left
  local shape = { #ends * POINTS }
  for d = 2, rank + 1 do shape[d] = 1 end
  local values = f((0.5 * left + 0.5 * right + half * nodes):reshape(shape))
  local got = core.is_tensor(values) and core.shape(values) or {}
  if got[1] ~= shape[1] or #got ~= rank + 1 then
    error(string.format("integrate: f must return a tensor of %d rows and rank %d, got %s", shape[1], rank + 1,
                        show.value(values)), 4)
  end
  for d = 1, rank do batch[d] = got[d + 1] end
  return values:reshape(#ends, POINTS, -1), half
end

-- Integral, error and integral of |f| of each panel, of shape { panel, element }. The error of
-- Kronrod's rule is a power 3/2 of its distance d from Gauss, in units of the variation v of f:
-- v min(1, (200 d/v)^(3/2)) (Piessens et al., QUADPACK, 1983). Infinities are left out of a panel
-- that has finite values as well.
local function measure (values, half)
  local infinite = values:isinf()
  local finite = where(infinite, 0, values)
  local average = kronrod:matmul(finite)   -- over a width of 2
  local size = kronrod:matmul(abs(finite)):select(2, 1) * half
  local variation = kronrod:matmul(abs(finite - 0.5 * average)):select(2, 1) * half
  local integral = average:select(2, 1) * half
  local distance = abs(integral - gauss:matmul(finite):select(2, 1) * half)
  local error = variation * functions.minimum(1, (200 * distance / variation) ^ 1.5)
  error = where(variation:gt(0), error, distance)
  integral = where(infinite:min(2), values:sum(2), integral)
  return integral, where(integral:isinf(), math.huge, error), size
end

-- The same for all panels, not more than `at_once` of them in a call of f.
local function measure_all (f, panels, rank, batch, at_once)
  local parts = { {}, {}, {} }
  for first = 1, #panels, 2 * at_once do
    local group = { table.unpack(panels, first, math.min(#panels, first + 2 * at_once - 1)) }
    local n = #parts[1] + 1
    parts[1][n], parts[2][n], parts[3][n] = measure(evaluate(f, group, rank, batch))
  end
  if #parts[1] == 1 then return parts[1][1], parts[2][1], parts[3][1] end
  return tensor.cat(parts[1]), tensor.cat(parts[2]), tensor.cat(parts[3])
end


-- 1 for each panel to be cut: one whose error is more than its share for an element that is not yet
-- good enough.
local function wanting (sums, integral, error, size, opts)
  local rounding = ROUNDING * (sums.size + size:sum(1))
  local tolerance = maximum(maximum(rounding, opts.atol or 0), (opts.rtol or 1e-13) * abs(sums.value + integral:sum(1)))
  local short = functions.gt(sums.error + error:sum(1), tolerance)
  return (error:gt(tolerance / (2 * sums.panels)) * short):max(2):totable()
end

-- Adds what is kept of a round; a NaN is kept in any case.
local function add (sums, integral, error, size, kept)
  sums.value = sums.value + where(maximum(kept, integral:isnan()), integral, 0):sum(1)
  sums.error = sums.error + where(kept, error, 0):sum(1)
  sums.size  = sums.size + where(kept, size, 0):sum(1)
end

-- Every so many rounds: has the error of what was cut again stayed what it was? It does if the
-- integral diverges.
local function watch (sums, round, error, kept)
  if round % WATCH ~= 0 then return end
  local now = where(kept, 0, error):sum(1)
  sums.stalled = sums.before and functions.gt(now, 0.5 * sums.before) or 0
  sums.before = now
end

--- The integral of f from a to b, and an estimate of its error.
--
-- f takes a tensor of n points and returns n values; for a batch of integrands of rank opts.rank it
-- takes { n, 1, ..., 1 } and returns { n, batch... }, and so are the results. Panels are shared by
-- the batch, and cut while any element needs it: while its error exceeds both rtol |integral| and
-- atol, up to `panels` in all and `rounds` of halving. `points` are places between a and b where f
-- has a kink, a jump or a peak; `at_once` limits the panels in one call of f; `as_tensor` keeps a single
-- integral a tensor, which remembers its gradient. A NaN of f makes the integral NaN; infinities are
-- ignored where they are single points, and make it infinite where they fill a panel.
function quadrature.integrate (f, a, b, opts)
  opts = opts or {}
  if not (a < b and a > -math.huge and b < math.huge) then
    error(string.format("integrate: the ends must be finite and a < b, got %s and %s", show.value(a), show.value(b)), 2)
  end
  local panels, rank, rounds, batch = first_panels(a, b, opts.points), opts.rank or 0, opts.rounds or 200, {}
  local sums = { value = 0, error = 0, size = 0, panels = #panels / 2, stalled = 0 }
  for round = 1, rounds do
    local integral, error, size = measure_all(f, panels, rank, batch, opts.at_once or 200)
    local split = wanting(sums, integral, error, size, opts)
    local children = sums.panels < (opts.panels or 2000) and halves(panels, split) or {}
    local kept = 1 - core.tensor(split):unsqueeze(-1)
    watch(sums, round, error, kept)
    if #children == 0 then sums.stalled = 0 end
    if #children == 0 or round == rounds then
      add(sums, integral, error, size, 1)
      break
    end
    add(sums, integral, error, size, kept)
    panels, sums.panels = children, sums.panels + #children / 4
  end
  local err = where(sums.stalled, math.huge, sums.error + ROUNDING * sums.size)
  if rank == 0 and not opts.as_tensor then return core.item(sums.value), core.item(err) end
  return sums.value:reshape(batch), err:reshape(batch)
end


-- Roots -----------------------------------------------------------------------

local INF, ULP, TINY = math.huge, 2.0 ^ -52, 2.0 ^ -1074

-- A point between: half way, in logarithms where the ends are far apart and not of opposite signs, a
-- step of the size of one end where the other is infinite, and 0 where both are.
local function middle (low, high)
  local lt, sqrt = functions.lt, functions.sqrt
  local least, most = maximum(abs(low), TINY), maximum(abs(high), TINY)
  local ratio = maximum(lt(4 * least, most), lt(4 * most, least)) * functions.ge(low * functions.sign(high), 0)
                * functions.ge(high * functions.sign(low), 0)
  local half = where(ratio, functions.sign(low + high) * sqrt(least) * sqrt(most), 0.5 * low + 0.5 * high)
  half = where(functions.eq(high, INF), low + maximum(1, abs(low)), half)
  half = where(functions.eq(low, -INF), high - maximum(1, abs(high)), half)
  return where(functions.isnan(half) * functions.eq(low, -high), 0, half)
end

local function all (x)
  if core.is_tensor(x) then return core.numel(x) == 0 or core.item(x:min()) ~= 0 end
  return x ~= 0
end

--- The root of an increasing function between low and high, numbers or tensors; either end may be
-- infinite, and `start` lies between. g(x) returns the value, the slope, and the rounding error of the
-- value. Newton's method, with a halving of the bracket where that leaves it or does not halve the value.
function quadrature.root (g, low, high, start)
  local lt, le, gt = functions.lt, functions.le, functions.gt
  local x, before, done = start or middle(low, high), INF, 0
  for _ = 1, 200 do
    local value, slope, noise = g(x)
    local size = abs(value)
    low, high = where(lt(value, 0), x, low), where(gt(value, 0), x, high)
    local newton = x - value / slope
    local inside = le(low, newton) * le(newton, high) * lt(abs(newton), INF) * lt(slope, INF)
    local settled = maximum(le(abs(newton - x), 2 * ULP * abs(x)) * lt(slope, INF), le(size, noise))
    local trusted = inside * maximum(settled, le(size, 0.5 * before))
    local next = where(trusted, newton, where(settled, x, middle(low, high)))
    local moves = gt(abs(next - x), 0.5 * ULP * abs(next)) * (1 - settled)
    x, before, done = where(done, x, next), size, maximum(done, 1 - moves)
    if all(done) then break end
  end
  return x
end

return quadrature
