--- Variational inference: peri.vi.fit { log_joint = ..., params = ... } fits a Gaussian guide to a model.
--
-- The guide lives on free numbers u, which biject_to brings to the parameters theta = T(u). Steps of an optimiser
-- raise the evidence lower bound, estimated from a few reparameterised draws,
--
--   ELBO = E[log_joint(T(u)) + log|det dT/du|] + entropy of the guide
--
-- What is reported of it has minus the density of each draw in place of the entropy, which is the same on average and
-- varies less: not at all where the guide is the posterior.
--
-- Convergence: the learning rate falls in stages. A stage ends when the last third of its windows is not better than
-- the third before by more than `tolerance` times the ELBO; when the last stage ends, the fit has converged.
local core   = require "perilune.core"
local Guide  = require "perilune.vi.guide"
local errors = require "perilune.errors"
local optim  = require "perilune.optim"
local Result = require "perilune.vi.result"
local show   = require "perilune.show"
local Space  = require "perilune.vi.space"

local WINDOW = 50                          -- steps between looks at the trace
local LEAST  = 4                           -- windows of a stage
local STAGES = { 1, 0.3, 0.09, 0.027 }     -- factors of the learning rate
local EVALUATION = 2000                    -- draws for the ELBO of a result

local is_tensor, rank, finite_grad = core.is_tensor, core.rank, core.finite_grad

local TERMS = { "joint", "log_det", "surprise" }
local loss_of = core.bind("variational", "loss", "vi", TERMS, TERMS)

local raise = errors.raise

local vi, Fit = {}, {}
Fit.__index = Fit

local function is_count (x) return math.type(x) == "integer" and x > 0 end
local function is_positive (x) return type(x) == "number" and x > 0 and x < math.huge end
local function is_callable (x) return type(x) == "function" or (getmetatable(x) or {}).__call ~= nil end
local function is_boolean (x) return type(x) == "boolean" end

-- Name, default, rule in words, rule.
local OPTIONS = {
  { "log_joint", nil, "a function of the parameters", is_callable },
  { "params", nil, "a table", function (x) return type(x) == "table" end },
  { "guide", "meanfield", '"meanfield" or "fullrank"', function (x) return x == "meanfield" or x == "fullrank" end },
  { "steps", 10000, "a positive integer", is_count },
  { "samples", 4, "a positive integer", is_count },
  { "lr", 0.05, "positive", is_positive },
  { "tolerance", 1e-3, "positive", is_positive },
  { "optimiser", "Adam", "the name of an optimiser that steps without a closure, or a function giving one",
    function (x) return is_callable(x) or x ~= "LBFGS" and rawget(optim, x) ~= nil end },
  { "trace", false, "true or false", is_boolean },
  { "rng", false, "a generator (see peri.rng)", function (x) return x == false or type(x) == "userdata" end },
  { "progress", false, "true or false", is_boolean },
  { "on_step", false, "a function (step, elbo, fit)", function (x) return x == false or is_callable(x) end },
}

local function read_options (given)
  if type(given) ~= "table" then
    raise("vi: takes a table { log_joint =, params =, ... }, got %s", show.value(given))
  end
  local options, names = {}, {}
  for i, option in ipairs(OPTIONS) do names[i] = option[1] end
  errors.check_options("vi", given, names)
  for _, option in ipairs(OPTIONS) do
    local name, value = option[1], given[option[1]]
    if value == nil then value = option[2] end
    if not option[4](value) then
      raise("vi: %s must be %s, got %s", name, option[3], show.value(value))
    end
    options[name] = value
  end
  return options
end


-- What is not finite, and whose fault it is -------------------------------------------------

local function is_finite (x) return x - x == 0 end

local function joint_of (self, theta)
  local value = self.log_joint(theta)
  if is_tensor(value) then
    if rank(value) == 0 then return value end
    if core.numel(value) == 1 then return value:sum() end
  elseif type(value) == "number" then return value end
  raise("vi: log_joint must return a number or a tensor of one element, got %s", show.value(value))
end

local function number_of (x) return is_tensor(x) and core.item(x) or x end

