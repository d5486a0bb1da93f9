local core       = require "perilune.core"
local law        = require "spec.support.wishartlaw"
local peri       = require "perilune"
local refusal    = require "spec.support.refusal"
local slopes     = require "spec.support.slopes"
local statistics = require "spec.support.statistics"

local close, all_close = law.close, law.all_close

local LOC    = { { 0.5, -1, 2 }, { 1, 0.25, -0.75 } }
local ROW    = { { 2, 1 }, { 1, 2 } }
local COLUMN = { { 4, -1, 0.5 }, { -1, 3, 0.25 }, { 0.5, 0.25, 1 } }
local X      = { { 1, 0, -1 }, { 2.5, -0.5, 0.125 } }

-- rows one after another: their covariance is the product of Kronecker
local function flat (m)
  local v = {}
  for _, row in ipairs(m) do table.move(row, 1, #row, #v + 1, v) end
  return v
end

local function kronecker (a, b)
  local out = {}
  for i = 1, #a * #b do
    out[i] = {}
    for j = 1, #a * #b do
      out[i][j] = a[math.floor((i - 1) / #b) + 1][math.floor((j - 1) / #b) + 1] * b[(i - 1) % #b + 1][(j - 1) % #b + 1]
    end
  end
  return out
end

local function bound (kernel, names)
  return core.bind_value("matrixnormal", kernel, kernel, names, names),
         core.bind_adjoint("matrixnormal", kernel, kernel, names, names)
end

describe("MatrixNormal", function ()
  local d = peri.MatrixNormal(LOC, ROW, COLUMN)
  local vector = peri.MultivariateNormal(flat(LOC), kronecker(ROW, COLUMN))

  it("has the density of the references", function ()   -- mpmath, 50 digits
    close(-14.794051959975, peri.item(d:log_prob(X)), 1e-15)
    close(12.438816917239957, peri.item(d:entropy()), 1e-15)
    local wide = peri.MatrixNormal(LOC, { { 1e-12, 0 }, { 0, 1e12 } }, COLUMN)
    close(-6095352564110.3551, peri.item(wide:log_prob(X)), 1e-14)
  end)

  it("is MultivariateNormal, its rows one after another", function ()
    close(peri.item(vector:log_prob(flat(X))), peri.item(d:log_prob(X)))
    close(math.exp(peri.item(vector:log_prob(flat(X)))), peri.item(d:prob(X)))
    close(peri.item(vector:entropy()), peri.item(d:entropy()))
    assert.same(flat(LOC), flat(d:mean():totable()))
    assert.same(LOC, d:mode():totable())
    all_close(vector:variance():totable(), flat(d:variance():totable()), 1e-15)
    all_close(vector:stddev():totable(), flat(d:stddev():totable()), 1e-15)
  end)

  it("is Normal for a single number", function ()
    local one, normal = peri.MatrixNormal({ { 3 } }, { { 4 } }, { { 0.25 } }), peri.Normal(3, 1)
    for _, x in ipairs { -2, 3, 5.5 } do close(normal:log_prob(x), peri.item(one:log_prob({ { x } })), 1e-15) end
    close(normal:entropy(), peri.item(one:entropy()), 1e-15)
  end)

  it("is the same by covariances and triangles, in any mixture", function ()
    local r, k = d.row_scale_tril, d.column_scale_tril
    for _, other in ipairs {
      peri.MatrixNormal { loc = LOC, row_scale_tril = r, column_scale_tril = k },
      peri.MatrixNormal { loc = LOC, row_covariance = ROW, column_scale_tril = k },
      peri.MatrixNormal { loc = LOC, row_scale_tril = r, column_covariance = COLUMN },
    } do
      assert.equal(peri.item(d:log_prob(X)), peri.item(other:log_prob(X)))
      all_close(ROW, other.row_covariance:totable(), 1e-15)
      all_close(COLUMN, other.column_covariance:totable(), 1e-15)
    end
  end)

  it("is 0 infinitely far away, and NaN for NaN", function ()
    local inf = math.huge
    for _, row in ipairs { { inf, 0, 0 }, { 0, -inf, 0 }, { inf, 0, -inf }, { 1e200, 0, 0 } } do
      assert.equal(-inf, peri.item(d:log_prob({ row, X[2] })))
      assert.equal(-inf, peri.item(d:log_prob({ X[1], row })))
    end
    local value = peri.item(d:log_prob({ { 0 / 0, inf, 0 }, { 0, 0, 0 } }))
    assert(value ~= value)
  end)

  it("has the right adjoints", function ()
    local x, loc = peri.tensor(X), peri.tensor(LOC)
    local r = peri.tensor { { 1.5, 0 }, { -0.7, 0.8 } }
    local k = peri.tensor { { 1.5, 0, 0 }, { -0.7, 0.8, 0 }, { 0.3, 0.2, 2 } }
    local value, adjoint = bound("log_prob", { "x", "loc", "r", "k" })
    assert.is_nil(slopes.adjoint_mismatch(value, adjoint, { x, loc, r, k }, peri.tensor(1.7), 1e-8))
    value, adjoint = bound("entropy", { "loc", "r", "k" })
    assert.is_nil(slopes.adjoint_mismatch(value, adjoint, { loc, r, k }, peri.tensor(-0.6), 1e-8))
    value, adjoint = bound("rsample", { "x", "loc", "r", "k" })
    local above = peri.tensor { { 1, -2, 0.5 }, { 0.25, 3, -1 } }
    assert.is_nil(slopes.adjoint_mismatch(value, adjoint, { x, loc, r, k }, above, 1e-8))
  end)

  it("draws matrices with this covariance, whatever the pieces", function ()   -- false alarm 1e-6 each
    local count, covariance = 10000, kronecker(ROW, COLUMN)
    local draws = d:sample(count, peri.rng(5))
    local centred = (draws - d.loc):reshape(count, 6)
    for i = 1, 6 do
      local column = centred:select(2, i)
      local normal = peri.Normal(0, math.sqrt(covariance[i][i]))
      assert(statistics.ks(column, function (v) return normal:cdf(v) end), i)
      for j = 1, i do
        local spread = covariance[i][i] * covariance[j][j] + covariance[i][j] ^ 2
        assert(statistics.mean(column * centred:select(2, j), covariance[i][j], spread), i .. ", " .. j)
      end
    end
    local rng = peri.rng(5)
    local pieces = peri.cat { d:rsample(3, rng), d:rsample({ 1, 7 }, rng):reshape(7, 2, 3) }
    assert.is_true(pieces:equal(draws:narrow(1, 1, 10)))
    assert.is_true(d:expand(13):sample(nil, peri.rng(5)):equal(draws:narrow(1, 1, 13)))
  end)

  it("has batches, of means and of matrices", function ()
    local many = peri.MatrixNormal(LOC, { ROW, { { 1, 0 }, { 0, 4 } } }, COLUMN)
    assert.same({ 2 }, many.batch_shape)
    assert.same({ 2, 3 }, many.event_shape)
    for _, name in ipairs { "mean", "mode", "variance" } do assert.same({ 2, 2, 3 }, many[name](many).shape) end
    assert.equal(peri.item(d:log_prob(X)), many:log_prob(X)[1])
    assert.equal(peri.item(d:entropy()), many:entropy()[1])
    assert.same({ 5, 2 }, many:log_prob(peri.zeros(5, 1, 2, 3)).shape)
    assert.same({ 5, 2, 2, 3 }, many:sample(5).shape)
    local wide = many:expand({ 4, 2 })
    assert.same({ 4, 2 }, wide:entropy().shape)
    assert.same({ 4, 2, 2, 3 }, wide:variance().shape)
    assert.same({ 4, 2, 2, 2 }, wide.row_covariance.shape)
  end)

  it("prints what was passed", function ()
    assert.equal("MatrixNormal(loc=Tensor(1, 1), row_covariance=Tensor(1, 1), column_scale_tril=Tensor(1, 1))",
                 tostring(peri.MatrixNormal { loc = { { 0 } }, row_covariance = { { 1 } },
                                              column_scale_tril = { { 1 } } }))
  end)

  it("refuses what are no covariances", function ()
    for _, case in ipairs {
      { "loc is missing", { row_covariance = ROW, column_covariance = COLUMN } },
      { "loc must have at least 2 dimensions, got a tensor of shape (1)", { loc = { 0 }, row_covariance = ROW } },
      { "row_covariance or row_scale_tril is missing", { loc = LOC, column_covariance = COLUMN } },
      { "column_covariance or column_scale_tril is missing", { loc = LOC, row_covariance = ROW } },
      { "row_covariance and row_scale_tril exclude each other",
        { loc = LOC, row_covariance = ROW, row_scale_tril = ROW, column_covariance = COLUMN } },
      { "row_covariance must be square, got 1 by 2",
        { loc = LOC, row_covariance = { { 1, 0 } }, column_covariance = COLUMN } },
      { "loc of 2 by 3 needs matrices of sides 2 and 3, got 3 and 2",
        { loc = LOC, row_covariance = COLUMN, column_covariance = ROW } },
      { "column_covariance must be positive definite, its pivot at [2, 2] is not positive",
        { loc = { { 0, 0 } }, row_covariance = { { 1 } }, column_covariance = { { 1, 2 }, { 2, 1 } } } },
      { "row_covariance must be symmetric and positive definite, got one that is not symmetric",
        { loc = LOC, row_covariance = { { 1, 0.5 }, { 0, 1 } }, column_covariance = COLUMN } },
      { "row_scale_tril must have a positive diagonal, got -1",
        { loc = { { 0 } }, row_scale_tril = { { -1 } }, column_covariance = { { 1 } } } },
      { "column_scale_tril must be lower triangular, got an element above the diagonal",
        { loc = { { 0, 0 } }, row_scale_tril = { { 1 } }, column_scale_tril = { { 1, 1 }, { 0, 1 } } } },
    } do
      assert.equal("MatrixNormal: " .. case[1], refusal(peri.MatrixNormal, case[2]))
    end
    for _, loc in ipairs { { { 0 } }, { { 0, 0 } } } do
      local _, message = pcall(function () return peri.MatrixNormal(loc, { { -1 } }, { { 1 } }) .. "" end)
      assert.truthy(message:find("MatrixNormal_spec.lua:%d+: MatrixNormal: "), message)
    end
  end)

  it("explains itself, with an example that is right", function ()
    local help = peri.MatrixNormal.help
    assert.is_string(help.summary)
    close(help.example[2], load("local MatrixNormal = ...; return " .. help.example[1])(peri.MatrixNormal), 1e-14)
  end)
end)

it("infinitely far away there is no density, in one element or in all", function ()
  local cover = peri.tensor { { 1, 0.5 }, { 0.5, 1 } }
  local d = peri.MatrixNormal(peri.zeros(2, 2), cover, cover)
  assert.equal(-math.huge, d:log_prob(peri.full({ 2, 2 }, math.huge)))
  assert.equal(-math.huge, d:log_prob { { 0, -math.huge }, { 1, 2 } })
end)
