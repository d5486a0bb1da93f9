--- What is wrong with a row or a matrix that violates its constraint: functions of an event that give a text, or nil.
local core = require "perilune.core"
local show = require "perilune.show"

local findings = {}

-- A finding, "a row with 0.5": the first element that is odd.
local function with (is_odd)
  return function (event)
    for _, v in ipairs(event:reshape(-1):totable()) do
      if is_odd(v) then return (#core.shape(event) == 1 and "a row with " or "a matrix with ") .. show.number(v) end
    end
  end
end

local function is_negative (v) return v ~= v or v < 0 end

findings.nan          = with(function (v) return v ~= v end)   -- is no element of anything
findings.negative     = with(is_negative)
findings.not_positive = with(function (v) return v ~= v or v <= 0 end)
findings.no_count     = with(function (v) return is_negative(v) or v % 1 ~= 0 end)
findings.no_bit       = with(function (v) return v ~= 0 and v ~= 1 end)


-- Rows ---------------------------------------------------------------------------

function findings.sum (event) return "a row that sums to " .. show.number(core.item(event:sum())) end

function findings.length (event) return "a row of length " .. show.number(core.item((event * event):sum()) ^ 0.5) end

function findings.descent (event)
  for i = 2, #event do
    if event[i] <= event[i - 1] then
      return string.format("a row with %s before %s", show.number(event[i - 1]), show.number(event[i]))
    end
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