-- Parameters in a message: "mu = 0, tau = 1"; only the one of a name, if there is a name.
local function shown (self, u, name)
  local parts = {}
  for _, site in ipairs(self.space) do
    if not name or name == site.name then
      parts[#parts + 1] = site.name .. " = " .. show.parameter(self.space.value(site, u:detach()))
    end
  end
  return table.concat(parts, ", ")
end

-- log_joint with its determinant at u, as a number.
local function density_at (self, u)
  return core.no_grad(function ()
    local theta, log_det = self.space:parameters(u)
    return number_of(joint_of(self, theta) + log_det)
  end)
end

local function check_start (self)
  local start = self.space:start()
  local value = density_at(self, start)
  if not is_finite(value) then
    raise("vi: log_joint is %s where the fit starts, at %s", show.number(value), shown(self, start))
  end
end

-- The name of the parameter that makes log_joint not finite at u, all others being where the fit started; nil if none
-- does alone.
local function culprit (self, u)
  local start = self.space:start()
  for _, site in ipairs(self.space) do
    local mixed = start:clone()
    mixed:narrow(1, site.at, site.size):copy(u:narrow(1, site.at, site.size))
    if not is_finite(density_at(self, mixed)) then return site.name end
  end
end

-- The draw of some noise.
local function drawn (self, noise) return self.guide:draw(noise:detach()):detach() end

-- Raises and names the parameter because of which the ELBO of a draw is not finite.
local function complain (self, noise, value)
  local u = drawn(self, noise)
  raise("vi: the ELBO is %s at step %d, because of %s", show.number(value), #self.elbo + 1,
        shown(self, u, culprit(self, u)))
end

-- Raises because a gradient is not finite, and names the parameter to which it belongs.
local function complain_of_gradient (self, noise)
  local u, grad = drawn(self, noise), self.guide.params.loc.grad
  for _, site in ipairs(self.space) do
    local total = core.item(grad:narrow(1, site.at, site.size):sum())
    if not is_finite(total) then
      raise("vi: the gradient of log_joint is %s at step %d, because of %s", show.number(total), #self.elbo + 1,
            shown(self, u, site.name))
    end
  end
end


-- Fits --------------------------------------------------------------------------------

local function new (given)
  local self = setmetatable(read_options(given), Fit)
  self.log_joint = core.located(self.log_joint)
  local space = Space.new(self.params)
  self.space, self.guide_kind = space, self.guide
  check_start(self)
  self.guide = Guide.new(self.guide_kind, space:start())
  self.rng = self.rng or nil
  self.elbo, self.windows, self.stage, self.converged = {}, {}, 1, false
  local make = type(self.optimiser) == "string" and optim[self.optimiser] or self.optimiser
  self.optimiser = make(self.guide.params, { lr = self.lr }):schedule(function () return STAGES[self.stage] end)
  return self
end

-- Minus the estimate of the ELBO from a draw of the guide, and the noise of that draw.
local function loss_of_draw (self)
  local guide = self.guide
  local noise = guide:noise(self.rng)
  local theta, log_det = self.space:parameters(guide:draw(noise))
  return loss_of(joint_of(self, theta), log_det, guide:surprise(noise)), noise
end

-- What is to be replayed without entering Lua, recorded once. The noise is that of the last replay.
local function replay_of (self, share)
  if self.replay then return self.replay end
  local before = self.rng and self.rng:state()
  self.replay = core.trace(function ()
    local loss, noise = loss_of_draw(self)
    self.noise = noise
    return loss * share
  end)
  if before then self.rng:restore(before) end
  return self.replay
end

-- Draws from the guide, adds the gradient of a share of minus the draw's estimate of the ELBO, and returns that
-- estimate and the noise.
local function draw (self, share)
  local loss, noise = loss_of_draw(self)
  local top = share < 1 and loss * share or loss
  top:backward()
  return -core.item(loss), noise   -- which backward may have found in passing
end

-- The estimate of the ELBO from all draws of a step, which leave the gradient of minus it.
local function estimate (self)
  local samples, total, loc = self.samples, 0, self.guide.params.loc
  local share = 1 / samples
  local replay = self.trace and replay_of(self, share)
  for _ = 1, samples do
    local value, noise
    if replay then value = -replay:backward() / share else value, noise = draw(self, share) end
    if value - value ~= 0 then complain(self, noise or self.noise, value) end
    if finite_grad(loc) == false then complain_of_gradient(self, noise or self.noise) end
    total = total + value
  end
  return total / samples
end

local function mean_of (list, first, last)
  local sum = 0
  for i = first, last do sum = sum + list[i] end
  return sum / (last - first + 1)
end

-- Notes the mean of a window of the trace. Ends the stage, and perhaps the fit, where these no longer rise.
local function look_at_trace (self)
  local windows, steps = self.windows, #self.elbo
  local n = #windows + 1
  windows[n] = mean_of(self.elbo, steps - WINDOW + 1, steps)
  if self.converged or n < LEAST then return end
  local third = n // 3
  local earlier, later = mean_of(windows, n - 2 * third + 1, n - third), mean_of(windows, n - third + 1, n)
  if later - earlier > self.tolerance * math.max(math.abs(later), 1) then return end
  if self.stage == #STAGES then self.converged = true
  else self.stage, self.windows = self.stage + 1, {} end
end

local function show_progress (self)
  local n = #self.elbo
  io.stderr:write(string.format("\rvi: step %d of at most %d, ELBO %.4f   ", n, self.steps,
                                mean_of(self.elbo, n - WINDOW + 1, n)))
  io.stderr:flush()
end

--- n steps (one unless told), fewer if the fit converges or on_step returns false. Returns the mean of the estimates
-- of the ELBO, and whether the fit has converged.
function Fit:step (n)
  if n ~= nil and not is_count(n) then raise("vi: step takes a positive integer, got %s", show.value(n)) end
  local trace, sum, done = self.elbo, 0, 0
  for _ = 1, n or 1 do
    local optimiser = self.optimiser
    optimiser:zero_grad()
    local elbo, count = estimate(self), #trace + 1
    optimiser:step()
    trace[count], sum, done = elbo, sum + elbo, done + 1
    if count % WINDOW == 0 then
      look_at_trace(self)
      if self.progress then show_progress(self) end
    end
    self.stopped = self.on_step and self.on_step(count, elbo, self) == false
    if self.converged or self.stopped then break end
  end
  return sum / done, self.converged
end

--- The ELBO from n fresh draws, and its standard error. They come from a generator of their own unless told: looking
-- at a fit does not change it.
function Fit:evaluate (n, rng)
  if not is_count(n) then raise("vi: evaluate takes a positive integer, got %s", show.value(n)) end
  return core.no_grad(function ()
    local noise, sum, squares = self.guide:noise(rng or core.rng(1), n), 0, 0
    local draws = self.guide:draw(noise)
    for i = 1, n do
      local theta, log_det = self.space:parameters(draws[i])
      local value = number_of(joint_of(self, theta) + log_det + self.guide:surprise(noise[i]))
      local delta = value - sum / math.max(i - 1, 1)
      if i > 1 then squares = squares + delta * delta * (i - 1) / i end
      sum = sum + value
    end
    return sum / n, math.sqrt(squares / math.max(n - 1, 1) / n)
  end)
end

--- What the fit knows now: see Result.
function Fit:result ()
  local elbo, standard_error = self:evaluate(EVALUATION)
  return Result.new(self, elbo, standard_error)
end

errors.count_arguments("fit", Fit, "step evaluate result")

--- A fit that its host drives with fit:step(n).
function vi.new (given, ...)
  errors.no_more("vi.new(options)", ...)
  return new(given)
end

--- Fits until the ELBO no longer rises, or `steps` are done. Returns a Result.
function vi.fit (given, ...)
  errors.no_more("vi.fit(options)", ...)
  local self = new(given)
  while #self.elbo < self.steps and not self.converged and not self.stopped do
    self:step(math.min(WINDOW, self.steps - #self.elbo))
  end
  if self.progress then io.stderr:write("\n") end
  return self:result()
end

return errors.module("vi", vi)
