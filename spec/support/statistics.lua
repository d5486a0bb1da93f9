--- Does a sample come from the law it claims? Each test fails by chance with
-- probability below 1e-6; seeds are fixed, so a passing suite stays passing.
local statistics = {}

local KS_BOUND = 2.7     -- sqrt(n) D exceeds this with probability 9.3e-7
local Z_BOUND  = 5       -- |z| exceeds this with probability 5.7e-7
local FIT_KS, FIT_Z = 2.76, 4.9   -- exceeded with probability 4.9e-7 and 4.8e-7

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
  if variance == 0 then return sample:min() == sample:max() and sample:mean() == mean, 0 end
  local z = (sample:mean() - mean) / math.sqrt(variance / sample:numel())
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



-- The law's quantiles, closer in its tails, in ascending order and none twice.
local function quantiles (law)
  local levels, list = { 2e-5, 1e-4, 4e-4 }, {}
  for i = 1, 499 do levels[#levels + 1] = i / 500 end
  for _, tail in ipairs { 4e-4, 1e-4, 2e-5 } do levels[#levels + 1] = 1 - tail end
  for _, x in ipairs(law:icdf(levels):totable()) do
    if x < math.huge and (#list == 0 or x > list[#list]) then list[#list + 1] = x end
  end
  return list
end

-- Quantiles fit to be the ends of cells. A sampler of a continuous law rounds its numbers: an x
-- is unfit if more than 2e-6 lies within a few units of its last digit, as at 0 for Beta(0.001, 1).
local function ends_of_cells (law)
  local list, below, above, ends = quantiles(law), {}, {}, {}
  if law.support.is_discrete or #list == 0 then return list end
  for i, x in ipairs(list) do
    local rounding = math.abs(x) * 2 ^ -50 + 2 ^ -1072
    below[i], above[i] = x - rounding, x + rounding
  end
  below, above = law:cdf(below):totable(), law:cdf(above):totable()
  for i, x in ipairs(list) do
    if above[i] - below[i] <= 2e-6 then ends[#ends + 1] = x end
  end
  return ends
end

-- How many of x lie in each cell, the last of which has no end; nil if one is NaN.
local function counts_in_cells (x, ends)
  local counts = {}
  for cell = 1, #ends + 1 do counts[cell] = 0 end
  for i = 1, #x do
    local value, low, high = x[i], 1, #ends + 1
    if value ~= value then return nil end
    while low < high do
      local middle = math.floor((low + high) / 2)
      if value <= ends[middle] then high = middle else low = middle + 1 end
    end
    counts[low] = counts[low] + 1
  end
  return counts
end

-- How far the sample's cdf is from the law's `masses` at the ends of cells.
local function largest_gap (counts, masses, n)
  local seen, gap = 0, 0
  for i, mass in ipairs(masses) do
    seen = seen + counts[i]
    gap = math.max(gap, math.abs(seen / n - mass))
  end
  return gap
end

-- Chi-square of counts, neighbours pooled until a cell expects 20; masses are cumulative.
local function pooled_z (counts, masses, n)
  local statistic, cells, from, seen = 0, 0, 0, 0
  for i = 1, #counts do
    local to, rest = masses[i] or 1, 1 - (masses[i] or 1)
    seen = seen + counts[i]
    if i == #counts or (to - from) * n >= 20 and rest * n >= 20 then
      local expected = (to - from) * n
      if expected > 0 then statistic = statistic + (seen - expected) ^ 2 / expected
      elseif seen > 0 then return math.huge end
      cells, from, seen = cells + 1, to, 0
    end
  end
  if cells < 2 then return statistic == 0 and 0 or math.huge end
  return chi_square_z(statistic, cells - 1)
end

--- Is a large sample one of `law`? By Kolmogorov and Smirnov's distance at the ends of some 500
-- cells, and by chi-square over the cells: a false alarm of either has probability below 1e-6.
-- Gives the verdict, sqrt(n) times the distance, and the chi-square as a normal number.
function statistics.fit (sample, law)
  local n, ends = sample:numel(), ends_of_cells(law)
  local counts = law.support:check(sample) and counts_in_cells(sample:totable(), ends)
  if not counts then return false, math.huge, math.huge end
  local masses = #ends > 0 and law:cdf(ends):totable() or {}
  local ks, z = math.sqrt(n) * largest_gap(counts, masses, n), pooled_z(counts, masses, n)
  return ks <= FIT_KS and z <= FIT_Z, ks, z
end

return statistics
