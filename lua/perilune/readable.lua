--- Any value as text that a person reads: tables with their contents, functions with their names.
local characters = require "perilune.characters"
local show       = require "perilune.show"

local readable = {}

-- Hosts may leave out libraries.
local meta_of = debug and debug.getmetatable or getmetatable

local DEEPEST = 4      -- tables within tables
local LONGEST = 200    -- entries of one table
local COMMON = { "string", "table", "math", "io", "os", "utf8", "coroutine", "debug", "perilune" }

-- Where a named function may be found.
local function name_in (t, f)
  for key, x in next, t do
    if rawequal(x, f) and type(key) == "string" then return key end
  end
end

--- The name of a function of Lua's or ours, or of a global one; or nil.
function readable.name (f)
  local name = name_in(_G, f)
  if name then return name end
  for _, module in ipairs(COMMON) do
    local t = package and package.loaded[module]
    name = type(t) == "table" and name_in(t, f)
    if name then return (module == "perilune" and "peri" or module) .. "." .. name end
  end
end

-- "(x, y, ...)", where they are known.
local function parameters (f)
  local info, list = debug and debug.getinfo(f, "Su"), {}
  if not info or info.what == "C" or not info.nparams then return "" end   -- Lua 5.1 does not tell
  for i = 1, info.nparams do list[i] = debug.getlocal(f, i) or "?" end
  if info.isvararg then list[#list + 1] = "..." end
  return " (" .. table.concat(list, ", ") .. ")"
end

local function describe_function (f)
  local name = readable.name(f)
  return "function" .. (name and " " .. name or "") .. parameters(f)
end

local ESCAPES = { ["\n"] = "\\n", ["\t"] = "\\t", ["\r"] = "\\r", ['"'] = '\\"', ["\\"] = "\\\\" }

--- A text in quotes; what cannot be printed is written as Lua writes it.
function readable.quoted (s)
  s = s:gsub('[%c"\\\127]', function (c) return ESCAPES[c] or string.format("\\%03d", c:byte()) end)
  if not characters.length(s) then
    s = s:gsub("[\128-\255]", function (c) return string.format("\\%d", c:byte()) end)
  end
  return '"' .. s .. '"'
end

--- A number as Lua writes it, except that nan has no sign.
function readable.number (x) return x ~= x and "nan" or (tostring(x):gsub(",", ".")) end

local function has_text (x)
  local meta = meta_of(x)
  return type(meta) == "table" and (rawget(meta, "__tostring") or type(x) ~= "table" and rawget(meta, "__name"))
end

local function plain (x)
  local kind = type(x)
  if kind == "string" then return readable.quoted(x) end
  if kind == "number" then return readable.number(x) end
  if kind == "function" then return describe_function(x) end
  return tostring(x)
end

-- Keys that are not in the list: numbers first, then names by the alphabet.
local function other_keys (t, n)
  local keys = {}
  for key in next, t do
    if not (math.type(key) == "integer" and key >= 1 and key <= n) then keys[#keys + 1] = key end
  end
  table.sort(keys, function (a, b)
    if type(a) ~= type(b) then return type(a) < type(b) end
    if type(a) == "number" or type(a) == "string" then return a < b end
    return tostring(a) < tostring(b)
  end)
  return keys
end

local function key_text (key)
  if type(key) == "string" and key:find "^[%a_][%w_]*$" then return key end
  return "[" .. plain(key) .. "]"
end

local function width_of (s) return characters.length(s) or #s end

-- Texts in lines of a width, each behind `indent`.
local function filled (texts, indent, width)
  local lines, line = {}, ""
  for i, text in ipairs(texts) do
    if i < #texts then text = text .. "," end
    if line ~= "" and width_of(indent) + width_of(line) + 1 + width_of(text) > width then
      lines[#lines + 1], line = indent .. line, ""
    end
    line = line == "" and text or line .. " " .. text
  end
  lines[#lines + 1] = indent .. line
  return table.concat(lines, "\n")
end

local write

-- The entries of a table as texts, and whether each of them is short and without a key.
local function entries (t, indent, width, above)
  local texts, n, simple = {}, rawlen(t), true
  for i = 1, math.min(n, LONGEST) do
    texts[i] = write(rawget(t, i), indent, width, above)
    simple = simple and type(rawget(t, i)) ~= "table"
  end
  if n > LONGEST then texts[#texts + 1] = string.format("... %d more", n - LONGEST) end
  local keys = other_keys(t, n)
  for i = 1, math.min(#keys, LONGEST) do
    simple = false
    texts[#texts + 1] = key_text(keys[i]) .. " = " .. write(rawget(t, keys[i]), indent, width, above)
  end
  if #keys > LONGEST then texts[#texts + 1] = string.format("... %d more", #keys - LONGEST) end
  return texts, simple
end

local function write_table (t, indent, width, above)
  if above[t] then return "{<itself>}" end
  if next(t) == nil then return "{}" end
  if #indent / 2 >= DEEPEST then return "{...}" end
  above[t] = true
  local inner = indent .. "  "
  local texts, simple = entries(t, inner, width, above)
  above[t] = nil
  local line = "{ " .. table.concat(texts, ", ") .. " }"
  if width_of(indent) + width_of(line) + 8 <= width and not line:find "\n" then return line end
  if simple then return "{\n" .. filled(texts, inner, width) .. "\n" .. indent .. "}" end
  return "{\n" .. inner .. table.concat(texts, ",\n" .. inner) .. ",\n" .. indent .. "}"
end

function write (x, indent, width, above)
  if type(x) ~= "table" and not has_text(x) then return plain(x) end
  if not has_text(x) then return write_table(x, indent, width, above) end
  return (tostring(x):gsub("\n", "\n" .. indent))
end

--- Names in lines, behind what they are names of.
function readable.names (head, names)
  local texts = table.move(names, 2, #names, 2, { head .. ": " .. (names[1] or "nothing") })
  return filled(texts, "  ", show.width()):sub(3)
end

--- The value in lines of at most `width`, where that is possible.
function readable.text (x, width) return write(x, "", width or show.width(), {}) end

--- The same in one line.
function readable.line (x)
  local lines = readable.text(x, math.huge):gsub("[^\n]+", characters.trim_end)
  return (lines:gsub("\n%s*", " "))
end

--- The contents of a table, whatever tostring shows of it.
function readable.contents (t) return write_table(t, "", show.width(), {}) end

return readable
