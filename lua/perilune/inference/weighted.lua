--- Statistics of weighted draws: weights w sum to 1, draws x are rows of a matrix.
local core      = require "perilune.core"
local functions = require "perilune.functions"
local psis      = require "perilune.inference.psis"

local weighted = {}

--- Means and standard deviations of columns.
function weighted.moments (x, w)
  local column = w:reshape(-1, 1)
  local mean = (column * x):sum(1)
  local from_mean = x - mean
  return mean, functions.sqrt((column * from_mean * from_mean):sum(1))
end

--- The covariance matrix of columns.
function weighted.covariance (x, w)
  local mean = (w:reshape(-1, 1) * x):sum(1)
  local from_mean = x - mean
  return (from_mean * w:reshape(-1, 1)):transpose():matmul(from_mean)
end

--- Effective number of draws.
function weighted.ess (w) return 1 / (w * w):sum() end

--- The tail shape of what the second moment of a vector adds up; infinite where it cannot be told, since squares are
-- not finite.
function weighted.second_tail (x, w, mean)
  local d = x - mean
  local k = psis.tail_shape(w * d * d)
  return k == k and k or math.huge
end

--- The largest such tail shape over columns, and the column.
function weighted.worst_tail (x, w, mean)
  local worst, which = -math.huge, 1
  for j = 1, core.shape(x)[2] do
    local k = weighted.second_tail(x:select(2, j), w, mean[j])
    if k > worst then worst, which = k, j end
  end
  return worst, which
end

--- The relative Monte Carlo errors of standard deviations, of each column.
function weighted.sd_errors (x, w, mean, sd)
  local d = x - mean
  local excess = (d * d - sd * sd) * w:reshape(-1, 1)
  return 0.5 * (excess * excess):sum(1):sqrt() / (sd * sd)
end

--- The largest of them, and the column.
function weighted.worst_sd_error (x, w, mean, sd)
  local errors = weighted.sd_errors(x, w, mean, sd)
  return errors:max(), errors:argmax()
end

--- The quantiles q (a list) of a vector, by linear interpolation between the middles of the draws' weights.
function weighted.quantiles (x, w, q)
  local order = x:argsort()
  local sorted, weights = x[order], w[order]
  local middle = (weights:cumsum() - weights * 0.5)
  local n, found = core.numel(x), {}
  for i, level in ipairs(q) do
    local below = (functions.le(middle, level)):sum()
    if below == 0 then found[i] = sorted[1]
    elseif below == n then found[i] = sorted[n]
    else
      local a, b = middle[below], middle[below + 1]
      local share = b > a and (level - a) / (b - a) or 0
      found[i] = sorted[below] + share * (sorted[below + 1] - sorted[below])
    end
  end
  return found
end

return weighted
