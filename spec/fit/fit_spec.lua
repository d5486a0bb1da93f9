--- peri.fit: against references, with weights and fixed parameters, in any units, and where there is no maximum.
local peri = require "perilune"
local core = require "perilune.core"
local dkjson = require "dkjson"

local function near (want, got, relative) assert.near(want, got, relative * (1e-300 + math.abs(want))) end

local function message (...)
  local ok, why = pcall(peri.fit, ...)
  assert.is_false(ok)
  return why
end

local function read (path)
  local file = assert(io.open(path))
  local text = file:read "a"
  file:close()
  return dkjson.decode(text)
end

-- The parameters that were fitted, in the order of the class.
local function estimates (fit)
  local values, errors = {}, {}
  for _, name in ipairs(fit.names) do
    if not fit.fixed[name] then values[#values + 1], errors[#errors + 1] = fit.params[name], fit.se[name] end
  end
  return values, errors
end

describe("fit against 40 digits and SciPy:", function ()
  for _, row in ipairs(read "spec/support/reference/fits.json") do
    it(row.family, function ()
      local fixed = next(row.fixed) and row.fixed or nil
      local fit = peri.fit(peri[row.family], row.data, { fixed = fixed })
      local values, errors = estimates(fit)
      assert.is_true(fit.converged)
      assert.are.equal(#row.params, #values)
      for i, want in ipairs(row.params) do
        assert.near(want, values[i], 1e-8 * (math.abs(want) + row.se[i]))
        near(row.se[i], errors[i], 1e-6)
      end
      near(row.log_lik, fit.log_lik, 1e-12)
      if row.log_lik_scipy then assert.is_true(fit.log_lik >= row.log_lik_scipy - 1e-9) end
    end)
  end
end)

describe("fit", function ()
  local rng = peri.rng(3)

  it("does not depend on units", function ()
    for _, d in ipairs {
      peri.Gamma(3, 2), peri.Weibull(2, 1.5), peri.StudentT(4, 1, 2), peri.InverseGamma(3, 2), peri.Pareto(2, 3),
      peri.InverseGaussian(2, 5), peri.GeneralizedNormal(1, 2, 1.6), peri.Triangular(1, 5, 2), peri.Cauchy(1, 2),
      peri.AsymmetricLaplace(1, 2, 0.7), peri.Logistic(1, 2), peri.SkewNormal(1, 2, 3), peri.LogNormal(1, 0.5),
    } do
      local c, x = getmetatable(d), d:sample(200, rng)
      local one = peri.fit(c, x)
      for _, unit in ipairs { 1e-9, 1e9, 1e100 } do
        local other = peri.fit(c, x * unit)
        assert.is_true(other.converged, tostring(other))
        assert.near(one.log_lik - 200 * math.log(unit), other.log_lik, 1e-6, c.__name)
        for _, p in ipairs { 0.1, 0.5, 0.9 } do
          near(one.distribution:icdf(p) * unit, other.distribution:icdf(p), 1e-6)
        end
      end
    end
  end)

  it("finds a narrow law far from 0", function ()
    local fit = peri.fit(peri.StudentT, 1e9 + peri.StudentT(4, 0, 1):sample(500, rng))
    assert.is_true(fit.converged)
    assert.near(1e9, fit.params.loc, 0.5)
    assert.near(1, fit.params.scale, 0.5)
  end)

  it("counts a value as often as its weight says", function ()
    for _, c in ipairs { peri.Gamma, peri.Normal, peri.Laplace, peri.Exponential, peri.InverseGaussian,
                         peri.Weibull } do
      local a = peri.fit(c, { 1, 2, 2, 2, 3.5, 3.5, 7 })
      local b = peri.fit(c, { 1, 2, 3.5, 7, 100 }, { weights = { 1, 3, 2, 1, 0 } })
      near(a.log_lik, b.log_lik, 1e-11)
      assert.are.equal(a.n, b.n)
      for _, name in ipairs(a.names) do
        near(a.params[name], b.params[name], 1e-7)
        if a.se[name] == a.se[name] then near(a.se[name], b.se[name], 1e-5) end
      end
    end
    local shares = peri.fit(peri.Categorical, { 1, 2, 3 }, { weights = { 1, 2, 1 } }).params.probs
    assert.same({ 0.25, 0.5, 0.25 }, shares:totable())
  end)

  it("has errors where parameters hang together closely", function ()
    local z = peri.Normal(0, 1):sample(20, peri.rng(1))
    for _, spread in ipairs { 1e-2, 1e-4, 1e-6 } do
      local x = 1 + spread * z
      for family, name in pairs { [peri.Gamma] = "concentration", [peri.InverseGamma] = "concentration" } do
        local fit = peri.fit(family, x)
        assert.equal("converged", fit.verdict)
        near(math.sqrt(2 / 20), fit.se[name] / fit.params[name], 1e-3)   -- that of the logarithm of a variance
      end
      local fit = peri.fit(peri.Beta, x / 2)
      near(math.sqrt(2 / 20), fit.se.concentration1 / fit.params.concentration1, 1e-3)
    end
  end)

  it("keeps what is fixed", function ()
    local x = peri.StudentT(3, 1, 2):sample(300, rng)
    local free, fixed = peri.fit(peri.StudentT, x), peri.fit(peri.StudentT, x, { fixed = { df = 3 } })
    assert.are.equal(3, fixed.params.df)
    assert.is_nil(fixed.se.df)
    assert.is_true(fixed.log_lik <= free.log_lik and fixed.size == 2)
    assert.matches("df +3 +fixed", tostring(fixed))
    local all = peri.fit(peri.Normal, { 1, 2 }, { fixed = { loc = 0, scale = 1 } })
    near(peri.Normal(0, 1):log_prob { 1, 2 }:sum(), all.log_lik, 1e-14)
    assert.are.equal(0, all.size)
    -- a value for each observation
    local known = peri.tensor { 1, 2, 4 }
    local mean = peri.fit(peri.Normal, { 1, 2, 6 }, { fixed = { scale = known } }).params.loc
    local w = 1 / (known * known)
    near((w * peri.tensor { 1, 2, 6 }):sum() / w:sum(), mean, 1e-8)
    local p = peri.fit(peri.Binomial, { 3, 4, 8 }, { fixed = { total_count = { 10, 10, 20 } } })
    near(15 / 40, p.params.probs, 1e-14)
    near(math.sqrt(15 / 40 * 25 / 40 / 40), p.se.probs, 1e-7)
    local half = peri.fit(peri.NegativeBinomial, { 3, 0, 8, 1, 2 }, { fixed = { logits = 0 } })
    near(0.5, half.params.probs, 1e-14)
  end)

  it("takes rows and matrices", function ()
    local x = peri.tensor { { 1, 2 }, { 3, 1 }, { 4, 5 }, { 0, 0 } }
    local fit = peri.fit(peri.MultivariateNormal, x)
    assert.is_true((fit.params.covariance_matrix - 3 / 4 * x:cov()):abs():max() < 1e-14)
    local c = fit.params.covariance_matrix
    near(math.sqrt((c:at(1, 1) * c:at(2, 2) + c:at(1, 2) ^ 2) / 4), fit.se.covariance_matrix:at(1, 2), 1e-6)
    assert.are.equal(5, fit.size)
    local counts = peri.fit(peri.Multinomial, { { 1, 2, 3 }, { 0, 3, 3 } })
    assert.are.equal(6, counts.params.total_count)
    near(5 / 12, counts.params.probs[2], 1e-14)
    local five = peri.fit(peri.Categorical, { 1, 3, 3 }, { outcomes = 5 })
    assert.same({ 5 }, core.shape(five.params.probs))
  end)

  it("leaves out what is missing when told", function ()
    local fit = peri.fit(peri.Normal, { 1, 0 / 0, 3 }, { missing = "drop" })
    assert.are.equal(2, fit.params.loc)
    assert.are.equal(1, fit.missing)
    assert.matches("fitted to 2 values, 1 missing left out", tostring(fit))
  end)

  it("keeps the errors of what is not at an end", function ()
    local x = peri.Uniform(3, 5):sample(400, peri.rng(1))   -- with lighter tails than any
    local fit, normal = peri.fit(peri.StudentT, x), peri.fit(peri.Normal, x)
    assert.is_false(fit.converged)
    assert.matches("df goes to infinity", fit.reasons[1])
    assert.is_true(fit.se.df ~= fit.se.df)
    near(normal.se.loc, fit.se.loc, 1e-4)
    near(normal.log_lik, fit.log_lik, 1e-9)
  end)

  it("has ends that the data reach", function ()
    local x = peri.TruncatedNormal(0, 1, -1, 2):sample(3000, peri.rng(1))
    local fit = peri.fit(peri.TruncatedNormal, x)
    assert.same({ x:min(), x:max() }, { fit.params.low, fit.params.high })
    assert.is_true(fit.converged and fit.log_lik > -math.huge)
    assert.is_true(peri.fit(peri.Triangular, peri.Triangular(0, 3, 1):sample(3000, peri.rng(1))).converged)
  end)

  it("never calls nonsense converged", function ()
    local same = "all values are 3: the likelihood grows without bound"
    for _, c in ipairs { peri.Normal, peri.Gamma, peri.Cauchy, peri.LogNormal, peri.Weibull, peri.Uniform, peri.Laplace,
                         peri.StudentT, peri.Gumbel, peri.InverseGaussian, peri.Pareto, peri.SkewNormal,
                         peri.GeneralizedNormal, peri.Logistic, peri.Frechet, peri.InverseGamma } do
      assert.matches(same, message(c, { 3, 3, 3 }))
      assert.matches("there is one value only: the likelihood grows without bound", message(c, { 3 }))
    end
    assert.matches("likelihood is unbounded: .* at x%[2%] = 0", message(peri.Gamma, { 1, 0, 2 }))
    assert.matches("becomes singular", message(peri.MultivariateNormal, { { 1, 2 }, { 3, 4 } }))
    local poisson = peri.fit(peri.NegativeBinomial, { 3, 3, 4, 3 })   -- narrower than any of the family
    assert.is_false(poisson.converged)
    assert.matches("total_count goes to infinity", poisson.reasons[1])
    assert.are_not.equal(poisson.se.total_count, poisson.se.total_count)
    local none = peri.fit(peri.Bernoulli, { 0, 0 })
    assert.are.equal(0, none.params.probs)
    assert.matches("at the end of its range", none.reasons[1])
  end)

  it("finds the highest of many maxima at kinks", function ()
    local x = peri.Uniform(0, 1):sample(200, peri.rng(5))
    local triangular = peri.fit(peri.Triangular, x)
    assert.is_true(triangular.log_lik > -15.462)   -- there is another at -17.018
    x = peri.Uniform(0, 1):sample(200, peri.rng(1))
    local almost_uniform = peri.fit(peri.GeneralizedNormal, x)
    assert.is_true(almost_uniform.log_lik > 0.35)   -- and one at -116.9
    assert.matches("shape goes to infinity", almost_uniform.verdict)
    x = peri.Gamma(0.4, 1):sample(200, peri.rng(3))
    local peaked = peri.fit(peri.GeneralizedNormal, x)
    assert.are.equal(1, x:eq(peaked.params.loc):sum())   -- exactly: an ulp beside it is much less likely
  end)

  it("is not taken in by the saddle of a SkewNormal", function ()
    local x = peri.Uniform(0, 1):sample(200, peri.rng(151))
    local skewed = peri.fit(peri.SkewNormal, x)
    assert.is_true(math.abs(skewed.params.skewness) > 0.2 and skewed.log_lik > -37.4253)
  end)

  it("finds the half of a normal law that a SkewNormal of few data is", function ()
    for _, x in ipairs { { 2, -4, -1 }, { 1, 2, 4, 8 }, { -1, 0, 0, 1 }, { 1, 2 }, { 1, 1, 2, 2 },
                         { 4.1, 4.1, 4.5, 3.9, 4.4, 4.2, 4.0, 4.6, 4.3, 3.8 } } do
      local best = -math.huge   -- of all normal laws from the smallest on, and up to the largest
      for _, way in ipairs { 1, -1 } do
        local y = way * peri.tensor(x)
        local scale = peri.square(y - y:min()):mean() ^ 0.5
        best = math.max(best, (peri.Normal(y:min(), scale):log_prob(y) + math.log(2)):sum())
      end
      local fit = peri.fit(peri.SkewNormal, x)
      assert.near(best, fit.log_lik, 1e-4)
      assert.is_false(fit.converged)
      assert.matches("skewness goes to %-?infinity", fit.verdict)
      assert.is_true(fit.se.loc ~= fit.se.loc)   -- at the edge of the support
    end
  end)

  it("finds the exponential law that an ExGaussian of few data may be", function ()
    for _, case in ipairs { { 180, 8 }, { 183, 8 }, { 262, 15 }, { 267, 8 } } do
      local x = peri.ExGaussian(1, 2, 0.5):sample(case[2], peri.rng(case[1]))
      local edge = peri.Exponential(1 / (x - x:min()):mean()):log_prob(x - x:min()):sum()
      assert.is_true(peri.fit(peri.ExGaussian, x).log_lik > edge - 0.7)   -- the smallest may have half of the density
    end
  end)

  it("says where the likelihood has no bound", function ()
    -- a maximum, and larger than that with scale -> 0 at one of the data
    for _, x in ipairs { { 1, 2, 3, 4, 100 }, { 0, 0, 1, 1, 5 } } do
      local fit = peri.fit(peri.StudentT, x)
      assert.is_false(fit.converged)
      local at = tonumber(fit.verdict:match("^no maximum: the likelihood grows without bound as scale goes to 0 and "
                                            .. "loc to (%-?[%d.]+); this is a local one$"))
      local before = fit.log_lik
      for _, scale in ipairs { 1e-9, 1e-12, 1e-15 } do
        local value = peri.StudentT(0.05, at, scale):log_prob(x):sum()
        assert.is_true(value > before)
        before = value
      end
    end
    -- in any units
    local fit = peri.fit(peri.StudentT, 1e6 + 1e-3 * peri.tensor { 1, 2, 3, 4, 100 })
    assert.matches("scale goes to 0 and loc to 1000000.003; this is a local one", fit.verdict)
    -- no maximum besides: nothing to return, instead of a scale of 1e-308
    for _, case in ipairs {
      { peri.StudentT, { 1, 1, 1, 2, 3 }, 1 }, { peri.StudentT, { 1, 2, 2, 2, 3, 4, 9 }, 2 },
      { peri.Cauchy, { 1, 1, 1, 2, 3 }, 1 }, { peri.GeneralizedNormal, { 0, 1, 3 }, 1 },
      { peri.JohnsonSU, { 1, 1, 1, 2, 3 }, 1 },
    } do
      assert.matches("the likelihood grows without bound as scale goes to 0 and loc to " .. case[3] .. ";",
                     message(case[1], case[2]))
    end
    -- but a local maximum, or an end, where there is one
    local local_one = peri.fit(peri.GeneralizedNormal, { 1, 2, 2, 2, 3, 4, 9 })
    assert.matches("^no maximum: .* loc to 2; this is a local one$", local_one.verdict)
    assert.is_true(local_one.params.scale > 0.5)
    assert.near(3.5, peri.fit(peri.GeneralizedNormal, { 1, 2, 4, 8 }).params.scale, 1e-3)   -- all but uniform
    local weighted = peri.fit(peri.StudentT, { 0, 1, 5 }, { weights = { 2, 2, 1 } })
    assert.matches("^no maximum", weighted.verdict)
    -- rounded data, and enough of them
    local rounded = peri.floor(peri.StudentT(4, 0, 1):sample(200, peri.rng(1)) * 10 + 0.5) / 10
    assert.is_true(peri.fit(peri.StudentT, rounded).converged)
    assert.is_true(peri.fit(peri.Cauchy, { 1, 2, 3, 4, 100 }).converged)
  end)

  it("says why there is no standard error", function ()
    local kink = "the likelihood has a kink or an end there, and no curvature"
    for _, case in ipairs {
      { peri.Laplace, "loc", kink }, { peri.Uniform, "low, high", kink }, { peri.Pareto, "scale", kink },
      { peri.Bernoulli, "probs", "at an end of its range, and what others have is as if that were known", { 0, 0 } },
    } do
      local fit = peri.fit(case[1], case[4] or { 1, 2, 4, 8, 9 })
      assert.same({ "no standard error of " .. case[2] .. ": " .. case[3] }, fit.notes)
      assert.matches("\n  log likelihood [^\n]+\n  no standard error of " .. case[2] .. ": ", tostring(fit))
    end
    local flat = peri.fit(peri.StudentT, peri.Uniform(3, 5):sample(400, peri.rng(1)))
    assert.matches("^no standard error of df: at an end of its range", flat.notes[1])
    local none = peri.fit(peri.Zipf, { 1, 1, 1 })
    assert.matches("^no standard error of exponent: the likelihood has not the curvature of a maximum", none.notes[1])
    assert.same({}, peri.fit(peri.Gamma, { 1, 2, 4 }).notes)
    local kinked = peri.fit(peri.GeneralizedNormal, peri.Gamma(0.4, 1):sample(200, peri.rng(3)))
    assert.matches("^no standard error of loc: the likelihood has a kink", kinked.notes[1])
  end)

  it("has errors as estimates of further data spread (500 of them, spec/long/bootstrap.lua)", function ()
    local bootstrap = require "spec.long.bootstrap"
    local spread = {
      Gamma = { concentration = 0.20468, rate = 0.14996 }, Weibull = { scale = 0.075409, concentration = 0.056198 },
      NegativeBinomial = { total_count = 0.36948, probs = 0.028251 }, Gumbel = { loc = 0.10847, scale = 0.086531 },
      VonMisesFisher = { mean_direction = peri.tensor { 0.020583, 0.025376, 0.014894 }, concentration = 0.25739 },
    }
    for _, law in ipairs(bootstrap.laws) do
      local fit = peri.fit(getmetatable(law), bootstrap.data(law))
      for name, sd in pairs(spread[getmetatable(law).__name]) do
        local off = peri.abs(fit.se[name] / sd - 1)
        assert.is_true((type(off) == "number" and off or off:max()) < 0.12, name)
      end
    end
  end)

  it("says what is wrong with data and options", function ()
    assert.matches("x%[2%] is NaN, a missing value %(1 of 3 are%)", message(peri.Normal, { 1, 0 / 0, 3 }))
    assert.matches("Gamma: x must be non%-negative, got %-1 at %[2%]", message(peri.Gamma, { 1, -1 }))
    assert.matches("Poisson: x must be .*integer.*, got 1.5 at %[1%]", message(peri.Poisson, { 1.5 }))
    assert.matches("x must be finite", message(peri.Normal, { 1, math.huge }))
    assert.matches("x is empty", message(peri.Normal, {}))
    assert.matches("a list of numbers, got shape %(1, 2%)", message(peri.Normal, { { 1, 2 } }))
    assert.matches("choose a column", message(peri.Normal, { x = { 1, 2 } }))
    assert.matches("total_count = 10", message(peri.Binomial, { 1, 2 }))
    assert.matches("loc must be given", message(peri.GeneralizedPareto, { 1, 2, 5 }))
    assert.matches("Truncated has no fit: it is made of another one", message(peri.Truncated, { 1 }))
    assert.matches("such as peri.Gamma", message(peri.Normal(0, 1), { 1 }))
    assert.matches("no parameter scal; did you mean scale", message(peri.Normal, { 1, 2 }, { fixed = { scal = 1 } }))
    assert.matches("no option weight; did you mean weights", message(peri.Normal, { 1, 2 }, { weight = { 1, 1 } }))
    assert.matches("a list of 2 numbers", message(peri.Normal, { 1, 2 }, { weights = { 1 } }))
    assert.matches("not negative, got %-1 at %[2%]", message(peri.Normal, { 1, 2 }, { weights = { 1, -1 } }))
    assert.matches("start.concentration must be positive, got %-5",
                   message(peri.Gamma, { 1, 2 }, { start = { concentration = -5 } }))
    assert.matches("fixed.rate must be one value, or one for each of the 3 data, got shape %(2%)",
                   message(peri.Gamma, { 1, 2, 3 }, { fixed = { rate = { 1, 2 } } }))
    assert.matches("Binomial: x must be .*%[0, 4%], got 5 at %[2%]",
                   message(peri.Binomial, { 3, 5 }, { fixed = { total_count = 4 } }))
    assert.matches("density above 0", message(peri.Uniform, { 0.5, 3 }, { fixed = { low = 1 } }))
    assert.matches("x%[2%] = 5", message(peri.Delta, { 3, 5 }))
    assert.matches("outcomes must be an integer of at least 5", message(peri.Categorical, { 1, 5 }, { outcomes = 3 }))
    assert.matches("rate must be finite, got inf; measure x in other units", message(peri.Exponential, { 1e-320 }))
    assert.matches("differences between values", message(peri.Normal, { 1e308, -1e308 }))
    local Odd = peri.Distribution:extend("Odd", { params = { { "k", peri.constraints.positive } } })
    function Odd:log_prob (x) return -x end   -- luacheck: ignore self
    assert.matches("Odd: its log_prob does not depend on k", message(Odd, { 1, 2 }))
    assert.matches("^spec/fit/fit_spec.lua:%d+: fit: ", (select(2, pcall(function () peri.fit(peri.Normal, {}) end))))
  end)

  it("compares families", function ()
    local x = peri.Gamma(3, 2):sample(500, rng)
    local found = peri.fit({ peri.Normal, peri.Gamma, peri.Beta, peri.LogNormal }, x)
    assert.are.equal(found.fits.Gamma, found.best)
    assert.are.equal("Gamma", found.rows[1].name)
    assert.are.equal("Beta", found.rows[4].name)
    assert.matches("must be in the interval", found.rows[4].problem)
    assert.is_true(found.rows[1].fit.aic < found.rows[2].fit.aic)
    near(found.best.distribution:fit_check(x).ks, found.rows[1].ks, 1e-14)
    assert.matches("4 families, the best first: Gamma", tostring(found))
    assert.matches("\n  Beta\n  Beta: x must be in the interval .*$", tostring(found))
    local spike = peri.fit({ peri.Normal, peri.StudentT }, { 1, 2, 3, 4, 100 })
    assert.matches("\n  StudentT: no maximum: the likelihood grows", tostring(spike))
    for line in (tostring(spike) .. "\n" .. tostring(spike.best)):gmatch "[^\n]+" do assert.is_true(#line <= 80) end
    assert.matches("none of the families", message({ peri.Beta }, { 5 }))
  end)

  it("has numbers of trials for many data", function ()
    local trials = peri.floor(peri.Uniform(5, 30):sample(2000, rng))
    local fit = peri.fit(peri.BetaBinomial, peri.BetaBinomial(2, 3, trials):sample(nil, rng),
                         { fixed = { total_count = trials } })
    assert.is_true(fit.converged)
    assert.near(2, fit.params.concentration1, 5 * fit.se.concentration1)
    assert.matches("total_count +Tensor%(2000%) +fixed", tostring(fit))
  end)

  it("has units for rows and matrices", function ()
    local t = peri.MultivariateStudentT(5, { 1, 2 }, { { 1, 0 }, { 0.5, 2 } }):sample(300, rng)
    local unit = peri.tensor { 1e9, 1e-9 }
    local one, other = peri.fit(peri.MultivariateStudentT, t), peri.fit(peri.MultivariateStudentT, t * unit + unit)
    assert.is_true(other.converged)
    near(one.params.df, other.params.df, 1e-6)
    near((one.params.loc[2] + 1) * 1e-9, other.params.loc[2], 1e-6)
    near(one.params.scale_tril:at(2, 1) * 1e-9, other.params.scale_tril:at(2, 1), 1e-6)
    near(one.se.scale_tril:at(2, 2) * 1e-9, other.se.scale_tril:at(2, 2), 1e-5)
    local held = peri.fit(peri.MultivariateStudentT, t * unit, { fixed = { df = one.params.df } })
    near(one.params.loc[1] * 1e9, held.params.loc[1], 1e-6)
    local w = peri.Wishart { df = 7, covariance_matrix = { { 2, 0.5 }, { 0.5, 1 } } }:sample(200, rng)
    local a, b = peri.fit(peri.Wishart, w), peri.fit(peri.Wishart, w * 1e-12)
    near(a.params.covariance_matrix:at(2, 1) * 1e-12, b.params.covariance_matrix:at(2, 1), 1e-6)
    near(a.se.covariance_matrix:at(2, 1) * 1e-12, b.se.covariance_matrix:at(2, 1), 1e-5)
    near(a.params.df, peri.fit(peri.Wishart, w, { fixed = { scale_tril = a.distribution.scale_tril } }).params.df, 1e-6)
  end)

  it("knows a class by what it is, not by its name", function ()
    local Normal = peri.Distribution:extend("Normal", { params = { { "m", peri.constraints.real } } })
    function Normal:log_prob (x) return -peri.square(peri.square(x - self.m)) end
    local fit = peri.fit(Normal, { 1, 2, 3.5 })
    assert.is_true(math.abs((fit.params.m - 1) ^ 3 + (fit.params.m - 2) ^ 3 + (fit.params.m - 3.5) ^ 3) < 1e-8)
    assert.are.equal("", tostring(peri.fit({ Normal }, { 1, 2, 3.5 })):match "%-?[%d.]+ +0 +%-[%d.]+(.-)$")   -- no cdf
  end)

  it("fits a class of one's own", function ()
    local Power = peri.Distribution:extend("Power", {
      params = { { "k", peri.constraints.positive } }, support = peri.constraints.unit_interval,
    })
    function Power:log_prob (x) return peri.log(self.k) + (self.k - 1) * peri.log(x) end
    local fit = peri.fit(Power, { 0.5, 0.8, 0.9 })
    near(-3 / (math.log(0.5) + math.log(0.8) + math.log(0.9)), fit.params.k, 1e-8)
    near(fit.params.k / math.sqrt(3), fit.se.k, 1e-6)
  end)
end)

describe("fit_check", function ()
  it("has the law of Kolmogorov's distance", function ()
    local p = require "perilune.fit.kolmogorov"
    -- n, d, P(D >= d): exact sums for n = 1 and 2; SciPy 1.10 (kstwo), where that is exact
    for _, row in ipairs {
      { 1, 0.6, 0.8 }, { 1, 0.9, 0.2 }, { 10, 0.28460498941515416, 0.32761745826303 },
      { 10, 0.66407830863535962, 7.2693571882738e-05 }, { 50, 0.18384776310850234, 0.059546079313211 },
      { 100, 0.25, 5.4088717764348e-06 }, { 500, 0.17888543819998318, 1.8073532604225e-14 },
    } do near(row[3], p(row[1], row[2]), 1e-9) end
    -- n products of the matrix with a vector, in Python
    near(0.0216394062075, p(1000, 0.0474), 1e-9)
    near(0.0410185331383, p(4000, 0.022), 1e-7)
    near(0.3841275927657, p(20000, 0.0064), 1e-8)
    assert.are.equal(1, p(10, 0.05))
    assert.are.equal(0, p(10, 1))
  end)

  it("has quantiles of both", function ()
    local check = peri.Uniform(0, 1):fit_check { 0.9, 0.2, 0.5 }
    near(0.7 / 3, check.ks, 1e-14)
    assert.same({ 0.2, 0.5, 0.9 }, check.observed:totable())
    near(1 / 6, check.theoretical[1], 1e-14)
    assert.are.equal(3, check.n)
    assert.matches("Kolmogorov%-Smirnov distance 0.2333, p = 0.", tostring(check))
    assert.matches("p at most", tostring(peri.Poisson(2):fit_check { 1, 2, 3 }))
    local many = peri.Normal(0, 1):fit_check(peri.Normal(0, 1):sample(5000, peri.rng(1)))
    assert.are.equal(500, core.numel(many.observed))
    assert.is_true(many.p > 0.01 and peri.Normal(0.1, 1):fit_check(many.observed).p < many.p)
  end)

  it("draws quantiles, and the line on which they would be equal", function ()
    local plot = peri.Normal(0, 1):fit_check(peri.Normal(0, 1):sample(50, peri.rng(1))):plot()
    local marks = plot.panels[1].marks
    assert.same({ "line", "points" }, { marks[1].kind, marks[2].kind })
    assert.same(marks[1].x, marks[1].y)
    assert.are.equal(50, #marks[2].x)
    assert.matches('class="l0"[^>]*stroke%-dasharray', plot:svg())
    local apart = peri.Normal(100, 1):fit_check { 1, 2, 3 }   -- no such line among these
    assert.same({ "points" }, { apart:plot().panels[1].marks[1].kind })
  end)

  it("looks at steps of discrete laws", function ()
    local d = peri.Bernoulli(0.5)
    near(0.25, d:fit_check({ 0, 1, 1, 1 }).ks, 1e-14)
    assert.error_matches(function () d:fit_check { 0 / 0 } end, "Bernoulli:fit_check: x%[1%] is NaN")
    assert.error_matches(function () d:fit_check {} end, "Bernoulli:fit_check: x is empty")
    local Odd = peri.Distribution:extend("Odd", { params = {} })
    function Odd:log_prob (x) return -x end   -- luacheck: ignore self
    assert.error_matches(function () Odd():fit_check { 1 } end, "Odd has no cdf")
    assert.error_matches(function () peri.Normal({ 1, 2 }, 1):fit_check { 1 } end, "one distribution of single numbers")
  end)
end)
