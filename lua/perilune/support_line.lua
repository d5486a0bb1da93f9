--- The support of a law as a line: x(t) runs from one end to the other as t does over all numbers.
--
--   c + w sinh t on the real line,    low + w e^t above an end,    a logistic curve between two
--
-- Close to an end x is rounded, and t and dx/dt are not.
local functions = require "perilune.functions"

local where, maximum, minimum, abs = functions.where, functions.maximum, functions.minimum, functions.abs
local exp, log, log1p, lt, gt      = functions.exp, functions.log, functions.log1p, functions.lt, functions.gt

local function sinh (t)
  local size = abs(t)
  return 0.5 * functions.sign(t) * (functions.expm1(size) - functions.expm1(-size))
end

local function asinh (y)
  local size = abs(y)
  local near = minimum(size, 1e100)
  local part = log1p(near + near * near / (1 + functions.sqrt(1 + near * near)))
  return functions.sign(y) * where(gt(size, 1e100), log(size) + math.log(2), part)
end

local support_line = {}

--- x(t), log dx/dt = log_slope(t) and t(x), for t and x of shape { n, element }, between ends of shape { element }.
-- c and w are centre and width.
function support_line.new (low, high, c, w)
  local has_low, has_high = low:isfinite(), high:isfinite()
  local between, one = has_low * has_high, maximum(has_low, has_high)
  local from, to = where(has_low, low, 0), where(has_high, high, 0)
  local sign, foot, span = where(has_low, 1, -1), where(has_low, from, to), where(between, high - low, 1)
  local share = where(between, minimum(maximum((c - from) / span, 1e-3), 1 - 1e-3), 0.5)
  local shift = log(share / (1 - share))
  local line = {}
  function line.x (t)
    local u = t + shift
    local inside = where(lt(u, 0), from + span * functions.sigmoid(u), to - span * functions.sigmoid(-u))
    return where(between, inside, where(one, foot + sign * w * exp(sign * t), c + w * sinh(t)))
  end
  function line.log_slope (t)
    local u, size = t + shift, abs(t)
    local inside = log(span) - abs(u) - 2 * log1p(exp(-abs(u)))
    local wide = log(w) + size + log1p(exp(-2 * size)) - math.log(2)
    return where(between, inside, where(one, log(w) + sign * t, wide))
  end
  function line.t (x)
    local inside = log((x - from) / (to - x)) - shift
    return where(between, inside, where(one, sign * log(sign * (x - foot) / w), asinh((x - c) / w)))
  end
  return line
end

return support_line
