--- Levels: when an outcome of a law on the integers has reached a probability, for laws made of others.
--
-- As in src/kernel/outcome.h: a tail that misses its level by rounding alone has reached it, because levels
-- are often tails themselves.
local functions = require "perilune.functions"

local levels = {}

local where, minimum, abs = functions.where, functions.minimum, functions.abs
local EPS, HALF_ULP = 2 ^ -52, 2 ^ -54   -- half an ulp of a number between 1/2 and 1
local BLUR   = 2 ^ -48   -- rounded parameters may move outcomes by this part of them
local MARGIN = 2 ^ -40   -- more than the tails of any law are off by

--- Has the tail at outcome x reached the level `small`? The tail is the upper one where `upper` is 1; p is
-- the level that was asked for, `small` or 1 - small.
function levels.reached (self, x, tail, small, upper, p)
  local relative = EPS * where(functions.gt(small, 0), 64 - 4 * functions.log(small), 64)
  local rounded = functions.gt(p, 0.5) * functions.lt(p, 1)
  local blur = minimum(BLUR * (1 + abs(x)), 0.25) * self:prob(x + upper)   -- of an outcome in the tail
  local slack = relative * small + HALF_ULP * rounded + blur
  return where(upper, functions.le(tail, small + slack), functions.ge(tail, small - slack))
end

--- A level that is beyond p for certain, to have the outcome after the one that reaches p exactly: above it
-- for icdf (sign = 1), below it for isf (sign = -1).
function levels.beyond (p, sign)
  local step = where(functions.gt(p, 0.5), 2 * HALF_ULP, 0) + MARGIN * minimum(p, 1 - p)
  local inside = functions.gt(p, 0) * functions.lt(p, 1)
  return where(inside, p + sign * step, p)
end

return levels
