--- Values as strings: numbers to the last bit, strings, booleans, tensors, and tables of these.
--
-- A string begins with what it holds and a version, and ends with a checksum. Reading one executes nothing, and gives
-- nil for what was not written here.
--
--   n double   i integer   s length bytes   b 0|1   t rank dimensions doubles   { count (key value)*
local core   = require "perilune.core"
local errors = require "perilune.errors"
local show   = require "perilune.show"

local VERSION = 1
local CHUNK   = 128     -- doubles packed by one call
local DEEPEST = 50      -- nested tables

local packed = {}

-- Mixes all bytes, eight at a time.
local function checksum (text)
  local h, n = -3750763034362895579, #text   -- FNV-1a on words
  text = text .. string.rep("\0", -n % 8)
  for at = 1, #text, 8 do
    h = (h ~ string.unpack("<i8", text, at)) * 1099511628211
    h = h ~ (h >> 29)
  end
  return h ~ n
end


-- Writing ---------------------------------------------------------------------------------

local write

local function write_tensor (parts, t)
  local shape = core.shape(t)
  parts[#parts + 1] = string.pack("<c1I1", "t", #shape)
  for _, n in ipairs(shape) do parts[#parts + 1] = string.pack("<i8", n) end
  local list = core.numel(t) > 0 and t:reshape(-1):totable() or {}
  for first = 1, #list, CHUNK do
    local last = math.min(first + CHUNK - 1, #list)
    parts[#parts + 1] = string.pack("<" .. string.rep("d", last - first + 1), table.unpack(list, first, last))
  end
end

-- Keys in one order: the same table gives the same string.
local function write_table (parts, t, depth)
  local keys = {}
  if depth >= DEEPEST then errors.raise("save: tables must not be nested deeper than %d", DEEPEST - 1) end
  for key in next, t do
    if type(key) ~= "string" and math.type(key) ~= "integer" then
      errors.raise("save: keys must be strings or integers, got %s", show.value(key))
    end
    keys[#keys + 1] = key
  end
  table.sort(keys, function (a, b)
    if type(a) ~= type(b) then return type(a) == "number" end
    return a < b
  end)
  parts[#parts + 1] = string.pack("<c1i8", "{", #keys)
  for _, key in ipairs(keys) do
    write(parts, key, depth)
    write(parts, rawget(t, key), depth + 1)
  end
end

local WRITERS = {
  float   = function (parts, x) parts[#parts + 1] = string.pack("<c1d", "n", x) end,
  integer = function (parts, x) parts[#parts + 1] = string.pack("<c1i8", "i", x) end,
  string  = function (parts, x) parts[#parts + 1] = string.pack("<c1s8", "s", x) end,
  boolean = function (parts, x) parts[#parts + 1] = string.pack("<c1I1", "b", x and 1 or 0) end,
  table   = write_table,
}

function write (parts, x, depth)
  if core.is_tensor(x) then x = x:detach() end   -- one number is a number
  if core.is_tensor(x) then return write_tensor(parts, x) end
  local writer = WRITERS[math.type(x) or type(x)]
  if not writer then errors.raise("save: cannot keep %s", show.value(x)) end
  writer(parts, x, depth)
end

--- A text with its checksum.
function packed.signed (text) return text .. string.pack("<i8", checksum(text)) end

--- A value as a string. `kind` says what it is.
function packed.pack (kind, x)
  local parts = {}
  write(parts, x, 1)
  return packed.signed(string.pack("<s1I1", kind, VERSION) .. table.concat(parts))
end


-- Reading ---------------------------------------------------------------------------------

local DAMAGED = {}   -- what is raised

local function require_that (holds)
  if not holds then error(DAMAGED) end
end

-- A reader is { text, at = the next byte, last = the last one }.
local function take (self, format, size)
  require_that(self.at + size - 1 <= self.last)
  local x = string.unpack(format, self.text, self.at)
  self.at = self.at + size
  return x
end

local read

local function read_tensor (self)
  local shape, n = {}, 1
  for d = 1, take(self, "<I1", 1) do
    shape[d] = take(self, "<i8", 8)
    require_that(d <= 16 and shape[d] >= 0 and shape[d] <= self.last)
    n = n * shape[d]
    require_that(n <= self.last)
  end
  local list = {}
  for i = 1, n do list[i] = take(self, "<d", 8) end
  require_that(#shape > 0)
  return n == 0 and core.zeros(shape) or core.tensor(list):reshape(shape)
end

local function read_string (self)
  local length = take(self, "<i8", 8)
  require_that(length >= 0 and length <= self.last)
  return take(self, "c" .. length, length)
end

local function read_table (self, depth)
  local t = {}
  require_that(depth < DEEPEST)
  for _ = 1, take(self, "<i8", 8) do
    local key = read(self, depth + 1)
    require_that(type(key) == "string" or math.type(key) == "integer")
    t[key] = read(self, depth + 1)
  end
  return t
end

local READERS = {
  n = function (self) return take(self, "<d", 8) end,
  i = function (self) return take(self, "<i8", 8) end,
  b = function (self) return take(self, "<I1", 1) == 1 end,
  s = read_string,
  t = read_tensor,
  ["{"] = read_table,
}

function read (self, depth)
  local reader = READERS[take(self, "c1", 1)]
  require_that(reader)
  return reader(self, depth)
end

local function read_all (self)
  local value = read(self, 1)
  require_that(self.at == self.last + 1)
  return value
end

--- The value that packed.pack(kind, value) wrote; or nil and what is wrong.
function packed.unpack (kind, text)
  if type(text) ~= "string" then return nil, "not a string" end
  local head = string.pack("<s1", kind)
  if text:sub(1, #head) ~= head or #text < #head + 9 then return nil, "not a saved " .. kind end
  if text:byte(#head + 1) ~= VERSION then return nil, "saved by another version" end
  local whole = text:sub(1, -9)
  if checksum(whole) ~= string.unpack("<i8", text, #text - 7) then return nil, "damaged: the checksum differs" end
  local ok, value = pcall(read_all, { text = whole, at = #head + 2, last = #whole })
  if ok then return value end
  if value ~= DAMAGED then error(value, 0) end
  return nil, "damaged"
end

return packed
