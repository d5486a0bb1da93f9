--- MixtureSameFamily(mixture, component): one of K distributions of a family, chosen at random.
--
-- The rightmost dimension of the component's batch is the mixture. Whatever is asked of the mixture is
-- asked of all components, with a dimension put in for them, and summed with the weights.
local Distribution = require "perilune.distribution"
local Categorical  = require "perilune.distributions.Categorical"
local Independent  = require "perilune.distributions.Independent"
local class        = require "perilune.class"
local construct    = require "perilune.construct"
local core         = require "perilune.core"
local errors       = require "perilune.errors"
local functions    = require "perilune.functions"
local levels       = require "perilune.levels"
local one_sided    = require "perilune.one_sided"
local peaks        = require "perilune.peaks"
local quadrature   = require "perilune.quadrature"
local show         = require "perilune.show"
local tensor       = require "perilune.tensor"

local where, maximum, minimum, exp, log = functions.where, functions.maximum, functions.minimum, functions.exp,
                                          functions.log
local raise = errors.raise
local INF   = math.huge
local TINY  = 2 ^ -1022
local FEW   = 32       -- components that are added one by one
local DEEP  = 1e-290   -- tails below have quantiles by logarithms
local NEXT  = 2 ^ -53 * (1 + 2 ^ -10)   -- this part of a number leads to the next


-- Construction ------------------------------------------------------------------

local function fail (c, ...) raise("%s: %s", class.name(c), string.format(...)) end

local function is_distribution (x)
  local c = class.of(x)
  return c ~= nil and class.descends(c, Distribution)
end

local function described (x) return is_distribution(x) and tostring(x) or show.value(x) end

