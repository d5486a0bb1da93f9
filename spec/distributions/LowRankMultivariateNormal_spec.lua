local peri       = require "perilune"
local core       = require "perilune.core"
local refusal    = require "spec.support.refusal"
local slopes     = require "spec.support.slopes"
local statistics = require "spec.support.statistics"

local function close (expected, got, tolerance)
  local scale = math.max(math.abs(expected), math.abs(got))
  assert(expected == got or scale < math.huge and math.abs(expected - got) <= (tolerance or 1e-14) * scale,
         string.format("expected %.17g, got %.17g", expected, got))
end

local function all_close (expected, got, tolerance)
  if type(expected) == "number" then return close(expected, got, tolerance) end
  assert.equal(#expected, #got)
  for i = 1, #expected do all_close(expected[i], got[i], tolerance) end
end

local function value_of (kernel, names)
  return core.bind_value("lowrankmultivariatenormal", kernel, kernel, names, names)
end

local function adjoint_of (kernel, names)
  return core.bind_adjoint("lowrankmultivariatenormal", kernel, kernel, names, names)
end

-- loc, cov_factor, cov_diag, x, log_prob, entropy, tolerance: from the dense covariance with 80 digits (mpmath)
local references = {
  { { 0.5 }, { { 2 } }, { 0.25 }, { -1 }, -1.907103907025776649, 2.1423980246728354725 },
  { { 0.5, -1, 2 }, { { 1, 0.5 }, { -0.25, 2 }, { 0, 1 } }, { 1, 0.5, 2 }, { 1, 0.25, -1 },
    -7.4815324416042999951, 5.7662652660317809112 },
  { { 0, 0 }, { { 1, 2, 3 }, { -1, 0.5, 1 } }, { 0.125, 4 }, { 3, -2 },
    -4.9624937797125523942, 5.0243778948091231471 },
  { { 1, 2 }, { { 1e-9 }, { 1e-8 } }, { 1e6, 1e-6 }, { 1001, 2.001 }, -2.8378770664092353394, 2.8378770664593454609 },
  -- where y^T D^-1 y is 1e12 times the result, and six digits of x - loc go the same way
  { { 0, 0, 0, 0 }, { { 1000 }, { 2000 }, { -1000 }, { 500 } }, { 1e-6, 1e-6, 2e-6, 1e-6 },
    { 1500.25, 3000.5, -1500.25, 750.125 }, 7.793207876211089775, -6.9185829074608940576, 1e-12 },
  { { 0, 0, 0, 0 }, { { 1000, 1000 }, { 2000, 2000.5 }, { -1000, -1000 }, { 500, 500 } }, { 1e-4, 1, 2e-6, 1e-3 },
    { 1000, 2000, -1000, 500.5 }, -128.15682808251903986, 4.9400765310540183504, 1e-12 },
}

local loc  = { 0.5, -1, 2, 0 }
local wide = { { 1, 0.5 }, { -0.25, 2 }, { 0, 1 }, { 3, -1 } }
local diag = { 1, 0.5, 2, 0.25 }

local function four () return peri.LowRankMultivariateNormal(loc, wide, diag) end
local function dense () return peri.MultivariateNormal(loc, four().covariance_matrix) end

describe("LowRankMultivariateNormal", function ()
  it("has the density and entropy of the reference table", function ()
    for _, reference in ipairs(references) do
      local d = peri.LowRankMultivariateNormal(table.unpack(reference, 1, 3))
      local x, log_prob, entropy, tolerance = table.unpack(reference, 4)
      close(log_prob, peri.item(d:log_prob(x)), tolerance)
      close(math.exp(log_prob), peri.item(d:prob(x)), 1e-10)
      close(entropy, peri.item(d:entropy()), 2e-14)
    end
  end)

  it("has the moments and matrices of its covariance", function ()
    local covariance = {}
    for i = 1, 4 do
      covariance[i] = {}
      for j = 1, 4 do
        covariance[i][j] = wide[i][1] * wide[j][1] + wide[i][2] * wide[j][2] + (i == j and diag[i] or 0)
      end
    end
    local d = four()
    assert.same(covariance, d.covariance_matrix:totable())
    for i = 1, 4 do
      close(covariance[i][i], d:variance()[i])
      close(math.sqrt(covariance[i][i]), d:stddev()[i])
    end
    assert.same(peri.tensor(loc):totable(), d:mean():totable())
    assert.same(d:mean():totable(), d:mode():totable())
    local l = d.scale_tril
    assert.is_true(l:matmul(l:transpose(1, 2)):allclose(d.covariance_matrix, 1e-14, 1e-14))
    local Sub = peri.LowRankMultivariateNormal:extend "Sub"   -- the fields are inherited
    assert.is_true(Sub(d.loc, d.cov_factor, d.cov_diag).scale_tril:equal(l))
    assert.is_nil(d.nothing)
    assert.is_true(d.precision_matrix:matmul(d.covariance_matrix):allclose(peri.eye(4), 1e-13, 1e-13))
  end)

  it("has a triangle with all digits of a tiny diagonal", function ()
    local e = 2 ^ -40
    local w = { { 1, 0.25 }, { 0.5, 0.75 }, { 0.25, -0.25 } }
    local d = peri.LowRankMultivariateNormal({ 0, 0, 0 }, w, { e, 2 * e, 3 * e })
    all_close({ { 1.03077640640485631, 0, 0 }, { 0.666972968849630214, 0.60633906259264642, 0 },
                { 0.181901718777171877, -0.303169531294337946, 1.84678237257245473e-6 } },   -- mpmath, 60 digits
              d.scale_tril:totable(), 1e-14)
    local none = peri.LowRankMultivariateNormal({ 0, 0 }, { { 0 }, { 0 } }, { 4, 9 })
    assert.same({ { 2, 0 }, { 0, 3 } }, none.scale_tril:totable())
  end)

  it("agrees with MultivariateNormal, for many columns and rows as well", function ()
    local rng = peri.rng(7)
    for _, size in ipairs { { 1, 1 }, { 3, 7 }, { 17, 2 }, { 40, 5 }, { 33, 33 } } do
      local n, k = table.unpack(size)
      local d = peri.LowRankMultivariateNormal(rng:normal(n), rng:normal(n, k), rng:uniform(n) + 0.5)
      local other = peri.MultivariateNormal(d.loc, d.covariance_matrix)
      local x = d:sample(19, rng)
      all_close(other:log_prob(x):totable(), d:log_prob(x):totable(), 1e-12)
      close(peri.item(other:entropy()), peri.item(d:entropy()), 1e-13)
    end
  end)

  it("takes thousands of dimensions", function ()   -- sums over blocks of two, known in closed form
    local n = 4000
    local w = peri.arange(1, n + 1):unsqueeze(-1):le(n / 2) * 2   -- half of the rows 2, half 0
    local d = peri.LowRankMultivariateNormal(peri.zeros(n), w, peri.full({ n }, 4))
    -- covariance 4 (I + u u^T), u of length sqrt(n/2): determinant 4^n (1 + n/2)
    local log_det = n * math.log(4) + math.log(1 + n / 2)
    close(0.5 * (log_det + n * (1 + math.log(2 * math.pi))), peri.item(d:entropy()), 1e-13)
    local q = 0.25 * (n - (n / 2) ^ 2 / (1 + n / 2))   -- of x = (1, ..., 1)
    close(-0.5 * (q + log_det + n * math.log(2 * math.pi)), peri.item(d:log_prob(peri.ones(n))), 1e-13)
    assert.same({ 3, n }, d:sample(3).shape)
  end)

  it("is 0 infinitely far away, and NaN for NaN", function ()
    for _, x in ipairs { { math.huge, 0, 0, 0 }, { -math.huge, math.huge, 0, 1 }, { 1e200, 0, 0, 0 } } do
      assert.equal(-math.huge, peri.item(four():log_prob(x)))
    end
    local nan = peri.item(four():log_prob({ math.huge, 0 / 0, 0, 0 }))
    assert(nan ~= nan)
  end)

  it("has the right adjoints", function ()
    local names, x = { "x", "loc", "w", "d" }, peri.tensor { 1, 0.25, -1, 4 }
    local operands = { x, peri.tensor(loc), peri.tensor(wide), peri.tensor(diag) }
    local log_prob, adjoint = value_of("log_prob", names), adjoint_of("log_prob", names)
    assert.is_nil(slopes.adjoint_mismatch(log_prob, adjoint, operands, peri.tensor(1.7), 1e-8))
    operands[4] = peri.tensor { 1e-3, 0.5, 1e-4, 1e-5 }   -- rows of P near length 1
    assert.is_nil(slopes.adjoint_mismatch(log_prob, adjoint, operands, peri.tensor(1.7), 1e-8))
    names = { "loc", "w", "d" }
    assert.is_nil(slopes.adjoint_mismatch(value_of("entropy", names), adjoint_of("entropy", names),
                                          { table.unpack(operands, 2) }, peri.tensor(-0.6), 1e-8))
    -- (S^-1)_11 = 1/(w^2 + d), far below 1/d
    local _, _, dd = adjoint_of("entropy", names)(peri.tensor { 0 }, peri.tensor { { 1e6 } }, peri.tensor { 1 },
                                                  peri.tensor(1))
    close(0.5 / (1e12 + 1), peri.item(dd), 1e-13)
  end)

  it("has the derivatives of one and many rows alike", function ()
    local names = { "x", "loc", "w", "d" }
    for _, kernel in ipairs { "log_prob", "rsample" } do
      local adjoint, x = adjoint_of(kernel, names), four():sample(5, peri.rng(2))
      local up = kernel == "log_prob" and peri.tensor { 1, 2, 3, 4, 5 } or x * 2 - 1
      local many = { adjoint(x, peri.tensor(loc), peri.tensor(wide), peri.tensor(diag), up) }
      for i = 1, 5 do
        local above = kernel == "log_prob" and peri.tensor(up[i]) or up[i]
        local one = { adjoint(x[i], peri.tensor(loc), peri.tensor(wide), peri.tensor(diag), above) }
        for k = 1, 4 do assert.is_true(one[k]:equal(many[k][i])) end
      end
    end
  end)

  -- With y = x - loc, a derivative v of the draw y gives that of the covariance S as E[v y^T + y v^T]: W + dW
  -- needs v = dW W^T S^-1 y, D + dD needs v = dD S^-1 y/2.
  it("moves a draw as its covariance does", function ()
    local adjoint, precision = adjoint_of("rsample", { "x", "loc", "w", "d" }), dense().precision_matrix
    local x, up = peri.tensor { 1, 0.25, -1, 4 }, { 1, -2, 0.5, 3 }
    local dx, dloc, dw, dd = adjoint(x, peri.tensor(loc), peri.tensor(wide), peri.tensor(diag), peri.tensor(up))
    assert.same(up, dx:totable())
    assert.same(up, dloc:totable())
    local s = precision:matmul((x - peri.tensor(loc)):unsqueeze(-1)):squeeze(-1)
    for i = 1, 4 do
      close(0.5 * up[i] * s[i], dd[i], 1e-13)
      for j = 1, 2 do
        local e = 0
        for l = 1, 4 do e = e + wide[l][j] * s[l] end
        close(up[i] * e, dw:at(i, j), 1e-13)
      end
    end
  end)

  it("draws vectors of this law, whatever the pieces", function ()   -- false alarm below 1e-6 each
    local count = 20000
    local d, covariance = four(), four().covariance_matrix
    local draws = d:sample(count, peri.rng(5))
    local y = draws - d.loc
    local distance = (y * y:matmul(dense().precision_matrix)):sum(-1)
    assert.is_true((statistics.ks(distance, function (q) return peri.Chi2(4):cdf(q) end)))
    for i = 1, 4 do
      local variance = covariance:at(i, i)
      local margin = peri.Normal(loc[i], math.sqrt(variance))
      assert.is_true((statistics.ks(draws:select(2, i), function (v) return margin:cdf(v) end)))
      for j = 1, i do
        local c = covariance:at(i, j)
        local spread = covariance:at(i, i) * covariance:at(j, j) + c ^ 2
        assert.is_true((statistics.mean(y:select(2, i) * y:select(2, j), c, spread)))
      end
    end
    local rng = peri.rng(5)
    local pieces = peri.cat { d:rsample(3, rng), d:rsample({ 1, 7 }, rng):reshape(7, 4) }
    assert.is_true(pieces:equal(draws:narrow(1, 1, 10)))
    assert.is_true(d:expand(13):sample(nil, peri.rng(5)):equal(draws:narrow(1, 1, 13)))
  end)

  it("draws from more columns than dimensions", function ()   -- false alarm below 1e-6
    local d = peri.LowRankMultivariateNormal({ 0, 0 }, { { 1, 2, 3, 4, 5 }, { 5, -4, 3, -2, 1 } }, { 1e-3, 1e-3 })
    local y = d:sample(20000, peri.rng(6))
    local distance = (y * y:matmul(d.precision_matrix)):sum(-1)
    assert.is_true((statistics.ks(distance, function (q) return peri.Chi2(2):cdf(q) end)))
  end)

  it("has batches, of every parameter", function ()
    local factors = { { { 1 }, { 2 } }, { { 0 }, { 1 } }, { { -3 }, { 1 } } }
    local d = peri.LowRankMultivariateNormal({ 0, 1 }, factors, { { { 1, 2 } }, { { 3, 4 } } })
    assert.same({ 2, 3 }, d.batch_shape)
    assert.same({ 2 }, d.event_shape)
    assert.same({ 4, 2, 3, 2 }, d:sample(4).shape)
    assert.same({ 4, 2, 3 }, d:log_prob(peri.zeros(4, 1, 1, 2)).shape)
    assert.same({ 2, 3, 2 }, d:mean().shape)
    assert.same({ 2, 3, 2 }, d:variance().shape)
    assert.same({ 2, 3, 2, 2 }, d.covariance_matrix.shape)
    assert.same({ 2, 3, 2, 2 }, d.precision_matrix.shape)
    local x = peri.tensor { 0.5, -2 }
    local together, entropies = d:log_prob(x), d:entropy()
    for i, diagonal in ipairs { { 1, 2 }, { 3, 4 } } do
      for j = 1, 3 do
        local single = peri.LowRankMultivariateNormal({ 0, 1 }, factors[j], diagonal)
        assert.equal(peri.item(single:log_prob(x)), together:at(i, j))
        assert.equal(peri.item(single:entropy()), entropies:at(i, j))
      end
    end
    local rows = four():sample(17, peri.rng(1))
    local all = four():log_prob(rows)
    for i = 1, 17 do assert.equal(peri.item(four():log_prob(rows[i])), all[i]) end
    assert.same({ 5, 4 }, four():expand(5):variance().shape)
    assert.same({ 5, 4, 4 }, four():expand(5).scale_tril.shape)
  end)

  it("prints what was passed", function ()
    assert.equal("LowRankMultivariateNormal(loc={0, 1}, cov_factor=Tensor(2, 1), cov_diag={1, 2})",
                 tostring(peri.LowRankMultivariateNormal({ 0, 1 }, { { 1 }, { 2 } }, { 1, 2 })))
  end)

  it("refuses what is no covariance", function ()
    for _, case in ipairs {
      { "cov_diag is missing", { loc = { 0 }, cov_factor = { { 1 } } } },
      { "loc must have at least 1 dimension, got 0", { loc = 0, cov_factor = { { 1 } }, cov_diag = { 1 } } },
      { "cov_diag must be positive, got 0 at [2]",
        { loc = { 0, 0 }, cov_factor = { { 1 }, { 1 } }, cov_diag = { 1, 0 } } },
      { "cov_factor must have at least 2 dimensions, got a tensor of shape (2)",
        { loc = { 0, 0 }, cov_factor = { 1, 1 }, cov_diag = { 1, 1 } } },
      { "loc of 2 dimensions needs a cov_factor of 2 rows, got 1 by 2",
        { loc = { 0, 0 }, cov_factor = { { 1, 0 } }, cov_diag = { 1, 1 } } },
      { "loc of 2 dimensions needs a cov_diag of 2, got 3",
        { loc = { 0, 0 }, cov_factor = { { 1 }, { 0 } }, cov_diag = { 1, 1, 1 } } },
      { "cov_factor must be a real number, got nan at [1, 1]",
        { loc = { 0 }, cov_factor = { { 0 / 0 } }, cov_diag = { 1 } } },
    } do
      assert.equal("LowRankMultivariateNormal: " .. case[1], refusal(peri.LowRankMultivariateNormal, case[2]))
    end
    local _, message = pcall(function () return peri.LowRankMultivariateNormal({ 0 }, { { 1 } }, { 1, 1 }) .. "" end)
    assert.truthy(message:find("LowRankMultivariateNormal_spec.lua:%d+: LowRankMultivariateNormal: "), message)
  end)

  it("explains itself, with an example that is right", function ()
    local help = peri.LowRankMultivariateNormal.help
    assert.is_string(help.summary)
    local example = load("local LowRankMultivariateNormal = ...; return " .. help.example[1])
    close(help.example[2], example(peri.LowRankMultivariateNormal), 1e-12)
  end)
end)
