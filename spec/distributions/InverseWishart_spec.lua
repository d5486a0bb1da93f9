local law      = require "spec.support.wishartlaw"
local matrices = require "perilune.matrices"
local peri     = require "perilune"
local refusal  = require "spec.support.refusal"

local close, all_close = law.close, law.all_close

-- side, df, x = a scale + b point, log_prob, entropy (mpmath, 60 digits)
local references = {
  { 1, 2 ^ -30, 0, 1, -23.487562596766746, 2147483671.7579254 },
  { 1, 0.5, 0, 1, -3.1147357295580911, 7.5154866219783545 },
  { 1, 2, 0, 1, -1.3068528194400547, 2.847578510363011 },
  { 1, 7.25, 0, 1, -0.82875604853869076, 0.37028118673645013 },
  { 1, 1000.5, 2 ^ -10, 0, 7.5977562653804342, -7.2092432465199515 },
  { 1, 8.59e9, 2 ^ -33, 0, 31.534470880769612, -31.158990374654107 },
  { 2, 1 + 2 ^ -30, 0, 1, -25.518285321892835, 4294967325.2822208 },
  { 2, 1.5, 0, 1, -5.1869313971546573, 15.087102739992561 },
  { 2, 3, 0, 1, -4.2866560994128987, 4.6422366693806525 },
  { 2, 7.25, 0, 1, -8.5771807477547956, -1.2936019835966096 },
  { 2, 1000.5, 2 ^ -10, 0, 25.786093544342691, -24.482598895358225 },
  { 2, 8.59e9, 2 ^ -33, 0, 97.58546276243434, -96.334509364289364 },
  { 3, 2 + 2 ^ -30, 0, 1, -30.432487298184733, 6442450981.5264979 },
  { 3, 2.5, 0, 1, -9.8422739657739787, 25.263273781393259 },
  { 3, 4, 0, 1, -8.5585077889980304, 8.4637295010966516 },
  { 3, 7.25, 0, 1, -11.70700662519492, -0.6677218275038582 },
  { 3, 1000.5, 2 ^ -10, 0, 50.794848731471099, -48.047898580079432 },
  { 3, 8.59e9, 2 ^ -33, 0, 194.38331329056329, -191.75689461424204 },
}

local function inverse (x) return matrices.precision_of(peri.tensor(x):cholesky()) end

