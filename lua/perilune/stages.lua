--- Stages of a TransformedDistribution: the law of y = map(x), x from the law below, a distribution or another stage.
--
-- A stage knows the densities, tails, quantiles and moments of its values.
local core       = require "perilune.core"
local raise      = require "perilune.errors".raise
local events     = require "perilune.events"
local functions  = require "perilune.functions"
local hulls      = require "perilune.hulls"
local lazy       = require "perilune.lazy"
local levels     = require "perilune.levels"
local transforms = require "perilune.transforms"

local effort        = lazy "effort"
local interval_mass = lazy "interval_mass"
local line_moments  = lazy "line_moments"
local points        = lazy "points"
local quadrature    = lazy "quadrature"
local quantile_slopes = lazy "quantile_slopes"
local settling      = lazy "settling"
local sums          = lazy "mixture_sums"
local tensor        = lazy "tensor"

local where, maximum, minimum, abs, log = functions.where, functions.maximum, functions.minimum, functions.abs,
                                          functions.log
local sum_rightmost = events.sum_rightmost
local INF   = math.huge
local LEAST = 2.0 ^ -1022   -- normal number

local stages = {}

-- The largest of the last n dimensions.
local function any (flags, n)
  for _ = 1, n do flags = flags:max(-1) end
  return flags
end


-- One to one ---------------------------------------------------------------------------

local Stage = {}
Stage.__index = Stage

-- -inf outside the support, NaN for NaN.
local function masked (self, y, value)
  local support, event_dim = self.bounds, self.event_dim
  if event_dim == 0 then
    if support.low == -INF and support.high == INF then return value end
    return where(support:holds(y), value, -abs(y) - INF)
  end
  local outside = any(1 - support:holds(y), event_dim - support.event_dim)
  return where(any(functions.isnan(y), event_dim), 0 / 0, where(outside, -INF, value))
end

local INEXACT = 2 ^ -44   -- more than values and their inverses are rounded by

-- A discrete x whose image is y but for rounding; where the map takes rows or matrices, each as a whole.
local function settled (self, y)
  local map = self.map
  local x = map:inverse(y)
  local whole, from, to = functions.round(x), map.domain.event_dim, map.codomain.event_dim
  local close = functions.le(abs(map:forward(whole) - y), INEXACT * abs(y))
  for _ = 1, to do close = close:min(-1) end
  for _ = 1, core.is_tensor(close) and from or 0 do close = close:unsqueeze(-1) end
  return where(close, whole, x)
end

-- log p of discrete values. x is NaN where none has this image.
local function discrete_log_prob (self, y)
  local x, map = settled(self, y), self.map
  if self.event_dim == 0 then
    return where(functions.eq(x, x), self.below:log_prob(x), -abs(y) - INF)
  end
  local from = self.event_dim - map.codomain.event_dim + map.domain.event_dim
  local none = where(any(functions.isnan(y), self.event_dim), 0 / 0, -INF)
  return where(any(functions.isnan(x), from), none, self.below:log_prob(x))
end

-- log p where y lies in the support; elsewhere nonsense. An image is exact: what lies in it
-- comes from the support below.
local function log_density (self, y)
  local x, below = self.map:inverse(y), self.below
  local is_inside = self.is_exact and getmetatable(below) == Stage
  local density = is_inside and log_density(below, x) or below:log_prob(x)
  local stretch = sum_rightmost(self.map:log_abs_det_jacobian(x, y), self.extra)
  if self.is_affine then return density - stretch end
  return where(functions.eq(density, -INF), -INF, density - stretch)   -- whatever the stretch
end

function Stage:log_prob (y)
  if self.is_discrete then return discrete_log_prob(self, y) end
  return masked(self, y, log_density(self, y))
end

-- The place where the cdf of the law below is P(X <= x), however x is rounded if it is a fraction.
local function place_at (self, x)
  if self.has_integers or not self.is_discrete then return x end
  local map, size = self.map, minimum(abs(x), 1e308)
  return x + INEXACT * (self.is_affine and maximum(size, abs(map.loc / map.scale)) or size)
end

