--- Expectations E[f(X)] of distributions of single numbers, without sampling.
--
-- Continuous: an integral over quantiles. Either half of the mass is read from its own end,
--
--   E f(X) = 1/2 int_0^inf (f(icdf(u)) + f(isf(u))) e^-t dt,    u = e^-t/2,
--
-- so that tails and singular ends keep their digits and become smooth; no density is needed. A class
-- without quantiles has its density integrated over its support. Discrete: a sum outwards.
local Distribution = require "perilune.distribution"
local class        = require "perilune.class"
local core         = require "perilune.core"
local functions    = require "perilune.functions"
local quadrature   = require "perilune.quadrature"
local show         = require "perilune.show"

local where, maximum, minimum, abs, exp = functions.where, functions.maximum, functions.minimum, functions.abs,
                                          functions.exp
local INF      = math.huge
local REACH    = 700      -- e^-REACH is a normal number
local STRIDE   = 16       -- over which the decay at REACH is judged
local FEW      = 64       -- a batch up to this size has its kinks as break points
local EXTREME  = 1e150    -- beyond it squares overflow, and below its reciprocal they vanish
local EXACT    = 4096     -- outcomes that are summed without asking which of them matter
local OUTCOMES = 2 ^ 22   -- no more of them in any direction, unless told
local ROOM     = 2 ^ 20   -- elements of points or outcomes in one call of f
local LAST     = 16       -- outcomes that show how a tail goes on
local TAIL     = 1e-18    -- mass that is always negligible

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


-- Continuous ------------------------------------------------------------------

-- What quadrature cannot see: f at points that were rounded to an end of the support, or where x
-- or its square overflows. `mass` bounds their probability, `largest` is the greatest finite |f|.
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

