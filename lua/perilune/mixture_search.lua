--- Quantiles and modes of mixtures, which are searched for.
local any        = require "perilune.batches".any
local core       = require "perilune.core"
local effort     = require "perilune.effort"
local functions  = require "perilune.functions"
local levels     = require "perilune.levels"
local peaks      = require "perilune.peaks"
local quadrature = require "perilune.quadrature"
local settling   = require "perilune.settling"
local sums       = require "perilune.mixture_sums"
local tensor     = require "perilune.tensor"

local where, maximum, minimum, exp, log = functions.where, functions.maximum, functions.minimum, functions.exp,
                                          functions.log
local INF  = math.huge
local TINY = 2 ^ -1022
local DEEP = 1e-290   -- tails below have quantiles by logarithms
local NEXT = 2 ^ -53 * (1 + 2 ^ -10)   -- this part of a number leads to the next

local mixture_search = {}

-- The least and the greatest of the components' values, those of no weight left out.
local function range (self, values)
  local dead = self.log_weights:eq(-INF)
  return where(dead, INF, values):min(-1), where(dead, -INF, values):max(-1)
end

-- One tail of the mixture, the upper one where `upper`; only those that are asked for are computed.
local function asked (self, x, upper, mix, lower_tail, upper_tail)
  local d, at = self.component_distribution, sums.padded(self, x)
  effort.count(d, at, any(upper) and any(1 - upper) and 2 or 1)
  if not any(upper) then return mix(self, d[lower_tail](d, at)) end
  if not any(1 - upper) then return mix(self, d[upper_tail](d, at)) end
  return where(upper, mix(self, d[upper_tail](d, at)), mix(self, d[lower_tail](d, at)))
end

-- The end of a bracket away from the tail, where a search begins: if one component has nearly all of the tail, the
-- quantile is close by.
local function inner_end (upper, low, high)
  local x = where(upper, low, high)
  return where(functions.isfinite(x), x, quadrature.middle(low, high))
end

-- The density over the tail that was reached; by logarithms where the density of a heavy tail is no normal number.
local function hazard (self, x, reached)
  local density = self:prob(x)
  local lost = functions.lt(density, TINY)
  if not any(lost) then return density / reached end
  return where(lost, exp(self:log_prob(x) - log(reached)), density / reached)
end

-- Where the smaller tail is as large as it should be; the logarithm of the ratio leads there.
local function plain_quantile (self, tail, upper, low, high, start)
  return quadrature.root(function (x, at)
    local reached = asked(self, x, at.upper, sums.mixed, "cdf", "sf")
    return where(at.upper, -1, 1) * log(reached / at.tail), hazard(self, x, reached), 2 ^ -50
  end, low, high, start or inner_end(upper, low, high), { tail = tail, upper = upper }, #self.batch_shape,
     effort.few(self))
end

-- The same by logarithms alone, for tails that have few digits.
local function deep_quantile (self, tail, upper, low, high)
  return quadrature.root(function (x, at)
    local reached, goal = asked(self, x, at.upper, sums.log_mixed, "log_cdf", "log_sf"), at.goal
    return where(at.upper, -1, 1) * (reached - goal), exp(self:log_prob(x) - reached), 2 ^ -51 * functions.abs(goal)
  end, low, high, inner_end(upper, low, high), { goal = log(tail), upper = upper }, #self.batch_shape,
     effort.few(self))
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

-- A round of the search for the outcome of a level: Newton's method as above, with a halving of the bracket where the
-- steps do not become smaller.
local function approach (self, s)
  local x, tail, upper = s.x, s.tail, s.upper
  local reached = asked(self, x, upper, sums.mixed, "cdf", "sf")
  local enough = levels.reached(self, x, reached, tail, upper, s.level)
  local high = where(enough, x, s.high)
  local low  = where(enough, s.low, minimum(x + stride(x), high))
  local step = where(upper, -1, 1) * log(tail / reached) * reached / self:prob(x)
  local newton, size = functions.floor(x + step), functions.abs(step)
  local inside = functions.ge(newton, low - 1) * functions.le(newton, high + 1)
  local trusted = inside * functions.le(size, 0.5 * s.before)
  local next = where(trusted, newton, functions.floor(quadrature.middle(low, high)))
  s.x = where(functions.lt(low, high), maximum(low, minimum(next, high - stride(high))), high)
  s.low, s.high, s.before = low, high, where(trusted, maximum(size, 2), INF)
  s.ended = 1 - functions.lt(low, high)
