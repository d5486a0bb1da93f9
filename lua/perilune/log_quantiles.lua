--- Quantiles of probabilities that are given as logarithms: inverses of log_cdf and log_sf.
--
-- e^lp says all that lp does between -690 and log(1/2). Closer to 0 the other tail is known better, -expm1(lp); below
-- -690, where probabilities underflow, the logarithm of the tail itself is inverted, by Newton's method from the
-- quantile at e^-690.
local batches   = require "perilune.batches"
local class     = require "perilune.class"
local core      = require "perilune.core"
local ends      = require "perilune.ends"
local functions = require "perilune.functions"
local lazy      = require "perilune.lazy"
local operand   = core.operand

local quadrature = lazy "quadrature"

local bare = core.bare
local where, exp, abs, maximum = functions.where, functions.exp, functions.abs, functions.maximum
local gt, lt          = functions.gt, functions.lt
local INF  = math.huge
local DEEP = -690   -- below it e^lp has no digits

local log_quantiles = {}

local LARGEST = (2 - 2^-52) * 2^1023

-- A point beyond which the tail is smaller than lp, and the one before it, from steps that are squared; all numbers
-- are before it where there is none.
local function bracket (d, tail, lp, start, side, limit)
  local near, far, found = start, limit, 0
  for k = 0, 10 do
    local step = (1 + abs(start)) * 2.0 ^ math.min(2.0 ^ k, 1023)
    local x = functions.minimum(functions.maximum(start + side * step, -LARGEST), LARGEST)
    local is_beyond = functions.le(d[tail](d, x), lp)
    far = where(is_beyond * (1 - found), x, far)
    near = where(maximum(is_beyond, found), near, x)
    found = maximum(found, is_beyond)
  end
  return near, far
end

-- Of the tail, "log_cdf" or "log_sf": the x where it is lp < DEEP. `start` is a quantile on the way there.
local function search (d, tail, lp, start)
  local low, high = ends.of(d.support)
  local side = tail == "log_cdf" and -1 or 1
  local limit = bare(side < 0 and low or high) + 0 * start
  local near, far = start, limit
  if batches.any(functions.isinf(limit)) then
    near, far = bracket(d, tail, lp, start, side, limit)
    near, far = where(functions.isinf(limit), near, start), where(functions.isinf(limit), far, limit)
  end
  local is_open = functions.isfinite(far)
  far = where(is_open, far, near)
  local first, last = side < 0 and far or near, side < 0 and near or far
  local x = quadrature.root(function (x)
    local reached = d[tail](d, x)
    return -side * (reached - lp), exp(d:log_prob(x) - reached), 2 ^ -52 * abs(lp)
  end, first, last, quadrature.middle(first, last))
  return where(is_open, x, limit) + 0.0
end

-- With the gradient that the quantile has: one more step of Newton's method, of which only that is left.
local function attached (d, tail, lp, x)
  if not (core.tracked(lp) or core.tracked(d:log_prob(x))) then return x end
  local reached = d[tail](d, x)
  local pace = bare(exp(d:log_prob(x) - reached)) * (tail == "log_cdf" and 1 or -1)
  local step = (lp - reached) / pace
  return x + (step - bare(step))
end

-- The smallest outcome at which the tail has got to lp; x is near it.
local function settled (d, tail, lp, x)
  local function enough (k)
    local slack = 2 ^ -48 * abs(lp)
    if tail == "log_cdf" then return functions.ge(d:log_cdf(k), lp - slack) end
    return functions.le(d:log_sf(k), lp + slack)
  end
  x = functions.ceil(x - 2 ^ -20)
  for _ = 1, 2 do x = where(enough(x - 1), x - 1, x) end
  for _ = 1, 2 do x = where(enough(x), x, x + 1) end
  return x + 0.0   -- no -0
end

-- Where the quantile at e^-690 is beyond all numbers, so are those that are searched for from it.
local function deep_quantile (d, tail, quantile, lp, deep)
  local start = bare(d[quantile](d, math.exp(DEEP)))
  local target = where(deep, bare(lp), 2 * DEEP)
  local is_beyond = functions.isinf(start)
  if not batches.any_may_be(1 - is_beyond) then return start end
  local x = core.no_grad(search, d, tail, target, start + 0 * target)
  if d.support and d.support.is_discrete then x = core.no_grad(settled, d, tail, target, x)
  else x = attached(d, tail, where(deep, lp, 2 * DEEP), x) end
  return where(is_beyond, start, x)
end

-- `quantile` is icdf or isf, that of the tail; `other` the other one.
local function inverse (d, name, lp, tail, quantile, other)
  lp = operand(lp, class.name(class.of(d)) .. ":" .. name, "lp")
  local near = gt(lp, -math.log(2))
  local rest, direct = -functions.expm1(where(near, lp, -1)), exp(where(near, -1, lp))
  local x = where(near, d[other](d, rest), d[quantile](d, direct))
  local deep = lt(lp, DEEP) * gt(lp, -INF)
  if batches.any_may_be(deep) then x = where(deep, deep_quantile(d, tail, quantile, lp, deep), x) end
  x = where(gt(lp, 0), 0 / 0, x)
  return where(functions.isnan(lp), lp, x)
end

--- x with log_cdf(x) = lp.
function log_quantiles.icdf_log (d, lp) return inverse(d, "icdf_log", lp, "log_cdf", "icdf", "isf") end

--- x with log_sf(x) = lq.
function log_quantiles.isf_log (d, lq) return inverse(d, "isf_log", lq, "log_sf", "isf", "icdf") end

return log_quantiles
