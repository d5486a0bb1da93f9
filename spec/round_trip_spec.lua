-- Quantiles are where their levels say, at parameters of all sizes: the tail at a quantile has the level, but for what
-- rounding of the quantile does to it. And the density is the slope between two of them.
local peri        = require "perilune"
local Random      = require "spec.fuzz.random"
local params      = require "spec.fuzz.params"
local random_laws = require "spec.support.random_laws"

local LAWS   = 40
local LEVELS = { 1e-300, 1e-100, 1e-10, 0.01, 0.3, 0.5, 0.7, 0.99 }
local SIZES  = { 1e-100, 1e-40, 1e-20, 1e-8, 1e-3, 1e4, 1e9, 2 ^ 40, 1e15, 1e30, 1e100 }
local CLOSE  = 1e-6        -- logarithms of levels, or as a part of them
local ROUNDED = 2 ^ -46    -- part of a quantile, or of an end, that it may be off by

-- Parameters of a class by name, a third of them of any size.
local function given (random)
  return function (class, k)
    local values = params.batch(random, class, k)
    for _, param in ipairs(values and class.params or {}) do
      local list = values[param[1]] or {}
      for i = 1, #list do
        if math.type(list[i]) == "float" and random:once_in(3) then list[i] = random:pick(SIZES) end
      end
    end
    return values
  end
end

-- The size of x, or of what it is measured from.
local function size_of (d, x)
  local size = math.max(math.abs(x), math.abs(type(d.loc) == "number" and d.loc or 0))
  for _, e in ipairs { d.support.low, d.support.high } do
    if math.abs(e) < math.huge then size = math.max(size, math.abs(e)) end
  end
  return size
end

-- The least and the largest logarithm of a tail close to x, in steps where the law has outcomes.
local function range (d, log_tail, x)
  local step = ROUNDED * size_of(d, x) + (d.support.is_discrete and 1 or 0) + 1e-323
  local a, b, c = d[log_tail](d, x - step), d[log_tail](d, x), d[log_tail](d, x + step)
  return math.min(a, b, c), math.max(a, b, c), a + b + c
end

-- What is wrong with the quantile of this level, or nil.
local function fault (d, quantile, log_tail, level)
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

-- What is wrong with the density between the quantiles of this level and of a thousandth more, or nil: where they have
-- digits enough to tell.
local function slope_fault (d, quantile, level)
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

-- Faults of a law at all levels, from both ends; how many were looked for.
local function check (code)
  local d, count = random_laws.evaluate(code), 0
  for _, level in ipairs(LEVELS) do
    for _, way in ipairs { { "icdf", "log_cdf" }, { "isf", "log_sf" } } do
      local what = fault(d, way[1], way[2], level)
      what = what or not d.support.is_discrete and level < 0.9 and slope_fault(d, way[1], level) or nil
      assert(what == nil, ("%s:%s(%g) %s"):format(code, way[1], level, what))
      count = count + 1
    end
  end
  return count
end

describe("Quantiles meet their levels, and densities their slope:", function ()
  for _, name in ipairs(peri.distributions()) do
    local random = Random.new(11)
    if random_laws.plain(name, 1, given(random)) then
      it(name, function ()
        local count = 0
        for _ = 1, LAWS do
          local code = random_laws.plain(name, 1, given(random))
          count = count + (code and check(code) or 0)
        end
        assert(count > LAWS * #LEVELS, count)
      end)
    end
  end
end)
