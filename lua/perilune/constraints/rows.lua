--- Constraints of rows.
local core = require "perilune.core"
local rows = require "perilune.constraint_rows"
local show = require "perilune.show"

local with, is_nan = rows.with, rows.is_nan

local function is_negative (v) return v ~= v or v < 0 end
local function is_not_positive (v) return v ~= v or v <= 0 end
local function is_no_count (v) return is_negative(v) or v % 1 ~= 0 end
local function is_no_bit (v) return v ~= 0 and v ~= 1 end

local function sum (event) return "a row that sums to " .. show.number(core.item(event:sum())) end

local function length (event) return "a row of length " .. show.number(core.item((event * event):sum()) ^ 0.5) end

local function descent (event)
  for i = 2, #event do
    if event[i] <= event[i - 1] then
      return string.format("a row with %s before %s", show.number(event[i - 1]), show.number(event[i]))
    end
  end
end

local simplex = rows.kind("simplex", 1, "a simplex (non-negative, summing to 1)", { with(is_negative), sum })()
local one_hot = rows.kind("one_hot", 1, "one-hot (a single 1 among zeros)", { with(is_no_bit), sum })()
one_hot.is_discrete = true

local multinomial = rows.kind("multinomial", 1, function (self)
  return "counts that sum to " .. show.parameter(self.total_count)
end, { with(is_no_count), sum }, { "total_count" })
multinomial.is_discrete = true

local ordered_vector = rows.kind("ordered_vector", 1, "in increasing order", { with(is_nan), descent })()
local positive_ordered = rows.kind("positive_ordered", 1, "positive and in increasing order",
                                   { with(is_not_positive), descent })()
local sphere         = rows.kind("sphere", 1, "a unit vector", { with(is_nan), length })()

return {
  simplex = simplex, one_hot = one_hot, multinomial = multinomial, sphere = sphere,
  ordered_vector = ordered_vector, ordered = ordered_vector, positive_ordered = positive_ordered,
}
