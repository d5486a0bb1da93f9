--- Derivatives where probs are exactly 0 or 1 are the one-sided ones.
local peri = require "perilune"

local inf = math.huge

local function gradient (make, method, x, probs)
  local w = peri.param(probs)
  local d = make(w)
  d[method](d, x):sum():backward()
  return peri.tensor(w.grad):reshape(-1):totable()
end

local function bernoulli (p) return peri.Bernoulli(p) end
local function binomial (p) return peri.Binomial(3, p) end
local function geometric (p) return peri.Geometric(p) end
local function negative (p) return peri.NegativeBinomial(2.5, p) end
local function inflated (p) return peri.ZeroInflatedPoisson(p, 1.5) end

-- make, probs, method, x, derivative
local formulas = {
  { bernoulli, 0, "variance", nil, 1 },   { bernoulli, 1, "variance", nil, -1 },     -- 1 - 2 p
  { bernoulli, 0, "entropy", nil, inf },  { bernoulli, 1, "entropy", nil, -inf },    -- -logit p
  { bernoulli, 0, "stddev", nil, inf },   { bernoulli, 1, "stddev", nil, -inf },
  { bernoulli, 0, "log_prob", 0, -1 },    { bernoulli, 0, "log_prob", 1, inf },      -- -1/(1 - p), 1/p
  { bernoulli, 1, "log_prob", 0, -inf },  { bernoulli, 1, "log_prob", 1, 1 },
  { bernoulli, 0, "log_prob", 0.5, 0 },   { bernoulli, 0, "mean", nil, 1 },
  { binomial, 0, "variance", nil, 3 },    { binomial, 1, "variance", nil, -3 },      -- n (1 - 2 p)
  { binomial, 0, "log_prob", 0, -3 },     { binomial, 0, "log_prob", 2, inf },       -- x/p - (n - x)/(1 - p)
  { binomial, 1, "log_prob", 3, 3 },      { binomial, 1, "log_prob", 2, -inf },
  { binomial, 0, "entropy", nil, inf },   { binomial, 1, "entropy", nil, -inf },
  { negative, 0, "mean", nil, 2.5 },      { negative, 0, "variance", nil, 2.5 },     -- r/(1 - p)^2, ...
  { negative, 0, "log_prob", 0, -2.5 },   { negative, 0, "log_prob", 1, inf },       -- x/p - r/(1 - p)
  { negative, 0, "entropy", nil, inf },
  { geometric, 1, "mean", nil, -1 },      { geometric, 1, "variance", nil, -1 },     -- -1/p^2, 1/p^2 - 2/p^3
  { geometric, 1, "log_prob", 0, 1 },     { geometric, 1, "log_prob", 1, -inf },     -- 1/p - x/(1 - p)
  { geometric, 1, "entropy", nil, -inf },
  { inflated, 1, "log_prob", 2, -inf },   { inflated, 0, "mean", nil, -1.5 },
  { inflated, 1, "log_prob", 0, 1 - math.exp(-1.5) }, { inflated, 1, "prob", 1, -1.5 * math.exp(-1.5) },
}

it("has the derivatives of the formulas at the ends", function ()
  for _, row in ipairs(formulas) do
    local make, probs, method, x, expected = table.unpack(row, 1, 5)
    local got = gradient(make, method, x, probs)[1]
    assert(got == expected or math.abs(got - expected) <= 1e-14,
           string.format("%s:%s(%s): expected %g, got %g", tostring(make(probs)), method, tostring(x), expected, got))
  end
end)

