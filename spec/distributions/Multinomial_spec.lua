local peri    = require "perilune"
local core    = require "perilune.core"
local refusal = require "spec.support.refusal"
local slopes  = require "spec.support.slopes"

local function close (expected, got, tolerance)
  local scale = math.max(math.abs(expected), math.abs(got))
  assert(expected == got or math.abs(expected - got) <= (tolerance or 1e-13) * scale,
         string.format("expected %.17g, got %.17g", expected, got))
end

-- Trials and weights, few enough that all outcomes can be listed.
local cases = {
  { 1, { 0.2, 0.3, 0.5 } }, { 4, { 1, 1, 2 } }, { 6, { 0, 3, 1, 0.5 } }, { 0, { 1, 2 } }, { 5, { 3 } },
  { 9, { 1e-8, 1, 2 } }, { 3, { 1e-20, 1 } },
}

-- log P(x), counts and weights, by its definition
local function log_prob (n, x, weights)
  local sum, value = 0, 0
  for _, w in ipairs(weights) do sum = sum + w end
  for i = 2, n do value = value + math.log(i) end
  for j, count in ipairs(x) do
    for i = 2, count do value = value - math.log(i) end
    if count > 0 then value = value + count * math.log(weights[j] / sum) end
  end
  return value
end

-- Calls visit with each row of K counts, n in all.
local function outcomes (n, k, visit, row)
  row = row or {}
  local j = #row + 1
  for count = j == k and n or 0, n do
    row[j] = count
    if j == k then visit({ table.unpack(row) }) else outcomes(n - count, k, visit, row) end
    row[j] = nil
  end
end

local function bound (bind, name, ...) return core[bind]("multinomial", name, name, { ... }, { ... }) end

