--- How far rounding takes a function of a distribution: what it is for parameters a few ulps away.
local class     = require "perilune.class"
local functions = require "perilune.functions"

local rounding = {}

local abs, where = functions.abs, functions.where
local ULPS = 2.0 ^ -50

-- By what a rounded value of this parameter may be off, in units of `step`: integers are exact, and a logit may
-- come from a probability.
local function blur (param, x)
  if not param or type(param[2]) == "function" or param[2].is_discrete then return nil end
  return param.gives and 1 + abs(x) or abs(x)
end

local function param_of (c, name)
  for _, param in ipairs(c.params) do
    if param[1] == name then return param end
  end
end

--- Distributions like d, of class c, with one parameter after the other off by a part of `step`. None for classes
-- that are made of others.
function rounding.neighbours (d, c, step)
  local list = {}
  if c.construct then return list end
  for _, moved in ipairs(c.operands) do
    local off = blur(param_of(c, moved), d[moved])
    if off then
      local fields = { validate = false }
      for _, operand in ipairs(c.operands) do fields[operand] = d[operand] end
      fields[moved] = fields[moved] + step * off
      list[#list + 1] = c(fields)
    end
  end
  return list
end

--- A function of x and log p(x) that bounds the error of the latter, for a distribution of single numbers.
function rounding.of_log_prob (d)
  local list = rounding.neighbours(d, class.of(d), ULPS)
  return function (x, log_p)
    local noise = ULPS * (1 + abs(log_p))
    for _, near in ipairs(list) do noise = noise + abs(near:log_prob(x) - log_p) end
    return where(functions.isfinite(noise), noise, 0)
  end
end

return rounding