-- x of the law below for y. However that is rounded, images of points of mass are theirs, and what is beyond an end is
-- beyond all x.
local function preimage (self, y)
  local low, high, sign = self.bounds.low, self.bounds.high, self.map.sign
  local inside = minimum(maximum(y, low), high)
  local x = self.has_integers and settled(self, inside) or self.map:inverse(inside)
  for i, point in ipairs(self.points_below) do x = where(functions.eq(y, self.points[i]), point, x) end
  if low ~= -INF then x = where(functions.lt(y, low), -sign * INF, x) end
  if high ~= INF then x = where(functions.gt(y, high), sign * INF, x) end
  return x
end

local OTHER = { cdf = "sf", sf = "cdf", log_cdf = "log_sf", log_sf = "log_cdf" }

local strict_tail

-- The same of a magnitude: P(|X| < y), or P(|X| >= y).
local function strict_folded (stage, name, y, is_discrete)
  local below, beyond, is_log = stage.below, place_at(stage, -y), name:find "^log_"
  if name:find "sf$" then
    local join = is_log and functions.logaddexp or function (a, b) return a + b end
    local outer = join(strict_tail(below, name, y, is_discrete), below[OTHER[name]](below, beyond))
    return where(functions.le(y, 0), is_log and 0 or 1, outer)
  end
  local inner = maximum(strict_tail(below, "cdf", y, is_discrete) - below:cdf(beyond), 0)
  inner = is_log and log(inner) or inner
  if not is_discrete then inner = where(points.is_at(stage.points, y), inner, stage[name](stage, y)) end   -- has digits
  return where(functions.le(y, 0), is_log and -INF or 0, inner)
end

-- A tail of a law, a stage or a distribution: P(X < x) where its name says P(X <= x), and P(X >= x) where that says
-- P(X > x). Numbers next to x may have the same preimage, so each stage looks for its own.
function strict_tail (law, name, x, is_discrete)
  local stage = law.law or law
  if stage.is_folded then return strict_folded(stage, name, x, is_discrete) end
  if getmetatable(stage) ~= Stage then
    return law[name](law, is_discrete and points.outcome_before(x) or points.before(x))
  end
  local below, sign, place = stage.below, stage.map.sign, preimage(stage, x)
  if sign == 1 then return strict_tail(below, name, place, is_discrete) end
  local other = below[OTHER[name]](below, place_at(stage, place))
  return sign == -1 and other or where(functions.gt(sign, 0), strict_tail(below, name, place, is_discrete), other)
end

-- The same of the law below; of one in which no point has mass the tail itself.
local function tail_before (self, name, x)
  if self.is_discrete or self.has_points then return strict_tail(self.below, name, x, self.is_discrete) end
  return self.below[name](self.below, x)
end

-- The tail below y that is called `rising` where map increases, `falling` where it decreases:
-- there P(Y <= y) is P(X >= x).
local function tail (self, y, rising, falling)
  local below, sign, x = self.below, self.map.sign, preimage(self, y)
  if sign == 1 then return below[rising](below, place_at(self, x)) end
  if sign == -1 then return tail_before(self, falling, x) end
  return where(functions.gt(sign, 0), below[rising](below, place_at(self, x)), tail_before(self, falling, x))
end

function Stage:cdf (y) return tail(self, y, "cdf", "sf") end
function Stage:sf (y) return tail(self, y, "sf", "cdf") end
function Stage:log_cdf (y) return tail(self, y, "log_cdf", "log_sf") end
function Stage:log_sf (y) return tail(self, y, "log_sf", "log_cdf") end

-- The quantile by the one of the law below that is called `rising` where map increases, `falling` where it
-- decreases. There the smallest y is the largest x: the outcome after the one that reaches p exactly. `beyond` is
-- 1 if levels above p lead there, -1 if those below do.
local function quantile (self, p, rising, falling, beyond)
  local map, below, sign = self.map, self.below, self.map.sign
  if sign == 1 then return map:forward(below[rising](below, p)) end
  local other = self.is_discrete and levels.beyond(p, beyond) or p
  if sign == -1 then return map:forward(below[falling](below, other)) end
  return map:forward(where(functions.gt(sign, 0), below[rising](below, p), below[falling](below, other)))
end

