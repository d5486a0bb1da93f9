--- Tensors in order: sort, argsort, quantiles; and positions as rows of zeros and a one.
local core     = require "perilune.core"
local no_more  = require "perilune.errors".no_more
local operands = require "perilune.operands"
local show     = require "perilune.show"

local fail, as_tensor, dimension = operands.fail, operands.tensor, operands.dimension

local ordering = {}

local order_of = core.bind("row/sort", "argsort", "argsort", { "t" }, { "t" })
local reorder  = core.bind("row/sort", "reorder", "sort", { "t", "index" }, { "t", "index" })
local between  = core.bind("row/sort", "quantile", "quantile", { "t", "q" }, { "t", "q" })
local hot      = core.bind("one_hot", "one_hot", "one_hot", { "index", "j", "n" }, { "index", "j", "n" })

local function bind_rule (name)
  return core.bind_predicate("constraint", name, name, { "x", "low", "high" }, { "x", "low", "high" })
end
local not_within, not_integer_within = bind_rule "interval", bind_rule "integer_interval"

-- Raises, if a predicate has found a value: { value, its place... }.
local function check_none (who, rule, found)
  if #found == 0 then return end
  local place = #found > 1 and " at [" .. table.concat(found, ", ", 2) .. "]" or ""
  fail(who, "%s, got %s%s", rule, show.number(found[1]), place)
end

-- A tensor with the dimension to go along, the last unless told, at the end; and that dimension.
local function rows_of (who, t, dim)
  t = as_tensor(who, t)
  local n = core.rank(t)
  if n == 0 then fail(who, "a tensor of rank 0 has no rows") end
  dim = dimension(who, dim or -1, n)
  return dim == n and t or t:transpose(dim, -1), dim
end

-- Rows where they came from.
local function put_back (t, dim) return dim == core.rank(t) and t or t:transpose(dim, -1) end

--@ peri.sort(t, dim) -> Tensor, Tensor
-- The elements along a dimension from the smallest on, and where each of them was, from 1. Equal ones stay in their
-- order; NaN comes last.
--   dim  integer, from 1, or from -1 backwards; the last unless told
-- > values, index = sort({ 3, 1, 2 })
-- > index
-- Tensor(3)
--   2  3  1
function ordering.sort (t, dim, ...)
  no_more("sort(t, dim)", ...)
  t, dim = rows_of("sort", t, dim)
  local index = order_of(t)
  return put_back(reorder(t, index), dim), put_back(index, dim)
end

--@ peri.argsort(t, dim) -> Tensor
-- Where the elements along a dimension are, from the smallest on: t[argsort(t)] is sorted.
--   dim  integer, from 1, or from -1 backwards; the last unless told
-- > argsort({ 3, 1, 2 })
-- Tensor(3)
--   2  3  1
function ordering.argsort (t, dim, ...)
  no_more("argsort(t, dim)", ...)
  t, dim = rows_of("argsort", t, dim)
  return put_back(order_of(t), dim)
end

-- The order of dimensions 1 to n with `from` moved to the place `to`.
local function moved (n, from, to)
  local order = {}
  for d = 1, n do order[d] = d end
  table.insert(order, to, table.remove(order, from))
  return table.unpack(order)
end

local function quantile (who, t, q, dim, keep)
  t, q = as_tensor(who, t), as_tensor(who, q)
  local n, each = core.rank(t), core.rank(q)
  if each > 1 then fail(who, "q must be a number or a list of them, got shape %s", show.shape(core.shape(q))) end
  check_none(who, "q must be between 0 and 1", { not_within(q, 0, 1) })
  local at = dim ~= nil and dimension(who, dim, n) or 1
  local rows = dim == nil and t:reshape(-1) or t:permute(moved(n, at, n))
  if core.shape(rows)[core.rank(rows)] == 0 then fail(who, "there are no elements to choose from") end
  local values = between(rows, q:reshape(-1))
  if each == 0 then values = values:select(-1, 1)
  elseif core.rank(values) > 1 then values = values:permute(moved(core.rank(values), core.rank(values), 1))
  end
  if not keep then return values end
  values = as_tensor(who, values)
  for d = at, dim == nil and n or at do values = values:unsqueeze(d + each) end
  return values
end

--@ peri.quantile(t, q, dim, keep) -> number or Tensor
-- The value below which a share q of the elements lies; between two of them on the line through both (R's type 7). NaN
-- if there is one among them; raises if there are none.
--   q    number between 0 and 1, or a list of them, which makes a first dimension
--   dim  integer, from 1, or from -1 backwards; all elements unless told
-- > quantile({ 1, 2, 3, 4 }, 0.5)
-- 2.5
-- > quantile({ 0, 10, 20 }, { 0.25, 0.75 })
-- Tensor(2)
--    5  15
function ordering.quantile (t, q, dim, keep, ...)
  no_more("quantile(t, q, dim, keep)", ...)
  return quantile("quantile", t, q, dim, keep)
end

--@ peri.median(t, dim, keep) -> number or Tensor
-- The quantile 0.5: the middle element, or the mean of the two in the middle.
--   dim  integer, from 1, or from -1 backwards; all elements unless told
-- > median({ 3, 1, 2, 10 })
-- 2.5
function ordering.median (t, dim, keep, ...)
  no_more("median(t, dim, keep)", ...)
  return quantile("median", t, 0.5, dim, keep)
end

--@ peri.one_hot(index, n) -> Tensor
-- For each element of the index a row of n elements: 1 at that place, and zeros. Raises for what is no integer from 1
-- to n.
--   index  integer, or a table or tensor of integers
--   n      integer
-- > one_hot({ 2, 1 }, 3)
-- Tensor(2, 3)
--   0  1  0
--   1  0  0
function ordering.one_hot (index, n, ...)
  no_more("one_hot(index, n)", ...)
  if math.type(n) ~= "integer" or n < 0 then
    fail("one_hot", "n must be a non-negative integer, got %s", core.describe(n))
  end
  index = as_tensor("one_hot", index)
  check_none("one_hot", string.format("an index must be an integer between 1 and %d", n),
             { not_integer_within(index, 1, n) })
  return hot(index:unsqueeze(-1), core.public.arange(1, n + 1), n)
end

return ordering
