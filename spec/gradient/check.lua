--- One check of gradients for everything that is recorded: the backward pass against slopes,
-- the same gradients whichever of the arguments are tracked, and the same from a replay.
local peri   = require "perilune"
local core   = require "perilune.core"
local slopes = require "spec.support.slopes"

local check = {}

local unpack = table.unpack

-- All elements of the operands in a row, and the other way round.
local function flatten (operands)
  local all = {}
  for _, t in ipairs(operands) do
    local flat = core.is_tensor(t) and core.bare(t):reshape(-1) or { t }
    for i = 1, #flat do all[#all + 1] = flat[i] end
  end
  return all
end

local function rebuild (operands, elements)
  local tensors, at = {}, 1
  for k, t in ipairs(operands) do
    local n = core.numel(t)
    tensors[k] = #core.shape(t) == 0 and peri.tensor(elements[at])
                 or peri.tensor { unpack(elements, at, at + n - 1) }:reshape(core.shape(t))
    at = at + n
  end
  return tensors
end

-- A number that weighs every element of the result differently.
local function weighted (f, arguments)
  local y = f(unpack(arguments))
  return peri.sum(y * peri.linspace(0.5, 1.5, core.numel(y)):reshape(core.shape(y)))
end

-- A set of operands is the sum of 2^(k - 1).
local function has (set, k) return math.floor(set / 2^(k - 1)) % 2 == 1 end

local function is_within (set, all, n)
  for k = 1, n do if has(set, k) and not has(all, k) then return false end end
  return true
end

-- Gradients with respect to those operands whose bit is set; zeros where none arrived, false for the others.
local function gradients (f, operands, set)
  local arguments, grads = {}, {}
  for k, t in ipairs(operands) do
    arguments[k] = has(set, k) and peri.param(t) or t
  end
  local loss = weighted(f, arguments)
  if core.tracked(loss) then loss:backward() end
  for k, t in ipairs(arguments) do grads[k] = core.tracked(t) and (t.grad or peri.zeros(t.shape)) end
  return grads
end

local function identical (a, b, slack)
  a, b = flatten { a }, flatten { b }
  for i = 1, #a do
    local is_same = a[i] == b[i] or math.abs(a[i] - b[i]) <= (slack or 0) * math.abs(b[i])
    if not is_same and not (a[i] ~= a[i] and b[i] ~= b[i]) then return false end
  end
  return true
end

-- Loss and gradients of f at operands, by a trace that was made elsewhere; nil where f cannot be traced, or draws.
local function replayed (f, operands, elsewhere)
  local params = {}
  for k, t in ipairs(elsewhere) do params[k] = peri.param(t) end
  local first
  local ok, trace = pcall(peri.trace, function ()
    first = weighted(f, params)
    return first
  end)
  if not ok then
    assert(tostring(trace):find("not within trace", 1, true) or tostring(trace):find("peri.func", 1, true)
           or tostring(trace):find("does not depend on any parameter", 1, true), trace)
    return
  end
  local then_, again = peri.item(first), trace()
  if again ~= then_ and again == again then return end   -- there were draws
  for k, p in ipairs(params) do p:copy(operands[k]) end
  local value, grads = trace:backward(), {}
  for k, p in ipairs(params) do grads[k] = p.grad or peri.zeros(p.shape) end
  return value, grads
end

-- How a replay differs from what is recorded anew; nil if it does not.
local function replay_mismatch (f, operands, grads)
  local elsewhere = {}
  for k, t in ipairs(operands) do elsewhere[k] = (core.is_tensor(t) and core.bare(t) or t) * (1 - 1e-9) end
  local ok, value, found = pcall(replayed, f, operands, elsewhere)
  if not ok then
    if tostring(value):find(" must be ", 1, true) then return end   -- elsewhere is not allowed
    return "a replay raised " .. tostring(value)
  end
  if not value then return end
  check.replays = check.replays + 1
  for k, g in ipairs(grads) do
    if g and not identical(g, found[k]) then
      return string.format("argument %d has another gradient in a replay: %s and %s", k, g, found[k])
    end
  end
end

check.replays = 0   -- that were compared

--- slopes.mismatch, which tries many steps, only where one step is not enough.
function check.slope_mismatch (f, point, partials, tolerance)
  for k, x in ipairs(point) do
    local moved = { unpack(point) }
    local function along (v)
      moved[k] = v
      return f(unpack(moved))
    end
    local slope, error = slopes.derivative(along, x, 0.01 * math.max(math.abs(x), 1e-3))
    local agrees = error <= tolerance * math.abs(slope) and math.abs(partials[k] - slope) <= tolerance * math.abs(slope)
    if not agrees then
      local why = slopes.mismatch(along, { x }, { partials[k] }, tolerance)
      if why then return "element " .. k .. ": " .. why end
    end
  end
end

--- Checks f(operands...), all tensors, at relative tolerance (1e-6 unless told). `fixed[k]`: operand k has
-- no derivative; `compared` is the function whose slopes f has, if not f. Gradients along some of the operands are
-- those along all, but for a part `slack` of them. Returns nil, or what is wrong.
function check.mismatch (f, operands, fixed, tolerance, compared, slack)
  local free, all = {}, 0
  for k = 1, #operands do
    if not (fixed and fixed[k]) then
      free[#free + 1] = operands[k]
      all = all + 2^(k - 1)
    end
  end
  local function with (moved)   -- the free operands among the fixed ones
    local arguments, at = {}, 1
    for k, t in ipairs(operands) do
      if fixed and fixed[k] then arguments[k] = t else arguments[k], at = moved[at], at + 1 end
    end
    return arguments
  end
  local grads = gradients(f, operands, all)
  local analytic = {}
  for _, g in ipairs(grads) do if g then analytic[#analytic + 1] = g end end
  local function value (...) return peri.item(weighted(compared or f, with(rebuild(free, { ... })))) end
  local why = check.slope_mismatch(value, flatten(free), flatten(analytic), tolerance or 1e-6)
  if why then return why end
  if not fixed then
    why = replay_mismatch(f, operands, grads)
    if why then return why end
  end
  for set = 1, 2^#operands - 1 do
    if is_within(set, all, #operands) and set ~= all then
      for k, g in ipairs(gradients(f, operands, set)) do
        if g and not identical(g, grads[k], slack) then
          return string.format("argument %d has another gradient where arguments %s alone are tracked", k, set)
        end
      end
    end
  end
end

return check
