local peri    = require "perilune"
local core    = require "perilune.core"
local refusal = require "spec.support.refusal"
local slopes  = require "spec.support.slopes"

local function close (expected, got, tolerance)
  local scale = math.max(math.abs(expected), math.abs(got))
  assert(expected == got or math.abs(expected - got) <= (tolerance or 1e-14) * scale,
         string.format("expected %.17g, got %.17g", expected, got))
end

-- concentration, x, log density, entropy: 60 digits, rounded
local cases = {
  { { 1, 2, 3 }, { 0.25, 0.25, 0.5 }, 1.3217558399823194472, -1.2443445622221006848 },
  { { 0.5, 0.5 }, { 0.125, 0.875 }, -0.038243418697220898444, -0.24156447527049044469 },
  { { 1e-3, 1e-3, 1e-3 }, { 0.5, 0.25, 0.25 }, -11.451847754528655961, -1983.0957130769436666 },
  { { 1e10, 1e10, 1e10 }, { 0.375, 0.375, 0.25 }, -521159987.4035195973, -22.934504585256941141 },
  { { 40, 60, 3 }, { 0.375, 0.5625, 0.0625 }, 3.3767297217890905874, -4.4296892016482258153 },
  { { 7 }, { 1 }, 0, 0 },
}

-- Moments by the definition, the others of a sum added up one by one.
local function moments (a, j)
  local others, total = 0, 0
  for i = 1, #a do
    total = total + a[i]
    if i ~= j then others = others + a[i] end
  end
  return a[j] / total, a[j] * others / (total ^ 2 * (total + 1))
end

local function bound (kernel, names)
  return core.bind_value("dirichlet", kernel, kernel, names, names),
         core.bind_adjoint("dirichlet", kernel, kernel, names, names)
end

