--- Faults of fits and verdicts that `make verdicts` has found, one of each kind.
local known      = require "bench.support.known"
local peri       = require "perilune"
local refusal_of = require "spec.support.refusal"
local verdict    = require "perilune.inference.verdict"

local Normal, HalfNormal = peri.Normal, peri.HalfNormal

-- Number i of a set of bench/support/known.lua.
local function instance (name, i)
  for _, set in ipairs(known) do
    if set.name == name then return set.make(i) end
  end
  error("there is no set " .. name)
end

local function list (x) return type(x) == "number" and peri.tensor { x } or x end

local function is_right (post, truth)
  for name, t in pairs(truth) do
    local off = (list(post.mean[name]) - t.mean):abs() / t.sd
    local ratio = (list(post.sd[name]) / t.sd):log():abs()
    if not (off:max() <= 0.25 and ratio:max() <= math.log(1.25)) then return false end
  end
  return true
end

describe("a fit", function ()
  it("is right whatever the scales of predictors and data", function ()
    for i = 1, 6 do
      local one = instance("linear, all scales", i)
      local post = one.posed:vi { seed = 1 }
      assert.equal("ok", post.verdict)
      assert.is_true(is_right(post, one.truth))
    end
  end)

  it("sees correlations of more free numbers than a full rank has", function ()
    local one = instance("linear, large D", 3)
    local post = one.posed:vi { seed = 1 }
    assert.is_true(post.density.size > 150)
    assert.is_true(is_right(post, one.truth))
  end)

  it("finds a hierarchy that lies far from 0", function ()
    local post = instance("rats", 1).posed:vi { seed = 1 }
    assert.near(243, post.mean.mu_a, 5)
    assert.near(6.2, post.mean.mu_b, 0.5)
  end)

  it("finds both of two swapped labels", function ()
    local one = instance("mixture without order", 2)
    for seed = 1, 6 do
      local post = one.posed:vi { seed = seed }
      assert.is_true(post.verdict ~= "ok" or is_right(post, one.truth))
      assert.equal(2, #post.modes)
    end
  end)

  it("keeps a guide at each of two modes", function ()
    local one = instance("two modes", 19)
    local post = one.posed:vi { seed = 1 }
    assert.not_equal("bad", post.verdict)
    assert.is_true(is_right(post, one.truth))
  end)

  it("is not ok where a second moment is that of a far tail", function ()
    local posed = instance("Student-t regression", 1).posed
    for seed = 1, 4 do assert.not_equal("ok", posed:vi { seed = seed }.verdict) end
  end)

  it("finds no mode where the density only flattens out", function ()
    local posed = peri.model(function (m)   -- flat as log s grows: it has no integral
      m.s = peri.Flat(peri.constraints.positive)
      m.y = Normal(0, m.s)
    end) { y = 1 }
    for seed = 1, 9 do
      local post = posed:laplace { seed = seed }
      assert.not_equal("ok", post.verdict)
      assert.matches("^no maximum", post.reasons[1])
    end
  end)

  it("weighs draws next to an edge of which no constraint tells, and says where it cannot", function ()
    local posed = peri.model(function (m)
      m.mu = Normal(0, 5)
      m.y  = peri.Uniform(m.mu - 1, m.mu + 1)
    end) { y = { 0.5, 0.7, -0.3 } }   -- mu is nearly uniform between -0.3 and 0.7
    for _, method in ipairs { "vi", "fit" } do
      local post = posed[method](posed, { seed = 1 })
      assert.equal("doubtful", post.verdict)
      assert.matches("^no Gaussian could be fitted", post.reasons[1])
      assert.near(0.2, post.mean.mu, 0.02)
      assert.near(math.sqrt(1 / 12), post.sd.mu, 0.01)
    end
    local says = "model: the log density is finite at mu = 0, but not at draws of any Gaussian around it, as where the "
                 .. "support has an edge of which no constraint tells; try random_walk or smc"
    assert.equal(says, refusal_of(posed.pathfinder, posed, { seed = 1 }))
    assert.equal(says, refusal_of(posed.vi, posed, { seed = 1, steps = 10 }))
  end)

  it("of many free numbers depends on its generator alone", function ()
    local posed = peri.model(function (m)
      m.x = Normal(0, 1):expand(700)
      m.y = Normal(m.x, 1)
    end) { y = peri.ones(700) }
    peri.seed(1)
    local before = posed:vi { seed = 5 }.mean.x
    assert.is_true(before:equal(posed:vi { seed = 5 }.mean.x))
  end)

  it("runs the body a few times, however many sites there are", function ()
    local runs = 0
    peri.model(function (m)
      runs = runs + 1
      for i = 1, 60 do m["x" .. i] = Normal(0, 1) end
    end) {}:vi { seed = 1 }
    assert.is_true(runs < 10, runs .. " runs")
  end)

  it("of a body that cannot be traced survives draws that overflow, and reports numbers", function ()
    local post = peri.model(function (m, d)
      m.tau = peri.HalfCauchy(5)
      m.x   = Normal(0, m.tau:exp())
      if peri.item(m.tau) > 0 then m.y = Normal(m.x, m.tau:exp() * d.s) end
    end) { y = { 1, 2, 3 }, s = 1 }:vi { seed = 1 }
    assert.is_true(post.mean.x == post.mean.x and post.sd.x == post.sd.x)
    assert.is_false(pcall(Normal, 0, -1))   -- parameters are checked again
  end)
end)

describe("a verdict", function ()
  local good = { has_mode = true, kept = 1, lonely = false, gap = 0, kf = 0.3, sesd = 0.01, khat = 0.2, r = 0.7,
                 r0 = 0.6, small = true, medium = true, moved = "x", shift = 0, ratio = 1 }

  local function with (changes) return verdict.of_fit(setmetatable(changes, { __index = good })) end

  it("says what is wrong", function ()
    local function says (text, changes)
      local word, reasons = with(changes)
      assert.equal("doubtful", word)
      assert.equal(text, table.concat(reasons, "; "))
    end
    says("2 optima of comparable weight, of which the guide covers one: order the labels, or give init",
         { kept = 2, single = true })
    says("3 optima of comparable weight, one of them found once: order the labels, add starts, or give init",
         { kept = 3, lonely = true })
    says("the sd of x is known to 20 % only", { sesd = 0.2, sesd_name = "x" })
    says("the sd of x is known to its order of magnitude only", { sesd = 20, sesd_name = "x" })
    says("the guide makes points of x: nothing is said of their spread", { points = "x" })
  end)

  it("on particles says what is wrong", function ()
    local sound = { families = 500, ess = 1000, draws = 2000, ess_name = "x", correlation = 0.1, accept = 0.5,
                    log_evidence_error = 0.05, bridged = 1, sd_error = 0.05, sd_name = "y", kf = 0.3,
                    kf_name = "z" }
    local function says (text, changes)
      local word, reasons = verdict.of_particles(setmetatable(changes, { __index = sound }))
      assert.equal(text, table.concat(reasons, "; "))
      assert.equal(text == "" and "ok" or "doubtful", word)
    end
    says("", {})
    says('the particles still spread when they were to end (the log evidence by 0.31): more moves, or start = "prior"',
         { drift = 0.31 })
    says("only 20 % of the moves are accepted: some corner is too narrow", { accept = 0.2 })
    says("the log evidence is known to 0.30 only (bridge sampling says 1.00): use more particles, or start nearer",
         { log_evidence_error = 0.3 })
    says("few independent draws: 300 of 2000 for x; use more particles", { ess = 300 })
    says("the standard deviation of y hangs on a few far draws, and is known to 30 % only: look at quantiles, or use "
         .. "more particles", { sd_error = 0.3 })
    says("the sd of z rests on a few draws (tail shape 1.10): report quantiles, or use a tighter prior or another "
         .. "parameterisation", { kf = 1.1 })
    says("draws of x are not finite: give it a tighter prior", { infinite = "x" })
    says("", { wide = 1.2, wide_name = "x" })
    says("weighted draws from wide laws say that the sd of x is off by a factor of at least 1.50: the particles may "
         .. "have missed a tail; check with nuts, or use start = \"prior\"", { wide = 1.5, wide_name = "x" })
  end)

  it("is not bad for a gap alone, where most draws count", function ()
    assert.equal("ok", (with {}))
    assert.equal("doubtful", (with { gap = 9.9 }))
    assert.equal("bad", (with { gap = 9.9, r = 0.4 }))
    assert.equal("bad", (with { gap = 0 / 0 }))
    assert.equal("bad", (with { r = 0 / 0 }))
  end)
end)

describe("a mistake in a model", function ()
  local simple = peri.model(function (m, d)
    m.mu = Normal(0, 1)
    m.y  = Normal(m.mu, d.s)
  end)

  local function fitted (data) return function () simple(data):vi { seed = 1 } end end

  local function body (fn, data) return function () peri.model(fn)(data or {}):vi { seed = 1 } end end

  local runs = 0
  local mistakes = {
    { fitted { y = { 1, 2, 3 }, s = { 1, 2 } }, "model: y has shape %(3%) in the data, and %(2%) by its distribution" },
    { fitted { y = peri.ones(3, 1), s = { 1, 1, 1 } }, "model: y has shape %(3, 1%) in the data, and %(3%)" },
    { fitted { y = { 1, 0 / 0 }, s = 1 }, "model: y is nan in the data %(element 2%)" },
    { fitted { y = 0 / 0, s = 1 }, "model: y is nan in the data" },
    { fitted { y = false, s = 1 }, "model: y is observed, and must be a number.* got false" },
    { fitted { y = "one", s = 1 }, "model: y is observed, and must be a number" },
    { fitted { y = { 1, 1 / 0 }, s = 1 }, "model: the log density of y is %-inf where the fit starts.*give init" },
    { body(function (m) m.x = Normal(0, 1); m:factor("a", 0 / 0) end), "model: the log density of a is nan" },
    { body(function (m)
      runs = runs + 1
      m.x = Normal(0, 1)
      if runs == 1 then m.z = Normal(0, 1) end
    end), "model: z was there when the sites were found, and is not now" },
    { function () simple { y = 1, s = 1 }.vi {} end, "vi: call posed:vi { ... }, with a colon" },
    { function () simple { y = 1, s = 1 }:vi { init = { mu = "a" } } end, "init: mu must be a number" },
    { function () simple { y = 1, s = 1 }:vi { init = { mu = 1 / 0 } } end, "model: mu must be finite" },
    { body(function (m) m.x = HalfNormal(1); m:plate("rows", 3, 4, print) end), "model: plate rows: size must be" },
  }
  for i, mistake in ipairs(mistakes) do
    it("is named: " .. mistake[2], function ()
      assert.matches(mistake[2], refusal_of(mistakes[i][1]))
    end)
  end

  it("such as asking for itself in its body is no stack overflow", function ()
    local posed
    posed = peri.model(function (m)
      m.x = Normal(0, 1)
      posed:vi {}
    end) {}
    assert.matches("its own posed model", refusal_of(function () posed:vi {} end))
    assert.matches("its own posed model", refusal_of(function () posed:vi {} end))
  end)

  it("such as a derived value in some runs only is named", function ()
    assert.matches("model: a is not there in every run", refusal_of(body(function (m)
      m.x = Normal(0, 1)
      if peri.item(m.x) > 0 then m.a = m.x end
    end)))
  end)

  it("is not NaN where a mask hides it", function ()
    local post = peri.model(function (m)
      m.x = Normal(0, 1)
      m.y = peri.Masked(Normal(m.x, 1), { 1, 0 })
    end) { y = { 1, 0 / 0 } }:vi { seed = 1 }
    assert.equal("ok", post.verdict)
    assert.near(0.5, post.mean.x, 0.05)
  end)
end)
