--- What is wrong with a row or a matrix that violates its constraint: functions of an event that give a text, or nil.
local core      = require "perilune.core"
local functions = require "perilune.functions"
local show      = require "perilune.show"

local eq, ge, maximum = functions.eq, functions.ge, functions.maximum

local findings = {}

-- Where the first element is whose flag is set, of one row; or nil. Rows may be long: no table is made of them.
local function first (flags) return core.item(flags:max()) ~= 0 and math.tointeger(core.item(flags:argmax())) or nil end

-- A finding, "a row with 0.5": the first element that is not allowed.
local function with (is_allowed)
  return function (event)
    local all = event:reshape(-1)
    local i = #all > 0 and first(1 - is_allowed(all))
    if i then return (#core.shape(event) == 1 and "a row with " or "a matrix with ") .. show.number(all:at(i)) end
  end
end

findings.nan          = with(function (x) return eq(x, x) end)   -- is no element of anything
findings.negative     = with(function (x) return ge(x, 0) end)
findings.not_positive = with(function (x) return functions.gt(x, 0) end)
findings.no_count     = with(function (x) return ge(x, 0) * eq(x - functions.floor(x), 0) end)
findings.no_bit       = with(function (x) return maximum(eq(x, 0), eq(x, 1)) end)


-- Rows ---------------------------------------------------------------------------

function findings.sum (event) return "a row that sums to " .. show.number(core.item(event:sum())) end

function findings.length (event) return "a row of length " .. show.number(core.item((event * event):sum()) ^ 0.5) end

function findings.descent (event)
  local i = #event > 1 and first(functions.le(event:narrow(1, 2, #event - 1), event:narrow(1, 1, #event - 1)))
  if i then
    return string.format("a row with %s before %s", show.number(event:at(i)), show.number(event:at(i + 1)))
  end
end


-- Matrices ------------------------------------------------------------------------

local function each_element (event, look)
  for i, row in ipairs(event:totable()) do
    for j, v in ipairs(row) do
      local text = look(i, j, v)
      if text then return text end
    end
  end
end

function findings.above (event)
  return each_element(event, function (i, j, v)
    return j > i and v ~= 0 and string.format("a matrix with %s above the diagonal", show.number(v))
  end)
end

function findings.diagonal (event)
  return each_element(event, function (i, j, v)
    return i == j and v <= 0 and string.format("a matrix with %s on the diagonal", show.number(v))
  end)
end

function findings.other_diagonal (event)
  return each_element(event, function (i, j, v)
    return i == j and math.abs(v - 1) > 1e-6 and string.format("a matrix with %s on the diagonal", show.number(v))
  end)
end

function findings.long_row (event)
  for i = 1, #event do
    local norm = core.item((event[i] * event[i]):sum()) ^ 0.5
    if math.abs(norm - 1) > 1e-6 then return "a matrix with a row of length " .. show.number(norm) end
  end
end

function findings.asymmetry (event)
  local room = 1e-6 * core.item(event:abs():max())
  return each_element(event, function (i, j, v)
    local w = event:at(j, i)
    return math.abs(v - w) > room
           and string.format("a matrix with %s and %s across the diagonal", show.number(w), show.number(v))
  end)
end

function findings.indefinite () return "a symmetric matrix that is not" end

return findings
