--- L-BFGS for plain functions of a vector, as the fits of this folder need it.
--
-- The direction is -H g by the two-loop recursion over the last `memory` pairs s = x' - x, y = g' - g. The line search
-- bisects for the weak Wolfe conditions, f(x + a p) <= f + C1 a g.p and g(x + a p).p >= C2 g.p.
local core = require "perilune.core"

local C1, C2   = 1e-4, 0.9
local SEARCHES = 40           -- points of a line search
local CURVED   = 1e-12        -- pairs with y.s <= CURVED |y|^2 say nothing

local lbfgs = {}

local function dot (a, b) return (a * b):sum() end

local function is_finite (x) return x - x == 0 end

-- The multiple of 1 that H begins with.
local function first_scale (pairs)
  local last = pairs[#pairs]
  return last and 1 / (last.rho * dot(last.y, last.y)) or 1
end

--- H g for the first n pairs of a state (all, unless told).
function lbfgs.direction (pairs, g, n)
  local q, alpha = g, {}
  n = n or #pairs
  for i = n, 1, -1 do
    local p = pairs[i]
    alpha[i] = p.rho * dot(p.s, q)
    q = q - alpha[i] * p.y
  end
  local z = q * first_scale(pairs)
  for i = 1, n do
    local p = pairs[i]
    z = z + (alpha[i] - p.rho * dot(p.y, z)) * p.s
  end
  return z
end

-- A step along p that satisfies the conditions: x, f, g there; or nil.
local function search (f, at, p, slope, first)
  local low, high, a = 0, math.huge, first
  for _ = 1, SEARCHES do
    local x = at.x + a * p
    local value, g = f(x)
    if not is_finite(value) or value > at.value + C1 * a * slope then high = a
    elseif dot(g, p) < C2 * slope then low = a
    else return x, value, g end
    a = high < math.huge and (low + high) / 2 or 2 * a
  end
  return nil
end

-- Notes a pair, if it says something of the curvature.
local function note (at, s, y, memory)
  local sy = dot(s, y)
  local says_something = sy > CURVED * dot(y, y)
  if not says_something then return end
  at.pairs[#at.pairs + 1] = { s = s, y = y, rho = 1 / sy }
  if #at.pairs > memory then table.remove(at.pairs, 1) end
end

--- Minimises f, which gives its value and gradient, from x on. Options: memory (6), iterations (200), `gain`: what is
-- left to gain, g'Hg/2, that is not worth a step; `on_step(state)` is called at every point. Returns the state: x,
-- value, gradient, pairs, iterations.
function lbfgs.minimise (f, x, options)
  local value, g = f(x)
  local at = { x = x, value = value, gradient = g, pairs = {}, iterations = 0 }
  local memory, on_step = options.memory or 6, options.on_step
  if not is_finite(value) then return at end
  if on_step then on_step(at) end
  while at.iterations < (options.iterations or 200) do
    local p = -lbfgs.direction(at.pairs, at.gradient)
    local slope = dot(p, at.gradient)
    local falls = slope < 0
    if not falls then
      if #at.pairs == 0 then break end
      at.pairs, p = {}, -at.gradient
      slope = dot(p, at.gradient)
    end
    if #at.pairs > 0 and -slope / 2 < (options.gain or 1e-9) or slope == 0 then break end
    local first = #at.pairs == 0 and math.min(1, 1 / math.sqrt(-slope)) or 1
    local new, new_value, new_g = search(f, at, p, slope, first)
    if not new then
      if #at.pairs == 0 then break end
      at.pairs = {}
    else
      note(at, new - at.x, new_g - at.gradient, memory)
      at.x, at.value, at.gradient = new, new_value, new_g
      if on_step then on_step(at) end
    end
    at.iterations = at.iterations + 1
  end
  return at
end

--- The diagonal of the inverse Hessian that the pairs of a state describe.
function lbfgs.inverse_diagonal (at)
  local h = core.full(core.shape(at.x), first_scale(at.pairs))
  for k, p in ipairs(at.pairs) do
    local hy = lbfgs.direction(at.pairs, p.y, k - 1)
    h = h - 2 * p.rho * p.s * hy + (p.rho + p.rho * p.rho * dot(hy, p.y)) * p.s * p.s
  end
  return h
end

return lbfgs
