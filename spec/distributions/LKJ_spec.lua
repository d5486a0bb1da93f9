local peri       = require "perilune"
local core       = require "perilune.core"
local slopes     = require "spec.support.slopes"
local statistics = require "spec.support.statistics"

local LKJ = peri.LKJ

local function close (expected, got, tolerance)
  local scale = math.max(math.abs(expected), math.abs(got))
  assert(expected == got or math.abs(expected - got) <= (tolerance or 4e-15) * scale,
         string.format("expected %.17g, got %.17g", expected, got))
end

-- correlation matrices, by dim
local matrix = {
  [2] = { { 1, 0.6 }, { 0.6, 1 } },
  [3] = { { 1, 0.5, -0.25 }, { 0.5, 1, 0.375 }, { -0.25, 0.375, 1 } },
  [4] = { { 1, 0.5, -0.25, 0.125 }, { 0.5, 1, 0.375, 0 }, { -0.25, 0.375, 1, -0.5 }, { 0.125, 0, -0.5, 1 } },
}

-- dim, concentration; log density at matrix[dim], entropy: 60 digits, rounded
local cases = {
  { 2, 1, -0.69314718055994530942, 0.69314718055994530942 },
  { 2, 0.25, -1.3223911892201675705, -0.69908797400086275589 },
  { 2, 1e-6, -13.369225287915673496, -999983.79819837082036 },
  { 2, 1e6, -446280.32095110578404, -5.835390586057561965 },
  { 3, 1, -1.5963125911388550389, 1.5963125911388550389 },
  { 3, 2.5, -1.4803585551726130246, 1.1635361334329803524 },
  { 4, 0.25, -4.1944624417203946398, 0.368035679932527 },
  { 4, 2.5, -2.0096393404376186497, 1.7965979866036460704 },
  { 4, 1e6, -1181243.7645028718172, -35.012347516342246791 },
}

local function bound (kernel, ...)
  local names = { ... }
  return core.bind_value("lkj", kernel, kernel, names, names), core.bind_adjoint("lkj", kernel, kernel, names, names)
end

