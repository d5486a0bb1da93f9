--- Parameters that classes accept, read from the constraints that these declare.
local peri = require "perilune"

local params = {}

-- The params that a class declares, as they were before any case changed one.
local declared = {}
for _, name in ipairs(peri.distributions()) do declared[peri[name]] = { table.unpack(peri[name].params) } end

--- A positive number of a usual size, or of an unusual one; in an extreme case of any size at all.
local function size (random)
  if random.is_extreme and random:once_in(5) then return random:between(1e-300, 1e300) end
  if random:once_in(4) then return random:between(1e-6, 1e6) end
  return random:between(0.1, 10)
end

params.size = size

local function signed (random) return random:once_in(2) and size(random) or -size(random) end

local function logit (random) return random:between(-30, 30) end

local function finite_or (x, other) return type(x) == "number" and x - x == 0 and x or other end

-- A number of an interval: near its lower end, unless it has only an upper one.
local function in_interval (random, low, high)
  local has_low, has_high = low > -math.huge, high < math.huge
  if has_low and has_high then return random:between(low, high) end
  if has_low then return low + size(random) end
  if has_high then return high - size(random) end
  return signed(random)
end

local function integer_in (random, low, high)
  local from = finite_or(low, finite_or(high, 0) - 10)
  local to = math.min(finite_or(high, from + 20), from + (random:once_in(20) and 1e6 or 20))
  return math.floor(random:integer(math.floor(from), math.floor(to)))
end

--- A number that satisfies a constraint of numbers.
function params.number (random, constraint)
  local low, high = peri.item(constraint.low or -math.huge), peri.item(constraint.high or math.huge)
  if constraint.is_discrete then return integer_in(random, low, high) end
  if random:once_in(20) and low > -math.huge and not constraint.left_open then return low end
  if random:once_in(20) and high < math.huge and not constraint.right_open then return high end
  return in_interval(random, low, high)
end


-- Rows and matrices -------------------------------------------------------------------

local function row_of (random, n, element)
  local row = {}
  for i = 1, n do row[i] = element(random, i) end
  return row
end

local function unit_row (random, n)
  local row, squares = {}, 0
  for i = 1, n do
    row[i] = random:between(-1, 1)
    squares = squares + row[i] ^ 2
  end
  for i = 1, n do row[i] = row[i] / math.sqrt(squares) end
  return row
end

local function triangle (random, n)
  return row_of(random, n, function (_, i)
    return row_of(random, n, function (_, j)
      return j > i and 0 or j == i and random:between(0.3, 3) or random:between(-1, 1)
    end)
  end)
end

local function definite (random, n)
  local l = triangle(random, n)
  return row_of(random, n, function (_, i)
    return row_of(random, n, function (_, j)
      local sum = 0
      for k = 1, n do sum = sum + l[i][k] * l[j][k] end
      return sum
    end)
  end)
end

local function rectangle (random, rows, columns)
  return row_of(random, rows, function () return row_of(random, columns, signed) end)
end

local function increasing (random, n)
  local row = row_of(random, n, signed)
  table.sort(row)
  for i = 2, n do
    if row[i] <= row[i - 1] then row[i] = row[i - 1] + math.abs(row[i - 1]) + 1 end
  end
  return row
end

-- Parameters whose constraint does not say all, by name: n is the size of an event, m that of its columns.
local BY_NAME = {
  mean_direction    = unit_row,
  cutpoints         = increasing,
  scale_tril        = triangle,
  row_scale_tril    = triangle,
  column_scale_tril = function (random, _, m) return triangle(random, m) end,
  covariance_matrix = definite, precision_matrix = definite, scale_matrix = definite, row_covariance = definite,
  column_covariance = function (random, _, m) return definite(random, m) end,
  cov_factor        = function (random, n, m) return rectangle(random, n, m) end,
}

local NEEDS_LARGE_DF = { Wishart = true, InverseWishart = true }

local function event_value (random, param, n, m)
  local by_name = BY_NAME[param[1]]
  if by_name then return by_name(random, n, m) end
  if param.event == 2 then return rectangle(random, n, m) end
  local element = param[1] == "logits" and logit or param[2].low == -math.huge and signed or size
  return row_of(random, n, element)
end

local function value (random, class, param, partial, n, m)
  if param.event then return event_value(random, param, n, m) end
  local constraint = param[2]
  if type(constraint) == "function" then constraint = constraint(partial) end
  if NEEDS_LARGE_DF[class.__name] and param[1] == "df" then return n - 1 + size(random) end
  if param.single then return random:integer(2, 4) end
  if param[1] == "logits" then return logit(random) end
  return params.number(random, constraint)
end

-- Is this one left out? (One that depends on others has a default that may not fit them.)
local function is_left_out (random, param)
  return param.default ~= nil and type(param[2]) ~= "function" and random:once_in(4)
end

-- Of a group of alternatives, whether another one was chosen.
local function is_excluded (param, chosen)
  for name in pairs(param.gives or {}) do
    if chosen[name] ~= nil then return true end
  end
  return false
end

-- The order in which alternatives are considered.
local function shuffled (random, list)
  local order = { table.unpack(list) }
  for i = #order, 2, -1 do
    local j = random:integer(1, i)
    if order[i].gives and order[j].gives then order[i], order[j] = order[j], order[i] end
  end
  return order
end

--- Named parameters of a class that declares them; nil for one made of others. The table is empty where all have
-- defaults and none was chosen, which is `Class()`: an empty table is data.
function params.named (random, class, n, m)
  if #declared[class] == 0 then return nil end
  n, m = n or random:integer(2, 3), m or random:integer(1, 3)
  local chosen = {}
  for _, param in ipairs(shuffled(random, declared[class])) do
    local name = param[1]
    if not is_excluded(param, chosen) and not is_left_out(random, param) then
      chosen[name] = value(random, class, param, setmetatable(chosen, { __index = params.defaults(class) }), n, m)
    end
  end
  return setmetatable(chosen, nil)
end

--- What parameters that are left out are.
function params.defaults (class)
  local defaults = {}
  for _, param in ipairs(declared[class]) do defaults[param[1]] = param.default end
  return defaults
end

--- Named parameters of a batch of k: lists of numbers; nil where parameters are rows, or those of an
-- element are no numbers.
function params.batch (random, class, k)
  local lists = {}
  for _, param in ipairs(declared[class]) do
    if param.event or param.single then return nil end
  end
  local first = params.named(random, class)
  if not first or next(first) == nil then return nil end
  for i = 1, k do
    local one = i == 1 and first or params.like(random, class, first)
    for name in pairs(first) do
      lists[name] = lists[name] or {}
      lists[name][i] = one[name]
    end
  end
  return lists
end

--- The first element of a batch.
function params.first (lists)
  local one = {}
  for name, list in pairs(lists) do one[name] = list[1] end
  return one
end

--- Other values for the same choice of parameters.
function params.like (random, class, first)
  local chosen = setmetatable({}, { __index = params.defaults(class) })
  for _, param in ipairs(declared[class]) do
    if first[param[1]] ~= nil then chosen[param[1]] = value(random, class, param, chosen) end
  end
  return setmetatable(chosen, nil)
end

return params
