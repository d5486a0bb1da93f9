--- Random calls as text, for spec/long: random laws, plain and made of others, half of them of extreme parameters, and
-- what can be asked of them.
local peri        = require "perilune"
local Random      = require "spec.fuzz.random"
local params      = require "spec.fuzz.params"
local random_laws = require "spec.support.random_laws"

local random_calls = {}

local EXTREMES = {
  5e-324, 1e-300, 1e-150, 1e-100, 1e-20, 1e-8, 1e-3, 1e4, 1e6, 1e9, 2 ^ 40, 1e15, 2 ^ 53, 1e100, 1e150, 1e300,
}

-- Parameters of a class by name, k of each; some of them replaced by extreme ones.
local function parameters (random, class, k, is_extreme)
  local given = params.batch(random, class, k)
  if not given or not is_extreme then return given end
  for _, param in ipairs(class.params) do
    local list = given[param[1]] or {}
    for i = 1, #list do
      if random:once_in(3) then
        local x = random:pick(EXTREMES)
        list[i] = math.type(list[i]) == "integer" and x >= 1 and x <= 2 ^ 53 and math.floor(x)
                  or random:once_in(4) and -x or x
      end
    end
  end
  return given
end

-- Text for k laws of a class, or nil.
local function plain (random, name, k, is_extreme)
  return random_laws.plain(name, k, function (class) return parameters(random, class, k, is_extreme) end)
end

local ENDS = { "-math.huge", "-2", "-0.3", "0", "0.1", "1", "3", "10", "1000", "1e9", "math.huge" }
local WEIGHTS = { "0.3, 0.7", "0.5, 0.5", "1e-8, 1", "1e-300, 1" }
local TRANSFORMS = {
  "peri.transforms.Abs()", "peri.transforms.Exp()", "peri.transforms.Tanh()", "peri.transforms.Affine(3, -0.5)",
  "peri.transforms.Affine(-1, 2), peri.transforms.Abs()", "peri.transforms.Abs(), peri.transforms.Power(0.5)",
  "peri.transforms.Sigmoid()",
}

-- Laws made of others, from a function that gives text for k of them.
local MADE = random_laws.mixtures(WEIGHTS)
MADE[4] = function (random, of)
  local i = random:integer(1, #ENDS - 1)
  return ("peri.Truncated(%s, %s, %s)"):format(of(1), ENDS[i], ENDS[random:integer(i + 1, #ENDS)])
end
MADE[5] = function (random, of)
  return ("peri.TransformedDistribution(%s, {%s})"):format(of(1), random:pick(TRANSFORMS))
end

-- Text of a law made of the class `name`, at most twice over: mixtures that are truncated, and so on.
local function law (random, name, names)
  local is_extreme = random:once_in(2)
  local function of (k) return plain(random, name, k, is_extreme) or "peri.Normal(0, 1)" end
  local function other (k) return plain(random, random:pick(names), k, is_extreme) or "peri.Normal(0, 1)" end
  local code = random:pick(MADE)(random, of, other)
  if random:once_in(3) then
    local inner = code
    code = random:pick { MADE[4], MADE[5] }(random, function () return inner end)
  end
  return code
end

-- What is asked of a law p, and of two.
local CALLS = {
  "p:mean()", "p:variance()", "p:stddev()", "p:mode()", "p:median()", "p:entropy()", "p:sample(nil, peri.rng(1))",
  "p:icdf(0.3)", "p:icdf(1e-10)", "p:isf(1e-5)", "p:isf(1e-300)", "p:log_prob(p:median())", "p:cdf(1.5)",
  "p:log_sf(20)", "p:log_cdf(-3)", "p:interval(0.9)", "p:expectation(function (x) return peri.sin(x) end)",
  "p:expectation(function (x) return peri.sin(1000 * x) end)", "p:expectation(function (x) return peri.gt(x, 0.7) end)",
  "p:expectation(function (x) return peri.log(peri.abs(x)) end)",
}
local PAIR_CALLS = {
  "peri.kl_divergence(p, q)", "peri.kl_divergence(q, p)", "p:cross_entropy(q)", "peri.js_divergence(p, q)",
  "peri.renyi_divergence(p, q, 0.5)", "peri.renyi_divergence(p, q, 2)",
  "peri.wasserstein(p, q, 1)", "peri.wasserstein(p, q, 2)", "peri.wasserstein(p, q, 7)",
}

--- A function that makes the call on laws p and q, all of them texts; a q that is not needed is "nil".
function random_calls.compiled (p, q, call)
  return load(("local peri = ...; local p, q = %s, %s; return function () return %s end"):format(p, q, call))
end

--- visit(p, q, call) for everything that is asked of so many laws of each of these classes, or of all.
function random_calls.each (seed, count, wanted, visit)
  local random, names = Random.new(seed), peri.distributions()
  for _, name in ipairs(wanted or names) do
    if plain(random, name, 1, false) then
      for _ = 1, count do
        local p, q = law(random, name, names), law(random, random:pick(names), names)
        for _, call in ipairs(CALLS) do visit(p, "nil", call) end
        for _, call in ipairs(PAIR_CALLS) do visit(p, q, call) end
      end
    end
  end
end

return random_calls
