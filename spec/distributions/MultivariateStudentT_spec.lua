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

local function is_nan (x) return x ~= x end

local function value_of (kernel, names)
  return core.bind_value("multivariatestudentt", kernel, kernel, names, names)
end

local function adjoint_of (kernel, names)
  return core.bind_adjoint("multivariatestudentt", kernel, kernel, names, names)
end

local two   = { { 1, 0 }, { 1, 2 } }
local three = { { 1.5, 0, 0 }, { -0.75, 0.5, 0 }, { 0.25, 2, 3 } }

-- df, loc, scale_tril, x, log_prob, entropy: from the dense L L^T by elimination with 60 digits (mpmath)
local references = {
  { 1, { 0 }, { { 1 } }, { 2 }, -2.7541677982835005487, 2.531024246969290793 },
  { 3, { 0, 0 }, two, { 1, 0 }, -3.401790982639830218, 4.1976909136359574596 },
  { 0.0009765625, { 0, 0 }, two, { 5, -3 }, -13.181289724545263782, 2051.5310242469692908 },
  { 2.5, { 0.5, -1, 2 }, three, { 1, 0.25, -1 }, -9.1524583577733030687, 6.2064496749320808322 },
  { 2.5, { 0.5, -1, 2 }, three, { 1e100, -2e100, 1e99 }, -1274.3588921771409416, 6.2064496749320808322 },
  { 2.5, { 0.5, -1, 2 }, three, { 1e200, -2e200, 1e199 }, -2540.7806933238660676, 6.2064496749320808322 },
  { 1e6, { 0.5, -1, 2 }, three, { 1, 0.25, -1 }, -12.706963649438298642, 5.0677488158295969908 },
  { 1e15, { 0.5, -1, 2 }, three, { 4, -3, 9 }, -9.4709093960772426817, 5.0677458158303499893 },
  { 1e300, { 0.5, -1, 2 }, three, { 4, -3, 9 }, -9.4709093960772605695, 5.0677458158303469893 },
  { 1e300, { 0.5, -1, 2 }, three, { 1e130, -3, 9 }, -9.8302469135802480889e+259, 5.0677458158303469893 },
  { 1e300, { 0.5, -1, 2 }, three, { 1e155, -3, 9 }, -1.1850938534885577715e+301, 5.0677458158303469893 },
}

-- d, df, |z|, d|z|/d df at fixed probability of a shorter z: by the incomplete beta function with 120 digits
local radii = {
  { 1, 3, 2, -0.22597479198727924 },
  { 2, 0.125, 1000, -59579.816846052521 },
  { 3, 2, 0.5, 0.01147845515541413 },
  { 3, 40, 4, -0.0082106316335164984 },
  { 3, 1000, 0.25, 5.8511891803109317e-8 },
  { 3, 1000, 8, -0.00012331487026698098 },
  { 7, 100000, 1.5, 1.0311953931845451e-10 },
  { 20, 400, 4, 1.1801846784799499e-5 },
  { 20, 1e8, 6, -2.6999993700001588e-15 },
}

