-- Large recorded results wait until somebody looks at them; nobody can tell.
local peri = require "perilune"

local N = 5000   -- large enough to wait

local function draws (seed) return peri.Normal(0, 1):sample(N, peri.rng(seed)) end

describe("a recorded result that waits", function ()
  after_each(function () peri.set_threads(1) end)

  it("has the sum of its elements, to the last bit", function ()
    local x, w = draws(1), draws(2)
    local expected = peri.item((x * w):sum())
    for threads = 1, 2 do
      peri.set_threads(threads)
      local v = peri.param(w)
      local y = x * v
      local total = y:sum()
      assert.equal(expected, peri.item(total))
      total:backward()
      assert.is_true(v.grad:equal(x))
      assert.is_true(y:equal(x * w))
    end
  end)

  it("has the gradient of its sum, broadcast operands included", function ()
    local x = draws(1):reshape(50, 100)
    local row, column, scale = peri.param(draws(2):narrow(1, 1, 100)), peri.param(peri.ones(50, 1)), peri.param(2)
    local function formula (sum)
      local y = peri.Normal(row * column, scale):log_prob(x)
      local grads = {}
      sum(y):backward()
      for i, p in ipairs { row, column, scale } do grads[i], p.grad = p.grad, nil end
      return grads
    end
    local waiting = formula(function (y) return y:sum() end)
    local looked_at = formula(function (y) return y:sum(2):sum() end)
    for i, g in ipairs(waiting) do assert.is_true(peri.allclose(g, looked_at[i], 1e-12, 1e-12)) end
  end)

  it("may be used again after its sum", function ()
    local w = peri.param(draws(3))
    local y = w * w
    local loss = y:sum() + (y * 2):sum() + y[7] + y:transpose(1, 1):max() * 0
    loss:backward()
    local expected = w:detach() * 6
    expected[7] = 8 * w:detach()[7]
    assert.is_true(w.grad:allclose(expected, 1e-15))
  end)

  it("keeps what its operands were", function ()
    local w, x = peri.param(draws(4)), draws(5)
    local before = w:detach() * x
    local product, quotient = w * x, x / w
    w[1] = 100
    x:copy(0)
    assert.is_true(product:equal(before))
    assert.equal(before[1], peri.item(product[1]))
    local total = quotient:sum()
    assert.matches("was changed after it was used", select(2, pcall(total.backward, total)))
    local late = (w * 2):transpose(1, 1) + 1
    w:detach():copy(3)
    assert.equal(2 * 100 + 1.0, peri.item(late[1]))
    local sum = w:reshape(50, 100):transpose() * peri.ones(100, 50)
    w:detach():copy(4)
    assert.equal(3.0, peri.item(sum[7][3]))
  end)

  it("may be a sum or a mean, which keeps its value whatever happens", function ()
    local w, x = peri.param(draws(4)), draws(5)
    local sum, mean = peri.item((w:detach() * x):sum()), peri.item((w:detach() * x):mean())
    local expected = x:clone()
    local read_first, differentiated = (w * x):sum(), (w * x):mean()
    local neither, both = (w * x):mean(), (w * x):sum()
    assert.equal(sum, peri.item(read_first))
    differentiated:backward()
    assert.is_true(w.grad:allclose(expected / N, 1e-15))
    w.grad = nil
    both:backward()
    assert.is_true(w.grad:equal(expected))
    w[1] = 100
    x:copy(0)
    assert.same({ mean, mean, sum }, { peri.item(differentiated), peri.item(neither), peri.item(both) })
    assert.matches("was changed after it was used", select(2, pcall(neither.backward, neither)))
    assert.matches("was changed after it was used", select(2, pcall(read_first.backward, read_first)))
  end)

  it("lets what is made of its sum wait, and computes it when somebody looks", function ()
    local core = require "perilune.core"
    local w, x, number = peri.param(draws(4)), draws(5), peri.param(3)
    local sum, mean = peri.item((w:detach() * x):sum()), peri.item((w:detach() * x):mean())
    local function loss () return -((w * x):sum() - (w * x):mean() * 4 + number / 2 - 1) / 8 end
    local expected = -(sum - mean * 4 + 3 / 2 - 1) / 8
    local read, unread, late = loss(), loss(), loss()
    assert.equal(expected, peri.item(read))
    for _, l in ipairs { read, unread } do
      w.grad, number.grad = nil, nil
      l:backward()
      assert.is_true(w.grad:allclose(-(x - x * (4 / N)) / 8, 1e-14))
      assert.equal(-1 / 16, peri.item(number.grad))
    end
    assert.equal(expected, peri.item(late + 0 * late))
    number:copy(100)
    w:copy(0)
    x:copy(0)
    assert.same({ expected, expected }, { peri.item(unread), peri.item(late) })
    assert.matches("was changed after it was used", select(2, pcall(late.backward, late)))
    local product = (w * x):sum() * number
    assert.is_true(core.tracked(product))
    assert.equal(0.0, peri.item(product))
    local total = (w * x):sum()
    for _ = 1, 1000 do total = total + 1 end   -- not an endless wait
    assert.equal(1000.0, peri.item(total))
  end)

  it("is computed where it would have to keep too much", function ()
    local a, b = peri.param(draws(9)), peri.param(draws(10))
    local product, before = a * b, a:detach() * b:detach()
    a:copy(1)
    b:copy(2)
    assert.is_true(product:equal(before))
    local loss = product:sum()
    assert.matches("was changed after it was used", select(2, pcall(loss.backward, loss)))
  end)

  it("is not fooled by a function that changes its operands during the pass", function ()
    local w = peri.param(draws(8))
    local meddle = peri.func { forward = function (x) return x * 1 end,
                               backward = function (above) w:copy(1) return above end }
    local y = w * 2
    local loss = meddle(y + 1):sum()
    assert.matches("was changed after it was used", select(2, pcall(loss.backward, loss)))
    assert.is_nil(w.grad)
  end)

  it("is no obstacle to formulas in one pass, no_grad and collections", function ()
    local core, w = require "perilune.core", peri.param(draws(6))
    local y = w * 2
    local z = peri.no_grad(core.fused, function () return y + w * 3 end)
    collectgarbage()
    assert.is_true(z:allclose(w:detach() * 5, 1e-15))
    assert.is_false(core.tracked(peri.no_grad(function () return (w * 2):sum() end)))
    local part = (w * 4):narrow(1, 10, 5)
    collectgarbage()
    part:sum():backward()
    assert.same({ 0, 4, 4, 0 }, { w.grad[9], w.grad[10], w.grad[14], w.grad[15] })
  end)

  it("does not fill memory while parameters change", function ()
    local x, w = draws(7), peri.param(1)
    local function steps (n)
      for _ = 1, n do
        w.grad = nil
        peri.Normal(w, 1):log_prob(x):sum():backward()
        w:copy(w:detach() + 0.01 * w.grad / N)
      end
    end
    steps(20)
    collectgarbage() collectgarbage()
    local before = collectgarbage "count"
    steps(1000)
    collectgarbage() collectgarbage()
    assert(collectgarbage "count" - before < 64)
  end)
end)
