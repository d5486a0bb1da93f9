-- Gradients through operators, views, reductions and functions of rows, against slopes.
local peri  = require "perilune"
local check = require "spec.gradient.check"

local function draws (seed, ...) return peri.Normal(0, 1):sample({ ... }, peri.rng(seed)) end

local m, row, column, cube = draws(1, 3, 4), draws(2, 4), draws(3, 3, 1), draws(4, 2, 3, 2)
local square = draws(5, 3, 3)
local spd = square:matmul(square:transpose()) + peri.eye(3)

local function agrees (title, f, ...)
  local operands = { ... }
  it(title, function () assert.is_nil(check.mismatch(f, operands)) end)
end

describe("the check of gradients", function ()
  it("notices what is wrong by a hundred-thousandth, in any argument", function ()
    for wrong = 0, 2 do
      local product = peri.func {
        forward  = function (a, b) return a * b end,
        backward = function (above, _, a, b)
          return above * b * (wrong == 1 and 1 + 1e-5 or 1), above * a * (wrong == 2 and 1 + 1e-5 or 1)
        end,
      }
      local got = check.mismatch(product, { row, row + 2 })
      assert.equal(wrong > 0, got ~= nil)
    end
  end)

  it("notices a gradient that is missing, or that depends on what is tracked", function ()
    local one_sided = peri.func { forward = function (a, b) return a * b end,
                                  backward = function (above, _, _, b) return above * b end }
    assert.is_string(check.mismatch(one_sided, { row, row + 2 }))
    assert.is_string(check.mismatch(function (a) return a:detach() * 2 end, { row }))
    assert.is_string(check.mismatch(function (a, b) return a * b:detach() end, { row, row }))
    local core = require "perilune.core"
    local moody = peri.func { forward = function (a, b) return a + b end,
      backward = function (above, _, a, b)
        local both = core.tracked(a) and core.tracked(b)
        return both and above or 2 * above, above
      end }
    assert.matches("another gradient", check.mismatch(moody, { row, row + 1 }))
  end)
end)

describe("broadcasting", function ()
  local shapes = { {}, { 1 }, { 3 }, { 2, 1 }, { 1, 3 }, { 2, 3 }, { 2, 1, 1 }, { 2, 2, 3 } }
  for i, a in ipairs(shapes) do
    for j, b in ipairs(shapes) do
      agrees(string.format("{%s} with {%s}", table.concat(a, ","), table.concat(b, ",")),
             function (x, y) return x * y - y / (x * x + 2) end,
             peri.Normal(0, 1):sample(a, peri.rng(i)) + 0, peri.Normal(0, 1):sample(b, peri.rng(10 + j)) + 0)
    end
  end
  agrees("transposed operands", function (a, b) return a:transpose() * b end, m, draws(6, 4, 3))
  agrees("two transposed operands", function (a, b) return (a:transpose() * b:transpose()):exp() end, m, draws(6, 3, 4))
  agrees("permuted operands", function (a, b) return a:permute(3, 1, 2) / (b:permute(2, 3, 1) + 9) end,
         cube, draws(7, 3, 2, 2))
  agrees("an operand with itself", function (a) return a * a:transpose() + a / (2 + a * a) end, square)
  agrees("numbers and tables", function (a) return 2 * a + { 1, 2, 3, 4 } - a ^ 2 end, row)
  agrees("overlapping views", function (a) return a:narrow(1, 1, 3) * a:narrow(1, 2, 3) end, row)
  it("sums over long rows and columns", function ()
    local a, b, c = draws(8, 3, 1300), peri.param(draws(9, 1300)), peri.param(draws(10, 3, 1))
    local y = (a * b + a * c):sum()
    y:backward()
    assert.is_true(b.grad:allclose(a:sum(1), 1e-14, 1e-14))
    assert.is_true(c.grad:allclose(a:sum(2, true), 1e-14, 1e-14))
  end)
end)

