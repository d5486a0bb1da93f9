--- Reference tables of 25 digits, and the rule by which a line passes
-- (spec/support/reference/README.md).
local json = require "dkjson"

local golden = {}

local EPS, CAP, SMALLEST = 2.0 ^ -52, 1e6, 2.2250738585072014e-308
local LOG_SCALE = { log_prob = true, entropy = true, lgamma = true, betaln = true, logaddexp = true,
                    log_ndtr = true, digamma = true }
local SPECIAL = { inf = math.huge, ["-inf"] = -math.huge, nan = 0 / 0 }

--- A number of a table: plain, or "inf", "-inf", "nan", or a long decimal.
function golden.number (x) return SPECIAL[x] or tonumber(x) end

--- The lines of a table for which keep(line) is true.
function golden.lines (name, keep)
  local lines, number = {}, 0
  for text in io.lines("spec/support/reference/" .. name .. ".jsonl") do
    number = number + 1
    local line = json.decode(text, 1, nil, nil, nil)   -- plain tables
    line.number = number
    if keep(line) then lines[#lines + 1] = line end
  end
  return lines
end

local function same_special (value, expected)
  local e = SPECIAL[expected]
  return e ~= nil and (value == e or (value ~= value and e ~= e))
end

-- Largest relative error that the line forgives.
local function tolerance (line)
  local cond = line.cond or 0
  if not line.p then cond = math.min(cond, CAP) end
  return math.max(1e-12, 64 * EPS * (1 + cond))
end

--- Does `value` pass the line?
function golden.passes (line, value)
  if same_special(value, line.expected) or same_special(value, line.alt) then return true end
  if SPECIAL[line.expected] or value ~= value then return false end
  local expected = tonumber(line.expected)
  if value == expected then return true end
  if math.abs(value) == math.huge or math.abs(expected) == math.huge then return false end
  local error = math.abs(value - expected)
  if expected == 0 then return error <= 1e-12 end
  if error / math.max(math.abs(expected), SMALLEST) <= tolerance(line) then return true end
  return (line.cond or 0) > CAP and LOG_SCALE[line.method or line.fn] and error <= 16 * EPS or false
end

--- Runs compute(line) on each line; returns the failures as text.
function golden.failures (lines, compute, describe)
  local failures = {}
  for _, line in ipairs(lines) do
    local ok, value = pcall(compute, line)
    if not ok or not golden.passes(line, value) then
      local got = ok and string.format("%.17g", value) or value
      failures[#failures + 1] = string.format("line %d %s [%s]: expected %s, got %s", line.number,
                                              describe(line), line.tag, line.expected, got)
    end
  end
  return table.concat(failures, "\n")
end

return golden
