--- All outcomes of a distribution along a new first dimension, for `enumerate_support`.
local class  = require "perilune.class"
local core   = require "perilune.core"
local events = require "perilune.events"
local raise  = require "perilune.errors".raise
local tensor = require "perilune.tensor"

local enumeration = {}

local LARGEST = 2 ^ 20   -- rows of a support that are enumerated

-- An end of the support as a plain number, or nil where a batch has several or
-- it is infinite.
local function common_end (value)
  if core.is_tensor(value) then
    local least = core.item(value:min())
    value = least == core.item(value:max()) and least or nil
  end
  return value and math.abs(value) < math.huge and value or nil
end

--- Those of a distribution of single numbers.
function enumeration.numbers (self)
  local support = self.support
  local low, high = nil, nil
  if support and support.is_discrete then low, high = common_end(support.low), common_end(support.high) end
  if not (low and high) then
    raise("%s:enumerate_support: the support must be finite and the same throughout the batch",
          class.name(class.of(self)))
  end
  local outcomes = core.arange(low, high + 1)
  for _ = 1, #self.batch_shape do outcomes = outcomes:unsqueeze(-1) end
  return outcomes:expand(high - low + 1, table.unpack(self.batch_shape))
end

--- Rows with a single 1.
function enumeration.one_hot (self)
  local k, shape, whole = self.event_shape[1], {}, {}
  for d, size in ipairs(self.batch_shape) do shape[d], whole[d] = 1, size end
  table.insert(shape, 1, k)
  table.insert(whole, 1, k)
  shape[#shape + 1], whole[#whole + 1] = k, k
  return core.eye(k):reshape(shape):expand(whole)
end

-- Appends the rows of k counts that sum to n after `row`, the first `done` counts of each.
local function add_rows (rows, row, done, n, k)
  if done == k - 1 then
    row[k] = n
    rows[#rows + 1] = { table.unpack(row, 1, k) }
    return
  end
  for count = n, 0, -1 do
    row[done + 1] = count
    add_rows(rows, row, done + 1, n - count, k)
  end
end

-- n + k - 1 over k - 1, how many such rows there are.
local function number_of_rows (n, k)
  local product = 1
  for i = 1, k - 1 do product = product * (n + i) / i end
  return product
end

--- Rows of counts that sum to total_count.
function enumeration.counts (self)
  local n, k = core.tensor(self.total_count), self.event_shape[1]
  local count = core.item(n:max())
  if core.item(n:min()) ~= count or number_of_rows(count, k) > LARGEST then
    raise("%s:enumerate_support: total_count must be the same throughout the batch, and there must be a million rows "
          .. "at most", class.name(class.of(self)))
  end
  local rows = {}
  add_rows(rows, {}, 0, math.floor(count), k)
  local counts, shape = core.tensor(rows), { #rows, table.unpack(self.batch_shape) }
  for _ = 1, #self.batch_shape do counts = counts:unsqueeze(2) end
  shape[#shape + 1] = k
  return counts:expand(shape)
end

-- Numbers 0, ..., k^m - 1 written with m digits of base k, each digit counted from 1, one row each.
local function all_digits (k, m)
  local rows = core.arange(0, k ^ m):unsqueeze(-1)
  local places = k ^ core.arange(m - 1, -1, -1)
  return (rows / places):floor() % k + 1
end

-- Is each outcome the same number for all parts, and throughout the batch?
local function are_common (outcomes)
  local rows = outcomes:reshape(#outcomes, -1)
  return core.item(rows:min(-1):eq(rows:max(-1)):min()) == 1
end

-- The outcomes that rows of digits name, part by part, the parts being in this dimension: { rows, batch..., parts,
-- event... }.
local function named_by (digits, outcomes, dim)
  local columns = {}
  for j = 1, core.shape(outcomes)[dim] do columns[j] = outcomes:select(dim, j)[digits:select(-1, j)] end
  return tensor.stack(columns, dim)
end

--- Every combination of the outcomes of an Independent's parts.
function enumeration.combinations (self)
  local base, batch, n = self.base_dist, self.batch_shape, self.reinterpreted_batch_ndims
  if not (base.support and base.support.is_discrete) then return enumeration.numbers(self) end
  if n == 0 then return base:enumerate_support() end
  local outcomes, parts = base:enumerate_support(), 1
  for i = 1, n do parts = parts * self.event_shape[i] end
  local size = core.numel(core.zeros(base.event_shape))
  if (#outcomes) ^ parts * size > LARGEST then
    raise("Independent:enumerate_support: there must be a million combinations of single outcomes at most")
  end
  local digits = all_digits(#outcomes, parts)
  local shape = events.joined(events.joined({ #digits }, batch), self.event_shape)
  if #base.event_shape > 0 or not are_common(outcomes) then
    local rows = events.joined(events.joined({ #outcomes }, batch), events.joined({ parts }, base.event_shape))
    return named_by(digits, outcomes:reshape(rows), #batch + 2):reshape(shape)
  end
  local column = outcomes:reshape(#outcomes, -1):select(-1, 1)
  local combinations = column[digits:reshape(-1)]:reshape(events.joined({ #digits }, self.event_shape))
  for _ = 1, #batch do combinations = combinations:unsqueeze(2) end
  return combinations:expand(shape)
end

return enumeration
