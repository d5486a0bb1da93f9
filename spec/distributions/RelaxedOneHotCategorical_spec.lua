local peri       = require "perilune"
local core       = require "perilune.core"
local refusal    = require "spec.support.refusal"
local slopes     = require "spec.support.slopes"
local statistics = require "spec.support.statistics"

local function close (expected, got, tolerance)
  local scale = math.max(math.abs(expected), math.abs(got))
  assert(expected == got or math.abs(expected - got) <= (tolerance or 2e-15) * scale,
         string.format("expected %.17g, got %.17g", expected, got))
end

local function of (t, l) return peri.RelaxedOneHotCategorical { temperature = t, logits = l } end

local function bound (kernel, names)
  local file = "relaxedonehotcategorical"
  return core.bind_value(file, kernel, kernel, names, names), core.bind_adjoint(file, kernel, kernel, names, names)
end

describe("RelaxedOneHotCategorical", function ()
  it("has its density, for shares down to 1e-300 and all temperatures", function ()
    for _, row in ipairs {   -- temperature, logits, x, log density: 50 digits, rounded
      { 0.5, { 0, 1, -1 }, { 0.25, 0.625, 0.125 }, -0.3951924032049684857359 },
      { 1e-3, { 2, -1, 0.5, 0 }, { 1e-300, 0.5, 0.5, 1e-200 }, 1124.762367636927992456 },
      { 1000, { 3, 1, -2 }, { 0.375, 0.3125, 0.3125 }, -165.6515302375285450115 },
      { 1000, { 3, 1, -2 }, { 1e-300, 0.5, 0.5 }, -1379465.090955309661927 },
      { 2, { 300, -300, 0 }, { 0.5, 0.25, 0.25 }, -891.682233833280656287 },
      { 0.7, { -690, 0 }, { 1e-280, 1 }, 405.6738293212269845912 },
      { 2, { 5 }, { 1 }, 0 },
    } do
      close(row[4], peri.item(of(row[1], row[2]):log_prob(row[3])))
      local shifted = {}   -- only differences of logits count
      for j, l in ipairs(row[2]) do shifted[j] = l + 64 end
      close(row[4], peri.item(of(row[1], shifted):log_prob(row[3])), 1e-13)
    end
    assert(math.abs(peri.item(of(1, { 0, 0 }):log_prob({ 1e-300, 1 }))) <= 1e-15)   -- uniform
  end)

  it("is RelaxedBernoulli for two outcomes", function ()
    for _, t in ipairs { 1e-3, 0.3, 1, 4, 1000 } do
      for _, l in ipairs { -20, -0.5, 0, 3 } do
        local pair, one = of(t, { l, 0 }), peri.RelaxedBernoulli { temperature = t, logits = l }
        for _, x in ipairs { 1e-300, 2 ^ -20, 0.25, 0.5, 0.875 } do
          local expected, got = one:log_prob(x), peri.item(pair:log_prob({ x, 1 - x }))
          assert(math.abs(expected - got) <= 1e-15 * math.max(1, math.abs(expected)))
        end
        assert.equal(one:log_prob(0), peri.item(pair:log_prob({ 0, 1 })))
        assert.equal(one:log_prob(1), peri.item(pair:log_prob({ 1, 0 })))
      end
    end
  end)

  it("has a density that integrates to 1", function ()
    -- trapezoidal rule in y = log(x_j/x_K), whose volume element is the product of the shares
    local step, reach = 0.25, 33
    local y = peri.arange(-reach, reach + step, step)
    local two = peri.stack({ y, peri.zeros(#y) }, -1):softmax()
    for _, case in ipairs { { 1.3, { 0, 0 } }, { 2, { 1, -1 } }, { 1, { -2, 0 } } } do
      local p = of(case[1], case[2]):prob(two)
      close(1, step * peri.item((p * two:prod(-1)):sum()), 1e-12)
    end
    local n = #y
    local across, down = y:unsqueeze(1):expand({ n, n }), y:unsqueeze(2):expand({ n, n })
    local three = peri.stack({ across, down, peri.zeros(n, n) }, -1):softmax()
    for _, case in ipairs { { 1.3, { 0, 0, 0 } }, { 2, { 1, -1, 0.5 } } } do
      local p = of(case[1], case[2]):prob(three)
      close(1, step ^ 2 * peri.item((p * three:prod(-1)):sum()), 1e-12)
    end
  end)

  it("has the moments and the entropy of its density", function ()
    -- the same rule as above
    local step, reach = 0.25, 35
    local y = peri.arange(-reach, reach + step, step)
    local n = #y
    local across, down = y:unsqueeze(1):expand({ n, n }), y:unsqueeze(2):expand({ n, n })
    local x = peri.stack({ across, down, peri.zeros(n, n) }, -1):softmax()
    for _, case in ipairs { { 1.2, { 0.3, -1, 0.5 } }, { 1.5, { 1, -1, 0 } } } do
      local d = of(case[1], case[2])
      local log_p = d:log_prob(x)
      local weight = step ^ 2 * log_p:exp() * x:prod(-1)
      local mean = (weight:unsqueeze(-1) * x):sum(1):sum(1)
      local variance = (weight:unsqueeze(-1) * (x - mean) ^ 2):sum(1):sum(1)
      for j = 1, 3 do
        close(mean[j], d:mean()[j], 2e-12)
        close(variance[j], d:variance()[j], 2e-12)
      end
      close(-peri.item((weight * log_p):sum()), peri.item(d:entropy()), 2e-12)
    end
  end)

  it("has the moments of RelaxedBernoulli for two outcomes, at all temperatures", function ()
    for _, t in ipairs { 0.01, 0.3, 1, 4, 50 } do
      for _, l in ipairs { -20, -0.5, 0, 3 } do
        local pair, one = of(t, { l, 0 }), peri.RelaxedBernoulli { temperature = t, logits = l }
        close(one:mean(), pair:mean()[1], 1e-13)
        close(one:variance(), pair:variance()[1], 1e-13 * math.max(1, t * t))
        assert(math.abs(one:entropy() - peri.item(pair:entropy())) <= 1e-13 * math.max(1, math.abs(one:entropy())))
      end
    end
    assert.is_true(peri.RelaxedOneHotCategorical(0.4, { 0, 1, 1 }):mean():allclose({ 0, 0.5, 0.5 }, 1e-15, 0))
    assert.same({ 4, 2, 3 }, of({ 0.3, 2 }, { { 1, 2, 3 } }):expand({ 4, 2 }):variance().shape)
    assert.same({ 2 }, of({ 0.3, 2 }, { 1, 2, 3 }):entropy().shape)
  end)

  it("keeps the digits of moments of outcomes that hardly ever happen", function ()
    for _, r in ipairs { 1e-5, 1e-30, 1e-60, 1e-200, 1e-300 } do   -- the odds of two outcomes at temperature 1
      local d, l = peri.RelaxedOneHotCategorical(1, { r, 1 }), math.log(r)
      local mean, square = r * (r - 1 - l) / (1 - r) ^ 2, r * (1 + r + 2 * r * l / (1 - r)) / (1 - r) ^ 2
      close(mean, d:mean()[1], 1e-12)
      close(square - mean * mean, d:variance()[1], 1e-12)
      for _, t in ipairs { 0.4, 0.98, 1.3, 1.9 } do
        local one = peri.RelaxedBernoulli { temperature = t, logits = l }
        close(one:mean(), of(t, { l, 0 }):mean()[1], 1e-12)
        close(one:variance(), of(t, { l, 0 }):variance()[1], 1e-11)
      end
    end
  end)

  it("has its mode: the highest of many points, or the strongest pole", function ()
    local rng = peri.rng(5)
    for _, case in ipairs {
      { 2.5, { 0.3, -1, 0.5 } }, { 2.01, { 5, 0, 0 } }, { 3, { 30, 0, -30 } }, { 50, { 1, 2, 3 } },
    } do
      local d = of(case[1], case[2])
      local mode = d:mode()
      local near = (mode:log() + peri.Normal(0, 1e-3):sample({ 500, 3 }, rng)):softmax()
      local far = (mode:log() + peri.Normal(0, 2):sample({ 500, 3 }, rng)):softmax()
      local top = peri.item(d:log_prob(mode))
      assert(peri.item(d:log_prob(peri.cat { near, far }):max()) <= top + 1e-12)
      close(1, peri.item(mode:sum()))
    end
    for _, t in ipairs { 1.5, 4, 100 } do
      for _, p in ipairs { 0.1, 0.5, 0.8 } do
        close(peri.RelaxedBernoulli(t, p):mode(), peri.RelaxedOneHotCategorical(t, { p, 1 - p }):mode()[1], 1e-13)
      end
    end
    assert.same({ 0.0, 0.0, 1.0 }, of(1.9, { 1, 2, 3 }):mode():totable())
    assert.same({ 2, 3 }, of({ 0.5, 3 }, { 1, 2, 3 }):mode().shape)
  end)

  it("has slopes of its mode, of equal logits too", function ()
    for _, x in ipairs { { 4.1, 0.1, 0.2, 0.3 }, { 2.05, 0, 0, 3 }, { 12, 0, 5, 0 }, { 3, 0, 0, 0 } } do
      local function value (v)
        return (of(v[1], v:narrow(1, 2, 3)):mode() * peri.tensor { 1, 2, 4 }):sum()
      end
      local w = peri.param(x)
      local trace = peri.trace(function () return value(w) end)
      trace:backward()
      for i = 1, 4 do
        local function at (h)
          local moved = { table.unpack(x) }
          moved[i] = moved[i] + h
          return peri.item(value(peri.tensor(moved)))
        end
        local expected = (8 * (at(1e-3) - at(-1e-3)) - (at(2e-3) - at(-2e-3))) / 12e-3
        assert.near(expected, w.grad[i], 1e-9)
        assert.near(expected, peri.grad(value)(peri.tensor(x))[i], 1e-9)
      end
    end
    local function last (t) return of(t, { 1, 2, 3 }):mode():select(-1, 3):sum() end
    local slope = peri.grad(last)(peri.tensor { 0.5, 3 })
    assert.equal(0, slope[1])
    assert(slope[2] < 0)
  end)

  it("has slopes of its moments", function ()
    for _, name in ipairs { "mean", "variance", "entropy" } do
      local function value (t, l)
        local d = of(t, { l, 0, 1 })
        local v = d[name](d)
        return name == "entropy" and v or v:select(-1, 1)
      end
      local t, l = peri.param(0.7), peri.param { 0.4, 0, 1 }
      local d = of(t, l)
      local v = d[name](d)
      if name ~= "entropy" then v = v:select(-1, 1) end
      v:backward()
      local h = 1e-5
      close(peri.item(value(0.7 + h, 0.4) - value(0.7 - h, 0.4)) / (2 * h), peri.item(t.grad), 1e-7)
      close(peri.item(value(0.7, 0.4 + h) - value(0.7, 0.4 - h)) / (2 * h), l.grad[1], 1e-7)
    end
  end)

  it("has limits where shares are 0, and no density outside the simplex", function ()
    local function at (t, l, x) return peri.item(of(t, l):log_prob(x)) end
    assert.equal(math.huge, at(0.3, { 0, 1, 2 }, { 0, 0.5, 0.5 }))    -- x^(2T - 1)
    assert.equal(-math.huge, at(0.7, { 0, 1, 2 }, { 0, 0.5, 0.5 }))
    assert.equal(math.huge, at(0.7, { 0, 1, 2 }, { 0, 1, 0 }))
    close(at(0.5, { 0, 1, 2 }, { 1e-300, 0.25, 0.75 }), at(0.5, { 0, 1, 2 }, { 0, 0.25, 0.75 }), 1e-14)
    for _, x in ipairs { { 0.5, 0.6, 0.1 }, { -0.1, 0.6, 0.5 }, { math.huge, 0, 0 }, { 0, 0, 0 } } do
      assert.equal(-math.huge, at(1, { 0, 1, 2 }, x))
    end
    local nan = at(1, { 0, 1, 2 }, { 0.5, 0 / 0, 0.5 })
    assert(nan ~= nan)
    local never = peri.RelaxedOneHotCategorical(1, { 1, 0, 3 })
    assert.equal(-math.huge, peri.item(never:log_prob({ 0.5, 0.25, 0.25 })))
    assert.equal(math.huge, peri.item(never:log_prob({ 0.5, 0, 0.5 })))
    assert.equal(0.0, peri.item(never:sample(1000, peri.rng(2)):select(-1, 2):max()))
  end)

  it("draws its law, whatever the pieces", function ()   -- false alarm 1e-6 a check
    local n = 20000
    for seed, t in ipairs { 0.2, 1, 5 } do
      local x = of(t, { 0.7, 0 }):sample(n, peri.rng(seed))
      local ok, gap = statistics.ks(x:select(-1, 1), function (v)
        return peri.RelaxedBernoulli { temperature = t, logits = 0.7 }:cdf(v)
      end)
      assert(ok, "KS statistic " .. gap)
    end
    local d, p = peri.RelaxedOneHotCategorical(0.4, { 1, 2, 5 }), { 1 / 8, 2 / 8, 5 / 8 }
    local x = d:sample(n, peri.rng(9))
    assert.is_true(x:sum(-1):allclose(peri.ones(n), 1e-14))
    local top = x:max(-1)
    for j = 1, 3 do   -- the largest share is where Categorical would have its outcome
      local seen = peri.item(x:select(-1, j):ge(top):mean())
      assert(math.abs(seen - p[j]) <= 5 * math.sqrt(p[j] * (1 - p[j]) / n))
    end
    local rng = peri.rng(9)
    local pieces = peri.cat { d:sample(3, rng), d:sample({ 2, 2 }, rng):reshape(4, 3) }
    assert.is_true(pieces:equal(x:narrow(1, 1, 7)))
    assert.is_true(d:expand(7):sample(nil, peri.rng(9)):equal(pieces))
    local cold = of(1e-5, { 0, 1, 2 }):sample(100, peri.rng(1))
    assert.is_true(cold:max(-1):equal(peri.ones(100)))
  end)

  it("has the right adjoints", function ()
    local value, adjoint = bound("log_prob", { "x", "t", "l" })
    for _, t in ipairs { 0.3, 1, 6 } do
      for _, row in ipairs { { 0.3, -1.2, 2 }, { 0, 0, 0 }, { 8, -5, 1 } } do
        local x, l, temperature = peri.tensor { 0.25, 0.625, 0.125 }, peri.tensor(row), peri.tensor(t)
        assert.is_nil(slopes.adjoint_mismatch(value, adjoint, { x, temperature, l }, peri.tensor(1.7), 1e-8, { true }))
        local dx = adjoint(x, temperature, l, 1.7)
        for j = 1, 2 do   -- x stays on the simplex: from the third share to another
          local function along (s)
            local moved = x:clone()
            moved[j], moved[3] = moved[j] + s, moved[3] - s
            return 1.7 * peri.item(value(moved, temperature, l))
          end
          local slope, error = slopes.derivative(along, 0, 0.01)
          assert(math.abs(dx[j] - dx[3] - slope) <= 1e-8 * math.abs(slope) + 4 * error)
        end
        local draw, pull = bound("rsample", { "e", "t", "l" })
        assert.is_nil(slopes.adjoint_mismatch(draw, pull, { peri.tensor { 0.3, 1.7, 0.02 }, temperature, l },
                                              peri.tensor { 0.7, -1.1, 2 }, 1e-8))
      end
    end
    local dx, dt, dl = adjoint({ 0.5, 0.6 }, 1, { 0, 0 }, 1)
    assert.same({ { 0, 0 }, 0, { 0, 0 } }, { dx:totable(), peri.item(dt), dl:totable() })
  end)

  it("has batches, with temperatures of their own", function ()
    local d = peri.RelaxedOneHotCategorical({ { 0.5 }, { 2 } }, { { 1, 2, 1 }, { 4, 1, 3 }, { 1, 1, 1 } })
    assert.same({ 2, 3 }, d.batch_shape)
    assert.same({ 3 }, d.event_shape)
    local x = { 0.25, 0.25, 0.5 }
    local scores = d:log_prob(x)
    assert.same({ 2, 3 }, scores.shape)
    assert.equal(peri.item(peri.RelaxedOneHotCategorical(2, { 4, 1, 3 }):log_prob(x)), scores[2][2])
    assert.same({ 5, 2, 3 }, d:log_prob(peri.full({ 5, 1, 1, 3 }, 1 / 3)).shape)
    assert.same({ 5, 2, 3, 3 }, d:sample(5).shape)
    assert.same({ 4, 2, 3, 3 }, d:expand({ 4, 2, 3 }):rsample().shape)
    assert.same({ 2 }, peri.RelaxedOneHotCategorical(1, { 1, 1 }):sample().shape)
    assert.is_true(d.has_rsample)
    assert.is_true(d.support:check(d:sample(5)))
  end)

  it("refuses what is no temperature or no row of probabilities", function ()
    for _, case in ipairs {
      { 1, 3, "RelaxedOneHotCategorical: probs must have at least 1 dimension, got 3" },
      { 1, { 1, -2 }, "RelaxedOneHotCategorical: probs must be non-negative, got -2 at [2]" },
      { 1, { 0, 0 }, "RelaxedOneHotCategorical: probs must have a positive sum, got 0" },
      { 0, { 1, 2 }, "RelaxedOneHotCategorical: temperature must be positive, got 0" },
      { 1, nil, "RelaxedOneHotCategorical: probs is nil (argument 2)" },
    } do
      assert.equal(case[3], refusal(peri.RelaxedOneHotCategorical, case[1], case[2]))
    end
  end)

  it("explains itself, with an example that is right", function ()
    local class = peri.RelaxedOneHotCategorical
    local help = class.help
    assert.is_string(help.summary)
    for _, param in ipairs(class.params) do assert.is_string(help.params[param[1]]) end
    close(help.example[2], load("local RelaxedOneHotCategorical = ...; return " .. help.example[1])(class), 1e-12)
    assert.equal("RelaxedOneHotCategorical(temperature=2, probs={0.25, 0.75})", tostring(class(2, { 1, 3 })))
  end)
end)
