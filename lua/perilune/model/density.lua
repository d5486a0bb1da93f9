--- Density: the log density of a model on its free numbers u, one row of u or many at once.
--
-- The body is traced once; rows are replayed in C. What cannot be traced runs in Lua for every row, and says so once.
--
-- Where data are streamed (model/data.lua) all rows of them never are in memory. Then the density is a mean of those of
-- blocks, D_b = prior + n / n_b times what the n_b rows of a block say, each counting n_b / n: and a block is read once
-- for all rows of u.
--
-- Where the posed model is shared by several processes (inference/shared.lua), each has a share of the rows of all
-- plates: values and gradients are sums over all ranks, and the same everywhere. What stands outside of plates counts
-- on rank 0.
local attempt      = require "perilune.attempt"
local construction = require "perilune.construction"
local core         = require "perilune.core"
local errors       = require "perilune.errors"
local form         = require "perilune.form"
local handlers     = require "perilune.model.handlers"
local run          = require "perilune.model.run"
local tensor       = require "perilune.tensor"

local Density = {}
Density.__index = Density

--- The density of a posed model. `centring`: see handlers.density. Settings, all optional: `is_joint`, the joint
-- density of the sites' values, without the determinant that makes it one of u; `batched`, whether plates count by the
-- rows of a batch, and not all; `between`, a function to be called after every evaluation; `origin`, a vector u with
-- values that sites may have, 0 unless told; `stretch`, { first, count } of the rows that are streamed; `alone`, of a
-- shared model: this rank's rows stand for those of all, each counting as often as there are ranks.
function Density.new (posed, centring, settings)
  settings = settings or {}
  local self = setmetatable({ posed = posed, size = posed.size, centring = centring or {}, reports = {},
                              is_joint = settings.is_joint or false, plates = settings.batched and {} or nil,
                              between = settings.between, origin = settings.origin or 0, kind = "density",
                              comm = not settings.alone and posed.comm or nil }, Density)
  if self.comm then self.outside = self.comm.rank == 0 and 1 or 0
  elseif posed.comm then self.inside = posed.comm.size end
  self.u = core.param(core.zeros(self.size))
  self.u:copy(self.origin)
  if settings.stretch then self.stretch, self.plates = settings.stretch, {}
  elseif posed.data.streamed and not settings.batched then self.of_blocks = {} end
  return self
end

--- The density of the prior alone on the same free numbers.
function Density.prior (posed, centring)
  local self = Density.new(posed, centring)
  self.kind, self.of_blocks = "prior", nil
  return self
end

-- What a handler makes of the body.
local function handled (self, make, ...)
  local handler = make(self.posed.latents, self.u, self.centring, ...)
  handler.is_joint, handler.stretch = self.is_joint, self.stretch
  handler.outside, handler.inside = self.outside, self.inside
  return run.body(self.posed.body, self.posed.data, handler)
end

local function log_density (self)
  local total = handled(self, handlers[self.kind], self.plates).total
  if self.outside and not core.tracked(total) then return (total or 0) + 0 * self.u:sum() end   -- another rank's may
  if not core.tracked(total) then
    errors.raise("model: the log density does not depend on %s", self.posed.latents[1].name)
  end
  return total
end

-- The trace of fn, with gradients by u alone, or nil where it cannot be traced, or is not to be.
local function traced (self, fn)
  if self.posed.untraced then return nil end
  local ok, found = attempt.call("not within trace", "cannot be replayed", core.trace, fn, self.u)
  if ok then return found end
  if not self.posed.warned then
    if warn then warn("perilune: the model cannot be traced, and runs in Lua at every step: " .. tostring(found)) end
    self.posed.warned = true
  end
  return nil
end

local function prepare (self)
  if self.prepared then return end
  if self.stretch then log_density(self) end   -- finds its plates, whose parameters are not part of a trace
  self.trace = traced(self, function () return log_density(self) end)
  self.prepared = true
end

