-- peri.trace: what a function recorded, replayed. That replays give the gradients of what is recorded anew is checked
-- for everything that has one by spec.gradient.check; here are draws, data, threads, and what cannot be replayed.
local peri = require "perilune"
local finalized = require "spec.support.finalized"

local function message (fn, ...)
  local ok, text = pcall(fn, ...)
  assert.is_false(ok, "an error was expected")
  return (tostring(text):gsub("^[^:]+:%d+: ", ""))
end

local function close (expected, got, tolerance)
  assert(math.abs(expected - got) <= (tolerance or 1e-14) * math.max(1, math.abs(expected)),
         string.format("expected %.17g, got %.17g", expected, got))
end

-- Value and gradients of loss(params...), recorded anew.
local function anew (loss, params)
  for _, w in ipairs(params) do w.grad = nil end
  local value = loss()
  value:backward()
  local grads = {}
  for i, w in ipairs(params) do
    grads[i] = w.grad
    w.grad = nil
  end
  return peri.item(value), grads
end

-- Replays agree with what is recorded anew, whatever the parameters are by then.
local function agrees (loss, params)
  local trace = peri.trace(loss)
  for step = 1, 3 do
    for _, w in ipairs(params) do w:copy(w:detach() * (1 + 0.01 * step)) end
    local value, grads = anew(loss, params)
    close(value, trace:value())
    close(value, trace:backward())
    for i, w in ipairs(params) do
      assert.equal(0, peri.sum(peri.gt(peri.abs(w.grad - grads[i]), 1e-13 * peri.abs(grads[i]))), "parameter " .. i)
    end
  end
end

