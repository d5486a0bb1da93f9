--- Tables of columns: what read_csv and read_json return, and what describe and write_csv take.
--
-- One is a plain table from names to tensors and lists of strings, so that it is data for a model. Its metatable, which
-- has no __index, knows the order of the columns and how they are shown.
local characters = require "perilune.characters"
local core       = require "perilune.core"
local show       = require "perilune.show"

local WIDTH  = 60   -- of the values shown of a column
local SHOWN  = 8    -- of which there are at most so many

local frame = {}

--- The names of columns, in the order of the file; those that were added later come last.
function frame.names (columns)
  local meta, names, known = getmetatable(columns), {}, {}
  for _, name in ipairs(type(meta) == "table" and meta.names or {}) do
    if rawget(columns, name) ~= nil then names[#names + 1], known[name] = name, true end
  end
  local others = {}
  for name in next, columns do
    if not known[name] then others[#others + 1] = name end
  end
  table.sort(others, function (a, b) return tostring(a) < tostring(b) end)
  return table.move(others, 1, #others, #names + 1, names)
end

local function is_texts (x) return type(x) == "table" and core.table_kind(x) == "data" and type(x[1]) == "string" end

frame.is_texts = is_texts

--- How many values a column has; nil for what is no column.
function frame.length (column)
  if core.is_tensor(column) then return core.shape(column)[1] end
  return core.table_kind(column) == "data" and rawlen(column) or nil
end

local function kind_of (column)
  if core.is_tensor(column) then
    local shape = core.shape(column)
    return #shape > 1 and "numbers " .. show.shape(shape) or "numbers"
  end
  if is_texts(column) then return "text" end
  return type(column) == "string" and "text" or type(column)
end

-- How many are NaN, or empty text.
local function missing_of (column)
  if core.is_tensor(column) then return math.tointeger(column:ne(column):sum()) end
  local n = 0
  for _, text in ipairs(is_texts(column) and column or {}) do n = n + (text == "" and 1 or 0) end
  return n
end

local function value_text (value)
  if type(value) == "number" then return show.format("%.6g", value) end
  if core.is_tensor(value) then return "Tensor" .. show.shape(core.shape(value)) end
  return (tostring(value):gsub("[%c]", " "))
end

-- "5.1, 4.9, 4.7, ...", as many as there is room for.
local function first_values (column)
  local n = frame.length(column)
  if not n then return core.table_kind(column) == nil and value_text(column) or "" end
  local text = ""
  for i = 1, n do
    local more = (i > 1 and ", " or "") .. value_text(column[i])
    if i > SHOWN or #text + #more > WIDTH then return text == "" and more:sub(1, WIDTH) .. "..." or text .. ", ..." end
    text = text .. more
  end
  return text
end

-- Characters of a text: bytes that do not continue one.
local function width_of (text) return select(2, text:gsub("[^\128-\191]", "")) end

--- Rows of texts as lines of aligned columns, numbers on the right: `right` is a set of columns.
function frame.aligned (rows, right)
  local widths, lines = {}, {}
  for _, row in ipairs(rows) do
    for c, text in ipairs(row) do widths[c] = math.max(widths[c] or 0, width_of(text)) end
  end
  for r, row in ipairs(rows) do
    local cells = {}
    for c, text in ipairs(row) do
      local pad = string.rep(" ", widths[c] - width_of(text))
      cells[c] = right[c] and pad .. text or text .. pad
    end
    lines[r] = characters.trim_end("  " .. table.concat(cells, "  "))
  end
  return table.concat(lines, "\n")
end

local function shown (columns)
  local names = frame.names(columns)
  local rows, length = { { "name", "type", "missing", "first values" } }, nil
  for _, name in ipairs(names) do
    local column = columns[name]
    local n = frame.length(column)
    if n and length ~= n then length = length == nil and n or false end
    rows[#rows + 1] = { value_text(name), kind_of(column), tostring(missing_of(column)), first_values(column) }
  end
  local head = string.format("data: %d column%s", #names, #names == 1 and "" or "s")
  if length then head = string.format("data: %d row%s, %s", length, length == 1 and "" or "s", head:sub(7)) end
  return head .. "\n" .. frame.aligned(rows, { [3] = true })
end

--- Makes a table of columns of a plain one, `names` giving their order.
function frame.new (columns, names)
  return setmetatable(columns, { __name = "data", __tostring = shown, names = names })
end

return frame
