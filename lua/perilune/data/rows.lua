--- Rows: numbers that stay in a file, or in memory in 32 bits, and become tensors where they are looked at.
--
-- A file has rows of numbers, one after the other, in the byte order of the machine: nothing else, or a head before
-- them that says what they are (written by data/row_files.lua):
--
--   perilune rows 1
--   dtype f64
--   rows 00000000000000000012
--   columns 2       or all dimensions after the first, none of rows that are numbers
--   name wait       if they have names; control characters and \ are \ and three digits
--   name storms
--   end             and spaces, until a multiple of 64 bytes
local core   = require "perilune.core"
local errors = require "perilune.errors"
local show   = require "perilune.show"
local source = require "perilune.data.source"

local raise = errors.raise

local BYTES = { f32 = 4, f64 = 8 }
local MOST_RANK = 16
local CHUNK = 2 ^ 20          -- numbers of a tensor that are stored at once
local MOST_HEAD = 2 ^ 24      -- bytes
local MAGIC = "perilune rows 1\n"

local Rows = { __name = "Rows", is_rows = true }

local methods = {}

local function is_integer (x) return math.type(x) == "integer" end

local function check_dtype (who, dtype, default)
  dtype = dtype == nil and default or dtype
  if not BYTES[dtype] then raise('%s: dtype must be "f32" or "f64", got %s', who, show.value(dtype)) end
  return dtype
end

local function numbers_in (shape)
  local n = 1
  for i = 2, #shape do n = n * shape[i] end
  return n
end

