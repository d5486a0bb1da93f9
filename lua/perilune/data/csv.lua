--- read_csv and write_csv: tables of columns from text, and back. The text itself is gone through in C.
local core   = require "perilune.core"
local errors = require "perilune.errors"
local frame  = require "perilune.data.frame"
local show   = require "perilune.show"
local source = require "perilune.data.source"

local raise = errors.raise

local READ  = { "separator", "header", "names", "columns", "numbers", "text", "missing", "decimal", "skip" }
local WRITE = { "columns", "separator", "decimal", "missing" }
local MISSING = { "", "NA", "NaN", "nan", "null" }
local SEPARATORS = { ",", ";", "\t" }
local SAID = { [","] = "a comma", [";"] = "a semicolon", ["\t"] = "a tab" }
local CHUNK = 4096   -- lines that are written at once

local csv = {}

local function check (who, name, value, rule, ok)
  if not ok then raise("%s: %s must be %s, got %s", who, name, rule, show.value(value)) end
  return value
end

-- One character that cannot be part of a number or a quote.
local function check_separator (who, s, decimal)
  check(who, "separator", s, "one character, such as \",\", \";\" or \"\\t\"",
        type(s) == "string" and #s == 1 and not s:find "[%w\"\r\n+.-]")
  if s == decimal then raise("%s: separator and decimal are both %q", who, s) end
  return s
end

local function check_decimal (who, decimal)
  decimal = decimal == nil and "." or decimal
  return check(who, "decimal", decimal, '"." or ","', decimal == "." or decimal == ",")
end

local function check_list (who, name, list)
  check(who, name, list, "a list of strings", type(list) == "table" and core.table_kind(list) == "data")
  list = core.check_list(who, name, list)
  for i, item in ipairs(list) do check(who, name .. "[" .. i .. "]", item, "a string", type(item) == "string") end
  return list
end


-- Reading ------------------------------------------------------------------------------------

-- The first line as it is, quotes and all.
local function first_line (text, at) return text:match("^[^\r\n]*", at + 1) end

-- The separator of a text whose first line has only one of them outside of quotes.
local function find_separator (who, text, at, decimal)
  local plain, found = first_line(text, at):gsub('"[^"]*"', ""), nil
  for _, s in ipairs(SEPARATORS) do
    if s ~= decimal and plain:find(s, 1, true) then
      if found then
        raise("%s: the first line has %s and %s: say which one separates columns, as in separator = %q", who,
              SAID[found], SAID[s], s)
      end
      found = s
    end
  end
  return found or decimal ~= "," and "," or ";"
end

-- Where the text begins after `skip` lines, and the number of that line.
local function skipped (who, text, skip)
  check(who, "skip", skip, "a number of lines", math.type(skip) == "integer" and skip >= 0)
  local at = 0
  for line = 1, skip do
    local _, stop = text:find("^[^\r\n]*\r?\n?", at + 1)
    if stop <= at then raise("%s: skip is %d, but there are %d lines", who, skip, line - 1) end
    at = stop
  end
  return at, skip + 1
end

local function check_distinct (who, names)
  local places = {}
  for i, name in ipairs(names) do
    if places[name] then
      raise("%s: columns %d and %d are both called %s; names = { ... } calls them otherwise", who, places[name], i,
            name)
    end
    places[name] = i
  end
  return places
end

-- The names of the columns, where the lines of values begin, and which line that is.
local function heading (who, text, at, line, separator, options, decimal)
  local fields, next_at, next_line = core.csv_record(text, at, line, separator, who)
  local has_header, given = options.header, options.names ~= nil and check_list(who, "names", options.names)
  if has_header == nil then has_header = true end
  check(who, "header", has_header, "true or false", type(has_header) == "boolean")
  if given and #given ~= #fields then
    raise("%s: there are %d names, but line %d has %d field%s", who, #given, line, #fields,
          #fields == 1 and "" or "s")
  end
  local numbers = 0
  for i, field in ipairs(fields) do
    if core.read_number(field, decimal) then numbers = numbers + 1 end
    if not has_header or field == "" then fields[i] = "c" .. i end
  end
  if not has_header then return given or fields, at, line end
  if options.header == nil and numbers == #fields then
    raise("%s: line %d, the first, has numbers only; if it is no header say header = false", who, line)
  end
  return given or fields, next_at, next_line
end

-- What each column is to be: see csv_columns.
local function kinds_of (who, names, places, options)
  local kinds = {}
  for i = 1, #names do kinds[i] = options.columns and "skipped" or "open" end
  for _, row in ipairs { { "columns", "open" }, { "numbers", "numbers" }, { "text", "text" } } do
    local option, kind = row[1], row[2]
    for _, name in ipairs(options[option] and check_list(who, option, options[option]) or {}) do
      local place = places[name]
      if not place then errors.unknown(who, "column", name, names) end
      if kinds[place] == "numbers" then raise("%s: %s cannot be both numbers and text", who, name) end
      if kinds[place] == "skipped" and option ~= "columns" then
        raise("%s: %s is among %s, but not among columns", who, name, option)
      end
      kinds[place] = kind
    end
  end
  return kinds
end

local function missing_set (list)
  local set = {}
  for _, text in ipairs(list) do set[text] = true end
  return set
end

--- What is known of a text once its head is read: { names, kinds, separator, decimal, missing, at, line }: see
-- csv_columns. The lines of values begin after `at` bytes.
function csv.start (who, text, options)
  local decimal = check_decimal(who, options.decimal)
  local at, line = skipped(who, text, options.skip or 0)
  if at == #text then raise("%s: there are no lines to read", who) end
  local separator = options.separator or find_separator(who, text, at, decimal)
  check_separator(who, separator, decimal)
  local missing = missing_set(check_list(who, "missing", options.missing or MISSING))
  local names, first, first_line_number = heading(who, text, at, line, separator, options, decimal)
  return { names = names, kinds = kinds_of(who, names, check_distinct(who, names), options), separator = separator,
           decimal = decimal, missing = missing, at = first, line = first_line_number }
end

--- The columns of all lines of a text that begin after `at` bytes; nil for those that are skipped. How many lines, and
-- the number of the next one.
function csv.columns (who, text, at, start)
  return core.csv_columns(text, at, start.line, start.separator, start.decimal, start.names, start.kinds,
                          start.missing, who)
end

--@ peri.read_csv(from, options) -> table of columns
-- Columns by name: tensors where all values are numbers or missing (NaN), lists of strings otherwise. The table is data
-- for a model as it is. Quotes, line ends and a byte order mark are as in RFC 4180; a line with too many or too few
-- fields is an error. A column without a name is called c and its number.
--   from       string: the name of a file; or { text = "..." }
--   separator  string, one character; unless told, the one of , ; and tab that the first line has, if it has one only
--   header     false if the first line has values already (true)
--   names      list of names for the columns, instead of the first line's
--   columns    the names of columns to read; all unless told
--   numbers    names of columns that must be numbers: text there is an error
--   text       names of columns to keep as text, such as codes with leading zeros
--   missing    what stands for a missing number: { "", "NA", "NaN", "nan", "null" } unless told
--   decimal    "," for numbers such as 1,5
--   skip       lines to leave out at the beginning
-- > read_csv{text = "x,y\n1,a\n2,b"}.x
-- Tensor(2)
--   1  2
function csv.read_csv (from, options, ...)
  errors.no_more("read_csv(from, options)", ...)
  errors.check_options("read_csv", options, READ)
  options = options or {}
  local text = source.read("read_csv", from)
  local start = csv.start("read_csv", text, options)
  local columns, names = csv.columns("read_csv", text, start.at, start), start.names
  local result, order = {}, {}
  for i, name in ipairs(names) do
    if columns[i] then result[name], order[#order + 1] = columns[i], name end
  end
  return frame.new(result, order)
end


-- Writing ------------------------------------------------------------------------------------

-- A column as it is written: a tensor of rank 1, or a list of strings.
local function writable (name, column)
  if frame.is_texts(column) then return column end
  local values = core.operand(column, "write_csv", name)
  if not core.is_tensor(values) or core.rank(values) ~= 1 then
    raise("write_csv: %s must be a list of numbers or strings, got %s", name, show.value(column))
  end
  return values:detach()
end

-- The columns to write, their names, and how many lines they have.
local function columns_of (x, wanted)
  if type(x) ~= "table" or core.table_kind(x) ~= "named" then
    raise("write_csv: takes a table of columns by name, got %s", show.value(x))
  end
  local names, columns, rows = wanted and check_list("write_csv", "columns", wanted) or frame.names(x), {}, nil
  for i, name in ipairs(names) do
    if type(name) ~= "string" then raise("write_csv: columns must have names, got %s", show.value(name)) end
    if x[name] == nil then errors.unknown("write_csv", "column", name, frame.names(x)) end
    columns[i] = writable(name, x[name])
    local n = frame.length(columns[i])
    if rows and rows ~= n then
      raise("write_csv: columns must have the same length: %s has %d values, %s has %d", names[1], rows, name, n)
    end
    rows = n
  end
  return columns, names, rows or 0
end

--@ peri.write_csv(x, path, options) -> text, without a path
-- Columns as lines of text with a header. Numbers have as many digits as it takes to read the same number back, and NaN
-- is empty, or NA where there is one column only.
--   x        a table of columns by name: tensors of rank 1, lists of numbers, lists of strings
--   path     the name of the file; without it the text is returned
--   options  columns = list of names, in order; separator = character between fields (","); decimal = "," for 1,5
--            ("."); missing = text for NaN
-- > write_csv{x = {1, 0.1}, y = {"a", "b c"}}
-- x,y
-- 1,a
-- 0.1,b c
function csv.write_csv (x, path, options, ...)
  errors.no_more("write_csv(x, path, options)", ...)
  errors.check_options("write_csv", options, WRITE)
  options = options or {}
  local decimal = check_decimal("write_csv", options.decimal)
  local separator = options.separator or decimal == "," and ";" or ","
  check_separator("write_csv", separator, decimal)
  local columns, names, rows = columns_of(x, options.columns)
  local missing = options.missing or #columns == 1 and "NA" or ""   -- empty lines at the end would not be read
  check("write_csv", "missing", missing, "a string", type(missing) == "string")
  local function each (put)
    local heads = {}
    for i, name in ipairs(names) do heads[i] = { name } end
    put(core.csv_lines(heads, 1, 1, separator, decimal, missing))
    for i = 1, rows, CHUNK do
      put(core.csv_lines(columns, i, math.min(i + CHUNK - 1, rows), separator, decimal, missing))
    end
  end
  if path ~= nil then return source.write("write_csv", path, each, "without a path it returns the text") end
  local pieces = {}
  each(function (text) pieces[#pieces + 1] = text end)
  return table.concat(pieces)
end

return csv