describe("InverseWishart", function ()
  it("has the density and the entropy of the references", function ()
    for _, case in ipairs(references) do
      local side, df, a, b, log_prob, entropy = table.unpack(case)
      local d = peri.InverseWishart(df, law.scale[side])
      -- a rounding error of x moves the density by sqrt(df) of them
      close(log_prob, peri.item(d:log_prob(law.point(side, a, b))), 1e-14 + 1e-15 * math.sqrt(df))
      close(entropy, peri.item(d:entropy()), 3e-15)
    end
  end)

  it("is the law of the inverse of a Wishart matrix", function ()
    for _, df in ipairs { 2.25, 6, 50 } do
      local x = peri.tensor(law.point(3, 0, 0.75))
      local d, w = peri.InverseWishart(df, law.scale[3]), peri.Wishart { df = df, precision_matrix = law.scale[3] }
      local log_det = 2 * peri.item(peri.log(matrices.diagonal(x:cholesky())):sum())
      close(peri.item(w:log_prob(inverse(x))) - 4 * log_det, peri.item(d:log_prob(x)), 1e-13)
    end
  end)

  it("is InverseGamma in one dimension", function ()
    for _, df in ipairs { 1e-5, 0.3, 1, 2.5, 5, 40, 1e6 } do
      local d, gamma = peri.InverseWishart(df, { { 1.5 } }), peri.InverseGamma(df / 2, 0.75)
      for _, x in ipairs { 1e-3, 0.8, 20, 1e4, 1e300 } do law.same_as_scalar(d, gamma, x) end
      close(gamma:mode(), peri.item(d:mode()))
    end
  end)

  it("integrates to 1, with its mean, variance and entropy", function ()
    local d = peri.InverseWishart(10.5, law.scale[2])
    local mass, first, second, entropy = law.integrals(d, true)
    close(1, mass, 1e-10)
    all_close(first, d:mean():totable(), 1e-10)
    all_close((peri.tensor(second) - d:mean() ^ 2):totable(), d:variance():totable(), 1e-9)
    close(entropy, peri.item(d:entropy()), 1e-10)
  end)

  it("has no mean up to df = d + 1, and no variance up to d + 3", function ()
    local d, inf = peri.InverseWishart({ 3, 3.5, 5, 5.5 }, law.scale[2]), math.huge
    local nan = 0 / 0
    all_close({ { { inf, nan }, { nan, inf } }, { { 4, 2 }, { 2, 4 } }, { { 1, 0.5 }, { 0.5, 1 } },
                { { 0.8, 0.4 }, { 0.4, 0.8 } } }, d:mean():totable(), 1e-15)
    local variance = d:variance():totable()
    all_close({ { nan, nan }, { nan, nan } }, variance[1])
    all_close({ { inf, inf }, { inf, inf } }, variance[2])
    all_close({ { inf, inf }, { inf, inf } }, variance[3])
    assert(variance[4][1][2] < inf and variance[4][1][2] > 0)
  end)

  it("has its mode at the highest density", function ()
    local d = peri.InverseWishart(2.5, law.scale[3])
    local mode = d:mode()
    local peak = peri.item(d:log_prob(mode))
    for _, step in ipairs { 0.001, -0.001 } do
      for i = 1, 3 do
        for j = 1, i do
          local x = mode:clone()
          x[i][j] = x[i][j] + step
          if i ~= j then x[j][i] = x[i][j] end
          assert(peri.item(d:log_prob(x)) < peak)
        end
      end
    end
  end)

  it("has no density off the positive definite matrices, and NaN for NaN", function ()
    local d, inf = peri.InverseWishart { df = 2.5, scale_tril = { { 1, 0 }, { 0.5, 2 } } }, math.huge
    for _, x in ipairs {
      { { 1, 2 }, { 2, 1 } }, { { -1, 0 }, { 0, 1 } }, { { 0, 0 }, { 0, 0 } }, { { 1, 0.5 }, { 0, 1 } },
      { { inf, 0 }, { 0, 1 } }, { { 1e-320, 0 }, { 0, 1e-320 } },
    } do assert.equal(-inf, peri.item(d:log_prob(x))) end
    local value = peri.item(d:log_prob({ { 0 / 0, 0 }, { 0, 1 } }))
    assert(value ~= value)
  end)

  it("has the right adjoints", function ()
    for _, df in ipairs { 2.2, 5.5, 300 } do
      local d = peri.InverseWishart(df, law.scale[3])
      assert.is_nil(law.adjoint_mismatch(d, "inversewishart", peri.tensor(law.point(3, 1 / df, 0.1 / df)), true))
    end
  end)

  it("draws by Bartlett's triangle", function ()
    for _, df in ipairs { 2.5, 4, 80.25 } do law.check_draws(peri.InverseWishart(df, law.scale[3]), 5000, true) end
    law.check_draws(peri.InverseWishart(0.75, law.scale[1]), 5000, true)
    local d, count = peri.InverseWishart(14, law.scale[2]), 10000
    local draws = d:sample(count, peri.rng(7))
    local z = (draws:mean(1) - d:mean()) / d:stddev() * math.sqrt(count)
    assert(peri.item(z:abs():max()) <= 5)   -- false alarm 1.7e-6
  end)

  it("draws positive definite matrices, however small df", function ()
    law.check_small_df(peri.InverseWishart, "inversewishart")
  end)

  it("draws the same whatever the pieces, and in batches", function ()
    local d = peri.InverseWishart({ 2.5, 6 }, law.scale[3])
    assert.same({ 2 }, d.batch_shape)
    assert.same({ 3, 3 }, d.event_shape)
    local all, rng = d:sample(11, peri.rng(5)), peri.rng(5)
    local pieces = peri.cat { d:rsample(4, rng), d:rsample({ 1, 7 }, rng):reshape(7, 2, 3, 3) }
    assert.is_true(pieces:equal(all))
    local x = all:select(1, 1)
    for i = 1, 2 do
      local single = peri.InverseWishart { df = d.df[i], scale_tril = d.scale_tril }
      assert.equal(peri.item(single:log_prob(x[i])), d:log_prob(x)[i])
      assert.equal(peri.item(single:entropy()), d:entropy()[i])
      all_close(single:mean():totable(), d:mean()[i]:totable(), 1e-14)
      all_close(law.scale[3], single.scale_matrix:totable(), 1e-14)
    end
    local wide = d:expand({ 4, 2 })
    assert.same({ 4, 2 }, wide:entropy().shape)
    for _, name in ipairs { "mean", "variance", "mode" } do assert.same({ 4, 2, 3, 3 }, wide[name](wide).shape) end
    assert.same({ 5, 2 }, d:log_prob(all:narrow(1, 1, 5)).shape)
  end)

  it("prints what was passed", function ()
    assert.equal("InverseWishart(df=3, scale_matrix=Tensor(1, 1))", tostring(peri.InverseWishart(3, { { 2 } })))
  end)

  it("refuses what is no law of matrices", function ()
    local unit = { { 1, 0 }, { 0, 1 } }
    for _, case in ipairs {
      { "df is missing", { scale_matrix = unit } },
      { "scale_matrix or scale_tril is missing", { df = 3 } },
      { "scale_matrix and scale_tril exclude each other", { df = 3, scale_matrix = unit, scale_tril = unit } },
      { "df must be greater than 1, got 0.5", { df = 0.5, scale_matrix = unit } },
      { "scale_matrix must be square, got 1 by 2", { df = 3, scale_matrix = { { 1, 0 } } } },
      { "scale_matrix must be positive definite, its pivot at [2, 2] is not positive",
        { df = 3, scale_matrix = { { 1, 2 }, { 2, 3 } } } },
      { "scale_tril must have a positive diagonal, got 0", { df = 3, scale_tril = { { 1, 0 }, { 0, 0 } } } },
    } do
      assert.equal("InverseWishart: " .. case[1], refusal(peri.InverseWishart, case[2]))
    end
  end)

  it("explains itself, with an example that is right", function ()
    local help = peri.InverseWishart.help
    assert.is_string(help.summary)
    close(help.example[2], load("local InverseWishart = ...; return " .. help.example[1])(peri.InverseWishart), 1e-14)
  end)
end)