describe("a trace", function ()
  it("follows the parameters", function ()
    local a, b = peri.param(1.5), peri.param { 0.5, 2 }
    agrees(function () return (a * b:exp() + b / a):sum() * a end, { a, b })
  end)

  it("follows views, rows and reductions", function ()
    local m = peri.param { { 1, 2, 3 }, { 0.5, -1, 2 } }
    agrees(function ()
      return m[1]:logsumexp() + m:transpose():softmax():select(1, 2):prod() + m:matmul { 1, 2, 3 }:max()
             + m:narrow(2, 2, 2):reshape(-1):var() + m:mean()
    end, { m })
  end)

  it("follows what repeats one number, alone and beside others", function ()
    local a, b, x = peri.param(2), peri.param { 0.5, 1.5 }, peri.param { { 1, 2, 3 }, { 4, 5, 6 } }
    agrees(function ()
      local scale, second = a:expand(2, 3), b[2]:expand(3)
      return scale:log():sum() + (scale * second):exp():mean() + (scale:log() * x):sum()
           + peri.Normal(second, scale):log_prob(x:transpose():reshape(2, 3)):sum() + (second * second):sum()
    end, { a, b, x })
    agrees(function () return (a:expand(300) * b[1]:expand(300)):sum() + a:expand(700):log():sum() end, { a, b })
  end)

  it("follows comparisons, and where they lead", function ()
    local w = peri.param { 0.5, 1, 2 }
    local trace = peri.trace(function ()
      return peri.where(w:gt(1), w * w, -w):sum() + w:gt(0):sum() + w:argmax() * w[1]
    end)
    w:copy { 3, -1, 1.5 }
    assert.equal(9 + 1 + 2.25 + 2 + 1 * 3, trace:backward())
    assert.same({ 6 + 1, -1, 3 }, w.grad:totable())
  end)

  it("follows what was joined", function ()
    local a, b = peri.param { { 1, 2 }, { 3, 4 } }, peri.param { 5, 6 }
    agrees(function ()
      local rows, columns = peri.cat { a, b:unsqueeze(1) }, peri.cat({ b:unsqueeze(2), a:transpose() }, 2)
      return rows:matmul { 1, -2 }:square():sum() + columns:exp():sum() + peri.stack { b, b, a[1] }:logsumexp()
             + peri.cat { b, b * 2, b * 3, b * 4, b * 5, b * 6, b * 7, b * 8, b * 9, b * 10 }:square():sum()
    end, { a, b })
  end)

  it("follows large tensors, sums that waited and what was made of them", function ()
    local x, loc, scale = peri.rng(1):normal(5000), peri.param(0.3), peri.param(1.2)
    local w = peri.param(peri.rng(2):normal(5000))
    agrees(function ()
      local fit = peri.Normal(loc, scale):log_prob(x):sum() - peri.Normal(0, 1):log_prob(loc)
      return -fit + (w * x):exp():mean() * 2 + peri.kl_divergence(peri.Normal(w, scale), peri.Normal(0, 1)):sum()
    end, { loc, scale, w })
  end)

  it("reads data as they are by then", function ()
    local w, x, y = peri.param { 1, 2 }, peri.tensor { 3, 4 }, peri.tensor { 0.5, 1 }
    local trace = peri.trace(function () return (w * x - y):square():sum() end)
    x:copy { 5, 6 }
    y:copy { 1, 0 }
    assert.equal((5 - 1) ^ 2 + 12 ^ 2, trace())
    trace:backward()
    assert.same({ 2 * 4 * 5, 2 * 12 * 6 }, w.grad:totable())
  end)

  it("adds to the gradients that are there", function ()
    local w = peri.param { 1, 2 }
    local trace = peri.trace(function () return (w * w):sum() end)
    trace:backward()
    local first = w.grad
    trace:backward()
    assert.same({ 4, 8 }, first:totable())
    w.grad = nil
    trace:backward()
    assert.same({ 2, 4 }, w.grad:totable())
    assert.same({ 4, 8 }, first:totable())
  end)

  it("ends in a view, or in a sum of one parameter only", function ()
    local w = peri.param { 1, 2, 3 }
    local trace = peri.trace(function () return (w * w)[2] end)
    w:copy { 1, 5, 3 }
    assert.equal(25, trace:backward())
    assert.same({ 0, 10, 0 }, w.grad:totable())
    w.grad = nil
    local sum = peri.trace(function () return w:sum() end)
    assert.equal(9, sum:backward())
    assert.same({ 1, 1, 1 }, w.grad:totable())
  end)

  it("gives the same with any number of threads", function ()
    local n = 40000
    local w, x = peri.param(peri.rng(1):normal(n)), peri.rng(2):normal(n):exp()
    local rows = peri.param(peri.rng(3):normal(n):reshape(math.floor(n / 4), 4))
    local trace = peri.trace(function ()
      return peri.kl_divergence(peri.Normal(w, x), peri.Normal(0, 2)):sum() + rows:logsumexp(2):sum()
             + peri.kl_divergence(peri.Dirichlet(rows:exp()), peri.Dirichlet { 1, 2, 3, 4 }):sum()
    end)
    local value = trace:backward()
    local one, other = w.grad:clone(), rows.grad:clone()
    for _, threads in ipairs { 2, 3 } do
      peri.set_threads(threads)
      w.grad, rows.grad = nil, nil
      assert.equal(value, trace:backward())
      assert.equal(0, peri.item(w.grad:ne(one):sum()))
      assert.equal(0, peri.item(rows.grad:ne(other):sum()))
    end
    peri.set_threads(1)
  end)

  it("passes gradients on to one parameter alone, where that is asked for", function ()
    local core, rng = require "perilune.core", peri.rng(3)
    for _, n in ipairs { 1, 7, 5000 } do
      local w, x = peri.param(rng:normal(4)), peri.param(rng:normal(n, 4))
      local y, c = peri.param(rng:normal(n)), peri.param(rng:normal(n))
      local function loss ()
        local shifted = (x * 2 + c:reshape(n, 1)):matmul(w) + c:exp()
        local _, total = peri.scan(function (state, row) return state * 0.5 + row * w[1], state end, 0, c)
        return peri.Normal(shifted, 1 + w[2] * w[2]):log_prob(y):sum() + (w * x):sum() + total:sum()
               + peri.stack({ w[1], c[1] }):sum() + (x * y:reshape(n, 1)):sum()
      end
      local all, alone = core.trace(loss), core.trace(loss, w)
      local rows = rng:normal(3, 4)
      local values, gradients = peri.zeros(3), peri.zeros(3, 4)
      local own_values, own_gradients = peri.zeros(3), peri.zeros(3, 4)
      for _ = 1, 2 do
        all:rows(w, rows, values, gradients)
        alone:rows(w, rows, own_values, own_gradients)
        assert.is_true(own_values:equal(values))
        assert.is_true(own_gradients:equal(gradients))
        x:copy(rng:normal(n, 4))   -- which is still part of the trace
        y:copy(rng:normal(n))
      end
      w.grad, x.grad, y.grad, c.grad = nil, nil, nil, nil
      assert.equal(all:value(), alone:backward())
      assert.is_nil(x.grad)
      assert.is_true(w.grad:abs():max() > 0)
    end
    local w = peri.param(1)
    assert.has_error(function () core.trace(function () return w * w end, w * 2) end)
    assert.has_error(function () peri.trace(function () return w * w end, w) end)
  end)

  it("passes nothing on through what is flat, where one parameter is asked for", function ()
    local core = require "perilune.core"
    local held = core.bind("ends", "held", "held", { "x" }, { "x" })
    local w = peri.param { 1, 2, 3 }
    local function loss () return (w * held(w):log()):sum() end
    local trace = core.trace(loss, w)
    w:copy { 2, 3, 4 }
    assert.equal(peri.item(loss()), trace:backward())
    assert.is_true(w.grad:equal(w:detach():log()))
  end)

  it("goes back from what it computed, with what was written since", function ()
    local w, force, rng = peri.param { 1, 2 }, peri.param { 1, 1 }, peri.rng(1)
    local draw
    local trace = peri.trace(function ()
      draw = w * peri.Normal(0, 1):rsample(2, rng)
      return (draw * force):sum()
    end)
    trace:value()
    local position, noise = rng:state(), draw:detach() / w:detach()
    force:copy { 3, -5 }
    trace:pass_back()
    assert.equal(position, rng:state())
    assert.is_true(w.grad:equal(noise * force:detach()))
    trace:pass_back()
    assert.is_true(w.grad:equal(2 * noise * force:detach()))
    assert.matches("trace", message(trace.pass_back))
  end)

  it("takes no arguments", function ()
    local w = peri.param(3)
    local trace = peri.trace(function () return w * w end)
    for _, name in ipairs { "value", "backward", "pass_back" } do
      assert.error_matches(function () trace[name](trace, 1, 2) end,
                           "trace:" .. name .. ": takes at most 0 arguments, got 2$")
    end
    assert.error_matches(function () trace("x") end, "trace:value: takes at most 0 arguments, got 1$")
    assert.is_nil(w.grad)
    assert.equal(9, trace(nil))
  end)

  it("prints", function ()
    local w = peri.param { 1, 2 }
    assert.equal("trace(2 operations, 1 parameters)", tostring(peri.trace(function () return w:exp():max() end)))
  end)

  it("allocates nothing once it ran", function ()
    local w, rng = peri.param(peri.rng(1):normal(100)), peri.rng(3)
    local trace = peri.trace(function () return (peri.Normal(w, 1):rsample(nil, rng) * w):sum() end)
    for _ = 1, 10 do trace:backward() end
    collectgarbage()
    collectgarbage("stop")
    local before = collectgarbage("count")
    for _ = 1, 1000 do trace:backward() end
    local after = collectgarbage("count")
    collectgarbage("restart")
    assert(after - before < 1, after - before)
  end)
end)