-- Every method against differences into the interior: infinite slopes grow like -log(step) or faster.
local function difference (make, method, x, probs, k, step)
  local moved = { table.unpack(probs) }
  moved[k] = probs[k] == 0 and step or probs[k] == 1 and 1 - step or probs[k] + step
  local function value (p)
    local d = make(#p == 1 and p[1] or p)
    return peri.item(peri.tensor(d[method](d, x)):sum())
  end
  return (value(moved) - value(probs)) / (moved[k] - probs[k])
end

local function agrees (make, method, x, probs)
  local got = gradient(make, method, x, #probs == 1 and probs[1] or probs)
  for k = 1, #probs do
    local coarse, fine = difference(make, method, x, probs, k, 1e-6), difference(make, method, x, probs, k, 1e-12)
    local expected = math.abs(fine) > math.max(1, 1.5 * math.abs(coarse)) and fine * inf or coarse
    local close = got[k] == expected or expected ~= expected   -- -inf on both sides
                  or math.abs(got[k] - expected) <= 1e-4
    local at = type(x) == "table" and table.concat(x, ", ") or tostring(x)
    assert(close, string.format("%s(%s) at probs %s, element %d: expected %g, got %g", method, at,
                                table.concat(probs, ", "), k, expected, got[k]))
  end
end

local of_numbers, of_x = { "mean", "variance", "stddev", "entropy" },
                         { "log_prob", "prob", "cdf", "sf", "log_cdf", "log_sf" }

local families = {
  Bernoulli = { bernoulli, { { 0 }, { 1 } } }, Binomial = { binomial, { { 0 }, { 1 } } },
  Geometric = { geometric, { { 1 } } }, NegativeBinomial = { negative, { { 0 } } },
  ZeroInflatedPoisson = { inflated, { { 0 }, { 1 } }, of_numbers = { "mean", "variance", "entropy" },
                          of_x = { "log_prob", "cdf", "sf", "log_cdf", "log_sf" } },
  Categorical = { function (p) return peri.Categorical(p) end, { { 0.25, 0, 0.75 }, { 0, 0.5, 0.5, 0 }, { 2, 0, 3 } } },
}

for name, family in pairs(families) do
  it(name .. " has one-sided derivatives at every end", function ()
    for _, probs in ipairs(family[2]) do
      for _, method in ipairs(family.of_numbers or of_numbers) do agrees(family[1], method, nil, probs) end
      for _, method in ipairs(family.of_x or of_x) do
        for x = 0, 4 do agrees(family[1], method, x, probs) end
      end
    end
  end)
end

for _, name in ipairs { "OneHotCategorical", "OneHotCategoricalStraightThrough" } do
  it(name .. " has one-sided derivatives at every end", function ()
    local function make (p) return peri[name](p) end
    for _, probs in ipairs { { 0.25, 0, 0.75 }, { 0, 2, 0 } } do
      for _, x in ipairs { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 }, { 1, 1, 0 } } do
        agrees(make, "log_prob", x, probs)
        agrees(make, "prob", x, probs)
      end
      agrees(make, "entropy", nil, probs)
      for i = 1, 3 do   -- elements one by one
        for _, method in ipairs { "mean", "variance", "stddev" } do
          local function element (p)
            local d = make(p)
            return { [method] = function () return d[method](d):select(-1, i) end }
          end
          local ok, message = pcall(agrees, element, method, nil, probs)
          assert(ok, method .. " " .. i .. " " .. tostring(message))
        end
      end
    end
  end)
end

it("Multinomial has one-sided derivatives at every end", function ()
  local function make (p) return peri.Multinomial(3, p) end
  for _, x in ipairs { { 1, 0, 2 }, { 1, 1, 1 }, { 0, 0, 3 }, { 1, 0, 1 } } do
    agrees(make, "log_prob", x, { 1, 0, 3 })
    agrees(make, "prob", x, { 1, 0, 3 })
    agrees(make, "prob", x, { 0, 0, 3 })
  end
  agrees(make, "entropy", nil, { 0.25, 0, 0.75 })
  assert.same({ 0.0, 0.75, 0.0 }, gradient(function (p)
    return { mean = function () return make(p):mean():select(-1, 2) end }
  end, "mean", nil, { 1, 0, 3 }))
end)

it("mixtures have one-sided derivatives along their weights", function ()
  local function mixture (w, components) return peri.MixtureSameFamily(peri.Categorical(w), components) end
  local function numbers (w) return mixture(w, peri.Normal({ 0, 1, 1.5 }, { 1, 2, 1 })) end
  local function rows (w)
    return mixture(w, peri.Independent(peri.Normal({ { 0, 1 }, { 1, 2 }, { 2, 2 } }, 1), 1))
  end
  for _, weights in ipairs { { 1, 0, 3 }, { 0, 0, 2 }, { 0.5, 0.5, 0 } } do
    for _, method in ipairs { "log_prob", "prob", "cdf", "sf", "log_cdf", "log_sf" } do
      agrees(numbers, method, 0.3, weights)
    end
    for _, method in ipairs { "mean", "variance", "stddev" } do agrees(numbers, method, nil, weights) end
    agrees(rows, "log_prob", { 0.3, 2 }, weights)
    agrees(rows, "variance", nil, weights)
  end
end)

describe("one-sided derivatives", function ()
  it("leave values and other elements as they are", function ()
    local inside, mixed = gradient(bernoulli, "entropy", nil, { 0.3, 0.6 }), peri.param { 0.3, 0, 0.6, 1 }
    local d = peri.Bernoulli(mixed)
    local entropy = d:entropy()
    assert.same(peri.Bernoulli { 0.3, 0, 0.6, 1 }:entropy():totable(), entropy:totable())
    entropy:sum():backward()
    assert.same({ inside[1], inf, inside[2], -inf }, mixed.grad:totable())
  end)

  it("survive expand, and leave the methods of a subclass alone", function ()
    local p = peri.param { 0, 1 }
    peri.Bernoulli(p):expand { 3, 2 }:variance():sum():backward()
    assert.same({ 3.0, -3.0 }, p.grad:totable())
    local Fair = peri.Bernoulli:extend("Fair")
    function Fair:entropy () return self.probs * 0 + math.log(2) end
    assert.same({ 0.0 }, gradient(function (w) return Fair(w) end, "entropy", nil, 0))
    assert.same({ 1.0 }, gradient(function (w) return Fair(w) end, "variance", nil, 0))
  end)

  it("are those along logits where these were passed", function ()
    local l = peri.param { -inf, 0 }
    peri.Bernoulli { logits = l }:variance():sum():backward()
    assert.same({ 0.0, 0.0 }, l.grad:totable())
    local masked = peri.param { -inf, 0, 0 }
    peri.Categorical { logits = masked }:entropy():backward()
    assert.same(0.0, masked.grad[1])
  end)
end)
