--- Modes and moments of a RelaxedOneHotCategorical.
--
-- x = w/W, where w = exp((logits + G)/T), W is their sum and G is Gumbel noise. With the shifts
-- t_i = t + logits_i/T of a single variable t and h(t) = E exp(-e^(t + G/T)),
--
--   E exp(-e^t W) = product of h(t_i),    E x_j = integral over t of -h'(t_j) product of other h(t_i),
--
-- E x_j^2 is that of h'' - h', and the sum of the integrands over j is the density of t = -log W - G'.
local OneHotCategorical = require "perilune.distributions.OneHotCategorical"
local core              = require "perilune.core"
local functions         = require "perilune.functions"
local tensor            = require "perilune.tensor"

local exp, log, maximum, minimum = functions.exp, functions.log, functions.maximum, functions.minimum

local relaxed = {}

-- Mode ---------------------------------------------------------------------------
--
-- Below T = K - 1 the density has a pole at every corner, the strongest at that of the largest logit. Beyond,
-- (T + 1 - K x) x^T is in proportion to e^logits at its top: with y = K x/(T + 1), y^T (1 - y) is so, and the
-- sum of y is K/(T + 1). All but the largest y are below T/(T + 1), where y^T (1 - y) rises.

-- The temperature beside rows.
local function beside (temperature)
  return core.is_tensor(temperature) and temperature:unsqueeze(-1) or temperature
end

-- log y where T log y + log(1 - y) rises to `height`; Newton steps from below stay below.
local function rising (height, temperature)
  local u = height / temperature
  for _ = 1, 60 do
    local y = exp(u)
    u = u + (height - temperature * u - functions.log1p(-y)) / (temperature - y / (1 - y))
  end
  return u
end

-- How fast T log y + log(1 - y) rises, or 1 where it is at its top.
local function steepness (y, temperature)
  local steep = temperature / y - 1 / (1 - y)
  return functions.where(functions.isfinite(steep) * functions.ne(steep, 0), steep, 1)
end

-- The row of y whose largest element is `most`. Others may be as large, and move with their gaps.
local function row_of (most, gap, temperature)
  local height = temperature * log(most) + functions.log1p(-most)
  local largest = most - gap / steepness(most, temperature)
  return functions.where(functions.eq(gap, 0), largest, exp(rising(height - gap, temperature)))
end

-- The same where `most` was found for rows that sum to `whole`: its derivatives are those of a step of Newton's method.
local function row_with_slopes (most, gap, temperature, whole)
  local row = row_of(most, gap, temperature)
  local steep = (steepness(most, temperature) / steepness(row, temperature)):sum(-1, true)
  return row_of(most - (row:sum(-1, true) - whole) / steep, gap, temperature)
end

-- The top inside the simplex, where T > K - 1.
local function inside (gap, temperature, k)
  local low, high, whole = 0 * gap:narrow(-1, 1, 1), 1, k / (temperature + 1)
  for _ = 1, 55 do
    local most = 0.5 * (low + high)
    local enough = functions.ge(row_of(most, gap, temperature):sum(-1, true), whole)
    low, high = functions.where(enough, low, most), functions.where(enough, most, high)
  end
  local row = row_with_slopes(high, gap, temperature, whole)
  return row / row:sum(-1, true)
end

--- The highest point of the density.
function relaxed.mode (self)
  local k, temperature, logits = self.event_shape[1], beside(self.temperature), self.logits
  local corner = OneHotCategorical { logits = logits, validate = false }:mode()
  local bounded = functions.gt(temperature, k - 1)
  local gap = logits:max(-1, true) - logits
  return functions.where(bounded, inside(gap, maximum(temperature, k - 1), k), corner)
end


-- Moments ------------------------------------------------------------------------

local STEP  = 0.22      -- of sums over analytic functions: what they leave out is below e^(-pi^2/STEP)
local ROOM  = 2 ^ 15    -- elements of a block, which stay in the cache
local USUAL = 80        -- the largest Gumbel number that matters to outcomes that are not less likely than e^-40
local LEAST = 705       -- of e^-LEAST no less likely ones are doubles

-- All multiples of STEP from `first` on that are less than `last`.
local function points (first, last)
  return STEP * core.arange(math.ceil(first / STEP), math.ceil(last / STEP))
end

