--- Quantiles and modes of mixtures, which are searched for.
local core       = require "perilune.core"
local functions  = require "perilune.functions"
local levels     = require "perilune.levels"
local peaks      = require "perilune.peaks"
local quadrature = require "perilune.quadrature"
local sums       = require "perilune.mixture_sums"
local tensor     = require "perilune.tensor"

local where, maximum, minimum, exp, log = functions.where, functions.maximum, functions.minimum, functions.exp,
                                          functions.log
local INF  = math.huge
local DEEP = 1e-290   -- tails below have quantiles by logarithms

local mixture_search = {}

-- The least and the greatest of the components' values, those of no weight left out.
local function range (self, values)
  local dead = self.log_weights:eq(-INF)
  return where(dead, INF, values):min(-1), where(dead, -INF, values):max(-1)
end

local function any (flags)
  flags = core.tensor(flags)
  return core.numel(flags) > 0 and core.item(flags:max()) ~= 0
end

-- Where the smaller tail is as large as it should be; the logarithm of the ratio leads there.
local function plain_quantile (self, tail, upper, low, high)
  local sign = where(upper, -1, 1)
  return quadrature.root(function (x)
    local below, above = sums.tails(self, x)
    local reached = where(upper, above, below)
    return sign * log(reached / tail), self:prob(x) / reached, 2 ^ -50
  end, low, high)
end

-- The same by logarithms alone, for tails that have few digits.
local function deep_quantile (self, tail, upper, low, high)
  local sign, goal = where(upper, -1, 1), log(tail)
  return quadrature.root(function (x)
    local below, above = sums.log_tails(self, x)
    local reached = where(upper, above, below)
    return sign * (reached - goal), exp(self:log_prob(x) - reached), 2 ^ -51 * functions.abs(goal)
  end, low, high)
end

local function continuous_quantile (self, tail, upper, low, high)
  local deep = functions.lt(tail, DEEP)
  local x = plain_quantile(self, tail, upper, low, high)
  if not any(deep) then return x end
  return where(deep, deep_quantile(self, tail, upper, low, high), x)
end

-- The smallest outcome that reaches it.
local function discrete_quantile (self, tail, upper, low, high, level)
  for _ = 1, 128 do
    local x = functions.floor(quadrature.middle(low, high))
    local below, above = sums.tails(self, x)
    local enough = levels.reached(self, x, where(upper, above, below), tail, upper, level)
    high = where(enough, x, high)
    low  = where(enough, low, minimum(x + 1, high))
    if not any(functions.lt(low, high)) then break end
  end
  return high
end

--- The quantile of a tail of at most one half: the lower one, or where `upper` the upper one. It lies
-- between those of the components. `level` is the tail that was asked for, or 1 minus it.
function mixture_search.quantile (self, tail, upper, level)
  local d, each = self.component_distribution, sums.padded(self, tail)
  local low, high = range(self, where(sums.padded(self, upper), d:isf(each), d:icdf(each)))
  local edge = functions.eq(tail, 0)
  low, high = where(edge * upper, high, low), where(edge * (1 - upper), low, high)
  local find = self.support and self.support.is_discrete and discrete_quantile or continuous_quantile
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
