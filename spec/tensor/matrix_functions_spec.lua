-- Parts of matrices, determinants, and what triangles divide; cumprod and flip.
local peri  = require "perilune"
local check = require "spec.gradient.check"
local model = require "spec.support.reference_tensor"

local huge, nan = math.huge, 0 / 0

local function message (fn, ...)
  local ok, text = pcall(fn, ...)
  assert.is_false(ok, "an error was expected")
  return (tostring(text):gsub("^[^:]+:%d+: ", ""))
end

local function draws (seed, ...) return peri.Normal(0, 1):sample({ ... }, peri.rng(seed)) end

local function is_near (wanted, got, tolerance)
  return peri.allclose(got, wanted, tolerance or 1e-13, tolerance or 1e-13)
end


describe("diag", function ()
  it("makes a matrix of a vector, and a vector of a matrix", function ()
    assert.same({ { 1, 0, 0 }, { 0, 2, 0 }, { 0, 0, 3 } }, peri.diag({ 1, 2, 3 }):totable())
    assert.same({ 1, 5 }, peri.diag({ { 1, 2, 3 }, { 4, 5, 6 } }):totable())
    assert.same({ 0, 0 }, peri.zeros(0):diag().shape)
    assert.same({ 0 }, peri.zeros(0, 3):diag().shape)
  end)

  it("takes batches of matrices, and diag_embed of vectors", function ()
    local x = draws(1, 2, 3, 4)
    local m = x:diag_embed()
    assert.same({ 2, 3, 4, 4 }, m.shape)
    assert.is_true(peri.equal(x, m:diag()))
    assert.is_true(peri.equal(x, m:transpose():diagonal()))
    assert.is_true(peri.equal(x:sum(-1), m:sum { 3, 4 }))
    assert.is_true(peri.equal(peri.diag_embed(x:transpose())[2], peri.stack { x[2]:transpose()[1]:diag(),
      x[2]:transpose()[2]:diag(), x[2]:transpose()[3]:diag(), x[2]:transpose()[4]:diag() }))
  end)

  it("of a matrix is a view", function ()
    local m = peri.zeros(2, 3)
    m:diag():copy { 1, 2 }
    assert.same({ { 1, 0, 0 }, { 0, 2, 0 } }, m:totable())
    assert.same({ 5, 5 }, peri.tensor(5):expand(2, 2):diag():totable())
  end)

  it("has gradients", function ()
    assert.is_nil(check.mismatch(function (x) return peri.exp(x:diag()) end, { draws(2, 3) }))
    assert.is_nil(check.mismatch(function (x) return peri.exp(x:transpose():diag()) end, { draws(3, 2, 3, 4) }))
    assert.is_nil(check.mismatch(function (x) return peri.exp(x:diag_embed()) end, { draws(4, 2, 3) }))
  end)

  it("refuses single numbers", function ()
    assert.equal("diag: a tensor of rank 0 has no diagonal", message(peri.diag, 1))
    assert.equal("diagonal: t must be a matrix, or a batch of them, got a tensor of shape (2)",
                 message(peri.diagonal, { 1, 2 }))
    assert.equal("diag_embed: t must be a vector, or a batch of them, got a tensor of shape ()",
                 message(peri.diag_embed, 1))
    assert.equal("diag(t) takes no more arguments, got 1", message(peri.diag, { 1 }, 1))
  end)
end)


describe("tril and triu", function ()
  it("keep one side of a diagonal", function ()
    local source = model.source(5)
    for _ = 1, 30 do
      local t, m = model.random_view(peri, source, { source(3) - 1, source(5) - 1, source(5) - 1 })
      for k = -4, 4 do
        local function kept (is)
          return model.build(m.shape, function (index) return is(index[3] - index[2]) and model.at(m, index) or 0 end)
        end
        assert.is_nil(model.difference(t:tril(k), kept(function (place) return place <= k end)))
        assert.is_nil(model.difference(t:triu(k), kept(function (place) return place >= k end)))
      end
    end
  end)

  it("put zeros also where there is no number, and pass nothing on from there", function ()
    local w = peri.param { { 1, nan }, { 2, huge } }
    assert.same({ { 1, 0 }, { 2, huge } }, w:detach():tril():totable())
    ;(w:tril() * { { 1, 10 }, { 100, 1000 } }):sum():backward()
    assert.same({ { 1, 0 }, { 100, 1000 } }, w.grad:totable())
    assert.is_nil(check.mismatch(function (x) return peri.exp(x:tril(1)) * peri.exp(x:triu(-1)) end,
                                 { draws(5, 2, 3, 4) }))
  end)

  it("name what is wrong", function ()
    assert.equal("tril: k must be an integer, got 0.5", message(peri.tril, peri.eye(2), 0.5))
    assert.equal("triu: t must be a matrix, or a batch of them, got a tensor of shape (2)",
                 message(peri.triu, { 1, 2 }))
    assert.equal("tril(t, k) takes no more arguments, got 2", message(peri.tril, peri.eye(2), 1, 2))
  end)
end)


