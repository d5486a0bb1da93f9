--- Infinite parameters: the limit law where there is one, an error else, and never a nan.
local peri   = require "perilune"
local golden = require "spec.support.golden"

local inf = math.huge
local VALUES, TAILS, QUANTILES = { "mean", "variance", "stddev", "mode", "median", "entropy" },
                                 { "log_prob", "cdf", "sf", "log_cdf", "log_sf" }, { "icdf", "isf" }

local function close (a, b)
  return a == b or (a ~= a and b ~= b)
         or math.abs(a) < inf and math.abs(b) < inf and math.abs(a - b) <= 1e-12 * math.max(math.abs(a), math.abs(b))
end

-- Where the density may be, on both sides.
local points = { -1e300, -40, -3, -1, -1e-5, 0, 1e-300, 1e-5, 0.3, 1, 2, 5, 40, 1e5, 1e300, inf, -inf }
local levels = { 0, 1e-300, 1e-5, 0.01, 0.3, 0.5, 0.9, 0.999, 1 }

local limits = {   -- the limit, and as what else it is known
  { peri.StudentT(inf, 1, 2),              peri.Normal(1, 2) },
  { peri.FisherSnedecor(3, inf),           peri.Gamma(1.5, 1.5) },
  { peri.FisherSnedecor(0.3, inf),         peri.Gamma(0.15, 0.15) },
  { peri.FisherSnedecor(inf, 3),           peri.InverseGamma(1.5, 1.5) },
  { peri.FisherSnedecor(inf, 9),           peri.InverseGamma(4.5, 4.5) },
  { peri.InverseGaussian(inf, 2),          peri.InverseGamma(0.5, 1) },
  { peri.Bernoulli { logits = inf },       peri.Bernoulli(1) },
  { peri.Bernoulli { logits = -inf },      peri.Bernoulli(0) },
  { peri.Binomial { total_count = 3, logits = inf },  peri.Binomial(3, 1) },
  { peri.Binomial { total_count = 3, logits = -inf }, peri.Binomial(3, 0) },
  { peri.Geometric { logits = inf },       peri.Geometric(1) },
  { peri.NegativeBinomial { total_count = 2, logits = -inf }, peri.NegativeBinomial(2, 0) },
  { peri.TruncatedNormal(1, 2),            peri.Normal(1, 2) },
  { peri.TruncatedNormal(0, 2, 0, inf),    peri.HalfNormal(2) },
}

local others = {
  peri.Normal(0, 1), peri.StudentT(5), peri.Cauchy(0, 1), peri.Gamma(2, 3), peri.InverseGamma(3, 2),
  peri.InverseGaussian(2, 3), peri.FisherSnedecor(5, 7), peri.LogNormal(0, 1), peri.HalfCauchy(1), peri.Exponential(1),
  peri.Bernoulli(0.3), peri.Binomial(3, 0.3), peri.Geometric(0.3), peri.NegativeBinomial(2, 0.3), peri.Poisson(2),
}

for _, pair in ipairs(limits) do
  local limit, known = pair[1], pair[2]
  describe(tostring(limit) .. " is " .. tostring(known), function ()
    local function compare (method, ...)
      local got, expected = peri.item(limit[method](limit, ...)), peri.item(known[method](known, ...))
      local at = table.concat({ ... }, ", ")
      assert(close(got, expected), string.format("%s(%s): expected %.17g, got %.17g", method, at, expected, got))
    end

    it("in every method", function ()
      for _, method in ipairs(VALUES) do compare(method) end
      for _, method in ipairs(TAILS) do
        for _, x in ipairs(points) do compare(method, x) end
      end
      for _, method in ipairs(QUANTILES) do
        for _, u in ipairs(levels) do compare(method, u) end
      end
    end)

    it("in its draws", function ()
      local x = limit:sample(20000, peri.rng(3))
      for _, u in ipairs { 0.1, 0.5, 0.9 } do
        local share = peri.item(x:le(known:icdf(u)):mean())
        local expected = peri.item(known:cdf(known:icdf(u)))
        assert(math.abs(share - expected) < 5 * (0.25 / 20000) ^ 0.5, u .. ": " .. share)
      end
    end)

    it("in divergences", function ()
      for _, other in ipairs(others) do
        if other.support.is_discrete == known.support.is_discrete then
          for _, swapped in ipairs { false, true } do
            local function divergence (d)
              return peri.item(swapped and peri.kl_divergence(other, d) or peri.kl_divergence(d, other))
            end
            local got, expected = divergence(limit), divergence(known)
            assert(close(got, expected) or math.abs(got - expected) < 1e-9,
                   string.format("%s: expected %.12g, got %.12g", tostring(other), expected, got))
          end
        end
      end
      assert.equal(0.0, peri.item(peri.kl_divergence(limit, limit)))
    end)
  end)
