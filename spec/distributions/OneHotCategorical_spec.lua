local peri    = require "perilune"
local core    = require "perilune.core"
local refusal = require "spec.support.refusal"
local slopes  = require "spec.support.slopes"

local function close (expected, got, tolerance)
  local scale = math.max(math.abs(expected), math.abs(got))
  assert(expected == got or math.abs(expected - got) <= (tolerance or 1e-14) * scale,
         string.format("expected %.17g, got %.17g", expected, got))
end

-- Rows of weights, from equal to all but certain.
local rows = {
  { 1, 1, 1 }, { 0.2, 0.3, 0.5 }, { 1e-20, 1, 3, 1e-3 }, { 0, 2, 0, 6, 0 }, { 7 },
  { 3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3, 2 },
}

local function total (row)
  local sum = 0
  for _, w in ipairs(row) do sum = sum + w end
  return sum
end

local function hot (k, j)
  local row = {}
  for i = 1, k do row[i] = i == j and 1 or 0 end
  return row
end

local function bound (bind, name, ...) return core[bind]("onehotcategorical", name, name, { ... }, { ... }) end

describe("OneHotCategorical", function ()
  for _, row in ipairs(rows) do
    local d, sum, k = peri.OneHotCategorical(row), total(row), #row
    describe("of " .. tostring(d), function ()
      it("scores rows with a single 1", function ()
        for j, w in ipairs(row) do close(math.log(w / sum), peri.item(d:log_prob(hot(k, j)))) end
      end)

      it("refuses a score to any other row", function ()
        local none, twice, half, far = hot(k, 0), hot(k, 1), hot(k, 1), hot(k, 1)
        twice[k], half[k], far[1] = 2, 0.5, math.huge
        local split = k > 1 and peri.tensor(hot(k, 1)) - 1 or { -1 }   -- sums to 1 - K
        for _, x in ipairs { none, twice, half, far, split } do
          assert.equal(-math.huge, peri.item(d:log_prob(x)))
        end
        far[1] = 0 / 0
        local nan = peri.item(d:log_prob(far))
        assert(nan ~= nan)
      end)

      it("has the moments, mode and entropy of its rows", function ()
        local entropy, best = 0, 1
        local mean, variance, mode = d:mean(), d:variance(), d:mode()
        for j, w in ipairs(row) do
          local p = w / sum
          close(p, mean[j])
          close(p * ((sum - w) / sum), variance[j])
          if p > 0 then entropy = entropy - p * math.log(p) end
          if w > row[best] then best = j end
        end
        close(entropy, peri.item(d:entropy()))
        assert.is_true(mode:equal(peri.tensor(hot(k, best))))
        assert.is_true(d:stddev():allclose(d:variance() ^ 0.5, 1e-15))
      end)

      it("draws what Categorical draws, and never the impossible", function ()
        local draws = d:sample(20000, peri.rng(11))
        local places = peri.Categorical(row):sample(20000, peri.rng(11))
        assert.same({ 20000, k }, draws.shape)
        assert.is_true((draws * peri.arange(1, k + 1)):sum(-1):equal(places))
        assert.is_true(draws:sum(-1):equal(peri.ones(20000)))
        local seen = draws:mean(1)
        for j, w in ipairs(row) do   -- false alarm 1e-6 a cell
          local p = w / sum
          assert(math.abs(seen[j] - p) <= 5 * math.sqrt(p * (1 - p) / 20000) + (p > 0 and 1e-9 or 0))
        end
      end)

      it("draws the same however the draws are cut", function ()
        local draws, again = d:sample(7, peri.rng(3)), peri.rng(3)
        local pieces = peri.cat { d:sample(3, again), d:sample({ 2, 2 }, again):reshape(4, k) }
        assert.is_true(pieces:equal(draws))
        assert.is_true(d:expand(7):sample(nil, peri.rng(3)):equal(draws))   -- a row of logits for each
        assert.same({ k }, d:sample().shape)
      end)
    end)
  end

  it("keeps the digits of what is all but certain", function ()
    local d = peri.OneHotCategorical { logits = { 1000, 960, 955 } }   -- mpmath, 50 digits
    close(-4.2769794410970829226e-18, peri.item(d:log_prob({ 1, 0, 0 })))
    close(-40.000000000000000004, peri.item(d:log_prob({ 0, 1, 0 })))
    close(1.7549928301400786914e-16, peri.item(d:entropy()))
    close(4.2769794410970828952e-18, d:variance()[1])
    local far = peri.OneHotCategorical { logits = { -1000, 0, 1000, -math.huge } }
    assert.same({ -2000, -1000, 0, -math.huge }, far:log_prob(peri.eye(4)):totable())
  end)

  it("has the right adjoints", function ()
    for _, l in ipairs { { 0.3, -1.2, 2, 0 }, { -3, 4 }, { 1, 1, 1 } } do
      local k = #l
      local up = peri.tensor({ 0.7, -1.1, 2, 0.4 }):narrow(1, 1, k)
      l = peri.tensor(l)
      for j = 1, k do
        assert.is_nil(slopes.adjoint_mismatch(bound("bind_value", "log_prob", "x", "l"),
          bound("bind_adjoint", "log_prob", "x", "l"), { peri.tensor(hot(k, j)), l }, peri.tensor(1.7), 1e-8, { true }))
      end
      for _, name in ipairs { "mean", "variance", "entropy" } do
        assert.is_nil(slopes.adjoint_mismatch(bound("bind_value", name, "l"), bound("bind_adjoint", name, "l"), { l },
                                              name == "entropy" and peri.tensor(-0.6) or up, 1e-8))
      end
    end
    local dx, dl = bound("bind_adjoint", "log_prob", "x", "l")({ 1, 1 }, { 0.5, 0 }, 1)
    assert.same({ { 0, 0 }, { 0, 0 } }, { dx:totable(), dl:totable() })
  end)

  it("has adjoints of 0 at impossible outcomes", function ()
    local l, up = { 0, -math.huge, 1 }, { 1, 5, 3 }
    assert.equal(0.0, bound("bind_adjoint", "mean", "l")(l, up)[2])
    assert.equal(0.0, bound("bind_adjoint", "variance", "l")(l, up)[2])
    local pair = bound("bind_adjoint", "entropy", "l")({ 0, 1 }, 1)
    local three = bound("bind_adjoint", "entropy", "l")(l, 1)
    assert.same({ pair[1], 0.0, pair[2] }, three:totable())
  end)

  it("has batches: the last dimension is the event", function ()
    local d = peri.OneHotCategorical { { 1, 2, 1 }, { 0, 1, 3 } }
    assert.same({ 2 }, d.batch_shape)
    assert.same({ 3 }, d.event_shape)
    assert.same({ -math.log(4), -math.huge }, d:log_prob({ 1, 0, 0 }):totable())
    assert.same({ 3, 2 }, d:log_prob(d:enumerate_support()).shape)
    assert.same({ 3, 2, 3 }, d:enumerate_support().shape)
    assert.same({ { 0, 1, 0 }, { 0, 1, 0 } }, d:enumerate_support()[2]:totable())
    assert.is_true(peri.exp(d:log_prob(d:enumerate_support())):sum(1):allclose(peri.ones(2)))
    assert.same({ 5, 2, 3 }, d:sample(5).shape)
    local wide = d:expand({ 4, 2 })
    assert.same({ 4, 2 }, wide:entropy().shape)
    assert.same({ 4, 2, 3 }, wide:mean().shape)
    assert.same({ 3, 4, 2, 3 }, wide:enumerate_support().shape)
    assert.equal(peri.constraints.one_hot, d.support)
    assert.is_true(d.support:check(d:sample(100)))
  end)

  it("refuses what is no row of probabilities", function ()
    for _, case in ipairs {
      { 3, "OneHotCategorical: probs must have at least 1 dimension, got 3" },
      { { 1, -2 }, "OneHotCategorical: probs must be non-negative, got -2 at [2]" },
      { { { { 1, 2 }, { 0, 0 } } }, "OneHotCategorical: probs must have a positive sum, got 0 at [1, 2]" },
      { { probs = { 1 }, logits = { 1 } }, "OneHotCategorical: probs and logits exclude each other" },
    } do
      assert.equal(case[2], refusal(peri.OneHotCategorical, case[1]))
    end
    assert.has_error(function () peri.OneHotCategorical { 1, 2 }:log_prob({ 1, 0, 0 }) end)
  end)

  it("explains itself, with an example that is right", function ()
    local help = peri.OneHotCategorical.help
    assert.is_string(help.summary)
    close(help.example[2], load("local OneHotCategorical = ...; return " .. help.example[1])(peri.OneHotCategorical),
          1e-12)
    assert.equal("OneHotCategorical(logits={0, 1})", tostring(peri.OneHotCategorical { logits = { 0, 1 } }))
  end)
end)
