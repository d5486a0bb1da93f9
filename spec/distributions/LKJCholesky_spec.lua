local peri       = require "perilune"
local core       = require "perilune.core"
local refusal    = require "spec.support.refusal"
local slopes     = require "spec.support.slopes"
local statistics = require "spec.support.statistics"

local LKJCholesky = peri.LKJCholesky

local function close (expected, got, tolerance)
  local scale = math.max(math.abs(expected), math.abs(got))
  assert(expected == got or math.abs(expected - got) <= (tolerance or 2e-15) * scale,
         string.format("expected %.17g, got %.17g", expected, got))
end

-- factors with exact rows, by dim
local factor = {
  [2] = { { 1, 0 }, { 0.6, 0.8 } },
  [3] = { { 1, 0, 0 }, { 0.6, 0.8, 0 }, { 0.48, -0.6, 0.64 } },
  [4] = { { 1, 0, 0, 0 }, { 0.6, 0.8, 0, 0 }, { 0.48, -0.6, 0.64, 0 }, { 0.5, -0.5, 0.5, 0.5 } },
}

-- dim, concentration; log density at factor[dim], entropy, mean and variance of the diagonal from
-- its second element on: 60 digits, rounded
local cases = {
  { 2, 1, -0.69314718055994530942, 0.69314718055994530942, { 0.78539816339744830962 }, { 0.04981639159858175299 } },
  { 2, 0.25, -1.3223911892201676226, -0.69908797400086275589, { 0.45694658104446362537 }, { 0.12453315540510876914 } },
  { 2, 1e-6, -13.369225287915673565, -999983.79819837082036, { 3.1415839432678423538e-6 },
    { 1.9999861304583272952e-6 } },
  { 2, 1e6, -446280.32095110571465, -5.835390586057561965, { 0.99999975000003125001 }, { 1.2499987500007031247e-13 } },
  { 3, 1, -1.8194561424530647391, 1.7894597716988003483, { 0.8488263631567751241, 0.66666666666666666667 },
    { 0.029493805210042514177, 0.055555555555555555556 } },
  { 3, 2.5, -2.5244131882549135538, 1.2537222862063683763, { 0.92038847273138473783, 0.83333333333333333333 },
    { 0.01002791640604619573, 0.01984126984126984127 } },
  { 4, 0.25, -3.9291321138201939983, 1.5096283335223202385,
    { 0.82250384588003452567, 0.6, 0.27416794862667817522 },
    { 0.037773137798266697739, 0.068571428571428571429, 0.067689078802982014034 } },
  { 4, 2.5, -5.2180226120085366062, 2.1162256810568700225,
    { 0.93128378129200470758, 0.85714285714285714286, 0.77606981774333725632 },
    { 0.007710518702465542616, 0.015306122448979591837, 0.022715637987823293483 } },
  { 4, 1e6, -2725115.8240804189082, -35.012346516342871791,
    { 0.9999997500002812497, 0.9999995000004999995, 0.99999925000065624937 },
    { 1.2499962500082031094e-13, 2.4999925000162499694e-13, 3.7499887500241405796e-13 } },
}

local function bound (kernel, ...)
  local names = { ... }
  return core.bind_value("lkjcholesky", kernel, kernel, names, names),
         core.bind_adjoint("lkjcholesky", kernel, kernel, names, names)
end

-- Correlation i, j of each of a batch of factors.
local function correlation (draws, i, j)
  return (draws:select(-2, i) * draws:select(-2, j)):sum(-1)
end

-- Nodes x, 1 - x and weights for integrals over (0, 1): tanh-sinh.
local function nodes ()
  local list, step = {}, 1 / 8
  for k = -26, 26 do
    local t = k * step
    local s = math.pi / 2 * (math.exp(t) - math.exp(-t)) / 2
    local e = math.exp(-2 * math.abs(s))
    local small, large = e / (1 + e), 1 / (1 + e)
    list[#list + 1] = { x = s < 0 and small or large, y = s < 0 and large or small,
                        w = step * math.pi / 2 * (math.exp(t) + math.exp(-t)) * small * large }
  end
  return list
end

