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
  local z = (sample:mean():item() - mean) / math.sqrt(variance / sample:numel())
  return math.abs(z) <= Z_BOUND, z
end

return statistics
