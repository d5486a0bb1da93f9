--- Values that other libraries get wrong, with the cause: every line.
local peri   = require "perilune"
local core   = require "perilune.core"
local json   = require "dkjson"
local golden = require "spec.support.golden"

local ONE_BASED = { Categorical = true }   -- there, outcomes are counted from 0
local MATRICES = { I2 = { { 1, 0 }, { 0, 1 } }, ["2*I2"] = { { 2, 0 }, { 0, 2 } } }

local function number (value) return type(value) == "number" and value or peri.item(value) end

-- The parameters of a line, its numbers read and its options left out.
local function parameters (given)
  local params = {}
  for key, value in pairs(given) do
    if key ~= "validate_args" then params[key] = MATRICES[value] or golden.number(value) or value end
  end
  return params
end

-- A distribution by the name a line gives it.
local function distribution (name, params)
  if name == "TransformedDistribution(Normal,Abs)" then
    return peri.TransformedDistribution(peri.Normal(params), peri.transforms.Abs())
  elseif name == "TransformedDistribution(Exponential(1),[PowerTransform(-1)])" then
    return peri.TransformedDistribution(peri.Exponential(1), peri.transforms.Power(-1))
  end
  return peri[name](parameters(params))
end

local function pair (case)
  local p, q = case.dist:gsub(" %(%a+%)$", ""):match("^(.*)||(.*)$")
  return p, q
end

-- What to do with each kind of line; the first pattern that fits its method counts.
local kinds = {
  { "^kl_divergence$", function (case)
    local P, Q = pair(case)
    return peri.kl_divergence(distribution(P, case.params.p), distribution(Q, case.params.q))
  end },
  { "^d KL / d p%.df$", function (case)
    local p, q = parameters(case.params.p), parameters(case.params.q)
    return peri.grad(function (df)
      return peri.kl_divergence(peri.Wishart(df, p.covariance_matrix), peri.Wishart(q))
    end)(p.df)
  end },
  { "^d rsample/d (%w+) at x$", function (case, parameter)
    local class, operands, names = peri[case.dist], { case.x }, { "x" }
    for i, name in ipairs(class.operands) do operands[i + 1], names[i + 1] = case.params[name], name end
    local slopes = { core.bind_partials(class.kernels, "rsample", "rsample", names, names)(table.unpack(operands)) }
    for i, name in ipairs(names) do
      if name == parameter then return slopes[i] end
    end
  end },
  { "^value$", function (case)
    return peri.kl_div(golden.number(case.params.input), case.params.target)
  end },
  { "^[%w_]+$", function (case)
    local d, x = distribution(case.dist, case.params), case.x
    if ONE_BASED[case.dist] and x then x = x + 1 end
    return d[case.method](d, golden.number(x) or x)
  end },
}

-- Lines about 2e5 draws: the statistic, whose false alarm is 1e-6.
local N = 200000
local function of_draws (case)
  if case.dist == "Beta" then
    local x = peri.Beta(parameters(case.params)):sample(N, peri.rng(1))
    local share = tonumber(case.expected)
    return peri.item((x:gt(0.4) * x:lt(0.6)):mean()), math.sqrt(share * (1 - share) / N)
  end
  local l = peri.LKJCholesky(parameters(case.params)):sample(N, peri.rng(1))
  local x = (l:select(2, 1) * l:select(2, 3)):sum(-1)
  local squares = x * x
  return peri.item(squares:mean()), peri.item(squares:std()) / math.sqrt(N)
end

-- Is |Normal(1, 1)| against |Normal(-1, 1)| nothing but rounding? The law is the same, not its parameters.
local function is_nothing (case, value) return case.dist:find("Abs", 1, true) and math.abs(value) < 1e-13 end

local file = assert(io.open("spec/support/reference/hard_cases.json"))
local cases = json.decode(file:read("a"), 1, nil, nil, nil)
file:close()

local function check (case)
  for _, kind in ipairs(kinds) do
    local parameter = case.method:match(kind[1])
    if parameter then
      local value = number(kind[2](case, parameter))
      local line = { expected = case.expected, method = case.method }
      assert(golden.passes(line, value) or is_nothing(case, value),
             string.format("expected %s, got %.17g (%s)", case.expected, value, json.encode(case.params)))
      return
    end
  end
  local value, error = of_draws(case)
  assert(math.abs(value - tonumber(case.expected)) < 4.9 * error, value .. " is not " .. case.expected)
end

describe("a hard case", function ()
  for i, case in ipairs(cases) do
    it(i .. ": " .. case.dist .. " " .. case.method, function () check(case) end)
  end
end)
