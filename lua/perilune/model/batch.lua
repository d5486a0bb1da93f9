--- Batch: the rows of a plate that count in one step, and what the data have there.
--
-- Everything lies in tensors that `draw` writes anew, so that a trace finds the rows of the moment. Rows come from a
-- shuffled list of all, of which each step takes the next `size`: every row counts once before any counts twice, but
-- for a rest smaller than `size`.
local core    = require "perilune.core"
local Uniform = require "perilune.distributions.Uniform"

local Batch = {}
Batch.__index = Batch

function Batch.new (n, size)
  local index = core.arange(1, size + 1)
  return setmetatable({ n = n, size = size, index = index, used = n, copies = {} }, Batch)
end

--- The rows of `value`, which has n of them.
function Batch:rows (name, value)
  local found = self.copies[name]
  if not found then
    found = { from = value, rows = value[self.index] }
    self.copies[name] = found
  end
  return found.rows
end

--- Takes other rows.
function Batch:draw (rng)
  if self.used + self.size > self.n then
    self.order, self.used = Uniform(0, 1):sample({ self.n }, rng):argsort(), 0
  end
  self.index:copy(self.order:narrow(1, self.used + 1, self.size))
  self.used = self.used + self.size
  for _, copy in pairs(self.copies) do copy.rows:copy(copy.from[self.index]) end
end

return Batch
