-- Quantiles of discrete laws where a tail reaches the level exactly. Levels come from integer arithmetic: a law
-- is a list of integer weights, its tails are sums of them, divided and rounded once.
local peri    = require "perilune"
local golden  = require "spec.support.golden"
local natural = require "spec.support.natural"

local of, add, multiply, power, choose = natural.of, natural.add, natural.multiply, natural.power, natural.choose
local EPS = 2.0 ^ -52

local function sum_of (weights)
  local total = {}
  for _, w in ipairs(weights) do total = add(total, w) end
  return total
end

-- Weights of the outcomes of n trials, each a success with odds `yes` to `no`.
local function trials (n, yes, no)
  local weights = {}
  for k = 0, n do
    weights[k + 1] = multiply(choose(n, k), multiply(power(of(yes), k), power(of(no), n - k)))
  end
  return weights
end

-- Weights of the first outcomes before r failures, with odds `yes` to `no`, and of all.
local function waiting (r, yes, no, outcomes)
  local weights, both = {}, of(yes + no)
  for k = 0, outcomes - 1 do
    local own = multiply(power(of(yes), k), power(of(no), r))
    weights[k + 1] = multiply(multiply(choose(r + k - 1, k), own), power(both, outcomes - k))
  end
  return weights, power(both, r + outcomes)
end

