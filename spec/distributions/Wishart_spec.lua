local law  = require "spec.support.wishartlaw"
local peri    = require "perilune"
local refusal = require "spec.support.refusal"

local close, all_close = law.close, law.all_close

-- side, df, x = a scale + b point, log_prob, entropy (mpmath, 60 digits)
local references = {
  { 1, 2 ^ -30, 0, 1, -21.612562598057833, -2147483624.0102115 },
  { 1, 0.5, 0, 1, -1.9328829101180364, 0.44687391634571433 },
  { 1, 2, 0, 1, -2.2044415416798359, 3.0794415416798359 },
  { 1, 7.25, 0, 4, -5.7403674687181849, 4.0438320113772003 },
  { 1, 1000.5, 1000, 31, -6.1263918442058029, 6.6052673950276411 },
  { 1, 1e10, 1e10, 1e5, -14.180359423546688, 14.664731949508098 },
  { 2, 1 + 2 ^ -30, 0, 1, -25.452810956679756, -2147483622.1810732 },
  { 2, 1.5, 0, 1, -5.3400639347457636, 3.3060425838640202 },
  { 2, 3, 0, 1, -5.095609346638122, 7.1789426799714553 },
  { 2, 7.25, 0, 4, -8.1025416375171486, 9.2091191777058065 },
  { 2, 1000.5, 1000, 31, -16.014413160874839, 16.957930027033803 },
  { 2, 1e10, 1e10, 1e5, -40.154041869271316, 41.13665760785348 },
  { 3, 2 + 2 ^ -30, 0, 1, -30.02290259145637, -2147483614.6275013 },
  { 3, 2.5, 0, 1, -10.319044894523331, 11.417968161956591 },
  { 3, 4, 0, 1, -11.694345629133423, 16.309730244518039 },
  { 3, 7.25, 0, 4, -17.999817250053422, 19.159198513038007 },
  { 3, 1000.5, 1000, 31, -32.91889357877576, 34.827149248178084 },
  { 3, 1e10, 1e10, 1e5, -81.195592071118331, 83.185439329358837 },
}

