--- What tensors tell of data: histograms, distinct values, covariances.
local core      = require "perilune.core"
local errors    = require "perilune.errors"
local functions = require "perilune.functions"
local joining   = require "perilune.joining"
local operands  = require "perilune.operands"
local show      = require "perilune.show"

local fail, as_tensor, no_more = operands.fail, operands.tensor, errors.no_more

local MOST_BINS = 1000    -- that are chosen unasked
local ENOUGH    = 65536   -- elements to judge their spread by

local counts_between = core.bind("row/counts", "histogram", "histogram", { "x", "edges" }, { "x", "edges" })
local in_order       = core.bind("row/sort", "sorted", "unique", { "t" }, { "t" })
local positions      = core.bind("row/counts", "positions", "positions", { "mask" }, { "mask" })

local statistics = {}

--- The rows of t, along its first dimension, of which a mask is not 0; and whether that is all of them.
function statistics.kept (t, mask)
  local n = math.tointeger(mask:ne(0):sum())
  if n == core.shape(mask)[1] then return t, true end
  return t[positions(mask):narrow(1, 1, n)], false
end

-- The elements of a tensor that are numbers, without infinities, in one row.
local function finite (t) return (statistics.kept(t:reshape(-1), (t - t):reshape(-1):eq(0))) end


-- Histograms -----------------------------------------------------------------------------

-- Of very many elements every so many-th one: to sort them all would take longer than to count them.
local function sample (x)
  local step = core.numel(x) // ENOUGH
  if step < 2 then return x end
  return x:narrow(1, 1, step * ENOUGH):reshape(ENOUGH, step):select(2, 1)
end

-- Bins of one width between the smallest and the largest: 2 IQR/n^(1/3) wide (Freedman and Diaconis), or as many as
-- Sturges has where half of the values are equal.
local function bins_for (x, low, high)
  local n = core.numel(x)
  local quartiles = sample(x):quantile { 0.25, 0.75 }
  local width = 2 * (quartiles[2] - quartiles[1]) / n ^ (1 / 3)
  local bins = width > 0 and math.ceil((high - low) / width) or math.ceil(math.log(n, 2) + 1)
  return math.tointeger(math.min(math.max(bins, 1), MOST_BINS))
end

local function edges_of (t, bins)
  if type(bins) == "table" or core.is_tensor(bins) then
    local edges = core.bare(as_tensor("histogram", bins))
    if core.rank(edges) ~= 1 or core.numel(edges) < 2 then
      fail("histogram", "bins must be a number of them, or a list of two or more edges, got %s", show.value(bins))
    end
    local n = core.numel(edges)
    if edges:narrow(1, 2, n - 1):gt(edges:narrow(1, 1, n - 1)):all() ~= 1 then
      fail("histogram", "edges must rise, got %s", show.parameter(edges))
    end
    return edges
  end
  if bins ~= nil and (math.type(bins) ~= "integer" or bins < 1) then
    fail("histogram", "bins must be a positive integer or a list of edges, got %s", show.value(bins))
  end
  local x = finite(t)
  if core.numel(x) == 0 then fail("histogram", "there are no finite elements to choose bins for") end
  local low, high = x:min(), x:max()
  if low == high then
    local half = math.max(0.5, math.abs(low) / 2)
    return core.public.linspace(low - half, low + half, (bins or 1) + 1)
  end
  return core.public.linspace(low, high, (bins or bins_for(x, low, high)) + 1)
end

--@ peri.histogram(t, bins) -> counts, edges, outside
-- How many elements lie in each bin, the edges of the bins, and how many elements lie in none (NaN, infinite, beyond
-- the edges). A bin has its left edge, the last one both.
--   t     tensor or list of numbers, of any shape
--   bins  how many of one width between the smallest and the largest, or a list of edges; unless told, as many as
--         Freedman and Diaconis say
-- > histogram({1, 2, 2, 3}, {1, 2, 3})
-- Tensor(2)
--   1  3
function statistics.histogram (t, bins, ...)
  no_more("histogram(t, bins)", ...)
  t = as_tensor("histogram", t):reshape(-1):detach()
  local edges = edges_of(t, bins)
  local m = core.numel(edges)
  local found = counts_between(t, edges)
  local counts = found:narrow(1, 1, m - 1):clone()
  counts:narrow(1, m - 1, 1):copy(found[m - 1] + found[m])   -- the last bin has its right edge
  return counts, edges, math.tointeger(core.numel(t) - counts:sum())