describe("draws in a trace", function ()
  -- The replays of loss(rng) draw as the function itself does.
  local function draws_agree (loss, params)
    local rng = peri.rng(7)
    local trace = peri.trace(function () return loss(rng) end)
    for _ = 1, 3 do
      local state = rng:state()
      local value, grads = anew(function () return loss(rng) end, params)
      local after = rng:state()
      rng:restore(state)
      close(value, trace:backward())
      assert.equal(after, rng:state())
      for _, w in ipairs(params) do w.grad = nil end
      rng:restore(state)
      close(value, trace:value())
      close(value, trace:pass_back())
      assert.equal(after, rng:state())
      for i, w in ipairs(params) do
        assert.equal(0, peri.sum(peri.gt(peri.abs(w.grad - grads[i]), 1e-13 * peri.abs(grads[i]))), "parameter " .. i)
      end
    end
  end

  local w = peri.param { 0.5, 1, 2 }
  local cases = {
    ["are those of their noise"]       = function (g) return peri.Normal(w, w:exp()):rsample(nil, g):square():sum() end,
    ["may be many"]                    = function (g) return peri.Normal(w, 1):rsample(500, g):square():mean() end,
    ["may draw themselves"]            = function (g) return peri.Gamma(w:exp(), 2):rsample({ 2 }, g):log():sum() end,
    ["may be rows made of noise"]      = function (g)
      return peri.MultivariateNormal { loc = w, scale_tril = peri.eye(3) * 2 }:rsample(4, g):square():sum()
    end,
    ["may be rows that draw themselves"] = function (g)
      return peri.Dirichlet(w:exp()):rsample({ 2, 3 }, g):log():sum()
    end,
    ["may depend on no parameter"]     = function (g)
      return (w * peri.Normal(0, 1):rsample(3, g) + peri.Uniform(0, 1):rsample(nil, g)):square():sum()
    end,
  }
  for name, loss in pairs(cases) do
    it(name, function () draws_agree(loss, { w }) end)
  end

  it("come from the state's own generator, if no other is given", function ()
    peri.seed(3)
    local trace = peri.trace(function () return (w * peri.Normal(0, 1):rsample(3)):sum() end)
    peri.seed(5)
    local first = trace()
    local second = trace()
    peri.seed(5)
    assert.equal(first, trace())
    assert.not_equal(first, second)
  end)

  it("are not replayed by another trace, whose generator may be gone", function ()
    local u
    pcall(peri.trace, function ()
      u = peri.Normal(w, 1):rsample(nil, peri.rng(1))
      error "too late"
    end)
    collectgarbage()
    assert.truthy(message(peri.trace, function () return u:sum() end):find("before it was called", 1, true))
  end)

  it("keep their generator alive", function ()
    local trace = peri.trace(function () return (w * peri.Normal(0, 1):rsample(3, peri.rng(9))):sum() end)
    collectgarbage()
    collectgarbage()
    local rng, sum = peri.rng(9), nil
    for _ = 1, 2 do sum = peri.item((w:detach() * peri.Normal(0, 1):sample(3, rng)):sum()) end
    close(sum, trace())
  end)
end)

