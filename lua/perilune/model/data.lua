--- The data of a model: named values, tables of numbers being tensors.
--
-- The body reads them through a proxy: a name that is not there is an error, and within a plate a tensor of the
-- plate's length is indexed by itself.
local core   = require "perilune.core"
local errors = require "perilune.errors"
local show   = require "perilune.show"

local raise = errors.raise

local Data = {}
Data.__index = Data

--- From a table that maps names to values, or nothing.
function Data.new (given)
  given = given == nil and {} or given
  if type(given) ~= "table" or core.table_kind(given) == "object" then
    raise("model: data must be a table of named values, got %s", show.value(given))
  end
  local values = {}
  for name, value in pairs(given) do
    if type(name) ~= "string" then
      raise("model: data must have names, got %s for %s", show.value(name), show.value(value))
    end
    local is_list = type(value) == "table" and core.table_kind(value) == "data" and next(value) ~= nil
    values[name] = is_list and type(value[1]) ~= "string" and core.operand(value, "model", name) or value
  end
  return setmetatable({ values = values }, Data)
end

--- The same data without some names.
function Data:without (names)
  local values = {}
  for name, value in pairs(self.values) do values[name] = not names[name] and value or nil end
  return setmetatable({ values = values }, Data)
end

-- Rows of `value` that the innermost open plate of its length has; else all of it.
local function in_plate (self, name, value)
  if not core.is_tensor(value) or core.rank(value) == 0 then return value end
  for i = #self.batches, 1, -1 do
    local batch = self.batches[i]
    if core.shape(value)[1] == batch.n then return batch:rows(name, value) end
  end
  return value
end

local Reader = {}
Reader.__index = Reader

--- What one run of a body reads from. `proxy` is the body's d.
function Data:reader ()
  local reader = setmetatable({ values = self.values, batches = {} }, Reader)
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

return Data
