--- write_rows and convert_csv: files for map_file, written some rows at a time.
local core    = require "perilune.core"
local csv     = require "perilune.data.csv"
local errors  = require "perilune.errors"
local frame   = require "perilune.data.frame"
local joining = require "perilune.joining"
local rows    = require "perilune.data.rows"
local show    = require "perilune.show"
local source  = require "perilune.data.source"

local raise = errors.raise

local CHUNK = 2 ^ 17   -- numbers that are written at once
local PIECE = 2 ^ 20   -- bytes of text that are read at once

local row_files = {}

local function same_rows (a, b)
  for i = 2, math.max(#a, #b) do
    if a[i] ~= b[i] then return false end
  end
  return true
end

-- Writes tensors that next_part() gives until it gives nil; they have rows of the shape of the first, and `names`
-- name their columns. Returns how many rows there were.
local function write (who, path, next_part, dtype, names, has_head)
  local n, shape = 0, nil
  source.write(who, path, function (put)
    local function begin (part)
      shape = core.shape(part)
      if rows.numbers_in(shape) == 0 then
        raise("%s: a row must have a number at least, got shape %s", who, show.shape(shape))
      end
      if names and (#shape ~= 2 or #names ~= shape[2]) then
        raise("%s: there are %d names, but rows have shape %s", who, #names, show.shape(shape))
      end
      if has_head then put(rows.head(dtype, nil, shape, names)) end
    end
    for part in next_part do
      if not shape then begin(part) end
      if not same_rows(core.shape(part), shape) then
        raise("%s: rows must have one shape: %s comes after %s", who, show.shape(core.shape(part)), show.shape(shape))
      end
      put(core.raw(part, dtype))
      n = n + core.shape(part)[1]
    end
    if not shape then raise("%s: there are no rows to write", who) end
    if has_head then put(rows.head(dtype, n, shape, names), 0) end
  end)
  return n
end

-- The parts of a tensor, or of rows.
local function parts_of (x, shape)
  local step, first = math.max(1, math.floor(CHUNK / math.max(1, rows.numbers_in(shape)))), 1
  return function ()
    if first > shape[1] and first > 1 then return nil end
    local from, count = first, math.min(step, shape[1] - first + 1)
    first = first + step
    return rows.is(x) and x:read(from, from + count - 1) or x:narrow(1, from, count):contiguous()
  end
end

local function as_tensor (x)
  x = core.operand(x, "write_rows", "x")
  if not core.is_tensor(x) or core.rank(x) == 0 then raise("write_rows: x must have rows, got %s", show.value(x)) end
  return x:detach()
end

-- Columns by name, side by side; and their names.
local function side_by_side (x)
  local names, columns = frame.names(x), {}
  for i, name in ipairs(names) do
    if type(name) ~= "string" then raise("write_rows: columns must have names, got %s", show.value(name)) end
    if frame.is_texts(x[name]) then raise("write_rows: %s is text, and has no place among numbers", name) end
    columns[i] = as_tensor(x[name])
    if core.rank(columns[i]) ~= 1 or #columns[i] ~= #columns[1] then
      raise("write_rows: columns must have the same length: %s has shape %s, %s has %s", names[1],
            show.shape(core.shape(columns[1])), name, show.shape(core.shape(columns[i])))
    end
  end
  return joining.stack(columns, 2), names
end

-- What next_part() of `write` is, and the names that are known.
local function parts (x)
  if type(x) == "function" then
    return function ()
      local part = x()
      return part ~= nil and as_tensor(part):contiguous() or nil
    end
  end
  local names
  if rows.is(x) then names = x.names
  elseif type(x) == "table" and core.table_kind(x) == "named" then x, names = side_by_side(x)
  else x = as_tensor(x) end
  return parts_of(x, rows.is(x) and x.shape or core.shape(x)), names
end

local function check_names (names)
  if names == nil then return nil end
  local is_list = type(names) == "table" and core.table_kind(names) == "data"
  for i = 1, is_list and rawlen(names) or 0 do is_list = is_list and type(rawget(names, i)) == "string" end
  if not is_list then raise("write_rows: names must be a list of strings, got %s", show.value(names)) end
  return core.check_list("write_rows", "names", names)
end

local function check_path (who, path)
  if type(path) ~= "string" then raise("%s: path must be the name of a file, got %s", who, show.value(path)) end
end

--@ peri.write_rows(x, path, options) -> integer
-- Writes numbers to a file for map_file; returns how many rows there were.
--   x        tensor or table of numbers, of rank 1 or more; rows; a table of columns by name; or a function that gives
--            tensors, the next rows, until it gives nil
--   path     the name of the file
--   options  dtype = "f64", unless told, or "f32"; names = list of names of the columns; head = false leaves out what
--            says what is in the file
-- > name = os.tmpname()
-- > write_rows({ x = { 1, 2 }, y = { 3, 4 } }, name, { dtype = "f32" })
-- > y = map_file(name):column("y"):read()
-- > os.remove(name)
-- > y
-- Tensor(2)
--   3  4
function row_files.write_rows (x, path, options, ...)
  errors.no_more("write_rows(x, path, options)", ...)
  errors.check_options("write_rows", options, { "dtype", "names", "head" })
  options = options or {}
  check_path("write_rows", path)
  local dtype = rows.check_dtype("write_rows", options.dtype, "f64")
  local has_head = options.head == nil or options.head
  if type(has_head) ~= "boolean" then raise("write_rows: head must be true or false, got %s", show.value(has_head)) end
  local next_part, names = parts(x)
  return write("write_rows", path, next_part, dtype, check_names(options.names) or names, has_head)
end


-- Text ---------------------------------------------------------------------------------------------

local CONVERT = { "separator", "header", "names", "columns", "missing", "decimal", "skip", "dtype" }

-- Pieces of a text that end with whole lines.
local function pieces_of (file, path)
  local rest, is_end = "", false
  return function ()
    while not is_end do
      local more, why = file:read(PIECE)
      if why then raise("convert_csv: %s: %s", path, why) end
      is_end = more == nil
      rest = rest .. (more or "")
      local cut = is_end and #rest or core.csv_cut(rest)
      if cut > 0 then
        local piece = rest:sub(1, cut)
        rest = rest:sub(cut + 1)
        return piece
      end
    end
    return nil
  end
end

-- The columns of numbers of a piece of text, as rows; nil if it has none.
local function table_of (start, piece, at)
  local columns, n, line = csv.columns("convert_csv", piece, at, start)
  start.line = line
  if n == 0 then return nil end
  local list = {}
  for i = 1, #start.names do list[#list + 1] = columns[i] end
  return joining.stack(list, 2)
end

-- All columns that are read are numbers; their names.
local function only_numbers (start)
  local names = {}
  for i, kind in ipairs(start.kinds) do
    if kind ~= "skipped" then start.kinds[i], names[#names + 1] = "numbers", start.names[i] end
  end
  return names
end

--@ peri.convert_csv(from, to, options) -> integer
-- Converts lines of text to a file for map_file, some at a time: the text may be larger than memory. Returns how many
-- rows there were. Columns are numbers, missing ones NaN; text is an error, unless `columns` leaves it out.
--   from       string: the name of the file with text
--   to         string: the name of the file to be written
--   dtype      "f64", unless told, or "f32": what a number is in the file
--   columns    names of the columns to convert; all unless told
--   separator  as those of read_csv, and so are header, names, missing, decimal, skip
-- > text, name = os.tmpname(), os.tmpname()
-- > write_csv({ x = { 1, 2 }, y = { 0.5, 0.25 } }, text)
-- > convert_csv(text, name)
-- > columns = map_file(name).names
-- > os.remove(text)
-- > os.remove(name)
-- > columns[1], columns[2]
-- x  y
function row_files.convert_csv (from, to, options, ...)
  errors.no_more("convert_csv(from, to, options)", ...)
  errors.check_options("convert_csv", options, CONVERT)
  options = options or {}
  check_path("convert_csv", from)
  check_path("convert_csv", to)
  if from == to then raise("convert_csv: from and to are both %s", from) end
  local dtype = rows.check_dtype("convert_csv", options.dtype, "f64")
  local file, why = source.files("convert_csv").open(from, "rb")
  if not file then raise("convert_csv: %s", why) end
  local next_piece = pieces_of(file, from)
  local piece = (next_piece() or ""):gsub("^\239\187\191", "")
  local start = csv.start("convert_csv", piece, options)
  local names, at = only_numbers(start), start.at
  local function next_part ()
    while piece do
      local part = table_of(start, piece, at)
      piece, at = next_piece(), 0
      if part then return part end
    end
    return nil
  end
  local n = write("convert_csv", to, next_part, dtype, names, true)
  file:close()
  return n
end

return row_files