describe("trace refuses", function ()
  local w = peri.param { 1, 2 }
  local cases = {
    { "numbers read from tensors", function () return w:sum() * peri.item(w:max()) end,
      "Tensor:item: not within trace: this depends on parameters or draws, but would stay as it is now in every "
      .. "replay" },
    { "tables made of tensors", function () return w:sum() * w:totable()[1] end, "Tensor:totable: not within trace" },
    { "copies of tensors", function () return (w * peri.tensor(w * 2)):sum() end, "tensor: not within trace" },
    { "detached tensors", function () return (w * w:detach()):sum() end, "Tensor:detach: not within trace" },
    { "no_grad", function () return (w * peri.no_grad(function () return w + 1 end)):sum() end,
      "no_grad: not within trace" },
    { "draws without gradient", function () return (w * peri.Poisson(3):sample(2)):sum() end, "not within trace" },
    { "noise", function () return (w * peri.rng(1):normal(2)):sum() end, "rng:normal: not within trace" },
    { "functions of Lua", function ()
        local double = peri.func { forward = function (x) return x * 2 end, backward = function (g) return g * 2 end }
        return double(w):sum()
      end, "not within trace" },
    { "traces in traces", function () return peri.trace(function () return w:sum() end) end,
      "trace: not within another trace" },
    { "numbers", function () return 1 end, "does not depend on any parameter" },
    { "several numbers", function () return w * 2 end, "only a single number can be differentiated" },
    { "constants", function () return peri.tensor { 1 }:sum() end, "does not depend on any parameter" },
    { "parameters that it changes", function ()
        local y = (w * w):sum()
        w:copy { 1, 2 }
        return y
      end, "a tensor was changed" },
    { "what was differentiated", function ()
        local y = (w * w):sum()
        y:backward()
        return y
      end, "this was differentiated already" },
    { "errors", function () error("mine", 0) end, "mine" },
  }
  for _, case in ipairs(cases) do
    it(case[1], function ()
      local text = message(peri.trace, case[2])
      assert(text:find(case[3], 1, true), text)
      w.grad = nil
      assert.equal(3, peri.trace(function () return w:sum() end)())   -- and nothing is left of it
    end)
  end

  it("what was recorded before", function ()
    local u = peri.Gamma(w, 1):rsample()
    assert.equal("trace: the function uses what was computed from parameters before it was called; only what it does "
                 .. "itself is replayed", message(peri.trace, function () return u:log():sum() end))
  end)

  it("what is no function", function ()
    assert.equal("trace: fn must be a function, got 3", message(peri.trace, 3))
    assert.equal("trace:backward: self must be a trace (peri.trace), got an empty table",
                 message(getmetatable and peri.trace(function () return w:sum() end).backward, {}))
  end)
end)

