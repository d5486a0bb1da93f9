--- Batch: the rows of a plate that count in one step, and what the data have there.
--
-- Rows and their numbers lie in parameters, which `draw` writes anew: so whatever a body computes of them is part of
-- its trace. Rows come from a shuffled list of all, of which each step takes the next `size`: every row counts once
-- before any counts twice, but for a rest smaller than `size`.
local core    = require "perilune.core"
local Uniform = require "perilune.distributions.Uniform"

local Batch = {}
Batch.__index = Batch

--- The first `size` of n rows.
function Batch.new (n, size)
  local index = core.param(core.arange(1, size + 1))
  return setmetatable({ n = n, size = size, index = index, used = n, copies = {} }, Batch)
end

--- The rows of `value`, which has n of them.
function Batch:rows (name, value)
  local found = self.copies[name]
  if not found then
    found = { from = value, rows = core.param(value[self.index:detach()]) }
    self.copies[name] = found
  end
  return found.rows
end

-- Shuffles all rows by draws of a generator, whose state before is kept.
local function shuffle (self, rng)
  self.shuffled_from = rng:state()
  self.order, self.used = Uniform(0, 1):sample({ self.n }, rng):argsort(), 0
end

-- Fetches the rows before `used`.
local function fetch (self)
  local index = self.order:narrow(1, self.used - self.size + 1, self.size)
  self.index:copy(index)
  for _, copy in pairs(self.copies) do copy.rows:copy(copy.from[index]) end
end

--- Does the next draw shuffle all rows?
function Batch:is_used_up () return self.used + self.size > self.n end

--- Takes other rows.
function Batch:draw (rng)
  if self:is_used_up() then shuffle(self, rng) end
  self.used = self.used + self.size
  fetch(self)
end

--- Which rows these are, and which come next: a table of strings and numbers; nil before the first draw.
function Batch:state () return self.order and { from = self.shuffled_from, used = self.used } or nil end

function Batch:restore (state)
  local rng = core.rng(0)
  if not rng:restore(state.from) or math.type(state.used) ~= "integer" or state.used < self.size
     or state.used > self.n then return false end
  shuffle(self, rng)
  self.used = state.used
  fetch(self)
  return true
end

return Batch
