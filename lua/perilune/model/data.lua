--- The data of a model: named values, tables of numbers being tensors.
--
-- The body reads them through a proxy: a name that is not there is an error, and within a plate a tensor of the
-- plate's length is indexed by itself. Rows (data/rows.lua) are read within plates only, and are then tensors: such a
-- plate is streamed, that is it never has all of its rows in memory.
local core   = require "perilune.core"
local errors = require "perilune.errors"
local show   = require "perilune.show"

local raise = errors.raise

local BLOCK = 2 ^ 17   -- numbers of rows that are looked at together, where all are: they stay in the cache

local Data = {}
Data.__index = Data

local function is_rows (value)
  local meta = type(value) == "table" and getmetatable(value)
  return type(meta) == "table" and rawget(meta, "is_rows") == true
end

-- How many rows there are where values are Rows, and how many numbers they have in a row; else nil.
local function streamed (values)
  local n, width, first = nil, 0, nil
  for name, value in pairs(values) do
    if is_rows(value) then
      n, first = n or value.shape[1], first or name
      if value.shape[1] ~= n then
        raise("model: rows must be as many in all data that are rows: %s has %d, %s has %d", first, n, name,
              value.shape[1])
      end
      local own = 1
      for d = 2, #value.shape do own = own * value.shape[d] end
      width = width + own
    end
  end
  return n, width
end

-- Data of these values. `streamed` is the length of those that are Rows, `block` how many are looked at together.
local function new_data (values)
  local self = setmetatable({ values = values }, Data)
  local n, width = streamed(values)
  if n then self.streamed, self.block = n, math.max(1, math.min(n, math.floor(BLOCK / width))) end
  return self
end

--- From a table that maps names to values, or nothing.
function Data.new (given)
  given = given == nil and {} or given
  if type(given) ~= "table" or core.table_kind(given) == "object" then
    raise("model: data must be a table of named values, got %s", show.value(given))
  end
  local values = {}
  for name, value in next, given do
    if type(name) ~= "string" then
      raise("model: data must have names, got %s for %s", show.value(name), show.value(value))
    end
    local is_list = type(value) == "table" and core.table_kind(value) == "data" and next(value) ~= nil
    values[name] = is_list and type(value[1]) ~= "string" and core.operand(value, "model", name) or value
  end
  return new_data(values)
end

--- The same data without some names.
function Data:without (names)
  local values = {}
  for name, value in pairs(self.values) do values[name] = not names[name] and value or nil end
  return new_data(values)
end

-- Rows of `value` that the innermost open plate of its length has; else all of it.
local function in_plate (self, name, value)
  local is_many = core.is_tensor(value) and core.rank(value) > 0 or is_rows(value)
  for i = is_many and #self.batches or 0, 1, -1 do
    local batch = self.batches[i]
    if value.shape[1] == batch.n then return batch:rows(name, value) end
  end
  return value
end

local Reader = {}
Reader.__index = Reader

--- What one run of a body reads from. `proxy` is the body's d.
function Data:reader ()
  local reader = setmetatable({ values = self.values, streamed = self.streamed, block = self.block, batches = {} },
                              Reader)
  reader.proxy = setmetatable({}, {
    __index = function (_, name) return reader:read(name) end,
    __newindex = function (_, name) raise("model: the data are not to be changed; %s was set", tostring(name)) end,
    __pairs = function () return next, self.values, nil end,
  })
  return reader
end

function Reader:read (name)
  local value = self.values[name]
  if value ~= nil then return in_plate(self, name, value) end
  if type(name) ~= "string" then return nil end
  local names = {}
  for known in pairs(self.values) do names[#names + 1] = known end
  local near = core.nearest(name, names)
  raise("model: the data have no %s%s", name, near and "; did you mean " .. near .. "?" or "")
end

--- The value of an observed site, or nil.
function Reader:observed (name) return in_plate(self, name, self.values[name]) end

--- Begins a plate, of which the rows of a Batch count; ends the innermost one.
function Reader:open (batch) self.batches[#self.batches + 1] = batch end
function Reader:close () self.batches[#self.batches] = nil end

--- Is a plate open that is streamed?
function Reader:is_in_stream ()
  for _, batch in ipairs(self.batches) do
    if batch.n == self.streamed then return true end
  end
  return false
end

--- first, count of blocks of rows that are streamed, in their order; 1, 1 if there are none.
function Data:blocks ()
  local n, step, first = self.streamed or 1, self.block or 1, 1
  return function ()
    local from = first
    if from > n then return nil end
    first = from + step
    return from, math.min(step, n - from + 1)
  end
end

return Data
