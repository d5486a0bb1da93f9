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

--- The elements along `dim` from the smallest on, and where each of them was, from 1. Equal ones stay in their order;
-- NaN comes last.
function ordering.sort (t, dim, ...)
  no_more("sort(t, dim)", ...)
  t, dim = rows_of("sort", t, dim)
  local index = order_of(t)
  return put_back(reorder(t, index), dim), put_back(index, dim)
end

--- The second of these alone.
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

--- The value below which a part q of the elements along `dim` lies, or of all elements; between two of them on the line
-- through both (R's type 7). A list of q makes a first dimension.
function ordering.quantile (t, q, dim, keep, ...)
  no_more("quantile(t, q, dim, keep)", ...)
  return quantile("quantile", t, q, dim, keep)
end

--- quantile(t, 0.5, dim)
function ordering.median (t, dim, keep, ...)
  no_more("median(t, dim, keep)", ...)
  return quantile("median", t, 0.5, dim, keep)
end

--- For each element of the index, from 1 to n, a row of n elements: 1 at its place, and zeros.
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
