-- The tape: parameters, recording, the backward pass, and what is refused.
local peri = require "perilune"
local finalized = require "spec.support.finalized"
local core = require "perilune.core"

local function fails (message, f, ...)
  local ok, got = pcall(f, ...)
  assert.is_false(ok)
  assert.matches(message, got, 1, true)
end

local function backward (y) y:backward() end

describe("param", function ()
  it("is a copy that has a gradient", function ()
    local x = peri.tensor { 1, 2 }
    local w = peri.param(x)
    x[1] = 7
    assert.same({ 1, 2 }, w:totable())
    assert.is_nil(w.grad)
    assert.same({}, peri.param(3).shape)
    assert.same({ 2, 2 }, peri.param { { 1, 2 }, { 3, 4 } }.shape)
    assert.same({ 2, 1 }, peri.param(peri.tensor { { 1, 2 } }:transpose()).shape)
    fails("param: value is missing", peri.param)
    fails("param: value must be a number, a table of numbers or a tensor, got", peri.param, "x")
  end)
end)

describe("backward", function ()
  it("adds to grad, until that is set to nil", function ()
    local w = peri.param { 1, 2 }
    backward((w * w):sum())
    assert.same({ 2, 4 }, w.grad:totable())
    backward((w * w):sum())
    assert.same({ 4, 8 }, w.grad:totable())
    w.grad = nil
    assert.is_nil(w.grad)
    w:sum():backward()
    assert.same({ 1, 1 }, w.grad:totable())
  end)

  it("leaves a grad that somebody has in hand alone", function ()
    local w = peri.param { 1, 2 }
    backward((w * w):sum())
    local first = w.grad
    w.grad = nil
    w:sum():backward()
    assert.same({ 2, 4 }, first:totable())
    w.grad = nil
    backward((w * 3):sum())
    assert.same({ 3, 3 }, w.grad:totable())
  end)

  -- Runs backward passes, with a whole cycle of the collector whenever anything is allocated; in one of the
  -- cycles a finalizer acts.
  local function disturbed_backward (number, loss, act)
    local function at_next_cycle ()
      number = number - 1
      if number == 0 then pcall(act)
      elseif number > 0 then finalized({}, at_next_cycle) end
    end
    collectgarbage("incremental", 1, 100, 30)
    collectgarbage()
    at_next_cycle()
    local ok, message = pcall(loss.backward, loss, { retain = true })
    collectgarbage("incremental", 200, 100, 13)
    number = 0
    return ok, message
  end

  it("says so when a finalizer differentiates the same nodes, or sets a gradient", function ()
    local disturbed = { 0, 0 }
    for case = 2, 17 do
      local w, v = peri.param(peri.full(3000, 0.5)), peri.param(peri.full(3000, 2))
      local loss = (w * v):exp():log():sum()
      local which, given = case % 2 + 1, peri.zeros(3000)
      local ok, message = disturbed_backward(math.floor(case / 2) + 1, loss, which == 1 and function ()
        loss:backward { retain = true }
      end or function ()
        w.grad, v.grad = given, given
      end)
      if not ok then
        assert.matches("gradients of the same tensors were changed meanwhile", message, 1, true)
        disturbed[which] = disturbed[which] + 1
      end
      w.grad, v.grad = nil, nil
      loss:backward()
      assert.near(2, w.grad[3000], 1e-12)
      assert.near(0.5, v.grad[1], 1e-12)
    end
    assert.is_true(disturbed[1] > 0)
    assert.is_true(disturbed[2] > 0)
  end)

  it("checks what is assigned to grad, and keeps a copy", function ()
    local w, g = peri.param { 1, 2 }, peri.tensor { 5, 6 }
    w.grad = g
    g[1] = 0
    assert.same({ 5, 6 }, w.grad:totable())
    w:sum():backward()
    assert.same({ 6, 7 }, w.grad:totable())
    fails("Tensor.grad = value: shapes (2) and (3) of parameter and gradient differ",
          function () w.grad = peri.zeros(3) end)
    fails("Tensor.grad = value: shapes (2) and () of parameter and gradient differ", function () w.grad = 3 end)
    fails("Tensor.grad = value: value must be a number, a table of numbers or a tensor, got true",
          function () w.grad = true end)
    local single = peri.param(2)
    single.grad = 5
    assert.equal(5, single.grad)
    fails("Tensor.grad = value: only a parameter has a gradient", function () peri.zeros(2).grad = peri.zeros(2) end)
    fails("Tensor.grad = value: only a parameter has a gradient", function () (w * 2).grad = peri.zeros(2) end)
  end)

  it("notices that a grad changed that was used", function ()
    local w = peri.param { 1, 2 }
    w:sum():backward()
    local y = (w * w.grad):sum()
    w:sum():backward()
    fails("a tensor was changed after it was used", y.backward, y)
  end)

  it("needs a single number that depends on a parameter", function ()
    local w = peri.param { 1, 2 }
    local y = w * 2
    fails("Tensor:backward: only a single number can be differentiated, this has shape (2); sum it first",
          y.backward, y)
    local x = peri.tensor(3)
    fails("Tensor:backward: this does not depend on any parameter (see peri.param)", x.backward, x)
    fails("Tensor:backward: options must be a table, got 3", y.backward, y:sum(), 3)
    local one = peri.param { { 4 } } ^ 2      -- one element of any rank
    one:backward()
    w[2]:backward()                           -- a view of a parameter
    assert.same({ 0, 1 }, w.grad:totable())
  end)

  it("happens once, unless asked to retain", function ()
    local w = peri.param(3)
    local square = w * w
    square:backward { retain = true }
    square:backward()
    assert.equal(12.0, peri.item(w.grad))
    fails("backward: this was differentiated already, and what it takes to do so again is gone; "
          .. "backward{retain = true} keeps it", square.backward, square)
    local y = square + 1
    fails("this was differentiated already", y.backward, y)
    assert.equal(12.0, peri.item(w.grad))
  end)

  it("adds up over diamonds and repeated operands", function ()
    local w = peri.param(3)
    local a = w * w
    local b, c = a + w, a * 2
    local y = b * c + a + peri.maximum(w, w)
    y:backward()
    assert.equal(8 * 27 + 6 * 9 + 6 + 1.0, peri.item(w.grad))   -- d/dw (2 w^4 + 2 w^3 + w^2 + w)
  end)

  it("gives every parameter its own gradient, and others none", function ()
    local a, b, c = peri.param(2), peri.param { 1, 2, 3 }, peri.param(1)
    backward((a * b):sum())
    assert.equal(6.0, peri.item(a.grad))
    assert.same({ 2, 2, 2 }, b.grad:totable())
    assert.is_nil(c.grad)
  end)

  it("passes nothing on where nothing comes from above", function ()
    local w = peri.param { 0, 1, -1 }
    peri.where(w:gt(0), w:log(), 0):sum():backward()
    assert.same({ 0, 1, 0 }, w.grad:totable())
    w.grad = nil
    backward((w:sqrt() * peri.tensor { 0, 1, 0 }):narrow(1, 2, 1):sum())
    assert.same({ 0, 0.5, 0 }, w.grad:totable())
    local v = peri.param { { 0.2, 0.8 }, { -1, 2 } }   -- the second row is off the simplex
    local density = peri.Dirichlet { 2, 3 }:log_prob(v)
    peri.where({ 1, 0 }, density, 0):sum():backward()
    for _, g in ipairs(v.grad[2]) do assert.equal(0.0, g) end
  end)
end)