describe("views", function ()
  agrees("t[i]", function (a) return a[2] * a[3] end, m)
  agrees("t[i][j]", function (a) return a[2][1] * a[3][4] end, m)
  agrees("at", function (a) return a:at(1, 2) * a:at(3) end, m)
  agrees("select", function (a) return a:select(2, 3):exp() end, m)
  agrees("select of the middle", function (a) return a:select(2, 3) * a:select(2, 1) end, cube)
  agrees("narrow", function (a) return a:narrow(2, 2, 2):exp() end, m)
  agrees("transpose", function (a) return a:transpose():exp() * peri.linspace(1, 2, 3) end, m)
  agrees("permute", function (a) return a:permute(2, 3, 1):exp() end, cube)
  agrees("expand", function (a) return a:expand(2, 3, 4):exp() end, row)
  agrees("expand of a column", function (a) return a:expand(3, 5) * peri.linspace(1, 2, 5) end, column)
  agrees("expand, and nothing else", function (a) return a:expand(3, 5) end, column)
  agrees("reshape", function (a) return a:reshape(4, 3):exp() end, m)
  agrees("reshape of a transposed", function (a) return a:transpose():reshape(2, 6):exp() end, m)
  agrees("squeeze and unsqueeze", function (a) return a:squeeze():unsqueeze(1):exp() * a:unsqueeze(-1) end, column)
  agrees("flatten, clone, contiguous", function (a)
    return a:transpose():flatten():exp() * a:clone():flatten() + a:transpose():contiguous():flatten()
  end, m)
  agrees("views of views", function (a) return a:permute(3, 1, 2)[1]:narrow(2, 2, 2):transpose():exp() end, cube)
  agrees("views of results", function (a) return (a * 2):transpose()[2]:exp() + a:exp():select(2, 1) end, m)
end)

describe("reductions", function ()
  for _, name in ipairs { "sum", "mean", "max", "min", "prod", "logsumexp", "std", "var" } do
    local function reduce (...)
      local arguments = table.pack(...)
      return function (a) return peri.exp(a[name](a, table.unpack(arguments, 1, arguments.n))) end
    end
    agrees(name .. " of everything", reduce(), m)
    agrees(name .. " over the first dimension", reduce(1), m)
    agrees(name .. " over the last, kept", reduce(-1, true), m)
    agrees(name .. " over two", reduce { 1, 3 }, cube)
    agrees(name .. " over two, kept", reduce({ 2, 1 }, true), cube)
    agrees(name .. " of a transposed", function (a) return a:transpose()[name](a:transpose(), 1):exp() end, m)
    agrees(name .. " of a view", function (a) local v = a:narrow(2, 2, 3) return v[name](v, 2) * a[1][1] end, m)
    agrees(name .. " of long lines", reduce(2), draws(11, 2, 20):expand(2, 20) + 0)
    if name ~= "std" and name ~= "var" then   -- which need two elements
      agrees(name .. " of a number", function (a) return a[name](a) * a end, peri.tensor(0.7))
      agrees(name .. " over no dimension", function (a) return a[name](a, {}) * a end, m)
    end
    it(name .. " of nothing has no gradient to give", function ()
      if name == "max" or name == "min" then return end
      for _, shape in ipairs { { 0, 2 }, { 2, 0 }, { 0 } } do
        local w = peri.param(peri.zeros(shape))
        w[name](w, 1):sum():backward()
        assert.same(shape, w.grad.shape)
      end
    end)
  end

  it("share the gradient of equal extremes", function ()
    local w = peri.param { { 1, 3, 3 }, { 2, 2, 2 } }
    w:max(2):sum():backward()
    assert.same({ { 0, 0.5, 0.5 }, { 1 / 3, 1 / 3, 1 / 3 } }, w.grad:totable())
  end)

  it("of prod know zeros", function ()
    assert.same({ 6, 0, 0 }, peri.grad(function (x) return x:prod() end)(peri.tensor { 0, 2, 3 }):totable())
    assert.same({ 0, 0, 0 }, peri.grad(function (x) return x:prod() end)(peri.tensor { 0, 2, 0 }):totable())
  end)

  it("that choose a place are flat", function ()
    local core = require "perilune.core"
    local w = peri.param(m)
    for _, name in ipairs { "argmax", "argmin", "all", "any" } do assert.is_false(core.tracked(w[name](w))) end
  end)
end)

