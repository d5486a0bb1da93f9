--- A fit that takes stochastic steps, driven by whoever asks for them.
--
--   fit:step(n)  fit:step { ms = 2 }     fit:result()     fit:state()  fit:restore(s)     fit:restart()
--
-- The steps are Adam's, or those of another optimiser, at a learning rate that falls in stages. Of each stage the
-- second half of the parameters' path is averaged; a stage is over when the average of its last quarter is that of the
-- quarter before, to within `tolerance` standard deviations of the guide, and the next begins at the average. When the
-- last stage is over, the fit has converged. (Noise moves averages, too: where there is much of it, quarters grow until
-- it is averaged out.) Elements of gradients that are far larger than they were so far are cut: one draw in a tail of
-- the guide must not move it far, nor make Adam's steps tiny from then on.
--
-- An objective has
--
--   params                    a list of parameters, of rank 1 or more
--   estimate(rng)             an estimate of the ELBO; adds the gradient of minus it to those of the parameters
--   drift(before, after)      how far a change of the parameters' values, two lists, moves the guide in its sds
--                             (without it: the largest change of a value)
--   state(), restore(s)       what else the next steps depend on, for packed.lua; whether s, which may be anything,
--                             could be restored
--   refresh()                 reads the data anew (may be left out)
--   posterior(looked)         a Posterior: { rng =, findings = for the verdict, fields = of the Posterior }
--   lr                        a learning rate for where none is given
--
-- On ranks of several processes (the option `comm`) all take the same steps, because estimates are the same on all.
-- With `local_steps` = k > 1 estimates differ: each rank takes k steps by its own rows, and then parameters and what
-- the optimiser remembers are averaged over all. Decisions are made there only. (Who looks at the fit in between has
-- them averaged as well.)
local attempt = require "perilune.attempt"
local checkpoint = require "perilune.inference.checkpoint"
local core    = require "perilune.core"
local errors  = require "perilune.errors"
local form    = require "perilune.form"
local optim   = require "perilune.optim"
local options = require "perilune.inference.options"
local packed  = require "perilune.packed"
local shared  = require "perilune.inference.shared"
local show    = require "perilune.show"

local WINDOW = 50                       -- steps averaged at once, at the beginning of a stage
local LEAST, MOST = 8, 16               -- windows of a stage; then their number is halved, and their length doubled
local STAGES = { 1, 0.3, 0.1 }          -- factors of the learning rate
local OUTLYING, KEPT = 10, 0.95         -- gradients beyond so many of their rms are cut; of that, kept at a look
local EVERY  = 5                        -- steps between looks at parameters and gradients
local AT_REST = 0.05                    -- sds that a fit without tolerance may move in a quarter of its windows
local HISTORY = 256                     -- windows of the ELBO that are kept
local KIND = "perilune fit"

local raise = errors.raise

local Fit = { __name = "running fit" }
Fit.__index = Fit

-- Lists of the parameters' values ------------------------------------------------------------

local function views_of (params)
  local list = {}
  for i, param in ipairs(params) do list[i] = param:detach() end
  return list
end

local function values_of (params)
  local list = {}
  for i, param in ipairs(params) do list[i] = param:detach():clone() end
  return list
end

local function set_values (params, list)
  for i, param in ipairs(params) do param:copy(list[i]) end
end

local function sum_of (a, b)
  local list = {}
  for i = 1, #a do list[i] = a[i] + b[i] end
  return list
end

local function scaled (list, factor)
  local result = {}
  for i = 1, #list do result[i] = list[i] * factor end
  return result
end

-- The average of windows `first` to `last`.
local function average (windows, first, last)
  local sum = windows[first]
  for i = first + 1, last do sum = sum_of(sum, windows[i]) end
  return scaled(sum, 1 / (last - first + 1))
end

