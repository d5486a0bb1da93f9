local peri       = require "perilune"
local core       = require "perilune.core"
local refusal    = require "spec.support.refusal"
local slopes     = require "spec.support.slopes"

local function close (expected, got, tolerance)
  local scale = math.max(math.abs(expected), math.abs(got))
  assert(expected == got or math.abs(expected - got) <= (tolerance or 1e-13) * scale,
         string.format("expected %.17g, got %.17g", expected, got))
end

local function all_close (expected, got, tolerance)
  if type(expected) == "number" then return close(expected, got, tolerance) end
  assert.equal(#expected, #got)
  for i = 1, #expected do all_close(expected[i], got[i], tolerance) end
end

-- Gaussian elimination on a and b, plain: the solution of a x = b, and log |det a|.
local function solve (a, b)
  local d, m, x, log_det = #b, {}, {}, 0
  for i = 1, d do m[i] = { table.unpack(a[i]) }; m[i][d + 1] = b[i] end
  for c = 1, d do
    local best = c
    for r = c, d do if math.abs(m[r][c]) > math.abs(m[best][c]) then best = r end end
    m[c], m[best] = m[best], m[c]
    log_det = log_det + math.log(math.abs(m[c][c]))
    for r = c + 1, d do
      local f = m[r][c] / m[c][c]
      for k = c, d + 1 do m[r][k] = m[r][k] - f * m[c][k] end
    end
  end
  for i = d, 1, -1 do
    x[i] = m[i][d + 1]
    for k = i + 1, d do x[i] = x[i] - m[i][k] * x[k] end
    x[i] = x[i] / m[i][i]
  end
  return x, log_det
end

local function inverse (a)
  local columns = {}
  for j = 1, #a do
    local e = {}
    for i = 1, #a do e[i] = i == j and 1 or 0 end
    columns[j] = solve(a, e)
  end
  return columns   -- symmetric: columns are rows
end

local function log_density (x, loc, covariance)
  local y = {}
  for i = 1, #x do y[i] = x[i] - loc[i] end
  local w, log_det = solve(covariance, y)
  local q = 0
  for i = 1, #x do q = q + y[i] * w[i] end
  return -0.5 * (q + log_det + #x * math.log(2 * math.pi))
end

-- loc, covariance and a point; the last is a random walk of seven steps
local walk = {}
for i = 1, 7 do
  walk[i] = {}
  for j = 1, 7 do walk[i][j] = math.min(i, j) end
end
local cases = {
  { { 0 }, { { 4 } }, { 1.5 } },
  { { 1, -2 }, { { 2, 1 }, { 1, 2 } }, { 0.3, 0.4 } },
  { { 0, 1, 2 }, { { 4, -1, 0.5 }, { -1, 3, 0.25 }, { 0.5, 0.25, 1 } }, { -5, 7, 0.1 } },
  { { 1e8, 0 }, { { 1e12, 3e2 }, { 3e2, 1e-6 } }, { 1.00001e8, 1e-3 } },
  { { 0, 0, 0, 0, 0, 0, 0 }, walk, { 1, 2, 1.5, 0, -1, -1.25, 3 } },
}

local function bound (kernel, names, file)
  file = file or "multivariatenormal"
  return core.bind_value(file, kernel, kernel, names, names), core.bind_adjoint(file, kernel, kernel, names, names)
end

describe("MultivariateNormal", function ()
  for _, case in ipairs(cases) do
    local loc, covariance, x = table.unpack(case)
    local d, n = peri.MultivariateNormal(loc, covariance), #loc
    describe("of " .. n .. " dimensions, " .. covariance[1][1], function ()
      it("has the density that elimination gives", function ()
        close(log_density(x, loc, covariance), peri.item(d:log_prob(x)), 1e-12)
        close(math.exp(log_density(x, loc, covariance)), peri.item(d:prob(x)), 1e-11)
        local _, log_det = solve(covariance, x)
        close(0.5 * (n * (1 + math.log(2 * math.pi)) + log_det), peri.item(d:entropy()), 1e-12)
      end)

      it("is the same by covariance, precision and triangle", function ()
        local precision = inverse(covariance)
        all_close(precision, d.precision_matrix:totable(), 1e-11)
        local by_precision = peri.MultivariateNormal { loc = loc, precision_matrix = precision }
        local by_triangle = peri.MultivariateNormal { loc = loc, scale_tril = d.scale_tril }
        for _, other in ipairs { by_precision, by_triangle } do
          close(peri.item(d:log_prob(x)), peri.item(other:log_prob(x)), 1e-11)
          all_close(d.scale_tril:totable(), other.scale_tril:totable(), 1e-11)
          all_close(covariance, other.covariance_matrix:totable(), 1e-11)
        end
        all_close(precision, by_triangle.precision_matrix:totable(), 1e-11)
      end)

      it("has moments", function ()
        assert.same(peri.tensor(loc):totable(), d:mean():totable())
        assert.same(d:mean():totable(), d:mode():totable())
        for i = 1, n do
          close(covariance[i][i], d:variance()[i], 1e-14)
          close(math.sqrt(covariance[i][i]), d:stddev()[i], 1e-14)
        end
      end)

      it("draws vectors with these moments, whatever the pieces", function ()   -- false alarm 1e-6 each
        local count = 20000
        local draws = d:sample(count, peri.rng(5))
        local centred = draws - d.loc
        for i = 1, n do
          for j = 1, i do
            local sum = peri.item((centred:select(2, i) * centred:select(2, j)):mean())
            local spread = math.sqrt((covariance[i][i] * covariance[j][j] + covariance[i][j] ^ 2) / count)
            assert(math.abs(sum - covariance[i][j]) <= 5 * spread, i .. ", " .. j)
          end
          local spread = math.sqrt(covariance[i][i] / count)
          assert(math.abs(peri.item(centred:select(2, i):mean())) <= 5 * spread)
        end
        local rng = peri.rng(5)
        local pieces = peri.cat { d:rsample(3, rng), d:rsample({ 1, 7 }, rng):reshape(7, n) }
        assert.is_true(pieces:equal(draws:narrow(1, 1, 10)))
        local alone = d:expand(13):sample(nil, peri.rng(5))
        assert.is_true(alone:equal(draws:narrow(1, 1, 13)))
      end)
    end)
  end

  it("keeps its digits where the covariance is badly scaled or nearly singular", function ()
    local tril = { { 1e-150, 0 }, { 1e150, 1e-150 } }
    local tiny = peri.MultivariateNormal { loc = { 0, 0 }, scale_tril = tril }
    close(600 * math.log(10) / 2 - math.log(2 * math.pi), peri.item(tiny:log_prob({ 0, 0 })))
    local near = peri.MultivariateNormal({ 0, 0 }, { { 1, 1 - 2 ^ -40 }, { 1 - 2 ^ -40, 1 } })
    -- determinant 2^-39 - 2^-80, quadratic form of (1, 1): 2/(2 - 2^-40)
    local log_det = math.log(2 ^ -39 - 2 ^ -80)
    close(-0.5 * (2 / (2 - 2 ^ -40) + log_det) - math.log(2 * math.pi), peri.item(near:log_prob({ 1, 1 })), 1e-12)
  end)

  it("is 0 infinitely far away, and NaN for NaN", function ()
    local d = peri.MultivariateNormal({ 0, 0 }, { { 2, 1 }, { 1, 2 } })
    for _, x in ipairs { { math.huge, 0 }, { -math.huge, math.huge }, { 0, -math.huge }, { 1e200, 0 } } do
      assert.equal(-math.huge, peri.item(d:log_prob(x)))
    end
    local nan = peri.item(d:log_prob({ math.huge, 0 / 0 }))
    assert(nan ~= nan)
  end)

  it("has the right adjoints", function ()
    local loc = peri.tensor { 0.5, -1, 2 }
    local l = peri.tensor { { 1.5, 0, 0 }, { -0.7, 0.8, 0 }, { 0.3, 0.2, 2 } }
    local x = peri.tensor { 1, 0.25, -1 }
    local value, adjoint = bound("log_prob", { "x", "loc", "l" })
    assert.is_nil(slopes.adjoint_mismatch(value, adjoint, { x, loc, l }, peri.tensor(1.7), 1e-8))
    value, adjoint = bound("entropy", { "loc", "l" })
    assert.is_nil(slopes.adjoint_mismatch(value, adjoint, { loc, l }, peri.tensor(-0.6), 1e-8))
    value, adjoint = bound("rsample", { "x", "loc", "l" })
    assert.is_nil(slopes.adjoint_mismatch(value, adjoint, { x, loc, l }, peri.tensor { 1, -2, 0.5 }, 1e-8))
    local a = l:matmul(l:transpose(1, 2))
    local above = peri.tensor { { 1, 9, 9 }, { -2, 0.3, 9 }, { 0.4, 1.1, -0.9 } }
    for _, kernel in ipairs { "cholesky", "cholesky_inverse", "triangular_inverse" } do
      value, adjoint = bound(kernel, { "a" }, "row/linalg")
      local operand = kernel == "triangular_inverse" and l or a
      assert.is_nil(slopes.adjoint_mismatch(value, adjoint, { operand }, above, 1e-8))
    end
  end)

  it("has batches, of vectors and of matrices", function ()
    local matrices = { { { 1, 0 }, { 0, 1 } }, { { 2, 1 }, { 1, 2 } }, { { 4, 0 }, { 0, 9 } } }
    local d = peri.MultivariateNormal({ { 0, 0 }, { 1, 1 }, { 2, 3 } }, matrices)
    assert.same({ 3 }, d.batch_shape)
    assert.same({ 2 }, d.event_shape)
    local x = { { 0.5, -1 }, { 2, 2 }, { 1, 0 } }
    for i, v in ipairs(d:log_prob(x):totable()) do
      local single = peri.MultivariateNormal(d.loc[i], matrices[i])
      assert.equal(peri.item(single:log_prob(x[i])), v)
      assert.equal(peri.item(single:entropy()), d:entropy()[i])
      all_close(single.precision_matrix:totable(), d.precision_matrix[i]:totable())
    end
    assert.same({ 5, 3 }, d:log_prob(peri.zeros(5, 1, 2)).shape)
    assert.same({ 5, 3, 2 }, d:sample(5).shape)
    local shared = peri.MultivariateNormal({ 0, 0 }, matrices)
    assert.same({ 3, 2 }, shared:mean().shape)
    assert.same({ 3, 2 }, shared:variance().shape)
    local wide = d:expand({ 4, 3 })
    assert.same({ 4, 3 }, wide:entropy().shape)
    assert.same({ 4, 3, 2 }, wide:variance().shape)
    assert.same({ 4, 3, 2, 2 }, wide.covariance_matrix.shape)
    -- many rows at once are as each alone, in blocks of any size
    local rows = shared:expand({ 1, 3 }):sample(17, peri.rng(1)):reshape(-1, 2)
    local one = peri.MultivariateNormal({ 1, 0 }, matrices[2])
    local together = one:log_prob(rows)
    for i = 1, #rows do assert.equal(peri.item(one:log_prob(rows[i])), together[i]) end
  end)

  it("prints what was passed", function ()
    assert.equal("MultivariateNormal(loc={0, 1}, precision_matrix=Tensor(2, 2))",
                 tostring(peri.MultivariateNormal { loc = { 0, 1 }, precision_matrix = { { 2, 0 }, { 0, 2 } } }))
  end)

  it("refuses what is no covariance", function ()
    for _, case in ipairs {
      { "loc is missing", { covariance_matrix = { { 1 } } } },
      { "loc must have at least 1 dimension, got 0", { loc = 0, covariance_matrix = { { 1 } } } },
      { "covariance_matrix or precision_matrix or scale_tril is missing", { loc = { 0 } } },
      { "covariance_matrix and scale_tril exclude each other",
        { loc = { 0 }, covariance_matrix = { { 1 } }, scale_tril = { { 1 } } } },
      { "covariance_matrix must be positive definite, its pivot at [2, 2] is not positive",
        { loc = { 0, 0 }, covariance_matrix = { { 1, 2 }, { 2, 1 } } } },
      { "precision_matrix must be positive definite, its pivot at [1, 1] is not positive",
        { loc = { 0, 0 }, precision_matrix = { { -1, 0 }, { 0, 1 } } } },
      { "covariance_matrix must be symmetric and positive definite, got one that is not symmetric",
        { loc = { 0, 0 }, covariance_matrix = { { 1, 0.5 }, { 0, 1 } } } },
      { "scale_tril must have a positive diagonal, got -1",
        { loc = { 0, 0 }, scale_tril = { { 1, 0 }, { 0, -1 } } } },
      { "scale_tril must be lower triangular, got an element above the diagonal",
        { loc = { 0, 0 }, scale_tril = { { 1, 0.1 }, { 0, 1 } } } },
      { "loc of 2 dimensions needs a matrix of 2 by 2, got 1 by 2",
        { loc = { 0, 0 }, covariance_matrix = { { 1, 0 } } } },
      { "loc of 3 dimensions needs a matrix of 3 by 3, got 2 by 2",
        { loc = { 0, 0, 0 }, precision_matrix = { { 1, 0 }, { 0, 1 } } } },
      { "covariance_matrix must be a real number, got nan at [1, 1]",
        { loc = { 0 }, covariance_matrix = { { 0 / 0 } } } },
    } do
      assert.equal("MultivariateNormal: " .. case[1], refusal(peri.MultivariateNormal, case[2]))
    end
    local _, message = pcall(function () return peri.MultivariateNormal({ 0 }, { { -1 } }) .. "" end)
    assert.truthy(message:find("MultivariateNormal_spec.lua:%d+: MultivariateNormal: "), message)
  end)

  it("explains itself, with an example that is right", function ()
    local help = peri.MultivariateNormal.help
    assert.is_string(help.summary)
    local example = load("local MultivariateNormal = ...; return " .. help.example[1])
    close(help.example[2], example(peri.MultivariateNormal), 1e-12)
  end)
end)

it("infinitely far away there is no density, in one coordinate or in all", function ()
  local d = peri.MultivariateNormal({ 0, 0 }, { { 1, 0.5 }, { 0.5, 1 } })
  for _, x in ipairs { { math.huge, math.huge }, { math.huge, 0 }, { 1, -math.huge } } do
    assert.equal(-math.huge, d:log_prob(x))
  end
  assert.is_true(d:log_prob { math.huge, 0 / 0 } ~= d:log_prob { math.huge, 0 / 0 })
end)
