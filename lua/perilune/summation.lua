--- Sums over outcomes: E[f(X)] of discrete distributions of single numbers.
local Distribution = require "perilune.distribution"
local core         = require "perilune.core"
local functions    = require "perilune.functions"

local where, maximum, abs, exp = functions.where, functions.maximum, functions.abs, functions.exp
local INF      = math.huge
local EXACT    = 4096     -- outcomes that are summed without asking which of them matter
local OUTCOMES = 2 ^ 22   -- no more of them in any direction, unless told
local ROOM     = 2 ^ 20   -- elements of outcomes in one call of f
local LAST     = 16       -- outcomes that show how a tail goes on
local TAIL     = 1e-18    -- mass that is always negligible

-- The method of d, or nil where there is only the one that says it is missing.
local function own (d, name) return d[name] ~= Distribution[name] and d[name] or nil end

-- The value of a method, or nil where it is missing or refuses.
local function attempt (d, name, ...)
  local ok, value = pcall(d[name], d, ...)
  return ok and value or nil
end

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
  return sum, rest + 2 ^ -50 * size, mass
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

--- E[f(X)] and a bound of its error; f gets x of shape { n, batch... }.
return function (d, f, opts)
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