-- Every two neighbours as one, by `merge`.
local function halved (list, merge)
  local half = {}
  for i = 1, math.floor(#list / 2) do half[i] = merge(list[2 * i - 1], list[2 * i]) end
  return half
end


-- Fits ---------------------------------------------------------------------------------------

--@ Fit
-- A fit with stochastic steps that its host drives: posed:vi { run = false } and peri.vi.new give one. Fields: steps,
-- converged, elbo (means of windows of elbo_window steps).
-- > fit = model(function (m) m.x = Normal(0, 1) end) {} :vi { run = false, seed = 1 }
-- > fit:step(10)
-- > fit.steps, fit.converged
-- 10  false

-- Begins the stages.
local function begin (self)
  self.present = views_of(self.objective.params)
  self.stage, self.converged, self.settled, self.last_drift = 1, false, nil, math.huge
  self.windows, self.window, self.sum, self.summed = {}, WINDOW, nil, 0
  self.squares = {}
  local make = self.options.optimiser or "Adam"
  make = type(make) == "string" and optim[make] or make
  self.optimiser = make(self.objective.params, { lr = self.options.lr or self.objective.lr })
  self.lr = self.optimiser.lr
end

--- A running fit. `spec` has `set_up(between)`, which gives a table for packed.lua and calls `between()` now and then;
-- `make(set_up)`, which gives an objective; `is_set_up(x)`: may x be such a table? and `tag`, a string that says of
-- which model and options it is.
-- Options: rng, lr, tolerance, on_step, report, comm, local_steps, save, save_every.
function Fit.new (spec, given)
  given.rng = given.rng or options.own_rng()
  local alone = given.comm and given.local_steps or 1
  return setmetatable({ spec = spec, options = given, rng = given.rng, steps = 0, converged = false, elbo = {},
                        elbo_window = WINDOW, elbo_sum = 0, elbo_summed = 0, last_drift = math.huge,
                        alone = alone, every = alone * math.ceil(EVERY / alone), apart = 0, apart_elbo = 0 }, Fit)
end

-- The average of the last half of the present stage, or what is nearest to one.
local function averaged (self)
  local n = #self.windows
  if n >= 2 then return average(self.windows, math.floor(n / 2) + 1, n) end
  return self.settled or values_of(self.objective.params)
end

-- Goes on with the next stage, or ends.
local function end_stage (self)
  self.settled = averaged(self)
  set_values(self.objective.params, self.settled)
  if self.stage == #STAGES then
    self.converged = true
    return
  end
  self.stage, self.windows, self.window = self.stage + 1, {}, WINDOW
  self.optimiser.lr = self.lr * STAGES[self.stage]
end

-- Parameters have other values for a while. What ends that early, an error or a host's hook, leaves in `aside` what
-- they were; whoever uses the fit next puts it back.
local function set_aside (self) self.aside = values_of(self.objective.params) end

local function put_back (self)
  if not self.aside then return end
  set_values(self.objective.params, self.aside)
  self.aside = nil
end

local function drift_of (self, before, after)
  if self.objective.drift then
    set_aside(self)
    local drift = self.objective:drift(before, after)
    put_back(self)
    return drift
  end
  local most = 0
  for i = 1, #before do most = math.max(most, (after[i] - before[i]):abs():max()) end
  return most
end

-- Is the end of the stage where the quarter before was?
local function look_at_windows (self)
  local n, tolerance = #self.windows, self.options.tolerance
  if n < LEAST or n % 4 ~= 0 then return end
  local quarter = math.floor(n / 4)
  self.last_drift = drift_of(self, average(self.windows, n - 2 * quarter + 1, n - quarter),
                             average(self.windows, n - quarter + 1, n))
  if tolerance and self.last_drift <= tolerance then return end_stage(self) end
  if n < MOST then return end
  if tolerance then
    self.windows = halved(self.windows, function (a, b) return scaled(sum_of(a, b), 0.5) end)
    self.window = 2 * self.window
  else self.windows = table.move(self.windows, MOST - LEAST + 1, MOST, 1, {}) end   -- what is old does not count
end

-- Adds the present values to the average. (Those of the steps between are much the same.)
local function note_values (self)
  if self.steps % self.every ~= 0 then return end
  self.sum = self.sum and sum_of(self.sum, self.present) or scaled(self.present, 1)
  self.summed = self.summed + 1
  if self.summed * self.every < self.window then return end
  self.windows[#self.windows + 1] = scaled(self.sum, 1 / self.summed)
  self.sum, self.summed = nil, 0
  look_at_windows(self)
end

-- The history of the ELBO: means of windows, which are made longer where they would be too many.
local function note_elbo (self, elbo)
  self.elbo_sum, self.elbo_summed = self.elbo_sum + elbo, self.elbo_summed + 1
  if self.elbo_summed < self.elbo_window then return end
  self.elbo[#self.elbo + 1] = self.elbo_sum / self.elbo_window
  self.elbo_sum, self.elbo_summed = 0, 0
  if #self.elbo == HISTORY then
    self.elbo = halved(self.elbo, function (a, b) return (a + b) / 2 end)
    self.elbo_window = 2 * self.elbo_window
  end
end

-- Cuts gradients that are far larger than they were; `squares` are moving averages of their squares.
local function cut_outliers (self)
  local squares, is_look = self.squares, self.steps % EVERY == 0
  for i, param in ipairs(self.objective.params) do
    if core.finite_grad(param) then
      local kept = is_look and KEPT or 1
      if not squares[i] then squares[i], kept = core.zeros(core.shape(param)), 0 end
      core.cut_grad(param, squares[i], OUTLYING, kept)
    end
  end
end

-- After steps that this rank has taken alone: all ranks go on from the mean of where they are.
local function meet (self)
  if self.apart == 0 then return end
  local optimiser, list = self.optimiser, {}
  for i, param in ipairs(self.objective.params) do
    list[#list + 1], list[#list + 2] = param, self.squares[i]
  end
  for i = 1, type(optimiser.memory) == "userdata" and #optimiser.entries or 0 do
    list[#list + 1] = (core.recall(optimiser.memory, i))
  end
  local elbo = shared.average(self.options.comm, list, self.apart_elbo / self.apart)
  for _ = 1, self.apart do note_elbo(self, elbo) end
  self.apart, self.apart_elbo = 0, 0
end

-- Notes a step: at once, or when ranks meet.
local function note_step (self, elbo)
  if self.alone == 1 then note_elbo(self, elbo)
  else
    self.apart, self.apart_elbo = self.apart + 1, self.apart_elbo + elbo
    if self.steps % self.alone ~= 0 then return end
    meet(self)
  end
  note_values(self)
end

-- Does on_step end the fit? On all ranks, if on one.
local function is_stopped (self, elbo)
  local on_step, comm = self.options.on_step, self.options.comm
  if not on_step then return false end
  local stops = on_step(self.steps, elbo, self) == false
  if comm then stops = comm:allreduce(stops and 1 or 0, "max") == 1 end
  return stops
end

local function one_step (self)
  local optimiser = self.optimiser
  optimiser:zero_grad()
  local elbo = self.objective:estimate(self.rng)
  cut_outliers(self)
  optimiser:step()
  self.steps = self.steps + 1
  note_step(self, elbo)
  if self.steps % WINDOW == 0 and self.options.report then
    self.options.report(string.format("vi: step %d, stage %d of %d, ELBO %.4f", self.steps, self.stage, #STAGES, elbo))
  end
  self.stopped = is_stopped(self, elbo)
  return elbo
end


-- Set-up ---------------------------------------------------------------------------------------

local function start (self, set_up)
  self.set_up, self.setting_up, self.begun_from = set_up, nil, nil
  self.objective = self.spec.make(set_up)
  begin(self)
end

-- Errors of a coroutine have no line of whoever called fit:step, unless they are a user's own.
local function raise_again (why)
  if type(why) == "string" and not why:find "^[^\n]-:%d+: " then raise("%s", why) end
  error(why, 0)
end

-- Sets the fit up, all at once or until the clock says `deadline`, if there are coroutines. Returns whether it is done.
local function prepare (self, deadline)
  if not self.setting_up then self.begun_from = self.rng:state() end
  if not coroutine or not deadline and not self.setting_up then
    start(self, self.spec.set_up())
    return true
  end
  self.setting_up = self.setting_up or coroutine.create(function () return self.spec.set_up(coroutine.yield) end)
  repeat
    local ok, found = coroutine.resume(self.setting_up)
    if not ok then
      self.setting_up = nil
      self.rng:restore(self.begun_from)
      raise_again(found)
    end
    if coroutine.status(self.setting_up) == "dead" then
      start(self, found)
      return true
    end
  until deadline and core.clock() >= deadline
  return false
end


-- Driving -------------------------------------------------------------------------------------

-- How many steps, and until when.
local function budget (n)
  if n == nil then return 1 end
  if options.is_count(n) then return n end
  if type(n) == "table" then
    errors.check_options("step", n, { "ms" })
    if options.is_positive(n.ms) then return math.huge, core.clock() + n.ms / 1000 end
    raise("step: ms must be positive, got %s", show.value(n.ms))
  end
  raise("step takes a positive integer or { ms = }, got %s", show.value(n))
end

--@ Fit:step(n) -> number or nil, boolean
-- Takes steps, fewer if the fit converges; returns the mean of the estimates of the ELBO (nil while it is set up) and
-- whether the fit has converged.
--   n  integer, 1 unless told; or { ms = 2 }: as many as fit into the time, but at least one
-- > fit = model(function (m) m.x = Normal(0, 1) end) {} :vi { run = false, seed = 1 }
-- > fit:step(10)
-- > fit.steps
-- 10
function Fit:step (n)
  local count, deadline = budget(n)
  if deadline and self.options.comm then
    raise("step: with comm ranks must take the same steps: give their number, not a time")
  end
  put_back(self)
  if not self.objective and not prepare(self, deadline) then return nil, false end
  local sum, done, longest = 0, 0, 0
  local now = deadline and core.clock()
  while done < count and not self.converged do
    if deadline and done > 0 and now + longest > deadline then break end
    sum, done = sum + one_step(self), done + 1
    if deadline then
      local before = now
      now = core.clock()
      longest = math.max(longest, now - before)
    end
    if self.stopped then break end
  end
  return done > 0 and sum / done or nil, self.converged
end

--- Steps until the fit has converged, or `steps` are done, with a checkpoint every `save_every` and at the end.
function Fit:run (steps)
  local given = self.options
  local every, saved = given.save_every or math.huge, nil
  local function save ()
    checkpoint.write(given.save, self:state(), given.comm)
    saved = self.steps
  end
  while self.steps < steps and not self.converged and not self.stopped do
    local left = every < math.huge and every - self.steps % every or math.huge
    self:step(math.min(WINDOW, steps - self.steps, left))
    if self.steps % every == 0 then save() end
  end
  if given.save_every and saved ~= self.steps then save() end
end

-- A generator of its own, so that to look at a fit does not change it.
local function generator_to_look (self)
  local rng = core.rng(0)
  rng:restore(self.rng:state())
  return rng:split(1)[1]
end

-- How far the guide still moves; nil if it has come to rest.
local function unsettled (self)
  local is_at_rest = self.converged or not self.options.tolerance and self.last_drift <= AT_REST
  return not is_at_rest and self.last_drift or nil
end

--@ Fit:result() -> Posterior
-- The posterior that the averaged parameters describe, judged; the fit goes on as if nobody had looked.
-- > fit = model(function (m) m.x = Normal(0, 1) end) {} :vi { run = false, seed = 1 }
-- > repeat local _, converged = fit:step(100) until converged
-- > fit:result().verdict
-- ok
function Fit:result ()
  if not self.objective then prepare(self) end
  put_back(self)
  meet(self)
  local params, findings = self.objective.params, { drift = unsettled(self) }
  local fields = { steps = self.steps, converged = self.converged, elbo = table.move(self.elbo, 1, #self.elbo, 1, {}) }
  set_aside(self)
  set_values(params, averaged(self))
  local found = self.objective:posterior { rng = generator_to_look(self), findings = findings, fields = fields }
  put_back(self)
  found.converged = found.converged and found.verdict ~= "bad"   -- what has diverged may have come to rest
  return found
end

--@ Fit:restart() -> Fit
-- Begins the stages anew where the guide is, and reads the data anew: for data that have changed.
-- > fit = model(function (m) m.x = Normal(0, 1) end) {} :vi { run = false, seed = 1 }
-- > fit:step(10)
-- > fit:restart()
-- > fit.converged
-- false
function Fit:restart ()
  if not self.objective then return self end
  put_back(self)
  set_values(self.objective.params, averaged(self))
  if self.objective.refresh then self.objective:refresh() end
  begin(self)
  return self
end


-- Saving ----------------------------------------------------------------------------------------

local ANOTHER = "fit: saved of another model, or with other options"

local PLAIN = { "steps", "stage", "converged", "window", "summed", "sum", "windows", "settled", "last_drift", "squares",
                "elbo", "elbo_window", "elbo_sum", "elbo_summed" }

--@ Fit:state() -> string
-- All that the next steps depend on, but the model and its options.
-- > fit = model(function (m) m.x = Normal(0, 1) end) {} :vi { run = false, seed = 1 }
-- > fit:step(10)
-- > type(fit:state())
-- string
function Fit:state ()
  local saved = { tag = self.spec.tag }
  if not self.objective then
    saved.rng = self.setting_up and self.begun_from or self.rng:state()   -- a set-up that has begun begins again
    return packed.pack(KIND, saved)
  end
  put_back(self)
  meet(self)
  for _, name in ipairs(PLAIN) do saved[name] = self[name] end
  saved.rng, saved.set_up, saved.values = self.rng:state(), self.set_up, values_of(self.objective.params)
  saved.objective, saved.optimiser = self.objective:state(), self.optimiser:state()
  local comm = self.options.comm
  if comm then saved.objective, saved.shares = nil, comm:allgather(saved.objective) end
  return packed.pack(KIND, saved)
end

local COUNT = form.integer(0, 2 ^ 53)
local LENGTH = form.integer(1, 2 ^ 40)   -- of windows, which double

-- What a saved fit must look like, if its objective has these parameters.
local function form_of (params)
  local values, some = form.each(params, form.like), form.each(params, function (p) return form.maybe(form.like(p)) end)
  return form.fields {
    tag = form.string, rng = form.rng, set_up = form.any, values = values, objective = form.any, optimiser = form.any,
    shares = form.maybe(form.list(form.any)),
    steps = COUNT, stage = form.integer(1, #STAGES), converged = form.boolean, window = LENGTH, summed = COUNT,
    sum = form.maybe(values), windows = form.list(values, MOST), settled = form.maybe(values),
    last_drift = form.number, squares = some, elbo = form.list(form.number, HISTORY - 1),
    elbo_window = LENGTH, elbo_sum = form.number, elbo_summed = COUNT,
  }
end

-- Of the objective's state what this rank goes on from: of other ranks than there were, nothing but parameters and
-- generator, so that each begins its rows anew.
local function own_state (self, saved)
  local rank, size = 0, 1
  if self.options.comm then rank, size = self.options.comm.rank, self.options.comm.size end
  local shares = saved.shares or { saved.objective }
  return #shares == size and shares[rank + 1] or nil
end

-- Takes over what was saved. Returns whether it suits the objective.
local function take_over (self, saved)
  if not form_of(self.objective.params)(saved) or not (saved.objective or saved.shares) then return false end
  set_values(self.objective.params, saved.values)
  local fits = attempt.call("restore: ", nil, self.optimiser.restore, self.optimiser, saved.optimiser)
  for _, name in ipairs(PLAIN) do self[name] = saved[name] end
  self.rng:restore(saved.rng)
  self.apart, self.apart_elbo = 0, 0
  local own = own_state(self, saved)
  return fits and (own == nil or self.objective:restore(own))
end

--@ Fit:restore(state) -> true or nil, string
-- Goes on from a state, to the same bits, in a fit of the same model with the same options: true, or nil and what is
-- wrong.
--   state  string that state() gave
-- > function start () return model(function (m) m.x = Normal(0, 1) end) {} :vi { run = false, seed = 1 } end
-- > a, b = start(), start()
-- > a:step(10)
-- > b:restore(a:state()), a:step(5) == b:step(5)
-- true  true
function Fit:restore (s)
  local saved, why = packed.unpack(KIND, s)
  if saved == nil then return nil, "fit: " .. why end
  local is_new = form.fields { tag = form.string, rng = form.rng }(saved)   -- not set up yet
  local fits = type(saved) == "table" and saved.tag == self.spec.tag
               and (is_new or self.spec.is_set_up(saved.set_up))
  if not fits then return nil, ANOTHER end
  self.setting_up, self.begun_from, self.objective, self.set_up, self.aside = nil, nil, nil, nil, nil
  if is_new then return self.rng:restore(saved.rng) end
  start(self, saved.set_up)
  if take_over(self, saved) then return true end
  self.objective, self.set_up = nil, nil
  return nil, ANOTHER
end

function Fit:__tostring ()
  local state = not self.objective and "not set up yet" or self.converged and "converged"
                or string.format("stage %d of %d", self.stage, #STAGES)
  return string.format("fit: %d steps, %s%s", self.steps, state,
                       #self.elbo > 0 and string.format(", ELBO %.3f", self.elbo[#self.elbo]) or "")
end

errors.count_arguments("fit", Fit, "step run result restart state restore")

return Fit
