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

local DEEPEST = 50         -- nested tables
local MOST_COPIES = 2^18   -- values in tables that were written before: tables of shared tables double with each level

local packed = {}


-- Writing ---------------------------------------------------------------------------------

local write

local function write_tensor (parts, t)
  local shape = core.shape(t)
  parts[#parts + 1] = "t" .. string.char(#shape)
  for _, n in ipairs(shape) do parts[#parts + 1] = core.integer_word(n) end
  local list = core.numel(t) > 0 and t:reshape(-1):totable() or {}
  for _, x in ipairs(list) do parts[#parts + 1] = core.double_word(x) end
end

-- Counts the values of a table that occurs again: it is written as often.
local function count_copies (parts, t, n)
  if parts.written[t] then parts.copies = parts.copies + n end
  parts.written[t] = true
  if parts.copies > MOST_COPIES then
    errors.raise("save: tables that occur more than once must not have more than %d values in all", MOST_COPIES)
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
  count_copies(parts, t, #keys)
  table.sort(keys, function (a, b)
    if type(a) ~= type(b) then return type(a) == "number" end
    return a < b
  end)
  parts[#parts + 1] = "{" .. core.integer_word(#keys)
  for _, key in ipairs(keys) do
    write(parts, key, depth)
    write(parts, rawget(t, key), depth + 1)
  end
end

local WRITERS = {
  float   = function (parts, x) parts[#parts + 1] = "n" .. core.double_word(x) end,
  integer = function (parts, x) parts[#parts + 1] = "i" .. core.integer_word(x) end,
  string  = function (parts, x) parts[#parts + 1] = "s" .. core.integer_word(#x) .. x end,
  boolean = function (parts, x) parts[#parts + 1] = x and "b\1" or "b\0" end,
  table   = write_table,
}

function write (parts, x, depth)
  if core.is_tensor(x) then x = x:detach() end   -- one number is a number
  if core.is_tensor(x) then return write_tensor(parts, x) end
  local writer = WRITERS[math.type(x) or type(x)]
  if not writer then errors.raise("save: cannot keep %s", show.value(x)) end
  writer(parts, x, depth)
end

local function head_of (kind) return string.char(#kind) .. kind end

--- A text with its checksum.
function packed.signed (text) return text .. core.checksum(text) end

--- A value as a string. `kind` says what it is.
function packed.pack (kind, x)
  local parts = { written = {}, copies = 0 }   -- a list of strings, with what is known of tables
  write(parts, x, 1)
  return packed.signed(head_of(kind) .. string.char(VERSION) .. table.concat(parts))
end


-- Reading ---------------------------------------------------------------------------------

local DAMAGED = {}   -- what is raised

local function require_that (holds)
  if not holds then error(DAMAGED) end
end

-- A reader is { text, at = the next byte, last = the last one }.
-- Takes so many bytes, and returns where they begin.
local function skip (self, size)
  local at = self.at
  require_that(at + size - 1 <= self.last)
  self.at = at + size
  return at
end

local function take_bytes (self, size)
  local at = skip(self, size)
  return self.text:sub(at, at + size - 1)
end

local function take_byte (self) return self.text:byte(skip(self, 1)) end
local function take_integer (self) return core.integer_at(self.text, skip(self, 8)) end
local function take_double (self) return core.double_at(self.text, skip(self, 8)) end

local read

local function read_tensor (self)
  local shape, n = {}, 1
  for d = 1, take_byte(self) do
    shape[d] = take_integer(self)
    require_that(d <= 16 and shape[d] >= 0 and shape[d] <= self.last)
    n = n * shape[d]
    require_that(n <= self.last)
  end
  local list = {}
  for i = 1, n do list[i] = take_double(self) end
  require_that(#shape > 0)
  return n == 0 and core.zeros(shape) or core.tensor(list):reshape(shape)
end

local function read_string (self)
  local length = take_integer(self)
  require_that(length >= 0 and length <= self.last)
  return take_bytes(self, length)
end

local function read_table (self, depth)
  local t = {}
  require_that(depth < DEEPEST)
  for _ = 1, take_integer(self) do
    local key = read(self, depth + 1)
    require_that(type(key) == "string" or math.type(key) == "integer")
    t[key] = read(self, depth + 1)
  end
  return t
end

local READERS = {
  n = take_double,
  i = take_integer,
  b = function (self) return take_byte(self) == 1 end,
  s = read_string,
  t = read_tensor,
  ["{"] = read_table,
}

function read (self, depth)
  local reader = READERS[take_bytes(self, 1)]
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
  local head = head_of(kind)
  if text:sub(1, #head) ~= head or #text < #head + 9 then return nil, "not a saved " .. kind end
  if text:byte(#head + 1) ~= VERSION then return nil, "saved by another version" end
  local whole = text:sub(1, -9)
  if core.checksum(whole) ~= text:sub(-8) then return nil, "damaged: the checksum differs" end
  local ok, value = pcall(read_all, { text = whole, at = #head + 2, last = #whole })
  if ok then return value end
  if value ~= DAMAGED then error(value, 0) end
  return nil, "damaged"
end

return packed
