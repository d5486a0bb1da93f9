--- Numerical derivatives to check analytic ones by: Ridders' method, central
-- differences extrapolated to step 0, with an estimate of their error.
local tensor = require "perilune.tensor"

local slopes = {}

local SHRINK, COLUMNS = 1.6, 10

-- Central difference, and what rounding may have done to it.
local function central (f, x, h)
  local up, down = x + h, x - h   -- the step as it was rounded
  local above, below = f(up), f(down)
  return (above - below) / (up - down), 1e-15 * (math.abs(above) + math.abs(below)) / h
end

--- Derivative of f at x and its estimated error, starting from step h.
function slopes.derivative (f, x, h)
  local previous, best, error = {}, 0 / 0, math.huge
  for i = 1, COLUMNS do
    local slope, rounding = central(f, x, h)
    local row, factor = { slope }, SHRINK ^ 2
    for j = 2, i do
      row[j] = (row[j - 1] * factor - previous[j - 1]) / (factor - 1)
      factor = factor * SHRINK ^ 2
      local e = math.max(math.abs(row[j] - row[j - 1]), math.abs(row[j] - previous[j - 1])) + rounding
      if e <= error then best, error = row[j], e end
    end
    if i > 1 and math.abs(row[i] - previous[i - 1]) >= 2 * error then break end
    previous, h = row, h / SHRINK
  end
  return best, error
end

-- The derivative from the starting step that promises the smallest error.
local function best_derivative (f, x)
  local best, error = 0 / 0, math.huge
  for exponent = 0, -6, -1 do
    local value, e = slopes.derivative(f, x, 0.02 * (x ~= 0 and math.abs(x) or 1e-3) * 10 ^ exponent)
    if e < error then best, error = value, e end
  end
  return best, error
end

--- Checks all partials of f at a point. `partials` are the analytic ones;
-- returns nil, or a text naming the first that is off by more than `tolerance`.
function slopes.mismatch (f, point, partials, tolerance)
  for k, x in ipairs(point) do
    local function along (v)
      local moved = { table.unpack(point) }
      moved[k] = v
      return f(table.unpack(moved))
    end
    local numeric, error = best_derivative(along, x)
    local bound = tolerance * math.max(math.abs(numeric), 1e-4) + 4 * error
    local agrees = math.abs(partials[k] - numeric) <= bound   -- false for NaN
    if not agrees then
      return string.format("partial %d at (%s) is %.12g, slope %.12g +- %.1g", k, table.concat(point, ", "),
                           partials[k], numeric, error)
    end
  end
end

--- Checks the adjoint of a row kernel. `operands` are tensors without batch,
-- value(...) gives a tensor, adjoint(..., upstream) one tensor an operand; those
-- named in `fixed` are not differentiated. Returns nil, or what is wrong.
function slopes.adjoint_mismatch (value, adjoint, operands, upstream, tolerance, fixed)
  local n = #operands
  local arguments = { table.unpack(operands) }
  arguments[n + 1] = upstream
  local analytic = { adjoint(table.unpack(arguments, 1, n + 1)) }
  for k = 1, n do
    local flat = operands[k]:reshape(-1)
    for e = 1, (fixed and fixed[k]) and 0 or #flat do
      local function along (v)
        local moved = flat:clone()
        moved[e] = v
        local changed = { table.unpack(operands) }
        changed[k] = moved:reshape(operands[k].shape)
        return tensor.sum(value(table.unpack(changed)) * upstream)
      end
      local numeric, error = best_derivative(along, flat[e])
      local got = analytic[k]:reshape(-1)[e]
      local agrees = math.abs(got - numeric) <= tolerance * math.max(math.abs(numeric), 1e-4) + 4 * error
      if not agrees then
        return string.format("adjoint of operand %d, element %d is %.12g, slope %.12g +- %.1g", k, e, got, numeric,
                             error)
      end
    end
  end
end

return slopes