describe("logdet", function ()
  it("is that of a positive definite matrix", function ()
    local a = draws(6, 3, 5, 7)
    local m = a:matmul(a:transpose()) + peri.eye(5)
    assert.is_true(is_near(2 * m:cholesky():diag():log():sum(-1), m:logdet()))
    assert.is_true(is_near(m:logdet(), m:transpose():logdet()))
  end)

  it("is that of any other matrix: NaN where negative, -inf where singular", function ()
    assert.is_true(is_near(math.log(2), peri.logdet { { 0, 0, 2 }, { 1, 0, 0 }, { 0, 1, 0 } }))
    assert.is_true(is_near(math.log(6), peri.logdet { { -2, 1 }, { 0, -3 } }))
    assert(peri.logdet { { 0, 1 }, { 1, 0 } } ~= peri.logdet { { 0, 1 }, { 1, 0 } })
    assert(peri.logdet { { nan, 1 }, { 1, 0 } } ~= 0)
    assert.equal(-huge, peri.logdet { { 1, 2 }, { 2, 4 } })
    assert.equal(-huge, peri.logdet { { 0, 0, 1 }, { 1, 0, 0 }, { 3, 0, 7 } })
    assert.equal(0, peri.logdet(peri.zeros(0, 0)))
    assert.same({ 0 }, peri.zeros(0, 2, 2):logdet().shape)
    assert.same({ 0, 0 }, peri.logdet(peri.zeros(2, 0, 0)):totable())
  end)

  it("neither overflows nor needs a diagonal", function ()
    assert.is_true(is_near(50 * math.log(1e300), (1e300 * peri.eye(50)):logdet()))
    local n = 60
    local shifted = peri.eye(n):index_select(1, peri.arange(n, 0, -1))   -- an even number of swaps
    assert.is_true(is_near(n * math.log(1e-7), (1e-7 * shifted):logdet()))
  end)

  it("has a gradient, the inverse transposed", function ()
    local w = peri.param { { 2, 1 }, { 4, 3 } }
    w:logdet():backward()
    assert.is_true(is_near({ { 1.5, -2 }, { -0.5, 1 } }, w.grad))
    for seed = 1, 6 do   -- rows in all orders
      local m = draws(seed, 4, 4)
      if m:logdet() ~= m:logdet() then m = m:index_select(1, { 2, 1, 3, 4 }) end
      assert.is_nil(check.mismatch(function (x) return x:logdet() end, { m }))
    end
    assert.is_nil(check.mismatch(function (x) return (x:matmul(x:transpose()) + peri.eye(3)):logdet() end,
                                 { draws(7, 2, 3, 4) }))
  end)

  it("refuses what is not square", function ()
    assert.equal("logdet: shapes (2, 3) do not fit", message(peri.logdet, peri.zeros(2, 3)))
    assert.equal("logdet: t must be a matrix, or a batch of them, got a tensor of shape (2)",
                 message(peri.logdet, { 1, 2 }))
  end)
end)