-- The integrand over the half of the mass that `quantile` reads, as a function of t.
local function half (d, f, quantile, losses)
  return function (t)
    local weights = 0.5 * exp(-t)
    local x = quantile(d, rows(d, #t, weights))
    return weights * values_at(d, f, rows(d, #t, x), weights, losses)
  end
end

-- t at which the quantile is x, for a few x that lie well within the mass.
local function levels (d, x, list)
  if #elements(x) > FEW then return end
  local below, above = attempt(d, "cdf", x), attempt(d, "sf", x)
  if not (below and above) then return end
  for _, u in ipairs(elements(minimum(below, above))) do
    if u > 0 and u <= 0.5 then list[#list + 1] = -math.log(2 * u) end
  end
end

-- Break points in t: powers of two, the mode, where densities have their kinks, and opts.points.
local function quantile_points (d, opts)
  local list, mode = { 0.5 }, attempt(d, "mode")
  for e = 0, 9 do list[#list + 1] = 2.0 ^ e end
  if mode then levels(d, mode, list) end
  for _, x in ipairs(opts.points or {}) do levels(d, x, list) end
  return list
end

-- Options of the quadrature: the caller's, break points, and as many panels in a call as memory likes.
local function settings (d, opts, points)
  return {
    rank = rank_of(d), points = points, rtol = opts.rtol, atol = opts.atol, panels = opts.panels,
    at_once = math.max(1, math.floor(ROOM / (21 * batch_size(d)))),
  }
end

-- The integral beyond REACH of an integrand that decays as e^(-c t) there. It is infinite where there
-- is no decay, or one that slows down and falls behind that of 1/t; unless all that is nothing beside
-- `value`.
local function remainder (g, rank, value)
  local shape = { 3 }
  for k = 1, rank do shape[k + 1] = 1 end
  local at = g(core.tensor { REACH - 2 * STRIDE, REACH - STRIDE, REACH }:reshape(shape))
  local first, second, last = at:select(1, 1), at:select(1, 2), at:select(1, 3)
  local decay, earlier = functions.log(second / last) / STRIDE, functions.log(first / second) / STRIDE
  local steady = functions.lt(abs(decay - earlier), 1e-3 * decay) * functions.gt(decay, 1e-9)
  local rest = where(maximum(steady, functions.gt(decay, 1 / REACH)), last / decay, functions.sign(last) * INF)
  return where(functions.gt(abs(last) * REACH, 1e-17 * abs(value)), rest, 0)
end

local function by_quantiles (d, f, opts)
  local losses, rank = new_losses(), rank_of(d)
  local below, above = half(d, f, d.icdf, losses), half(d, f, d.isf, losses)
  local value, error = quadrature.integrate(function (t) return below(t) + above(t) end, 0, REACH,
                                            settings(d, opts, quantile_points(d, opts)))
  local rest_below, rest_above = remainder(below, rank, value), remainder(above, rank, value)
  local lost = 2 * losses.mass * losses.largest
  value, error = value + rest_below + rest_above, error + abs(rest_below) + abs(rest_above) + lost
  -- what was lost outweighs what was found
  local vain = maximum(functions.gt(lost, 0.5 * abs(value)), functions.gt(losses.mass, 0.25))
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

-- x(t) and dx/dt for t on the real line, by the kind of the support of each element.
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
  end
end

-- For a class that has a density only. What rounding hides of a singular end shows in the integral of
-- the density itself.
local function by_density (d, f, opts)
  local points, x_of, hidden = { 0 }, substitution(d), 0
  for e = -1, 9 do points[#points + 1], points[#points + 2] = 2.0 ^ e, -2.0 ^ e end
  local function integrate (h)
    return quadrature.integrate(function (t)
      local x, slope = x_of(t)
      x = rows(d, #t, x)
      local weights, values = exp(rows(d, #t, d:log_prob(x))) * slope, rows(d, #t, h(x))
      local singular = weights:isinf()
      hidden = maximum(hidden, where(singular * values:isfinite(), abs(values), 0):max(1))
      return where(maximum(singular, weights:eq(0)), 0, weights * values)
    end, -REACH, REACH, settings(d, opts, points))
  end
  local value, error = integrate(f)
  local mass = integrate(function (x) return x:eq(x) end)
  return value, error + abs(1 - mass) * maximum(hidden, abs(value))
end


-- Discrete --------------------------------------------------------------------

-- The next n outcomes from `start`, their probabilities and the values of f.
local function outcomes (d, f, start, step, done, n)
  local offset = core.arange(done, done + n)
  for _ = 1, rank_of(d) do offset = offset:unsqueeze(-1) end
  local x = rows(d, n, start + step * offset)
  return exp(rows(d, n, d:log_prob(x))), rows(d, n, f(x))
end

-- Sums f(x) P(x) for `count` outcomes x = start, start + step, ... in blocks that double; or until what
-- is left cannot matter beside `total`, if tail(x, mass, last, n) gives the mass left after x, from the
-- mass that was found, the probability of the last outcomes and their number. Returns the sum, a bound
-- of its error, and the mass.
local function march (d, f, start, step, count, total, tail)
  local n, done, most = 64, 0, math.max(1, math.floor(ROOM / batch_size(d)))
  local sum, size, mass, rest = 0, 0, 0, 0
  while done < count do
    n = math.min(n, count - done, most)
    local p, values = outcomes(d, f, start, step, done, n)
    local terms = where(p:eq(0), 0, p * values)
    sum, size, mass, done = sum + terms:sum(1), size + abs(terms):sum(1), mass + p:sum(1), done + n
    if tail then
      local last = p:narrow(1, math.max(1, n - LAST + 1), math.min(n, LAST)):max(1)
      local left = tail(start + step * (done - 1), mass, last, done)
      rest = where(functions.eq(left, 0), 0, left * where(values:isfinite(), abs(values), 0):max(1))
      local enough = functions.le(left, TAIL) * functions.le(rest, 1e-17 * abs(total + sum))
      if maximum(enough, functions.isnan(sum)):min():item() == 1 then break end
    end
    n = 2 * n
  end
  return sum, rest + 2 ^ -52 * size, mass
end

-- The widest of finite supports, or INF.
local function width (low, high)
  local span = high - low + 1
  return core.is_tensor(span) and span:max():item() or span
end

-- The mass above x, or below it: by the distribution itself, or else what is missing from `all`, and
-- once that is rounding only, what a tail like 1/x^2 that passes through the last outcomes has.
local function tail_of (d, name, shift, all)
  if own(d, name) then return function (x) return d[name](d, x + shift) end end
  return function (_, mass, last, n)
    local missing = all - mass
    return maximum(where(functions.gt(missing, 1e-12), missing, 0), n * last)
  end
end

local function by_sum (d, f, opts)
  local low, high = ends(d.support)
  local n, most = width(low, high), opts.outcomes or OUTCOMES
  if n <= EXACT then return march(d, f, low, 1, n) end
  local start = attempt(d, "icdf", 0.5) or low
  start = d:batched(where(functions.isfinite(start), start, 0))
  local sum, error, mass = march(d, f, start, 1, most, 0, tail_of(d, "sf", 0, 1))
  local span = width(low, start - 1)
  if span < 1 then return sum, error end
  local below, error_below = march(d, f, start - 1, -1, math.min(span, most), sum, tail_of(d, "cdf", -1, 1 - mass))
  return sum + below, error + error_below
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
  return core.is_tensor(x) and x:item() or x
end

--- E[f(X)] and an estimate of its error, for each element of the batch of d. f gets x of shape
-- { n, batch... } and returns as many values. opts: rtol, atol, panels as in quadrature.lua, and
-- points, a list of numbers or batches of them where f has a kink or jump; outcomes, how many of a
-- discrete distribution are summed at most on either side of its median.
return function (d, f, opts)
  check(d, f, opts)
  if batch_size(d) == 0 then return core.zeros(d.batch_shape), core.zeros(d.batch_shape) end
  local method = by_density
  if d.support and d.support.is_discrete then method = by_sum
  elseif own(d, "icdf") then method = by_quantiles end
  local value, error = method(d, f, opts or {})
  return shaped(d, value), shaped(d, error)
end