local function joined (shape, ...)
  local whole = { table.unpack(shape) }
  for _, n in ipairs { ... } do whole[#whole + 1] = n end
  return whole
end

local function check (c, mixture, component)
  if not (is_distribution(mixture) and mixture:is_a(Categorical)) then
    fail(c, "mixture_distribution must be a Categorical, got %s", described(mixture))
  end
  if not is_distribution(component) then
    fail(c, "component_distribution must be a distribution, got %s", described(component))
  end
  local shape, outcomes = component.batch_shape, mixture.support.high
  if shape[#shape] ~= outcomes then
    fail(c, "component_distribution must have %d in the last dimension of its batch, one for each outcome of the "
         .. "mixture, got a batch of shape %s", outcomes, show.shape(shape))
  end
end

-- The batch shape of the mixture: that of the weights against that of the components without the last.
local function batch_of (c, mixture, component)
  local shape = { table.unpack(component.batch_shape) }
  shape[#shape] = nil
  local zero = core.tensor(0)
  local batch, why = core.broadcast_shape(zero:expand(mixture.batch_shape), zero:expand(shape))
  if not batch then fail(c, "mixture_distribution and component_distribution of %s", why) end
  return batch
end

-- The support of the mixture: from the least low to the greatest high of the components.
local function hull (component, shape)
  local support = component.support
  local low, high = support and support.low, support and support.high
  if #component.event_shape > 0 or not (core.is_tensor(low) or core.is_tensor(high)) then return support end
  local function over (x) return core.is_tensor(x) and x:expand(shape) or x end
  low, high = over(low), over(high)
  if core.is_tensor(low) then low = low:min(-1) end
  if core.is_tensor(high) then high = high:max(-1) end
  return getmetatable(support).new(low, high)
end

-- Is an event a row of independent numbers?
local function is_factored (d)
  return d:is_a(Independent) and d.reinterpreted_batch_ndims == 1 and #d.event_shape == 1
end

-- Zeros with the derivatives of the weights that logits lose where one of probs is 0 (one_sided.lua), or nil.
local function lost_slopes (self)
  local probs = self.some_dead and rawget(self.mixture_distribution, "probs")
  if not (probs and core.tracked(probs)) then return nil end
  return one_sided.row(probs, (one_sided.share_slopes(probs)), true)
end

local function assemble (c, mixture, component, batch)
  local k = mixture.support.high
  local self = setmetatable({}, c)
  self.batch_shape, self.event_shape = batch, component.event_shape
  self.mixture_distribution   = mixture:expand(batch)
  self.component_distribution = component:expand(joined(batch, k))
  self.log_weights = tensor.log_softmax(self.mixture_distribution.logits)
  self.weights     = exp(self.log_weights)
  self.some_dead   = core.numel(self.weights) > 0 and core.item(self.weights:min()) == 0
  self.lost_slopes = lost_slopes(self)
  self.support     = hull(component, joined(batch, k))
  self.has_rsample = component.has_rsample and (#component.event_shape == 0 or is_factored(component))
  return self
end

local PARAMS = { "mixture_distribution", "component_distribution" }

local function make (c, ...)
  local mixture, component = construct.arguments(c, PARAMS, ...)
  check(c, mixture, component)
  return assemble(c, mixture, component, batch_of(c, mixture, component))
end

local MixtureSameFamily = Distribution:extend("MixtureSameFamily", {
  construct = make,
  help = {
    summary = "one of K distributions of a family, chosen at random",
    params  = { mixture_distribution = "a Categorical with the weights",
                component_distribution = "K distributions, the last dimension of the batch of one object" },
    formula = "p(x) = sum over k of w[k] p(x | k)",
    example = { "MixtureSameFamily(peri.Categorical{ 0.3, 0.7 }, peri.Normal({ -1, 2 }, 0.5)):cdf(0)",
                0.29319713028483 },
  },
})

function MixtureSameFamily:__tostring ()
  return string.format("%s(%s, %s)", class.name(class.of(self)), tostring(self.mixture_distribution),
                       tostring(self.component_distribution))
end

function MixtureSameFamily:with_batch (shape)
  shape = core.to_shape(shape, "MixtureSameFamily:with_batch")
  return assemble(class.of(self), self.mixture_distribution, self.component_distribution, shape)
end


-- Sums over components -----------------------------------------------------------

-- x with a dimension for the components, before those of the event. Each component has its copy, so
-- that loops run along x and not along the few components.
local function padded (self, x)
  if type(x) == "number" then return x end
  x = core.is_tensor(x) and x or core.tensor(x)
  local shape, k, last = core.shape(x), self.mixture_distribution.support.high, #self.event_shape
  local order = {}
  for d = 1, #shape do order[d] = d + 1 end
  table.insert(order, #shape - last + 1, 1)
  return x:expand(k, table.unpack(shape)):contiguous():permute(table.unpack(order))
end

-- The components' values put together: one by one where they are few, which is faster than a
-- reduction of short rows.
local function folded (values, dim, pair, all)
  local shape = core.shape(values)
  local k = shape[#shape + dim + 1]
  if k > FEW then return values[all](values, dim) end
  local total = values:select(dim, 1)
  for j = 2, k do total = pair(total, values:select(dim, j)) end
  return total
end

-- log of the sum of exp(values) with the weights, without components of no weight.
local function log_mixed (self, values)
  local w = self.log_weights
  local terms = w + values
  if self.some_dead then terms = where(w:eq(-INF), -INF, terms) end
  local total = folded(terms, -1, functions.logaddexp, "logsumexp")
  if not self.lost_slopes then return total end
  local share = exp(core.bare(values) - one_sided.beside(total))
  return total + (self.lost_slopes * where(functions.lt(share, INF), share, 0)):sum(-1)
end

-- The weighted sum of values of shape { batch..., K, event... }.
local function mixed (self, values)
  local w, lost = self.weights, self.lost_slopes
  for _ = 1, #self.event_shape do w, lost = w:unsqueeze(-1), lost and lost:unsqueeze(-1) end
  local terms = w * values
  if self.some_dead then terms = where(w:eq(0), 0, terms) end
  if lost then
    local bare = core.bare(values)
    terms = terms + lost * where(functions.lt(functions.abs(bare), INF), bare, 0)
  end
  return folded(terms, -1 - #self.event_shape, functions.add, "sum")
end

function MixtureSameFamily:log_prob (x)
  return log_mixed(self, self.component_distribution:log_prob(padded(self, x)))
end

-- Refuses what vectors do not have.
local function check_univariate (self, name)
  if #self.event_shape == 0 then return end
  raise("%s has no %s: an event has shape %s", class.name(class.of(self)), name, show.shape(self.event_shape))
end

-- log P(X <= x) and log P(X > x); the one that is near 0 comes from the other.
local function log_tails (self, x)
  local d = self.component_distribution
  x = padded(self, x)
  local below, above = log_mixed(self, d:log_cdf(x)), log_mixed(self, d:log_sf(x))
  return where(functions.le(above, below), functions.log1p(-exp(above)), below),
         where(functions.lt(below, above), functions.log1p(-exp(below)), above)
end

function MixtureSameFamily:log_cdf (x)
  check_univariate(self, "log_cdf")
  return (log_tails(self, x))
end

function MixtureSameFamily:log_sf (x)
  check_univariate(self, "log_sf")
  return (select(2, log_tails(self, x)))
end

-- P(X <= x) and P(X > x); the larger is what the smaller leaves.
local function tails (self, x)
  local d = self.component_distribution
  x = padded(self, x)
  local below, above = mixed(self, d:cdf(x)), mixed(self, d:sf(x))
  return where(functions.le(above, below), 1 - above, below), where(functions.lt(below, above), 1 - below, above)
end

function MixtureSameFamily:cdf (x)
  check_univariate(self, "cdf")
  return (tails(self, x))
end

function MixtureSameFamily:sf (x)
  check_univariate(self, "sf")
  return (select(2, tails(self, x)))
end

function MixtureSameFamily:mean () return mixed(self, self.component_distribution:mean()) end

--- The law of total variance: within components, and between their means.
function MixtureSameFamily:variance ()
  local means = self.component_distribution:mean()
  local mean = padded(self, mixed(self, means))
  local between = where(functions.eq(means, mean), 0, means - mean)
  return mixed(self, self.component_distribution:variance() + between * between)
end

--- E[f(X)] component by component: each is integrated where it lives. The batch of components is
-- laid out for f as more rows.
function MixtureSameFamily:expected (f, opts)
  local rank, k = #self.batch_shape, self.mixture_distribution.support.high
  local to, from = { 1, rank + 2 }, { 1 }   -- { n, batch, K } to { n, K, batch } and back
  for d = 2, rank + 1 do to[d + 1], from[d] = d, d + 1 end
  from[rank + 2] = 2
  local function by_rows (g)
    return function (x)
      local n = core.shape(x)[1]
      local values = g(x:permute(table.unpack(to)):reshape(n * k, table.unpack(self.batch_shape)))
      values = core.is_tensor(values) and values or core.tensor(values)
      return values:expand(n * k, table.unpack(self.batch_shape)):reshape(n, k, table.unpack(self.batch_shape))
             :permute(table.unpack(from))
    end
  end
  local options = {}
  for key, value in pairs(opts) do options[key] = value end
  options.points = {}
  for i, x in ipairs(opts.points or {}) do options.points[i] = padded(self, x) end
  if options.parts then
    options.parts = { inner = by_rows(options.parts.inner), outer = by_rows(options.parts.outer) }
  end
  local value, error = self.component_distribution:expectation(by_rows(f), options)
  return mixed(self, value), mixed(self, error)
end

function MixtureSameFamily:entropy ()
  return -self:expectation(function (x) return self:log_prob(x) end)
end


-- Quantiles ----------------------------------------------------------------------

-- The least and the greatest of the components' values, those of no weight left out.
local function range (self, values)
  local dead = self.log_weights:eq(-INF)
  return where(dead, INF, values):min(-1), where(dead, -INF, values):max(-1)
end

local function any (flags)
  flags = core.tensor(flags)
  return core.numel(flags) > 0 and core.item(flags:max()) ~= 0
end

-- One tail of the mixture, the upper one where `upper`; only those that are asked for are computed.
local function asked (self, x, upper, mix, lower_tail, upper_tail)
  local d, at = self.component_distribution, padded(self, x)
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

-- Where the smaller tail is as large as it should be; the logarithm of the ratio leads there.
local function plain_quantile (self, tail, upper, low, high)
  local sign = where(upper, -1, 1)
  return quadrature.root(function (x)
    local reached = asked(self, x, upper, mixed, "cdf", "sf")
    return sign * log(reached / tail), self:prob(x) / reached, 2 ^ -50
  end, low, high, inner_end(upper, low, high))
end

-- The same by logarithms alone, for tails that have few digits.
local function deep_quantile (self, tail, upper, low, high)
  local sign, goal = where(upper, -1, 1), log(tail)
  return quadrature.root(function (x)
    local reached = asked(self, x, upper, log_mixed, "log_cdf", "log_sf")
    return sign * (reached - goal), exp(self:log_prob(x) - reached), 2 ^ -51 * functions.abs(goal)
  end, low, high, inner_end(upper, low, high))
end

local function continuous_quantile (self, tail, upper, low, high)
  local deep = functions.lt(tail, DEEP)
  local x = plain_quantile(self, tail, upper, low, high)
  if not any(deep) then return x end
  return where(deep, deep_quantile(self, tail, upper, low, high), x)
end

-- To the next outcome, or where doubles are further apart to the next of them.
local function stride (x) return maximum(1, NEXT * functions.abs(x)) end

-- The smallest outcome that reaches it: Newton's method as above, with a halving of the bracket where the steps do not
-- become smaller.
local function discrete_quantile (self, tail, upper, low, high, level)
  local sign, before = where(upper, -1, 1), INF
  local x = inner_end(upper, low, high)
  for _ = 1, 200 do
    local reached = asked(self, x, upper, mixed, "cdf", "sf")
    local enough = levels.reached(self, x, reached, tail, upper, level)
    high = where(enough, x, high)
    low  = where(enough, low, minimum(x + stride(x), high))
    if not any(functions.lt(low, high)) then break end
    local step = sign * log(tail / reached) * reached / self:prob(x)
    local newton, size = functions.floor(x + step), functions.abs(step)
    local inside = functions.ge(newton, low - 1) * functions.le(newton, high + 1)
    local trusted = inside * functions.le(size, 0.5 * before)
    local next = where(trusted, newton, functions.floor(quadrature.middle(low, high)))
    x = maximum(low, minimum(next, high - stride(high)))
    before = where(trusted, maximum(size, 2), INF)
  end
  return high
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
  local d, each, is_upper = self.component_distribution, padded(self, tail), padded(self, upper)
  local function quantiles (p)
    if not any(upper) then return d:icdf(p) end
    if not any(1 - upper) then return d:isf(p) end
    return where(is_upper, d:isf(p), d:icdf(p))
  end
  local rounded = padded(self, where(functions.gt(level, 0.5), ROUNDED, 0))
  local share = ((1 + SLACK) * each + rounded) / maximum(self.weights, TINY)
  local farthest = where(functions.lt(share, 1), quantiles(minimum(share, 1)), where(is_upper, -INF, INF))
  local last, first = range(self, farthest)   -- for lower tails and for upper ones
  if is_discrete(self) then first, last = less(first), more(last) end
  local low, high = range(self, quantiles(each))
  local is_exact = functions.ge(tail, DEEP)
  return where(upper * is_exact, maximum(low, first), low), where((1 - upper) * is_exact, minimum(high, last), high)
end

-- The quantile of a tail of at most one half: the lower one, or where `upper` the upper one. It lies
-- between those of the components. `level` is the tail that was asked for, or 1 minus it.
local function quantile (self, tail, upper, level)
  local low, high = bracket(self, tail, upper, level)
  local edge = functions.eq(tail, 0)
  low, high = where(edge * upper, high, low), where(edge * (1 - upper), low, high)
  local find = is_discrete(self) and discrete_quantile or continuous_quantile
  local x = find(self, tail, upper, low, high, level)
  return where(functions.isnan(low), low, where(functions.eq(low, high), low, x))
end

local function as_number (p) return type(p) == "table" and core.tensor(p) or p end

function MixtureSameFamily:icdf (p)
  check_univariate(self, "icdf")
  p = as_number(p)
  local upper = functions.gt(p, 0.5)
  return quantile(self, where(upper, 1 - p, p), upper, p)
end

function MixtureSameFamily:isf (q)
  check_univariate(self, "isf")
  q = as_number(q)
  local upper = functions.le(q, 0.5)
  return quantile(self, where(upper, q, 1 - q), upper, q)
end


-- Mode ---------------------------------------------------------------------------

local GRID, ZOOMS = 33, 9   -- each zoom narrows 16 times

--- The global mode. For components of one mode each it lies between the least and the greatest of
-- theirs: a grid there and the modes themselves are compared, then finer grids around the best. A peak
-- narrower than a thirtieth of that range that is no component's own may be missed.
function MixtureSameFamily:mode ()
  check_univariate(self, "mode")
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


-- Samples ------------------------------------------------------------------------

-- All components are drawn, and one of each row kept.
local function chosen (self, draws, outcome)
  local dim = -1 - #self.event_shape
  for _ = 1, #self.event_shape do outcome = outcome:unsqueeze(-1) end
  local x = draws:select(dim, 1)
  for j = 2, self.mixture_distribution.support.high do
    x = where(outcome:eq(j), draws:select(dim, j), x)
  end
  return x
end

local function drawn (self, shape, rng)
  local outcome = core.tensor(self.mixture_distribution:sample(shape, rng))
  return chosen(self, self.component_distribution:sample(shape, rng), outcome)
end

--- All draws of outcomes come before those of components.
function MixtureSameFamily:sample (shape, rng)
  local x = drawn(self, shape, rng)
  local single = shape == nil and #self.batch_shape == 0 and self.support and self.support.is_discrete
  return single and math.tointeger(core.item(x)) or x
end

-- x with the slopes of a quantile of the mixture of numbers with these weights, dx = -dF/p, by the smaller
-- tail.
local function with_slopes (x, weights, cdf, sf, prob)
  local below, above, density = (weights * cdf):sum(-1), (weights * sf):sum(-1), (weights * prob):sum(-1)
  local reached = where(functions.lt(above, below), -above, below)
  return x - (reached - reached:detach()) / maximum(density:detach(), TINY)
end

-- Each number of a row in turn is that of a mixture, whose weights follow from the numbers before.
local function row_with_slopes (self, row)
  local base, numbers, log_weights = self.component_distribution.base_dist, {}, self.log_weights
  for j = 1, self.event_shape[1] do numbers[j] = row:select(-1, j) end
  for j = 1, #numbers do
    local at = padded(self, tensor.stack(numbers, -1))
    local density = base:log_prob(at)
    local weights = tensor.softmax(log_weights + density:narrow(-1, 1, j):sum(-1) - density:select(-1, j))
    numbers[j] = with_slopes(numbers[j], weights, base:cdf(at):select(-1, j), base:sf(at):select(-1, j),
                             exp(density:select(-1, j)))
  end
  return tensor.stack(numbers, -1)
end

--- The draws of `sample`, with slopes in the weights as well.
function MixtureSameFamily:rsample (shape, rng)
  if not self.has_rsample then
    raise("%s has no rsample: its components must have one, and be of single or independent numbers",
          class.name(class.of(self)))
  end
  local x, d = drawn(self, shape, rng), self.component_distribution
  if not core.tracked(self:log_prob(x)) then return x end
  if #self.event_shape > 0 then return row_with_slopes(self, x) end
  local at = padded(self, x)
  return with_slopes(x, self.weights, d:cdf(at), d:sf(at), d:prob(at))
end

return MixtureSameFamily
