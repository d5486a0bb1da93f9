--- read_json: what JSON says (RFC 8259), with arrays of numbers as tensors. Nothing else than JSON is taken.
local characters = require "perilune.characters"
local core       = require "perilune.core"
local errors     = require "perilune.errors"
local frame      = require "perilune.data.frame"
local joining    = require "perilune.joining"
local source     = require "perilune.data.source"

local DEEPEST = 200   -- arrays and objects within each other

local MOST_RANK = 16  -- of a tensor

local NAN = math.abs(0 / 0)   -- without a sign, which some would print

local NULL = setmetatable({}, { __tostring = function () return "null" end })

local Reader = {}
Reader.__index = Reader

-- Raises, with the line and the column of a place in the text.
local function fail (self, at, ...)
  local before = self.text:sub(1, at - 1)
  local _, lines = before:gsub("\n", "")
  errors.raise("read_json: line %d, column %d: %s", lines + 1, at - (before:match("^.*()\n") or 0), string.format(...))
end

-- The first place from `at` on that is no space.
local function after_space (self, at) return self.text:find("[^ \n\r\t]", at) or #self.text + 1 end

local function found (self, at)
  local c = self.text:sub(at, at)
  if c == "" then return "the end of the text" end
  return c:find "[%w%p]" and c or string.format("the byte %d", c:byte())
end


-- Strings ------------------------------------------------------------------------------------

local ESCAPES = { ['"'] = '"', ["\\"] = "\\", ["/"] = "/", b = "\b", f = "\f", n = "\n", r = "\r", t = "\t" }

-- The code of \uXXXX whose backslash is at `at`, and the place after it; pairs of surrogates are one.
local function code_at (self, at)
  local function unit (place)
    local digits = self.text:match("^\\u(%x%x%x%x)", place)
    return digits and tonumber(digits, 16)
  end
  local high = unit(at)
  if not high then fail(self, at, "\\u needs four hexadecimal digits") end
  if high < 0xD800 or high > 0xDFFF then return high, at + 6 end
  local low = unit(at + 6)
  if high > 0xDBFF or not low or low < 0xDC00 or low > 0xDFFF then
    fail(self, at, "half of a pair of surrogates without the other")
  end
  return 0x10000 + (high - 0xD800) * 0x400 + (low - 0xDC00), at + 12
end

-- A code in UTF-8; hosts may have no library for it.
local function encoded (code)
  local char, last, middle = string.char, 0x80 + code % 64, 0x80 + math.floor(code / 64) % 64
  if code < 0x80 then return char(code) end
  if code < 0x800 then return char(0xC0 + math.floor(code / 64), last) end
  if code < 0x10000 then return char(0xE0 + math.floor(code / 4096), middle, last) end
  return char(0xF0 + math.floor(code / 262144), 0x80 + math.floor(code / 4096) % 64, middle, last)
end