describe("MultivariateStudentT", function ()
  it("has the density and entropy of the reference table", function ()
    for _, reference in ipairs(references) do
      local df, loc, tril, x, log_prob, entropy = table.unpack(reference)
      local d = peri.MultivariateStudentT(df, loc, tril)
      close(log_prob, peri.item(d:log_prob(x)))
      close(math.exp(log_prob), peri.item(d:prob(x)), 1e-13)
      close(entropy, peri.item(d:entropy()))
    end
  end)

  it("is StudentT in one dimension", function ()
    for _, df in ipairs { 1e-3, 0.5, 1, 1.5, 2, 3.75, 60, 1e5, 1e12, 1e300 } do
      local one, plain = peri.MultivariateStudentT(df, { -0.5 }, { { 2 } }), peri.StudentT(df, -0.5, 2)
      for _, x in ipairs { -0.5, 0.25, -3, 1e3, 1e40, 1e200 } do
        local expected = plain:log_prob(x)
        if df < 1e100 or x < 1e30 then close(expected, peri.item(one:log_prob({ x })), 2e-14) end
      end
      close(plain:entropy(), peri.item(one:entropy()))
      assert.equal(tostring(plain:mean()), tostring(peri.item(one:mean())))
      assert.equal(tostring(plain:variance()), tostring(peri.item(one:variance())))
      local draws, expected = one:sample(5, peri.rng(3)), plain:sample(5, peri.rng(3))
      for i = 1, 5 do close(expected[i], peri.item(draws[i])) end
    end
  end)

  it("tends to MultivariateNormal", function ()
    local normal = peri.MultivariateNormal { loc = { 1, 0, 2 }, scale_tril = three }
    for _, df in ipairs { 1e40, 1e100, 1e300, math.huge } do
      local d = peri.MultivariateStudentT(df, { 1, 0, 2 }, three)
      for _, x in ipairs { { 1, 0, 2 }, { -3, 4, 0.5 }, { 1e5, 1, 1 } } do
        close(peri.item(normal:log_prob(x)), peri.item(d:log_prob(x)), 1e-13)
      end
      close(peri.item(normal:entropy()), peri.item(d:entropy()))
      assert.same(normal:variance():totable(), d:variance():totable())
    end
    local infinite = peri.MultivariateStudentT(math.huge, { 0, 0, 0 }, three)
    assert.equal(-math.huge, peri.item(infinite:log_prob({ 1e155, 0, 0 })))
  end)

  it("has moments where they exist", function ()
    local d = peri.MultivariateStudentT({ 0.5, 1, 1.5, 2, 4 }, { 1, -1 }, two)
    assert.same({ 1, -1 }, d:mode()[1]:totable())
    local mean, variance = d:mean():totable(), d:variance():totable()
    for i = 1, 2 do assert(is_nan(mean[i][1]) and is_nan(variance[i][2])) end
    for i = 3, 5 do assert.same({ 1, -1 }, mean[i]) end
    assert.same({ math.huge, math.huge }, variance[3])
    assert.same({ math.huge, math.huge }, variance[4])
    assert.same({ 2, 10 }, variance[5])
    assert.same({ math.sqrt(2), math.sqrt(10) }, d:stddev()[5]:totable())
  end)

  it("is 0 infinitely far away, and NaN for NaN", function ()
    local d = peri.MultivariateStudentT(3, { 0, 0 }, two)
    for _, x in ipairs { { math.huge, 0 }, { -math.huge, math.huge }, { 0, -math.huge } } do
      assert.equal(-math.huge, peri.item(d:log_prob(x)))
    end
    assert(is_nan(peri.item(d:log_prob({ math.huge, 0 / 0 }))))
    assert(is_nan(peri.item(d:log_prob({ 0 / 0, 0 }))))
    local unchecked = peri.MultivariateStudentT { df = 0 / 0, loc = { 0, 0 }, scale_tril = two, validate = false }
    assert(is_nan(peri.item(unchecked:log_prob({ 0, 1 }))))
    assert(is_nan(unchecked:sample():totable()[1]))
  end)

  it("has the right adjoints", function ()
    local loc, l = peri.tensor { 0.5, -1, 2 }, peri.tensor(three)
    local names = { "x", "df", "loc", "l" }
    local log_prob, log_prob_adjoint = value_of("log_prob", names), adjoint_of("log_prob", names)
    names = { "df", "loc", "l" }
    local entropy, entropy_adjoint = value_of("entropy", names), adjoint_of("entropy", names)
    for _, df in ipairs { 0.3, 1.7, 30, 1e3 } do
      for _, x in ipairs { { 1, 0.25, -1 }, { 0.5, -1, 3 }, { 1e3, -4e2, 0 } } do
        assert.is_nil(slopes.adjoint_mismatch(log_prob, log_prob_adjoint,
          { peri.tensor(x), peri.tensor(df), loc, l }, peri.tensor(1.7), 1e-8))
      end
      assert.is_nil(slopes.adjoint_mismatch(entropy, entropy_adjoint, { peri.tensor(df), loc, l }, peri.tensor(-0.6),
                                            1e-8))
    end
    local dx, ddf, _, dl = log_prob_adjoint(loc, peri.tensor(4), loc, l, peri.tensor(1))   -- at the mode
    assert.same({ 0, 0, 0 }, dx:abs():totable())
    close(0.5 * (peri.special.digamma(3.5) - peri.special.digamma(2) - 0.75), peri.item(ddf), 1e-13)
    close(-1 / 1.5, dl:at(1, 1))
    -- (df + d) z/(df + z^2) far away: nothing overflows
    local unit = peri.tensor { { 1 } }
    dx = log_prob_adjoint(peri.tensor { 1e200 }, peri.tensor(4), peri.tensor { 0 }, unit, peri.tensor(1))
    close(-5e-200, peri.item(dx))
  end)

  it("moves a draw along its direction as df changes", function ()
    local adjoint = adjoint_of("rsample", { "x", "df", "loc", "l" })
    for _, case in ipairs(radii) do
      local d, df, radius, slope = table.unpack(case)
      local x, up = peri.zeros(d), peri.zeros(d)
      x[d], up[d] = -radius, -1
      local _, got = adjoint(x, peri.tensor(df), peri.zeros(d), peri.eye(d), up)
      close(slope, peri.item(got), 2e-12)
    end
    -- with loc and L as well: x = loc + L u sqrt(d F), F the quantile of FisherSnedecor
    local p, u = 0.8, peri.tensor { 2 / 3, -2 / 3, 1 / 3 }
    local function draw (_, df, loc, l)
      local radius = math.sqrt(3 * peri.FisherSnedecor(3, peri.item(df)):icdf(p))
      return loc + l:matmul((radius * u):unsqueeze(-1)):squeeze(-1)
    end
    local df, loc, l = peri.tensor(2.5), peri.tensor { 0.5, -1, 2 }, peri.tensor(three)
    assert.is_nil(slopes.adjoint_mismatch(draw, adjoint, { draw(nil, df, loc, l), df, loc, l },
                                          peri.tensor { 1, -2, 0.5 }, 1e-7, { true, false, false, true }))
    local _, _, dloc, dl = adjoint(draw(nil, df, loc, l), df, loc, l, peri.tensor { 1, -2, 0.5 })
    assert.same({ 1, -2, 0.5 }, dloc:totable())
    local radius = math.sqrt(3 * peri.FisherSnedecor(3, 2.5):icdf(p))
    for i, up in ipairs { 1, -2, 0.5 } do
      for j = 1, 3 do close(j <= i and up * radius * u[j] or 0, dl:at(i, j), 1e-13) end
    end
  end)

  it("draws vectors of this law, whatever the pieces", function ()   -- false alarm below 1e-6 each
    local count, df, loc = 20000, 9, peri.tensor { 1, -2, 3 }
    local d = peri.MultivariateStudentT(df, loc, three)
    local draws = d:sample(count, peri.rng(5))
    local z = (draws - loc):matmul(peri.MultivariateNormal { loc = loc, scale_tril = three }.precision_matrix)
    local distance = ((draws - loc) * z):sum(-1)
    assert.is_true((statistics.ks(distance / 3, function (x) return peri.FisherSnedecor(3, df):cdf(x) end)))
    for i, scale in ipairs { 1.5, math.sqrt(0.75 ^ 2 + 0.25), math.sqrt(0.0625 + 4 + 9) } do
      local margin = peri.StudentT(df, loc[i], scale)
      assert.is_true((statistics.ks(draws:select(2, i), function (x) return margin:cdf(x) end)))
    end
    local covariance = peri.tensor(three):matmul(peri.tensor(three):transpose(1, 2)) * (df / (df - 2))
    for i = 1, 3 do
      for j = 1, i do
        local product = (draws:select(2, i) - loc[i]) * (draws:select(2, j) - loc[j])
        local c = covariance:at(i, j)
        local fourth = (covariance:at(i, i) * covariance:at(j, j) + 2 * c ^ 2) * (df - 2) / (df - 4)
        assert.is_true((statistics.mean(product, c, fourth - c ^ 2)))
      end
    end
    local rng = peri.rng(5)
    local pieces = peri.cat { d:rsample(3, rng), d:rsample({ 1, 7 }, rng):reshape(7, 3) }
    assert.is_true(pieces:equal(draws:narrow(1, 1, 10)))
    assert.is_true(d:expand(13):sample(nil, peri.rng(5)):equal(draws:narrow(1, 1, 13)))
    local wide = peri.MultivariateStudentT(df, peri.zeros(40), peri.eye(40)):sample(4000, peri.rng(1))
    local f = (wide * wide):sum(-1) / 40
    assert.is_true((statistics.ks(f, function (x) return peri.FisherSnedecor(40, df):cdf(x) end)))
  end)

  it("has batches, of every parameter", function ()
    local d = peri.MultivariateStudentT({ { 1 }, { 5 } }, { { 0, 0 }, { 1, 1 }, { 2, 3 } }, two)
    assert.same({ 2, 3 }, d.batch_shape)
    assert.same({ 2 }, d.event_shape)
    assert.same({ 4, 2, 3, 2 }, d:sample(4).shape)
    assert.same({ 4, 2, 3 }, d:log_prob(peri.zeros(4, 1, 1, 2)).shape)
    assert.same({ 2, 3, 2 }, d:mean().shape)
    assert.same({ 2, 3, 2 }, d:variance().shape)
    local triangles = { two, { { 1, 0 }, { 0, 1 } }, { { 3, 0 }, { 1, 1 } } }
    local matrices = peri.MultivariateStudentT({ 1, 2, 3 }, { 0, 0 }, triangles)
    local x = peri.tensor { { 1, 2 }, { 0.5, -1 }, { 4, 4 } }
    local together, entropies = matrices:log_prob(x), matrices:entropy()
    for i = 1, 3 do
      local single = peri.MultivariateStudentT(i, { 0, 0 }, matrices.scale_tril[i])
      assert.equal(peri.item(single:log_prob(x[i])), together[i])
      assert.equal(peri.item(single:entropy()), entropies[i])
    end
    local draws = peri.MultivariateStudentT({ 1, 2, 3 }, { 0, 0 }, two):sample(nil, peri.rng(3))
    for i = 1, 3 do
      assert.is_true(peri.MultivariateStudentT(i, { 0, 0 }, two):sample(3, peri.rng(3))[i]:equal(draws[i]))
    end
    -- many rows at once are as each alone
    local one = peri.MultivariateStudentT(2, { 1, 0 }, two)
    local rows = one:sample(71, peri.rng(1))
    local all = one:log_prob(rows)
    for i = 1, 71 do assert.equal(peri.item(one:log_prob(rows[i])), all[i]) end
    assert.same({ 4, 3, 2 }, matrices:expand({ 4, 3 }):variance().shape)
  end)

  it("prints what was passed", function ()
    assert.equal("MultivariateStudentT(df=3, loc={0, 1}, scale_tril=Tensor(2, 2))",
                 tostring(peri.MultivariateStudentT(3, { 0, 1 }, two)))
  end)

  it("refuses what is no scale", function ()
    for _, case in ipairs {
      { "df is missing", { loc = { 0 }, scale_tril = { { 1 } } } },
      { "df must be positive, got 0", { df = 0, loc = { 0 }, scale_tril = { { 1 } } } },
      { "scale_tril is missing", { df = 1, loc = { 0 } } },
      { "loc must have at least 1 dimension, got 0", { df = 1, loc = 0, scale_tril = { { 1 } } } },
      { "scale_tril must be a lower-triangular matrix with positive diagonal, got a matrix with -1 on the diagonal",
        { df = 1, loc = { 0, 0 }, scale_tril = { { 1, 0 }, { 0, -1 } } } },
      { "scale_tril must be a lower-triangular matrix with positive diagonal, got a matrix with 0.1 above the diagonal",
        { df = 1, loc = { 0, 0 }, scale_tril = { { 1, 0.1 }, { 0, 1 } } } },
      { "loc of 2 dimensions needs a matrix of 2 by 2, got 1 by 2",
        { df = 1, loc = { 0, 0 }, scale_tril = { { 1, 0 } } } },
      { "loc of 3 dimensions needs a matrix of 3 by 3, got 2 by 2", { df = 1, loc = { 0, 0, 0 }, scale_tril = two } },
      { "scale_tril must be a real number, got nan at [1, 1]", { df = 1, loc = { 0 }, scale_tril = { { 0 / 0 } } } },
    } do
      assert.equal("MultivariateStudentT: " .. case[1], refusal(peri.MultivariateStudentT, case[2]))
    end
    local _, message = pcall(function () return peri.MultivariateStudentT(1, { 0 }, { { -1 } }) .. "" end)
    assert.truthy(message:find("MultivariateStudentT_spec.lua:%d+: MultivariateStudentT: "), message)
  end)

  it("explains itself, with an example that is right", function ()
    local help = peri.MultivariateStudentT.help
    assert.is_string(help.summary)
    local example = load("local MultivariateStudentT = ...; return " .. help.example[1])
    close(help.example[2], example(peri.MultivariateStudentT), 1e-12)
  end)
end)