describe("LKJCholesky", function ()
  for _, case in ipairs(cases) do
    local dim, concentration, log_prob, entropy, mean, variance = table.unpack(case)
    local d = LKJCholesky(dim, concentration)
    describe("of " .. tostring(d), function ()
      it("has its density, entropy and moments", function ()
        close(log_prob, peri.item(d:log_prob(factor[dim])), 4e-15)
        close(math.exp(log_prob), peri.item(d:prob(factor[dim])), 1e-12)
        close(entropy, peri.item(d:entropy()), 4e-15)
        local m, v, a = d:mean():totable(), d:variance():totable(), concentration + (dim - 1) / 2
        for i = 1, dim do
          close(i == 1 and 1 or mean[i - 1], m[i][i])
          close(i == 1 and 0 or variance[i - 1], v[i][i])
          close(math.sqrt(v[i][i]), d:stddev():at(i, i))
          for j = 1, dim do
            if j ~= i then assert.equal(0, m[i][j]) end
            if j < i then close(1 / (2 * a), v[i][j]) end
            if j > i then assert.equal(0, v[i][j]) end
          end
        end
      end)

      it("draws correlations with their beta laws, whatever the pieces", function ()   -- false alarm 1e-6 each
        local n = 4000
        local draws = d:sample(n, peri.rng(7))
        local c = concentration + (dim - 2) / 2
        if concentration > 1e-3 then
          for i = 2, dim do
            for j = 1, i - 1 do
              local share = 0.5 + 0.5 * correlation(draws, i, j)
              local ok, gap = statistics.ks(share, function (x) return peri.Beta(c, c):cdf(peri.tensor(x)) end)
              assert(ok, string.format("correlation %d, %d is off by %g", i, j, gap))
            end
          end
        end
        assert.equal(1, peri.item(d.support:holds(draws):min()))
        local rng = peri.rng(7)
        local pieces = peri.cat { d:sample(3, rng), d:sample({ 2, 2 }, rng):reshape(4, dim, dim) }
        assert.is_true(pieces:equal(draws:narrow(1, 1, 7)))
      end)

      it("draws determinants and diagonals with their moments", function ()   -- false alarm 1e-6 each
        local n, expected, spread = 4000, 0, 0
        local draws, log_det = d:sample(n, peri.rng(2)), peri.zeros(n)
        local a = concentration + (dim - 1) / 2
        for i = 2, dim do
          local b, element = concentration + (dim - i) / 2, draws:select(-1, i):select(-1, i)
          expected = expected + peri.special.digamma(b) - peri.special.digamma(a)
          spread = spread + peri.special.trigamma(b) - peri.special.trigamma(a)
          log_det = log_det + 2 * element:log()
          assert(statistics.mean(element, mean[i - 1], variance[i - 1]))
        end
        if concentration > 1e-3 then assert(statistics.mean(log_det, expected, spread)) end
      end)
    end)
  end

  it("is 2 Beta - 1 for two rows", function ()
    for _, c in ipairs { 0.3, 1, 4.5, 200 } do
      local d, law = LKJCholesky(2, c), peri.Beta(c, c)
      for _, r in ipairs { -0.96, -0.28, 0, 0.6 } do
        local l = { { 1, 0 }, { r, math.sqrt(1 - r * r) } }
        close(law:log_prob((1 + r) / 2) - math.log(2), peri.item(d:log_prob(l)), 1e-13)
      end
      close(law:entropy() + math.log(2), peri.item(d:entropy()), 1e-13)
    end
  end)

  it("has a density that integrates to 1 over three rows", function ()
    -- r = 2 x - 1 in row 2; row 3 in polar coordinates, rho^2 = v
    local points, weights, rule = {}, {}, nodes()
    for _, p in ipairs(rule) do
      for _, q in ipairs(rule) do
        for k = 1, 2 do
          local rho, angle = math.sqrt(q.x), 1.3 * k
          points[#points + 1] = { { 1, 0, 0 }, { p.x - p.y, 2 * math.sqrt(p.x * p.y), 0 },
                                  { rho * math.cos(angle), rho * math.sin(angle), math.sqrt(q.y) } }
          weights[#weights + 1] = 2 * p.w * q.w * math.pi / 2
        end
      end
    end
    for _, c in ipairs { 0.7, 1, 3 } do
      close(1, peri.item((LKJCholesky(3, c):prob(points) * weights):sum()), 1e-9)
    end
  end)

  it("has no density for what is no factor of a correlation matrix", function ()
    local d = LKJCholesky(2, 1.5)
    for _, x in ipairs {
      { { 1, 0.1 }, { 0.6, 0.8 } }, { { 1, 0 }, { 0.6, -0.8 } }, { { 1, 0 }, { 0.6, 0.81 } }, { { 1, 0 }, { 1, 0 } },
      { { -1, 0 }, { 0.6, 0.8 } }, { { 2, 0 }, { 0.6, 0.8 } }, { { 1, 0 }, { math.huge, 0.8 } },
    } do
      assert.equal(-math.huge, peri.item(d:log_prob(x)))
    end
    local nan = peri.item(d:log_prob({ { 1, 0 }, { 0 / 0, 0.8 } }))
    assert(nan ~= nan)
    assert(peri.item(d:log_prob({ { 1, 0 }, { 0.6, 0.8 + 1e-9 } })) > -1)   -- rounded rows pass
    assert.has_error(function () d:log_prob(factor[3]) end)
  end)

  it("has a mode for weak correlations only", function ()
    assert.same({ { 1.0, 0.0 }, { 0.0, 1.0 } }, LKJCholesky(2, 1.5):mode():totable())
    for _, c in ipairs { 1, 0.5 } do
      local none = LKJCholesky(2, c):mode():at(1, 1)
      assert(none ~= none)
    end
    local both = LKJCholesky(3, { 0.5, 2 }):mode()
    assert.same({ 2, 3, 3 }, both.shape)
    assert.is_true(both[2]:equal(peri.eye(3)))
  end)

  it("has the right adjoints", function ()
    local x, frame = peri.tensor(factor[3]), peri.zeros(3)
    local above = peri.tensor { { 3, 5, 7 }, { -1, 2, 9 }, { 1, -2, 0.5 } }
    for _, c in ipairs { 0.02, 0.6, 1.5, 30, 4000 } do
      local eta = peri.tensor(c)
      local value, adjoint = bound("log_prob", "x", "c", "f")
      assert.is_nil(slopes.adjoint_mismatch(value, adjoint, { x, eta, frame }, peri.tensor(1.7), 1e-8,
                                            { true, false, true }))
      local dx = adjoint(x, eta, frame, 1.7):totable()
      for i = 1, 3 do
        for j = 1, 3 do
          local exact = i == j and i > 1 and 1.7 * (3 - i + 2 * c - 2) / factor[3][i][i] or 0
          assert(math.abs(dx[i][j] - exact) <= 1e-13 * math.abs(exact))
        end
      end
      for _, name in ipairs { "mean", "variance" } do
        value, adjoint = bound(name, "c", "f")
        assert.is_nil(slopes.adjoint_mismatch(value, adjoint, { eta, frame }, above, 1e-7, { false, true }))
      end
      value, adjoint = bound("entropy", "c", "f")
      assert.is_nil(slopes.adjoint_mismatch(value, adjoint, { eta, frame }, peri.tensor(-0.6), 1e-8, { false, true }))
    end
    local _, adjoint = bound("log_prob", "x", "c", "f")
    local dx, dc = adjoint({ { 1, 0 }, { 0.6, 0.9 } }, 2, { 0, 0 }, 1)
    assert.same({ { { 0.0, 0.0 }, { 0.0, 0.0 } }, 0 }, { dx:totable(), peri.item(dc) })
  end)

  it("has draws that move with the concentration", function ()
    local move = core.bind_adjoint("lkjcholesky", "rsample", "rsample", { "x", "c", "f" }, { "x", "c", "f" })
    -- row i keeps its direction, and the square of its diagonal element the rank in Beta(b, (i - 1)/2)
    local above = { { 3, 5, 7 }, { -1, 2, 9 }, { 1, -2, 0.5 } }
    for _, c in ipairs { 0.05, 0.6, 3, 70 } do
      local function along (v)
        local sum = 3
        for i = 2, 3 do
          local row, up = factor[3][i], above[i]
          local square = row[i] ^ 2
          local p = peri.Beta(c + (3 - i) / 2, (i - 1) / 2):cdf(square)
          local moved = peri.Beta(v + (3 - i) / 2, (i - 1) / 2):icdf(p)
          for j = 1, i - 1 do sum = sum + up[j] * row[j] * math.sqrt((1 - moved) / (1 - square)) end
          sum = sum + up[i] * math.sqrt(moved)
        end
        return sum
      end
      local slope, error = slopes.derivative(along, c, 0.01 * c)
      local dx, dc = move(factor[3], c, { 0, 0, 0 }, above)
      assert.is_true(dx:equal(peri.tensor(above)))
      assert(math.abs(peri.item(dc) - slope) <= 1e-7 * math.abs(slope) + 4 * error, peri.item(dc) .. " for " .. slope)
    end
    -- the variance 1/(2 eta + d - 1) of correlation 3, 2, from slopes of its square; false alarm 1e-6 each
    for _, c in ipairs { 0.4, 2 } do
      local x = LKJCholesky(3, c):rsample(20000, peri.rng(4))
      local r, up = correlation(x, 3, 2), peri.zeros(20000, 3, 3)
      up:select(-2, 3):copy(2 * r:unsqueeze(-1) * x:select(-2, 2))
      up:select(-2, 2):copy(2 * r:unsqueeze(-1) * x:select(-2, 3))
      local slope = select(2, move(x, c, { 0, 0, 0 }, up))
      assert(math.abs(peri.item(slope:mean()) + 2 / (2 * c + 2) ^ 2) <= 5 * peri.item(slope:std()) / math.sqrt(20000))
    end
  end)

  it("has batches of concentrations, one dim for all", function ()
    local d = LKJCholesky { dim = 3, concentration = { 0.5, 1, 4 } }
    assert.same({ 3 }, d.batch_shape)
    assert.same({ 3, 3 }, d.event_shape)
    assert.same({ 5, 3, 3, 3 }, d:sample(5).shape)
    assert.same({ 3, 3, 3 }, d:mean().shape)
    for i, v in ipairs(d:log_prob(factor[3]):totable()) do
      local single = LKJCholesky(3, d.concentration[i])
      assert.equal(peri.item(single:log_prob(factor[3])), v)
      assert.equal(peri.item(single:entropy()), d:entropy()[i])
    end
    assert.same({ 2, 3 }, d:log_prob(peri.tensor { { factor[3] }, { factor[3] } }).shape)
    local wide = d:expand({ 4, 3 })
    assert.same({ 4, 3 }, wide.batch_shape)
    assert.equal(3, wide.dim)
    assert.same({ 4, 3 }, wide:entropy().shape)
    assert.same({ 4, 3, 3, 3 }, wide:variance().shape)
    assert.same({ 7, 2, 2 }, LKJCholesky(2):expand(7):sample().shape)
    assert.has_error(function () d:expand({ 4, 2 }) end)
    assert.equal("LKJCholesky:expand: shape must be an integer or a table of integers, got true",
                 refusal(d.expand, d, true))
  end)

  it("draws matrices larger than a block of gammas", function ()
    local d = LKJCholesky(300, 2)
    local l = d:sample(nil, peri.rng(1))
    assert.equal(1, peri.item(d.support:holds(l)))
    assert(peri.item(d:log_prob(l)) > -math.huge)
    assert(peri.item(LKJCholesky(2, 1e-6):sample(50, peri.rng(1)):select(-1, 2):select(-1, 2):min()) > 0)
  end)

  it("refuses what is no dim or no concentration, and prints", function ()
    for _, case in ipairs {
      { 1, 1, "dim must be an integer in [2, inf], got 1" },
      { 2.5, 1, "dim must be an integer in [2, inf], got 2.5" },
      { { 2, 3 }, 1, "dim must be a single integer, got a tensor of shape (2)" },
      { 2, 0, "concentration must be positive, got 0" },
      { 2, { 1, -3 }, "concentration must be positive, got -3 at [2]" },
      { nil, 1, "dim is nil (argument 1)" },
    } do
      assert.equal("LKJCholesky: " .. case[3], refusal(LKJCholesky, case[1], case[2]))
    end
    assert.equal("LKJCholesky(dim=3, concentration=1.5)", tostring(LKJCholesky(3, 1.5)))
    assert.equal("LKJCholesky(dim=3, concentration=1)", tostring(LKJCholesky { dim = 3.0 }))
  end)

  it("explains itself, with an example that is right", function ()
    local help = LKJCholesky.help
    assert.is_string(help.summary)
    close(help.example[2], load("local LKJCholesky = ...; return " .. help.example[1])(LKJCholesky), 1e-12)
  end)
end)