describe("Dirichlet", function ()
  for _, case in ipairs(cases) do
    local a, x, log_prob, entropy = table.unpack(case)
    local d = peri.Dirichlet(a)
    describe("of " .. tostring(d), function ()
      it("has its density and entropy", function ()
        close(log_prob, peri.item(d:log_prob(x)), 2e-15 * #a)
        close(entropy, peri.item(d:entropy()), 2e-15 * #a)
      end)

      it("has moments", function ()
        for j = 1, #a do
          local mean, variance = moments(a, j)
          close(mean, d:mean()[j])
          close(variance, d:variance()[j])
          close(math.sqrt(variance), d:stddev()[j])
        end
      end)

      it("draws shares with these moments, whatever the pieces", function ()   -- false alarm 1e-6 each
        local n = 20000
        local draws = d:sample(n, peri.rng(3))
        assert(peri.allclose(draws:sum(-1), peri.ones(n), 1e-14))
        for j = 1, #a do
          local mean, variance = moments(a, j)
          local centred = draws:select(2, j) - mean
          local square = centred ^ 2
          assert(math.abs(peri.item(centred:mean())) <= 5 * math.sqrt(variance / n) + 1e-16)
          assert(math.abs(peri.item(square:mean()) - variance) <= 5 * peri.item(square:std()) / math.sqrt(n))
        end
        local rng = peri.rng(3)
        local pieces = peri.cat { d:sample(3, rng), d:sample({ 2, 2 }, rng):reshape(4, #a) }
        assert.is_true(pieces:equal(draws:narrow(1, 1, 7)))
      end)
    end)
  end

  it("is exact near and far from its mean, for large concentrations", function ()   -- 60 digits, rounded
    for _, case in ipairs {
      { { 50, 30, 0.5 }, { 0.5, 0.4375, 0.0625 }, -1.4661954865757820896 },
      { { 50, 30, 0.5 }, { 0.5, 0.5 - 2 ^ -40, 2 ^ -40 }, 14.882864149561638858 },
      { { 1, 1, 98 }, { 0.125, 0.0078125, 0.8671875 }, -4.6424187441012920788 },
      { { 200, 100, 100 }, { 0.125, 0.75, 0.125 }, -229.84695172219224568 },
      { { 33, 33, 33 }, { 0.34375, 0.328125, 0.328125 }, 4.3752256703323781767 },
    } do
      close(case[3], peri.item(peri.Dirichlet(case[1]):log_prob(case[2])), 4e-15)
    end
    local edge = peri.Dirichlet { 1, 70, 2 }   -- Gamma(73)/Gamma(72) = 72 times Dirichlet(70, 2)
    close(math.log(72) + peri.item(peri.Dirichlet({ 70, 2 }):log_prob({ 0.875, 0.125 })),
          peri.item(edge:log_prob({ 0, 0.875, 0.125 })), 1e-13)
    assert.equal(-math.huge, peri.item(edge:log_prob({ 0.125, 0.875, 0 })))
    assert.equal(-math.huge, peri.item(edge:log_prob({ -0.125, 1, 0.125 })))
    assert.equal(math.huge, peri.item(peri.Dirichlet({ 0.5, 70 }):log_prob({ 0, 1 })))
  end)

  it("scores rows the same, alone and together", function ()
    for _, k in ipairs { 1, 3, 10, 300 } do
      local g = peri.rng(6)
      local a = peri.exp(6 * g:uniform(70, k) - 2)   -- sums on both sides of 64
      local x = peri.Dirichlet(a):sample(nil, g)
      local together, shared = peri.Dirichlet(a):log_prob(x), peri.Dirichlet(a[2]):log_prob(x)
      for i = 1, 70 do
        assert.equal(peri.item(peri.Dirichlet(a[i]):log_prob(x[i])), together[i])
        assert.equal(peri.item(peri.Dirichlet(a[2]):log_prob(x[i])), shared[i])
      end
      local other = x:transpose(1, 2):contiguous():transpose(1, 2)   -- rows that do not lie together
      assert.is_true(peri.Dirichlet(a):log_prob(other):equal(together))
    end
  end)

  it("draws one dominant share for tiny concentrations, not ties", function ()
    -- P(all shares below 0.99) for three shapes of 1e-3 is about 2 10^-3 log(99): 184 of 20000 draws
    local draws = peri.Dirichlet({ 1e-3, 1e-3, 1e-3 }):sample(20000, peri.rng(8))
    local undecided = peri.item(draws:max(-1):lt(0.99):sum())
    assert(math.abs(undecided - 184) < 80, undecided .. " draws without a dominant share")
    local tiny = peri.Dirichlet({ 1e-6, 1e-6 }):sample(1000, peri.rng(8))
    assert(tiny:sum(-1):equal(peri.ones(1000)))
  end)

  it("has no density outside the simplex", function ()
    local d = peri.Dirichlet { 2, 3, 0.5 }
    for _, x in ipairs { { 0.5, 0.6, 0.1 }, { -0.1, 0.6, 0.5 }, { 0, 0.5, 0.5 }, { math.huge, 0, 0 } } do
      assert.equal(-math.huge, peri.item(d:log_prob(x)))
    end
    assert.equal(math.huge, peri.item(d:log_prob({ 0.25, 0.75, 0 })))
    local nan = peri.item(d:log_prob({ 0.5, 0 / 0, 0.5 }))
    assert(nan ~= nan)
    -- a shape of 1 leaves its share free, at 0 as well: log(Gamma(A)/Gamma(A - 2)) + (A - 3) log x3
    close(math.log(2), peri.item(peri.Dirichlet({ 1, 1, 1 }):log_prob({ 0, 0, 1 })))
    close(math.log(26 * 25) + 24 * math.log(0.5), peri.item(peri.Dirichlet({ 1, 1, 25 }):log_prob({ 0, 0.5, 0.5 })))
  end)

  it("has a mode where there is one", function ()
    assert.same({ 0.25, 0.75, 0 }, peri.Dirichlet({ 2, 4, 0.5 }):mode():totable())
    assert.same({ 0, 1 }, peri.Dirichlet({ 0.25, 0.5 }):mode():totable())
    assert.same({ 1, 0 }, peri.Dirichlet({ 1, 0.5 }):mode():totable())
    local flat = peri.Dirichlet({ 1, 1, 1 }):mode():totable()
    assert(flat[1] ~= flat[1] and flat[3] ~= flat[3])
  end)

  it("has the right adjoints", function ()
    for _, row in ipairs { { 0.3, 1.5, 4 }, { 30, 12, 0.7 }, { 1e-2, 3, 1 } } do
      local a, x = peri.tensor(row), peri.tensor { 0.25, 0.625, 0.125 }
      local value, adjoint = bound("log_prob", { "x", "a" })
      assert.is_nil(slopes.adjoint_mismatch(value, adjoint, { x, a }, peri.tensor(1.7), 1e-8, { true }))
      -- x stays on the simplex: from the third share to another
      local dx = adjoint(x, a, 1.7)
      for j = 1, 2 do
        local function along (t)
          local moved = x:clone()
          moved[j], moved[3] = moved[j] + t, moved[3] - t
          return 1.7 * peri.item(value(moved, a))
        end
        local slope, error = slopes.derivative(along, 0, 0.01)
        assert(math.abs(dx[j] - dx[3] - slope) <= 1e-8 * math.abs(slope) + 4 * error)
      end
      value, adjoint = bound("entropy", { "a" })
      assert.is_nil(slopes.adjoint_mismatch(value, adjoint, { a }, peri.tensor(-0.6), 1e-8))
      value, adjoint = bound("variance", { "a" })
      assert.is_nil(slopes.adjoint_mismatch(value, adjoint, { a }, peri.tensor { 0.7, -1.1, 2 }, 1e-8))
    end
    -- a share that is all but certain has the variance b/(a (a + 1)), b -> 0
    local slope = select(2, bound("variance", { "a" }))({ 1, 1e-20 }, { 1, 0 })
    close(0.5, slope[2])
    close(-0.75e-20, slope[1])
    assert.same({ 0.0 }, select(2, bound("variance", { "a" }))({ 7 }, { 1 }):totable())
  end)

  it("has draws that move with their concentration", function ()
    local move = core.bind_adjoint("dirichlet", "rsample", "rsample", { "x", "a" }, { "x", "a" })
    -- two shares are one Beta: the slope of its quantile
    for _, case in ipairs { { 2, 3, 0.3 }, { 0.1, 0.4, 1e-3 }, { 50, 8, 0.9 } } do
      local a, b, x = table.unpack(case)
      local p = peri.Beta(a, b):cdf(x)
      local _, da = move({ x, 1 - x }, { a, b }, { 1, 0 })
      local by_a, error_a = slopes.derivative(function (v) return peri.Beta(v, b):icdf(p) end, a, 0.01 * a)
      local by_b, error_b = slopes.derivative(function (v) return peri.Beta(a, v):icdf(p) end, b, 0.01 * b)
      assert(math.abs(da[1] - by_a) <= 1e-7 * math.abs(by_a) + 4 * error_a)
      assert(math.abs(da[2] - by_b) <= 1e-7 * math.abs(by_b) + 4 * error_b)
    end
    -- d/da_i of E x_j^2 = a_j (a_j + 1)/(A (A + 1)) is the mean of slopes; false alarm 1e-6 each
    local a = { 0.7, 2, 1.5 }
    local x = peri.Dirichlet(a):rsample(100000, peri.rng(4))
    local _, da = move(x, a, 2 * x * peri.tensor { 1, 0, 0 })
    for i = 1, 3 do
      local exact = slopes.derivative(function (v)
        local moved = { table.unpack(a) }
        moved[i] = v
        local total = moved[1] + moved[2] + moved[3]
        return moved[1] * (moved[1] + 1) / (total * (total + 1))
      end, a[i], 0.01)
      local slope = da:select(-1, i)
      assert(math.abs(peri.item(slope:mean()) - exact) <= 5 * peri.item(slope:std()) / math.sqrt(100000))
    end
  end)

  it("has batches: the last dimension holds the shares", function ()
    local d = peri.Dirichlet { { 1, 2, 3 }, { 4, 5, 6 } }
    assert.same({ 2 }, d.batch_shape)
    assert.same({ 3 }, d.event_shape)
    local x = { 0.25, 0.25, 0.5 }
    for i, v in ipairs(d:log_prob(x):totable()) do
      assert.equal(peri.item(peri.Dirichlet(d.concentration[i]):log_prob(x)), v)
      assert.equal(peri.item(peri.Dirichlet(d.concentration[i]):entropy()), d:entropy()[i])
    end
    assert.same({ 5, 2 }, d:log_prob(peri.full({ 5, 1, 3 }, 1 / 3)).shape)
    assert.same({ 5, 2, 3 }, d:sample(5).shape)
    assert.same({ 4, 2, 3 }, d:expand({ 4, 2 }):mean().shape)
    assert.same({ 4, 2 }, d:expand({ 4, 2 }):entropy().shape)
    assert.equal(peri.constraints.simplex, d.support)
    assert.is_true(d.support:check(d:sample(100)))
  end)

  it("refuses what is no row of shapes, and prints one", function ()
    for _, case in ipairs {
      { 3, "Dirichlet: concentration must have at least 1 dimension, got 3" },
      { { 1, 0 }, "Dirichlet: concentration must be positive, got 0 at [2]" },
      { { 1, 0 / 0 }, "Dirichlet: concentration must be positive, got nan at [2]" },
    } do
      assert.equal(case[2], refusal(peri.Dirichlet, case[1]))
    end
    assert.equal("Dirichlet(concentration={1, 2.5})", tostring(peri.Dirichlet { 1, 2.5 }))
  end)

  it("explains itself, with an example that is right", function ()
    local help = peri.Dirichlet.help
    assert.is_string(help.summary)
    close(help.example[2], load("local Dirichlet = ...; return " .. help.example[1])(peri.Dirichlet), 1e-12)
  end)
end)
