--- RelaxedOneHotCategorical(temperature, probs) or RelaxedOneHotCategorical{temperature =, logits =}:
-- shares of a whole that come near a row with a single 1.
--
-- x = w/W, where w = exp((logits + G)/T), W is their sum and G is Gumbel noise. With the shifts
-- t_i = t + logits_i/T of a single variable t and h(t) = E exp(-e^(t + G/T)),
--
--   E exp(-e^t W) = product of h(t_i),    E x_j = integral over t of -h'(t_j) product of other h(t_i),
--
-- E x_j^2 is that of h'' - h', and the sum of the integrands over j is the density of t = -log W - G'.
local Categorical       = require "perilune.distributions.Categorical"
local Distribution      = require "perilune.distribution"
local OneHotCategorical = require "perilune.distributions.OneHotCategorical"
local constraints       = require "perilune.constraints"
local core              = require "perilune.core"
local functions         = require "perilune.functions"
local tensor            = require "perilune.tensor"

local exp, log, maximum, minimum = functions.exp, functions.log, functions.maximum, functions.minimum

local RelaxedOneHotCategorical = Distribution:extend("RelaxedOneHotCategorical", {
  kernels = "relaxedonehotcategorical",
  params = { { "temperature", constraints.positive }, table.unpack(Categorical.params) },
  operands = { "temperature", "logits" },
  support = constraints.simplex,
  help = {
    summary = "shares of a whole that come near a row with a single 1 as the temperature falls",
    params  = {
      temperature = "T, how far from a single 1 rows stray",
      probs  = "probability of each place of the largest share, up to a factor; not the mean",
      logits = "their logarithms, instead",
    },
    formula = "x = softmax((logits + Gumbel noise)/T);  log p(x) = log Gamma(K) + (K - 1) log T"
              .. " + sum of (v - log x) - K log(sum of e^v),  v = logits - T log x",
    example = { "RelaxedOneHotCategorical(0.5, {1, 1, 2}):log_prob({0.25, 0.25, 0.5})", -0.56467921937879315 },
  },
  init = function (self, checking) self.event_shape = { Categorical.outcomes(self, checking) } end,
})


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

-- The row of y whose largest element is `most`.
local function row_of (most, gap, temperature)
  local height = temperature * log(most) + functions.log1p(-most)
  return functions.where(functions.eq(gap, 0), most, exp(rising(height - gap, temperature)))
end

-- The top inside the simplex, where T > K - 1.
local function inside (gap, temperature, k)
  local low, high, whole = 0 * gap:narrow(-1, 1, 1), 1, k / (temperature + 1)
  for _ = 1, 55 do
    local most = 0.5 * (low + high)
    local enough = functions.ge(row_of(most, gap, temperature):sum(-1, true), whole)
    low, high = functions.where(enough, low, most), functions.where(enough, most, high)
  end
  local row = row_of(high, gap, temperature)
  return row / row:sum(-1, true)
end

function RelaxedOneHotCategorical:mode ()
  local k, temperature, logits = self.event_shape[1], beside(self.temperature), self.logits
  local corner = OneHotCategorical { logits = logits, validate = false }:mode()
  local bounded = functions.gt(temperature, k - 1)
  local gap = logits:max(-1, true) - logits
  return functions.where(bounded, inside(gap, maximum(temperature, k - 1), k), corner)
end

-- Moments ------------------------------------------------------------------------

local EULER = 0.57721566490153286061
local STEP  = 0.15      -- of sums over analytic functions: what they leave out is below e^(-pi^2/STEP)
local ROOM  = 2 ^ 17    -- elements of a block

-- first, ..., last in steps of STEP along a new dimension before `rank` others.
local function points (first, last, rank)
  local list = STEP * core.arange(math.floor(first / STEP), math.floor(last / STEP) + 1)
  for _ = 1, rank do list = list:unsqueeze(-1) end
  return list
end

-- h and its first two derivatives at t, by a sum over Gumbel numbers v: t + G/T is t + n v in units of
-- the wider of the two spreads, 1 and 1/T, whose own noise is integrated already.
local function laplace (t, wide, narrow, last)
  local v = points(-4, last, #core.shape(t))
  local rate = exp((t + narrow * v) / wide)
  local part = STEP * exp(-v - exp(-v) - rate)
  local slope = part * rate
  return part:sum(1), -slope:sum(1) / wide, (slope * (rate - 1)):sum(1) / (wide * wide)
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

-- How large a Gumbel number matters: e^-40 beside the chances of the least likely outcome.
local function reach_of (logits)
  local gap = logits:max(-1, true) - logits
  return 40 + math.min(600, core.item(functions.where(functions.isfinite(gap), gap, 0):max()))
end

-- The sum over t of term(t, others, h', h''), in blocks of points along the first dimension.
local function integral (self, term)
  local temperature = beside(self.temperature)
  local shifts = self.logits / temperature
  local wide, narrow = maximum(1, 1 / temperature), minimum(1, 1 / temperature)
  local width, top, rank = wide + narrow, shifts:max(-1, true), #core.shape(shifts)
  local at, last, sum, done = points(-40, 8, rank), reach_of(self.logits), 0, 0
  local block = math.max(1, math.floor(ROOM * STEP / (last * core.numel(shifts))))
  while done < #at do
    local n = math.min(block, #at - done)
    local t = width * at:narrow(1, done + 1, n) - top
    local value, slope, bend = laplace(t + shifts, wide, narrow, last)
    sum, done = sum + term(t, others(value), slope, bend):sum(1), done + n
  end
  return STEP * width * sum
end

function RelaxedOneHotCategorical:mean ()
  return integral(self, function (_, product, slope) return -slope * product end)
end

-- E x^2 and E x, next to each other, by one integral.
function RelaxedOneHotCategorical:variance ()
  local k = self.event_shape[1]
  local both = integral(self, function (_, product, slope, bend)
    return tensor.cat({ (bend - slope) * product, -slope * product }, -1)
  end)
  return maximum(both:narrow(-1, 1, k) - functions.square(both:narrow(-1, k + 1, k)), 0)
end

--- sum of logits/T - log Gamma(K) - (K - 1) log T + K ((1 + 1/T) gamma + psi(K) - E log W)
function RelaxedOneHotCategorical:entropy ()
  local k, temperature = self.event_shape[1], self.temperature
  local log_sum = integral(self, function (t, product, slope) return t * slope * product end):sum(-1) - EULER
  return (self.logits:sum(-1) / temperature - functions.lgamma(k) - (k - 1) * log(temperature))
         + k * ((1 + 1 / temperature) * EULER + functions.digamma(k) - log_sum)
end

return RelaxedOneHotCategorical