describe("detach and no_grad", function ()
  it("leave no past", function ()
    local w = peri.param { 1, 2 }
    local d = w:detach()
    assert.is_false(core.tracked(d))
    assert.is_false(core.tracked(d * 2))
    assert.is_false(core.tracked(d[1]))
    assert.is_false(core.tracked(d:narrow(1, 1, 1)))
    backward((w * d):sum())
    assert.same({ 1, 2 }, w.grad:totable())
    d[1] = 9
    assert.equal(9.0, peri.item(w[1]))
    assert.is_false(core.tracked(peri.no_grad(function () return w * w end)))
    assert.is_true(core.tracked(w * w))
  end)

  it("hold for everything that is computed", function ()
    local w = peri.param { 1, 2 }
    local double = peri.func { forward = function (x) return 2 * x end, backward = function (g) return 2 * g end }
    local all = peri.no_grad(function ()
      return { peri.cat { w, w }, peri.stack { w, w }, double(w), w:clone(), w:sum(), w:std(), w:softmax(),
               w:reshape(2, 1):matmul { { 1 } }, peri.Normal(w, 1):rsample(), w:transpose(1, 1) + 1 }
    end)
    for i, t in ipairs(all) do assert(not core.tracked(t), "result " .. i) end
  end)

  it("end with an error, and pass it on", function ()
    local w, token = peri.param(1), {}
    local ok, got = pcall(peri.no_grad, function () error(token) end)
    assert.is_false(ok)
    assert.equal(token, got)
    assert.is_true(core.tracked(w * 2))
    local outcome = { peri.no_grad(function (...)
      pcall(peri.no_grad, error, "inner")
      return core.tracked(w * 2), select("#", ...)
    end, 1, nil) }
    assert.same({ false, 2 }, outcome)
    fails("no_grad: fn must be a function, got 3", peri.no_grad, 3)
  end)
end)