function Stage:icdf (p) return quantile(self, p, "icdf", "isf", -1) end
function Stage:isf (q) return quantile(self, q, "isf", "icdf", 1) end

-- Values of a law with a density at x, which are no ends of it: rounded to these they would have no density.
local function values_at (self, x)
  local y = self.map:forward(x)
  if self.event_dim > 0 or self.is_discrete or self.has_points then return y end
  local low, high = self.bounds.low, self.bounds.high
  if not (low and high) then return y end   -- parts that differ
  if low ~= -INF then y = maximum(y, -points.before(-low)) end
  if high ~= INF then y = minimum(y, points.before(high)) end
  return y
end

-- How far x moves if y, or what is made of it, is off by its own size, as a function of x.
local function grain_of (self, grain)
  if self.event_dim > 0 or self.is_discrete then return nil end
  return function (x)
    local y = self.map:forward(x)
    local size = grain and maximum(abs(y), grain(y)) or abs(y)
    if self.is_folded then return size end
    return size * functions.exp(-self.map:log_abs_det_jacobian(x, y))
  end
end

-- opts of an expectation over y for one over x: points where f has kinks, and the inner part of f.
local function options_below (self, opts)
  local options = {}
  for key, value in pairs(opts or {}) do options[key] = value end
  options.points = {}
  for _, y in ipairs(opts and opts.points or {}) do self:add_preimages(y, options.points) end
  if opts and opts.parts then
    local inner = opts.parts.inner
    options.parts = { inner = function (x) return inner(values_at(self, x)) end, outer = opts.parts.outer }
  end
  options.grain = grain_of(self, opts and opts.grain)
  return options
end

