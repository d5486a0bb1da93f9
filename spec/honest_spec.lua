--- The errors that expectations and divergences state bound what they are off by, in all but one of a hundred
-- cases of a grid: jumps, kinks, poles, singular ends, heavy tails, huge and tiny parameters, narrow features.
-- Known answers are tails and closed forms; those of Jensen-Shannon come from mpmath at 25 digits.
local peri = require "perilune"

local INF, exp, log = math.huge, math.exp, math.log
local lgamma, betaln, digamma = peri.special.lgamma, peri.special.betaln, peri.special.digamma
local SHARE = 0.01   -- of cases that may exceed

-- A grid: `add(kind, compute, truth, slack)`, where compute gives a value and its error; `slack` is what rounding may
-- have made of the truth.
local function new_grid (seed)
  local grid, rng = { cases = {} }, peri.rng(seed)
  function grid.uniform (low, high) return peri.Uniform(low, high):sample(nil, rng) end
  function grid.any_size (low, high) return exp(grid.uniform(low, high)) end
  function grid.add (kind, compute, truth, slack)
    grid.cases[#grid.cases + 1] = { kind = kind, compute = compute, truth = truth, slack = slack or 0 }
  end
  function grid.expect (kind, d, f, truth, slack)
    grid.add(kind, function () return d:expectation(f) end, truth, slack)
  end
  return grid
end

-- Does the error bound what the value is off by? An infinite value must be the truth.
local function is_honest (case, value, error)
  if value == case.truth then return true end
  return math.abs(value - case.truth) <= error + 1e-15 * math.abs(case.truth) + case.slack and value < INF
end

-- Runs a grid of at least `least` cases: share of those that exceed, and the median of the relative errors stated.
local function judge (grid, least)
  assert(#grid.cases >= least)
  local exceeding, stated = {}, {}
  for _, case in ipairs(grid.cases) do
    local value, error = case.compute()
    if not is_honest(case, value, error) then
      exceeding[#exceeding + 1] = string.format("%s: %.17g, error %g, truth %.17g", case.kind, value, error, case.truth)
    end
    if case.truth ~= 0 and case.truth < INF then stated[#stated + 1] = error / math.abs(case.truth) end
  end
  table.sort(stated)
  local share, median = #exceeding / #grid.cases, stated[math.ceil(#stated / 2)]
  assert(share <= SHARE, string.format("%d of %d:\n%s", #exceeding, #grid.cases, table.concat(exceeding, "\n")))
  assert(median < 1e-12, "the median of the errors is " .. median)   -- honest, and not by despair
end


-- Expectations ------------------------------------------------------------------

local LAWS = {
  peri.Normal(0, 1), peri.Normal(1e8, 1e-3), peri.Normal(-3, 1e10), peri.Exponential(1), peri.Exponential(1e-12),
  peri.Gamma(0.3, 2), peri.Gamma(50, 1), peri.Gamma(0.02, 1), peri.Beta(2, 3), peri.Beta(0.3, 0.3),
  peri.Beta(0.05, 0.05), peri.Beta(30, 0.1), peri.Uniform(-1, 3), peri.Uniform(1e6, 1e6 + 1e-3), peri.StudentT(1.5),
  peri.StudentT(5, 2, 1e-5), peri.Cauchy(1, 2), peri.LogNormal(0, 1), peri.LogNormal(2, 5), peri.Weibull(2, 0.5),
  peri.Weibull(1e-9, 7), peri.Pareto(0.5, 0.2), peri.Pareto(1, 3), peri.Laplace(1, 2), peri.Gumbel(0, 1),
  peri.Logistic(5, 0.1), peri.InverseGamma(2, 3), peri.HalfNormal(3), peri.Kumaraswamy(0.3, 0.4),
  peri.InverseGaussian(1, 2), peri.FisherSnedecor(3, 4), peri.Triangular(0, 1, 0.3), peri.TruncatedNormal(0, 1, -1, 2),
}

-- P(a < X <= b)
local function between (d, a, b) return d:cdf(a) > 0.5 and d:sf(a) - d:sf(b) or d:cdf(b) - d:cdf(a) end

local function add_window (grid, kind, d, u, v)
  local a, b = d:icdf(u), d:icdf(v)
  grid.expect(kind, d, function (x) return x:gt(a) * x:le(b) end, between(d, a, b), 4e-16)
end

local function add_stairs (grid, d)
  local steps, truth = {}, 0
  for k = 1, 8 do
    steps[k] = d:icdf(grid.uniform(0.001, 0.999))
    truth = truth + k * d:sf(steps[k])
  end
  grid.expect("stairs", d, function (x)
    local height = 0
    for k, step in ipairs(steps) do height = height + k * x:gt(step) end
    return height
  end, truth, 4e-15)
end

local function add_jumps (grid, d)
  for _ = 1, 12 do
    local c = d:icdf(grid.uniform(0, 1))
    grid.expect("jump", d, function (x) return x:gt(c) end, d:sf(c))
  end
  for _ = 1, 6 do
    local u, v = grid.uniform(0, 1), grid.uniform(0, 1)
    add_window(grid, "window", d, math.min(u, v), math.max(u, v))
  end
  for _ = 1, 3 do
    local u = grid.uniform(0.01, 0.95)
    add_window(grid, "narrow", d, u, u + 0.02)
  end
  for _ = 1, 4 do add_stairs(grid, d) end
end

-- Cases of a kind: how many, and what to do with the grid for each.
local SHAPES = {
  { 40, function (grid)
    local c, d = grid.uniform(-4, 4), peri.Normal(0, 1)
    grid.expect("kink", d, function (x) return peri.maximum(x - c, 0) end, d:prob(c) - c * d:sf(c))
  end },
  { 40, function (grid)
    local c, d = grid.uniform(0, 6), peri.Exponential(1)
    grid.expect("kink", d, function (x) return peri.maximum(x - c, 0) end, exp(-c))
    grid.expect("faint kink", d, function (x) return x ^ 2 + 1e-4 * peri.maximum(x - c, 0) end, 2 + 1e-4 * exp(-c))
  end },
  { 30, function (grid)
    local c, d = grid.uniform(0, 1), peri.Uniform(0, 1)
    grid.expect("kink", d, function (x) return (x - c):abs() end, 0.5 - c + c * c)
    grid.expect("root", d, function (x) return (x - c):abs() ^ 0.5 end, (c ^ 1.5 + (1 - c) ^ 1.5) / 1.5)
    grid.expect("pole", d, function (x) return (x - c):abs() ^ -0.5 end, (c ^ 0.5 + (1 - c) ^ 0.5) / 0.5)
    grid.expect("log", d, function (x) return (x - c):abs():log() end, c * log(c) + (1 - c) * log(1 - c) - 1)
  end },
  { 60, function (grid)
    local c = grid.any_size(-1, 4)
    grid.expect("floor", peri.Exponential(1), function (x) return (c * x):floor() end, 1 / (exp(1 / c) - 1), 1e-15 * c)
  end },
  { 60, function (grid)
    local c, truth = grid.any_size(0, 4), 0
    for k = 1, math.floor(c) do truth = truth + 1 - k / c end
    grid.expect("floor", peri.Uniform(0, 1), function (x) return (c * x):floor() end, truth, 1e-15 * c)
  end },
  { 60, function (grid)
    local a, b = grid.any_size(-5, 1), grid.any_size(-5, 1)
    local r, s = grid.uniform(-0.9, 1.5) * a, grid.uniform(-0.9, 1.5) * b
    local truth = exp(betaln(a + r, b + s) - betaln(a, b))
    grid.expect("singular ends", peri.Beta(a, b), function (x) return x ^ r * (1 - x) ^ s end, truth, 1e-14 * truth)
  end },
  { 40, function (grid)
    local a = grid.any_size(-8, 1)
    grid.expect("singular ends", peri.Beta(a, a), function (x) return (1 - x):log() end, digamma(a) - digamma(2 * a),
                1e-14 / a)
  end },
  { 60, function (grid)
    local a = grid.any_size(-6, 4)
    local r = grid.uniform(-0.95, 2) * a
    local truth = exp(lgamma(a + r) - lgamma(a))
    grid.expect("power", peri.Gamma(a, 1), function (x) return x ^ r end, truth,
                1e-14 * (1 + math.abs(lgamma(a))) * truth)
  end },
  { 60, function (grid)
    local alpha = grid.any_size(-2, 1.5)
    local r = grid.uniform(-1, 0.97) * alpha
    local truth = alpha / (alpha - r) * 0.5 ^ r
    grid.expect("heavy tail", peri.Pareto(0.5, alpha), function (x) return x ^ r end, truth, 1e-15 * truth)
  end },
  { 40, function (grid)
    local df = grid.any_size(-1, 2)
    local r = grid.uniform(-0.9, 0.97 * df)
    local truth = exp(lgamma((r + 1) / 2) + lgamma((df - r) / 2) - lgamma(df / 2) + r / 2 * log(df) - log(math.pi) / 2)
    grid.expect("heavy tails", peri.StudentT(df), function (x) return x:abs() ^ r end, truth, 1e-14 * truth)
  end },
  { 40, function (grid)
    local s, r = grid.any_size(-3, 3), grid.uniform(-2, 2)
    local truth = exp(r * r * s * s / 2)
    if truth < INF then
      grid.expect("power", peri.LogNormal(0, s), function (x) return x ^ r end, truth, 1e-14 * truth)
    end
  end },
  { 40, function (grid)
    local w, s, c, d = grid.any_size(-6, 3), grid.any_size(-5, 0), grid.uniform(-3, 3), peri.Normal(0, 1)
    local wide = 1 + s * s
    grid.expect("waves", d, function (x) return (w * x):cos() end, exp(-w * w / 2))
    grid.expect("bump", d, function (x) return (-((x - c) / s) ^ 2 / 2):exp() end,
                s / math.sqrt(wide) * exp(-c * c / (2 * wide)))
  end },
}

describe("the error of an expectation", function ()
  it("is honest", function ()
    local grid = new_grid(7)
    for _, d in ipairs(LAWS) do add_jumps(grid, d) end
    for _, shape in ipairs(SHAPES) do
      for _ = 1, shape[1] do shape[2](grid) end
    end
    judge(grid, 1500)
  end)
end)


-- Divergences -------------------------------------------------------------------

-- Renyi's divergence within an exponential family, by log Z of the parameters, of which all must be positive.
local function add_renyi (grid, family, log_z, p, q)
  local alpha = grid.any_size(-1.5, 1.2)
  local a, b = alpha * p[1] + (1 - alpha) * q[1], alpha * p[2] + (1 - alpha) * q[2]
  local truth, z, y = INF, log_z(p[1], p[2]), log_z(q[1], q[2])
  if a > 0 and b > 0 then truth = (log_z(a, b) - alpha * z - (1 - alpha) * y) / (alpha - 1) end
  grid.add("Renyi", function () return peri.renyi_divergence(family(p[1], p[2]), family(q[1], q[2]), alpha) end, truth,
           4e-15 * (alpha * math.abs(z) + math.abs((1 - alpha) * y) + 1) / math.abs(alpha - 1))
end

local function gamma_log_z (a, b) return lgamma(a) - a * log(b) end

-- Laws with closed forms of KL, with the range of logarithms of parameters, or of parameters that may have any sign.
local FAMILIES = {
  { "Normal", { -3, 3, any_sign = true }, { -2, 2 } }, { "Gamma", { -3, 3 }, { -3, 3 } },
  { "Beta", { -3, 2 }, { -3, 2 } }, { "Exponential", { -3, 3 } }, { "Laplace", { -3, 3, any_sign = true }, { -2, 2 } },
  { "Gumbel", { -3, 3, any_sign = true }, { -1, 1 } }, { "Pareto", { 0, 0 }, { -2, 2 } },
  { "LogNormal", { -3, 3, any_sign = true }, { -2, 1 } }, { "Weibull", { -2, 2 }, { -1, 1 } },
  { "InverseGamma", { -2, 2 }, { -2, 2 } }, { "Cauchy", { -3, 3, any_sign = true }, { -2, 2 } },
  { "HalfNormal", { -2, 2 } },
}

local function parameters (grid, ranges)
  local list = {}
  for i = 2, #ranges do
    local low, high = ranges[i][1], ranges[i][2]
    list[i - 1] = low == high and exp(low) or grid[ranges[i].any_sign and "uniform" or "any_size"](low, high)
  end
  return list
end

-- KL of a law that has no closed form, against the same that has one.
local function add_kl (grid, ranges)
  local class = peri[ranges[1]]
  local Numerical = class:extend("Numerical", { inherit_kl = false })
  local a, b = parameters(grid, ranges), parameters(grid, ranges)
  local q = class(table.unpack(b))
  grid.add("KL " .. ranges[1], function ()
    local found = peri.kl_explain(Numerical(table.unpack(a)), q)
    return found.value, found.error
  end, peri.kl_divergence(class(table.unpack(a)), q))
end

-- p, q, Jensen-Shannon
local JENSEN_SHANNON = {
  { "StudentT", { 3.96 }, "StudentT", { 5.83 }, 0.0014673749417366215 },
  { "Normal", { 1.64, 1.57 }, "Normal", { 0.2, 0.82 }, 0.19621013595857277 },
  { "Logistic", { -0.41, 2.62 }, "Logistic", { -1.07, 0.71 }, 0.20876772681541376 },
  { "Logistic", { 0.69, 0.47 }, "Normal", { 1.03, 1.9 }, 0.1198167855884725 },
  { "Cauchy", { 1.29, 1.03 }, "Normal", { 0.38, 2.78 }, 0.08075652661459694 },
  { "Logistic", { -0.42, 2.46 }, "Logistic", { -0.22, 2.83 }, 0.0037185737335983656 },
  { "Cauchy", { -1.86, 1.64 }, "Normal", { -0.97, 2.11 }, 0.080332661917707543 },
  { "Cauchy", { 0.03, 1.34 }, "Logistic", { -0.6, 1.88 }, 0.052886749023360093 },
  { "StudentT", { 6.46 }, "Cauchy", { 1.72, 2.61 }, 0.25231927614679575 },
  { "StudentT", { 8.72 }, "Cauchy", { 1.62, 1.84 }, 0.22746588113082741 },
  { "StudentT", { 3.28 }, "Cauchy", { -1.75, 2.61 }, 0.216176460912279 },
  { "Logistic", { -0.62, 0.48 }, "Normal", { 1.59, 0.35 }, 0.59786458253345242 },
  { "Logistic", { 1.49, 0.42 }, "Logistic", { 0.46, 0.42 }, 0.19948032100721109 },
  { "Cauchy", { 0.02, 3.0 }, "Cauchy", { -0.76, 0.51 }, 0.1695903933765854 },
  { "Normal", { 1.89, 1.09 }, "StudentT", { 3.11 }, 0.25419129530025872 },
  { "Normal", { -0.74, 2.89 }, "Cauchy", { 1.59, 1.32 }, 0.12891873795235825 },
  { "InverseGamma", { 2.75, 1.91 }, "InverseGamma", { 2.46, 1.97 }, 0.007405309630993973 },
  { "Weibull", { 2.01, 2.26 }, "InverseGamma", { 3.78, 1.48 }, 0.37124458895380405 },
  { "Weibull", { 1.78, 0.43 }, "Weibull", { 1.42, 1.91 }, 0.26211407032836465 },
  { "Gamma", { 3.16, 2.01 }, "InverseGamma", { 0.71, 1.99 }, 0.24761436736440812 },
  { "InverseGamma", { 2.88, 1.25 }, "Weibull", { 2.21, 2.32 }, 0.33120813933441252 },
  { "Gamma", { 4.78, 0.36 }, "Gamma", { 1.97, 2.0 }, 0.66521243647343546 },
  { "Weibull", { 0.78, 0.88 }, "Weibull", { 2.35, 2.59 }, 0.26836675451558665 },
  { "Weibull", { 2.43, 0.67 }, "Weibull", { 2.5, 2.93 }, 0.25451366333642199 },
  { "LogNormal", { 0.0, 1.41 }, "Weibull", { 1.03, 1.25 }, 0.067874112153499312 },
  { "InverseGamma", { 0.86, 1.17 }, "Gamma", { 1.8, 2.55 }, 0.24717677956855673 },
  { "InverseGamma", { 0.78, 2.3 }, "LogNormal", { -0.56, 1.27 }, 0.31131891307894065 },
  { "Weibull", { 2.42, 0.49 }, "LogNormal", { 0.92, 0.84 }, 0.16239807254666078 },
  { "LogNormal", { -0.32, 1.71 }, "Weibull", { 0.53, 2.01 }, 0.20178162130618565 },
  { "LogNormal", { -0.42, 1.65 }, "InverseGamma", { 1.45, 1.24 }, 0.10120992313279086 },
  { "InverseGamma", { 1.97, 1.41 }, "Weibull", { 2.79, 0.81 }, 0.12459915555400959 },
  { "Gamma", { 4.73, 2.68 }, "InverseGamma", { 3.95, 1.47 }, 0.43031344124271476 },
  { "Beta", { 2.85, 2.79 }, "Beta", { 0.71, 2.25 }, 0.19697252842331795 },
  { "Beta", { 2.52, 2.01 }, "Beta", { 1.58, 0.9 }, 0.045340389085770203 },
  { "Beta", { 1.06, 0.72 }, "Beta", { 0.25, 1.79 }, 0.3204948783974699 },
  { "Beta", { 0.9, 2.44 }, "Beta", { 0.18, 2.72 }, 0.25000301914315716 },
  { "Beta", { 2.1, 2.78 }, "Beta", { 2.69, 2.7 }, 0.015599593512299372 },
  { "Beta", { 1.75, 0.09 }, "Beta", { 2.25, 0.56 }, 0.25061686360178411 },
  { "Beta", { 0.93, 2.01 }, "Beta", { 1.6, 1.27 }, 0.11025407876349558 },
  { "Beta", { 2.82, 1.86 }, "Beta", { 1.06, 0.79 }, 0.05906232567111481 },
  { "Beta", { 2.59, 1.46 }, "Beta", { 2.36, 1.09 }, 0.0094007004229691209 },
  { "Beta", { 0.63, 1.63 }, "Beta", { 2.46, 0.56 }, 0.37682105904002237 },
  { "Beta", { 2.39, 2.77 }, "Beta", { 2.43, 2.48 }, 0.0032381221996103182 },
  { "Beta", { 0.07, 1.9 }, "Beta", { 2.59, 0.2 }, 0.64600508544367167 },
  { "Beta", { 0.85, 0.84 }, "Beta", { 1.61, 1.3 }, 0.026633625655842397 },
  { "Beta", { 1.45, 2.34 }, "Beta", { 0.06, 0.21 }, 0.39905741839181968 },
  { "Beta", { 0.42, 0.42 }, "Beta", { 0.25, 2.93 }, 0.23907284519749266 },
  { "Beta", { 2.57, 0.3 }, "Beta", { 1.53, 0.98 }, 0.22225336164067111 },
}

describe("the error of a divergence", function ()
  it("is honest", function ()
    local grid = new_grid(11)
    for _ = 1, 150 do
      local function random () return { grid.any_size(-3, 2), grid.any_size(-3, 2) } end
      add_renyi(grid, peri.Beta, betaln, random(), random())
      add_renyi(grid, peri.Gamma, gamma_log_z, random(), random())
    end
    for _, ranges in ipairs(FAMILIES) do
      for _ = 1, 20 do add_kl(grid, ranges) end
    end
    for _, case in ipairs(JENSEN_SHANNON) do
      local p, q = peri[case[1]](table.unpack(case[2])), peri[case[3]](table.unpack(case[4]))
      grid.add("Jensen-Shannon", function () return peri.js_divergence(p, q) end, case[5])
      grid.add("Jensen-Shannon", function () return peri.js_divergence(q, p) end, case[5])
    end
    judge(grid, 600)
  end)
end)

describe("Closed divergences state", function ()
  local function check (p, q, truth, most)   -- mpmath at 60 digits, from the parameters as they stand
    local found = peri.kl_explain(p, q)
    assert.equal("closed form", found.method)
    assert(math.abs(found.value - truth) <= found.error, found.value .. " is further than " .. found.error)
    assert(found.error <= most * truth)
  end

  it("what rounding of logits does", function ()
    check(peri.Bernoulli(0.3), peri.Bernoulli(0.3 + 1e-9), 2.3809525075919022e-18, 1e-5)
    local p, q = peri.Categorical { 0.3, 0.7 }, peri.Categorical { 0.3 + 1e-9, 0.7 - 1e-9 }
    check(p, q, 2.3809524282902562e-18, 1e-5)
    p, q = peri.Multinomial(1e10, { 0.3, 0.7 }), peri.Multinomial(1e10, { 0.3 + 1e-9, 0.7 })
    check(p, q, 1.1666667268311431e-8, 1e-5)
    p, q = peri.Categorical { logits = { 0, 1 } }, peri.Categorical { logits = { 0, 2 } }
    assert(peri.kl_explain(p, q).error < 1e-14)
  end)

  it("what rounding of the factor of a covariance does", function ()
    local hilbert, zero = {}, {}
    for i = 1, 6 do
      hilbert[i], zero[i] = {}, 0
      for j = 1, 6 do hilbert[i][j] = 1 / (i + j - 1) end
    end
    local p, q = peri.MultivariateNormal(zero, hilbert), peri.MultivariateNormal(zero, peri.eye(6))
    check(p, q, 17.822208692192704186, 1e-8)
    check(q, p, 4658257.1172567458919, 1e-8)
  end)
end)