describe("what a trace has made", function ()
  it("can be looked at, and cannot be differentiated once it was replayed", function ()
    local w, kept = peri.param { 1, 2 }, nil
    local trace = peri.trace(function ()
      kept = w * w
      return kept:max()
    end)
    w:copy { 3, 4 }
    trace()
    assert.same({ 9, 16 }, kept:totable())
    local y = (kept * 2):sum()
    assert.truthy(message(y.backward, y):find("a tensor was changed", 1, true))
  end)

  it("does not change what waits for it", function ()
    local w, kept = peri.param(peri.ones(5000)), nil
    local trace = peri.trace(function ()
      kept = w * 3
      return kept:square():sum() + kept:max()
    end)
    local y = (kept * 2):sum()   -- waits
    w:copy(2)
    trace()
    assert.equal(30000, peri.item(y))
  end)

  it("goes with it", function ()
    local probe = setmetatable({}, { __mode = "v" })
    do
      local w = peri.param { 1, 2 }
      probe[1] = peri.trace(function () return (w * w):sum() end)
      probe[1]:backward()
    end
    collectgarbage()
    collectgarbage()
    assert.is_nil(probe[1])
  end)
end)

describe("a trace during a backward pass", function ()
  it("may be replayed by a function's backward", function ()
    local w = peri.param { 1, 2 }
    local trace = peri.trace(function () return (w * w):sum() end)
    local f = peri.func {
      forward = function (x) return x * 3 end,
      backward = function (g)
        trace:backward()
        return g * 3
      end,
    }
    local y = (f(w) * w):sum()   -- 3 w^2
    y:backward()
    assert.same({ 6 + 2, 12 + 4 }, w.grad:totable())
  end)

  it("may be made by a function's backward", function ()
    local w, inner = peri.param { 1, 2 }, nil
    local f = peri.func {
      forward = function (x) return x * 3 end,
      backward = function (g)
        inner = inner or require "perilune.core".with_grad(peri.trace, function () return (w * w):sum() end)
        return g * 3
      end,
    }
    local y = (f(w) * w):sum()
    y:backward()
    assert.same({ 6, 12 }, w.grad:totable())
    assert.equal(5, inner())
  end)

  it("is not disturbed by finalizers that take grads away", function ()
    local a, b = peri.param(peri.ones(3000)), peri.param(peri.full(3000, 2))
    local trace = peri.trace(function () return (a * b):sum() end)
    local acted = 0
    for round = 1, 6 do
      trace:backward()
      local waits, _ = a.grad * b, b.grad    -- in hand; what waits gets a copy of a.grad before that changes
      local left = round
      local function act ()
        left = left - 1
        if left > 0 then finalized({}, act) return end
        acted = acted + (left == 0 and b.grad and 1 or 0)
        b.grad = nil
      end
      collectgarbage("incremental", 1, 100, 30)
      collectgarbage()
      act()
      assert.equal(6000, trace:backward())
      collectgarbage("incremental", 200, 100, 13)
      left = 0
      assert.equal(4, a.grad[3000])
      assert.equal(4, peri.item(waits[3000]))
      a.grad, b.grad = nil, nil
    end
    assert(acted > 0)
  end)
end)