end

-- The smallest outcome that reaches it.
local function discrete_quantile (self, tail, upper, low, high, level)
  local state = { x = inner_end(upper, low, high), low = low, high = high, before = INF, ended = 0,
                  tail = tail, upper = upper, level = level }
  return settling.run(function (s) approach(self, s) end, state, 200, #self.batch_shape, effort.few(self))
end

-- More than quantiles of components miss their levels by, and than 1 - p is rounded by.
local SLACK, ROUNDED = 1e-6, 2 ^ -50

-- Outcomes next to x, so that rounding does not matter.
local function margin (x) return maximum(2, 2 ^ -46 * functions.abs(x)) end
local function less (x) return functions.floor(x - margin(x)) end
local function more (x) return functions.ceil(x + margin(x)) end

local function is_discrete (self) return self.support and self.support.is_discrete end

-- Ends between which the quantile of a tail lies. Where all components have at most that tail so does the mixture, and
-- where all have at least that. Closer, unless levels are rounded: weight times a component's own tail is no more than
-- the whole.
local function bracket (self, tail, upper, level)
  local d, each, is_upper = self.component_distribution, sums.padded(self, tail), sums.padded(self, upper)
  local function quantiles (p)
    effort.count(d, p, any(upper) and any(1 - upper) and 6 or 3)   -- an outcome takes some tails
    if not any(upper) then return d:icdf(p) end
    if not any(1 - upper) then return d:isf(p) end
    return where(is_upper, d:isf(p), d:icdf(p))
  end
  local rounded = sums.padded(self, where(functions.gt(level, 0.5), ROUNDED, 0))
  local share = ((1 + SLACK) * each + rounded) / maximum(self.weights, TINY)
  local farthest = where(functions.lt(share, 1), quantiles(minimum(share, 1)), where(is_upper, -INF, INF))
  local last, first = range(self, farthest)   -- for lower tails and for upper ones
  if is_discrete(self) then first, last = less(first), more(last) end
  local low, high = range(self, quantiles(each))
  local is_exact = functions.ge(tail, DEEP)
  return where(upper * is_exact, maximum(low, first), low), where((1 - upper) * is_exact, minimum(high, last), high)
end

--- The quantile of level 0 or 1: an end, which need not be searched for.
function mixture_search.edge (self, p)
  local low, high = range(self, self.component_distribution:icdf(p))
  return p == 0 and low or high
end

--- The quantile of a tail of at most one half: the lower one, or where `upper` the upper one. It lies
-- between those of the components. `level` is the tail that was asked for, or 1 minus it.
function mixture_search.quantile (self, tail, upper, level)
  if not is_discrete(self) and is_worth_nodes(self, tail, upper) then
    local side = any(upper) and 1 or 0
    local x = by_nodes(self, tail, upper, function (nodes)
      return mixture_search.quantile(self, nodes, where(functions.eq(nodes, nodes), side, 0), nodes)
    end)
    if x then return x end
  end
  local low, high = bracket(self, tail, upper, level)
  local edge = functions.eq(tail, 0)
  low, high = where(edge * upper, high, low), where(edge * (1 - upper), low, high)
  local find = is_discrete(self) and discrete_quantile or continuous_quantile
  local x = find(self, tail, upper, low, high, level)
  return where(functions.isnan(low), low, where(functions.eq(low, high), low, x))
end

-- Mode ---------------------------------------------------------------------------

local GRID, ZOOMS = 33, 9   -- each zoom narrows 16 times

--- The global mode. For components of one mode each it lies between the least and the greatest of
-- theirs: a grid there and the modes themselves are compared, then finer grids around the best. A peak
-- narrower than a thirtieth of that range that is no component's own may be missed.
function mixture_search.mode (self)
  local modes, order = self.component_distribution:mode(), { #self.batch_shape + 1 }
  for d = 1, #self.batch_shape do order[d + 1] = d end
  local low, high = range(self, modes)
  local discrete = self.support and self.support.is_discrete
  local candidates, single = modes:permute(table.unpack(order)), functions.eq(low, high)
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