end

it("VonMises of concentration 0 is uniform on the circle", function ()
  local d, flat = peri.VonMises(0, 0), peri.Uniform(-math.pi, math.pi)
  for _, x in ipairs { -3, -1, 0, 0.5, 3 } do
    for _, method in ipairs(TAILS) do assert(close(d[method](d, x), flat[method](flat, x)), method) end
  end
  for _, u in ipairs { 1e-5, 0.3, 0.5, 0.999 } do assert(close(d:icdf(u), flat:icdf(u))) end
  assert.equal(1.0, d:variance())
  assert(close(math.log(2 * math.pi), d:entropy()))
  local x = d:sample(20000, peri.rng(1))
  assert(math.abs(peri.item(x:lt(1):mean()) - flat:cdf(1)) < 0.02)
  assert.equal(0.0, peri.kl_divergence(d, peri.VonMises(1, 0)))
  local q = peri.VonMises(1, 2)
  assert(close(peri.kl_divergence(d, q), peri.kl_divergence(peri.VonMises(0, 1e-200), q)))
end)

it("a variance is infinite where the mean is", function ()
  for _, d in ipairs {
    peri.HalfCauchy(1), peri.Pareto(1, 0.5), peri.InverseGamma(0.5, 1), peri.InverseGamma(1, 1),
    peri.FisherSnedecor(3, 1), peri.FisherSnedecor(3, 2), peri.Frechet(1, 0.5), peri.GeneralizedPareto(0, 1, 1.5),
    peri.InverseGaussian(inf, 1), peri.MixtureSameFamily(peri.Categorical { 1, 1 }, peri.Pareto(1, { 0.5, 3 })),
    peri.Truncated(peri.Cauchy(0, 1), 0, inf),
    peri.TransformedDistribution(peri.Exponential(0.5), peri.transforms.Exp()),
  } do
    assert.equal(inf, peri.item(d:mean()), tostring(d))
    assert.equal(inf, peri.item(d:variance()), tostring(d))
    assert.equal(inf, peri.item(d:stddev()), tostring(d))
  end
  assert.equal(inf, peri.Cauchy(0, 1):variance())
end)


-- All families: one parameter after the other is made infinite.

local function set_first (value, to)
  if type(value) ~= "table" then return to end
  local copy = {}
  for i, v in ipairs(value) do copy[i] = i == 1 and set_first(v, to) or v end
  return copy
end

local function is_nan (value)
  if type(value) == "number" then return value ~= value end
  return peri.item(peri.isnan(value):max()) > 0
end

-- Nothing but a mean may be undefined.
local function check_methods (d, line)
  local function check (method, ...)
    local ok, value = pcall(d[method], d, ...)
    assert(not ok or not is_nan(value), tostring(d) .. ":" .. method .. " is nan")
  end
  check("entropy")
  check("median")
  for _, method in ipairs(TAILS) do check(method, golden.numbers(line.x)) end
  for _, u in ipairs(levels) do
    check("icdf", u)
    check("isf", u)
  end
end

for _, name in ipairs(peri.distributions()) do
  local line = nil
  for _, l in ipairs(golden.family(name)) do
    if not line and l.method == "log_prob" and not l.lua then line = l end
  end
  if line then
    it(name .. " refuses infinite parameters, or gives no nan", function ()
      for key, value in pairs(golden.numbers(line.params)) do
        for _, to in ipairs { inf, -inf } do
          local params = golden.numbers(line.params)
          params[key] = set_first(value, to)
          local ok, d = pcall(peri[name], params)
          if ok then check_methods(d, line) else assert.matches(name .. ": .* must ", d) end
        end
      end
    end)
  end
end
