-- Quantiles are where their levels say, at parameters of all sizes: the tail at a quantile has the level, but for what
-- rounding of the quantile does to it. And the density is the slope between two of them.
local peri        = require "perilune"
local Random      = require "spec.fuzz.random"
local params      = require "spec.fuzz.params"
local random_laws = require "spec.support.random_laws"
local round_trip  = require "spec.support.round_trip"

local LAWS   = 40
local LEVELS = { 1e-300, 1e-100, 1e-10, 0.01, 0.3, 0.5, 0.7, 0.99 }
local SIZES  = { 1e-100, 1e-40, 1e-20, 1e-8, 1e-3, 1e4, 1e9, 2 ^ 40, 1e15, 1e30, 1e100 }

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

-- Faults of a law at all levels, from both ends; how many were looked for.
local function check (code)
  local d, count = random_laws.evaluate(code), 0
  for _, level in ipairs(LEVELS) do
    for _, way in ipairs { { "icdf", "log_cdf" }, { "isf", "log_sf" } } do
      local what = round_trip.fault(d, way[1], way[2], level)
      what = what or not d.support.is_discrete and level < 0.9 and round_trip.slope_fault(d, way[1], level) or nil
      assert(what == nil, ("%s:%s(%g) %s"):format(code, way[1], level, what))
      count = count + 1
    end
  end
  local why = not d.is_circular and round_trip.end_fault(d)
  assert(not why, ("%s:%s"):format(code, why))
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
