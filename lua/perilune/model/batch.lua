--- Batch: the rows of a plate that count in one step, and what the data have there.
--
-- Rows and their numbers lie in parameters, which `draw` writes anew: so whatever a body computes of them is part of
-- its trace. Rows come from a shuffled list of all, of which each step takes the next `size`: every row counts once
-- before any counts twice, but for a rest smaller than `size`.
--
-- Of rows in a file (data/rows.lua) that are many, not all are shuffled at once. The file is cut into blocks of
-- neighbours, which are shuffled; as many of them as fit a stage are read into memory, and the rows of a stage are
-- shuffled. To read rows one by one at random takes some fifty times as long as to read them in blocks.
local core    = require "perilune.core"
local form    = require "perilune.form"
local joining = require "perilune.joining"
local Uniform = require "perilune.distributions.Uniform"

local Batch = {
  STAGE = 2 ^ 21,   -- numbers in memory (16 MB of float64),
  BLOCK = 2 ^ 14,   -- and of a block
}
Batch.__index = Batch

--- `size` of n rows, from the first on; or from row `first`.
function Batch.new (n, size, first)
  first = first or 1
  local index = core.param(core.arange(first, first + size))
  return setmetatable({ n = n, size = size, first = first, index = index, used = n, copies = {}, files = {},
                        width = 0 }, Batch)
end

local function is_rows (value) return not core.is_tensor(value) end

--- The rows of `value`, a tensor or Rows, which has n of them.
function Batch:rows (name, value)
  local found = self.copies[name]
  if not found then
    found = { from = value, is_rows = is_rows(value), rows = core.param(value[self.index:detach()]) }
    if found.is_rows and value.path and not self.files[value.base] then
      self.files[value.base], self.width = true, self.width + value.base_width
    end
    self.copies[name] = found
  end
  return found.rows
end


-- One place after the other -----------------------------------------------------------------------

--- Takes rows from `first` on.
function Batch:place (first)
  self.first = first
  self.index:copy(core.arange(first, first + self.size))
  for _, copy in pairs(self.copies) do
    if copy.is_rows then core.store_read(copy.from.store, first, copy.rows)
    else copy.rows:copy(copy.from:narrow(1, first, self.size)) end
  end
end


-- Shuffled ------------------------------------------------------------------------------------

local function permutation (n, rng) return Uniform(0, 1):sample({ n }, rng):argsort() end

-- Rows of a stage, a multiple of `size`; nil if all rows fit one. (A stage has whole rows of files, with columns that
-- nobody looks at.)
local function stage_rows (self)
  if self.width == 0 then return nil end
  local rows = math.max(1, math.floor(Batch.STAGE / self.width / self.size)) * self.size
  return rows < self.n and rows or nil
end

-- Begins to go through all rows, in an order that a generator decides; its state before is kept.
local function shuffle (self, rng)
  self.shuffled_from, self.used, self.stage_end = rng:state(), 0, 0
  self.stage = stage_rows(self)
  if not self.stage then
    self.order = permutation(self.n, rng)
    return
  end
  self.block = math.max(1, math.floor(Batch.BLOCK / self.width))
  self.blocks = permutation(math.ceil(self.n / self.block), rng):totable()
  self.block_at, self.block_used = 1, 0
end

-- The next `count` rows of the shuffled blocks, as stretches { first, count }.
local function stretches (self, count)
  local list = {}
  while count > 0 do
    local first = math.floor(self.blocks[self.block_at] - 1) * self.block + 1
    local left = math.min(self.block, self.n - first + 1) - self.block_used
    local taken = math.min(left, count)
    list[#list + 1] = { first + self.block_used, taken }
    count, self.block_used = count - taken, self.block_used + taken
    if taken == left then self.block_at, self.block_used = self.block_at + 1, 0 end
  end
  return list
end

-- Memory for a stage of each file, and what each copy shows of it. Views of one file share it.
local function buffers_of (self)
  if self.buffers then return self.buffers end
  self.buffers = {}
  for _, copy in pairs(self.copies) do
    local from = copy.from
    if copy.is_rows and from.path then
      local held = self.buffers[from.base] or core.store_hold(from.dtype, self.stage, from.base_width)
      self.buffers[from.base] = held
      copy.staged = from.places and core.store_view(held, from.places) or held
    end
  end
  return self.buffers
end

-- Reads the next stage, and shuffles its rows.
local function next_stage (self, rng)
  local count = math.min(self.stage, self.n - self.stage_end)
  local numbers, at = {}, 1
  for i, part in ipairs(stretches(self, count)) do
    for base, held in pairs(buffers_of(self)) do core.store_load(held, at, base, part[1], part[2]) end
    numbers[i], at = core.arange(part[1], part[1] + part[2]), at + part[2]
  end
  self.numbers = joining.cat(numbers)
  self.stage_from, self.stage_end = rng:state(), self.stage_end + count
  self.order, self.stage_begin = permutation(count, rng), self.stage_end - count
end

-- Fetches the rows before `used`.
local function fetch (self)
  local before = self.stage and self.stage_begin or 0
  local places = self.order:narrow(1, self.used - before - self.size + 1, self.size)
  local index = self.stage and self.numbers[places] or places
  self.index:copy(index)
  for _, copy in pairs(self.copies) do
    if copy.staged then core.store_gather(copy.staged, places, copy.rows)
    elseif copy.is_rows then core.store_gather(copy.from.store, index, copy.rows)
    else copy.rows:copy(copy.from[index]) end
  end
end

local function is_used_up (self) return self.used + self.size > self.n end
local function is_stage_used_up (self) return self.stage and self.used + self.size > self.stage_end end

--- Does the next draw shuffle rows?
function Batch:will_shuffle () return is_used_up(self) or is_stage_used_up(self) end

--- Takes other rows.
function Batch:draw (rng)
  if is_used_up(self) then shuffle(self, rng) end
  if is_stage_used_up(self) then next_stage(self, rng) end
  self.used = self.used + self.size
  fetch(self)
end

--- Which rows these are, and which come next: a table of strings and numbers; nil before the first draw.
function Batch:state ()
  if not self.order then return nil end
  return { from = self.shuffled_from, used = self.used, stage_from = self.stage and self.stage_from or nil }
end

-- Reads the stage that has the rows before `used`.
local function restore_stage (self, used, rng)
  self.stage_end = math.floor((used - 1) / self.stage) * self.stage
  stretches(self, self.stage_end)
  next_stage(self, rng)
end

--- Goes on from there; returns whether it can.
function Batch:restore (state)
  local rng = core.rng(0)
  if not form.fields { from = form.rng, used = form.integer(self.size, self.n),
                       stage_from = stage_rows(self) and form.rng or nil }(state) or state.used % self.size ~= 0 then
    return false
  end
  rng:restore(state.from)
  shuffle(self, rng)
  if self.stage then
    rng:restore(state.stage_from)
    restore_stage(self, state.used, rng)
  end
  self.used = state.used
  fetch(self)
  return true
end

return Batch