-- Row by row in Lua. A trace does not check parameters again, so neither does this: far from the posterior rows may
-- overflow.
local function evaluate_slowly (self, rows, values, gradients)
  local u = self.u
  for i = 1, core.shape(rows)[1] do
    u:copy(rows[i])
    if gradients then
      u.grad = nil
      local total = log_density(self)
      total:backward()
      values:narrow(1, i, 1):copy(core.item(total))
      gradients[i]:copy(u.grad)
    else
      values:narrow(1, i, 1):copy(core.item(log_density(self)))
    end
  end
end

local evaluate

-- The density of the stretch of rows from `first` on.
local function block_at (self, first, count)
  local block = self.of_blocks[count]
  if not block then
    block = Density.new(self.posed, self.centring, { is_joint = self.is_joint, origin = self.origin,
                                                     between = self.between, stretch = { count = count } })
    block.comm, block.outside, block.inside = nil, self.outside, self.inside
    self.of_blocks[count] = block
  end
  block.stretch.first = first
  for _, batch in ipairs(block.plates) do batch:place(first) end
  return block
end

local function evaluate_blocks (self, rows, values, gradients)
  values:copy(0)
  if gradients then gradients:copy(0) end
  local block_values, block_gradients = core.zeros(core.shape(values)), gradients and core.zeros(core.shape(gradients))
  for first, count in self.posed.data:blocks() do
    local share = count / self.posed.data.streamed
    evaluate(block_at(self, first, count), rows, block_values, block_gradients)
    values:copy(values + block_values * share)
    if gradients then gradients:copy(gradients + block_gradients * share) end
  end
end

-- What this process has of it.
local function evaluate_here (self, rows, values, gradients)
  if self.of_blocks then return evaluate_blocks(self, rows, values, gradients) end
  prepare(self)
  if self.trace then self.trace:rows(self.u, rows, values, gradients)
  else construction.unchecked(evaluate_slowly, self, rows, values, gradients) end
end

-- The sums over all ranks, by one message. Rows must be the same on all, and a rank that fails says so there: then all
-- raise.
local function evaluate_together (self, rows, values, gradients)
  local comm = self.comm
  local ok, why = pcall(evaluate_here, self, rows, values, gradients)
  local failed = comm:sum(not ok, rows, values, gradients)
  if not failed then return end
  local message = comm:bcast(comm.rank == failed and tostring(why) or nil, failed)
  if comm.rank == failed then error(why, 0) end
  errors.raise("rank %d has failed: %s", failed, message)
end

function evaluate (self, rows, values, gradients)
  local how = self.comm and evaluate_together or evaluate_here
  how(self, rows:contiguous(), values, gradients)
  if self.between then self.between() end
end

--- Are data streamed?
function Density:is_streamed () return self.of_blocks ~= nil end

--- Can the model be traced?
function Density:is_traced ()
  if self.of_blocks then self = block_at(self, 1, self.posed.data.block) end
  prepare(self)
  return self.trace ~= nil
end

--- The trace; raises where the model cannot be traced.
function Density:traced ()
  if self.of_blocks then
    errors.raise("nuts and hmc look at all rows at every step, and need them in memory, as tensors; vi, laplace, map "
                 .. "and smc do not")
  end
  prepare(self)
  if not self.trace then
    errors.raise("nuts and hmc need a model that can be traced, one whose body does not look at values; random_walk "
                 .. "does not")
  end
  return self.trace
end

--- The log density at each row of u.
function Density:values (rows)
  local values = core.zeros(core.shape(rows)[1])
  evaluate(self, rows, values)
  return values
end

--- The same, and the gradients, a row each; into these tensors, if they are given.
function Density:gradients (rows, values, gradients)
  if not values then
    local shape = core.shape(rows)
    values, gradients = core.zeros(shape[1]), core.zeros(shape)
  end
  evaluate(self, rows, values, gradients)
  return values, gradients
end

--- Of one vector: a number and a vector.
function Density:at (u)
  local values, gradients = self:gradients(u:reshape(1, self.size))
  return values[1], gradients[1]
end

-- The plates of which not all rows count, once the body has run.
local function plates_of (self)
  if self.plates and not self.prepared and #self.plates == 0 then log_density(self) end
  return self.plates or {}
end