describe("Multinomial", function ()
  for _, case in ipairs(cases) do
    local n, weights = case[1], case[2]
    local d, k = peri.Multinomial(n, weights), #case[2]
    describe("of " .. tostring(d), function ()
      it("scores all outcomes, with probabilities that sum to 1", function ()
        local sum = 0
        outcomes(n, k, function (x)
          local got = peri.item(d:log_prob(x))
          assert(math.abs(log_prob(n, x, weights) - got) <= 1e-13 * math.max(1, math.abs(got)) or got == -math.huge)
          sum = sum + math.exp(got)
        end)
        close(1, sum)
      end)

      it("refuses a score to rows that are no outcomes", function ()
        local most = { n }
        for j = 2, k do most[j] = 0 end
        for _, change in ipairs { -1, 0.5, 1, math.huge } do
          local x = { table.unpack(most) }
          x[k] = x[k] + change
          assert.equal(-math.huge, peri.item(d:log_prob(x)))
        end
        if k > 1 then   -- the right sum
          assert.equal(-math.huge, peri.item(d:log_prob({ n + 1, -1, table.unpack(most, 3) })))
          assert.equal(-math.huge, peri.item(d:log_prob({ n - 0.5, 0.5, table.unpack(most, 3) })))
        end
        most[1] = 0 / 0
        local nan = peri.item(d:log_prob(most))
        assert(nan ~= nan)
      end)

      it("has the moments, mode and entropy of its outcomes", function ()
        local mean, square, entropy, best = {}, {}, 0, -math.huge
        outcomes(n, k, function (x)
          local log_p = log_prob(n, x, weights)
          local p = math.exp(log_p)
          for j, count in ipairs(x) do
            mean[j], square[j] = (mean[j] or 0) + p * count, (square[j] or 0) + p * count ^ 2
          end
          if p > 0 then entropy = entropy - p * log_p end
          best = math.max(best, log_p)
        end)
        for j = 1, k do
          close(mean[j], d:mean()[j])
          assert(math.abs(square[j] - mean[j] ^ 2 - d:variance()[j]) <= 1e-13 * math.max(square[j], 1e-300))
        end
        assert(math.abs(entropy - peri.item(d:entropy())) <= 1e-13 * math.max(1, entropy))
        assert(math.abs(best - peri.item(d:log_prob(d:mode()))) <= 1e-13)
      end)

      it("draws outcomes as often as it should", function ()   -- false alarm 1e-6 a cell
        local size, seen = 20000, {}
        for _, x in ipairs(d:sample(size, peri.rng(17)):totable()) do
          local key = string.format(("%d,"):rep(k), table.unpack(x))
          seen[key] = (seen[key] or 0) + 1
        end
        local counted = 0
        outcomes(n, k, function (x)
          local p, times = math.exp(log_prob(n, x, weights)), seen[string.format(("%d,"):rep(k), table.unpack(x))] or 0
          counted = counted + times
          assert(math.abs(times - size * p) <= 5 * math.sqrt(size * p) + (p > 0 and 5 or 0))
        end)
        assert.equal(size, counted)   -- nothing but outcomes
      end)
    end)
  end

  it("is exact for many trials and for what is all but certain", function ()   -- mpmath, 50 digits
    for _, row in ipairs {
      { 1e8, { 0, 1, -1 }, { 24472847, 66524096, 9003057 }, -18.147148867340388356 },
      { 1e15, { 0, 1, -1 }, { 244728471054798, 665240955774822, 90030573170380 }, -34.265244514653461266 },
      { 7, { 0, -40 }, { 7, 0 }, -2.9738479787041122904e-17 },
      { 7, { 0, -40 }, { 6, 1 }, -38.054089850944686725 },
      { 300, { 0.5, -2, 3 }, { 10, 0, 290 }, -8.7473705525541488161 },
    } do
      close(row[4], peri.item(peri.Multinomial { total_count = row[1], logits = row[2] }:log_prob(row[3])))
    end
    close(-46.051701859880913680, peri.item(peri.Multinomial(1, { 1, 1e-20 }):log_prob({ 0, 1 })))
    for _, row in ipairs {
      { 1e8, { 0, 1, -1 }, 19.147148855614545098 },
      { 1e12, { 0.3, 0.1, -0.5 }, 28.740511108559860594 },
      { 7, { 0, -40, -41 }, 1.5996080271000599206e-15 },
      { 5000, { 0, -7, -8.5 }, 3.4690016517524491526 },
      { 1, { 0.5, 0.25 }, 0.6853952946573940362 },
    } do
      close(row[3], peri.item(peri.Multinomial { total_count = row[1], logits = row[2] }:entropy()))
    end
  end)

  it("agrees with Binomial, its case K = 2", function ()
    for _, n in ipairs { 3, 250, 1e7 } do
      local one  = peri.Binomial { total_count = n, logits = 0.7 }
      local pair = peri.Multinomial { total_count = n, logits = { 0.7, 0 } }
      close(one:entropy(), peri.item(pair:entropy()))
      close(one:variance(), pair:variance()[2])
      local k = math.floor(n * 0.6)
      close(one:log_prob(k), peri.item(pair:log_prob({ k, n - k })), 1e-12)
    end
  end)

  it("has modes that no neighbour exceeds", function ()
    for _, row in ipairs {
      { 17, { 3, 1, 4, 1, 5, 9 } }, { 40, { 1, 1, 1, 1, 1, 1, 1 } }, { 2, { 5, 5, 5, 0 } }, { 1e6, { 0.1, 0.7, 0.33 } },
    } do
      local d = peri.Multinomial(row[1], row[2])
      local mode = d:mode()
      local best, k = peri.item(d:log_prob(mode)), #row[2]
      assert.equal(row[1], peri.item(mode:sum()))
      for from = 1, k do
        for to = 1, k do
          local x = mode:clone()
          x[from] = x[from] - 1
          x[to] = x[to] + 1
          assert(peri.item(d:log_prob(x)) <= best + 1e-12)
        end
      end
    end
  end)

  it("draws any number of trials", function ()   -- false alarm 1e-6 a check
    for _, n in ipairs { 100, 1e8, 1e15 } do
      local d, size = peri.Multinomial(n, { 1, 2, 3, 4 }), 20000
      local draws = d:sample(size, peri.rng(23))
      assert.is_true(draws:sum(-1):equal(peri.full({ size }, n)))
      local z = (draws:mean(1) - d:mean()) / d:stddev() * math.sqrt(size)
      assert(peri.item(z:abs():max()) <= 5)
      assert(peri.item(((draws:var(1) / d:variance() - 1) * math.sqrt(size / 2)):abs():max()) <= 5)
      local along = (draws - d:mean()) / d:stddev()
      local both = peri.item((along:select(-1, 1) * along:select(-1, 4)):mean())
      assert(math.abs(both + math.sqrt(0.1 * 0.4 / (0.9 * 0.6))) <= 5 / math.sqrt(size))
    end
  end)

  it("draws the same however the draws are cut, and whoever draws them", function ()
    for _, case in ipairs { { 30, { 1, 2, 0, 4 } }, { 5000, { 3, 1, 2, 1e-3, 8, 1, 1 } }, { 2, { 7 } } } do
      local n, weights = table.unpack(case)
      local k, d, again = #weights, peri.Multinomial(n, weights), peri.rng(3)
      local draws = d:sample(200, peri.rng(3))
      local pieces = peri.cat { d:sample(3, again), d:sample({ 7, 10 }, again):reshape(70, k), d:sample(127, again) }
      assert.is_true(pieces:equal(draws))
      local rows = peri.tensor(weights):expand({ 200, k }):contiguous()   -- a row of logits for each
      assert.is_true(peri.Multinomial(peri.full({ 200 }, n), rows):sample(nil, peri.rng(3)):equal(draws))
      peri.set_threads(2)
      local shared = d:sample(8000, peri.rng(3))
      peri.set_threads(1)
      assert.is_true(shared:equal(d:sample(8000, peri.rng(3))))
    end
  end)

  it("draws rows of many outcomes", function ()   -- false alarm 1e-6 a check
    local k, n = 5000, 20000
    local weights = peri.arange(1, k + 1) ^ 0.5
    local d = peri.Multinomial(n, weights)
    local draws = d:sample(10, peri.rng(8))
    assert.is_true(draws:sum(-1):equal(peri.full({ 10 }, n)))
    local chi2 = peri.item(((draws - d:mean()) ^ 2 / d:mean()):sum())   -- nearly normal: 10 (K - 1) degrees of freedom
    assert(math.abs(chi2 - 10 * (k - 1)) <= 5 * math.sqrt(2 * 10 * (k - 1) * (1 + k / (2 * n))), chi2)
    local least = peri.Multinomial { total_count = 9, logits = { -800, 0, -2000, -745 } }:sample(3, peri.rng(1))
    assert.same({ { 0, 9, 0, 0 }, { 0, 9, 0, 0 }, { 0, 9, 0, 0 } }, least:totable())
  end)

  it("has counts that sum to the trials as its support", function ()
    local d = peri.Multinomial(4, { 1, 1, 2 })
    assert.equal(peri.constraints.multinomial(4), d.support)
    assert.is_true(d.support:check(d:sample(100)))
  end)

  it("has the right adjoints", function ()
    local l = peri.tensor { 0.3, -1.2, 2, 0 }
    local value   = bound("bind_value", "log_prob", "x", "n", "l")
    local adjoint = bound("bind_adjoint", "log_prob", "x", "n", "l")
    for _, x in ipairs { { 1, 0, 5, 2 }, { 0, 0, 0, 0 }, { 9, 0, 0, 0 }, { 100, 300, 80, 7 } } do
      local n = x[1] + x[2] + x[3] + x[4]
      assert.is_nil(slopes.adjoint_mismatch(value, adjoint, { peri.tensor(x), peri.tensor(n), l }, peri.tensor(1.7),
                                            1e-8, { true, true }))
    end
    local _, dn, dl = adjoint({ 1, 1 }, 3, { 0.5, 0 }, 1)
    assert.same({ 0, { 0, 0 } }, { peri.item(dn), dl:totable() })
    value, adjoint = bound("bind_value", "entropy", "n", "l"), bound("bind_adjoint", "entropy", "n", "l")
    for _, n in ipairs { 0, 1, 5, 40, 3000, 1e7 } do
      for _, logits in ipairs { l, peri.tensor { -4, 3 }, peri.tensor { 0, 0, 0 } } do
        assert.is_nil(slopes.adjoint_mismatch(value, adjoint, { peri.tensor(n), logits }, peri.tensor(-0.6), 1e-8,
                                              { true }))
      end
    end
    local slope = select(2, adjoint(5, { 0, -math.huge, 1 }, 1))
    local pair  = select(2, adjoint(5, { 0, 1 }, 1))
    assert.same({ pair[1], 0.0, pair[2] }, slope:totable())
  end)

  it("has batches, with trials of their own", function ()
    local d = peri.Multinomial({ { 2 }, { 6 } }, { { 1, 2, 1 }, { 0, 1, 3 }, { 1, 1, 1 } })
    assert.same({ 2, 3 }, d.batch_shape)
    assert.same({ 3 }, d.event_shape)
    assert.same({ 2, 3, 3 }, d:mean().shape)
    assert.same({ 2, 3, 3 }, d:mode().shape)
    assert.same({ 2, 3 }, d:entropy().shape)
    assert.same({ 5, 2, 3, 3 }, d:sample(5).shape)
    assert.same({ 4, 2, 3, 3 }, d:expand({ 4, 2, 3 }):sample().shape)
    local scores = d:log_prob({ 0, 2, 0 })
    assert.same({ 2, 3 }, scores.shape)
    close(2 * math.log(1 / 4), scores[1][2])
    assert.equal(-math.huge, scores[2][2])
    assert.is_true(d:sample(50, peri.rng(1)):sum(-1):equal(peri.tensor({ { 2 }, { 6 } }):expand({ 50, 2, 3 })))
    assert.same({ 3 }, peri.Multinomial(4, { 1, 1, 2 }):sample().shape)
    local one = peri.Multinomial { probs = { 1, 1 } }
    assert.equal(1, one.total_count)
  end)

  it("refuses what is no number of trials or no row of probabilities", function ()
    for _, case in ipairs {
      { 3, 3, "Multinomial: probs must have at least 1 dimension, got 3" },
      { 3, { 1, -2 }, "Multinomial: probs must be non-negative, got -2 at [2]" },
      { 2.5, { 1, 2 }, "Multinomial: total_count must be an integer in [0, inf], got 2.5" },
      { -1, { 1, 2 }, "Multinomial: total_count must be an integer in [0, inf], got -1" },
      { 3, nil, "Multinomial: probs is nil (argument 2)" },
      { 3, { 0, 0 }, "Multinomial: probs must have a positive sum, got 0" },
      { { 2, 3 }, { { 1, 0 }, { 0, 0 } }, "Multinomial: probs must have a positive sum, got 0 at [2]" },
    } do
      assert.equal(case[3], refusal(peri.Multinomial, case[1], case[2]))
    end
    local _, message = pcall(function () peri.Multinomial(3, { 1, 2 }):sample(-1) end)
    assert(message:find("Multinomial:sample: a dimension must be a non-negative integer, got -1", 1, true))
  end)

  it("lists its support", function ()
    local d = peri.Multinomial(4, { 1, 1, 2 })
    local rows = d:enumerate_support()
    assert.same({ 15, 3 }, rows.shape)
    assert.same({ { 4.0, 0.0, 0.0 }, { 3.0, 1.0, 0.0 } }, rows:narrow(1, 1, 2):totable())
    assert.is_true(d.support:check(rows))
    assert(math.abs(peri.item(d:prob(rows):sum()) - 1) < 1e-14)
    local pair = peri.Multinomial(3, { { 1, 1 }, { 1, 2 } })
    assert.same({ 4, 2, 2 }, pair:enumerate_support().shape)
    assert.is_true(pair:prob(pair:enumerate_support()):sum(1):allclose(peri.ones(2), 1e-14, 0))
    local uneven = peri.Multinomial({ 2, 3 }, { 1, 1 })
    assert.matches(":enumerate_support: total_count must be the same throughout the batch, and there must be a "
                   .. "million rows at most", refusal(uneven.enumerate_support, uneven))
  end)

  it("explains itself, with an example that is right", function ()
    local help = peri.Multinomial.help
    assert.is_string(help.summary)
    close(help.example[2], load("local Multinomial = ...; return " .. help.example[1])(peri.Multinomial), 1e-12)
    assert.equal("Multinomial(total_count=4, probs={0.25, 0.25, 0.5})", tostring(peri.Multinomial(4, { 1, 1, 2 })))
  end)

  it("has its entropy and the slopes of it at many trials", function ()   -- those of a normal law
    for _, n in ipairs { 1e15, 1e17, 1e30, 1e100 } do
      local logits = peri.param { math.log(0.2), math.log(0.3), math.log(0.5) }
      local entropy = peri.Multinomial { total_count = n, logits = logits }:entropy()
      entropy:backward()
      assert.near(1, peri.item(entropy) / (math.log(2 * math.pi * n) + 1 + 0.5 * math.log(0.03)), 1e-13)
      for j, p in ipairs { 0.2, 0.3, 0.5 } do assert.near(0.5 - 1.5 * p, logits.grad[j], 1e-13) end
    end
  end)
end)