describe("Wishart", function ()
  it("has the density and the entropy of the references", function ()
    for _, case in ipairs(references) do
      local side, df, a, b, log_prob, entropy = table.unpack(case)
      local d = peri.Wishart(df, law.scale[side])
      -- a rounding error of x moves the density by sqrt(df) of them
      close(log_prob, peri.item(d:log_prob(law.point(side, a, b))), 1e-14 + 1e-15 * math.sqrt(df))
      close(entropy, peri.item(d:entropy()), 2e-15)
    end
  end)

  it("is Gamma in one dimension", function ()
    for _, df in ipairs { 1e-5, 0.3, 1, 2.5, 40, 1e6 } do
      local d, gamma = peri.Wishart(df, { { 0.75 } }), peri.Gamma(df / 2, 1 / 1.5)
      for _, x in ipairs { 1e-300, 1e-3, 0.8, 20, 1e4 } do law.same_as_scalar(d, gamma, x) end
      if df >= 2 then close(gamma:mode(), peri.item(d:mode())) end
    end
    -- the ratio of x to its scale may be beyond the range of doubles
    local d = peri.Wishart { df = 0.5, scale_tril = { { 1e150 } } }
    close(-0.75 * math.log(1e-300) - 0.25 * math.log(2e300) - peri.lgamma(0.25), peri.item(d:log_prob({ { 1e-300 } })))
  end)

  it("integrates to 1, with its mean, variance and entropy", function ()
    local d = peri.Wishart(6.5, law.scale[2])
    local mass, first, second, entropy = law.integrals(d, false)
    close(1, mass, 1e-10)
    all_close(first, d:mean():totable(), 1e-10)
    all_close((peri.tensor(second) - d:mean() ^ 2):totable(), d:variance():totable(), 1e-9)
    close(entropy, peri.item(d:entropy()), 1e-10)
  end)

  it("has its mode at the highest density, from df = d + 1 on", function ()
    local d = peri.Wishart(7.5, law.scale[3])
    local mode = d:mode()
    all_close((peri.tensor(law.scale[3]) * 3.5):totable(), mode:totable())
    local peak = peri.item(d:log_prob(mode))
    for _, step in ipairs { 0.01, -0.01 } do
      for i = 1, 3 do
        for j = 1, i do
          local x = mode:clone()
          x[i][j] = x[i][j] + step
          if i ~= j then x[j][i] = x[i][j] end
          assert(peri.item(d:log_prob(x)) < peak)
        end
      end
    end
    local none = peri.Wishart({ 3.9, 4 }, law.scale[3]):mode()
    assert(none[1][1][1] ~= none[1][1][1])
    assert.same({ 0, 0, 0 }, none[2][1]:totable())
  end)

  it("is the same by covariance, precision and triangle", function ()
    local d, x = peri.Wishart(5.5, law.scale[3]), law.point(3, 0, 2)
    local by_precision = peri.Wishart { df = 5.5, precision_matrix = d.precision_matrix }
    local by_triangle = peri.Wishart { df = 5.5, scale_tril = d.scale_tril }
    for _, other in ipairs { by_precision, by_triangle } do
      close(peri.item(d:log_prob(x)), peri.item(other:log_prob(x)))
      close(peri.item(d:entropy()), peri.item(other:entropy()))
      all_close(law.scale[3], other.covariance_matrix:totable(), 1e-14)
      all_close(d:variance():totable(), other:variance():totable(), 1e-13)
    end
  end)

  it("has no density off the positive definite matrices, and NaN for NaN", function ()
    local d, inf = peri.Wishart(2.5, law.scale[2]), math.huge
    for _, x in ipairs {
      { { 1, 2 }, { 2, 1 } }, { { -1, 0 }, { 0, 1 } }, { { 0, 0 }, { 0, 0 } }, { { 1, 0.5 }, { 0, 1 } },
      { { inf, 0 }, { 0, 1 } }, { { 1, inf }, { inf, 1 } }, { { 1, 1 }, { 1, 1 } },
    } do assert.equal(-inf, peri.item(d:log_prob(x))) end
    for _, x in ipairs { { { 0 / 0, 0 }, { 0, 1 } }, { { -1, 0 }, { 0 / 0, 1 } } } do
      local value = peri.item(d:log_prob(x))
      assert(value ~= value)
    end
    local narrow = peri.Wishart { df = 3, scale_tril = { { 1e-200, 0 }, { 1e-201, 1e-200 } } }
    assert.equal(-inf, peri.item(narrow:log_prob({ { 1e300, 0 }, { 0, 1e300 } })))
  end)

  it("has the right adjoints", function ()
    for _, df in ipairs { 2.2, 5.5, 300 } do
      local d = peri.Wishart(df, law.scale[3])
      assert.is_nil(law.adjoint_mismatch(d, "wishart", peri.tensor(law.point(3, df, 0.5)), false))
    end
  end)

  it("draws by Bartlett's triangle", function ()
    for _, df in ipairs { 2.5, 4, 80.25 } do law.check_draws(peri.Wishart(df, law.scale[3]), 5000, false) end
    law.check_draws(peri.Wishart(0.75, law.scale[1]), 5000, false)
    local d, count = peri.Wishart(3.5, law.scale[2]), 10000
    local draws = d:sample(count, peri.rng(7))
    local z = (draws:mean(1) - d:mean()) / d:stddev() * math.sqrt(count)
    assert(peri.item(z:abs():max()) <= 5)   -- false alarm 1.7e-6
  end)

  it("draws positive definite matrices, however small df", function ()
    law.check_small_df(peri.Wishart, "wishart")
  end)

  it("draws the same whatever the pieces, and in batches", function ()
    local d = peri.Wishart({ 2.5, 6 }, law.scale[3])
    assert.same({ 2 }, d.batch_shape)
    assert.same({ 3, 3 }, d.event_shape)
    local all, rng = d:sample(11, peri.rng(5)), peri.rng(5)
    assert.same({ 11, 2, 3, 3 }, all.shape)
    local pieces = peri.cat { d:rsample(4, rng), d:rsample({ 1, 7 }, rng):reshape(7, 2, 3, 3) }
    assert.is_true(pieces:equal(all))
    local x = all:select(1, 1)
    for i = 1, 2 do
      local single = peri.Wishart(d.df[i], law.scale[3])
      assert.equal(peri.item(single:log_prob(x[i])), d:log_prob(x)[i])
      assert.equal(peri.item(single:entropy()), d:entropy()[i])
      assert.is_true(single:variance():equal(d:variance()[i]))
    end
    assert.same({ 5, 2 }, d:log_prob(all:narrow(1, 1, 5)).shape)
    local wide = d:expand({ 4, 2 })
    assert.same({ 4, 2 }, wide:entropy().shape)
    assert.same({ 4, 2, 3, 3 }, wide:mean().shape)
    assert.same({ 4, 2, 3, 3 }, wide:mode().shape)
    local many = peri.Wishart(3, { law.scale[2], { { 1, 0 }, { 0, 1 } } })
    assert.same({ 2, 2, 2 }, many:mean().shape)
    assert.same({ 2 }, many:entropy().shape)
  end)

  it("prints what was passed", function ()
    assert.equal("Wishart(df=3, scale_tril=Tensor(1, 1))", tostring(peri.Wishart { df = 3, scale_tril = { { 2 } } }))
  end)

  it("refuses what is no law of matrices", function ()
    local unit = { { 1, 0 }, { 0, 1 } }
    for _, case in ipairs {
      { "df is missing", { covariance_matrix = unit } },
      { "covariance_matrix or precision_matrix or scale_tril is missing", { df = 3 } },
      { "df must be greater than 1, got 1", { df = 1, covariance_matrix = unit } },
      { "df must be greater than 1, got 0.5 at [2]", { df = { 2, 0.5 }, covariance_matrix = unit } },
      { "df must be positive, got nan", { df = 0 / 0, covariance_matrix = unit } },
      { "covariance_matrix must be square, got 1 by 2", { df = 3, covariance_matrix = { { 1, 0 } } } },
      { "scale_tril must be square, got 1 by 2", { df = 3, scale_tril = { { 1, 0 } } } },
      { "precision_matrix must be positive definite, its pivot at [1, 1] is not positive",
        { df = 3, precision_matrix = { { 1, 2 }, { 2, 3 } } } },
      { "covariance_matrix must be symmetric and positive definite, got one that is not symmetric",
        { df = 3, covariance_matrix = { { 1, 0.5 }, { 0, 1 } } } },
      { "scale_tril must have a positive diagonal, got -1", { df = 3, scale_tril = { { 1, 0 }, { 0, -1 } } } },
      { "scale_tril must be lower triangular, got an element above the diagonal",
        { df = 3, scale_tril = { { 1, 1 }, { 0, 1 } } } },
    } do
      assert.equal("Wishart: " .. case[1], refusal(peri.Wishart, case[2]))
    end
    for _, matrix in ipairs { { { 1, 0 } }, { { -1 } }, unit } do
      local _, message = pcall(function () return peri.Wishart(1, matrix) .. "" end)
      assert.truthy(message:find("Wishart_spec.lua:%d+: Wishart: "), message)
    end
  end)

  it("explains itself, with an example that is right", function ()
    local help = peri.Wishart.help
    assert.is_string(help.summary)
    close(help.example[2], load("local Wishart = ...; return " .. help.example[1])(peri.Wishart), 1e-14)
  end)
end)