-- Shuffles by a generator of this rank's own, which follows from one that is the same on all ranks and goes on alike:
-- they may have different numbers of rows, and shuffle them at different steps.
local function next_batch_of_rank (self, comm, rng)
  local seed, own = math.floor(rng:uniform() * 2 ^ 52), nil
  for _, batch in ipairs(plates_of(self)) do
    if batch:will_shuffle() then own = own or core.rng(seed):split(comm.size)[comm.rank + 1] end
    batch:draw(own)
  end
end

--- Takes other rows of the plates.
function Density:next_batch (rng)
  if not self.plates then return end
  local comm = self.posed.comm
  if comm then return next_batch_of_rank(self, comm, rng) end
  for _, batch in ipairs(plates_of(self)) do batch:draw(rng) end
end

--- Which rows of the plates count, as a table for `restore_batch`, which returns whether it suits these plates.
function Density:batch_state ()
  local states = {}
  for i, batch in ipairs(plates_of(self)) do states[i] = batch:state() end
  return states
end

function Density:restore_batch (states)
  local plates = plates_of(self)
  if not form.list(form.any)(states) or #states ~= #plates then return false end
  for i, batch in ipairs(plates) do
    if not batch:restore(states[i]) then return false end
  end
  return true
end


-- Reports: everything that a handler finds, for each row ------------------------------------------

-- { name, first, length, shape } of each value in `flat`, which has them all.
local function flatten (values)
  local names, parts, layout, at = {}, {}, {}, 1
  for name in pairs(values) do names[#names + 1] = name end
  table.sort(names)
  for i, name in ipairs(names) do
    local value = values[name]
    local shape = core.is_tensor(value) and core.shape(value) or {}
    parts[i] = core.is_tensor(value) and value:reshape(-1) or core.tensor { value }
    layout[i] = { name = name, at = at, size = core.numel(parts[i]), shape = shape }
    at = at + layout[i].size
  end
  return tensor.cat(parts), layout
end

local function report_of (self, kind)
  local report = self.reports[kind]
  if report then return report end
  report = {}
  self.u:copy(self.origin)   -- a row that diverged may have been there
  report.trace = traced(self, function ()
    local flat, layout = flatten(handled(self, handlers[kind]).values)
    report.flat, report.layout = flat, layout
    return flat:sum()
  end)
  self.reports[kind] = report
  return report
end

-- Values must have the same names and shapes in every run.
local function check_layout (now, before)
  local sizes = {}
  for _, part in ipairs(before) do sizes[part.name] = part.size end
  for _, part in ipairs(now) do
    if sizes[part.name] ~= part.size then
      errors.raise("model: %s is not there in every run, or not with the same shape", part.name)
    end
    sizes[part.name] = nil
  end
  local missing = next(sizes)
  if missing then errors.raise("model: %s is not there in every run", missing) end
end

local function report_slowly (self, report, kind, rows)
  local found = {}
  for i = 1, core.shape(rows)[1] do
    self.u:copy(rows[i])
    local flat, layout = flatten(handled(self, handlers[kind]).values)
    check_layout(layout, report.layout or layout)
    found[i], report.layout = flat:detach(), layout
  end
  return tensor.stack(found)
end

-- (rows, ...) out of a stretch of all columns.
local function split (all, layout)
  local values = {}
  for _, part in ipairs(layout) do
    local shape = { core.shape(all)[1] }
    for _, n in ipairs(part.shape) do shape[#shape + 1] = n end
    values[part.name] = all:narrow(2, part.at, part.size):contiguous():reshape(shape)
  end
  return values
end

local function found_by (self, kind, rows)
  local report = report_of(self, kind)
  if not report.trace then
    return split(construction.unchecked(report_slowly, self, report, kind, rows), report.layout)
  end
  local n = core.shape(rows)[1]
  local values, all = core.zeros(n), core.zeros(n, core.numel(report.flat))
  report.trace:rows(self.u, rows:contiguous(), values, nil, report.flat, all)
  return split(all, report.layout)
end

--- The values of all sites, derived ones too, at each row of u: by name, rows in front.
function Density:report (rows) return found_by(self, "report", rows) end

--- The log densities of observed sites, element by element: by name, rows in front.
function Density:likelihood (rows) return found_by(self, "likelihood", rows) end

return Density