describe("a change after recording", function ()
  local message = "backward: a tensor was changed after it was used in what is being differentiated; "
                  .. "clone it before changing it"

  it("is noticed, whichever way it came", function ()
    local ways = {
      function (t) t[1] = 5 end,
      function (t) t:copy(0) end,
      function (t) t:narrow(1, 2, 1):copy(0) end,
      function (t) t:detach()[1] = 3 end,
      function (t) t:detach():reshape(1, 2)[1] = { 1, 1 } end,
    }
    for _, way in ipairs(ways) do
      local w, x = peri.param { 1, 2 }, peri.tensor { 3, 4 }
      for _, changed in ipairs { w, x } do
        local y = (w * x):sum()
        way(changed)
        fails(message, y.backward, y)
        assert.is_nil(w.grad)
      end
    end
  end)

  it("of a result is noticed or refused", function ()
    local w = peri.param { 1, 2 }
    local y = w:logsumexp(1, true)
    y:detach():copy(0)
    fails("was changed after", y.backward, y)
    local z = w * 2
    fails("Tensor[i] = value: the result of a recorded computation cannot be changed; clone its detach() first",
          function () z[1] = 3 end)
    fails("cannot be changed", function () z:narrow(1, 1, 1):copy(3) end)
  end)

  it("before recording is fine", function ()
    local w = peri.param { 1, 2 }
    w[1] = 5
    w:detach():copy { 3, 4 }
    backward((w * w):sum())
    assert.same({ 6, 8 }, w.grad:totable())
  end)

  it("cannot smuggle a gradient into a tensor", function ()
    local w, x = peri.param { 1, 2 }, peri.zeros(2)
    local refused = "a value written into a tensor loses its gradient; detach() it, or use stack and cat"
    fails("Tensor[i] = value: " .. refused, function () x[1] = w[1] end)
    fails("Tensor:copy: " .. refused, function () x:copy(w) end)
    x:copy(w:detach())
    peri.no_grad(function () x[2] = w[1] end)
    assert.same({ 1, 1 }, x:totable())
  end)

  it("of a view outlives the tensor it was taken from", function ()   -- a result that waited
    local x = peri.ones(5000)
    local view = core.fused(function () return x * 2 end):narrow(1, 1, 3)
    collectgarbage()
    local w = peri.param { 1, 2, 3 }
    local y = (w * view):sum()
    view[1] = 4
    fails(message, y.backward, y)
  end)
end)