describe("solve_triangular", function ()
  local t, b = draws(8, 3, 4, 4) + 3 * peri.eye(4), draws(9, 3, 4, 2)
  local cases = {   -- options, and the matrix that divides
    { nil, t:tril() }, { {}, t:tril() }, { { upper = true }, t:triu() }, { { transpose = true }, t:tril():transpose() },
    { { upper = true, transpose = true }, t:triu():transpose() }, { { upper = false, transpose = false }, t:tril() },
  }

  it("divides by triangles, and reads no more of them", function ()
    for _, case in ipairs(cases) do
      local options, m = case[1], case[2]
      local x = t:solve_triangular(b, options)
      assert.is_true(is_near(b, m:matmul(x)))
      local dirty = peri.where((options and options.upper and t:triu() or t:tril()):eq(0), nan, t)
      assert.is_true(peri.equal(x, dirty:solve_triangular(b, options)))
      assert.is_true(is_near(b[1]:select(2, 1), m[1]:matmul(peri.solve_triangular(t[1], b[1]:select(2, 1), options))))
    end
  end)

  it("broadcasts batches", function ()
    assert.is_true(is_near(b, t[2]:tril():matmul(t[2]:solve_triangular(b))))
    local x = t:solve_triangular(b[1])
    assert.same({ 3, 4, 2 }, x.shape)
    assert.is_true(is_near(b[1], t[3]:tril():matmul(x[3])))
    assert.same({ 3, 4 }, t:solve_triangular({ 1, 2, 3, 4 }).shape)
    assert.same({ 4, 0 }, t[1]:solve_triangular(peri.zeros(4, 0)).shape)
    assert.same({ 0 }, peri.zeros(0, 0):solve_triangular({}).shape)
  end)

  it("has gradients in both", function ()
    for _, case in ipairs(cases) do
      local options = case[1]
      local function f (x, y) return peri.exp(0.3 * x:solve_triangular(y, options)) end
      assert.is_nil(check.mismatch(f, { t, b }))
      assert.is_nil(check.mismatch(f, { t[1], b }))
      assert.is_nil(check.mismatch(f, { t:narrow(1, 1, 2), b[1]:select(2, 1) }))
      assert.is_nil(check.mismatch(function (x, y) return x:transpose():solve_triangular(y, options) end,
                                   { t[2], b[2] }))
    end
  end)

  it("falls out as cholesky_solve", function ()
    local a = t:matmul(t:transpose())
    local l = a:cholesky()
    assert.is_true(is_near(b, a:matmul(l:cholesky_solve(b)), 1e-11))
    assert.is_true(is_near({ 1, 2, 3, 4 }, a[1]:matmul(peri.cholesky_solve(l[1], { 1, 2, 3, 4 })), 1e-11))
    assert.is_nil(check.mismatch(function (x, y) return x:cholesky_solve(y) end, { t[1], b[1] }))
  end)

  it("names what is wrong", function ()
    local solve = peri.solve_triangular
    assert.equal("solve_triangular: t must be a matrix, or a batch of them, got shape (2)",
                 message(solve, { 1, 2 }, { 1 }))
    assert.equal("solve_triangular: b must be a vector, a matrix or a batch of them, got shape ()",
                 message(solve, peri.eye(2), 1))
    assert.equal("solve_triangular: shapes (2, 2) and (3, 1) do not fit", message(solve, peri.eye(2), { 1, 2, 3 }))
    assert.equal("solve_triangular: shapes (2, 3) and (2, 1) do not fit", message(solve, peri.zeros(2, 3), { 1, 2 }))
    assert.equal("solve_triangular: upper must be true or false, got 1",
                 message(solve, peri.eye(2), { 1, 2 }, { upper = 1 }))
    assert.equal("solve_triangular: there is no option uper; did you mean upper? There are transpose, upper",
                 message(solve, peri.eye(2), { 1, 2 }, { uper = true }))
    assert.equal("cholesky_solve(l, b) takes no more arguments, got 1", message(peri.cholesky_solve, 1, 2, 1))
  end)
end)


describe("cumprod and flip", function ()
  local along = {
    cumprod = function (list)
      for i = 2, #list do list[i] = list[i] * list[i - 1] end
      return list
    end,
    flip = function (list)
      for i = 1, math.floor(#list / 2) do list[i], list[#list + 1 - i] = list[#list + 1 - i], list[i] end
      return list
    end,
  }
  for name, fn in pairs(along) do
    it(name .. " agrees with the model in every dimension", function ()
      local source = model.source(#name)
      for _ = 1, 40 do
        local rank = source(4)
        local t, m = model.random_view(peri, source, model.random_shape(source, rank, 5))
        for d = 1, rank do
          local wanted = #m == 0 and m or model.along(fn, m, d)
          assert.is_nil(model.difference(t[name](t, d), wanted))
          assert.is_nil(model.difference(peri[name](t, d - rank - 1), wanted))
        end
      end
      local t, m = model.random_view(peri, source, { 3, 9000 })
      assert.is_nil(model.difference(t[name](t, 2), model.along(fn, m, 2)))
    end)

    it(name .. " has a gradient", function ()
      for d = 1, 2 do
        assert.is_nil(check.mismatch(function (x) return peri.exp(x[name](x, d)) end, { draws(11, 3, 4) }))
      end
    end)

    it(name .. " refuses what has no rows", function ()
      assert.equal(name .. ": a tensor of rank 0 has no rows", message(peri[name], 1, name == "cumprod" and 1 or nil))
      assert.equal(name .. ": dim must be an integer between 1 and 1 (or -1 and -1), got 2",
                   message(peri[name], { 1 }, 2))
      assert.equal(name .. "(t, dim) takes no more arguments, got 1", message(peri[name], { 1 }, 1, 1))
    end)
  end

  it("cumprod knows zeros, and without a dimension goes through everything", function ()
    assert.same({ 2, 6, 24, 120 }, peri.cumprod({ { 2, 3 }, { 4, 5 } }):totable())
    local w = peri.param { 2, 0, 3, 0, 5 }
    w:cumprod():sum():backward()
    assert.same({ 1, 8, 0, 0, 0 }, w.grad:totable())
  end)
end)