function Stage:add_preimages (y, list) list[#list + 1] = self.map:inverse(y) end

function Stage:expectation (f, opts)
  return self.below:expectation(function (x) return f(values_at(self, x)) end, options_below(self, opts))
end

local function identity (y) return y end

function Stage:mean ()
  if self.is_affine or self.is_reshape then return self.map:forward(self.below:mean()) end
  return (self:expectation(identity))
end

function Stage:variance ()
  if self.is_reshape then return self.map:forward(self.below:variance()) end
  if self.is_affine then return self.map.scale * self.map.scale * line_moments.variance(self.below) end
  local mean = self:mean()
  local variance = self:expectation(function (y) return (y - mean) ^ 2 end)
  return where(functions.isinf(mean), INF, variance)
end

function Stage:stddev ()
  if self.is_reshape then return self.map:forward(self.below:stddev()) end
  if self.is_affine then return abs(self.map.scale) * line_moments.stddev(self.below) end
  return functions.sqrt(self:variance())
end

-- H(Y) = H(X) + E log|dy/dx|
function Stage:entropy ()
  local below = self.below:entropy()
  if self.is_discrete or self.is_reshape then return below end
  if self.is_affine then
    return below + sum_rightmost(self.map:log_abs_det_jacobian(self.below:mean()), self.extra)
  end
  return below + self.below:expectation(function (x) return self.map:log_abs_det_jacobian(x) end)
end


-- |X|: every y > 0 has two preimages -------------------------------------------------------

local Folded = setmetatable({}, Stage)
Folded.__index = Folded

function Folded:log_prob (y)
  local plus, minus = self.below:log_prob(y), self.below:log_prob(-y)
  local both = functions.logaddexp(plus, minus)
  if self.is_discrete then both = where(functions.eq(y, 0), plus, both) end
  return masked(self, y, both)
end

-- P(X < -y)
local function left_of (self, name, y) return tail_before(self, name, -y) end

-- The mass between two places, from the cdf and the sf at both: the difference of those tails that are small, and the
-- larger of them.
local function difference (low, high, low_sf, high_sf)
  local inner = where(functions.lt(high, 0.5), high - low,
                      where(functions.lt(low_sf, 0.5), low_sf - high_sf, 1 - (low + high_sf)))
  return inner, minimum(high, low_sf)
end

-- The same for P(-y <= X <= y): of a mixture from its components, whose tails are not lost beside others.
local function difference_at (self, y)
  local law, from, to
  if not (self.is_discrete or self.has_points) then law, from, to = interval_mass.untransformed(self.below, -y, y) end
  if not law then
    return difference(left_of(self, "cdf", y), self.below:cdf(y), left_of(self, "sf", y), self.below:sf(y))
  end
  local parts, a, b = law.component_distribution, sums.padded(law, from), sums.padded(law, to)
  local inner, larger = difference(parts:cdf(a), parts:cdf(b), parts:sf(a), parts:sf(b))
  return sums.mixed(law, inner), sums.mixed(law, larger)
end

-- P(-y <= X <= y), the difference of those tails that are small; whether little is left of them, and the larger one.
local function inner_mass (self, y)
  local inner, larger = difference_at(self, y)
  return inner, functions.lt(inner, 0.05 * larger) * functions.gt(y, 0), larger
end

function Folded:sf (y)
  return where(functions.lt(y, 0), 1, self.below:sf(y) + left_of(self, "cdf", y))
end

-- The logarithm of a tail that is log_tail where it is small, else that of 1 - other.
local function log_of (log_tail, other) return where(functions.lt(other, 0.5), functions.log1p(-other), log_tail) end

-- log P(|X| > y), for y > 0, and what is within y.
local function log_outer (self, y, inner)
  return log_of(functions.logaddexp(self.below:log_sf(y), left_of(self, "log_cdf", y)), inner)
end

function Folded:log_sf (y) return where(functions.lt(y, 0), 0, log_outer(self, y, self:cdf(y))) end

local PATIENCE = 500   -- for a mass of a dear law, in units of effort.lua
local ROUGHLY  = 1e-3  -- a mass that is so far from the goal of a search is known well enough

-- How far off an integral may be, beside the goals of searches for masses of `row` times it.
local function tolerance_of (row, goal)
  local function flat (x) return core.is_tensor(x) and x:reshape(-1) or x end
  local density = flat(goal) / maximum(flat(row), LEAST)
  return function (value) return ROUGHLY * abs(value - density) end
end

-- P(-y <= X <= y) as an integral of the density, for y close to 0: over v, y v^8, as the density may have a cusp at 0.
-- A search for the mass `goal` has rough ones far from it. The second result is its error.
local function mass_near_zero (self, y, shape, goal)
  local row = (core.is_tensor(y) and y or core.tensor(y)):expand(shape)
  local purse = effort.is_dear(self) and effort.purse(PATIENCE * core.numel(row)) or nil
  local density, error = quadrature.integrate(function (v)
    local square = v * v
    local seventh = square * square * square * v
    effort.count_densities(self, v)
    return where(functions.gt(row, 0), 8 * seventh * functions.exp(self:log_prob(row * (seventh * v))), 0)
  end, 0, 1, { shape = shape, panels = 16, rounds = 16, purse = purse, enough = goal and tolerance_of(row, goal) })
  return row * density, row * error
end

local function is_any (flags)
  if type(flags) == "number" then return flags ~= 0 end
  return core.numel(flags) > 0 and core.item(flags:max()) ~= 0
end

local ROUNDED = 2 ^ -50   -- part of tails that their difference is off by,
local SURE = 2 ^ 14       -- but never by so many times that: the integral has missed a jump

-- The same where the difference `inner` of tails has lost digits, if the integral is closer and no other: those of
-- these flags. The tails are up to `larger`.
local function mended (self, y, inner, cancelled, larger, goal)
  local shape = core.is_tensor(inner) and core.shape(inner) or {}
  local function closer (x, at, off, aim, size)
    local mass, error = mass_near_zero(self, at, size, aim)
    if #size == 0 and not (core.is_tensor(at) or core.tracked(mass)) then
      mass, error = core.item(mass), core.item(error)
    end
    return where(functions.le(error, off) * functions.le(abs(mass - x), error + SURE * off), mass, x)
  end
  local off = ROUNDED * larger
  if #shape == 0 then return where(cancelled, closer(inner, y, off, goal, shape), inner) end
  return settling.run(function (s)
    s.x = where(s.ended, s.x, closer(s.x, s.y, s.off, s.goal, core.shape(s.x)))
    s.ended = 1
  end, { x = inner, y = where(cancelled, y, 0), off = off, ended = 1 - cancelled,
         goal = core.is_tensor(goal) and goal:expand(shape) or goal }, 1, self.batch_rank)
end

local LOST = 2 ^ -32   -- a difference that is so small a part of tails has few digits, as far as these may be off

local LEAST_ROUNDED = 2 ^ -53   -- part of tails that their difference is off by at least

-- The least distance from 0 of a point that has mass: nearer to 0 the density tells.
local function nearest_point (self)
  local least = INF
  for _, point in ipairs(self.points) do least = where(functions.lt(point, least), point, least) end
  return least
end

-- P(-y <= X <= y). A search has a `goal`: how far off that is the difference of tails tells, unless it is close by, or
-- the search has `ended`. The second result is what that difference is off by where it has to do.
local function inner_cdf (self, y, goal, ended)
  local inner, cancelled, larger = inner_mass(self, y)
  local off = 0
  if goal then
    cancelled = cancelled * (1 - ended) * functions.le(minimum(inner, abs(inner - goal)), LOST * larger)
  end
  if self.has_points then cancelled = cancelled * functions.lt(y, nearest_point(self)) end
  if not self.is_discrete and is_any(cancelled) then
    local mass = mended(self, y, inner, cancelled, larger, goal)
    off, inner = cancelled * functions.eq(mass, inner) * LEAST_ROUNDED * larger, mass
  end
  return where(functions.lt(y, 0), 0, inner), off
end

function Folded:cdf (y) return (inner_cdf(self, y)) end

local function log_inner (self, y, goal, ended)
  local inner, off = inner_cdf(self, y, goal, ended)
  return log_of(log(inner), self:sf(y)), off
end

function Folded:log_cdf (y) return (log_inner(self, y)) end

local function has_components (d)
  local inner = d.below or d.base or d.base_dist
  return d.component_distribution ~= nil or type(inner) == "table" and has_components(inner)
end

-- As many rounds as tails on both sides of the law below take besides the one that is counted: each component of a
-- mixture of several classes is asked by itself, and what is left of a law for masses.
local function calls_of (d)
  if d.component_distribution then return d.component_distribution.list and 2 or 1 end
  local inner = d.below or d.base or d.base_dist
  return (d.log_mass and 1 or 0) + (type(inner) == "table" and calls_of(inner) or 0)
end

-- The logarithm of the upper tail, which need not be exact where it is near 0, or of the lower one, which need not be
-- where it is far from the goal; of those only that are asked for. And what a lower one is off by, if that is more
-- than rounding.
local function log_tail (self, y, upper, goal, ended)
  effort.count(self, y, 4)
  for _ = 1, calls_of(self.below) do effort.spend(0, 0) end
  if not is_any(upper) then return log_inner(self, y, goal, ended) end
  local outer = log_outer(self, y, (inner_mass(self, y)))
  if not is_any(1 - upper) then return outer, 0 end
  local inner, off = log_inner(self, y, goal, ended)
  return where(upper, outer, inner), where(upper, 0, off)
end

local MASSES, MASS = 10000, 200   -- that a search spends before it goes by tails alone, and more for each quantile
local PATIENT = 16   -- rounds before a leap of a dear mixture, which costs more than these
local SLACK = 1e-6   -- more than quantiles miss their levels by, as a part of these

-- Quantiles of X by a method at two levels, which are searched for together: a list.
local function at_two (self, method, u, v)
  local below = self.below
  local function asked (p)
    effort.count_quantiles(below, p)
    return below[method](below, p)
  end
  if not (core.is_tensor(u) and core.is_tensor(v)) or core.tracked(u) or core.tracked(v) then
    return { asked(u), asked(v) }
  end
  local both = asked(tensor.stack { u, v })
  return { both:select(1, 1), both:select(1, 2) }
end

-- A number that a quantile of |X| is not above, from quantiles of X at half the outer mass, and one that it is not
-- below: what is within it is in one tail of X at least, and what is beyond it is more than either tail. The latter is
-- 0 where it is not close to the former, NaN where there is none.
local function bounds (self, half, small, upper)
  local level = minimum(1, small * where(upper, 1 + SLACK, 1 - SLACK))
  local low, high = at_two(self, "icdf", half, level), at_two(self, "isf", half, level)
  local reach = maximum(abs(low[1]), abs(high[1]))
  local least = minimum(where(upper, maximum(high[2], -low[2]), maximum(low[2], -high[2])), reach)
  return reach, where(functions.ge(least, 0.5 * reach), least, where(functions.isnan(reach), reach, 0))
end

local SLIGHT = 2 ^ -44   -- part of a tail: levels that differ by less may both be that of a gap in X

-- The level u + excess, which differs from u by more than rounding; NaN, of which nothing is known, where it is none.
local function beside (u, excess)
  local level = u + where(functions.lt(excess, 0), minimum(excess, -SLIGHT * u), maximum(excess, SLIGHT * u))
  return where(functions.gt(level, 0) * functions.lt(level, 1), level, 0 / 0)
end

-- A guess on the other side of a quantile of |X| from y, beyond which there is `excess` too little: as if all of that
-- were on one side of 0, or half on either, between which the quantile is.
local function leap (self, y, excess, is_low)
  local below, above = left_of(self, "cdf", y), self.below:sf(y)
  local low  = at_two(self, "icdf", beside(below, excess), beside(below, 0.5 * excess))
  local high = at_two(self, "isf", beside(above, excess), beside(above, 0.5 * excess))
  local function nearest (a, b, pick) return where(functions.isnan(a), b, where(functions.isnan(b), a, pick(a, b))) end
  local function side (pick, opposite)
    return nearest(nearest(-low[1], high[1], pick), opposite(-low[2], high[2]), pick)
  end
  return where(is_low, side(minimum, maximum), side(maximum, minimum))
end

-- Where the smaller tail is as large as it should be. It lies within what either half of the
-- outer mass says; a small inner mass is that of the density at 0 as a first guess.
local function folded_quantile (self, p, q)
  if self.is_discrete then raise("TransformedDistribution has no quantiles of discrete magnitudes") end
  local upper, small = functions.lt(q, 0.5), minimum(q, 0.5)
  local half = 0.5 * small
  local reach, least = bounds(self, half, where(upper, q, p), upper)
  least, reach = points.narrowed(self.points, function (y) return self:cdf(y) end, function (y) return self:sf(y) end,
                                 where(upper, q, p), upper, least, reach)
  local target, outer = where(upper, log(q), log(p)), 0.5 * reach
  if is_any(functions.eq(half, 0)) then   -- the least number has no half
    local low, high = self.below:icdf(small), self.below:isf(small)
    outer = where(functions.gt(half, 0), outer, maximum(abs(low), abs(high)))
  end
  local guess = where(upper, outer, minimum(p / functions.exp(self:log_prob(0)), reach))
  local start = where(functions.isnan(least), guess, maximum(guess, least))
  local purse = effort.purse(MASSES + MASS * (core.is_tensor(target) and core.numel(target) or 1))
  local is_dear_mixture = has_components(self.below) and effort.is_dear(self)
  local function goes_on (x, at, value)
    local goal = functions.exp(at.goal)   -- value = log(reached / goal), or minus that
    local excess = goal * where(at.upper, -functions.expm1(-value), functions.expm1(value))
    return leap(self, x, excess, functions.lt(value, 0))
  end
  local y = quadrature.root(function (x, at)
    local goal, mass = at.goal, functions.exp(at.goal)
    local reached, off = log_tail(self, x, at.upper, mass, purse:left() > 0 and at.ended or 1)
    return where(at.upper, goal - reached, reached - goal), functions.exp(self:log_prob(x) - reached),
           maximum(2 ^ -51 * maximum(1, abs(goal)), off / maximum(mass, LEAST))
  end, least, reach, start, { goal = target, upper = upper, leap = goes_on, quick = 0.5,
                               rounds_before = is_dear_mixture and PATIENT or 0 }, self.batch_rank, effort.few(self))
  y = where(functions.eq(p, 0), 0, where(functions.eq(q, 0), reach, y))
  local nonsense = 1 - functions.ge(p, 0) * functions.ge(q, 0)
  return where(nonsense, 0 / 0, y)
end

-- With slopes, where no point of mass is in the way.
local function sloped_quantile (self, p, q)
  local upper = functions.lt(core.bare(q), 0.5)
  local small = where(upper, q, p)
  if self.is_discrete or self.has_points or not quantile_slopes.are_wanted(self, small) then
    return folded_quantile(self, p, q)
  end
  local x = core.no_grad(folded_quantile, self, core.bare(p), core.bare(q))
  return quantile_slopes.attached(self, x, small, upper, function ()
    return where(upper, maximum(abs(self.below:icdf(0)), abs(self.below:isf(0))), 0)
  end)
end

function Folded:icdf (p) return sloped_quantile(self, p, 1 - p) end
function Folded:isf (q) return sloped_quantile(self, 1 - q, q) end

function Folded.add_preimages (_, y, list) list[#list + 1], list[#list + 2] = y, -y end

function Folded:expectation (f, opts)   -- |x| has a kink at 0
  local options = options_below(self, opts)
  options.points[#options.points + 1] = 0
  return self.below:expectation(function (x) return f(abs(x)) end, options)
end

function Folded:entropy ()
  return -self:expectation(function (y)
    local density = self:log_prob(y)
    return where(functions.eq(density, -INF), 0, density)
  end, { beside = 2 * effort.density(self), points = not self.is_discrete and points.inner_jumps(self) or nil })
end


-- Which it is -----------------------------------------------------------------------------

--- Is t a transform of the kind with this name?
function stages.is_kind (t, name) return getmetatable(t) == transforms[name] end

-- |x| of a law whose values have one sign is x or -x.
local function unfolded (map, support)
  local low, high = support and support.low, support and support.high
  if not stages.is_kind(map, "Abs") then return map end
  if type(low) == "number" and low >= 0 then return transforms.Affine(0, 1) end
  return type(high) == "number" and high <= 0 and transforms.Affine(0, -1) or map
end

-- Does a map take what satisfies one constraint to all of what satisfies the other? If not, to a part of that.
local function fills (map, support, image)
  if not support or hulls.is_wide(support) then return false end
  if support == map.domain then return image == map.codomain end
  if stages.is_kind(map, "Reshape") then return support.base ~= nil and image.base == support.base end
  if support.dims and map.domain.event_dim == 0 then return fills(map, support.base, image.base or image) end
  return not support.is_discrete and support.low ~= nil and (type(map.sign) == "number" or image ~= map.codomain)
end

-- The support of what a map makes of a law with this one. The values of a transform of integers lie apart.
local function support_of (map, support, image, is_discrete)
  local is_full = fills(map, support, image)
  return is_full and not is_discrete and image or hulls.marked(image, is_discrete, not is_full)
end

--- The stage of a map on top of a law with this support and rank of events.
--
-- `bounds` is the support; but in a trace in which a map may begin to fall instead of rising, so that the support is
-- that of the recording alone, all that the map leads to: the law below knows what of it is possible.
function stages.on (below, map, support, event_dim, is_discrete)
  if not below.may_turn then map = unfolded(map, support) end
  local image = support and map:image(support) or map.codomain
  local may_turn = core.tracked(map.sign) or below.may_turn or false
  local has_none = is_discrete or event_dim > 0
  local points_below, images = has_none and {} or below.points or points.of(below), {}
  for i, point in ipairs(points_below) do images[i] = map:forward(point) end
  local has_integers = below.gives_integers
  if has_integers == nil then has_integers = is_discrete and points.has_integers(below) or false end
  local stage = {
    below = below, map = map, is_discrete = is_discrete,
    has_integers = has_integers, gives_integers = has_integers and points.keeps_integers(map),
    points_below = points_below, points = images, has_points = #images > 0,
    is_affine = stages.is_kind(map, "Affine"), is_reshape = stages.is_kind(map, "Reshape"),
    may_turn = may_turn, bounds = may_turn and map.codomain or image,
    support = support_of(map, support, image, is_discrete),
    is_exact = type(map.sign) == "number" and support ~= nil and support.low ~= nil and not may_turn,
    batch_rank = below.batch_rank or #below.batch_shape, extra = event_dim - map.domain.event_dim,
    event_dim = event_dim + map.codomain.event_dim - map.domain.event_dim,
  }
  stage.is_folded = stages.is_kind(map, "Abs") and stage.event_dim == 0
  return setmetatable(stage, stage.is_folded and Folded or Stage)
end

return stages