describe("func", function ()
  local cube = peri.func {
    forward  = function (x) return x ^ 3 end,
    backward = function (above, _, x) return 3 * x ^ 2 * above end,
  }

  it("has the gradient that it says", function ()
    local w = peri.param { 1, 2 }
    cube(w):sum():backward()
    assert.same({ 3, 12 }, w.grad:totable())
    assert.equal(8.0, cube(2))
    assert.is_false(core.tracked(cube(peri.tensor { 1 })))
  end)

  it("gets what comes from above, its result, and all arguments", function ()
    local seen
    local f = peri.func {
      forward  = function (a, n, b) return a * b + n end,
      backward = function (...) seen = table.pack(...); return seen[1] * seen[5], nil, seen[1] * seen[3] end,
    }
    local a, b = peri.param { 2, 3 }, peri.param { 5, 7 }
    backward((f(a, 10, b) * peri.tensor { 1, 2 }):sum())
    assert.same({ 5, 14 }, a.grad:totable())
    assert.same({ 2, 6 }, b.grad:totable())
    assert.equal(5, seen.n)
    assert.same({ { 1, 2 }, { 20, 31 }, 10 }, { seen[1]:totable(), seen[2]:totable(), seen[4] })
  end)

  it("nests, and may return numbers, tables and nothing", function ()
    local outer = peri.func {
      forward  = function (x) return cube(x) * 2 end,
      backward = function (above, _, x)
        return peri.grad(function (v) return (cube(v) * above):sum() * 2 end)(x:detach())
      end,
    }
    local w = peri.param { 1, 2 }
    outer(w * 1):sum():backward()
    assert.same({ 6, 24 }, w.grad:totable())
    for _, case in ipairs { { 4, { 4, 4 } }, { { 1, 2 }, { 1, 2 } } } do
      local f = peri.func { forward = function (x) return x end, backward = function () return case[1] end }
      w.grad = nil
      f(w):sum():backward()
      assert.same(case[2], w.grad:totable())
    end
    local none = peri.func { forward = function (x) return x + 0 end, backward = function () end }
    w.grad = nil
    none(w):sum():backward()
    assert.same({ 0, 0 }, w.grad:totable())
  end)

  it("passes errors on as they are", function ()
    local token = {}
    local w = peri.param { 1, 2 }
    local f = peri.func { forward = function (x) return x + 1 end, backward = function () error(token) end }
    local y = f(w):sum()
    local ok, got = pcall(y.backward, y)
    assert.is_false(ok)
    assert.equal(token, got)
    assert.is_true(core.tracked(w * 2))
    local g = peri.func { forward = function () error(token) end, backward = function () end }
    ok, got = pcall(g, w)
    assert.is_false(ok)
    assert.equal(token, got)
    assert.is_true(core.tracked(w * 2))
    local h = peri.func { forward = function (x) return x + 1 end, backward = function () return peri.zeros(3) end }
    y = h(w):sum()
    fails("backward: gradient and input: shapes (3) and (2) do not fit", y.backward, y)
    local s = peri.func { forward = function (x) return x + 1 end, backward = function () return "much" end }
    y = s(w):sum()
    fails("backward: a gradient must be a number, a table of numbers or a tensor, got the string", y.backward, y)
    assert.is_nil(w.grad)
    w:sum():backward()
    assert.same({ 1, 1 }, w.grad:totable())
    for _, bad in ipairs { 3, {}, { forward = print } } do
      fails("func: takes { forward = function, backward = function }", peri.func, bad)
    end
  end)

  it("may run a backward pass itself, over the same nodes", function ()
    local w, v = peri.param { 1, 2 }, peri.param(2)
    local shared = w * w
    local within = shared:sum()
    local fail = peri.func { forward = function (x) return x + 0 end, backward = function () error "no" end }
    local failing = w:sum() * fail(v)
    local f = peri.func {
      forward  = function (x) return x * 1 end,
      backward = function (above)
        for _ = 1, 3 do within:backward { retain = true } end
        assert.is_false(pcall(failing.backward, failing))
        collectgarbage()
        return above
      end,
    }
    backward((f(shared * v) + shared + w):sum())
    assert.same({ 3 * 2 + 2 * 2 + 2 + 1, 3 * 4 + 2 * 4 + 4 + 1 }, w.grad:totable())
    assert.equal(5.0, peri.item(v.grad))
  end)

  it("runs in coroutines, which may not yield from within", function ()
    local w = peri.param { 1, 2 }
    local f = peri.func { forward = function (x) return x * 2 end,
                          backward = function (above) coroutine.yield() return above end }
    local y = f(w):sum()
    local co = coroutine.create(function () y:backward() end)
    local ok, message = coroutine.resume(co)
    assert.is_false(ok)
    assert.matches("attempt to yield across a C%-call boundary", message)
    local later = coroutine.wrap(function ()
      local z = cube(w)
      coroutine.yield()
      z:sum():backward()
    end)
    later()
    w:sum():backward()
    later()
    assert.same({ 4, 13 }, w.grad:totable())
  end)
end)