end


-- Distinct values --------------------------------------------------------------------------

--@ peri.unique(t) -> values, counts
-- The distinct elements from the smallest on, and how often each occurs. All NaN count as one, the last.
--   t  tensor or list of numbers, of any shape
-- > unique{3, 1, 3, 2}
-- Tensor(3)
--   1  2  3
function statistics.unique (t, ...)
  no_more("unique(t)", ...)
  t = as_tensor("unique", t):reshape(-1):detach()
  local n = core.numel(t)
  if n == 0 then return t, t end
  local sorted = in_order(t)
  local first = core.public.ones(n)   -- is an element the first of its value?
  if n > 1 then
    local before, after = sorted:narrow(1, 1, n - 1), sorted:narrow(1, 2, n - 1)
    local both_nan = before:ne(before) * after:ne(after)
    first:narrow(1, 2, n - 1):copy(before:ne(after) * (1 - both_nan))
  end
  local starts = statistics.kept(core.public.arange(1, n + 1), first)
  local ends = joining.cat { starts:narrow(1, 2, core.numel(starts) - 1), { n + 1 } }
  return sorted[starts], ends - starts
end


-- Covariances ------------------------------------------------------------------------------

-- Observations as rows, those of two vectors as two columns; and whether there were two.
local function observations (who, x, y)
  x = as_tensor(who, x)
  if y ~= nil then
    y = as_tensor(who, y)
    if core.rank(x) ~= 1 or core.rank(y) ~= 1 or core.numel(x) ~= core.numel(y) then
      fail(who, "x and y must be lists of the same length, got shapes %s and %s", show.shape(core.shape(x)),
           show.shape(core.shape(y)))
    end
    return joining.stack({ x, y }, 2), true
  end
  if core.rank(x) ~= 2 then
    fail(who, "takes two lists, or a matrix whose rows are observations; got shape %s", show.shape(core.shape(x)))
  end
  return x, false
end

local function covariance (x)
  local n = core.shape(x)[1]
  local centred = x - x:mean(1, true)
  return centred:transpose(1, 2):matmul(centred) / (n > 1 and n - 1 or 0 / 0)
end

--@ peri.cov(x, y) -> number, or matrix
-- The covariance of two lists, or of the columns of a matrix whose rows are observations; divided by n - 1.
--   x  a list of numbers, or a matrix
--   y  a second list
-- > cov({1, 2, 3}, {1, 2, 6})
-- 2.5
function statistics.cov (x, y, ...)
  no_more("cov(x, y)", ...)
  local rows, is_pair = observations("cov", x, y)
  local c = covariance(rows)
  return is_pair and c:select(1, 1):select(1, 2) or c
end

--@ peri.corr(x, y) -> number, or matrix
-- Pearson's correlation of two lists, or of the columns of a matrix; NaN for what does not vary.
--   x  a list of numbers, or a matrix whose rows are observations
--   y  a second list
-- > corr({1, 2, 3}, {2, 4, 6})
-- 1.0
function statistics.corr (x, y, ...)
  no_more("corr(x, y)", ...)
  local rows, is_pair = observations("corr", x, y)
  local centred = rows - rows:mean(1, true)
  local c = covariance(centred / centred:detach():abs():max(1, true))   -- far from overflow
  local variance = c:diagonal()
  local r = c / functions.sqrt(variance:unsqueeze(1) * variance:unsqueeze(2))
  r = functions.maximum(functions.minimum(r, 1), -1)
  return is_pair and r:select(1, 1):select(1, 2) or r
end

return statistics
