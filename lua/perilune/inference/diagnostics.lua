--- Diagnostics of Markov chains: rank-normalised split R-hat and effective sample sizes.
--
-- A. Vehtari, A. Gelman, D. Simpson, B. Carpenter and P.-C. Buerkner, "Rank-normalization, folding, and localization",
-- Bayesian Analysis 16 (2021). The draws of one quantity are a matrix x, a row for each chain.
local core      = require "perilune.core"
local functions = require "perilune.functions"
local tensor    = require "perilune.tensor"

local NAN = core.nan
local ONE_SD_BELOW = 0.1586553   -- the probability of what lies further below, as R's posterior has it

local LEVELS = { 0.05, 0.5, 0.95 }   -- the tails lie beyond the first and the last

local ranks      = core.bind("row/sort", "ranks", "ranks", { "x" }, { "x" })
local basic_rhat = core.bind("row/chains", "rhat", "rhat", { "x" }, { "x" })
local ess        = core.bind("row/chains", "ess", "ess", { "x" }, { "x" })

local diagnostics = {}

-- Halves of chains as chains; of an odd number of draws the middle one is left out.
local function split (x)
  local rank = core.rank(x)
  local n = core.shape(x)[rank]
  local half = n // 2
  return tensor.cat({ x:narrow(rank, 1, half), x:narrow(rank, n - half + 1, half) }, rank - 1)
end

-- The draws of each quantity in a row. One quantity is a matrix, several have another dimension in front.
local function in_rows (x)
  local shape = core.shape(x)
  return x:reshape(#shape == 2 and 1 or shape[1], shape[#shape - 1] * shape[#shape])
end

--- Normal scores of the ranks of all draws.
function diagnostics.normal_scores (x)
  local row = in_rows(x)
  return functions.ndtri((ranks(row) - 0.375) / (core.shape(row)[2] + 0.25)):reshape(core.shape(x))
end

-- 0 for each quantity, NaN where a draw is not finite.
local function spoilt (rows) return (rows * 0):sum(2) end

-- A number for each quantity in the shape of its draws.
local function each (numbers) return numbers:reshape(-1, 1, 1) end

-- The ends of both tails of x, and the median of its halves.
local function quantiles (x, halves)
  local q = in_rows(x):quantile(LEVELS, 2)
  local is_even = core.shape(x)[3] % 2 == 0
  return each(q[1]), each(is_even and q[2] or in_rows(halves):median(2)), each(q[3])
end

--- Of several quantities, (quantities, chains, draws): R-hat, effective draws for the bulk and for the tails. R-hat is
-- that of ranks of halves of chains, the larger one of those of x and of its distance from the median; the bulk is
-- that of ranks, the tails whether draws lie beyond a quantile, the smaller number.
function diagnostics.all (x)
  local halves = split(x)
  local low, median, high = quantiles(x, halves)
  local scores, folded = diagnostics.normal_scores(halves), (halves - median):abs()
  local rhat, far = basic_rhat(scores), basic_rhat(diagnostics.normal_scores(folded))
  local nan = spoilt(in_rows(x))
  local tails = functions.minimum(ess(halves:le(low)), ess(halves:le(high)))
  return functions.where(far:gt(rhat), far, rhat) + nan, ess(scores) + nan, tails + nan
end

local function of_one (x, which)
  local shape = core.shape(x)
  return (select(which, diagnostics.all(x:reshape(1, shape[1], shape[2]))))[1]
end

--- Of one quantity.
function diagnostics.rhat (x) return of_one(x, 1) end
function diagnostics.ess_bulk (x) return of_one(x, 2) end
function diagnostics.ess_tail (x) return of_one(x, 3) end

--- The effective number of draws for the mean.
function diagnostics.ess_mean (x) return ess(split(x)) end

--- Of a quantile: whether draws lie below it.
function diagnostics.ess_quantile (x, q)
  return ess(split(x):le(x:reshape(-1):quantile(q))) + (x * 0):sum()
end

-- The mean over chains of the autocovariance at a lag, with divisor n.
local function autocovariance (centred, lag)
  local n = core.shape(centred)[2]
  return (centred:narrow(2, 1, n - lag) * centred:narrow(2, lag + 1, n - lag)):sum() / n / core.shape(centred)[1]
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
