--- How far rounding takes a function of a distribution: what it is for parameters a few ulps away.
local class     = require "perilune.class"
local core      = require "perilune.core"
local functions = require "perilune.functions"
local matrices  = require "perilune.matrices"

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

-- Logits of probabilities are rounded: they move KL by no more than the sum of |p - q|, which is sqrt(2 KL) at most,
-- times what they are off by, and the square of that.
local function of_logits (d, value, has_rows)
  local size = where(functions.isfinite(d.logits), abs(d.logits), 0)
  if has_rows then size = size:max(-1) end
  local off = ULPS * (1 + size) * functions.sqrt(functions.maximum(d.total_count or 1, 1))
  return off * (functions.sqrt(2 * abs(value)) + off)
end

local CAREFUL = 2.0 ^ 16   -- a factor that loses more than this is computed with twice the digits

-- With x = l^-1 a rounded covariance moves a pivot by up to spread_i^2 ulps, spread_i = sum_j |x_ij| sqrt(a_jj).
local function of_factor (l, value)
  l = core.bare(l)
  local squares = (l * l):sum(-1)
  local lost = (squares / functions.square(matrices.diagonal(l))):max(-1)
  local spread = abs(matrices.triangular_inverse(l)):matmul(functions.sqrt(squares):unsqueeze(-1)):squeeze(-1):max(-1)
  local part = 2.0 ^ -52 * where(functions.le(lost, CAREFUL), functions.square(spread), 1)
  local side, size = core.shape(l)[core.rank(l)], abs(value)
  return part * (size + functions.sqrt(2 * side * size) + part * side)
end

--- What a KL divergence of this value is off by as operands of d follow from other parameters, that were given.
function rounding.of_conversions (d, value)
  local c, sum = class.of(d), 0
  for _, param in ipairs(c.construct and {} or c.params) do
    for operand in pairs(rawget(d, param[1]) ~= nil and param.gives or {}) do
      if operand == "logits" then sum = sum + of_logits(d, value, param.event) end
      if operand:find "scale_tril$" then sum = sum + of_factor(d[operand], value) end
    end
  end
  return where(functions.isfinite(sum), sum, 0)
end

return rounding
