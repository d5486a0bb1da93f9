local peri    = require "perilune"
local core    = require "perilune.core"
local refusal = require "spec.support.refusal"
local slopes  = require "spec.support.slopes"

local function close (expected, got, tolerance)
  local scale = math.max(math.abs(expected), math.abs(got))
  assert(expected == got or math.abs(expected - got) <= (tolerance or 1e-13) * scale,
         string.format("expected %.17g, got %.17g", expected, got))
end

-- Rows of weights, from equal to all but certain.
local rows = {
  { 1, 1, 1 }, { 0.2, 0.3, 0.5 }, { 1e-20, 1, 3, 1e-3 }, { 0, 2, 0, 6, 0 }, { 7 },
  { 3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3, 2 },
}

-- log p, from whichever of p and 1 - p is the smaller
local function log_of (p, complement)
  return p < 0.5 and math.log(peri.item(p)) or peri.log1p(-peri.item(complement))
end

local function total (row)
  local sum = 0
  for _, w in ipairs(row) do sum = sum + w end
  return sum
end

describe("Categorical", function ()
  for _, row in ipairs(rows) do
    local d, sum, k = peri.Categorical(row), total(row), #row
    describe("of " .. tostring(d), function ()
      it("scores outcomes 1 to K, and no others", function ()
        for j, w in ipairs(row) do close(math.log(w / sum), peri.item(d:log_prob(j))) end
        for _, x in ipairs { 0, k + 1, 1.5, -math.huge, math.huge } do
          assert.equal(-math.huge, peri.item(d:log_prob(x)))
        end
        local nan = peri.item(d:log_prob(0 / 0))
        assert(nan ~= nan)
      end)

      it("has tails that are sums of its probabilities", function ()
        local below = 0
        for j = 0, k do
          below = below + (row[j] or 0) / sum
          close(below, peri.item(d:cdf(j)), 1e-14)
          close(below, peri.item(d:cdf(j + 0.5)), 1e-14)
          close(1, peri.item(d:cdf(j) + d:sf(j)), 1e-15)
          close(log_of(d:cdf(j), d:sf(j)), peri.item(d:log_cdf(j)), 1e-12)
          close(log_of(d:sf(j), d:cdf(j)), peri.item(d:log_sf(j)), 1e-12)
        end
      end)

      it("has quantiles that invert the cdf", function ()
        for _, u in ipairs { 0, 1e-9, 0.1, 0.5, 0.77, 1 } do
          local j = peri.item(d:icdf(u))
          assert(peri.item(d:prob(j)) > 0, "an impossible outcome")
          assert(peri.item(d:cdf(j)) >= u - 1e-15)
          assert(j == 1 or peri.item(d:cdf(j - 1)) < u + 1e-15)
        end
        for _, q in ipairs { 0, 1e-22, 1e-9, 0.1, 0.5, 0.77, 1 } do
          local j = peri.item(d:isf(q))
          assert(peri.item(d:prob(j)) > 0, "an impossible outcome")
          assert(peri.item(d:sf(j)) <= q * (1 + 1e-15))
          assert(peri.item(d:cdf(j - 1)) == 0 or peri.item(d:sf(j - 1)) > q * (1 - 1e-15))
        end
        for _, p in ipairs { -0.1, 1.1, 0 / 0 } do
          assert(peri.item(d:icdf(p)) ~= peri.item(d:icdf(p)))
          assert(peri.item(d:isf(p)) ~= peri.item(d:isf(p)))
        end
      end)

      it("has the moments, mode and entropy of its outcomes", function ()
        local mean, square, entropy, best = 0, 0, 0, 1
        for j, w in ipairs(row) do
          local p = w / sum
          mean, square = mean + p * j, square + p * j * j
          if p > 0 then entropy = entropy - p * math.log(p) end
          if w > row[best] then best = j end
        end
        close(mean, peri.item(d:mean()))
        assert(math.abs(square - mean ^ 2 - peri.item(d:variance())) <= 1e-12 * square)
        assert(math.abs(entropy - peri.item(d:entropy())) <= 1e-14 * math.max(1, entropy))
        assert.equal(best + 0.0, peri.item(d:mode()))
      end)

      it("has the right adjoints", function ()
        local l = peri.Categorical { logits = { 0.3, -1.2, 2, 0 } }.logits
        for _, x in ipairs { 1, 3, 7 } do
          local names = { "x", "l" }
          local value = core.bind_value("categorical", "log_prob", "log_prob", names, names)
          local adjoint = core.bind_adjoint("categorical", "log_prob", "log_prob", names, names)
          if x <= 4 then
            assert.is_nil(slopes.adjoint_mismatch(value, adjoint, { peri.tensor(x), l }, peri.tensor(1.7), 1e-8,
                                                  { true }))
          else assert.same({ 0, 0, 0, 0 }, select(2, adjoint(x, l, 1)):totable()) end
        end
        for _, name in ipairs { "cdf", "sf", "log_cdf", "log_sf" } do
          local names = { "x", "l" }
          local value = core.bind_value("categorical", name, name, names, names)
          local adjoint = core.bind_adjoint("categorical", name, name, names, names)
          for _, x in ipairs { 0, 1, 2.5, 3, 4 } do
            if peri.item(value(x, l)) > -math.huge then
              assert.is_nil(slopes.adjoint_mismatch(value, adjoint, { peri.tensor(x), l }, peri.tensor(1.7), 1e-8,
                                                    { true }))
            else assert.same({ 0, 0, 0, 0 }, select(2, adjoint(x, l, 1)):totable()) end
          end
        end
        local value = core.bind_value("categorical", "entropy", "entropy", { "l" }, { "l" })
        local adjoint = core.bind_adjoint("categorical", "entropy", "entropy", { "l" }, { "l" })
        assert.is_nil(slopes.adjoint_mismatch(value, adjoint, { l }, peri.tensor(-0.6), 1e-8))
      end)

      it("draws outcomes as often as it should", function ()   -- false alarm 1e-6 a cell
        local n = 100000
        local draws, again = d:sample(n, peri.rng(11)), peri.rng(11)
        for j, w in ipairs(row) do
          local p, seen = w / sum, peri.item(draws:eq(j):sum())
          assert(math.abs(seen - n * p) <= 5 * math.sqrt(n * p * (1 - p)) + (p > 0 and 1e-9 or 0),
                 j .. " was drawn " .. seen .. " times")
        end
        -- a row of its own for each draw gives the same draws as one row for all
        local alone = peri.Categorical(row):expand(600):sample(nil, peri.rng(11))
        assert.is_true(alone:equal(draws:narrow(1, 1, 600)))
        local pieces = peri.cat { d:sample(3, again), d:sample({ 2, 2 }, again):reshape(-1) }
        assert.is_true(pieces:equal(draws:narrow(1, 1, 7)))
        assert.equal("integer", math.type(d:sample()))
      end)
    end)
  end

  it("has quantiles where a tail is met exactly", function ()
    local d, narrow = peri.Categorical { 1, 1, 2 }, peri.Categorical { 0, 1, 1, 0 }
    assert.same({ 1, 1, 2, 2, 3, 3 }, d:icdf({ 0, 0.25, 0.26, 0.5, 0.51, 1 }):totable())
    assert.same({ 3, 3, 2, 2, 1, 1 }, d:isf({ 0, 0.49, 0.5, 0.74, 0.75, 1 }):totable())
    assert.same({ 2, 2, 3, 3 }, narrow:icdf({ 0, 0.5, 0.51, 1 }):totable())
    assert.same({ 3, 3, 2, 2 }, narrow:isf({ 0, 0.49, 0.5, 1 }):totable())
    assert.equal(2, peri.item(d:median()))
  end)

  it("takes logits of any size, and derives either parameter", function ()
    local d = peri.Categorical { logits = { -1000, 0, 1000, -math.huge } }
    assert.same({ -2000, -1000, 0, -math.huge }, d:log_prob({ 1, 2, 3, 4 }):totable())
    assert.same({ 0, 0, 1, 0 }, d.probs:totable())
    assert.equal("Categorical(logits={-1000, 0, 1000, -inf})", tostring(d))
    close(math.log(2), peri.Categorical { 1, 2 }.logits[2] - peri.Categorical { 1, 2 }.logits[1])
  end)

  it("keeps the digits of what is all but certain", function ()   -- 50-digit reference
    local d = peri.Categorical { 1, 1e-20 }
    close(-46.051701859880914, peri.item(d:log_prob(2)), 1e-15)
    close(-1e-20, peri.item(d:log_prob(1)), 1e-15)
    close(4.7051701859880911e-19, peri.item(d:entropy()), 1e-15)
    local far = peri.Categorical { logits = { -1000, -1001, 0, -900 } }
    close(-999.6867383124817776, peri.item(far:log_cdf(2)), 1e-15)
    close(-900, peri.item(far:log_sf(3)), 1e-15)
    local adjoint = core.bind_adjoint("categorical", "log_cdf", "log_cdf", { "x", "l" }, { "x", "l" })
    local slope = select(2, adjoint(2, far.logits, 1))
    close(0.73105857863000487926, slope[1], 1e-15)
    close(0.26894142136999512075, slope[2], 1e-15)
    assert.same({ -1, 0 }, { slope[3], slope[4] })
  end)

  it("has batches: the last dimension holds the outcomes", function ()
    local d = peri.Categorical { { 1, 2, 1 }, { 0, 1, 3 } }
    assert.same({ 2 }, d.batch_shape)
    assert.same({}, { table.unpack(d.event_shape) })
    assert.same({ 3, 2 }, d:log_prob({ { 1 }, { 2 }, { 3 } }).shape)
    assert.same({ { -math.log(4), -math.huge } }, d:log_prob({ { 1, 1 } }):totable())
    assert.same({ 5, 2 }, d:sample(5).shape)
    assert.same({ 4, 2 }, d:expand({ 4, 2 }):entropy().shape)
    assert.same({ 4, 2, 3 }, d:expand({ 4, 2 }).probs.shape)
    assert.same({ 0.125, 0.25, 0.625 }, peri.Categorical({ 1, 2, 5 }).probs:totable())
    assert.same({ { 1, 1 }, { 2, 2 }, { 3, 3 } }, d:enumerate_support():totable())
  end)

  it("refuses what is no row of probabilities", function ()
    for _, case in ipairs {
      { 3, "Categorical: probs must have at least 1 dimension, got 3" },
      { peri.zeros(0), "Categorical: probs must not be empty, got a tensor of shape (0)" },
      { { 1, -2 }, "Categorical: probs must be non-negative, got -2 at [2]" },
      { { logits = { 0, 0 / 0 } }, "Categorical: logits must be a real number, got nan at [2]" },
      { { probs = { 1 }, logits = { 1 } }, "Categorical: probs and logits exclude each other" },
      { { 0, 0 }, "Categorical: probs must have a positive sum, got 0" },
      { { { 1, 2 }, { 0, 0 } }, "Categorical: probs must have a positive sum, got 0 at [2]" },
      { { 1, math.huge }, "Categorical: probs must have a finite sum, got inf" },
      { { logits = { { 0, 1 }, { -math.huge, -math.huge } } },
        "Categorical: logits must have a finite maximum, got -inf at [2]" },
    } do
      assert.equal(case[2], refusal(peri.Categorical, case[1]))
    end
  end)

  it("explains itself, with an example that is right", function ()
    local help = peri.Categorical.help
    assert.is_string(help.summary)
    close(help.example[2], load("local Categorical = ...; return " .. help.example[1])(peri.Categorical), 1e-12)
  end)
end)
