--- L-BFGS: quasi-Newton steps from the last pairs of moves and changes of the gradient.
--
-- The direction comes from the two-loop recursion, the length of the step from a line search for the strong Wolfe
-- conditions (Nocedal and Wright, Numerical Optimization, algorithms 7.4, 3.5 and 3.6):
--
--   f(x + t d) <= f(x) + C1 t f'(x) d,    |f'(x + t d) d| <= C2 |f'(x) d|
--
-- Convergence is told without units: neither the scale of the objective nor those of the parameters matter. With H the
-- inverse Hessian that the pairs know, g'Hg/2 is what is left to gain (the square of Newton's decrement). The search
-- ends when sqrt(g'Hg) is at most tolerance_grad times the root of what the last WINDOW steps gained, or those gained
-- less than tolerance_change times |f|, or all that is left is rounding. While there are fewer pairs than parameters
-- one more step has to gain no more than that.
--
-- The objective must not change between evaluations: randomness has to be fixed.
local core      = require "perilune.core"
local raise     = require "perilune.errors".raise
local functions = require "perilune.functions"
local Optimiser = require "perilune.optim.optimiser"
local params    = require "perilune.optim.params"
local show      = require "perilune.show"
local tensor    = require "perilune.tensor"

local C1, C2 = 1e-4, 0.9
local MOST_TRIALS = 25      -- of one line search
local FURTHEST = 10         -- times the last step, when the search still goes outwards
local NEAR = 0.1            -- of an interval is close to its end
local WINDOW = 10           -- steps whose gain is the measure of what is left
local ULP = 2.2e-16         -- rounding errors of the objective
local FLATTEST = 2.2e-16    -- a pair says something when s.y > FLATTEST y.y

local rules = Optimiser.rules
local inner = core.bind_sum("op/arithmetic", "mul", "inner", { "x", "y" }, { "x", "y" })

local function dot (x, y) return core.item(inner(x, y)) end


-- The line search --------------------------------------------------------------

-- Where the cubic with the values and slopes of two points has its minimum; nan, if it has none.
local function cubic_minimum (a, b)
  if a.t > b.t then a, b = b, a end
  local width = b.t - a.t
  local bend = a.slope + b.slope - 3 * (b.value - a.value) / width
  local root = math.sqrt(bend * bend - a.slope * b.slope)
  return b.t - width * (b.slope + root - bend) / (b.slope - a.slope + 2 * root)
end

-- A trial further out, after two points where the way still goes down: halfway to the furthest, if the cubic sees no
-- minimum there.
local function trial_beyond (last, trial)
  local least, most = trial.t + 0.01 * (trial.t - last.t), FURTHEST * trial.t
  local t = cubic_minimum(last, trial)
  return t > trial.t and math.min(math.max(t, least), most) or (least + most) / 2
end

-- A trial between two points: not close to either, twice in a row or at the end itself.
local function trial_between (a, b, was_near)
  local low, high = math.min(a.t, b.t), math.max(a.t, b.t)
  local t, margin = cubic_minimum(a, b), NEAR * (high - low)
  t = t == t and math.min(math.max(t, low), high) or (low + high) / 2
  local near = math.min(high - t, t - low) < margin
  if near and (was_near or t <= low or t >= high) then
    return high - t < t - low and high - margin or low + margin, false
  end
  return t, near
end

-- Searches along a line: start is the point at 0, phi(t) gives that at t.
local function line_search (phi, start, first, tolerance)
  local trials = 0
  local function try (t)
    trials = trials + 1
    return phi(t)
  end
  local function sufficient (p) return p.value <= start.value + C1 * p.t * start.slope end
  local function flat (p) return math.abs(p.slope) <= -C2 * start.slope end

  -- Between low, the best so far, and high lies a step that does.
  local function zoom (low, high)
    local t, near
    while trials < MOST_TRIALS and math.abs(high.t - low.t) > tolerance * math.max(high.t, low.t) do
      t, near = trial_between(low, high, near)
      local trial = try(t)
      if not sufficient(trial) or trial.value >= low.value then
        high = trial
      else
        if flat(trial) then return trial end
        if trial.slope * (high.t - low.t) >= 0 then high = low end
        low = trial
      end
    end
    return low
  end

  local last, trial = start, try(first)
  while trials < MOST_TRIALS do
    if not sufficient(trial) or (trials > 1 and trial.value >= last.value) then return zoom(last, trial) end
    if flat(trial) then return trial end
    if trial.slope >= 0 then return zoom(trial, last) end
    last, trial = trial, try(trial_beyond(last, trial))
  end
  return sufficient(trial) and trial or last
end


-- The optimiser ----------------------------------------------------------------

-- All parameters, or their gradients, as one vector.
local function gathered (self, of)
  local parts = {}
  for i, entry in ipairs(self.entries) do parts[i] = of(entry) end
  return #parts == 1 and parts[1]:clone() or tensor.cat(parts)
end

local function value_of (entry) return entry.value end
local function gradient_of (entry) return params.gradient(entry) or core.zeros(entry.size) end

local function scatter (self, x)
  local at = 1
  for _, entry in ipairs(self.entries) do
    if entry.size > 0 then entry.value:copy(x:narrow(1, at, entry.size)) end
    at = at + entry.size
  end
end

local function has_gradient (self)
  for _, entry in ipairs(self.entries) do
    if core.grad(entry.param) then return true end
  end
  return false
end

-- Value and gradient at x, where the parameters are then; what is not finite counts as infinitely high.
local function evaluate (self, closure, x)
  scatter(self, x)
  self:zero_grad()
  self.evaluations = self.evaluations + 1
  local loss = closure()
  local value = core.is_tensor(loss) and core.numel(loss) == 1 and core.item(loss) or loss
  if type(value) ~= "number" then
    raise("LBFGS: the closure must return its loss, a single number, got %s", show.value(loss))
  elseif not has_gradient(self) then
    raise("LBFGS: the closure must call backward() on its loss")
  end
  local point = { x = x, value = value, gradient = gathered(self, gradient_of) }
  local total = core.item(functions.abs(point.gradient):sum())
  if value ~= value or total ~= total or total == math.huge then point.value = math.huge end
  return point
end

-- Minus the inverse Hessian, as the pairs know it, times the gradient.
local function direction (pairs_known, gradient)
  local d, alpha = -gradient, {}
  for i = #pairs_known, 1, -1 do
    local pair = pairs_known[i]
    alpha[i] = dot(pair.s, d) / pair.sy
    d = d - alpha[i] * pair.y
  end
  local last = pairs_known[#pairs_known]
  if last then d = d * (last.sy / dot(last.y, last.y)) end
  for i, pair in ipairs(pairs_known) do d = d + (alpha[i] - dot(pair.y, d) / pair.sy) * pair.s end
  return d
end

local function remember (self, s, y)
  local sy, known = dot(s, y), self.memory
  if sy <= FLATTEST * dot(y, y) then return end
  if #known == self.history_size then table.remove(known, 1) end
  known[#known + 1] = { s = s, y = y, sy = sy }
end

-- Do the pairs know all directions, or as many as they ever will?
local function knows_all (self, point)
  return #self.memory >= math.min(core.numel(point.x), self.history_size)
end

-- From a point to the next one, or nil where there is no way down; and whether that was the last one. The steps before
-- have gained so much. That little is left to gain is believed where the pairs know all directions; else a step must
-- show it, since what they take for the curvature of the others may be wrong by any factor.
local function advance (self, closure, point, gained)
  local d = direction(self.memory, point.gradient)
  point.t, point.slope = 0, dot(point.gradient, d)
  local little = math.max(self.tolerance_grad ^ 2 * gained, ULP * math.abs(point.value))
  local is_low = #self.memory > 0 and -point.slope <= little
  if point.slope == 0 or is_low and knows_all(self, point) then return nil end
  local first = self:rate()
  if #self.memory == 0 then first = first * math.min(1, 1 / core.item(functions.abs(point.gradient):sum())) end
  local function phi (t)
    local trial = evaluate(self, closure, point.x + t * d)
    trial.t, trial.slope = t, dot(trial.gradient, d)
    return trial
  end
  local found = line_search(phi, point, first, self.tolerance_change)
  if found == point then return nil end
  remember(self, found.x - point.x, found.gradient - point.gradient)
  return found, is_low and point.value - found.value <= little
end

-- Up to max_iter steps of the method. Returns the loss where the parameters are left, and whether a tolerance was
-- reached.
local function step (self, closure)
  if type(self.memory) ~= "table" then raise("LBFGS: memory must be a table, got %s", show.value(self.memory)) end
  if type(closure) ~= "function" then
    raise("LBFGS: step takes a closure that calls backward() on its loss and returns it, got %s", show.value(closure))
  end
  closure = core.located(closure)
  local most = self.evaluations + (self.max_eval or math.floor(self.max_iter * 5 / 4))
  local point = evaluate(self, closure, gathered(self, value_of))
  if point.value == math.huge then raise("LBFGS: loss and gradient must be finite at the start") end
  local values, converged = { point.value }, false
  for n = 1, self.max_iter do
    local gained = values[math.max(1, n - WINDOW)] - point.value
    local slow = n > WINDOW and gained <= self.tolerance_change * math.abs(point.value)
    local found, is_last
    if not slow then found, is_last = advance(self, closure, point, gained) end
    converged = not found or is_last
    if not found then break end
    point, values[n + 1] = found, found.value
    self:count_step()
    if converged or self.evaluations >= most then break end
  end
  scatter(self, point.x)
  return point.value, converged
end

local function save (self)
  local saved = {}
  for i, pair in ipairs(self.memory) do saved[i] = { s = pair.s:totable(), y = pair.y:totable() } end
  return saved
end

local function load (self, saved)
  local memory, size = {}, 0
  for _, entry in ipairs(self.entries) do size = size + entry.size end
  for i, pair in ipairs(saved) do
    if type(pair) ~= "table" then return nil end
    local s, y = self.numbers(pair.s, size), self.numbers(pair.y, size)
    if not s or not y then return nil end
    memory[i] = { s = s, y = y, sy = dot(s, y) }
  end
  return memory
end

--@ peri.optim.LBFGS(params, options) -> Optimiser
-- L-BFGS: quasi-Newton steps with a search along each direction, for objectives without noise. step(closure) does up
-- to max_iter iterations and returns the loss and whether a tolerance was reached; the closure calls backward and
-- returns the loss. Tolerances have no units.
--   params   parameter, or a (nested) table of parameters
--   options  lr = length of the first trial of each search (1); max_iter = iterations of one step (20); max_eval =
--            evaluations of one step, 1.25 max_iter unless told; tolerance_grad = ends where what is left to gain is
--            so small beside what was gained (1e-7); tolerance_change = ends where the last ten steps gained less than
--            this share of the loss (1e-9); history_size = steps that the curvature is learnt from (100)
-- > x = param { -1.2, 1 }
-- > opt = optim.LBFGS(x, { max_iter = 100, max_eval = 200 })
-- > loss, converged = opt:step(function ()
-- >   local value = (1 - x[1]) ^ 2 + 100 * (x[2] - x[1] ^ 2) ^ 2
-- >   value:backward()
-- >   return value
-- > end)
-- > converged, allclose(x:detach(), { 1, 1 }, 1e-6)
-- true  true
return Optimiser.kind {
  name = "LBFGS",
  options = {
    { "lr", 1, rules.positive }, { "max_iter", 20, rules.count }, { "max_eval", nil, rules.count_or_none },
    { "tolerance_grad", 1e-7, rules.nonnegative }, { "tolerance_change", 1e-9, rules.nonnegative },
    { "history_size", 100, rules.count },
  },
  start = function (self) self.memory, self.evaluations = {}, 0 end,
  step = step, save = save, load = load,
}