describe("functions of rows", function ()
  for _, a in ipairs { { 3 }, { 2, 3 }, { 4, 2, 3 } } do
    for _, b in ipairs { { 3 }, { 3, 2 }, { 4, 3, 2 }, { 5, 1, 3, 2 } } do
      agrees(string.format("matmul of ranks %d and %d", #a, #b), function (x, y) return peri.exp(x:matmul(y)) end,
             0.3 * peri.Normal(0, 1):sample(a, peri.rng(1)), 0.3 * peri.Normal(0, 1):sample(b, peri.rng(2)))
    end
  end
  agrees("matmul of transposed matrices", function (x, y) return x:transpose():matmul(y:transpose()) end,
         m, draws(12, 4, 3))
  agrees("matmul with itself", function (x) return x:matmul(x) end, square)
  agrees("softmax", function (x) return x:softmax() ^ 2 end, m)
  agrees("softmax along the first", function (x) return x:softmax(1):log() end, m)
  agrees("log_softmax", function (x) return x:log_softmax(2) * x:log_softmax(1) end, m)
  agrees("cumsum", function (x) return x:cumsum(1):exp() + x:cumsum():reshape(3, 4) end, m)
  agrees("cholesky", function (x)   -- as a function of both triangles
    return (x:matmul(x:transpose()) + peri.eye(3)):cholesky():narrow(1, 2, 2)
  end, square)
  agrees("cholesky of a batch", function (x)
    return (x:matmul(x:transpose(-1, -2)) + peri.eye(3)):cholesky()
  end, draws(13, 2, 3, 3))
  agrees("the log determinant of a covariance", function (x)
    local half = (x + x:transpose()) / 2
    return peri.MultivariateNormal { loc = peri.zeros(3), covariance_matrix = half }:log_prob { 1, 2, 3 }
  end, spd)
end)

describe("joining and choosing", function ()
  agrees("cat", function (a, b) return peri.cat { a, b, a }:exp() end, m, draws(14, 2, 4))
  agrees("cat along the last", function (a, b) return peri.cat({ a, b }, 2):exp() end, m, draws(15, 3, 2))
  agrees("cat with plain tensors and tables", function (a) return peri.cat { a, { 1, 2 }, peri.ones(1) }:exp() end, row)
  agrees("cat of many", function (a)
    local parts = {}
    for i = 1, 30 do parts[i] = a * i end
    return peri.cat(parts, -1)
  end, column)
  agrees("stack", function (a, b) return peri.stack { a, b }:exp() * peri.stack({ b, a }, 2):transpose() end,
         row, draws(16, 4))
  agrees("stack of numbers read", function (a) return peri.stack { a[1], a[3] * a[2], a[1] }:exp() end, row)
  agrees("where", function (a, b) return peri.where(a:gt(b), a * a, b * b * b) end, m, row)
  agrees("maximum, minimum, abs", function (a, b) return peri.maximum(a, b) * peri.minimum(a, 0.1) + a:abs() end,
         m, row)

  it("leaves out what was not chosen, even if it is infinite", function ()
    local w = peri.param { -2, 0, 3 }
    peri.where(w:gt(0), w:log() + 1 / w + w ^ 0.5, w):sum():backward()
    assert.is_true(w.grad:allclose({ 1, 1, 1 / 3 - 1 / 9 + 0.5 / 3 ^ 0.5 }, 1e-15))
  end)
end)

describe("distributions", function ()
  agrees("log_prob of a batch against data", function (loc, scale, x)
    return peri.Normal(loc, scale:exp()):log_prob(x)
  end, row, peri.tensor(0.3), m)
  agrees("a reparameterised draw", function (loc, scale)
    return peri.Normal(loc, scale:exp()):rsample({ 2 }, peri.rng(3)) ^ 2
  end, row, column)
  agrees("a closed KL", function (a, b, c, d)
    return peri.kl_divergence(peri.Normal(a, b:exp()), peri.Normal(c, d:exp()))
  end, row, column, peri.tensor(0.4), row * 0.3)
  agrees("kl_div", function (a, b) return peri.kl_div(a:log_softmax(), b:softmax(), { reduction = "batchmean" }) end,
         m, draws(17, 3, 4))
end)

it("most of these were replayed as well", function () assert(check.replays >= 170, check.replays) end)
