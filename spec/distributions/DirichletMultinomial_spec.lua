local peri    = require "perilune"
local core    = require "perilune.core"
local refusal = require "spec.support.refusal"
local slopes  = require "spec.support.slopes"

local function close (expected, got, tolerance)
  local scale = math.max(math.abs(expected), math.abs(got))
  assert(expected == got or math.abs(expected - got) <= (tolerance or 1e-13) * scale,
         string.format("expected %.17g, got %.17g", expected, got))
end

-- Concentrations and trials, few enough that all outcomes can be listed.
local cases = {
  { { 0.2, 0.3, 0.5 }, 1 }, { { 1, 1, 2 }, 4 }, { { 0.1, 3, 1, 7 }, 6 }, { { 1, 2 }, 0 }, { { 3 }, 5 },
  { { 1e-8, 1, 2 }, 9 }, { { 1e9, 3e9, 2e9 }, 8 }, { { 1e-6, 2e-6 }, 12 }, { { 40, 3, 0.9 }, 11 },
}

-- log of a (a + 1) ... (a + k - 1)
local function rising (a, k)
  local sum = 0
  for i = 0, k - 1 do sum = sum + math.log(a + i) end
  return sum
end

-- log P by its definition
local function log_prob (a, n, x)
  local total, value = 0, rising(1, n)
  for j, count in ipairs(x) do
    total = total + a[j]
    value = value + rising(a[j], count) - rising(1, count)
  end
  return value - rising(total, n)
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

local function bound (bind, name, ...) return core[bind]("dirichletmultinomial", name, name, { ... }, { ... }) end

