--- Hooks run during long calls, as they do during Lua: Ctrl-C and budgets take effect, and nothing is left half done.
local peri = require "perilune"

local BIG = 2400000

-- Calls fn while a hook runs after so many instructions; returns how often it ran and what pcall returned.
local function hooked (fn, hook, count)
  local calls = 0
  local function counted (...)
    calls = calls + 1
    if hook then hook(...) end
  end
  debug.sethook(counted, "", count or 4000)
  local ok, result = pcall(fn)
  debug.sethook()
  return calls, ok, result
end

-- The error of fn when the first hook raises, and how often the hook ran.
local function interrupted (fn)
  local reason = {}
  local calls, ok, result = hooked(fn, function () error(reason) end)
  return not ok and rawequal(result, reason), calls
end

local function same (a, b)
  if type(a) == "number" then return a == b or a ~= a and b ~= b end
  return peri.eq(a, b):min() == 1
end

local function values (n) return peri.linspace(0.01, 0.99, n) end

-- Each gives a call that takes some milliseconds at least.
local calls = {
  ["an elementwise function"] = function ()
    local x = values(BIG)
    return function () return x:lgamma() end
  end,
  ["a density"] = function ()
    local x = values(BIG)
    return function () return peri.Gamma(2, 3):log_prob(x) end
  end,
  ["few elements of a slow function"] = function ()
    local total = peri.linspace(1e5, 1e6, 400)
    return function () return peri.NegativeBinomial(total, 0.5):entropy() end
  end,
  ["a sampler by transformation"] = function ()
    return function () return peri.Normal(0, 1):sample(BIG, peri.rng(1)) end
  end,
  ["a sampler by rejection"] = function ()
    return function () return peri.Gamma(2, 3):sample(BIG / 4, peri.rng(1)) end
  end,
  ["noise"] = function ()
    return function () return peri.rng(1):normal(BIG) end
  end,
  ["a sum"] = function ()
    local x = values(1):expand(20 * BIG)
    return function () return x:sum() end
  end,
  ["sums of lines"] = function ()
    local x = values(BIG):reshape(BIG / 100, 100)
    return function () return x:logsumexp(2) end
  end,
  ["a running sum"] = function ()
    local x = values(BIG)
    return function () return x:cumsum(1) end
  end,
  ["a running product"] = function ()
    local x = values(BIG)
    return function () return x:cumprod(1) end
  end,
  ["a row the other way round"] = function ()
    local x = values(2 * BIG)
    return function () return x:flip() end
  end,
  ["a long row sorted"] = function ()
    local x = peri.sin(1e6 * values(BIG / 4))
    return function () return x:argsort() end
  end,
  ["a long row sorted that was in order"] = function ()
    local x = values(BIG / 2)
    return function () return x:argsort() end
  end,
  ["short rows sorted"] = function ()
    local x = peri.sin(1e6 * values(BIG / 4)):reshape(BIG / 400, 100)
    return function () return (x:sort()) end
  end,
  ["a median"] = function ()
    local x = peri.sin(1e6 * values(BIG / 4))
    return function () return x:median() end
  end,
  ["a copy"] = function ()
    local x = values(BIG):reshape(2, BIG / 2):transpose()
    return function () return x:contiguous() end
  end,
  ["a tensor filled"] = function ()
    return function () return peri.full(2 * BIG, 3) end
  end,
  ["a progression"] = function ()
    return function () return peri.arange(2 * BIG) end
  end,
  ["tensors joined"] = function ()
    local x = values(BIG)
    return function () return peri.cat({ x, x }) end
  end,
  ["a table made a tensor"] = function ()
    local list = {}
    for i = 1, BIG / 4 do list[i] = i end
    return function () return peri.tensor(list) end
  end,
  ["a tensor made a table"] = function ()
    local x = values(BIG / 4):reshape(500, BIG / 2000)
    return function () return #x:totable() end
  end,
  ["a product of matrices"] = function ()
    local m = values(600 * 600):reshape(600, 600)
    return function () return m:matmul(m) end
  end,
  ["a matrix times a vector"] = function ()
    local m, v = values(1):expand(3000, 3000):contiguous(), values(3000)
    return function () return m:matmul(v) end
  end,
  ["a factorisation"] = function ()
    local m = peri.eye(500) * 600 + 1
    return function () return m:cholesky() end
  end,
  ["a determinant"] = function ()
    local m = peri.eye(500) * 600 + 1
    return function () return m:logdet() end
  end,
  ["a triangle that divides"] = function ()
    local m = peri.eye(500) * 600 + 1
    return function () return m:solve_triangular(m) end
  end,
  ["a triangle cut out"] = function ()
    local m = values(1):expand(3000, 3000):contiguous()
    return function () return m:tril() end
  end,
  ["many small factorisations"] = function ()
    local m = (peri.eye(8) * 9 + 1):expand(40000, 8, 8):contiguous()
    return function () return m:cholesky() end
  end,
  ["a law of matrices"] = function ()
    local d = peri.Wishart { df = 300, scale_tril = peri.eye(200) }
    return function () return d:sample(4, peri.rng(1)) end
  end,
  ["draws that share a triangle"] = function ()
    local d = peri.MultivariateNormal { loc = peri.zeros(200), scale_tril = peri.eye(200) }
    return function () return d:sample(4000, peri.rng(1)) end
  end,
  ["draws that share probabilities"] = function ()
    local d = peri.Categorical(values(1000))
    return function () return d:sample(BIG, peri.rng(1)) end
  end,
  ["a check of parameters"] = function ()
    local x = values(1):expand(BIG)
    return function () return peri.Normal(0, x):log_prob(x):sum() end
  end,
  ["a formula in one pass"] = function ()
    local x = values(BIG)
    return function () return peri.kl_divergence(peri.Laplace(x, 1), peri.Laplace(0, 2)) end
  end,
  ["a sum that waited"] = function ()
    local w = peri.param(values(BIG))
    return function () return peri.item(peri.Gamma(2, w):log_prob(1):sum()) end
  end,
  ["a walk back"] = function ()
    local w = peri.param(values(BIG))
    return function ()
      w.grad = nil
      peri.Gamma(2, w):log_prob(1):sum():backward()
      return w.grad
    end
  end,
  ["a walk back over a row kernel"] = function ()
    local w = peri.param(values(400 * 400):reshape(400, 400))
    return function ()
      w.grad = nil
      w:matmul(w):sum():backward()
      return w.grad
    end
  end,
  ["a replay"] = function ()
    local w = peri.param(values(BIG))
    local trace = peri.trace(function () return peri.Gamma(2, w):log_prob(1):sum() end)
    return function ()
      w.grad = nil
      trace:backward()
      return w.grad
    end
  end,
  ["a replay of many small operations"] = function ()
    local w = peri.param(0.5)
    local trace = peri.trace(function ()
      local x = w
      for _ = 1, 100000 do x = x * 0.999 + 1e-5 end
      return x
    end)
    return function () return trace:value() end
  end,
  ["a recurrence of numbers"] = function ()
    return function () return (peri.scan(function (s, t) return peri.sin(s) * 0.5 + t end, 1, 1000000)) end
  end,
  ["a recurrence of matrices, forward and back"] = function ()
    local w = peri.param(values(200 * 200):reshape(200, 200) / 1000)
    return function ()
      w.grad = nil
      local _, last = peri.scan(function (s) return s:matmul(w) + 1 end, w, 20)
      last:sum():backward()
      return w.grad
    end
  end,
  ["a replay of a recurrence"] = function ()
    local w = peri.param(0.5)
    local trace = peri.trace(function ()
      local _, last = peri.scan(function (s, t) return peri.sin(s * w) + t end, 1, 300000)
      return last
    end)
    return function ()
      w.grad = nil
      trace:backward()
      return w.grad
    end
  end,
}

