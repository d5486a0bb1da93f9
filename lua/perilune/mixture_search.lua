--- Quantiles and modes of mixtures, which are searched for.
local any        = require "perilune.batches".any
local core       = require "perilune.core"
local effort     = require "perilune.effort"
local flattened  = require "perilune.flat_mixture"
local functions  = require "perilune.functions"
local levels     = require "perilune.levels"
local ordering   = require "perilune.ordering"
local peaks      = require "perilune.peaks"
local points     = require "perilune.points"
local quadrature = require "perilune.quadrature"
local quantile_slopes = require "perilune.quantile_slopes"
local settling   = require "perilune.settling"
local sums       = require "perilune.mixture_sums"
local tensor     = require "perilune.tensor"

local where, maximum, minimum, exp, log = functions.where, functions.maximum, functions.minimum, functions.exp,
                                          functions.log
local INF  = math.huge
local TINY = 2 ^ -1022
local DEEP = 1e-290   -- tails below have quantiles by logarithms,
local LOST = 1e-305   -- and those below too few digits to share out
local NEXT = 2 ^ -53 * (1 + 2 ^ -10)   -- this part of a number leads to the next

local IDLE = 0.25     -- a level that no quantile is dear of: medians may be next to 0

local mixture_search = {}

-- The least and the greatest of the components' values, those of no weight left out.
local function range (self, values)
  local dead = self.log_weights:eq(-INF)
  return where(dead, INF, values):min(-1), where(dead, -INF, values):max(-1)
end

-- Tails or quantiles of the components at x, by the method for lower tails or where `upper` by that for upper ones, if
-- it is asked for; `count` is that of effort.lua.
local function of_components (self, x, upper, lower_method, upper_method, count)
  local d = self.component_distribution
  local function asked_for (method)
    count(d, x)
    return d[method](d, x)
  end
  if not any(upper) then return asked_for(lower_method) end
  if not any(1 - upper) then return asked_for(upper_method) end
  return where(sums.padded(self, upper), asked_for(upper_method), asked_for(lower_method))
end

local function quantiles (self, p, upper)
  return of_components(self, p, upper, "icdf", "isf", effort.count_quantiles)
end

-- One tail of the mixture, the upper one where `upper`, and those of the components.
local function asked (self, x, upper, mix, lower_tail, upper_tail)
  local each = of_components(self, sums.padded(self, x), upper, lower_tail, upper_tail, effort.count)
  return mix(self, each), each
end

-- Are components mixtures themselves? Then their quantiles are searched for, and nothing may depend on them.
local function is_nested (self) return self.component_distribution.component_distribution ~= nil end

-- The least and the greatest quantile of what the components are mixtures of, and so on.
local function innermost_range (self, tail, upper)
  local d, depth = self.component_distribution, 1
  while d.component_distribution do d, depth = d.component_distribution, depth + 1 end
  for _ = 1, depth do
    tail = core.is_tensor(tail) and tail:unsqueeze(-1) or tail
    upper = core.is_tensor(upper) and upper:unsqueeze(-1) or upper
  end
  local low = where(upper, d:isf(tail), d:icdf(tail))
  local high = low
  for _ = 1, depth do low, high = low:min(-1), high:max(-1) end
  return low, high
end

-- A guess on the other side of the quantile from x, where tails of the components and of the mixture are `each` and
-- `reached`: as if all components but one had at the quantile the tails that they have at x. That is exact where one
-- alone has mass between.
local function leap (self, each, reached, tail, upper, is_low)
  local weights = maximum(self.weights, TINY)
  local level = each + sums.padded(self, tail - reached) / weights
  local is_level = functions.gt(level, 0) * functions.lt(level, 1) * functions.gt(self.weights, 0)
  local x = quantiles(self, where(is_level, level, IDLE), upper)
  return where(is_low, where(is_level, x, INF):min(-1), where(is_level, x, -INF):max(-1))
end

-- The end of a bracket away from the tail, where a search begins: if one component has nearly all of the tail, the
-- quantile is close by.
local function inner_end (upper, low, high)
  local x = where(upper, low, high)
  return where(functions.isfinite(x), x, quadrature.middle(low, high))
end

-- Has a component a density that goes on beyond the turn in which its mass is?
local function has_turns (self)
  local component = self.component_distribution
  for _, d in ipairs(component.list or { component }) do
    if d.is_circular then return true end
  end
  return false
end

-- The density, without that of turns in which a component has nothing in this tail.
local function density_of (self, x, each)
  if not has_turns(self) then return self:prob(x) end
  return sums.mixed(self, where(functions.eq(each, 0), 0, self.component_distribution:prob(sums.padded(self, x))))