-- { n, ... } -> { n', ... }
local function with_length (shape, n)
  local result = table.move(shape, 1, #shape, 1, {})
  result[1] = n
  return result
end

-- `base` stores all columns, `base_width` of them; `store` those of the numbers `places`, or is the same.
local function new_rows (fields) return setmetatable(fields, Rows) end


-- Opening --------------------------------------------------------------------------------------

-- The lines of a head, and where the rows begin; nil if the file has none.
local function head_of (file, path)
  if file:read(#MAGIC) ~= MAGIC then return nil end
  local lines, bytes = {}, #MAGIC
  repeat
    local line = file:read "*l"
    if not line or bytes > MOST_HEAD then raise("map_file: %s: its head has no end", path) end
    bytes = bytes + #line + 1
    lines[#lines + 1] = line
  until lines[#lines] == "end"
  return lines, bytes + (-bytes) % 64
end

local function name_of (line)
  return (line:gsub("^name ", ""):gsub("\\(%d%d%d)", function (digits) return string.char(tonumber(digits)) end))
end

-- What a head says: shape, dtype and names.
local function said_by (lines, path)
  local dtype = lines[1]:match "^dtype (f%d%d)$"
  local n, columns = (lines[2] or ""):match "^rows (%d+)$", (lines[3] or ""):match "^columns([ %d]*)$"
  n = math.tointeger(tonumber(n))
  if not BYTES[dtype] or not n or not columns then
    raise("map_file: %s: its head is not one that write_rows or convert_csv has finished", path)
  end
  local shape, names = { n }, nil
  for digits in columns:gmatch "%d+" do shape[#shape + 1] = math.tointeger(tonumber(digits)) or 0 end
  if #lines > 4 then
    names = {}
    for i = 4, #lines - 1 do names[i - 3] = name_of(lines[i]) end
  end
  if names and #names ~= shape[2] then raise("map_file: %s: its head has %d names", path, #names) end
  return shape, dtype, names
end

local function check_shape (shape)
  local rule = "a list of 1 to 16 positive integers, the first of which may be -1"
  local is_list = type(shape) == "table" and core.table_kind(shape) == "data"
  if not is_list or #shape < 1 or #shape > MOST_RANK then
    raise("map_file: shape must be %s, got %s", rule, show.value(shape))
  end
  for i, n in ipairs(shape) do
    if not is_integer(n) or n < (i == 1 and -1 or 1) then
      raise("map_file: shape must be %s, got %s as number %d", rule, show.value(n), i)
    end
  end
  return shape
end

-- The shape, after the bytes of the file were counted.
local function fitted (path, shape, dtype, offset, bytes)
  local row, left = numbers_in(shape) * BYTES[dtype], bytes - offset
  if left < 0 then raise("map_file: %s has %d bytes, and offset is %d", path, bytes, offset) end
  if shape[1] == -1 then
    if left % row ~= 0 then
      raise("map_file: %s has %d bytes%s, which are no whole number of rows of %d (%d numbers of %s)", path, left,
            offset > 0 and " after the offset" or "", row, numbers_in(shape), dtype)
    end
    return with_length(shape, math.tointeger(left / row))
  end
  if left ~= shape[1] * row then
    raise("map_file: %s has %d bytes%s, but shape %s of %s takes %d", path, left,
          offset > 0 and " after the offset" or "", show.shape(shape), dtype, shape[1] * row)
  end
  return shape
end

local function open (path)
  if type(path) ~= "string" then raise("map_file: path must be the name of a file, got %s", show.value(path)) end
  local file, why = source.files("map_file").open(path, "rb")
  if not file then raise("map_file: %s", why) end
  local bytes = core.file_size(file)
  if not bytes then raise("map_file: %s is no regular file", path) end
  return file, bytes
end

--@ peri.map_file(path, options) -> Rows
-- Rows of numbers that stay in their file, for data larger than memory: only what is looked at is read, as tensors of
-- float64. Data of a model may be rows, within a plate. The file has numbers in the byte order of the machine and
-- nothing else; or it was written by write_rows or convert_csv, and says itself what it has.
--   path    string: the name of the file
--   shape   list of integers: rows first, which may be -1, as many as there are; not of files that say it themselves
--   dtype   "f64", unless told, or "f32": what a number is in the file
--   offset  bytes before the first number (0)
-- > name = os.tmpname()
-- > write_rows({ { 1, 2 }, { 3, 4 }, { 5, 6 } }, name, { head = false })
-- > some = map_file(name, { shape = { -1, 2 } })[{ 3, 1 }]
-- > os.remove(name)
-- > some
-- Tensor(2, 2)
--   5  6
--   1  2
local function map_file (path, options, ...)
  errors.no_more("map_file(path, options)", ...)
  errors.check_options("map_file", options, { "shape", "dtype", "offset" })
  options = options or {}
  local file, bytes = open(path)
  local lines, begins = head_of(file, path)
  local shape, dtype, names, offset
  if lines then
    local given = next(options)
    if given then raise("map_file: %s says itself what it has; leave %s out", path, given) end
    shape, dtype, names = said_by(lines, path)
    shape, offset = check_shape(shape), begins
  else
    if options.shape == nil then
      raise("map_file: %s does not say what it has: give shape = { rows, columns }, rows may be -1", path)
    end
    shape, dtype = check_shape(options.shape), check_dtype("map_file", options.dtype, "f64")
    offset = options.offset or 0
    if not is_integer(offset) or offset < 0 then
      raise("map_file: offset must be a number of bytes, got %s", show.value(offset))
    end
  end
  shape = fitted(path, shape, dtype, offset, bytes)
  local store = core.store_file(file, path, offset, dtype, shape[1], numbers_in(shape))
  return new_rows { shape = with_length(shape, shape[1]), dtype = dtype, names = names, path = path, base = store,
                    base_width = numbers_in(shape), store = store }
end

--@ peri.rows(x, options) -> Rows
-- Numbers held in memory in 32 bits, half of what a tensor takes; tensors of float64 where they are looked at.
--   x      tensor, or table of numbers, of rank 1 or more; or rows
--   dtype  "f32", unless told, or "f64"
-- > rows({ 0.5, 0.1 })[2]
-- 0.10000000149012
local function rows (x, options, ...)
  errors.no_more("rows(x, options)", ...)
  errors.check_options("rows", options, { "dtype" })
  local dtype = check_dtype("rows", options and options.dtype, "f32")
  local is_rows = getmetatable(x) == Rows
  if not is_rows then
    x = core.operand(x, "rows", "x")
    if not core.is_tensor(x) or core.rank(x) == 0 then raise("rows: x must have rows, got %s", show.value(x)) end
    x = x:detach()
  end
  local shape = is_rows and x.shape or core.shape(x)
  local n, width = shape[1], numbers_in(shape)
  if width == 0 then raise("rows: a row must have a number at least, got shape %s", show.shape(shape)) end
  local store, step = core.store_hold(dtype, n, width), math.max(1, math.floor(CHUNK / width))
  for first = 1, n, step do
    local count = math.min(step, n - first + 1)
    local part = is_rows and x:read(first, first + count - 1) or x:narrow(1, first, count):contiguous()
    core.store_write(store, first, part)
  end
  return new_rows { shape = with_length(shape, n), dtype = dtype, names = is_rows and x.names or nil, base = store,
                    base_width = width, store = store }
end


-- Reading --------------------------------------------------------------------------------------

--@ Rows
-- Rows of numbers in a file (peri.map_file), or in memory in 32 bits (peri.rows). Fields: shape, dtype, names of the
-- columns if they have any. rows[i] is a row, rows[{ 3, 1 }] are several, as tensors; #rows is how many there are.
-- > rows({ { 1, 2 }, { 3, 4 } })
-- Rows(2, 2) of f32 in memory

--@ Rows:read(first, last) -> Tensor
-- Rows from the first to the last.
--   first  integer; 1 unless told
--   last   integer; the number of all unless told
-- > rows({ 1, 2, 3, 4 }):read(2, 3)
-- Tensor(2)
--   2  3
function methods:read (first, last)
  local n = self.shape[1]
  if first == nil then first = 1 end
  if last == nil then last = n end
  if not is_integer(first) or not is_integer(last) or first < 1 or last > n or last < first - 1 then
    raise("Rows:read: first and last must be rows from 1 to %d, got %s and %s", n, show.value(first), show.value(last))
  end
  return core.store_read(self.store, first, core.zeros(with_length(self.shape, last - first + 1)))
end

--@ Rows:blocks(size) -> iterator
-- All rows, some at a time: for first, block in rows:blocks(size), where first is the number of the block's first row.
--   size  integer: rows of a block; the last one may have fewer
-- > total = 0
-- > for first, block in rows({ 1, 2, 3 }):blocks(2) do total = total + block:sum() end
-- > total
-- 6.0
function methods:blocks (size)
  if not is_integer(size) or size < 1 then
    raise("Rows:blocks: size must be a positive integer, got %s", show.value(size))
  end
  local n, next_first = self.shape[1], 1
  size = math.min(size, math.max(n, 1))   -- what is vast does not overflow below
  return function ()
    local first = next_first
    if first > n then return nil end
    next_first = first + size
    return first, self:read(first, math.min(first + size - 1, n))
  end
end

--@ Rows:batches(size, rng) -> iterator
-- All rows once, but for a rest smaller than size, in an order that the generator decides: for index, batch in
-- rows:batches(size, rng), where batch has the rows that index numbers. Large files are shuffled in blocks.
--   size  integer: rows of a batch
-- > count = 0
-- > for index, batch in rows({ 1, 2, 3, 4, 5 }):batches(2, rng(1)) do count = count + #batch end
-- > count
-- 4
function methods:batches (size, rng)
  local n = self.shape[1]
  if not is_integer(size) or size < 1 or size > n then
    raise("Rows:batches: size must be an integer from 1 to %d, got %s", n, show.value(size))
  end
  local batch = require "perilune.model.batch".new(n, size)
  batch:rows("", self)
  if rng ~= nil and type(rng) ~= "userdata" then
    raise("Rows:batches: rng must be a generator (peri.rng), got %s", show.value(rng))
  end
  rng = rng or require "perilune.inference.options".own_rng()
  return function ()
    if batch.order and batch.used + size > n then return nil end
    batch:draw(rng)
    return batch.index:detach():clone(), batch:rows(""):detach():clone()
  end
end

-- The place of a column by name or number.
local function place_of (self, column)
  if is_integer(column) and column >= 1 and column <= self.shape[2] then return column end
  for i, name in ipairs(self.names or {}) do
    if name == column then return i end
  end
  if type(column) == "string" and self.names then errors.unknown("Rows:columns", "column", column, self.names) end
  raise("Rows:columns: a column must be %san integer from 1 to %d, got %s", self.names and "a name, or " or "",
        self.shape[2], show.value(column))
end

local function check_matrix (self)
  if #self.shape ~= 2 then
    raise("Rows:columns: rows of shape %s have no columns: there must be two dimensions", show.shape(self.shape))
  end
end

-- Those columns of the base that these columns of self are.
local function in_base (self, places)
  local list = {}
  for i, place in ipairs(places) do list[i] = self.places and self.places[place] or place end
  return list
end

local function view (self, shape, places, names)
  places = in_base(self, places)
  return new_rows { shape = shape, dtype = self.dtype, names = names, path = self.path, base = self.base,
                    base_width = self.base_width, places = places, store = core.store_view(self.base, places) }
end

--@ Rows:columns(list) -> Rows
-- The same rows with some of their columns, in this order. Nothing is read.
--   list  names, or integers from 1
-- > rows({ { 1, 2, 3 }, { 4, 5, 6 } }):columns({ 3, 1 })[2]
-- Tensor(2)
--   6  4
function methods:columns (list)
  check_matrix(self)
  if type(list) ~= "table" or core.table_kind(list) ~= "data" or rawlen(list) == 0 then
    raise("Rows:columns: takes a list of columns, got %s", show.value(list))
  end
  list = core.check_list("Rows:columns", "columns", list)
  local places, names = {}, self.names and {}
  for i, column in ipairs(list) do
    places[i] = place_of(self, column)
    if names then names[i] = self.names[places[i]] end
  end
  return view(self, { self.shape[1], #places }, places, names)
end

--@ Rows:column(column) -> Rows
-- One column: rows of one number each. Nothing is read.
--   column  name, or integer from 1
-- > rows({ { 1, 2 }, { 3, 4 } }):column(2):read()
-- Tensor(2)
--   2  4
function methods:column (column)
  check_matrix(self)
  return view(self, { self.shape[1] }, { place_of(self, column) }, nil)
end

errors.count_arguments("Rows", methods, "read blocks batches columns column")

-- Several rows by number.
local function gather (self, index)
  index = core.operand(index, "Rows[index]", "the index")
  if not core.is_tensor(index) or core.rank(index) ~= 1 then
    raise("Rows[index]: an index must be an integer, or a list of them, got %s", show.value(index))
  end
  return core.store_gather(self.store, index:detach(), core.zeros(with_length(self.shape, core.numel(index))))
end

local function row (self, i)
  local n = self.shape[1]
  if is_integer(i) and i == n + 1 then return nil end   -- so that ipairs ends
  if is_integer(i) and i < 0 then i = n + 1 + i end
  if not is_integer(i) or i < 1 or i > n then
    raise("Rows[i]: an index must be an integer from 1 to %d, got %s", n, show.value(i))
  end
  return self:read(i, i)[1]
end

function Rows:__index (key)
  if type(key) == "number" then return row(self, key) end
  if type(key) == "table" or core.is_tensor(key) then return gather(self, key) end
  local method = methods[key]
  if method or type(key) ~= "string" or key:find "^_" or key == "names" or key == "path" or key == "places" then
    return method
  end
  local near = core.nearest(key, { "read", "blocks", "batches", "columns", "column", "shape", "dtype", "names" })
  raise("Rows has no %s%s; rows:read(first, last) is a tensor, and so are rows within a model's plate", key,
        near and ", did you mean " .. near .. "?" or "")
end

function Rows.__newindex (_, key) raise("Rows cannot be changed; %s was set", tostring(key)) end

function Rows:__len () return self.shape[1] end

function Rows:__tostring ()
  local where = self.path and "in " .. self.path or "in memory"
  return string.format("Rows%s of %s %s%s", show.shape(self.shape), self.dtype, where,
                       self.names and ": " .. table.concat(self.names, ", ") or "")
end

--- The head of a file; without a number of rows, that of one which is still being written.
local function head (dtype, n, shape, names)
  local lines = { MAGIC .. "dtype " .. dtype, "rows " .. (n and string.format("%020d", n) or string.rep("-", 20)),
                  "columns" }
  for i = 2, #shape do lines[3] = lines[3] .. " " .. shape[i] end
  for _, name in ipairs(names or {}) do
    lines[#lines + 1] = "name " .. name:gsub("[%c\\]", function (c) return string.format("\\%03d", c:byte()) end)
  end
  local text = table.concat(lines, "\n") .. "\nend\n"
  return text .. string.rep(" ", -#text % 64)
end

return { map_file = map_file, rows = rows, head = head, check_dtype = check_dtype, numbers_in = numbers_in,
         methods = methods, is = function (x) return getmetatable(x) == Rows end }