local names = {}
for name in pairs(calls) do names[#names + 1] = name end
table.sort(names)

for threads = 1, 2 do
  describe("hooks run during long calls, with " .. threads .. " thread(s):", function ()
    setup(function () peri.set_threads(threads) end)
    teardown(function () peri.set_threads(1) end)

    for _, name in ipairs(names) do
      it(name, function ()
        local call = calls[name]()
        local before = call()
        local stopped, ran = interrupted(call)
        assert.is_true(stopped)
        assert.equal(1, ran)
        assert.is_true(same(before, call()))
        local _, ok, result = hooked(call)   -- a hook that does nothing
        assert.is_true(ok)
        assert.is_true(same(before, result))
      end)
    end
  end)
end

describe("hooks run many times during work on one long row:", function ()
  local ROW = 5000000
  local x = values(ROW)
  local T = peri.transforms
  local logits = peri.Categorical { logits = x }
  local shares = peri.Dirichlet(x)
  local sum_to_one = x:softmax()
  local rank_one = peri.LowRankMultivariateNormal(x, x:reshape(ROW, 1), x)

  local function slope (f)
    return function ()
      local w = peri.param(x)
      local y = f(w)
      ;(y.shape[1] and y:sum() or y):backward()
      return w.grad
    end
  end

  local rows = {
    ["softmax"]                 = function () return x:softmax() end,
    ["slopes of softmax"]       = slope(function (w) return w:softmax() * x end),
    ["log_softmax"]             = function () return x:log_softmax() end,
    ["slopes of log_softmax"]   = slope(function (w) return w:log_softmax() * x end),
    ["logsumexp"]               = function () return x:logsumexp() end,
    ["cumsum"]                  = function () return x:cumsum() end,
    ["StickBreaking"]           = function () return T.StickBreaking()(x) end,
    ["slopes of StickBreaking"] = slope(function (w) return T.StickBreaking()(w) end),
    ["StickBreaking back"]      = function () return T.StickBreaking():inverse(sum_to_one) end,
    ["StickBreaking's log det"] = function () return T.StickBreaking():log_abs_det_jacobian(x, x) end,
    ["Ordered"]                 = function () return T.Ordered()(x) end,
    ["Ordered back"]            = function () return T.Ordered():inverse(x) end,
    ["the entropy of logits"]   = function () return logits:entropy() end,
    ["a draw by logits"]        = function () return logits:sample(nil, peri.rng(1)) end,
    ["the KL of logits"]        = function ()
      return peri.kl_divergence(logits, peri.Categorical { logits = 2 * x })
    end,
    ["a Multinomial draw"]      = function () return peri.Multinomial(9, x):sample(nil, peri.rng(1)) end,
    ["a Dirichlet draw"]        = function () return shares:sample(nil, peri.rng(1)) end,
    ["a Dirichlet density"]     = function () return shares:log_prob(sum_to_one) end,
    ["a Dirichlet entropy"]     = function () return shares:entropy() end,
    ["a density of rank 1"]     = function () return rank_one:log_prob(x) end,
    ["a gathering"]             = function () return x[peri.arange(1, ROW + 1)] end,
  }
  for name, call in pairs(rows) do
    it(name, function ()
      local before = call()
      local ran, ok, result = hooked(call, nil, 1000)   -- some four times a millisecond
      assert.is_true(ok)
      assert.is_true(ran > 3)
      assert.is_true(same(before, result))
      local stopped, times = interrupted(call)
      assert.is_true(stopped)
      assert.equal(1, times)
    end)
  end
end)

describe("a count hook", function ()
  it("runs often during a long call, and less often the larger its count is", function ()
    local x = values(BIG)
    local function call () return peri.lgamma(x):lgamma():lgamma():lgamma() end
    local often, seldom = hooked(call, nil, 4000), hooked(call, nil, 40000)
    assert.is_true(often > seldom)
    assert.equal(0, (hooked(call, nil, 1000000000)))
  end)
end)

describe("a hook of the main thread", function ()
  it("runs during a long call in a coroutine that has none", function ()
    local main, is_main = coroutine.running()
    if not is_main then return end
    local x, calls_seen = values(BIG), 0
    local worker = coroutine.create(function ()
      debug.sethook(main, function ()
        calls_seen = calls_seen + 1
        error("interrupted!", 0)
      end, "", 4000)
      return x:lgamma()
    end)
    local ok, message = coroutine.resume(worker)
    debug.sethook()
    assert.is_false(ok)
    assert.equal("interrupted!", message)
    assert.equal(1, calls_seen)
    assert.equal(BIG, #x:lgamma())
  end)

  it("may want to yield, which has to wait", function ()
    local x = values(BIG)
    local worker = coroutine.create(function ()
      debug.sethook(function () coroutine.yield() end, "", 4000)
      local y = x:lgamma()
      debug.sethook()
      return y
    end)
    local ok, y = coroutine.resume(worker)
    assert.is_true(ok)
    assert.is_true(same(x:lgamma(), y))
  end)
end)

describe("a hook that differentiates what a step of a recurrence left elsewhere", function ()
  it("ends the walk back over it", function ()
    local w, left = peri.param(peri.linspace(0.1, 0.9, 5000)), nil
    local _, last = peri.scan(function (s, t)
      left = s * w
      return left:sin() * 0.5 + t
    end, w, 300)
    local loss = last:sum()
    local _, ok, text = hooked(function () loss:backward { retain = true } end,
                               function () pcall(left.backward, left:sum()) end)
    assert.is_false(ok)
    assert.matches("gradients of the same tensors were changed meanwhile", text)
    assert.is_nil(w.grad)
    loss:backward()
    assert.equal(5000, #w.grad)
  end)
end)

describe("a hook that interrupts a call", function ()
  -- Runs the call with a hook that does something once; both must be right.
  local function with (call, action)
    local done, expected = false, call()
    local _, ok, result = hooked(call, function ()
      if not done then
        done = true
        action()
      end
    end)
    assert.is_true(done)
    return ok, result, expected
  end

  for threads = 1, 2 do
    it("may compute, with " .. threads .. " thread(s)", function ()
      peri.set_threads(threads)
      local x, inner = values(BIG), nil
      local ok, result, expected = with(function () return x:lgamma() end, function ()
        inner = x:exp():sum() + peri.item(peri.Gamma(2, 3):sample(nil, peri.rng(1)))
      end)
      peri.set_threads(1)
      assert.is_true(ok and same(expected, result))
      assert.is_true(same(x:exp():sum() + peri.item(peri.Gamma(2, 3):sample(nil, peri.rng(1))), inner))
    end)
  end

  it("may not replay the trace that is being replayed", function ()
    local w = peri.param(values(BIG))
    local trace = peri.trace(function () return w:lgamma():sum() end)
    local refused
    local ok, result, expected = with(trace, function () refused = { pcall(trace) } end)
    assert.is_true(ok and result == expected)
    assert.is_false(refused[1])
    assert.matches("trace: a hook replays what is being replayed$", refused[2])
    assert.equal(expected, trace())
  end)

  it("may read what is being computed", function ()
    local w = peri.param(values(BIG))
    local waiting
    local ok, result, expected = with(function ()
      waiting = peri.Gamma(2, w):log_prob(1)
      return peri.item(waiting:detach():sum())
    end, function () return waiting:detach():sum() end)
    assert.is_true(ok)
    assert.equal(expected, result)
  end)

  it("may differentiate something else", function ()
    local w, v = peri.param(values(BIG)), peri.param(3)
    local ok, result, expected = with(function () return w:detach():lgamma() end, function () (v * v):backward() end)
    assert.is_true(ok and same(expected, result))
    assert.equal(6, peri.item(v.grad))
  end)

  -- Losses whose walks back take long in different ways, of a parameter of BIG elements.
  local losses = {
    ["an elementwise function"] = function (w) return peri.Gamma(2, w):log_prob(1):sum() end,
    ["a view"] = function (w) return w:narrow(1, 2, BIG - 1):lgamma():narrow(1, 1, BIG - 2):sum() end,
    ["a reduction"] = function (w) return w:logsumexp() + w:reshape(2, BIG / 2):max(1):sum() end,
    ["a row kernel"] = function (w) return w:reshape(BIG / 10, 10):softmax():select(2, 1):sum() end,
    ["a quantile"] = function (w) return w:quantile(0.3) end,
    ["a row sorted"] = function (w) return (w:sort():narrow(1, 1, 2):sum()) end,
    ["a running product"] = function (w) return w:cumprod():sum() end,
    ["a determinant"] = function (w) return (w:narrow(1, 1, 90000):reshape(300, 300) + peri.eye(300)):logdet() end,
    ["tensors joined"] = function (w) return peri.cat({ w, w:narrow(1, 1, BIG / 2), w }):sum() end,
    ["a recurrence"] = function (w)
      local states = peri.scan(function (s, x) return s * 0.5 + peri.Gamma(2, x):log_prob(1) end, 0, w)
      return states:sum()
    end,
    ["a function of one's own"] = function (w)
      local double = peri.func { forward = function (x) return x * 2 end, backward = function (u) return u * 2 end }
      return double(w):sum()
    end,
  }

  -- Losses by backward and by replay: a call that gives the gradient of w.
  local function walks (w, make)
    local loss = make(w)
    local list = { function () loss:backward { retain = true } end }
    local ok, trace = pcall(peri.trace, function () return make(w) end)   -- functions of one's own have none
    if ok then list[2] = function () trace:backward() end end
    for i, walk in ipairs(list) do
      list[i] = function ()
        w.grad = nil
        walk()
        return w.grad
      end
    end
    return list
  end

  for name, make in pairs(losses) do
    it("may write and differentiate elsewhere during the walk back over " .. name, function ()
      local w, v, t = peri.param(values(BIG)), peri.param(3), peri.zeros(2)
      for _, call in ipairs(walks(w, make)) do
        v.grad = nil
        local ok, result, expected = with(call, function ()
          (v * v):backward()
          t[1] = 5
        end)
        assert.is_true(ok and same(expected, result))
        assert.equal(6, v.grad)
      end
    end)

    it("must not differentiate the same during the walk back over " .. name, function ()
      local w = peri.param(values(BIG))
      for _, call in ipairs(walks(w, make)) do
        local expected = call():clone()
        local stopped = false
        local _, ok, message = hooked(call, function ()
          if stopped then return end
          stopped = true
          make(w):backward()
          w.grad = nil
          collectgarbage()
        end)
        assert.is_true(stopped)
        if not ok then assert.truthy(tostring(message):find("changed", 1, true)) end   -- or before the walk began
        assert.is_true(same(expected, call()))
      end
    end)
  end

  -- A node of the sum is younger than both of its operands, which are of very different ages: they have to be
  -- sorted, which takes most of the time.
  describe("while nodes are sorted by age", function ()
    local w, v = peri.param(0.5), peri.param(3)
    local sum

    setup(function ()
      local list = {}
      for i = 1, 60000 do list[i] = w * i end
      for i = 1, #list, 7 do sum = sum and sum + list[i] or list[i] end
      for i = #list, 1, -1 do sum = sum + list[i] end
    end)

    local function call ()
      w.grad = nil
      sum:backward { retain = true }
      return w.grad
    end

    it("may differentiate something else", function ()
      local expected = call()
      local times, ok, result = hooked(call, function () (v * v):backward() end)
      assert.is_true(ok and times > 3)
      assert.equal(expected, result)
      assert.equal(6 * times, v.grad)
    end)

    -- At any other time this is refused; so if it works hooks do run then.
    it("may even differentiate the same", function ()
      local expected = call()
      local worked
      for at = 1, 1000 do
        local left, acted = at, false
        local _, ok, result = hooked(call, function ()
          left = left - 1
          if left ~= 0 then return end
          acted = true
          call()
          w.grad = nil
        end)
        worked = acted and ok
        if worked then assert.equal(expected, result) end
        if worked or not acted then break end
      end
      assert.is_true(worked)
    end)
  end)

  it("must not change the number of threads", function ()
    local x = values(BIG)
    local ok, message = with(function () return x:lgamma() end, function () peri.set_threads(2) end)
    assert.is_false(ok)
    assert.truthy(tostring(message):find("set_threads: not in a hook", 1, true))
  end)

  it("draws other numbers than the call that it interrupts", function ()
    local g, inside = peri.rng(5), nil
    local ok, drawn = hooked(function () return g:normal(BIG) end, function () inside = inside or g:normal(3) end)
    local again = peri.rng(5)
    assert.is_true(ok > 0 and drawn)
    assert.equal(BIG, #again:normal(BIG))
    assert.is_true(same(again:normal(3), inside))
  end)
end)

describe("after an interruption", function ()
  it("a generator is where it would be after the draw", function ()
    local g, other = peri.rng(2), peri.rng(2)
    assert.is_true(interrupted(function () return peri.Normal(0, 1):sample(BIG, g) end))
    peri.Normal(0, 1):sample(BIG, other)
    assert.equal(other:state(), g:state())
  end)

  it("a tensor that was to be written is as it was", function ()
    local t, x, was_interrupted = nil, values(1):expand(BIG), false
    for _ = 1, 20 do   -- a copy takes about as long as it is between two looks at the clock
      t = peri.zeros(BIG)
      was_interrupted = interrupted(function () t:copy(x) end)
      if was_interrupted then break end
    end
    assert.is_true(was_interrupted)
    assert.equal(0, peri.item(t:max()))
  end)

  it("grads are as they were", function ()
    local w = peri.param(values(BIG))
    local trace = peri.trace(function () return peri.Gamma(2, w):log_prob(1):sum() end)
    trace:backward()
    local before = w.grad:clone()
    assert.is_true(interrupted(function () trace:backward() end))
    assert.is_true(same(before, w.grad))
    assert.is_true(interrupted(function () peri.Gamma(2, w):log_prob(1):sum():backward() end))
    assert.is_true(same(before, w.grad))
  end)
end)