describe("DirichletMultinomial", function ()
  for _, case in ipairs(cases) do
    local a, n, k = case[1], case[2], #case[1]
    local d = peri.DirichletMultinomial(a, n)
    describe("of " .. tostring(d), function ()
      it("scores all outcomes, and has their moments, entropy and mode", function ()
        local sum, entropy, best, mean, square = 0, 0, -math.huge, {}, {}
        outcomes(n, k, function (x)
          local got, exact = peri.item(d:log_prob(x)), log_prob(a, n, x)
          assert(math.abs(exact - got) <= 1e-13 * math.max(1, math.abs(got)))
          local p = math.exp(exact)
          sum, entropy, best = sum + p, entropy - p * exact, math.max(best, exact)
          for j = 1, k do
            mean[j] = (mean[j] or 0) + p * x[j]
            square[j] = (square[j] or 0) + p * x[j] ^ 2
          end
        end)
        close(1, sum, 1e-12)
        assert(math.abs(entropy - peri.item(d:entropy())) <= 1e-12 * math.max(1, entropy))
        for j = 1, k do
          close(mean[j], d:mean()[j], 1e-12)
          assert(math.abs(square[j] - mean[j] ^ 2 - d:variance()[j]) <= 1e-12 * (1 + square[j]))
        end
        assert(log_prob(a, n, d:mode():totable()) >= best - 1e-12)
        assert.equal(n, peri.item(d:mode():sum()))
      end)

      it("refuses a score to rows that are no outcomes", function ()
        local most = { n }
        for j = 2, k do most[j] = 0 end
        for _, change in ipairs { -1, 0.5, 1, math.huge } do
          most[1] = n + change
          assert.equal(-math.huge, peri.item(d:log_prob(most)))
        end
        most[1] = 0 / 0
        local nan = peri.item(d:log_prob(most))
        assert(nan ~= nan)
      end)

      it("draws its law, whatever the pieces", function ()   -- false alarm 1e-6 a check
        local size = 5000
        local draws = d:sample(size, peri.rng(7))
        assert.same({ size, k }, draws.shape)
        assert.is_true(draws:sum(-1):equal(peri.full({ size }, n)))
        assert(peri.item(draws:min()) >= 0)
        local seen, expected = draws:mean(1), d:mean()
        for j = 1, k do
          local room = 5 * d:stddev()[j] / math.sqrt(size)
          assert(math.abs(seen[j] - expected[j]) <= room + 20 * n / size * (room < 1e-3 and 1 or 0))
        end
        local rng = peri.rng(7)
        local pieces = peri.cat { d:sample(3, rng), d:sample({ 2, 2 }, rng):reshape(4, k) }
        assert.is_true(pieces:equal(draws:narrow(1, 1, 7)))
        assert.is_true(d:expand(7):sample(nil, peri.rng(7)):equal(pieces))
      end)
    end)
  end

  it("keeps its digits for huge and tiny concentrations, and many trials", function ()
    for _, row in ipairs {   -- concentration, x, log P: 80 digits, rounded
      { { 1, 2.5, 0.5 }, { 3, 0, 4 }, -6.084173945212249480462 },
      { { 1e-10, 1e-10, 1e-10 }, { 1000000, 0, 0 }, -1.098612291546654835903 },
      { { 1e30, 2e30, 1e30 }, { 3, 1, 6 }, -6.436394538801601579574 },
      { { 3e15, 1e15, 2.5e14 }, { 700, 200, 50 }, -8.533593591071586552798 },
      { { 0.25, 100, 1e8 }, { 0, 2, 40 }, -20.86301919561774864394 },
      { { 1e12, 2e12 }, { 333333333333, 666666666667 }, -14.12625142900689124514 },
      { { 2, 3, 4, 0.1 }, { 100000000, 250000000, 300000000, 0 }, -40.38226320482778556997 },
      { { 1e-300, 1 }, { 1, 4 }, -690.7755278982137051803 },
    } do
      local n = 0
      for _, count in ipairs(row[2]) do n = n + count end
      close(row[3], peri.item(peri.DirichletMultinomial(row[1], n):log_prob(row[2])), 2e-14)
    end
    for _, row in ipairs {   -- concentration, trials, entropy: 40 digits, rounded
      { { 1, 2.5, 0.5 }, 7, 3.000809435051926259998 },
      { { 1e-3, 1e-3, 1e-3 }, 40, 1.175900709818808557728 },
      { { 30, 12, 0.7 }, 150, 5.923157973445262691878 },
      { { 1e8, 2e8, 1e8 }, 60, 5.194948563476586118978 },
      { { 2, 3 }, 1500, 7.079974620201768125301 },
      { { 0.3, 0.4, 5 }, 2000, 10.7661839713664489962 },
    } do
      close(row[3], peri.item(peri.DirichletMultinomial(row[1], row[2]):entropy()), 1e-12)
    end
  end)

  it("is BetaBinomial for two outcomes, and Multinomial for huge concentrations", function ()
    for _, n in ipairs { 3, 250, 100000 } do
      local one, pair = peri.BetaBinomial(1.5, 4, n), peri.DirichletMultinomial({ 1.5, 4 }, n)
      local k = math.floor(0.4 * n)
      close(one:log_prob(k), peri.item(pair:log_prob({ k, n - k })))
      close(one:entropy(), peri.item(pair:entropy()), 1e-12)
      close(one:variance(), pair:variance()[1])
    end
    local many, few = peri.DirichletMultinomial({ 1e25, 2e25, 5e25 }, 12), peri.Multinomial(12, { 1, 2, 5 })
    close(peri.item(few:log_prob({ 3, 2, 7 })), peri.item(many:log_prob({ 3, 2, 7 })))
    close(peri.item(few:entropy()), peri.item(many:entropy()), 1e-12)
    assert.same(few:mode():totable(), many:mode():totable())
  end)

  it("spreads its draws more than Multinomial does", function ()   -- false alarm 1e-6 a check
    local d, size = peri.DirichletMultinomial({ 2, 3, 5 }, 200), 20000
    local draws = d:sample(size, peri.rng(23))
    for j = 1, 3 do
      local square = (draws:select(-1, j) - d:mean()[j]) ^ 2
      assert(math.abs(peri.item(square:mean()) - d:variance()[j]) <= 5 * peri.item(square:std()) / math.sqrt(size))
    end
  end)

  it("has the right adjoints", function ()
    for _, row in ipairs { { 0.3, 1.2, 2, 7 }, { 50, 20, 0.01, 3 }, { 1, 1, 1, 1 } } do
      local a = peri.tensor(row)
      local value, adjoint = bound("bind_value", "log_prob", "x", "a", "n"),
                             bound("bind_adjoint", "log_prob", "x", "a", "n")
      for _, x in ipairs { { 1, 0, 5, 2 }, { 0, 0, 0, 0 }, { 100, 300, 80, 7 } } do
        local n = x[1] + x[2] + x[3] + x[4]
        assert.is_nil(slopes.adjoint_mismatch(value, adjoint, { peri.tensor(x), a, peri.tensor(n) }, peri.tensor(1.7),
                                              1e-8, { true, false, true }))
      end
      value, adjoint = bound("bind_value", "entropy", "a", "n"), bound("bind_adjoint", "entropy", "a", "n")
      for _, n in ipairs { 0, 1, 5, 40 } do
        assert.is_nil(slopes.adjoint_mismatch(value, adjoint, { a, peri.tensor(n) }, peri.tensor(-0.6), 1e-8,
                                              { false, true }))
      end
    end
    local _, da, dn = bound("bind_adjoint", "log_prob", "x", "a", "n")({ 1, 1 }, { 0.5, 2 }, 3, 1)
    assert.same({ { 0, 0 }, 0 }, { da:totable(), peri.item(dn) })
  end)

  it("has batches, with trials of their own", function ()
    local d = peri.DirichletMultinomial({ { 1, 2, 1 }, { 4, 1, 3 }, { 0.5, 0.25, 0.5 } }, { { 2 }, { 6 } })
    assert.same({ 2, 3 }, d.batch_shape)
    assert.same({ 3 }, d.event_shape)
    for _, method in ipairs { "mean", "variance", "mode" } do assert.same({ 2, 3, 3 }, d[method](d).shape) end
    assert.same({ 2, 3 }, d:entropy().shape)
    assert.same({ 5, 2, 3, 3 }, d:sample(5).shape)
    assert.same({ 4, 2, 3, 3 }, d:expand({ 4, 2, 3 }):sample().shape)
    local scores = d:log_prob({ 0, 2, 0 })
    assert.same({ 2, 3 }, scores.shape)
    close(log_prob({ 4, 1, 3 }, 2, { 0, 2, 0 }), scores[1][2])
    assert.equal(-math.huge, scores[2][2])
    assert.equal(1, peri.DirichletMultinomial({ 1, 1 }).total_count)
  end)

  it("refuses what is no row of shapes or no number of trials", function ()
    for _, case in ipairs {
      { 3, 3, "DirichletMultinomial: concentration must have at least 1 dimension, got 3" },
      { { 1, 0 }, 3, "DirichletMultinomial: concentration must be positive, got 0 at [2]" },
      { { 1, 2 }, 2.5, "DirichletMultinomial: total_count must be an integer in [0, inf], got 2.5" },
      { { 1, 2 }, -1, "DirichletMultinomial: total_count must be an integer in [0, inf], got -1" },
    } do
      assert.equal(case[3], refusal(peri.DirichletMultinomial, case[1], case[2]))
    end
  end)

  it("lists its support", function ()
    local d = peri.DirichletMultinomial({ 1, 1, 2 }, 4)
    local rows = d:enumerate_support()
    assert.same({ 15, 3 }, rows.shape)
    assert.same({ { 4.0, 0.0, 0.0 }, { 3.0, 1.0, 0.0 } }, rows:narrow(1, 1, 2):totable())
    assert.is_true(d.support:check(rows))
    assert(math.abs(peri.item(d:prob(rows):sum()) - 1) < 1e-14)
    local pair = peri.DirichletMultinomial({ { 1, 1 }, { 1, 2 } }, 3)
    assert.same({ 4, 2, 2 }, pair:enumerate_support().shape)
    assert.is_true(pair:prob(pair:enumerate_support()):sum(1):allclose(peri.ones(2), 1e-14, 0))
    local uneven = peri.DirichletMultinomial({ 1, 1 }, { 2, 3 })
    assert.matches(":enumerate_support: total_count must be the same throughout the batch, and there must be a "
                   .. "million rows at most", refusal(uneven.enumerate_support, uneven))
  end)

  it("explains itself, with an example that is right", function ()
    local class = peri.DirichletMultinomial
    local help = class.help
    assert.is_string(help.summary)
    for _, param in ipairs(class.params) do assert.is_string(help.params[param[1]]) end
    close(help.example[2], load("local DirichletMultinomial = ...; return " .. help.example[1])(class), 1e-12)
    assert.equal("DirichletMultinomial(concentration={1, 2.5}, total_count=3)", tostring(class({ 1, 2.5 }, 3)))
  end)

  it("keeps the digits of an entropy near 0, and at many trials", function ()   -- references by mpmath
    for _, row in ipairs {
      { { 1e-5, 3, 1e-6 }, 20, 0.00033340953054404964669 }, { { 1e-10, 1e-12, 1 }, 30, 1.0295216833959130344e-8 },
      { { 1e-8, 1e6, 1e-8 }, 30, 1.7900851120448609188e-11 }, { { 1, 1e9, 2 }, 30, 1.60739732768761059e-6 },
      { { 0.001, 50, 0.001 }, 40, 0.01089659004068468627 }, { { 0.01, 0.02 }, 1e12, 6.690632895913204775 },
      { { 1e-5, 3 }, 1e12, 0.0067688114458810050692 }, { { 0.1, 7 }, 1e12, 19.255105018717048292 },
      { { 1e300, 1e300 }, 1e300, 346.31628785580566225 },
    } do
      assert.near(1, peri.item(peri.DirichletMultinomial(row[1], row[2]):entropy()) / row[3], 1e-13)
    end
  end)

  it("has the slopes of its entropy where all counts are as good as normal", function ()
    for _, n in ipairs { 1e30, 1e100 } do
      local a = peri.param { 1e30, 2e30, 3e30 }
      peri.DirichletMultinomial(a, n):entropy():backward()
      for j = 1, 3 do
        local slope = 0.5 * (1 / (j * 1e30) - 3 / 6e30) - n / (6e30 + n) / 6e30
        assert.near(1, a.grad[j] / slope, 1e-13)
      end
    end
  end)
end)
