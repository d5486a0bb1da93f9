--- Pareto smoothed importance sampling (Vehtari, Simpson, Gelman, Yao and Gabry 2024).
--
-- The largest weights are replaced by the expected order statistics of a generalised Pareto distribution fitted to them
-- (Zhang and Stephens 2009). Its shape k says how heavy their tail is: below 0.7 averages can be trusted.
local core      = require "perilune.core"
local functions = require "perilune.functions"

local psis = {}

local LEAST    = 5       -- elements of a tail
local ROUNDING = 1e-12   -- numbers this near to each other are the same

--- The generalised Pareto distribution of a tail: an ascending vector of positive numbers. Returns k and sigma.
function psis.pareto (x)
  local n = core.numel(x)
  local m = 30 + math.floor(math.sqrt(n))
  local largest, quarter = x[n], x[math.floor(n / 4 + 0.5)]
  local j = core.arange(1, m + 1)
  local theta = 1 / largest + (1 - (m / (j - 0.5)):sqrt()) / (3 * quarter)
  local k = (-theta:reshape(m, 1) * x):log1p():mean(2)
  local l = n * ((-theta / k):log() - k - 1)
  local weights = l:softmax()
  local best = (weights * theta):sum()
  local found = (-best * x):log1p():mean()
  local sigma = -found / best
  return (n * found + 5) / (n + 10), sigma
end

--- How many elements the tail of n ratios has.
local function tail_length (n, r_eff) return math.ceil(math.min(0.2 * n, 3 * math.sqrt(n / r_eff))) end

psis.tail_length = tail_length

--- The shape k of the upper tail of positive numbers, given their order: -inf for a tail that is not one.
function psis.tail_shape (x)
  local n = core.numel(x)
  local m = tail_length(n, 1)
  if m < LEAST then return math.huge end
  local sorted = x:sort()
  local cut = sorted[n - m]
  local tail = sorted:narrow(1, n - m + 1, m) - cut
  local ties = tail:le(cut * ROUNDING):sum()
  if m - ties < LEAST then return -math.huge end
  return (psis.pareto(tail:narrow(1, ties + 1, m - ties)))
end

--- Smooths log ratios r, a vector. Returns normalised log weights and k-hat.
function psis.smooth (r, r_eff)
  local n = core.numel(r)
  local m = tail_length(n, r_eff or 1)
  local lw = r - r:max()
  local k = math.huge
  local order = lw:argsort()
  local sorted = lw[order]
  if m >= LEAST and sorted[n - m + 1] < 0 then
    local cut = math.max(sorted[n - m], math.log(2.2250738585072014e-308))
    local x = sorted:narrow(1, n - m + 1, m):exp() - math.exp(cut)
    local sigma
    k, sigma = psis.pareto(x)
    if k - k == 0 then
      local p = (core.arange(1, m + 1) - 0.5) / m
      local smoothed = math.abs(k) < 1e-12 and -sigma * (-p):log1p() or sigma * (-k * (-p):log1p()):expm1() / k
      local logs = (math.exp(cut) + smoothed):log()
      sorted:narrow(1, n - m + 1, m):copy(functions.minimum(logs, 0))
      local back = core.zeros(n)
      back:narrow(1, 1, n):copy(sorted[order:argsort()])
      lw = back
    end
  end
  return lw - lw:logsumexp(), k
end

return psis
