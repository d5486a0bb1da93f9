--- Posteriors: the same thing whatever made it.
local peri       = require "perilune"
local refusal_of = require "spec.support.refusal"

local Flat, Normal = peri.Flat, peri.Normal

-- A line through points: the answer is a normal with known moments, since the noise is known.
local x, y = peri.tensor { 0, 1, 2, 3, 4 }, peri.tensor { 1.1, 2.9, 5.2, 7.1, 8.8 }

local function line ()
  return peri.model(function (m, d)
    m.a    = Flat()
    m.b    = Flat()
    m.both = peri.stack { m.a, m.b }
    m.y    = Normal(m.a + m.b * d.x, 0.5)
  end) { x = x, y = y }
end

-- Exact: covariance 0.25 (X'X)^-1, X'X = {5 10; 10 30}.
local MEAN = { a = 1.10, b = 1.96 }
local SD   = { a = math.sqrt(0.25 * 30 / 50), b = math.sqrt(0.25 * 5 / 50) }
local COV  = -0.25 * 10 / 50

describe("the Monte Carlo standard error", function ()
  it("is that of the mean, of the sd, and of quantiles", function ()
    local post = line():nuts { seed = 1 }
    local draws = post:draws().a:reshape(4, -1)
    local diagnostics = require "perilune.inference.diagnostics"
    assert.equal(diagnostics.mcse_mean(draws), post:mcse().a)
    assert.equal(diagnostics.mcse_sd(draws), post:mcse("sd").a)
    assert.equal(diagnostics.mcse_quantile(draws, 0.9), post:mcse(0.9).a)
    assert.equal(post:mcse().b, post:mcse().both[2])
    assert.near(SD.a / math.sqrt(4000), post:mcse().a, 0.5 * SD.a / math.sqrt(4000))
    assert.matches('mcse: takes "mean", "sd" or a number between 0 and 1, got 2', refusal_of(post.mcse, post, 2))
    local other = line():vi { seed = 1 }
    assert.matches("not those of chains", refusal_of(other.mcse, other))
  end)
end)

for _, method in ipairs { "vi", "laplace", "pathfinder", "nuts", "hmc", "fit" } do
  describe("a posterior by " .. method, function ()
    local posed = line()
    local post = posed[method](posed, { seed = 1 })

    it("is ok, and right", function ()
      assert.equal("ok", post.verdict)
      assert.same({}, post.reasons)
      for _, name in ipairs { "a", "b" } do
        assert.equal("float", math.type(post.mean[name]))
        assert.near(MEAN[name], post.mean[name], 0.1 * SD[name])
        assert.near(1, post.sd[name] / SD[name], 0.08)
      end
      assert.near(post.mean.a, post.mean.both[1], 1e-9)
    end)

    it("has quantiles and intervals", function ()
      assert.near(MEAN.a, post:quantile(0.5).a, 0.1 * SD.a)
      assert.near(MEAN.a + 1.6448536 * SD.a, post:quantile(0.95).a, 0.15 * SD.a)
      local interval = post:interval(0.9)
      assert.near(MEAN.b - 1.6448536 * SD.b, interval.b[1], 0.15 * SD.b)
      assert.near(MEAN.b + 1.6448536 * SD.b, interval.b[2], 0.15 * SD.b)
      assert.equal(2, #post:quantile(0.2).both)
    end)

    it("has a covariance, with names", function ()
      local matrix, names = post:covariance()
      assert.same({ "a", "b" }, names)
      assert.near(COV, matrix[1][2], 0.1 * math.abs(COV))
    end)

    it("has draws, derived ones too", function ()
      local draws = post:draws()
      local n = #draws.a
      assert.same({ n, 2 }, draws.both.shape)
      assert.near(0, (draws.both:select(2, 1) - draws.a):abs():max(), 1e-12)
      assert.near(MEAN.a, draws.a:mean(), 0.15 * SD.a)
      local few = post:sample(7, peri.rng(1))
      assert.same({ 7, 2 }, few.both.shape)
      assert.is_true(few.a:equal(post:sample(7, peri.rng(1)).a))
    end)

    it("predicts, with the same data and others", function ()
      local again = post:predict(nil, 400, peri.rng(1))
      assert.same({ 400, 5 }, again.y.shape)
      assert.near(0, (again.y:mean(1) - (MEAN.a + MEAN.b * x)):abs():max(), 0.2)
      local other = post:predict({ x = { 10 } }, 400, peri.rng(1))
      assert.same({ 400, 1 }, other.y.shape)
      assert.near(MEAN.a + 10 * MEAN.b, other.y:mean(), 0.5)
    end)

    it("knows the likelihood of observations", function ()
      local ll = post:log_lik().y
      assert.equal(5, ll.shape[2])
      local loo = post:loo()
      assert.equal(5, #loo.pointwise)
      assert.is_true(loo.elpd_loo < ll:mean(1):sum())
      assert.near(loo.elpd_loo, post:waic().elpd_waic, 0.5)
    end)

    it("prints the verdict first, and a picture", function ()
      local text = tostring(post)
      assert.matches("^ok: ", text)
      assert.matches("\nname +mean +sd +5 %% +50 %% +95 %%", text)
      assert.matches("\nboth%[2%] +1%.9", text)
      assert.matches("a, median 1", post:plot("a"):text { ascii = false })
      assert.matches("both%[1%].*●", post:plot("both"):text { ascii = false })
      assert.matches("there is no site c", refusal_of(post.plot, post, "c"))
    end)

    it("is saved and loaded", function ()
      local text = post:save()
      local again = peri.load(text)
      assert.equal(tostring(post), tostring(again))
      assert.equal(post.mean.a, again.mean.a)
      assert.is_true(post:draws().b:equal(again:draws().b))
      assert.matches("without its model", refusal_of(again.predict, again))
      local whole = peri.load(text, line())
      assert.near(post:loo().elpd_loo, whole:loo().elpd_loo, 1e-9)
      assert.matches("damaged", refusal_of(peri.load, text:sub(1, -2)))
      assert.matches("not a saved posterior", refusal_of(peri.load, "posterior"))
    end)
  end)
end

describe("a posterior", function ()
  local post = line():vi { seed = 1 }

  it("refuses what it does not know", function ()
    assert.matches("q must be between 0 and 1, got 2", refusal_of(post.quantile, post, 2))
    assert.matches("probability must be between 0 and 1", refusal_of(post.interval, post, 1))
    assert.matches("n must be a positive integer", refusal_of(post.sample, post, 0))
    assert.matches("at most 1 argument", refusal_of(post.quantile, post, 0.5, 3))
  end)

  it("shows some elements of long vectors, and all other sites", function ()
    local text = tostring(peri.model(function (m)
      m.long = Normal(0, 1):expand(50)
      m.last = Normal(0, 1)
    end) {} :laplace { seed = 1 })
    assert.matches("long%[6%]", text)
    assert.matches("%.%.%. 44 more of long", text)
    assert.matches("\nlast ", text)
  end)
end)