describe("grad and value_and_grad", function ()
  it("keep the form of the argument", function ()
    assert.equal(6.0, peri.grad(function (x) return x * x end)(3))
    local value, g = peri.value_and_grad(function (x) return (x * x):sum() end)(peri.tensor { 1, 2 })
    assert.same({ 5, { 2, 4 } }, { value, g:totable() })
    local function loss (p, scale)
      return (p.layer.w:matmul(p.layer.b) * p.s):sum() * scale, "extra", nil
    end
    local nested = { layer = { w = peri.tensor { { 1, 2 }, { 3, 4 } }, b = { 1, -1 } }, s = 2, unused = 7 }
    local results = table.pack(peri.value_and_grad(loss)(nested, 10))
    assert.equal(4, results.n)
    assert.equal("extra", results[3])
    assert.equal(-40.0, results[1])
    g = results[2]
    assert.same({ { 20, -20 }, { 20, -20 } }, g.layer.w:totable())
    assert.same({ 80, 120 }, g.layer.b:totable())
    assert.same({ -20, 0 }, { g.s, g.unused })
    assert.same({ 1, 2 }, nested.layer.w[1]:totable())
    local list = peri.grad(function (t) return t[1] * t[2]:sum() end) { peri.tensor(2), { 1, 3 } }
    assert.same({ 4, { 2, 2 } }, { peri.item(list[1]), list[2]:totable() })
  end)

  it("take constants for what they are", function ()
    local value, g = peri.value_and_grad(function () return 3 end)(1)
    assert.same({ 3, 0 }, { value, g })
    value, g = peri.value_and_grad(function () return peri.tensor(3) end) { 1, 2 }
    assert.same({ 3, { 0, 0 } }, { value, g:totable() })
  end)

  it("refuse what they cannot do", function ()
    fails("grad: f must be a function, got 3", peri.grad, 3)
    fails("value_and_grad: f must be a function, got nil", peri.value_and_grad)
    fails("value_and_grad: the first argument must be a number, a tensor or a table of them, got the string \"x\"",
          peri.value_and_grad(function () return 1 end), "x")
    fails("value_and_grad: a.b must be a number, a tensor or a table of them, got true",
          peri.value_and_grad(function () return 1 end), { a = { b = true } })
    local cyclic = { b = 1 }
    cyclic.a = cyclic
    fails("value_and_grad: a must not contain itself", peri.value_and_grad(function () return 1 end), cyclic)
    fails("value_and_grad: f must return a number or a tensor of one element, got nil",
          peri.value_and_grad(function () end), 1)
    fails("only a single number can be differentiated, this has shape (2); sum it first",
          peri.value_and_grad(function (x) return x * 2 end), { 1, 2 })
    local token = {}
    local ok, got = pcall(peri.grad(function () error(token) end), 1)
    assert.is_false(ok)
    assert.equal(token, got)
  end)

  it("know no second derivatives, and say so", function ()
    local twice = peri.grad(peri.grad(function (x) return x ^ 3 end))
    fails("there are no second derivatives; detach() what should have no gradient here", twice, 2)
    local w = peri.param(3)
    assert.equal(27.0, peri.item(peri.grad(function (x) return x ^ 3 end)(w)))
    fails("there are no second derivatives", peri.grad(function (x) return x ^ 3 end), w * 2)
    assert.equal(27.0, peri.item(peri.grad(function (x) return x ^ 3 end)((w * 1):detach())))
  end)

  it("work inside no_grad, and around it", function ()
    local square = function (x) return x * x end
    assert.equal(6.0, peri.no_grad(peri.grad(square), 3))
    assert.equal(6.0, peri.grad(function (x) return x * x + peri.no_grad(square, x) end)(3))
    local w = peri.param(1)
    peri.no_grad(function ()
      pcall(peri.grad(error), 1)
      assert.is_false(core.tracked(w * 2))
    end)
  end)
end)

