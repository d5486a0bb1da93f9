--- Options of pictures: rows of { name, rule in words, rule }, checked in one place.
local core   = require "perilune.core"
local errors = require "perilune.errors"
local show   = require "perilune.show"

local options = {}

local function is_text (x) return type(x) == "string" end
local function is_boolean (x) return type(x) == "boolean" end
local function is_finite (x) return type(x) == "number" and x == x and x < math.huge and x > -math.huge end

local function is_count_to (most)
  return function (x) return type(x) == "number" and math.tointeger(x) ~= nil and x >= 1 and x <= most end
end

local function is_range (x)
  return type(x) == "table" and #x == 2 and is_finite(x[1]) and is_finite(x[2]) and x[1] < x[2]
end

local function is_list_of (rule)
  return function (x)
    if type(x) ~= "table" or #x == 0 then return false end
    for _, element in ipairs(x) do
      if not rule(element) then return false end
    end
    return true
  end
end

local function is_edges (x)
  if not is_list_of(is_finite)(x) or #x < 2 or #x > 1001 then return false end
  for i = 2, #x do
    if x[i] <= x[i - 1] then return false end
  end
  return true
end

local function is_one_of (words)
  local known = {}
  for word in words:gmatch "%S+" do known[word] = true end
  return function (x) return is_text(x) and known[x] or false end
end

local RANGE = "two finite numbers {low, high}"

--- What every picture takes.
options.COMMON = {
  { "title", "a string", is_text }, { "xlabel", "a string", is_text }, { "ylabel", "a string", is_text },
}
options.AXES = {
  { "log", '"x", "y" or "xy"', is_one_of "x y xy" }, { "range", RANGE, is_range }, { "yrange", RANGE, is_range },
}
options.NAMES = { { "names", "a list of strings", is_list_of(is_text) } }
options.LAWS = { { "what", '"prob", "cdf", "sf" or "log_prob"', is_one_of "prob cdf sf log_prob" } }
options.DATA = { { "mark", '"line", "points" or "steps"', is_one_of "line points steps" } }
options.BINS = {
  { "bins", "an integer from 1 to 1000, or a list of rising edges",
    function (x) return is_count_to(1000)(x) or is_edges(x) end },
}
options.OVERLAY = { { "law", "a distribution of single numbers", function (x) return type(x) == "table" end } }
options.SITES = {
  { "sites", "a name or a list of names", function (x) return is_text(x) or is_list_of(is_text)(x) end },
}
options.TEXT = {
  { "width", "an integer from 20 to 1000", function (x) return is_count_to(1000)(x) and x >= 20 end },
  { "height", "an integer from 1 to 200", is_count_to(200) },
  { "ascii", "true or false", is_boolean }, { "colour", "true or false", is_boolean },
}
options.SPARK = {
  { "width", "an integer from 1 to 1000", is_count_to(1000) }, { "ascii", "true or false", is_boolean },
}
options.SVG = {
  { "width", "an integer from 100 to 10000", function (x) return is_count_to(10000)(x) and x >= 100 end },
  { "height", "an integer from 60 to 10000", function (x) return is_count_to(10000)(x) and x >= 60 end },
  { "theme", '"auto", "light" or "dark"', is_one_of "auto light dark" },
}

-- Tensors and lists as lists of our own, so that ranges and edges may be either.
local function plain (who, name, x)
  if core.is_tensor(x) and core.rank(x) == 1 then return x:totable() end
  return core.table_kind(x) == "data" and core.check_list(who, name, x) or x
end

--- The given options, a new table; raises for what is in none of these lists of rows, or against a rule.
function options.read (who, given, ...)
  local rows, names, found = {}, {}, {}
  for _, list in ipairs { ... } do
    for _, row in ipairs(list) do rows[#rows + 1], names[#names + 1] = row, row[1] end
  end
  errors.check_options(who, given, names)
  for _, row in ipairs(rows) do
    local value = given and plain(who, row[1], given[row[1]])
    if value ~= nil then
      if not row[3](value) then errors.raise("%s: %s must be %s, got %s", who, row[1], row[2], show.value(value)) end
      found[row[1]] = math.type(value) == "float" and math.tointeger(value) or value
    end
  end
  return found
end

--- Is an axis logarithmic?
function options.is_log (read, name) return read.log ~= nil and read.log:find(name, 1, true) ~= nil end

--- The axis "x" or "y" as these options want it, with what is said of it otherwise.
function options.axis (read, name, axis)
  axis = axis or {}
  local range = name == "x" and read.range or name == "y" and read.yrange
  if range then axis.low, axis.high, axis.is_given = range[1], range[2], true end
  axis.log = options.is_log(read, name)
  axis.label = read[name .. "label"] or axis.label
  if axis.log then axis.label = axis.label and axis.label .. " (log scale)" or "log scale" end
  if axis.log and range and range[1] <= 0 then
    errors.raise("plot: a logarithmic axis has positive numbers only, got %s = {%s, %s}",
                 name == "x" and "range" or "yrange", show.number(range[1]), show.number(range[2]))
  end
  return axis
end

return options
