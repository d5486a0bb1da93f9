--- Diagnostics of Markov chains: rank-normalised split R-hat and effective sample sizes.
--
-- A. Vehtari, A. Gelman, D. Simpson, B. Carpenter and P.-C. Buerkner, "Rank-normalization, folding, and localization",
-- Bayesian Analysis 16 (2021). The draws of one quantity are a matrix x, a row for each chain.
local core      = require "perilune.core"
local functions = require "perilune.functions"
local tensor    = require "perilune.tensor"

local NAN = math.huge - math.huge
local ONE_SD_BELOW = 0.1586553   -- the probability of what lies further below, as R's posterior has it

local diagnostics = {}

local function is_finite (x) return x - x == 0 end

-- Nothing can be said of draws that are all the same, or not finite.
local function is_usable (x) return is_finite(x:sum()) and x:max() ~= x:min() and core.shape(x)[2] >= 4 end

-- Halves of chains as chains; of an odd number of draws the middle one is left out.
local function split (x)
  local n = core.shape(x)[2]
  local half = n // 2
  return tensor.cat({ x:narrow(2, 1, half), x:narrow(2, n - half + 1, half) }, 1)
end

-- Ranks from 1, those of equal numbers averaged.
local function ranks (x)
  local n = core.numel(x)
  local flat = x:reshape(-1)
  local order = flat:argsort()
  local rank = core.zeros(n)
  local places = core.arange(1, n + 1)
  local sorted = flat[order]
  if sorted:narrow(1, 1, n - 1):eq(sorted:narrow(1, 2, n - 1)):sum() > 0 then
    local values, list, first = sorted:totable(), {}, 1
    for i = 1, n do
      if i == n or values[i + 1] ~= values[i] then
        for j = first, i do list[j] = (first + i) / 2 end
        first = i + 1
      end
    end
    places = core.tensor(list)
  end
  rank:copy(places[order:argsort()])
  return rank:reshape(core.shape(x))
end

--- Normal scores of the ranks of all draws.
function diagnostics.normal_scores (x)
  return functions.ndtri((ranks(x) - 0.375) / (core.numel(x) + 0.25))
end

-- sqrt of the variance between and within chains over that within.
local function basic_rhat (x)
  local n = core.shape(x)[2]
  local between, within = n * x:mean(2):var(), x:var(2):mean()
  return math.sqrt((between / within + n - 1) / n)
end

--- Split R-hat of ranks, the larger of those of x and of its distance from the median.
function diagnostics.rhat (x)
  if not is_usable(x) then return NAN end
  local halves = split(x)
  local folded = (halves - halves:reshape(-1):median()):abs()
  local bulk = basic_rhat(diagnostics.normal_scores(halves))
  local tail = folded:max() ~= folded:min() and basic_rhat(diagnostics.normal_scores(folded)) or bulk
  return math.max(bulk, tail)
end

-- The mean over chains of the autocovariance at a lag, with divisor n.
local function autocovariance (centred, lag)
  local n = core.shape(centred)[2]
  return (centred:narrow(2, 1, n - lag) * centred:narrow(2, lag + 1, n - lag)):sum() / n / core.shape(centred)[1]
end

-- The effective number of draws for the mean of x, by Geyer's initial monotone sequence of autocorrelations.
local function ess (x)
  if not is_usable(x) then return NAN end
  local m, n = core.shape(x)[1], core.shape(x)[2]
  local means = x:mean(2, true)
  local centred = x - means
  local within = autocovariance(centred, 0) * n / (n - 1)
  local total = within * (n - 1) / n
  if m > 1 then total = total + means:reshape(-1):var() end
  local function correlation (lag) return 1 - (within - autocovariance(centred, lag)) / total end
  local rho = { [0] = 1, [1] = correlation(1) }
  local even, odd, t = 1, rho[1], 0
  while t < n - 5 and even + odd > 0 do
    t = t + 2
    even, odd = correlation(t), correlation(t + 1)
    if even + odd >= 0 then rho[t], rho[t + 1] = even, odd end
  end
  local last = t
  if even > 0 then rho[last] = even end
  for k = 2, last - 2, 2 do
    local here, before = (rho[k] or 0) + (rho[k + 1] or 0), (rho[k - 2] or 0) + (rho[k - 1] or 0)
    if here > before then rho[k], rho[k + 1] = before / 2, before / 2 end
  end
  local sum = 0
  for k = 0, last - 1 do sum = sum + (rho[k] or 0) end
  local time = -1 + 2 * sum + (rho[last] or 0)
  time = math.max(time, 1 / (math.log(n * m) / math.log(10)))
  return n * m / time
end

--- The effective number of draws for the mean.
function diagnostics.ess_mean (x) return ess(split(x)) end

--- Of the bulk: of ranks.
function diagnostics.ess_bulk (x)
  if not is_usable(x) then return NAN end
  return ess(diagnostics.normal_scores(split(x)))
end

--- Of a quantile: whether draws lie below it.
function diagnostics.ess_quantile (x, q)
  if not is_usable(x) then return NAN end
  return ess(split(x):le(x:reshape(-1):quantile(q)))
end

--- Of the tails: the smaller one of the quantiles 0.05 and 0.95.
function diagnostics.ess_tail (x)
  return math.min(diagnostics.ess_quantile(x, 0.05), diagnostics.ess_quantile(x, 0.95))
end

--- The Monte Carlo standard errors of the mean, of the sd and of a quantile.
function diagnostics.mcse_mean (x) return x:reshape(-1):std() / math.sqrt(diagnostics.ess_mean(x)) end

function diagnostics.mcse_sd (x)
  local centred = x - x:mean()
  local square = centred * centred
  local variance = square:mean()
  local spread = (square * square):mean() - variance * variance
  return math.sqrt(spread / diagnostics.ess_mean(square) / variance / 4)
end

function diagnostics.mcse_quantile (x, q)
  local count, n = diagnostics.ess_quantile(x, q), core.numel(x)
  if count ~= count then return NAN end
  local band = require "perilune.distributions.Beta"(count * q + 1, count * (1 - q) + 1)
  local sorted = x:reshape(-1):sort()
  local low = math.max(math.floor(band:icdf(ONE_SD_BELOW) * n), 1)
  local high = math.min(math.ceil(band:icdf(1 - ONE_SD_BELOW) * n), n)
  return (sorted[high] - sorted[low]) / 2
end

--- Energy Bayesian fraction of missing information of each chain: below 0.2 the tails are hardly explored.
function diagnostics.e_bfmi (energy)
  local n = core.shape(energy)[2]
  local steps = energy:narrow(2, 2, n - 1) - energy:narrow(2, 1, n - 1)
  local from_mean = energy - energy:mean(2, true)
  return (steps * steps):sum(2) / (from_mean * from_mean):sum(2)
end

--- Autocorrelations of a chain, a vector, at lags 0, ..., most.
function diagnostics.autocorrelation (x, most)
  local row = (x - x:mean()):reshape(1, -1)
  local first, list = autocovariance(row, 0), {}
  for lag = 0, most do list[lag + 1] = autocovariance(row, lag) / first end
  return core.tensor(list)
end

return diagnostics
