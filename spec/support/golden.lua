--- Reference tables of 25 digits, and the rule by which a line passes
-- (spec/support/reference/README.md).
local json = require "dkjson"
local peri = require "perilune"

local golden = {}

local EPS, CAP, SMALLEST = 2.0 ^ -52, 1e6, 2.2250738585072014e-308
local LOG_SCALE = { log_prob = true, entropy = true, lgamma = true, betaln = true, logaddexp = true,
                    log_ndtr = true, digamma = true }
local FAMILY_TABLES = { "distributions", "distributions_more", "vectors", "wrappers", "complement" }
local SPECIAL = { inf = math.huge, ["-inf"] = -math.huge, nan = 0 / 0 }

--- A number of a table: plain, or "inf", "-inf", "nan", or a long decimal.
function golden.number (x) return SPECIAL[x] or tonumber(x) end

--- Numbers of a table, however deep, as numbers.
function golden.numbers (x)
  if type(x) ~= "table" then return golden.number(x) end
  local numbers = {}
  for key, value in pairs(x) do numbers[key] = golden.numbers(value) end
  return numbers
end

-- Appends the lines of a table that contain a text, or all of them.
local function append_lines (lines, name, text)
  local number = 0
  for written in io.lines("spec/support/reference/" .. name .. ".jsonl") do
    number = number + 1
    if not text or written:find(text, 1, true) then
      local line = json.decode(written, 1, nil, nil, nil)   -- plain tables
      line.place = name .. ".jsonl:" .. number
      lines[#lines + 1] = line
    end
  end
  return lines
end

--- The lines of a table.
function golden.lines (name) return append_lines({}, name) end

--- The lines of all tables on a family of distributions, and of one with its name.
function golden.family (name)
  local lines = {}
  for _, table_name in ipairs(FAMILY_TABLES) do append_lines(lines, table_name, '"dist": "' .. name .. '"') end
  local own = io.open("spec/support/reference/" .. name .. ".jsonl")
  if not own then return lines end
  own:close()
  return append_lines(lines, name)
end

--- The distribution that a line is about: `lua` is a constructor in full.
function golden.distribution (line)
  if line.lua then return assert(load("local peri = ...; return " .. line.lua))(peri) end
  return peri[line.dist](golden.numbers(line.params))
end

--- Both sides of a line on a divergence.
function golden.p (line) return peri[line.p](golden.numbers(line.p_params)) end
function golden.q (line) return peri[line.q](golden.numbers(line.q_params)) end

-- What perilune gives for a line on a distribution; `index` counts from 0.
local function value_of (line)
  local d = golden.distribution(line)
  local value = d[line.method](d, golden.numbers(line.x))
  if line.index then value = value:reshape(-1)[line.index + 1] end
  return peri.item(value)
end

local function describe (line)
  return string.format("%s:%s(%s)", golden.distribution(line), line.method, line.x and json.encode(line.x) or "")
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
  local expected = tonumber(line.expected) or line.expected:find "e%-%d+$" and 0   -- LuaJIT reads no long exponents
  if value == expected then return true end
  if math.abs(value) == math.huge or math.abs(expected) == math.huge then return false end
  local error = math.abs(value - expected)
  if expected == 0 then return error <= 1e-12 end
  if error / math.max(math.abs(expected), SMALLEST) <= tolerance(line) then return true end
  return (line.cond or 0) > CAP and LOG_SCALE[line.method or line.fn] and error <= 16 * EPS or false
end

--- Runs compute(line) on each line; returns the failures as text. That there are no lines is one.
function golden.failures (lines, compute, describe_line)
  if #lines == 0 then return "there are no reference lines" end
  local failures = {}
  for _, line in ipairs(lines) do
    local ok, value = pcall(compute, line)
    if not ok or not golden.passes(line, value) then
      local got = ok and string.format("%.17g", value) or value
      failures[#failures + 1] = string.format("%s %s [%s]: expected %s, got %s", line.place,
                                              describe_line(line), line.tag, line.expected, got)
    end
  end
  return table.concat(failures, "\n")
end

--- What fails of the lines on a family of distributions.
function golden.family_failures (name) return golden.failures(golden.family(name), value_of, describe) end

-- prob and stddev are exp and sqrt of others, which the contract checks.
local METHODS = { "log_prob", "cdf", "sf", "log_cdf", "log_sf", "icdf", "isf", "mean", "variance", "mode", "median",
                  "entropy" }

-- Does d have the method? All those that it lacks say so.
local function offers (d, method)
  local is_value = method == "mean" or method == "variance" or method == "mode" or method == "median"
                   or method == "entropy"
  local ok, message = pcall(d[method], d, not is_value and 0.5 or nil)
  return ok or not message:find(" has no " .. method, 1, true)
end

--- The methods of a family without a line, as text.
function golden.uncovered (name)
  local covered, missing = {}, {}
  local lines = golden.family(name)
  for _, line in ipairs(lines) do covered[line.method] = true end
  local d = lines[1] and golden.distribution(lines[1])
  for _, method in ipairs(METHODS) do
    if not covered[method] and (not d or offers(d, method)) then missing[#missing + 1] = method end
  end
  return table.concat(missing, " ")
end

return golden
