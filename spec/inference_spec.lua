--- Ways to a posterior: right where they say so, and never ok where they are not. (`make posteriors` has more seeds.)
local peri       = require "perilune"
local posteriors = require "spec.support.posteriors"
local refusal_of = require "spec.support.refusal"

local Flat, Normal, constraints = peri.Flat, peri.Normal, peri.constraints

local function is_right (post, reference)
  local mean, sd = posteriors.errors(post, reference)
  return mean <= 0.25 and sd <= 1.25, string.format("%.3f sd off, sds by %.3f", mean, sd)
end

describe("the fourteen posteriors", function ()
  local all, counts = posteriors.all(), { vi = 0, laplace = 0, pathfinder = 0, fit = 0 }
  local methods = { "vi", "laplace", "pathfinder", "fit" }

  it("are all there", function () assert.equal(14, #all) end)

  for _, one in ipairs(all) do
    for _, method in ipairs(methods) do
      it(one.name .. ", by " .. method .. ": what is called ok is right", function ()
        local post = one.posed[method](one.posed, { seed = 1 })
        if post.verdict ~= "ok" then
          assert.is_true(#post.reasons > 0)
          return
        end
        counts[method] = counts[method] + 1
        local ok, why = is_right(post, one.reference)
        assert(ok, why)
        if one.log_evidence then assert.near(one.log_evidence, post.log_evidence, 0.1) end
      end)
    end
  end

  it("are ok as often as is promised", function ()
    assert.is_true(counts.vi >= 12, "vi " .. counts.vi)
    assert.is_true(counts.fit >= 13, "fit " .. counts.fit)
    assert.is_true(counts.laplace >= 7, "laplace " .. counts.laplace)
    assert.is_true(counts.pathfinder >= 4, "pathfinder " .. counts.pathfinder)
  end)
end)

-- Posteriors that no Gaussian is near, and ways in which a model is wrong.
local x = peri.linspace(-2, 2, 40)
local hopeless = {
  funnel = peri.model(function (m)
    m.v = Normal(0, 3)
    m.x = Flat(9)
    m:factor("x", Normal(0, (m.v / 2):exp()):log_prob(m.x))
  end) {},
  banana = peri.model(function (m)
    m.x = Normal(0, 10)
    m.y = Normal(0.03 * (m.x ^ 2 - 100), 1)
  end) {},
  ["t with 2 degrees of freedom"] = peri.model(function (m) m.x = peri.StudentT(2, 0, 1):expand(3) end) {},
  Cauchy = peri.model(function (m) m.x = peri.Cauchy(0, 1) end) {},
  ["separated classes"] = peri.model(function (m, d)
    m.b = Flat()
    m.y = peri.Bernoulli { logits = m.b * d.x }
  end) { x = x, y = x:gt(0) },
  ["an unused parameter"] = peri.model(function (m)
    m.a, m.b = Flat(), Flat()
    m.y = Normal(m.a, 1)
  end) { y = { 1, 2, 3 } },
  ["a flat direction"] = peri.model(function (m)
    m.a, m.b = Flat(), Flat()
    m.y = Normal(m.a + m.b, 1)
  end) { y = { 1, 2, 3 } },
}

describe("what no Gaussian is near", function ()
  for name, posed in pairs(hopeless) do
    it("is never called ok: " .. name, function ()
      for seed = 1, 4 do
        for _, method in ipairs { "vi", "laplace", "pathfinder" } do
          local post = posed[method](posed, { seed = seed })
          assert.not_equal("ok", post.verdict)
          assert.is_true(#post.reasons > 0)
        end
      end
    end)
  end

  it("an unused parameter is named", function ()
    local post = hopeless["an unused parameter"]:vi { seed = 1 }
    assert.equal("bad", post.verdict)
    assert.matches("does not depend on b;", table.concat(post.reasons))
    assert.not_equal(post.sd.a, post.sd.a)   -- withheld
  end)
end)

describe("what is Gaussian, or nearly", function ()
  for _, n in ipairs { 100, 10000, 1000000 } do
    it("whatever the number of data: " .. n, function ()
      local y = Normal(3, 2):sample({ n }, peri.rng(n))
      local post = peri.model(function (m)
        m.mu    = Flat()
        m.sigma = Flat(constraints.positive)
        m.y     = Normal(m.mu, m.sigma)
      end) { y = y } :vi { seed = 1 }
      local sd = math.sqrt((y - y:mean()):pow(2):sum() / (n - 4) / n)
      assert.equal("ok", post.verdict)
      assert.near(y:mean(), post.mean.mu, 0.05 * sd)
      assert.near(1, post.sd.mu / sd, 0.05)
    end)
  end

  -- Years that are not centred: intercept and slope are correlated by -(1 - 4e-5). Both are Gaussian given sigma.
  it("a regression on years, within a tenth of its sds", function ()
    local n, sigma, wide, steep = 62, 1.1, 400, 0.3
    local year = peri.linspace(1952, 2013, n)
    local y = Normal(-30 + 0.02 * year, sigma):sample({}, peri.rng(5))
    local post = peri.model(function (m, d)
      m.alpha = Normal(0, wide)
      m.beta  = Normal(0, steep)
      m.y     = Normal(m.alpha + m.beta * d.year, sigma)
    end) { year = year, y = y } :vi { seed = 1 }
    local v = sigma ^ 2
    local a, b, c = n / v + wide ^ -2, year:sum() / v, year:pow(2):sum() / v + steep ^ -2   -- the precision
    local f, g, det = y:sum() / v, (year * y):sum() / v, a * c - b * b
    local sd_alpha, sd_beta = math.sqrt(c / det), math.sqrt(a / det)
    assert.equal("ok", post.verdict)
    assert.near((c * f - b * g) / det, post.mean.alpha, 0.1 * sd_alpha)
    assert.near((a * g - b * f) / det, post.mean.beta, 0.1 * sd_beta)
    assert.near(1, post.sd.alpha / sd_alpha, 0.05)
    assert.near(1, post.sd.beta / sd_beta, 0.05)
  end)

  it("in a hundred units", function ()
    local scales = (peri.linspace(-3, 3, 50) * math.log(10)):exp()
    local post = peri.model(function (m, d) m.x = Normal(1, d.scales) end) { scales = scales } :vi { seed = 1 }
    assert.equal("ok", post.verdict)
    assert.is_true(((post.mean.x - 1) / scales):abs():max() < 0.1)
    assert.is_true((post.sd.x / scales):log():abs():max() < 0.1)
  end)

  it("in many dimensions, by a guide without correlations", function ()
    local post = peri.model(function (m) m.x = Normal(1, 2):expand(700) end) {} :vi { seed = 1 }
    assert.equal("ok", post.verdict)
    assert.matches("mean%-field", post.how)
    assert.is_true((post.mean.x - 1):abs():max() < 0.3)
  end)

  it("with two modes, both found", function ()
    local post = peri.model(function (m)
      m.x = Flat()
      m:factor("x", peri.logaddexp(Normal(-3, 1):log_prob(m.x), Normal(3, 1):log_prob(m.x)))
    end) {} :vi { seed = 2 }
    assert.equal("ok", post.verdict)
    assert.near(0, post.mean.x, 0.1)
    assert.near(math.sqrt(10), post.sd.x, 0.1)
    assert.near(math.log(2), post.log_evidence, 0.05)
  end)

  it("with a far mode that starts missed and draws did not", function ()
    local post = peri.model(function (m)
      m.x = Flat()
      m:factor("x", peri.logaddexp(math.log(0.98) + Normal(0, 1):log_prob(m.x),
                                   math.log(0.02) + Normal(10, 1):log_prob(m.x)))
    end) {} :vi { seed = 1 }
    assert.near(0.2, post.mean.x, 0.1)
    assert.near(math.sqrt(1 + 0.02 * 0.98 * 100), post.sd.x, 0.1)
  end)
end)

describe("hierarchies", function ()
  local function posed ()
    return peri.model(function (m, d)
      m.mu    = Normal(0, 5)
      m.tau   = peri.HalfCauchy(5)
      m.theta = Normal(m.mu, m.tau):expand(8)
      m.y     = Normal(m.theta, d.sigma)
    end) { y = { 28, 8, -3, 7, -1, 1, 18, 12 }, sigma = { 15, 10, 16, 11, 9, 11, 10, 18 } }
  end

  it("are centred as far as the data ask for", function ()
    assert.equal(0, posed():vi { seed = 1 }.centring.theta)   -- hardly at all
    local sure = peri.model(function (m)
      m.mu    = Normal(0, 5)
      m.tau   = peri.HalfCauchy(5)
      m.theta = Normal(m.mu, m.tau):expand(8)
      m.y     = Normal(m.theta, 0.01)
    end) { y = { 28, 8, -3, 7, -1, 1, 18, 12 } } :vi { seed = 1 }
    assert.is_true(sure.centring.theta:min() > 0.9)
    assert.equal("ok", sure.verdict)
  end)

  it("are centred less for chains, which pass through narrow corners", function ()
    local half = peri.model(function (m)
      m.mu    = Normal(0, 5)
      m.tau   = peri.HalfNormal(5)
      m.theta = Normal(m.mu, m.tau):expand(8)
      m.y     = Normal(m.theta, 4)
    end) { y = { 28, 8, -3, 7, -1, 1, 18, 12 } }
    local c = half:vi { seed = 1 }.centring.theta
    local of_chains = half:nuts { seed = 1, draws = 10, warmup = 10 }.centring.theta
    assert.is_true(c:min() > 0.7 and c:max() < 0.9)
    assert.is_true(of_chains:equal(c * c))
  end)

  it("are left as they are written, or standardised, on request", function ()
    assert.same({}, posed():vi { seed = 1, noncentred = false }.centring)
    assert.same({ theta = 0 }, posed():vi { seed = 1, noncentred = { "theta" } }.centring)
    assert.matches("there is no unobserved site thta", refusal_of(posed().vi, posed(), { noncentred = { "thta" } }))
    assert.matches("tau is a HalfCauchy", refusal_of(posed().vi, posed(), { noncentred = { "tau" } }))
  end)
end)

describe("options", function ()
  local posed = peri.model(function (m) m.x = Normal(0, 1) end) {}

  it("are refused where they are unknown or wrong", function ()
    assert.matches("vi: there is no option sed; did you mean seed%?", refusal_of(posed.vi, posed, { sed = 1 }))
    assert.matches("vi: guide must be .*, got the string", refusal_of(posed.vi, posed, { guide = "full" }))
    assert.matches("vi: give rng or seed, not both", refusal_of(posed.vi, posed, { seed = 1, rng = peri.rng(1) }))
    assert.matches("map: starts must be a positive integer", refusal_of(posed.map, posed, { starts = 0 }))
    assert.matches("vi: takes a table of options", refusal_of(posed.vi, posed, 3))
  end)

  it("init says where to start, and must be possible", function ()
    local positive = peri.model(function (m) m.s = peri.HalfNormal(1) end) {}
    local a, b = positive:vi { seed = 1, init = { s = 3 } }, positive:vi { seed = 1 }
    assert.near(math.sqrt(2 / math.pi), a.mean.s, 0.05)
    assert.not_equal(a.mean.s, b.mean.s)
    assert.matches("s must be non%-negative, got %-1", refusal_of(positive.vi, positive, { init = { s = -1 } }))
    assert.matches("there is no unobserved site t", refusal_of(positive.vi, positive, { init = { t = -1 } }))
  end)

  it("the same seed gives the same bits", function ()
    local a, b = posed:vi { seed = 5 }, posed:vi { seed = 5 }
    assert.is_true(a.u:equal(b.u))
    assert.equal(a.mean.x, b.mean.x)
  end)

  it("progress may be a function", function ()
    local said = {}
    posed:vi { seed = 1, progress = function (info) said[#said + 1] = info end }
    assert.is_true(#said >= 3)
    assert.equal("looking for modes", said[2].text)
    assert.equal("vi", said[2].method)
  end)

  it("a density that is finite nowhere raises, and says where", function ()
    local nowhere = peri.model(function (m)
      m.x = Normal(0, 1)
      m:factor("f", m.x * 0 - math.huge)
    end) {}
    assert.matches("%-inf where the fit starts.* at x = 0", refusal_of(nowhere.vi, nowhere, { seed = 1 }))
  end)
end)

describe("map", function ()
  it("finds the largest joint density, and calls it a point", function ()
    local post = peri.model(function (m)
      m.s = peri.Gamma(3, 2)
      m.y = Normal(0, m.s)
    end) { y = 1 } :map { seed = 1 }
    -- 2 log s - 2 s - log s - 1/(2 s^2) has its maximum where s^2 - 2 s^3 + 1 = 0
    local s = post.mean.s
    assert.near(0, s ^ 2 - 2 * s ^ 3 + 1, 1e-3)
    assert.equal("doubtful", post.verdict)
    assert.not_equal(post.sd.s, post.sd.s)
    assert.matches("name +value", tostring(post))
  end)

  it("says where there is none", function ()
    assert.equal("bad", hopeless["a flat direction"]:map { seed = 1 }.verdict)
  end)
end)

describe("a model that cannot be traced", function ()
  it("is fitted all the same", function ()
    local before = warn
    _G.warn = function () end   -- luacheck: ignore
    finally(function () _G.warn = before end)   -- luacheck: ignore
    local post = peri.model(function (m)
      m.x = Normal(0, 1)
      m.y = Normal(m.x:item() > 5 and 2 * m.x or m.x, 1)
    end) { y = 1 } :fit { seed = 1 }
    assert.equal("ok", post.verdict)
    assert.near(0.5, post.mean.x, 0.1)
    assert.near(math.sqrt(0.5), post.sd.x, 0.05)
  end)
end)

describe("map", function ()
  local two = peri.model(function (m)
    m.x = peri.Flat()
    m:factor("x", peri.logaddexp(peri.Normal(-5, 1):log_prob(m.x), peri.Normal(5, 1):log_prob(m.x)))
  end) {}

  it("says that there are other maxima, or that its own was found once", function ()
    assert.equal("there are 2 maxima of comparable weight", two:map { seed = 3, starts = 30 }.reasons[2])
    assert.equal("only one of 4 starts ended here", two:map { seed = 2, starts = 2 }.reasons[2])
    assert.near(5, math.abs(two:map { seed = 2, starts = 2 }.mean.x), 1e-6)
  end)
end)

-- Of such a density draws of a Gaussian in log t reach t = 0, where it is infinite.
local function rare (concentration)
  return peri.model(function (m)
    m.t = peri.Gamma(concentration, 3)
    m.y = peri.Poisson(m.t)
  end) { y = 0 }
end

describe("guides whose draws reach the end of a support", function ()
  it("say what they are worth, and do not raise", function ()
    for seed = 1, 4 do
      assert.not_equal("ok", rare(0.07):pathfinder({ seed = seed }).verdict)
      assert.not_equal("ok", rare(0.003):vi({ seed = seed }).verdict)
    end
  end)
end)

describe("pathfinder", function ()
  it("weighs all paths together where a guide of full rank would be too large", function ()
    local centre = peri.arange(200)
    local post = peri.model(function (m)
      m.x = peri.Normal(centre, 2)
      m.y = peri.Normal(m.x, 1)
    end) { y = peri.zeros(200) } :pathfinder { seed = 1, paths = 3 }
    local exact_sd = math.sqrt(1 / (1 / 4 + 1))
    assert.is_true(((post.mean.x - centre / 5):abs():max() / exact_sd) < 0.25)
    assert.is_true(((post.sd.x / exact_sd):log():abs():max()) < 0.2)
  end)
end)
