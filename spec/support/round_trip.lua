--- Are quantiles where their levels say? The tail at a quantile has the level, but for what rounding of the quantile
-- does to it; and the density is the slope between two of them.
local round_trip = {}

local CLOSE   = 1e-6      -- logarithms of levels, or as a part of them
local ROUNDED = 2 ^ -46   -- part of a quantile, or of an end, that it may be off by

-- The size of x, or of what it is measured from: ends, and locations of the laws that d is made of.
local function size_of (d, x)
  local size = math.max(math.abs(x), math.abs(type(d.loc) == "number" and d.loc or 0))
  for _, e in ipairs { d.support.low, d.support.high } do
    if type(e) == "number" and math.abs(e) < math.huge then size = math.max(size, math.abs(e)) end
  end
  return size
end

-- The least and the largest logarithm of a tail close to x, in steps where the law has outcomes.
local function range (d, log_tail, x)
  local step = ROUNDED * size_of(d, x) + (d.support.is_discrete and 1 or 0) + 1e-323
  local a, b, c = d[log_tail](d, x - step), d[log_tail](d, x), d[log_tail](d, x + step)
  return math.min(a, b, c), math.max(a, b, c), a + b + c
end

--- What is wrong with the quantile of this level, or nil.
function round_trip.fault (d, quantile, log_tail, level)
  local x = d[quantile](d, level)
  if x ~= x then return "is nan" end
  if math.abs(x) > 1e300 or x == d.support.low or x == d.support.high then return nil end   -- no number is between
  local least, most, sum = range(d, log_tail, x)
  if sum ~= sum or most > 0 then return ("is %.17g, where tails are %s to %s"):format(x, least, most) end
  local goal, slack = math.log(level), CLOSE * math.max(1, -math.log(level))
  if goal < least - slack or goal > most + slack then
    return ("is %.17g, where %s is %.15g to %.15g and not %.15g"):format(x, log_tail, least, most, goal)
  end
end

--- What is wrong with the density between the quantiles of this level and of a thousandth more, or nil: where they have
-- digits enough to tell.
function round_trip.slope_fault (d, quantile, level)
  local x, y = d[quantile](d, level), d[quantile](d, level * 1.001)
  local way = math.abs(y - x)
  if not (way > 1e-8 * size_of(d, x) and way > 1e-300 and way < 1e300) then return nil end
  local a, b = d:log_prob(x), d:log_prob(y)
  local slope = math.log(level * 0.001) - math.log(way)
  local is_smooth, is_nothing = math.abs(a - b) < 1, math.max(a, b) == -math.huge
  if is_nothing or is_smooth and (slope < math.min(a, b) - 0.02 or slope > math.max(a, b) + 0.02) then
    return ("has densities e^%.15g to e^%.15g and not e^%.15g"):format(a, b, slope)
  end
end

--- What is wrong with the quantiles of levels 0 and 1, or nil: they are the ends of the support, or of a law that is a
-- single point, that.
function round_trip.end_fault (d)
  local low, high, point = d.support.low or -math.huge, d.support.high or math.huge, d:icdf(0.5)
  local is_point = d:icdf(1e-10) == point and d:isf(1e-10) == point
  for name, ends in pairs { icdf = { low, high }, isf = { high, low } } do
    for level = 0, 1 do
      local x, expected = d[name](d, level), ends[level + 1]
      if x ~= expected and not (is_point and x == point) then
        return ("%s(%d) is %.17g and not %.17g"):format(name, level, x, expected)
      end
    end
  end
end

return round_trip