-- x along a new dimension before `rank` others.
local function column (x, rank)
  for _ = 1, rank do x = x:unsqueeze(-1) end
  return x
end

-- A function that gives h and -h' at t, and h'' - h' if `wants_bend`, by a sum over Gumbel numbers v: t + G/T is
-- t + n v in units of the wider of the two spreads, 1 and 1/T, whose own noise is integrated already.
local function laplace (wide, narrow, rank, v, wants_bend)
  local weights, shifts = STEP * exp(-v - exp(-v)), narrow / wide * column(v, rank)
  return function (t)
    local shape = core.shape(t)
    local function sum (x) return weights:matmul(x:reshape(#v, -1)):reshape(shape) end
    local down = -exp(t / wide + shifts)
    local part = exp(down)
    local slope = part * down
    local steep = -sum(slope)
    return sum(part), steep / wide, wants_bend and (sum(slope * down) + (wide - 1) * steep) / (wide * wide)
  end
end

-- The product of all elements of a row but each one.
local function others (h)
  local shape = core.shape(h)
  local k, parts = shape[#shape], {}
  for j = 1, k do
    local product = core.ones({ table.unpack(shape, 1, #shape - 1) })
    for i = 1, k do product = i == j and product or product * h:select(-1, i) end
    parts[j] = product
  end
  return tensor.stack(parts, -1)
end

-- How large a Gumbel number v matters: e^-40 beside the chances of an outcome, that of the largest logit being 1. With
-- the ratio r of both spreads, terms of -h' decay as e^(-(1 - r) v) from v = 0, and those of h'' - h' do so too, or
-- as e^(-(1 - 2 r) v) where T > 1. For each outcome, in any row of the batch.
local function reach_of (logits, temperature, wants_bend)
  local gap = logits:max(-1, true) - logits
  local reach = 40 + minimum(LEAST, functions.where(functions.isfinite(gap), gap, 0))
  local decay = 1 - minimum(temperature, (wants_bend and 2 or 1) / temperature)
  return minimum(reach, 45 / maximum(decay, 1e-3)):detach():reshape(-1, core.shape(logits)[#core.shape(logits)]):max(1)
end

-- The places of flags that are set, and a matrix that puts what is known of these in their places.
local function places_of (flags)
  local list, matrix = {}, {}
  for j, flag in ipairs(flags:totable()) do
    if flag ~= 0 then
      list[#list + 1], matrix[#matrix + 1] = j, core.zeros(#flags):totable()
      matrix[#matrix][j] = 1
    end
  end
  return list, core.tensor(matrix)
end

-- h, -h' and perhaps h'' - h' of a row of outcomes, as above: those that are far less likely than others have
-- terms of their own, with larger v.
local function transform_of (wide, narrow, rank, reach, wants_bend)
  local usual = laplace(wide, narrow, rank, points(-4, USUAL), wants_bend)
  local last = core.item(reach:max())
  if last <= USUAL then return usual, USUAL end
  local far = laplace(wide, narrow, rank, points(USUAL, last), wants_bend)
  local unlikely, matrix = places_of(reach:gt(USUAL))
  return function (t)
    local value, slope, bend = usual(t)
    local _, more_slope, more_bend = far(t:index_select(-1, unlikely))
    return value, slope + more_slope:matmul(matrix), bend and bend + more_bend:matmul(matrix)
  end, last
end

--- The sum over t of term(t, others, -h', h'' - h'), in blocks of points along the first dimension.
function relaxed.integral (self, term, wants_bend)
  local temperature = beside(self.temperature)
  local shifts = self.logits / temperature
  local wide, narrow = maximum(1, 1 / temperature), minimum(1, 1 / temperature)
  local width, top, rank = wide + narrow, shifts:max(-1, true), #core.shape(shifts)
  local reach = reach_of(self.logits, temperature, wants_bend)
  local transform, last = transform_of(wide, narrow, rank + 1, reach, wants_bend)
  local at, sum, done = column(points(-40, 6), rank), 0, 0
  local block = math.max(1, math.floor(ROOM * STEP / (last * core.numel(shifts))))
  while done < #at do
    local n = math.min(block, #at - done)
    local t = width * at:narrow(1, done + 1, n) - top
    local value, slope, bend = transform(t + shifts)
    sum, done = sum + term(t, others(value), slope, bend):sum(1), done + n
  end
  return STEP * width * sum
end

return relaxed
