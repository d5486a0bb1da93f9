--- Does a sample come from the law it claims? Each test fails by chance with
-- probability below 1e-6; seeds are fixed, so a passing suite stays passing.
local statistics = {}

local KS_BOUND = 2.7     -- sqrt(n) D exceeds this with probability 9.3e-7
local Z_BOUND  = 5       -- |z| exceeds this with probability 5.7e-7

--- Kolmogorov-Smirnov: sqrt(n) times the largest gap between the two cdfs, and
-- whether it is acceptable.
function statistics.ks (sample, cdf)
  local x = sample:totable()
  table.sort(x)
  local n, gap = #x, 0
  local F = cdf(x):totable()
  for i = 1, n do gap = math.max(gap, F[i] - (i - 1) / n, i / n - F[i]) end
  local d = math.sqrt(n) * gap
  return d <= KS_BOUND, d
end

--- Is the sample mean within five standard errors of `mean`?
function statistics.mean (sample, mean, variance)
  if variance == 0 then return sample:min() == sample:max() and sample:mean():item() == mean, 0 end
  local z = (sample:mean():item() - mean) / math.sqrt(variance / sample:numel())
  return math.abs(z) <= Z_BOUND, z
end

-- Quantile-like bounds: chi-square with k degrees of freedom, cube-rooted, is
-- nearly normal (Wilson and Hilferty).
local function chi_square_z (statistic, k)
  local h = 2 / (9 * k)
  return ((statistic / k) ^ (1 / 3) - (1 - h)) / math.sqrt(h)
end

--- Chi-square over outcomes, neighbours pooled until each cell expects 20 draws.
-- Acceptable below 4.9 standard deviations: exceeded with probability 5e-7.
function statistics.chi_square (sample, d)
  local n, x = sample:numel(), sample:totable()
  table.sort(x)
  local statistic, cells, from, i = 0, 0, 0, 1   -- from: cdf at the end of the last cell
  local k, last = d:icdf(1e-9), d:isf(1e-9)
  while k <= last do
    local to = k
    while to < last and (d:cdf(to) - from) * n < 20 do to = to + 1 end
    local upper = d:cdf(to)
    if (1 - upper) * n < 20 then to, upper = math.huge, 1 end
    local seen = 0
    while x[i] and x[i] <= to do seen, i = seen + 1, i + 1 end
    local expected = (upper - from) * n
    statistic, cells = statistic + (seen - expected) ^ 2 / expected, cells + 1
    from, k = upper, to + 1
  end
  if cells < 2 then return statistic == 0, statistic end
  local z = chi_square_z(statistic, cells - 1)
  return z <= 4.9, z
end

return statistics