describe("LKJ", function ()
  for _, case in ipairs(cases) do
    local dim, concentration, log_prob, entropy = table.unpack(case)
    local d = LKJ(dim, concentration)
    describe("of " .. tostring(d), function ()
      it("has its density, entropy and moments", function ()
        close(log_prob, peri.item(d:log_prob(matrix[dim])))
        close(entropy, peri.item(d:entropy()))
        assert.is_true(d:mean():equal(peri.eye(dim)))
        local v = d:variance():totable()
        for i = 1, dim do
          for j = 1, dim do close(i == j and 0 or 1 / (2 * concentration + dim - 1), v[i][j]) end
        end
      end)

      it("draws correlations with their beta laws, whatever the pieces", function ()   -- false alarm 1e-6 each
        local n, c = 4000, concentration + (dim - 2) / 2
        local draws = d:sample(n, peri.rng(7))
        assert.equal(1, peri.item(d.support:holds(draws):min()))
        assert(peri.item(d:log_prob(draws):min()) > -math.huge)
        for i = 1, dim do
          assert.equal(0, peri.item((draws:select(-2, i):select(-1, i) - 1):abs():max()))
          for j = 1, c > 1e-3 and i - 1 or 0 do
            local share = 0.5 + 0.5 * draws:select(-2, i):select(-1, j)
            local ok, gap = statistics.ks(share, function (x) return peri.Beta(c, c):cdf(peri.tensor(x)) end)
            assert(ok, string.format("correlation %d, %d is off by %g", i, j, gap))
          end
        end
        local rng = peri.rng(7)
        local pieces = peri.cat { d:sample(3, rng), d:sample({ 2, 2 }, rng):reshape(4, dim, dim) }
        assert.is_true(pieces:equal(draws:narrow(1, 1, 7)))
      end)
    end)
  end

  it("draws determinants with their mean", function ()   -- false alarm 1e-6 each
    for _, case in ipairs { { 2, 0.25 }, { 3, 2.5 }, { 4, 1 }, { 4, 1e4 } } do
      local dim, c = table.unpack(case)
      local a, expected, spread = c + (dim - 1) / 2, 0, 0
      for i = 2, dim do
        local b = c + (dim - i) / 2
        expected = expected + peri.special.digamma(b) - peri.special.digamma(a)
        spread = spread + peri.special.trigamma(b) - peri.special.trigamma(a)
      end
      assert(statistics.mean(peri.logdet(LKJ(dim, c):sample(4000, peri.rng(2))), expected, spread))
    end
  end)

  it("is the law of the product of LKJCholesky's factors", function ()
    local l = peri.LKJCholesky(5, 1.5):sample(50, peri.rng(3))
    local r, log_det = l:matmul(l:transpose(-1, -2)), 0
    for i = 2, 5 do log_det = log_det + (5 - i) * l:select(-1, i):select(-1, i):log() end
    local gap = LKJ(5, 1.5):log_prob(r) - (peri.LKJCholesky(5, 1.5):log_prob(l) - log_det)
    assert(peri.item(gap:abs():max()) < 1e-11)
    close(peri.item(peri.kl_divergence(peri.LKJCholesky(4, 0.5), peri.LKJCholesky(4, 0.7))),
          peri.item(peri.kl_divergence(LKJ(4, 0.5), LKJ(4, 0.7))), 0)
    assert.equal(0, peri.item(peri.kl_divergence(LKJ(4, 0.5), LKJ(4, 0.5))))
  end)

  it("has no density for what is no correlation matrix", function ()
    local d = LKJ(2, 1.5)
    for _, x in ipairs {
      { { 1, 0.6 }, { 0.5, 1 } }, { { 1, 1 }, { 1, 1 } }, { { 1, 1.2 }, { 1.2, 1 } }, { { 2, 0.5 }, { 0.5, 2 } },
      { { -1, 0 }, { 0, 1 } }, { { 1, math.huge }, { math.huge, 1 } },
    } do
      assert.equal(-math.huge, peri.item(d:log_prob(x)))
      local dx, dc = select(2, bound("log_prob", "x", "c", "f"))(x, 1.5, { 0, 0 }, 1)
      assert.same({ { { 0.0, 0.0 }, { 0.0, 0.0 } }, 0 }, { dx:totable(), peri.item(dc) })
    end
    local nan = peri.item(d:log_prob({ { 1, 0 / 0 }, { 0.6, 1 } }))
    assert(nan ~= nan)
    assert(peri.item(d:log_prob({ { 1 + 1e-9, 0.6 }, { 0.6 + 1e-9, 1 } })) > -1)   -- rounded matrices pass
    assert.has_error(function () d:log_prob(matrix[3]) end)
  end)

  it("has a mode for weak correlations only", function ()
    local both = LKJ(3, { 0.5, 2 }):mode()
    assert.same({ 2, 3, 3 }, both.shape)
    assert.is_true(both[2]:equal(peri.eye(3)))
    assert(both:at(1, 1, 1) ~= both:at(1, 1, 1))
  end)

  it("has the right adjoints", function ()
    local x, frame = peri.tensor(matrix[3]), peri.zeros(3)
    for _, c in ipairs { 0.02, 0.6, 1.5, 30, 4000 } do
      local eta = peri.tensor(c)
      local value, adjoint = bound("log_prob", "x", "c", "f")
      assert.is_nil(slopes.adjoint_mismatch(value, adjoint, { x, eta, frame }, peri.tensor(1.7), 1e-8,
                                            { true, false, true }))
      -- (eta - 1) times the inverse
      local inverse = (adjoint(x, eta, frame, 1):matmul(x) / (c - 1) - peri.eye(3)):abs():max()
      assert(peri.item(inverse) < 1e-14)
      value, adjoint = bound("entropy", "c", "f")
      assert.is_nil(slopes.adjoint_mismatch(value, adjoint, { eta, frame }, peri.tensor(-0.6), 1e-8, { false, true }))
    end
  end)

  it("has draws that move with the concentration as their factors do", function ()
    local rows = { "x", "c", "f" }
    local move   = core.bind_adjoint("lkj", "rsample", "rsample", rows, rows)
    local factor = core.bind_adjoint("lkjcholesky", "rsample", "rsample", rows, rows)
    local above = peri.tensor { { 3, 5, 7 }, { -1, 2, 9 }, { 1, -2, 0.5 } }
    local l = peri.cholesky(matrix[3])
    for _, c in ipairs { 0.05, 0.6, 3, 70 } do
      local dx, dc = move(matrix[3], c, { 0, 0, 0 }, above)
      assert.is_true(dx:equal(above))
      local _, expected = factor(l, c, { 0, 0, 0 }, (above + above:transpose(1, 2)):matmul(l))
      close(peri.item(expected), peri.item(dc), 1e-12)
    end
  end)

  it("has batches of concentrations, one dim for all", function ()
    local d = LKJ { dim = 3, concentration = { 0.5, 1, 4 } }
    assert.same({ { 3 }, { 3, 3 }, { 5, 3, 3, 3 }, { 3, 3, 3 }, { 3, 3, 3 } },
                { d.batch_shape, d.event_shape, d:sample(5).shape, d:mean().shape, d:variance().shape })
    for i, v in ipairs(d:log_prob(matrix[3]):totable()) do
      close(peri.item(LKJ(3, d.concentration[i]):log_prob(matrix[3])), v, 0)
    end
    local wide = d:expand { 4, 3 }
    assert.same({ { 4, 3 }, { 4, 3 }, { 4, 3, 3, 3 }, { 4, 3, 3, 3 } },
                { wide.batch_shape, wide:entropy().shape, wide:variance().shape, wide:mean().shape })
    assert.equal("LKJ(dim=2, concentration=1)", tostring(LKJ(2)))
    assert.has_error(function () LKJ({ 2, 3 }, 1) end)
    assert.has_error(function () LKJ(1, 1) end)
    assert.has_error(function () LKJ(2, 0) end)
  end)
end)

it("LKJ keeps its digits for weak correlations", function ()   -- det R = 1 + 2 r s q - r^2 - s^2 - q^2
  for _, c in ipairs { 1e6, 1e10, 1e14, 1e100 } do
    local r, s, q = 1 / math.sqrt(c), -0.5 / math.sqrt(c), 0.25 / math.sqrt(c)
    local x = { { 1, r, s }, { r, 1, q }, { s, q, 1 } }
    local log_det = peri.special.log1p(2 * r * s * q - r * r - s * s - q * q)
    local d = LKJ(3, c)
    assert.near((c - 1) * log_det, peri.item(d:log_prob(x) - d:log_prob(peri.eye(3))), 1e-14 * math.log(c) ^ 2)
    local slope = peri.grad(function (eta) return LKJ(3, eta):log_prob(x) end)(c)   -- log det R + 3/(2 c) + ...
    assert.near(log_det + 1.5 / c, slope, 2 / c ^ 2 + 1e-13 / c)
  end
end)