end

-- The density over the tail that was reached; by logarithms where the density of a heavy tail is no normal number.
local function hazard (self, x, reached, each)
  local density = density_of(self, x, each)
  local lost = functions.lt(density, TINY)
  if not any(lost) then return density / reached end
  return where(lost, exp(self:log_prob(x) - log(reached)), density / reached)
end

-- Where the smaller tail is as large as it should be; the logarithm of the ratio leads there.
local function plain_quantile (self, tail, upper, low, high, start)
  local reached, each
  local goes_on = not is_nested(self) and function (_, at, value)
    return leap(self, each, reached, at.tail, at.upper, functions.lt(value, 0))
  end or nil
  return quadrature.root(function (x, at)
    reached, each = asked(self, x, at.upper, sums.mixed, "cdf", "sf")
    return where(at.upper, -1, 1) * log(reached / at.tail), hazard(self, x, reached, each), 2 ^ -50
  end, low, high, start or inner_end(upper, low, high), { tail = tail, upper = upper, leap = goes_on },
     #self.batch_shape, effort.few(self))
end

-- The same by logarithms alone, for tails that have few digits.
local function deep_quantile (self, tail, upper, low, high)
  local reached, each
  local goes_on = not is_nested(self) and function (_, at, value)
    return leap(self, exp(each), exp(reached), exp(at.goal), at.upper, functions.lt(value, 0))
  end or nil
  return quadrature.root(function (x, at)
    local goal = at.goal
    reached, each = asked(self, x, at.upper, sums.log_mixed, "log_cdf", "log_sf")
    return where(at.upper, -1, 1) * (reached - goal), nil, 2 ^ -51 * functions.abs(goal), self:log_prob(x) - reached
  end, low, high, inner_end(upper, low, high), { goal = log(tail), upper = upper, leap = goes_on },
     #self.batch_shape, effort.few(self))
end

-- All are searched for together until the last is found: neither way has to find what the other one does.
local function continuous_quantile (self, tail, upper, low, high)
  local deep = functions.lt(tail, DEEP)
  if not any(deep) then return plain_quantile(self, tail, upper, low, high) end
  local here = inner_end(upper, low, high)
  local x = plain_quantile(self, tail, upper, where(deep, here, low), where(deep, here, high))
  return where(deep, deep_quantile(self, tail, upper, where(deep, low, here), where(deep, high, here)), x)
end

-- Many at once ----------------------------------------------------------------------

-- Quantiles of components, which brackets are made of, are dear, so of many levels of one element only NODES are
-- searched for that way. The others lie between, near the cubic which has their slopes.
local NODES, MANY, DEAR = 32, 128, 300   -- levels that are many, and what quantiles cost that are dear
local WIDER = 2 ^ -50                    -- nodes are rounded

-- Are these levels of one side many and dear, and nothing of the law recorded?
local function is_worth_nodes (self, tail, upper)
  if not core.is_tensor(tail) or core.numel(tail) < MANY or core.tracked(tail) or core.tracked(self.log_weights) then
    return false
  end
  for _, extent in ipairs(self.batch_shape) do
    if extent ~= 1 then return false end
  end
  return core.numel(tail) * effort.price(self) > DEAR and not (any(upper) and any(1 - upper))
         and not any(1 - functions.ge(tail, DEEP))
end

-- The cubic between nodes a and b of log tail l, in which x has these slopes.
local function cubic (l, a, b)
  local width = b.l - a.l
  local v = where(functions.eq(width, 0), 0, (l - a.l) / width)
  local rise, from, to = b.x - a.x, a.slope * width, b.slope * width
  return a.x + v * (from + v * (3 * rise - 2 * from - to + v * (from + to - 2 * rise)))
end

-- Quantiles of many levels, by `solve` those of NODES of them.
local function by_nodes (self, tail, upper, solve)
  local n, shape = core.numel(tail), core.shape(tail)
  local flat = tail:reshape(-1)
  local order = flat:argsort()
  local stride = math.ceil((n - 1) / NODES)
  local cell = functions.floor(core.arange(0, n) / stride) + 1
  local last = math.tointeger(core.item(cell:max())) + 1
  local places = minimum(core.arange(0, last) * stride + 1, n)
  local sorted = flat[order]
  local at_nodes, rank = sorted[places], { last }
  for _ = 1, #self.batch_shape do rank[#rank + 1] = 1 end
  local x = solve(at_nodes:reshape(rank))
  if core.tracked(x) then return nil end
  local slope = where(upper, -1, 1):reshape(-1)[1] * at_nodes / self:prob(x):reshape(-1)
  x = x:reshape(-1)
  local function node (index)
    return { l = log(at_nodes)[index], x = x[index], slope = slope[index] }
  end
  local a, b = node(cell), node(cell + 1)
  local low, high = minimum(a.x, b.x), maximum(a.x, b.x)
  local function margin (t) return where(functions.isfinite(t), WIDER * functions.abs(t), 0) end
  low, high = low - margin(low), high + margin(high)
  local start = cubic(log(sorted), a, b)
  start = where(functions.isfinite(start), maximum(low, minimum(start, high)), quadrature.middle(low, high))
  local back = order:argsort()
  local function placed (t) return t[back]:reshape(shape) end
  low, high = placed(low), placed(high)
  return where(functions.eq(low, high), low, plain_quantile(self, tail, upper, low, high, placed(start)))
end

-- Outcomes -------------------------------------------------------------------------

-- To the next outcome, or where doubles are further apart to the next of them.
local function stride (x) return maximum(1, NEXT * functions.abs(x)) end

-- A round of the search for the outcome of a level: Newton's method as above. Where the steps do not become smaller a
-- leap, once, or a halving of the bracket.
local function approach (self, s)
  local x, tail, upper = s.x, s.tail, s.upper
  local reached, each = asked(self, x, upper, sums.mixed, "cdf", "sf")
  local enough = levels.reached(self, x, reached, tail, upper, s.level)
  local high = where(enough, x, s.high)
  local low  = where(enough, s.low, minimum(x + stride(x), high))
  local step = where(upper, -1, 1) * log(tail / reached) * reached / self:prob(x)
  local newton, size = functions.floor(x + step), functions.abs(step)
  local inside = functions.ge(newton, low - 1) * functions.le(newton, high + 1)
  local trusted = inside * functions.lt(size, 0.5 * s.before)
  local between, leaps = quadrature.middle(low, high), (1 - trusted) * (1 - s.has_leapt) * functions.lt(low, high)
  if any(leaps) then
    local to = leap(self, each, reached, tail, upper, 1 - enough)
    between = where(leaps * functions.ge(to, low) * functions.le(to, high), to, between)
    s.has_leapt = maximum(s.has_leapt, leaps)
  end
  local next = where(trusted, newton, functions.floor(between))
  s.x = where(functions.lt(low, high), maximum(low, minimum(next, high - stride(high))), high)
  local least = 2 * functions.gt(s.before, 2)   -- one small step is trusted, not many in a row
  s.low, s.high, s.before = low, high, where(trusted, maximum(size, least), INF)
  s.ended = 1 - functions.lt(low, high)
end

-- The smallest outcome that reaches it.
local function discrete_quantile (self, tail, upper, low, high, level)
  local state = { x = inner_end(upper, low, high), low = low, high = high, before = INF, ended = 0,
                  has_leapt = is_nested(self) and 1 or 0,
                  tail = tail, upper = upper, level = level }
  return settling.run(function (s) approach(self, s) end, state, 200, #self.batch_shape, effort.few(self))
end

-- More than quantiles of components miss their levels by, and than 1 - p is rounded by.
local SLACK, ROUNDED = 1e-6, 2 ^ -50

-- Outcomes next to x, so that rounding does not matter.
local function margin (x) return where(functions.isfinite(x), maximum(2, 2 ^ -46 * functions.abs(x)), 0) end
local function less (x) return functions.floor(x - margin(x)) end
local function more (x) return functions.ceil(x + margin(x)) end

local function is_discrete (self) return self.support and self.support.is_discrete end

-- Ends between which the quantile of a tail lies. Where all components have at most that tail so does the mixture, and
-- where all have at least that. Closer, unless levels are rounded: weight times a component's own tail is no more than
-- the whole.
local function bracket (self, tail, upper, level)
  if is_nested(self) then return innermost_range(self, tail, upper) end
  local each, is_upper = sums.padded(self, tail), sums.padded(self, upper)
  local rounded = sums.padded(self, where(functions.gt(level, 0.5), ROUNDED, 0))
  local share = ((1 + SLACK) * each + rounded) / maximum(self.weights, TINY)
  local farthest = where(functions.lt(share, 1), quantiles(self, minimum(share, 1), upper), where(is_upper, -INF, INF))
  local last, first = range(self, farthest)   -- for lower tails and for upper ones
  if is_discrete(self) then first, last = less(first), more(last) end
  local low, high = range(self, quantiles(self, each, upper))
  local is_exact = functions.ge(tail, LOST)
  return where(upper * is_exact, maximum(low, first), low), where((1 - upper) * is_exact, minimum(high, last), high)
end

--- The quantile of level 0 or 1: an end, which need not be searched for.
function mixture_search.edge (self, p)
  local low, high = range(self, self.component_distribution:icdf(p))
  return p == 0 and low or high
end

-- A quantile, without slopes but where points have mass.
local function searched (self, tail, upper, level)
  if not is_discrete(self) and is_worth_nodes(self, tail, upper) and not points.exist(self) then
    local side = any(upper) and 1 or 0
    local x = by_nodes(self, tail, upper, function (nodes)
      return searched(self, nodes, where(functions.eq(nodes, nodes), side, 0), nodes)
    end)
    if x then return x end
  end
  local low, high = bracket(self, tail, upper, level)
  local edge = functions.eq(tail, 0)
  low, high = where(edge * upper, high, low), where(edge * (1 - upper), low, high)
  low, high = points.narrowed(points.of(self), function (x) return self:cdf(x) end, function (x) return self:sf(x) end,
                              tail, upper, low, high)
  local find = is_discrete(self) and discrete_quantile or continuous_quantile
  local x = find(self, tail, upper, low, high, level)
  return where(functions.isnan(low), low, where(functions.eq(low, high), low, x))
end

--- The quantile of a tail of at most one half: the lower one, or where `upper` the upper one. It lies
-- between those of the components. `level` is the tail that was asked for, or 1 minus it.
function mixture_search.quantile (self, tail, upper, level)
  self = flattened(self)
  if is_discrete(self) or points.exist(self) or not quantile_slopes.are_wanted(self, tail) then
    return searched(self, tail, upper, level)
  end
  local x = core.no_grad(searched, self, core.bare(tail), upper, core.bare(level))
  return quantile_slopes.attached(self, x, tail, upper, function ()
    return where(upper, mixture_search.edge(self, 1), mixture_search.edge(self, 0))
  end)
end

-- Mode ---------------------------------------------------------------------------

local GRID, ZOOMS = 33, 9   -- each zoom narrows 16 times

local MOST = 16   -- components whose neighbourhoods are looked at

-- The highest points, { K, batch... }, that are closer to one of these modes than to others, to some digits: enough to
-- tell which is the highest.
local function near_modes (self, modes)
  local sorted, n = ordering.sort(core.bare(modes), 1), #modes
  local middle = 0.5 * sorted:narrow(1, 1, n - 1) + 0.5 * sorted:narrow(1, 2, n - 1)
  local low, high = tensor.cat { sorted:narrow(1, 1, 1), middle }, tensor.cat { middle, sorted:narrow(1, n, 1) }
  local function place (x)
    x = minimum(maximum(x, low), high)
    return self.support and self.support.is_discrete and functions.round(x) or x
  end
  local x = peaks.search(function (x)
    local grid = place(x):reshape(-1, table.unpack(self.batch_shape))
    return self:log_prob(grid):reshape(core.shape(x))
  end, sorted, maximum(sorted - low, high - sorted), peaks.SPARSE)
  return core.bare(place(x))
end

--- The global mode. For components of one mode each it lies between the least and the greatest of
-- theirs: a grid there, the modes themselves and what is near them are compared, then finer grids around the best.
function mixture_search.mode (self)
  self = flattened(self)
  local modes, order = self.component_distribution:mode(), { #self.batch_shape + 1 }
  for d = 1, #self.batch_shape do order[d + 1] = d end
  local low, high = range(self, modes)
  local discrete = self.support and self.support.is_discrete
  local candidates, single = modes:permute(table.unpack(order)), functions.eq(low, high)
  if #candidates <= MOST then candidates = tensor.cat { candidates, near_modes(self, candidates) } end
  local fractions = core.linspace(0, 1, GRID)
  for _ = 1, #self.batch_shape do fractions = fractions:unsqueeze(-1) end
  local best, top
  for _ = 1, ZOOMS do
    local grid = low + (high - low) * fractions
    if discrete then grid = functions.floor(grid) end
    best, top = peaks.highest(self, tensor.cat { candidates, grid })
    local step = (high - low) / (GRID - 1)
    if discrete then step = maximum(1, functions.ceil(step)) end
    low, high = maximum(low, best - step), minimum(high, best + step)
    candidates = core.is_tensor(best) and best:unsqueeze(1) or core.tensor { best }
  end
  if discrete then return best end
  return where(single, best, peaks.summit(self, best, top))
end

return mixture_search
