--- Values as strings that can be kept: plain tables, numbers, strings, booleans and tensors, with a version and a
-- checksum.
--
--   "perilune" kind version checksum | value
--
-- Nothing in such a string is ever executed. What does not check is refused with a message.
local core   = require "perilune.core"
local errors = require "perilune.errors"
local show   = require "perilune.show"

local packed = {}

local VERSION = 1
local HEADER  = "<c8s1I2I8"   -- magic, kind, version, checksum
local MAGIC   = "perilune"
local DEEPEST = 32            -- tables within tables
local CHUNK   = 64            -- doubles that string.pack gets at once

-- A sum of the words of a text that depends on their order (Fowler, Noll and Vo's, of eight bytes at a time).
local function checksum (text, first)
  local h, n = 0xcbf29ce484222325, #text
  local rest = (n - first + 1) % 8
  for at = first, n - rest - 7, 8 do h = (h ~ string.unpack("<i8", text, at)) * 0x100000001b3 end
  for at = n - rest + 1, n do h = (h ~ text:byte(at)) * 0x100000001b3 end
  return h ~ (h >> 32)
end


-- Writing -----------------------------------------------------------------------------------

local write

local function write_numbers (out, list)
  for first = 1, #list, CHUNK do
    local last = math.min(first + CHUNK - 1, #list)
    out[#out + 1] = string.pack("<" .. string.rep("d", last - first + 1), table.unpack(list, first, last))
  end
end

local function write_tensor (out, t)
  local shape = core.shape(t)
  out[#out + 1] = string.pack("<c1I1", "t", #shape)
  for _, n in ipairs(shape) do out[#out + 1] = string.pack("<I8", n) end
  local flat = core.bare(t):reshape(-1):totable()
  write_numbers(out, flat)
end

local function write_table (out, t, depth)
  if depth > DEEPEST then errors.raise("save: tables are nested deeper than %d", DEEPEST) end
  local keys = {}
  for key in pairs(t) do keys[#keys + 1] = key end
  table.sort(keys, function (a, b)
    if type(a) ~= type(b) then return type(a) < type(b) end
    return a < b
  end)
  out[#out + 1] = string.pack("<c1I8", "{", #keys)
  for _, key in ipairs(keys) do
    write(out, key, depth)
    write(out, t[key], depth)
  end
end

function write (out, x, depth)
  local kind = math.type(x) or core.is_tensor(x) and "tensor" or type(x)
  if kind == "integer" then out[#out + 1] = string.pack("<c1i8", "i", x)
  elseif kind == "float" then out[#out + 1] = string.pack("<c1d", "d", x)
  elseif kind == "string" then out[#out + 1] = string.pack("<c1s8", "s", x)
  elseif kind == "boolean" then out[#out + 1] = x and "T" or "F"
  elseif kind == "tensor" then write_tensor(out, x)
  elseif kind == "table" then write_table(out, x, depth + 1)
  else errors.raise("save: cannot keep %s", show.value(x)) end
end

--- A value as a string of a kind ("posterior", say).
function packed.pack (kind, value)
  local out = {}
  write(out, value, 0)
  local body = table.concat(out)
  return string.pack(HEADER, MAGIC, kind, VERSION, checksum(body, 1)) .. body
end


-- Reading -----------------------------------------------------------------------------------

local read

local function read_numbers (text, at, n)
  if n > (#text - at + 1) // 8 then error("it ends too early", 0) end
  local list = {}
  for first = 1, n, CHUNK do
    local last = math.min(first + CHUNK - 1, n)
    local values = { string.unpack("<" .. string.rep("d", last - first + 1), text, at) }
    at = values[#values]
    table.move(values, 1, #values - 1, first, list)
  end
  return list, at
end

local function read_tensor (text, at)
  local shape, n = {}, 1
  local rank, after = string.unpack("<I1", text, at)
  at = after
  for i = 1, rank do
    shape[i], at = string.unpack("<I8", text, at)
    if shape[i] < 0 or shape[i] > #text then error("a shape is impossible", 0) end
    n = n * shape[i]
    if n < 0 or n > #text then error("a shape is impossible", 0) end
  end
  local list
  list, at = read_numbers(text, at, n)
  local flat = n > 0 and core.tensor(list) or core.zeros(0)
  return rank == 1 and flat or flat:reshape(shape), at
end

local function read_table (text, at, depth)
  if depth > DEEPEST then error("tables are nested too deep", 0) end
  local n, t
  n, at = string.unpack("<I8", text, at)
  if n < 0 or n > #text then error("a table is impossible", 0) end
  t = {}
  for _ = 1, n do
    local key, value
    key, at = read(text, at, depth)
    value, at = read(text, at, depth)
    if key == nil or key ~= key then error("a key is impossible", 0) end
    t[key] = value
  end
  return t, at
end

local READERS = {
  i = function (text, at) return string.unpack("<i8", text, at) end,
  d = function (text, at) return string.unpack("<d", text, at) end,
  s = function (text, at) return string.unpack("<s8", text, at) end,
  T = function (_, at) return true, at end,
  F = function (_, at) return false, at end,
  t = read_tensor,
}

function read (text, at, depth)
  local tag = text:sub(at, at)
  if tag == "{" then return read_table(text, at + 1, depth + 1) end
  local reader = READERS[tag]
  if not reader then error("it has an unknown part", 0) end
  return reader(text, at + 1)
end

local function parse (kind, text)
  if #text < 12 or text:sub(1, 8) ~= MAGIC then error("it is no string of perilune's", 0) end
  local _, found, version, sum, at = string.unpack(HEADER, text)
  if found ~= kind then error(string.format("it holds a %s, not a %s", found, kind), 0) end
  if version ~= VERSION then error(string.format("its version is %d, and only %d is known", version, VERSION), 0) end
  if checksum(text, at) & 0xffffffffffffffff ~= sum & 0xffffffffffffffff then
    error("it is damaged: the checksum differs", 0)
  end
  local value, last = read(text, at, 0)
  if last ~= #text + 1 then error("it is longer than what it holds", 0) end
  return value
end

--- The value of a string made by pack(kind, value); or nil and why not.
function packed.unpack (kind, text)
  if type(text) ~= "string" then return nil, "a string was expected, got " .. show.value(text) end
  local ok, value = pcall(parse, kind, text)
  if ok then return value end
  if type(value) ~= "string" or value:find "memory" then error(value, 0) end
  return nil, (value:gsub("^.*bad argument #%d+ to 'unpack' %((.*)%)$", "%1"))
end

return packed