describe("memory", function ()
  local function kilobytes () collectgarbage() collectgarbage() return collectgarbage "count" end

  it("holds a chain of a million operations, and returns it", function ()
    local w = peri.param(1)
    local function chain (n)
      local y = w
      for _ = 1, n do y = y + 1 end
      y:backward()
    end
    chain(10)
    local before = kilobytes()
    chain(1e6)
    assert.equal(2.0, peri.item(w.grad))
    assert(kilobytes() - before < 16)
  end)

  it("does not grow from step to step", function ()
    local w, x = peri.param { 1, 2, 3 }, peri.tensor { 4, 5, 6 }
    local double = peri.func { forward = function (t) return 2 * t end, backward = function (g) return 2 * g end }
    local function steps (n)
      for _ = 1, n do
        w.grad = nil
        local y = peri.cat { w * x, double(w) }
        pcall(function () (y * 2):backward() end)
        backward((peri.Normal(w, 1):log_prob(x):sum() + y:softmax():max()))
      end
    end
    steps(3000)   -- tables have their final size
    local before = kilobytes()
    steps(3000)
    assert(kilobytes() - before < 64)
  end)

  for _, mode in ipairs { "incremental", "generational" } do
    it("survives a collection at any time, " .. mode, function ()
      local function compute (between)
        local w, s = peri.param { { 0.1, 0.2 }, { 0.3, 0.4 } }, peri.param(2)
        local y = w:transpose():matmul(w)
        between()
        local z = peri.cat { y[1], y[2]:exp() * s }
        between()
        local f = peri.func { forward = function (t) between() return t * 2 end,
                              backward = function (g) between() return g * 2 end }
        local total = f(z):softmax():max() + peri.Normal(z, s):log_prob(0.5):sum() + y:std(1):sum()
        between()
        total:backward()
        between()
        return { w.grad:totable(), peri.item(s.grad) }
      end
      local expected = compute(function () end)
      local previous = collectgarbage(mode)
      if mode == "incremental" then collectgarbage("incremental", 1, 10000, 4) end
      assert.same(expected, compute(collectgarbage))
      for _ = 1, 20 do
        assert.same(expected, compute(function () collectgarbage("step") end))
      end
      collectgarbage("incremental", 200, 100, 13)
      collectgarbage(previous)
    end)
  end
end)

describe("threads", function ()
  after_each(function () peri.set_threads(1) end)

  it("change no bit", function ()
    local g = peri.rng(5)
    local x, m = g:normal(100000), g:normal(300, 400)
    local function all ()
      local w, v, s, row = peri.param(x), peri.param(m), peri.param(0.7), peri.param(m[1])
      local n = 99999
      local y = (w:narrow(1, 1, n) * w:narrow(1, 2, n)):tanh():sum()          -- overlapping views
              + peri.Normal(s, 2):log_prob(w):sum() + (w * s):exp():mean()
              + ((v + row) * v:transpose():contiguous():transpose()):logsumexp(1):sum()
              + v:softmax():square():sum() + v:matmul(v:transpose()):sum()
      y:backward()
      return { w.grad, v.grad, s.grad, row.grad }
    end
    local alone = all()
    peri.set_threads(2)
    for _ = 1, 3 do
      for i, t in ipairs(all()) do assert(peri.equal(t, alone[i]), "gradient " .. i) end
    end
  end)
end)
