--- describe(x): numbers, and columns of them, summed up.
local core       = require "perilune.core"
local errors     = require "perilune.errors"
local frame      = require "perilune.data.frame"
local show       = require "perilune.show"
local statistics = require "perilune.statistics"

local raise = errors.raise

local FIELDS = { "n", "missing", "mean", "sd", "min", "q25", "median", "q75", "max" }

local function cell (value)
  if value == nil then return "" end
  return math.type(value) == "integer" and tostring(value) or show.format("%.6g", value)
end

-- Numbers ----------------------------------------------------------------------------------

local Numbers = { __name = "description" }

local function row_of (d)
  local row = {}
  for i, field in ipairs(FIELDS) do row[i] = cell(d[field]) end
  return row
end

local ALL_RIGHT = setmetatable({}, { __index = function () return true end })

function Numbers.__tostring (d) return frame.aligned({ FIELDS, row_of(d) }, ALL_RIGHT) end

local function numbers (t)
  t = t:reshape(-1):detach()
  local x = statistics.kept(t, t:eq(t))
  local n = core.numel(x)
  local d = { n = n, missing = core.numel(t) - n }
  if n == 0 then
    for i = 3, #FIELDS do d[FIELDS[i]] = math.abs(0 / 0) end
  else
    d.mean, d.sd = x:mean(), n > 1 and x:std() or math.abs(0 / 0)
    local quantiles = x:quantile { 0, 0.25, 0.5, 0.75, 1 }
    for i, field in ipairs { "min", "q25", "median", "q75", "max" } do d[field] = quantiles[i] end
  end
  return setmetatable(d, Numbers)
end

-- Texts ------------------------------------------------------------------------------------

-- The one of the texts that occurs most often; of several, the first in the alphabet.
local function texts (list)
  local counts, d = {}, { n = 0, missing = 0, distinct = 0 }
  for i, text in ipairs(core.check_list("describe", "texts", list)) do
    if type(text) ~= "string" then raise("describe: texts must be strings, got %s at [%d]", show.value(text), i) end
    if text == "" then d.missing = d.missing + 1
    else
      d.n = d.n + 1
      d.distinct = d.distinct + (counts[text] and 0 or 1)
      counts[text] = (counts[text] or 0) + 1
    end
  end
  for text, count in pairs(counts) do
    local best = d.top and counts[d.top] or 0
    if count > best or count == best and text < d.top then d.top = text end
  end
  d.top_count = d.top and counts[d.top] or 0
  return setmetatable(d, { __name = "description", __tostring = function (self)
    local text = string.format("  n %d, missing %d, distinct %d", self.n, self.missing, self.distinct)
    if self.top_count < 2 then return text end
    return string.format("%s, most often %s (%d)", text, self.top, self.top_count)
  end })
end

-- Columns ----------------------------------------------------------------------------------

local function columns_tostring (names, d)
  local heads, lines = { "name" }, {}
  table.move(FIELDS, 1, #FIELDS, 2, heads)
  local rows = { heads }
  for _, name in ipairs(names) do
    if getmetatable(d[name]) == Numbers then
      local row = row_of(d[name])
      table.insert(row, 1, tostring(name))
      rows[#rows + 1] = row
    end
  end
  local right = setmetatable({ [1] = false }, { __index = ALL_RIGHT })
  if #rows > 1 then lines[1] = frame.aligned(rows, right) end
  for _, name in ipairs(names) do
    if getmetatable(d[name]) ~= Numbers then lines[#lines + 1] = "  " .. tostring(name) .. ":" .. tostring(d[name]) end
  end
  return table.concat(lines, "\n")
end

local function described (names, d)
  return setmetatable(d, { __name = "description", __tostring = function (self)
    return columns_tostring(names, self)
  end })
end

local function column (name, value)
  if frame.is_texts(value) then return texts(value) end
  value = core.operand(value, "describe", tostring(name))
  return numbers(core.is_tensor(value) and value or core.tensor { value })
end

--@ peri.describe(x) -> description
-- n, missing, mean, sd, min, q25, median, q75 and max as fields, without the missing values (NaN); printed as a table.
-- Of a table of columns, or of a matrix, one such description for each column: d.age.mean, d[2].sd. Columns of text
-- have n, missing, distinct, top and top_count.
--   x  tensor, list of numbers or strings, or table of columns by name
-- > describe{1, 2, 3, 4}.mean
-- 2.5
local function describe (x, ...)
  errors.no_more("describe(x)", ...)
  local kind = core.table_kind(x)
  if kind == "named" then
    local names, d = frame.names(x), {}
    for _, name in ipairs(names) do d[name] = column(name, x[name]) end
    return described(names, d)
  end
  if frame.is_texts(x) then return texts(x) end
  if kind ~= "data" and not core.is_tensor(x) then
    raise("describe: takes numbers, or a table of columns, got %s", show.value(x))
  end
  local t = core.operand(x, "describe", "x")
  if not core.is_tensor(t) or core.rank(t) < 2 then return column("x", t) end
  local names, d, matrix = {}, {}, t:reshape(core.shape(t)[1], -1)
  for j = 1, core.shape(matrix)[2] do names[j], d[j] = j, numbers(matrix:select(2, j)) end
  return described(names, d)
end

return { describe = describe }
