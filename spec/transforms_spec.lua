local peri        = require "perilune"
local core        = require "perilune.core"
local slopes      = require "spec.support.slopes"
local constraints = peri.constraints
local transforms  = peri.transforms

local inf = math.huge

local function close (expected, got, tolerance, what)
  local scale = math.max(math.abs(expected), math.abs(got))
  assert(expected == got or scale < inf and math.abs(expected - got) <= (tolerance or 1e-15) * scale,
         string.format("%s: expected %.17g, got %.17g", what or "value", expected, got))
end

local function all_close (expected, got, tolerance)
  expected, got = peri.tensor(expected):reshape(-1), got:reshape(-1)
  assert.equal(#expected, #got)
  for i = 1, #expected do close(expected[i], got[i], tolerance, "element " .. i) end
end

local function message (f, ...)
  local ok, text = pcall(f, ...)
  assert.is_false(ok)
  return (text:gsub("^[^ ]+:%d+: ", ""))
end

describe("transform of single numbers", function ()
  -- x, log|dy/dx|: computed with 800 digits, rounded to 20
  local log_dets = {
    Sigmoid = {
      { -800, -800 }, { -37.5, -37.500000000000000104 }, { -1.25, -1.7538581626907457779 },
      { 1e-300, -1.3862943611198906188 }, { 0.4375, -1.4337690950287507077 }, { 40, -40.000000000000000008 },
      { 800, -800 },
    },
    Tanh = {
      { -800, -1598.6137056388801094 }, { -37.5, -73.613705638880109381 }, { -1.25, -1.2714851074652086279 },
      { -1e-8, -9.9999999999999998333e-17 }, { 1e-300, 0 }, { 0.4375, -0.18559480089022080605 },
      { 0.5, -0.24022901391655504926 }, { 3.5, -5.6155285717876578705 }, { 800, -1598.6137056388801094 },
    },
    Softplus = {
      { -800, -800 }, { -37.5, -37.500000000000000052 }, { -1.25, -1.501929081345372889 },
      { 0.4375, -0.49813454751437535385 }, { 3.5, -0.029750418272620565195 }, { 40, -4.2483542552915889863e-18 },
      { 800, 0 },
    },
    Exp = { { -800, -800 }, { 0, 0 }, { 800, 800 } },
  }
  for name, rows in pairs(log_dets) do
    it(name .. " has its determinant, far out as well", function ()
      for _, row in ipairs(rows) do close(row[2], transforms[name]():log_abs_det_jacobian(row[1]), 6e-16, name) end
    end)
  end

  it("inverts without losing tails", function ()   -- y, x: 800 digits, rounded to 20
    for _, row in ipairs { { 1e-300, -690.77552789821370518 }, { 1e-10, -23.025850929890456804 },
                           { 0.25, -1.2586915494460321341 }, { 3, 2.9489308190572984135 }, { 800, 800 } } do
      close(row[2], transforms.Softplus():inv()(row[1]), 4e-16)
    end
    for _, row in ipairs { { 1e-300, 1e-300 }, { -0.25, -0.2554128118829953416 },
                           { 0.9990234375, 3.8120652928306447646 }, { -1 + 2 ^ -53, -18.714973875118523327 } } do
      close(row[2], transforms.Tanh():inv()(row[1]), 4e-16)
    end
    close(-700, transforms.Sigmoid():inv()(transforms.Sigmoid()(-700)))
  end)

  local kinds = {
    { transforms.Exp(), "Exp", constraints.real, constraints.positive, 1 },
    { transforms.Sigmoid(), "Sigmoid", constraints.real, constraints.unit_interval, 1 },
    { transforms.Tanh(), "Tanh", constraints.real, constraints.interval(-1, 1), 1 },
    { transforms.Softplus(), "Softplus", constraints.real, constraints.positive, 1 },
    { transforms.Affine(1, -2.5), "Affine(loc=1, scale=-2.5)", constraints.real, constraints.real, -1 },
    { transforms.Power(3), "Power(exponent=3)", constraints.positive, constraints.positive, 1 },
    { transforms.Power(-0.5), "Power(exponent=-0.5)", constraints.positive, constraints.positive, -1 },
    { transforms.identity, "identity", constraints.real, constraints.real, 1 },
    { transforms.CumulativeDistribution(peri.Gamma(2, 3)), "CumulativeDistribution(Gamma(concentration=2, rate=3))",
      constraints.nonnegative, constraints.unit_interval, 1 },
    { transforms.Exp() .. transforms.Affine(2, -3), "Compose[Exp, Affine(loc=2, scale=-3)]", constraints.real,
      constraints.less_than(2), -1 },
    { transforms.Sigmoid():inv(), "Inverse(Sigmoid)", constraints.unit_interval, constraints.real, 1 },
  }
  for _, case in ipairs(kinds) do
    local t, name, domain, codomain, sign = table.unpack(case)
    describe(name, function ()
      it("says what it is", function ()
        assert.equal(name, tostring(t))
        assert.equal(domain, t.domain)
        assert.equal(codomain, t.codomain)
        assert.equal(sign, t.sign)
        assert.is_true(t.bijective)
        assert.equal(t, t:inv():inv())
        assert.same({ 4, 2 }, t:forward_shape { 4, 2 })
        assert.same({ 4, 2 }, t:inverse_shape { 4, 2 })
      end)

      it("maps numbers to numbers and tensors to tensors, and back", function ()
        local points = { 0.3, 0.55, 0.9 }
        local whole = t(points)
        for i, x in ipairs(points) do
          local y = t(x)
          assert.equal("number", type(y))
          assert.equal(y, whole[i])
          close(x, t:inv()(y), 1e-14)
          assert(sign * (t(x + 0.01) - y) > 0)
        end
        assert.is_true(codomain:check(whole))
      end)

      it("has its slope as determinant", function ()
        for _, x in ipairs { 0.3, 0.55, 0.9 } do
          local slope = slopes.derivative(function (v) return t(v) end, x, 0.02)
          close(math.log(math.abs(slope)), t:log_abs_det_jacobian(x), 1e-9)
          assert.equal(t:log_abs_det_jacobian(x), t:log_abs_det_jacobian(x, t(x)))
          close(-t:log_abs_det_jacobian(x), t:inv():log_abs_det_jacobian(t(x)), 1e-13)
        end
      end)
    end)
  end

  it("Power is right at 0", function ()
    assert.equal(0.0, transforms.Power(1):log_abs_det_jacobian(0))
    assert.equal(-inf, transforms.Power(2):log_abs_det_jacobian(0))
    assert.equal(inf, transforms.Power(0.5):log_abs_det_jacobian(0))
    assert.equal(inf, transforms.Power(-1)(0))
  end)

  it("Abs is not one to one", function ()
    local t = transforms.Abs()
    assert.is_false(t.bijective)
    assert.is_nil(t.sign)
    assert.equal(3, t(-3))
    assert.equal(3, t:inv()(3))
    assert.equal("Abs has no determinant: it is not one to one", message(t.log_abs_det_jacobian, t, 1))
    local both = transforms.Exp() .. t
    assert.equal("Compose[Exp, Abs] has no determinant: it is not one to one",
                 message(both.log_abs_det_jacobian, both, 1))
    local parts = transforms.Cat({ transforms.Exp(), t }, -1)
    assert.matches("^Cat.* has no determinant: it is not one to one$",
                   message(parts.log_abs_det_jacobian, parts, { 1, 2 }))
  end)

  it("refuse what is no number, has too few dimensions or is no constraint", function ()
    local exp = transforms.Exp()
    local factor = exp .. transforms.LowerCholesky()
    assert.equal('Exp: x must be a number, a table of numbers or a tensor, got the string "x"', message(exp, "x"))
    assert.matches("^Exp: x must be a number, .*, got a userdata", message(exp.log_abs_det_jacobian, exp, io.stdout))
    assert.matches("^Exp: y must be a number, .*, got true", message(exp.log_abs_det_jacobian, exp, 1, true))
    assert.equal("Compose: x must have at least 2 dimensions, got 1", message(factor.log_abs_det_jacobian, factor, 1))
    assert.equal("Exp:image: c must be a constraint, got 2", message(exp.image, exp, 2))
    assert.equal("Compose:image: c must be a constraint, got 2", message(factor.image, factor, 2))
  end)

  it("Affine takes batches, with signs that differ, and events", function ()
    local t = transforms.Affine({ 0, 1 }, { 1, -2 })
    assert.same({ 1, -1 }, t.sign:totable())
    assert.same({ 3, -5 }, t(3):totable())
    assert.same({ 3, 2 }, t:forward_shape { 3, 1 })
    all_close({ 0, math.log(2) }, t:log_abs_det_jacobian(peri.tensor { 5, 5 }))
    local vector = transforms.Affine(0, 2, 1)
    close(3 * math.log(2), peri.item(vector:log_abs_det_jacobian({ 1, 2, 3 })))
    assert.equal(constraints.real_vector, vector.domain)
    assert.is_nil(vector.sign)
  end)

  it("knows what becomes of an interval", function ()
    for _, case in ipairs {
      { transforms.Exp(), constraints.nonnegative, constraints.greater_than_eq(1) },
      { transforms.Exp(), constraints.real, constraints.positive },
      { transforms.Affine(1, -2), constraints.half_open_interval(0, 1), constraints.left_open_interval(-1, 1) },
      { transforms.Power(-1), constraints.nonnegative, constraints.positive },
      { transforms.Power(2), constraints.nonnegative, constraints.nonnegative },
      { transforms.Power(0.5), constraints.real, constraints.positive },
      { transforms.Exp() .. transforms.Affine(0, -1), constraints.real, constraints.less_than(0) },
      { transforms.Exp(), constraints.independent(constraints.real, 2),
        constraints.independent(constraints.positive, 2) },
      { transforms.Abs(), constraints.real, constraints.nonnegative },
    } do
      assert.equal(case[3], case[1]:image(case[2]))
    end
  end)
end)


describe("transform of rows and matrices", function ()
  local function kernel (file, name, n)
    local operands = { table.unpack({ "x", "size" }, 1, n) }
    return core.bind_value("row/" .. file, name, name, operands, operands),
           core.bind_adjoint("row/" .. file, name, name, operands, operands)
  end

  -- The adjoints of forward, inverse and determinant at x.
  local function check_adjoints (file, t, x, sizes)
    local y = t(x)
    local function upstream (shape) return peri.rng(5):normal(shape) end
    local cases = { { "forward", x, y, sizes and sizes[1] }, { "inverse", y, x, sizes and sizes[2] },
                    { "log_det", x, peri.tensor(1) } }
    for _, case in ipairs(cases) do
      local value, adjoint = kernel(file, case[1], case[4] and 2 or 1)
      local operands = { case[2], case[4] and peri.zeros(case[4]) }
      local above = #case[3].shape > 0 and upstream(case[3].shape) or peri.tensor(1.7)
      local wrong = slopes.adjoint_mismatch(value, adjoint, operands, above, 1e-7, { nil, true })
      assert.is_nil(wrong and case[1] .. ": " .. wrong)
    end
  end

  -- x, y, log det: 800 digits, the determinant of a matrix of slopes
  local sticks = {
    { { 0.3, -1, 2 },
      { 0.31032244201237044975, 0.10714996304687461794, 0.51308860346530044082, 0.069438991475454491484 },
      -6.7382827533177364847 },
    { { -60, 45, -650 },
      { 2.9188369208988401128e-27, 0.99999999999999999994, 0, 5.7250371610987872886e-20 }, nil },
    { { 30.5, -2.25, 0.125 },
      { 0.99999999999982972944, 8.5239817997144987946e-15, 8.592129684631427237e-14, 7.5825278332923910629e-14 },
      -92.691582157088335153 },
  }
  it("StickBreaking breaks sticks, and mends them without cancellation", function ()
    local t = transforms.StickBreaking()
    for i, case in ipairs(sticks) do
      local x, y, log_det = table.unpack(case)
      if i ~= 2 then all_close(y, t(x), 2e-15) end
      all_close(x, t:inv()(t(x)), 1e-14)
      if log_det then close(log_det, peri.item(t:log_abs_det_jacobian(x)), 1e-15) end
    end
    all_close({ -700, 0.5 }, t:inv()(t { -700, 0.5 }), 1e-14)
    assert.same({ 5, 4 }, t:forward_shape { 5, 3 })
    assert.same({ 5, 3 }, t:inverse_shape { 5, 4 })
    assert.equal(constraints.simplex, t.codomain)
    check_adjoints("stick_breaking", t, peri.tensor { 0.3, -1, 2 }, { 4, 3 })
  end)

  local factors = {
    { { 0.3, -1, 2 },
      { { 1, 0, 0 }, { 0.29131261245159089566, 0.9566279119002482927, 0 },
        { -0.76159415595576488812, 0.62474219319798663081, 0.1722542703453113714 } }, -4.0400295260166910506 },
    { { -20, 0.0001, 15 },
      { { 1, 0, 0 }, { -0.9999999999999999915, 4.1223072448771156384e-9, 0 },
        { 0.000099999999666666672792, 0.99999999499981286837, 6.118046379445711341e-7 } }, -67.227411292760405898 },
    { { 300, -5, 1e-9 },
      { { 1, 0, 0 }, { 1, 1.0296400444824027562e-130, 0 },
        { -0.99990920426259513121, 1.347528222130455814e-11, 0.013475282221304557299 } }, -611.53440029389792405 },
  }
  it("CorrCholesky keeps rows of length 1, and their digits", function ()
    local t = transforms.CorrCholesky()
    for _, case in ipairs(factors) do
      local x, l, log_det = table.unpack(case)
      all_close(l, t(x), 1e-15)
      all_close(x, t:inv()(t(x)), 1e-14)
      close(log_det, peri.item(t:log_abs_det_jacobian(x)), 1e-15)
      assert.is_true(constraints.corr_cholesky:check(t(x)))
    end
    assert.same({ 2, 4, 4 }, t:forward_shape { 2, 6 })
    assert.same({ 2, 6 }, t:inverse_shape { 2, 4, 4 })
    assert.equal("CorrCholesky: x must have d (d - 1)/2 elements in its last dimension, got 2", message(t, { 1, 2 }))
    check_adjoints("corr_cholesky", t, peri.tensor { 0.3, -1, 2, 0.7, 0.2, -0.4 }, { 4, 6 })
  end)

  it("CorrMatrix is the product of such factors", function ()
    local t, factor = transforms.CorrMatrix(), transforms.CorrCholesky()
    local x = peri.tensor { { 0.3, -1, 2, 0.7, 0.2, -0.4 }, { -0.1, 0.5, 0.05, 3, 0.2, 1 } }
    local l = factor(x)
    local r = l:matmul(l:transpose(-1, -2))
    assert(peri.item((t(x) - r):abs():max()) < 1e-15)
    all_close(x, t:inv()(t(x)), 1e-12)
    -- dr/dl is the product of l_ii^(d - i)
    local expected = factor:log_abs_det_jacobian(x) + 2 * l:select(-1, 2):select(-1, 2):log()
                     + l:select(-1, 3):select(-1, 3):log()
    all_close(expected, t:log_abs_det_jacobian(x), 1e-14)
    assert(peri.item(t:log_abs_det_jacobian { 800 }) < -1590)   -- where the diagonal of l is 0
    assert.is_true(constraints.corr_matrix:check(t(x)))
    assert.same({ 2, 4, 4 }, t:forward_shape { 2, 6 })
    assert.same({ 2, 6 }, t:inverse_shape { 2, 4, 4 })
    assert.equal("CorrMatrix: x must have d (d - 1)/2 elements in its last dimension, got 2", message(t, { 1, 2 }))
    local log_det, adjoint = kernel("corr_cholesky", "matrix_log_det", 1)
    assert.is_nil(slopes.adjoint_mismatch(log_det, adjoint, { x[1] }, peri.tensor(1.3), 1e-8))
  end)

  it("Ordered gives increasing rows", function ()
    local t, x = transforms.Ordered(), { 0.5, -700, 2, 40 }
    all_close({ 0.5, 0.5 + math.exp(-700), 0.5 + math.exp(2), 0.5 + math.exp(2) + math.exp(40) }, t(x))
    all_close({ -1, -2, 0.5 }, t:inv()(t { -1, -2, 0.5 }), 1e-14)
    assert.equal(-1.5, peri.item(t:log_abs_det_jacobian({ -1, -2, 0.5 })))
    check_adjoints("ordered", t, peri.tensor { -1, -2, 0.5 })
  end)

  local x3 = peri.tensor { { 0.3, 9, 9 }, { 2, -1.5, 9 }, { 0.25, -4, 1.25 } }   -- the 9s do not count
  it("LowerCholesky has a positive diagonal", function ()
    local t = transforms.LowerCholesky()
    all_close({ { math.exp(0.3), 0, 0 }, { 2, math.exp(-1.5), 0 }, { 0.25, -4, math.exp(1.25) } }, t(x3))
    all_close({ { 0.3, 0, 0 }, { 2, -1.5, 0 }, { 0.25, -4, 1.25 } }, t:inv()(t(x3)))
    close(0.05, peri.item(t:log_abs_det_jacobian(x3)), 1e-14)
    check_adjoints("lower_cholesky", t, x3 * t(x3):ne(0))
  end)

  it("PositiveDefinite is its product", function ()   -- elements and determinant: 800 digits
    local t = transforms.PositiveDefinite()
    all_close({ { 1.8221188003905089344, 2.699717615152006178, 0.33746470189400077225 },
                { 2.699717615152006178, 4.049787068367863943, -0.39252064059371931573 },
                { 0.33746470189400077225, -0.39252064059371931573, 28.244993960703473438 } }, t(x3), 1e-15)
    all_close({ { 0.3, 0, 0 }, { 2, -1.5, 0 }, { 0.25, -4, 1.25 } }, t:inv()(t(x3)), 1e-13)
    close(1.2794415416798358838, peri.item(t:log_abs_det_jacobian(x3)))
    assert.is_true(constraints.positive_definite:check(t(x3)))
    check_adjoints("positive_definite", t, x3 * transforms.LowerCholesky()(x3):ne(0))
  end)

  it("works on batches, in any layout", function ()
    local x = peri.rng(3):normal(3, 2, 4)
    for _, t in ipairs { transforms.StickBreaking(), transforms.Ordered(), transforms.Softmax() } do
      local y, turned = t(x), t(x:transpose(1, 2):contiguous():transpose(1, 2))
      assert.is_true(y:equal(turned))
      assert.is_true(y[2][1]:equal(t(x[2][1])))
      if t.bijective then assert.same({ 3, 2 }, t:log_abs_det_jacobian(x).shape) end
    end
  end)

  it("Softmax and UnitVector are onto, not one to one", function ()
    local t = transforms.Softmax()
    all_close({ 0.25, 0.25, 0.5 }, t { 0, 0, math.log(2) })
    all_close({ 0.25, 0.25, 0.5 }, t(t:inv() { 0.25, 0.25, 0.5 }))
    assert.is_false(t.bijective)
    assert.equal("Softmax has no determinant: it is not one to one", message(t.log_abs_det_jacobian, t, { 1, 2 }))
    all_close({ 0.6, 0.8 }, transforms.UnitVector() { 3, 4 })
  end)

  it("Reshape moves nothing", function ()
    local t, x = transforms.Reshape({ 2, 3 }, { 6 }), peri.arange(1, 25):reshape(4, 2, 3)
    assert.same({ 4, 6 }, t(x).shape)
    assert.is_true(t:inv()(t(x)):equal(x))
    assert.same({ 0, 0, 0, 0 }, t:log_abs_det_jacobian(x):totable())
    assert.equal("Reshape: in_shape and out_shape must be shapes of equally many elements, got (2) and (3)",
                 message(transforms.Reshape, { 2 }, { 3 }))
  end)

  it("refuses what has too few dimensions", function ()
    assert.equal("StickBreaking: x must have at least 1 dimension, got 3", message(transforms.StickBreaking(), 3))
    assert.equal("LowerCholesky: x must have at least 2 dimensions, got a tensor of shape (2)",
                 message(transforms.LowerCholesky(), { 1, 2 }))
  end)

  it("is NaN where a kernel is told a wrong size", function ()
    for _, case in ipairs { { "stick_breaking", "forward", 2, 2 }, { "stick_breaking", "inverse", 2, 5 },
                            { "corr_cholesky", "forward", 3, 4 } } do
      local value = kernel(case[1], case[2], 2)
      for _, v in ipairs(value(peri.zeros(case[3]), peri.zeros(case[4])):reshape(-1):totable()) do assert(v ~= v) end
    end
  end)
end)


describe("composed transforms", function ()
  local x = peri.rng(2):normal(5, 3)

  it("apply one after the other, and add their determinants", function ()
    local a, b, c = transforms.Affine({ 0, 1, 2 }, 0.5), transforms.Exp(), transforms.Power(2)
    local t = a .. b .. c
    assert.equal("Compose[Affine(loc={0, 1, 2}, scale=0.5), Exp, Power(exponent=2)]", tostring(t))
    assert.is_true(t == transforms.Compose { a, transforms.Compose { b, c } })
    all_close(c(b(a(x))), t(x))
    all_close(x, t:inv()(t(x)), 1e-13)
    all_close(a:log_abs_det_jacobian(x) + b:log_abs_det_jacobian(a(x)) + c:log_abs_det_jacobian(b(a(x))),
              t:log_abs_det_jacobian(x), 1e-14)
    all_close(-t:log_abs_det_jacobian(x), t:inv():log_abs_det_jacobian(t(x)), 1e-13)
  end)

  it("sum elementwise determinants over events of their neighbours", function ()
    local t = transforms.Affine(0, 2) .. transforms.StickBreaking()
    assert.equal(constraints.real_vector, t.domain)
    assert.equal(constraints.simplex, t.codomain)
    assert.same({ 5, 4 }, t(x).shape)
    all_close(3 * math.log(2) + transforms.StickBreaking():log_abs_det_jacobian(2 * x),
              t:log_abs_det_jacobian(x), 1e-14)
    local after = transforms.Ordered() .. transforms.Exp()
    assert.same({ 5 }, after:log_abs_det_jacobian(x).shape)
    all_close(x:narrow(2, 2, 2):sum(-1) + transforms.Ordered()(x):sum(-1), after:log_abs_det_jacobian(x), 1e-13)
  end)

  it("Independent sums over more dimensions", function ()
    local t = transforms.Independent(transforms.Exp(), 1)
    all_close(x:sum(-1), t:log_abs_det_jacobian(x))
    all_close(x:exp(), t(x))
    assert.equal(constraints.real_vector, t.domain)
    assert.equal(constraints.independent(constraints.positive, 1), t.codomain)
    assert.equal("Independent: base must be a transform, got 3", message(transforms.Independent, 3, 1))
    assert.equal("Independent: dims must be a non-negative integer, got -1",
                 message(transforms.Independent, transforms.Exp(), -1))
  end)

  it("Cat and Stack treat parts apart", function ()
    local cat = transforms.Cat({ transforms.Exp(), transforms.StickBreaking() }, -1, { 1, 2 })
    local y = cat(x)
    assert.same({ 5, 4 }, y.shape)
    all_close(x:narrow(2, 1, 1):exp(), y:narrow(2, 1, 1))
    all_close(transforms.StickBreaking()(x:narrow(2, 2, 2)), y:narrow(2, 2, 3))
    all_close(x, cat:inv()(y), 1e-13)
    all_close(x:select(2, 1) + transforms.StickBreaking():log_abs_det_jacobian(x:narrow(2, 2, 2)),
              cat:log_abs_det_jacobian(x), 1e-14)
    local rows = transforms.Cat({ transforms.Exp(), transforms.identity }, 1, { 2, 3 })
    all_close(peri.cat { x:narrow(1, 1, 2), peri.zeros(3, 3) }, rows:log_abs_det_jacobian(x))
    local stack = transforms.Stack({ transforms.Exp(), transforms.Tanh(), transforms.identity }, 2)
    all_close(peri.stack({ x:select(2, 1):exp(), x:select(2, 2):tanh(), x:select(2, 3) }, 2), stack(x))
    all_close(x, stack:inv()(stack(x)), 1e-13)
    assert.same({ 5, 3 }, stack:log_abs_det_jacobian(x).shape)
    assert.equal("Stack: part 2 must be a transform, got 5", message(transforms.Stack, { transforms.Exp(), 5 }))
    assert.equal("Cat: x must be a tensor, got 0.5", message(transforms.Cat { transforms.Exp() }, 0.5))
  end)

  it("made of parts know their shapes, and refuse others", function ()
    local sticks, exp = transforms.StickBreaking(), transforms.Exp()
    local row, column = transforms.Independent(exp, 1), transforms.Reshape({ 4 }, { 4, 1 })
    for _, case in ipairs {   -- a transform, a shape and what becomes of it
      { transforms.Cat({ sticks, row }, -1, { 2, 3 }), { 5 }, { 6 } },
      { transforms.Cat({ sticks, row }, -1, { 2, 3 }), { 7, 5 }, { 7, 6 } },
      { transforms.Cat({ sticks, row }, 1, { 2, 3 }), { 5 }, { 6 } },
      { transforms.Cat({ sticks, sticks }, 1, { 2, 3 }), { 5, 4 }, { 5, 5 } },
      { transforms.Cat({ exp, transforms.identity }, 1, { 2, 3 }), { 5, 4 }, { 5, 4 } },
      { transforms.Cat({ transforms.CorrCholesky(), transforms.CorrCholesky() }, -1, { 3, 3 }), { 6 }, { 3, 6 } },
      { transforms.Cat({ column, column }, -1, { 4, 4 }), { 8 }, { 4, 2 } },
      { transforms.Cat({ transforms.Stack({ exp, exp }, -1), row }, -1, { 2, 3 }), { 4, 5 }, { 4, 5 } },
      { transforms.Cat({ transforms.Stack({ sticks, sticks }, -1), transforms.Stack({ sticks }, -1) }, -1, { 2, 1 }),
        { 4, 3 }, { 5, 3 } },
      { transforms.Stack({ sticks, sticks }, 1), { 2, 3 }, { 2, 4 } },
      { transforms.Stack({ exp, exp, exp }, -1), { 2, 3 }, { 2, 3 } },
      { transforms.Stack({ exp, exp }, -2), { 2, 3 }, { 2, 3 } },
      { transforms.CumulativeDistribution(peri.Normal({ 0, 1 }, 1)), { 3, 1 }, { 3, 2 } },
    } do
      local t, from, to = case[1], case[2], case[3]
      assert.same(to, t:forward_shape(from))
      assert.same(to, t(peri.zeros(from)).shape)
      if t.name ~= "CumulativeDistribution" then
        assert.same(from, t:inverse_shape(to))
        assert.same(from, t:inv()(t(peri.zeros(from))).shape)
      end
    end
    for _, call in ipairs {
      function (t) return t(peri.zeros(3)) end, function (t) return t:inv()(peri.zeros(3)) end,
      function (t) return t:forward_shape { 3 } end, function (t) return t:log_abs_det_jacobian(peri.zeros(3)) end,
    } do
      assert.equal("Cat: dimension 1 must have 2 elements, got shape (3)", message(call, transforms.Cat { exp, exp }))
      assert.equal("Stack: dimension 1 must have 2 elements, got shape (3)",
                   message(call, transforms.Stack { exp, exp }))
    end
    local stack = transforms.Stack { sticks, sticks }
    assert.equal("StickBreaking: a shape must have at least 1 dimension, got ()",
                 message(stack.forward_shape, stack, { 2 }))
    assert.equal("CorrCholesky: a shape must have at least 2 dimensions, got (3)",
                 message(transforms.CorrCholesky().inverse_shape, transforms.CorrCholesky(), { 3 }))
  end)

  it("equal those of their kind with equal parameters", function ()
    assert.is_true(transforms.Exp() == transforms.ExpTransform())
    assert.is_false(transforms.Exp() == transforms.Sigmoid())
    assert.is_true(transforms.Affine({ 1, 2 }, 3) == transforms.AffineTransform({ 1, 2 }, 3))
    assert.is_false(transforms.Affine(1, 2) == transforms.Affine(1, 3))
    assert.is_true(transforms.Exp():inv() == transforms.Exp():inv())
    assert.is_true(transforms.identity == transforms.identity_transform)
    assert.is_nil(rawget(transforms, "NoSuchTransform"))
  end)

  it("refuse parameters without sense", function ()
    assert.equal("Affine: scale must not be 0, got 0", message(transforms.Affine, 0, 0))
    assert.equal("Affine: scale must be finite, got inf", message(transforms.Affine, 0, { 1, inf }))
    assert.equal("Affine: loc must be finite, got -inf", message(transforms.Affine, -inf))
    assert.equal("Affine: loc must be finite, got nan", message(transforms.Affine, { 1, 0 / 0 }))
    assert.equal("Affine: loc must be finite, got inf",
                 message(function () return peri.Frechet(1, 2) + inf end))
    assert.equal("Power: exponent must not be 0, got 0", message(transforms.Power, 0))
    assert.equal("Power: exponent must be finite, got nan", message(transforms.Power, 0 / 0))
    assert.equal("Power: exponent must be finite, got inf", message(transforms.Power, inf))
    assert.equal("Power: exponent must be a number, a table of numbers or a tensor, got nil", message(transforms.Power))
    assert.equal("Compose: part 1 must be a transform, got 3", message(transforms.Compose, { 3 }))
    assert.equal("CumulativeDistribution: distribution must be a distribution of single numbers, got 3",
                 message(transforms.CumulativeDistribution, 3))
  end)
end)


describe("biject_to and transform_to", function ()
  local cases = {
    { constraints.real, 1 }, { constraints.positive, 1 }, { constraints.nonnegative, 1 },
    { constraints.greater_than { 2, 3 }, 2 }, { constraints.greater_than_eq(-1), 1 }, { constraints.less_than(5), 1 },
    { constraints.unit_interval, 1 }, { constraints.interval(2, 7), 1 },
    { constraints.half_open_interval({ 0, 1 }, 4), 2 },
    { constraints.left_open_interval(0, 4), 1 }, { constraints.real_vector, 3 }, { constraints.simplex, 3 },
    { constraints.ordered_vector, 3 }, { constraints.corr_cholesky, 6 }, { constraints.corr_matrix, 6 },
    { constraints.lower_cholesky, { 3, 3 } },
    { constraints.positive_definite, { 3, 3 } }, { constraints.independent(constraints.positive, 2), { 2, 3 } },
    { constraints.cat({ constraints.positive, constraints.simplex, constraints.real }, -1, { 2, 3, 1 }), 5, 6 },
    { constraints.stack({ constraints.positive, constraints.unit_interval }, -1), 2 },
  }
  for _, case in ipairs(cases) do
    it("lead to " .. tostring(case[1]), function ()
      local c, size = case[1], type(case[2]) == "table" and case[2] or { case[2] }
      local x = peri.rng(4):normal { 7, table.unpack(size) }
      local t = peri.biject_to(c)
      assert.is_true(t.bijective)
      assert.is_true(c:check(t(x)))
      local again = t(t:inv()(t(x)))
      all_close(t(x), again, 1e-12)
      local rank = #x.shape - t.domain.event_dim
      assert.equal(rank, #t:log_abs_det_jacobian(x).shape)
      local free = peri.rng(4):normal { 7, table.unpack(case[3] and { case[3] } or size) }
      assert.is_true(c:check(peri.transform_to(c)(free)))
    end)
  end

  it("give numbers for numbers", function ()
    close(2 + math.exp(0.3), peri.biject_to(constraints.greater_than(2))(0.3))
    assert.equal(transforms.Sigmoid(), peri.biject_to(constraints.unit_interval))
    assert.equal(transforms.Softmax(), peri.transform_to(constraints.simplex))
    assert.equal(transforms.UnitVector(), peri.transform_to(constraints.sphere))
  end)

  it("say what they do not know, and learn it", function ()
    assert.equal("biject_to: there is no transform to sphere; biject_to:register(constraint, factory) adds one",
                 message(peri.biject_to, constraints.sphere))
    assert.equal("transform_to: there is no transform to integer_interval(2, 4); "
                 .. "transform_to:register(constraint, factory) adds one",
                 message(peri.transform_to, constraints.integer_interval(2, 4)))
    assert.equal("biject_to: constraint must be a constraint, got 3", message(peri.biject_to, 3))
    local mine = setmetatable({}, { __index = constraints.positive, __tostring = function () return "mine" end })
    assert.is_false(pcall(peri.biject_to, mine))
    peri.biject_to:register(mine, function () return transforms.Softplus() end)
    assert.equal(transforms.Softplus(), peri.biject_to(mine))
    assert.equal(transforms.Exp(), peri.biject_to(constraints.positive))
    assert.equal("biject_to: register: kind must be a constraint or a kind of them, got 3",
                 message(peri.biject_to.register, peri.biject_to, 3, print))
    assert.equal("biject_to: register: factory must be a function of a constraint, got nil",
                 message(peri.biject_to.register, peri.biject_to, mine))
  end)
end)

describe("Cat along a dimension counted from the front", function ()
  local parts = { transforms.StickBreaking(), transforms.Independent(transforms.Exp(), 1) }
  local x = peri.tensor { { 0.1, 0.2, 0.3, 0.4, 0.5 }, { 1, 2, 3, 4, 5 } }

  it("is the same as from the back where it is the last", function ()
    for dim, value in pairs { x[1], x } do
      local front, back = transforms.Cat(parts, dim, { 2, 3 }), transforms.Cat(parts, -1, { 2, 3 })
      local y = front(value)
      assert.is_true(back(value):equal(y))
      assert.is_true(front:inv()(y):allclose(value))
      assert.same(peri.tensor(back:log_abs_det_jacobian(value, y)):totable(),
                  peri.tensor(front:log_abs_det_jacobian(value, y)):totable())
      assert.is_true(front.codomain:check(y))
    end
  end)

  it("makes distributions, and ways to constraints", function ()
    local d = peri.TransformedDistribution(peri.Independent(peri.Normal(peri.zeros(5), 1), 1),
                                           transforms.Cat(parts, 1, { 2, 3 }))
    local y = d:sample(nil, peri.rng(1))
    assert.is_true(d.support:check(y))
    assert.is_true(peri.item(d:log_prob(y)) > -math.huge)
    local c = peri.constraints.cat({ peri.constraints.simplex, peri.constraints.real_vector }, 1, { 3, 2 })
    assert.is_true(c:check(transforms.biject_to(c)(peri.zeros(4))))
  end)

  it("splits the batch where events lie behind it", function ()
    local c = transforms.Cat({ transforms.StickBreaking(), transforms.StickBreaking() }, 1, { 1, 1 })
    local y = c(x)
    assert.same({ 2, 6 }, y.shape)
    assert.same({ 2 }, c:log_abs_det_jacobian(x, y).shape)
    assert.is_true(c:inv()(y):allclose(x))
  end)
end)

it("Affine takes no negative event_dim", function ()
  assert.equal("Affine: event_dim must be a non-negative integer, got -1",
               require "spec.support.refusal"(peri.transforms.Affine, 1, 2, -1))
end)