local function urn (population, successes, draws)
  local weights, first = {}, math.max(0, draws - (population - successes))
  for x = first, math.min(draws, successes) do
    weights[#weights + 1] = multiply(choose(successes, x), choose(population - successes, draws - x))
  end
  return weights, nil, first
end

local function polya (a, b, n)
  local weights = {}
  for k = 0, n do weights[k + 1] = multiply(choose(k + a - 1, k), choose(n - k + b - 1, n - k)) end
  return weights
end

local function integers (list)
  local weights = {}
  for i, w in ipairs(list) do weights[i] = of(w) end
  return weights
end

-- Calls check(k, cdf, sf, step, next) for each outcome but the last: step is the distance to the nearest other level,
-- next the outcome after k.
local function each_level (weights, total, first, check)
  local below = {}
  total = total or sum_of(weights)
  for i, w in ipairs(weights) do
    below = add(below, w)
    if i < #weights then
      local cdf, sf = natural.ratio(below, total), natural.ratio(natural.subtract(total, below), total)
      local step = math.min(natural.ratio(w, total), natural.ratio(weights[i + 1], total))
      check(first + i - 1, cdf, sf, step, first + i)
    end
  end
end

-- What is wrong at outcome k, as text. A level moved by `miss`, a part of the smaller tail, is surely further off
-- than the tail may be.
local function mistakes (d, miss, k, cdf, sf, step, next)
  local small, found = math.min(cdf, sf), {}
  local function moved (level, sign) return level + sign * (miss * small + (level > 0.5 and 2 * EPS or 0)) end
  local function expect (method, level, expected)
    local room = 2 * miss * small + (level > 0.5 and 8 * EPS or 0)
    if level <= 0 or level >= 1 or step <= room then return end
    local got = peri.item(d[method](d, level))
    if got ~= expected then
      found[#found + 1] = string.format("%s:%s(%.17g) is %g, not %g", tostring(d), method, level, got, expected)
    end
  end
  expect("icdf", cdf, k)
  expect("icdf", moved(cdf, -1), k)
  expect("icdf", moved(cdf, 1), next)
  expect("isf", sf, k)
  expect("isf", moved(sf, 1), k)
  expect("isf", moved(sf, -1), next)
  return table.concat(found, "\n")
end

local function check_law (d, weights, total, first)
  local half = {}
  each_level(weights, total, first or 0, function (...) assert.equal("", mistakes(d, 1e-11, ...)) end)
  for i, w in ipairs(weights) do   -- the median: the first outcome with 2 P(X <= k) >= 1
    half = add(half, add(w, w))
    if natural.ratio(half, total or sum_of(weights)) >= 1 then
      assert.equal((first or 0) + i - 1, peri.item(d:median()))
      break
    end
  end
end

-- { yes, no } for p = yes/(yes + no), a dyadic number
local ODDS = { { 1, 1 }, { 1, 3 }, { 3, 1 }, { 1, 7 }, { 5, 3 }, { 3, 13 }, { 1, 1023 }, { 1023, 1 } }

describe("A quantile at a level that a tail reaches exactly", function ()
  it("is right for Bernoulli and Binomial", function ()
    for _, odds in ipairs(ODDS) do
      local yes, no = odds[1], odds[2]
      local p = yes / (yes + no)
      check_law(peri.Bernoulli(p), integers { no, yes })
      for _, n in ipairs { 1, 2, 3, 4, 7, 10, 20, 33 } do check_law(peri.Binomial(n, p), trials(n, yes, no)) end
    end
  end)

  it("is right for Geometric and NegativeBinomial", function ()
    for _, odds in ipairs(ODDS) do
      local yes, no = odds[1], odds[2]
      local p = yes / (yes + no)
      check_law(peri.Geometric(1 - p), waiting(1, yes, no, 40))
      for _, r in ipairs { 1, 2, 3, 5, 12 } do check_law(peri.NegativeBinomial(r, p), waiting(r, yes, no, 40)) end
    end
    for _, p in ipairs { 1e-20, 1e-300 } do   -- P(X <= k) = (k + 1) p but for rounding
      for k = 0, 20 do assert.equal(k + 0.0, peri.Geometric(p):icdf((k + 1) * p)) end
    end
  end)

  it("is right for Hypergeometric", function ()
    for _, population in ipairs { 5, 8, 10, 20, 41 } do
      for _, successes in ipairs { 1, math.floor(population / 3), math.floor(population / 2), population - 1 } do
        for _, draws in ipairs { 1, 2, math.floor(population / 3), math.floor(population / 2), population - 1 } do
          check_law(peri.Hypergeometric(population, successes, draws), urn(population, successes, draws))
        end
      end
    end
  end)

  it("is right for BetaBinomial", function ()
    for _, n in ipairs { 1, 2, 5, 10, 30 } do
      for _, a in ipairs { 1, 2, 5, 50 } do
        for _, b in ipairs { 1, 3, 10 } do check_law(peri.BetaBinomial(a, b, n), polya(a, b, n)) end
      end
    end
  end)

  it("is right for DiscreteUniform and Categorical", function ()
    for _, n in ipairs { 1, 2, 3, 6, 10, 49, 100 } do
      local ones = {}
      for i = 1, n do ones[i] = 1 end
      check_law(peri.DiscreteUniform(-3, n - 4), integers(ones), nil, -3)
      check_law(peri.Categorical(ones), integers(ones), nil, 1)
    end
    for _, weights in ipairs { { 1, 2, 3, 4 }, { 1, 1, 6 }, { 7, 1, 1, 1 }, { 3, 1, 1e9, 5 } } do
      check_law(peri.Categorical(weights), integers(weights), nil, 1)
    end
  end)

  it("is right for mixtures, truncated, masked and transformed laws", function ()
    local short, long = trials(3, 1, 1), trials(4, 1, 1)
    local mixed = {}   -- weights 1/4 and 3/4, of 8 and 16 ways
    for k = 1, 5 do mixed[k] = add(multiply(short[k] or {}, of(2)), multiply(long[k], of(3))) end
    check_law(peri.MixtureSameFamily(peri.Categorical { 1, 3 }, peri.Binomial({ 3, 4 }, 0.5)), mixed)
    for _, odds in ipairs(ODDS) do
      local yes, no = odds[1], odds[2]
      local d, weights = peri.Binomial(10, yes / (yes + no)), trials(10, yes, no)
      check_law(peri.Masked(d, true), weights)
      check_law(peri.Truncated(d, 2, 7), { table.unpack(weights, 3, 8) }, nil, 2)
      local reversed = {}
      for i = 1, 11 do reversed[i] = weights[12 - i] end
      check_law(peri.TransformedDistribution(d, peri.transforms.Affine(5, 1)), weights, nil, 5)
      check_law(peri.TransformedDistribution(d, peri.transforms.Affine(10, -1)), reversed)
    end
  end)

  it("is right for mixtures of outcomes far apart, and below 0", function ()
    local ways = {}   -- of 1/2 in 1000 and 1/2 in 5000
    for k = -500, 4999 do ways[k + 501] = (k < 500 and 5 or 0) + (k >= 0 and 1 or 0) end
    local d = peri.MixtureSameFamily(peri.Categorical { 1, 1 }, peri.DiscreteUniform({ -500, 0 }, { 499, 4999 }))
    local below = 0
    for k = -500, 4999 do
      below = below + ways[k + 501]
      if k % 97 == 0 then
        assert.equal(k, peri.item(d:icdf(below / 10000)))
        assert.equal(k, peri.item(d:isf(1 - below / 10000)))
      end
    end
    local apart = peri.MixtureSameFamily(peri.Categorical { 1, 1 }, peri.Poisson { 1, 1e100 })
    assert.equal(1, peri.item(apart:icdf(0.3)))
    assert.equal(1e100, peri.item(apart:icdf(0.75)))
    assert.equal(1e100, peri.item(apart:isf(0.25)))
  end)

  -- Tails summed with 40 digits and rounded: Poisson, whose levels are not rational, and huge parameters
  it("is right for every line of the reference table", function ()
    local lines = golden.lines("levels", function () return true end)
    assert(#lines > 500)
    for _, line in ipairs(lines) do
      local d = peri[line.dist](table.unpack(line.params))
      assert.equal("", mistakes(d, 1e-8, line.k, line.cdf, line.sf, line.step, line.k + 1))
    end
  end)
end)