-- The string whose quote is at `at`, and the place after it.
local function read_string (self, at)
  local opened, parts = at, {}
  at = at + 1
  while true do
    local stop = self.text:find('["\\%c]', at)
    while stop and self.text:byte(stop) == 127 do stop = self.text:find('["\\%c]', stop + 1) end
    if not stop then fail(self, opened, "a string that never ends") end
    parts[#parts + 1] = self.text:sub(at, stop - 1)
    local c = self.text:sub(stop, stop)
    if c == '"' then return table.concat(parts), stop + 1 end
    if c ~= "\\" then fail(self, stop, "a control character within a string; write it as \\u%04x", c:byte()) end
    local escape = self.text:sub(stop + 1, stop + 1)
    if escape == "u" then
      local code
      code, at = code_at(self, stop)
      parts[#parts + 1] = encoded(code)
    else
      if not ESCAPES[escape] then fail(self, stop, "there is no \\%s in JSON", escape) end
      parts[#parts + 1], at = ESCAPES[escape], stop + 2
    end
  end
end


-- Arrays and objects ---------------------------------------------------------------------------

local function kind_of (value)
  if value == NULL then return "null" end
  if core.is_tensor(value) then return "numbers" end
  local kind = type(value)
  return kind == "table" and (getmetatable(value) and "object" or "list") or kind
end

-- The one kind of all values, null left out; raises where there are two. `where(i)` names a value.
local function common_kind (self, at, values, n, where)
  local kind
  for i = 1, n do
    local own = kind_of(values[i])
    if own ~= "null" then
      if kind and own ~= kind then
        fail(self, at, "values must be of one kind, but %s is %s and others are %s", where(i), own, kind)
      end
      kind = own
    end
  end
  return kind or "null"
end

local function numbers_of (values, n)
  local list = {}
  for i = 1, n do
    local v = values[i]
    list[i] = v == NULL and NAN or v == true and 1 or v == false and 0 or v
  end
  return core.tensor(list)
end

-- Tensors of one shape as one.
local function stacked (self, at, values, n, where)
  for i = 1, n do
    if values[i] == NULL then fail(self, at, "%s is null, others are arrays", where(i)) end
    local a, b = core.shape(values[1]), core.shape(values[i])
    if table.concat(a, ",") ~= table.concat(b, ",") then
      fail(self, at, "arrays must have one shape, but %s has (%s) and the first has (%s)", where(i),
           table.concat(b, ", "), table.concat(a, ", "))
    end
  end
  if core.rank(values[1]) >= MOST_RANK then fail(self, at, "an array of more than %d dimensions", MOST_RANK) end
  return joining.stack(values)
end

local columns_of

-- A list of values as they are given back: a tensor, a list of strings, or a table of columns.
local function joined (self, at, values, n, where)
  local kind = common_kind(self, at, values, n, where)
  if kind == "number" or kind == "boolean" or kind == "null" then return numbers_of(values, n) end
  if kind == "numbers" then return stacked(self, at, values, n, where) end
  if kind == "object" then return columns_of(self, at, values, n, where) end
  for i = 1, n do
    if values[i] == NULL then values[i] = kind == "string" and "" or fail(self, at, "%s is null", where(i)) end
  end
  return values
end

-- Objects as rows of a table of columns; a key that is not in all of them is null in the others.
function columns_of (self, at, rows, n, where)
  local names, lists = {}, {}
  for i = 1, n do
    if rows[i] == NULL then fail(self, at, "%s is null, others are objects", where(i)) end
    for _, name in ipairs(frame.names(rows[i])) do
      if not lists[name] then names[#names + 1], lists[name] = name, {} end
      lists[name][i] = rows[i][name]
    end
  end
  local columns = {}
  for _, name in ipairs(names) do
    local list = lists[name]
    for i = 1, n do
      local is_missing = list[i] == nil or type(list[i]) == "number" and list[i] ~= list[i]
      if is_missing then list[i] = NULL end
    end
    columns[name] = joined(self, at, list, n, function (i) return name .. " of " .. where(i) end)
  end
  return frame.new(columns, names)
end

local function element (i) return string.format("element %d", i) end

local function check_depth (self, at)
  self.depth = self.depth + 1
  if self.depth > DEEPEST then fail(self, at, "more than %d arrays and objects within each other", DEEPEST) end
end

-- The comma before the next value, or the end: the place after it, and whether it was the end.
local function separator (self, at, closing)
  at = after_space(self, at)
  local c = self.text:sub(at, at)
  if c ~= "," and c ~= closing then fail(self, at, "expected , or %s, found %s", closing, found(self, at)) end
  return at + 1, c == closing
end

local function read_array (self, at)
  local numbers, after = core.json_array(self.text, at)
  if numbers then return numbers, after end
  local opened, values, n = at, {}, 0
  check_depth(self, at)
  at = at + 1
  repeat   -- there is an element, since json_array reads an empty array
    local is_end
    n = n + 1
    values[n], at = self:value(at)
    at, is_end = separator(self, at, "]")
  until is_end
  self.depth = self.depth - 1
  return joined(self, opened, values, n, element), at
end

local function read_key (self, at, fields)
  at = after_space(self, at)
  if self.text:sub(at, at) ~= '"' then fail(self, at, "expected a key in quotes, found %s", found(self, at)) end
  local key, after = read_string(self, at)
  if fields[key] ~= nil then fail(self, at, "the key %s comes twice", key) end
  after = after_space(self, after)
  if self.text:sub(after, after) ~= ":" then fail(self, after, "expected :, found %s", found(self, after)) end
  return key, after + 1
end

local function read_object (self, at)
  local fields, names, is_end = {}, {}, false
  check_depth(self, at)
  at = after_space(self, at + 1)
  if self.text:sub(at, at) == "}" then at, is_end = at + 1, true end
  while not is_end do
    local key, value
    key, at = read_key(self, at, fields)
    value, at = self:value(at)
    fields[key], names[#names + 1] = value == NULL and NAN or value, key
    at, is_end = separator(self, at, "}")
  end
  self.depth = self.depth - 1
  return frame.new(fields, names), at
end


-- Values ---------------------------------------------------------------------------------------

local WORDS = { ["true"] = true, ["false"] = false, null = NULL }

local function read_number (self, at)
  local text = self.text:match("^-?%d[%d.eE+-]*", at)
  local is_strict = text and (text:find "^-?0[.eE]?" and not text:find "^-?0%d" or text:find "^-?[1-9]")
                    and not text:find "%.$" and not text:find "%.[eE]"
  local number = is_strict and core.read_number(text)
  if not number then fail(self, at, "this is no JSON: %s", text or found(self, at)) end
  local is_integer = text ~= "-0" and not text:find "[.eE]"   -- no integer has the sign of -0
  return is_integer and math.tointeger(number) or number, at + #text
end

--- The value at a place, and the place after it.
function Reader:value (at)
  at = after_space(self, at)
  local c = self.text:sub(at, at)
  if c == "{" then return read_object(self, at) end
  if c == "[" then return read_array(self, at) end
  if c == '"' then return read_string(self, at) end
  local word = self.text:match("^%l+", at)
  if word and WORDS[word] ~= nil then return WORDS[word], at + #word end
  if c == "" then fail(self, at, "expected a value, found the end of the text") end
  return read_number(self, at)
end

local json = {}

--@ peri.read_json(from) -> value
-- What JSON says: arrays of numbers, nested or not, as tensors (null is NaN, true 1, false 0), arrays of strings as
-- lists, objects as tables, and an array of objects as a table of columns, which is data for a model.
--   from  the name of a file, or { text = "..." }
-- > read_json{text = '{"y": [1, 2, null]}'}.y
-- Tensor(3)
--     1    2  nan
function json.read_json (from, ...)
  errors.no_more("read_json(from)", ...)
  local self = setmetatable({ text = source.read("read_json", from), depth = 0 }, Reader)
  local _, bad = characters.length(self.text)
  if bad then fail(self, bad, "this is no UTF-8") end
  local value, at = self:value(1)
  at = after_space(self, at)
  if at <= #self.text then fail(self, at, "text after the value: %s", found(self, at)) end
  return value == NULL and NAN or value
end

return json
