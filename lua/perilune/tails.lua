--- Both tails of a law at once: many find one from the other, and asked one by one they would take twice as long; laws
-- made of those that are made of others, four times.
local tails = {}

local known = {}   -- list of { class =, first =, second =, both = }

--- Says that both(d, x) returns what the methods `first` and `second` of a class do.
function tails.say (class, first, second, both)
  known[#known + 1] = { class = class, first = first, second = second, both = both }
end

-- What the methods of these names return for d at x. A class that has its own is asked for them.
local function both (d, x, first, second)
  local below, above = d[first], d[second]
  for _, pair in ipairs(known) do
    if pair.first == first and pair.class[first] == below and pair.class[second] == above then
      return pair.both(d, x)
    end
  end
  return below(d, x), above(d, x)
end

--- P(X <= x) and P(X > x).
function tails.plain (d, x) return both(d, x, "cdf", "sf") end

--- Their logarithms.
function tails.logarithms (d, x) return both(d, x, "log_cdf", "log_sf") end

return tails
