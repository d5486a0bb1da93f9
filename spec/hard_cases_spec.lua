--- Values that other libraries get wrong, with the cause: every line about a
-- method of a distribution that there is.
local peri   = require "perilune"
local json   = require "dkjson"
local golden = require "spec.support.golden"

local METHODS = { log_prob = true, cdf = true, icdf = true, entropy = true, mean = true, variance = true, mode = true }
local ONE_BASED = { Categorical = true }   -- there, outcomes are counted from 0

local known = {}
for _, name in ipairs(peri.distributions()) do known[name] = true end

-- The parameters of a line, its numbers read and its options left out.
local function parameters (given)
  local params = {}
  for key, value in pairs(given) do
    if key ~= "validate_args" then params[key] = golden.number(value) or value end
  end
  return params
end

local function value_of (case)
  local d = peri[case.dist](parameters(case.params))
  local x = case.x
  if ONE_BASED[case.dist] and x then x = x + 1 end
  local value = d[case.method](d, golden.number(x) or x)
  return type(value) == "number" and value or value:item()
end

local file = assert(io.open("spec/support/reference/hard_cases.json"))
local cases = json.decode(file:read("a"), 1, nil, nil, nil)
file:close()

describe("a hard case", function ()
  local checked = 0
  for i, case in ipairs(cases.cases or cases) do
    if known[case.dist] and METHODS[case.method] then
      checked = checked + 1
      it(i .. ": " .. case.dist .. " " .. case.method, function ()
        local value = value_of(case)
        local line = { expected = case.expected, method = case.method }
        assert(golden.passes(line, value), string.format("expected %s, got %.17g (%s)", case.expected, value,
                                                         json.encode(case.params)))
      end)
    end
  end

  it("is one of many", function () assert(checked >= 60, checked .. " lines") end)
end)
