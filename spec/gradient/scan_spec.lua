-- peri.scan: a recurrence is what a loop over recorded operations is, in value to the last bit and in gradient to
-- rounding, recorded once or replayed; and what cannot be a step is refused.
local peri = require "perilune"

local function message (fn, ...)
  local ok, text = pcall(fn, ...)
  assert.is_false(ok, "an error was expected")
  return (tostring(text):gsub("^[^:]+:%d+: ", ""))
end

local function numbers (t)
  if type(t) ~= "number" then t = t:detach() end
  return type(t) == "number" and { t } or t:reshape(-1):totable()
end

local function same (expected, got, what)
  expected, got = numbers(expected), numbers(got)
  assert.equal(#expected, #got, what)
  for i = 1, #expected do
    assert(expected[i] == got[i], string.format("%s, element %d: %.17g and %.17g", what, i, expected[i], got[i]))
  end
end

local function near (expected, got, tolerance, what)
  expected, got = numbers(expected), numbers(got)
  assert.equal(#expected, #got, what)
  local size = 1e-300
  for i = 1, #expected do size = math.max(size, math.abs(expected[i])) end
  for i = 1, #expected do
    assert(math.abs(expected[i] - got[i]) <= tolerance * size,
           string.format("%s, element %d: %.17g and %.17g", what, i, expected[i], got[i]))
  end
end

-- What peri.scan promises, as a loop.
local function unrolled (f, state, rows)
  local outputs = {}
  for t = 1, #rows do
    local output
    state, output = f(state, rows[t])
    outputs[t] = output == nil and state or output
  end
  return outputs, state
end

-- The gradients of loss() with respect to the parameters.
local function gradients (params, run)
  for _, w in ipairs(params) do w.grad = nil end
  local value = run()
  local grads = {}
  for i, w in ipairs(params) do grads[i] = w.grad end
  return value, grads
end

-- The slope of loss() in element k of a parameter, by central differences.
local function slope (loss, w, k)
  local x = peri.tensor(numbers(w))
  local at = x[k]
  local h = 1e-5 * math.max(1, math.abs(at))
  local function loss_at (value)
    x[k] = value
    w:copy(x:reshape(w.shape))
    return peri.item(loss())
  end
  local difference = loss_at(at + h) - loss_at(at - h)
  loss_at(at)
  return difference / (2 * h)
end

-- Both losses are the same; so are their gradients, and those of replays.
local function agrees (params, scanned, looped)
  local expected, grads = gradients(params, function ()
    local value = looped()
    value:backward()
    return value:item()
  end)
  local value, scan_grads = gradients(params, function ()
    local value = scanned()
    value:backward()
    return value:item()
  end)
  same(expected, value, "value")
  for i = 1, #params do near(grads[i], scan_grads[i], 1e-13, "gradient " .. i) end
  for i, w in ipairs(params) do
    local last = #numbers(w)
    for k = 1, last, math.max(1, last - 1) do
      near(slope(scanned, w, k), numbers(scan_grads[i])[k], 1e-5, "slope " .. i .. ", " .. k)
    end
  end
  local trace = peri.trace(scanned)
  for step = 0, 2 do
    for _, w in ipairs(params) do w:copy(w:detach() * (1 + 0.001 * step)) end
    local once, expected_grads = gradients(params, function ()
      local loss = looped()
      loss:backward()
      return loss:item()
    end)
    same(once, trace:value(), "replay")
    local replayed, trace_grads = gradients(params, function () return trace:backward() end)
    same(once, replayed, "replay with gradient")
    for i = 1, #params do near(expected_grads[i], trace_grads[i], 1e-13, "gradient of a replay, " .. i) end
  end
end

local function normals (n, seed) return peri.rng(seed or 1):normal(n) end

describe("scan", function ()
  it("gives all states and the last one", function ()
    local sums, last = peri.scan(function (s, x) return s + x end, 0, { 1, 2, 4 })
    same(peri.tensor { 1, 3, 7 }, sums, "states")
    assert.equal(7, last)
    assert.equal("float", math.type(last))
  end)

  it("gives outputs in their place", function ()
    local outputs, last = peri.scan(function (s, x) return s + x, { before = s, twice = 2 * x } end, 0, { 1, 2, 4 })
    same(peri.tensor { 0, 1, 3 }, outputs.before, "states before")
    same(peri.tensor { 2, 4, 8 }, outputs.twice, "rows")
    assert.equal(7, last)
  end)

  it("counts steps where there is no input", function ()
    local factorials = peri.scan(function (s, t) return s * t end, 1, 6)
    same(peri.tensor { 1, 2, 6, 24, 120, 720 }, factorials, "factorials")
  end)

  it("keeps the form of states, inputs and outputs", function ()
    local states, last = peri.scan(function (s, x)
      return { { s[2].b * x.u, s[1][1] }, { b = s[2].b + x.v[1] } }
    end, { { 1, peri.tensor(2) }, { b = 3 } }, { u = { 1, 2 }, v = { { 1, 9 }, { 2, 9 } } })
    same(peri.tensor { 3, 8 }, states[1][1], "states[1][1]")
    same(peri.tensor { 1, 3 }, states[1][2], "states[1][2]")
    same(peri.tensor { 4, 6 }, states[2].b, "states[2].b")
    assert.equal(8, last[1][1])
    assert.equal(3, last[1][2])
    assert.equal(6, last[2].b)
  end)

  it("has vectors and matrices for states, rows wherever they lie", function ()
    local x = peri.tensor { { 1, 3, 5 }, { 2, 4, 6 } }
    local f = function (s, row) return s * 0.5 + row end
    local states, last = peri.scan(f, { 1, 1 }, x:transpose())
    same(peri.tensor { { 1.5, 2.5 }, { 3.75, 5.25 }, { 6.875, 8.625 } }, states, "states")
    same(peri.tensor { 6.875, 8.625 }, last, "last")
    local ones = peri.tensor { 1 }:expand { 2, 2, 3 }
    local m = peri.scan(function (s, row) return s + row end, x, ones)
    same(peri.stack { x + 1, x + 2 }, m, "from a matrix, with rows that repeat one element")
    local turned = peri.scan(function (s) return s:transpose() * 2 end, { { 1, 2 }, { 3, 4 } }, 3)
    same(peri.tensor { { { 2, 6 }, { 4, 8 } }, { { 4, 8 }, { 12, 16 } }, { { 8, 24 }, { 16, 32 } } }, turned,
         "transposed in every step")
  end)

  it("leaves what it was given, and what is not used", function ()
    local states, last = peri.scan(function (s, _) return { a = 5, b = s.b, c = peri.tensor { 1, 2 } } end,
                                   { a = 1, b = 2, c = { 0, 0 } }, { 7, 8 })
    same(peri.tensor { 5, 5 }, states.a, "a constant")
    same(peri.tensor { 2, 2 }, states.b, "the state itself")
    same(peri.tensor { { 1, 2 }, { 1, 2 } }, states.c, "a tensor from outside")
    assert.equal(5, last.a)
  end)

  it("calls f once, whatever is recorded", function ()
    local calls = 0
    local w = peri.param(2)
    local f = function (s, x)
      calls = calls + 1
      return w * s + x
    end
    peri.scan(f, 1, { 1, 2, 3 })
    assert.equal(1, calls)
    same(peri.no_grad(peri.scan, f, 1, { 1, 2, 3 }), peri.scan(f, 1, { 1, 2, 3 }), "without gradient")
    local cubic = peri.grad(function (v)
      local _, last = peri.scan(function (s, x) return v * s + x end, 1, { 1, 2, 3 })
      return last
    end)
    assert.equal(18, cubic(2))
  end)
end)

describe("the gradient of a scan", function ()
  it("of garch(1, 1)", function ()
    local y = normals(60) * 2 + 5
    local mu, a0, a1, b1 = peri.param(4.8), peri.param(0.6), peri.param(0.3), peri.param(0.4)
    local first = peri.param(1.5)
    local f = function (s2, x) return a0 + a1 * (x - mu) ^ 2 + b1 * s2 end
    local function loss (s2) return peri.Normal(mu, s2:sqrt()):log_prob(y:narrow(1, 2, 59)):sum() end
    agrees({ mu, a0, a1, b1, first },
           function () return loss((peri.scan(f, first, y:narrow(1, 1, 59)))) end,
           function () return loss(peri.stack((unrolled(f, first, y:narrow(1, 1, 59))))) end)
  end)

  it("of an autoregression of order 2, through the states and the last one", function ()
    local x, a, b = peri.param(normals(40)), peri.param(0.6), peri.param(-0.3)
    local init = peri.param { 0.5, 1.5 }
    local f = function (s, e) return { now = a * s.now + b * s.before + e, before = s.now } end
    local function loss (now, last) return now:square():sum() + 3 * last.now * last.before end
    agrees({ x, a, b, init },
           function ()
             local states, last = peri.scan(f, { now = init[1], before = init[2] }, x)
             return loss(states.now, last)
           end,
           function ()
             local states, last = unrolled(f, { now = init[1], before = init[2] }, x)
             for t = 1, #states do states[t] = states[t].now end
             return loss(peri.stack(states), last)
           end)
  end)

  it("of the forward algorithm, on a vector of states", function ()
    local y = normals(30) * 3
    local logits, mu = peri.param { { 1, -0.5, 0 }, { 0.2, 0.9, -1 }, { 0, 0, 0.5 } }, peri.param { -2, 0, 2.5 }
    local f = function (alpha, x)
      return (alpha:reshape(3, 1) + logits:log_softmax(2)):logsumexp(1) + peri.Normal(mu, 1):log_prob(x)
    end
    agrees({ logits, mu },
           function () return (select(2, peri.scan(f, { 0, -1, -2 }, y))):logsumexp() end,
           function () return (select(2, unrolled(f, peri.tensor { 0, -1, -2 }, y))):logsumexp() end)
  end)

  it("of Runge and Kutta's steps through Lotka and Volterra's equations", function ()
    local a, b, c, d = peri.param(1.1), peri.param(0.4), peri.param(0.4), peri.param(0.1)
    local u0, v0, h = peri.param(9.5), peri.param(4.5), 0.05
    local function slopes (u, v) return a * u - b * u * v, -c * v + d * u * v end
    local f = function (s)
      local u1, v1 = slopes(s.u, s.v)
      local u2, v2 = slopes(s.u + h / 2 * u1, s.v + h / 2 * v1)
      local u3, v3 = slopes(s.u + h / 2 * u2, s.v + h / 2 * v2)
      local u4, v4 = slopes(s.u + h * u3, s.v + h * v3)
      return { u = s.u + h / 6 * (u1 + 2 * u2 + 2 * u3 + u4), v = s.v + h / 6 * (v1 + 2 * v2 + 2 * v3 + v4) }
    end
    agrees({ a, b, c, d, u0, v0 },
           function ()
             local s, last = peri.scan(f, { u = u0, v = v0 }, 100)
             return (s.u * s.v):sum() + last.u
           end,
           function ()
             local s, last = unrolled(f, { u = u0, v = v0 }, peri.arange(1, 101))
             local u, v = {}, {}
             for t = 1, 100 do u[t], v[t] = s[t].u, s[t].v end
             return (peri.stack(u) * peri.stack(v)):sum() + last.u
           end)
  end)

  it("of all kinds of operations on single numbers", function ()
    local w, v = peri.param { 0.7, 1.3 }, peri.param(0.4)
    local f = function (s, x)
      local a = (-s / (1 + x ^ 2) + w[1] * x):abs() + 0.1
      local b = peri.maximum(a, w[2]) + peri.minimum(a, 0.5) + a ^ v + a ^ 0.5 + peri.exp(-a) + a:log() + a:sqrt()
      return peri.where(b:gt(2.5), b * 0.3, b * 0.2) + peri.square(v) * b:floor() * 0.01, b - s
    end
    local x = normals(25)
    agrees({ w, v },
           function () return (peri.scan(f, v, x)):square():sum() end,
           function () return peri.stack((unrolled(f, v, x))):square():sum() end)
  end)

  it("of rows, views, joins, products and reductions in a step", function ()
    local m, x, init = peri.param { { 0.5, 0.2 }, { -0.3, 0.4 } }, peri.param(normals(40):reshape(20, 2)),
                       peri.param { 1, 2 }
    local f = function (s, row)
      local next_state = m:matmul(s) + peri.stack { row[2], row[1] * s[1] } * m:transpose()[1]
      return next_state, next_state:sum() * s:max() + next_state:mean()
    end
    agrees({ m, x, init },
           function ()
             local outputs, last = peri.scan(f, init, x)
             return outputs:sum() + last:prod()
           end,
           function ()
             local outputs, last = unrolled(f, init, x)
             return peri.stack(outputs):sum() + last:prod()
           end)
    agrees({ x, init }, function () return (peri.scan(f, init, x:transpose():transpose())):sum() end,
           function () return peri.stack((unrolled(f, init, x))):sum() end)
  end)

  it("of inputs that lie across memory, or are one element repeated", function ()
    local x, r = peri.param(normals(12):reshape(2, 6)), peri.param { 0.3 }
    local f = function (s, row) return s * 0.5 + row.x * row.r end
    agrees({ x, r },
           function () return (peri.scan(f, { 0, 1 }, { x = x:transpose(), r = r:expand { 6, 2 } })):square():sum() end,
           function ()
             local rows = {}
             for t = 1, 6 do rows[t] = { x = x:transpose()[t], r = r:expand { 6, 2 }[t] } end
             return peri.stack((unrolled(f, peri.tensor { 0, 1 }, rows))):square():sum()
           end)
  end)

  it("of what is the same in all steps", function ()
    local w, v, rows = peri.param { 0.2, 0.4 }, peri.param(0.1), normals(9)
    local f = function (s, x) return s * peri.exp(w):sum():log() * 0.5 + x * v:exp(), w * v end
    agrees({ w, v },
           function ()
             local outputs, last = peri.scan(f, 1, rows)
             return outputs:sum() + last
           end,
           function ()
             local outputs, last = unrolled(f, 1, rows)
             return peri.stack(outputs):sum() + last
           end)
  end)

  it("of a scan within a scan", function ()
    local w, x = peri.param(0.7), peri.param(normals(12):reshape(4, 3))
    local inner = function (s, e) return w * s + e end
    agrees({ w, x },
           function ()
             return (peri.scan(function (s, row) return s * 0.5 + (peri.scan(inner, s, row)):sum() end, 0.3, x))
                    :square():sum()
           end,
           function ()
             return peri.stack((unrolled(function (s, row)
               return s * 0.5 + peri.stack((unrolled(inner, s, row))):sum()
             end, 0.3, x))):square():sum()
           end)
  end)

  it("is nothing where nothing comes from above", function ()
    local w = peri.param(0)
    local f = function (s, x) return s + x, peri.where(w:gt(0), w:log(), w) end
    local _, last = peri.scan(f, w, { 1, 2 })
    last:backward()
    assert.equal(1, w.grad)
    w.grad = nil
    local outputs = peri.scan(f, 0, { 1, 2 })
    outputs:sum():backward()
    assert.equal(2, w.grad)
  end)

  it("of large states, on several threads", function ()
    local w = peri.param(normals(20000) * 0.1)
    local f = function (s, x) return s * w:exp() * 0.5 + x end
    local function loss (states) return states:square():sum() end
    local function run ()
      w.grad = nil
      local value = loss((peri.scan(f, peri.zeros(20000), { 1, 2, 3 })))
      value:backward()
      return value:item(), w.grad
    end
    local value, grad = run()
    local expected, expected_grad = gradients({ w }, function ()
      local v = loss(peri.stack((unrolled(f, peri.zeros(20000), { 1, 2, 3 }))))
      v:backward()
      return v:item()
    end)
    near(expected, value, 1e-14, "value")
    near(expected_grad[1], grad, 1e-13, "gradient")
    peri.set_threads(3)
    local threaded, threaded_grad = run()
    peri.set_threads(1)
    same(value, threaded, "value")
    same(grad, threaded_grad, "gradient")
  end)

  it("reads data as they are in a replay", function ()
    local w, x = peri.param(0.5), peri.tensor { 1, 2, 3 }
    local trace = peri.trace(function () return (select(2, peri.scan(function (s, e) return w * s + e end, 0, x))) end)
    assert.equal(4.25, trace:value())
    x:copy { 4, 5, 6 }
    assert.equal(9.5, trace:backward())
  end)

  it("allocates nothing in a replay", function ()
    local w, x = peri.param(0.5), normals(50)
    local m = peri.param { { 0.5, 0.1 }, { 0.2, 0.3 } }
    local trace = peri.trace(function ()
      return (peri.scan(function (s, e) return w * s:exp() + e end, w, x)):sum()
             + (peri.scan(function (s, e) return m:matmul(s) + e end, { 1, 2 }, x)):sum()
    end)
    trace:backward()
    collectgarbage()
    collectgarbage "stop"
    local before = collectgarbage "count"
    for _ = 1, 100 do trace:backward() end
    local after = collectgarbage "count"
    collectgarbage "restart"
    assert.equal(before, after)
  end)

  it("needs memory for the states alone", function ()
    collectgarbage()
    local w, n = peri.param(0.99), 1000000
    local before = collectgarbage "count"
    local states, last = peri.scan(function (s, t)
      return peri.exp(peri.log(w * s + 1e-9 * t) * 0.5) * 0.5 + peri.sqrt(s) * 0.1
    end, 1, n)
    assert.is_true(collectgarbage "count" - before < 3 * 8 * n / 1024)
    last:backward()
    assert.equal(n, #states)
    assert.is_true(w.grad > 0)
    w.grad = nil
  end)
end)

describe("scan refuses", function ()
  local one = function (s) return s end
  local w = peri.param(1)
  local once = "not within scan: f is called once, and this would stay as it is now in every step; peri.where chooses "
               .. "between values, and what differs from step to step is to come from xs"

  for name, case in pairs {
    ["what is no function"] = { "scan: f must be a function, got 3", 3, 0, 3 },
    ["no state"] = { "scan: init must be a number, a tensor or a table of them, got nil", one, nil, 3 },
    ["a state that is no number"] = {
      'scan: init.b must be a number, a tensor or a table of them, got the string "q"', one, { a = 0, b = "q" }, 3 },
    ["no inputs"] = { "scan: xs must be a number, a tensor or a table of them, got nil", one, 0 },
    ["no steps"] = { "scan: xs must be tensors, or a number of steps from 1 on, got 0", one, 0, 0 },
    ["half a step"] = { "scan: xs must be tensors, or a number of steps from 1 on, got 1.5", one, 0, 1.5 },
    ["no rows"] = { "scan: xs must have at least one row", one, 0, {} },
    ["a row that is a number"] = { "scan: xs.a must have rows, got the number 3", one, 0, { a = 3 } },
    ["one more argument"] = { "scan(f, init, xs) takes no more arguments, got 4", one, 0, 3, 4 },
    ["nothing returned"] = { "scan: f must return the new state, got nil", function () end, 0, 3 },
    ["three values"] = { "scan: f must return a state, and at most one output, got 3 values",
                         function (s) return s, 1, 2 end, 0, 3 },
    ["a state of another shape"] = { "scan: state.a must keep its shape (), f returned (2)",
                                     function () return { a = { 1, 2 } } end, { a = 0 }, 3 },
    ["a state that is gone"] = { "scan: state.b is not in what f returned", function () return { a = 1 } end,
                                 { a = 0, b = 1 }, 3 },
    ["a state that was not there"] = { "scan: f returned state.c, which the state has not",
                                       function () return { a = 1, c = 1 } end, { a = 0 }, 3 },
    ["a list for a tensor"] = { "scan: state must be a number or a tensor, f returned a table of 2 elements; "
                                .. "peri.stack makes a tensor of a list",
                                function (s) return { s[2], s[1] } end, { 0, 0 }, 3 },
    ["an output that is no number"] = { "scan: output must be a number, a tensor or a table of them, got true",
                                        function (s) return s, true end, 0, 3 },
    ["values read"] = { "Tensor:item: " .. once, function (s) return peri.item(s) end, 0, 3 },
    ["branches on values"] = { "Tensor:item: " .. once, function (s) return s > 0 and s or -s end, 0, 3 },
    ["detached values"] = { "Tensor:detach: " .. once, function (s) return s:detach() end, 0, 3 },
    ["what is not recorded"] = { "no_grad: " .. once, function (s) return peri.no_grad(one, s) end, 0, 3 },
    ["draws"] = { "scan: f must not draw, because it is called once; draw the noise of all steps before, and pass it "
                  .. "as one of xs", function (s) return s + peri.Normal(0, 1):rsample() end, 0, 3 },
    ["draws without gradient"] = { "Poisson:sample: " .. once,
                                   function (s) return s + peri.Poisson(3):sample() end, 0, 3 },
    ["noise"] = { "rng:normal: " .. once, function (s) return s + peri.rng(1):normal() end, 0, 3 },
    ["functions with a gradient of their own"] = {
      "no_grad: " .. once,
      function (s) return peri.func { forward = function (x) return x end, backward = one } (s) end, w, 3 },
    ["more than fits"] = { "not enough memory", one, 0, 0x4000000000000 },
    ["what f raises"] = { "mine", function () error "mine" end, 0, 3 },
  } do
    it(name, function () assert.equal(case[1], message(peri.scan, table.unpack(case, 2, 5))) end)
  end

  it("rows of unequal number", function ()
    assert.equal("scan: xs[1] has 2 rows, but xs[2] has 3",
                 message(peri.scan, one, 0, { peri.zeros(2), peri.zeros(3) }))
  end)

  it("tables that contain themselves", function ()
    local t = { a = 1 }
    t.t = t
    assert.equal("scan: init.t must not contain itself", message(peri.scan, one, t, 3))
    local list = { 1 }
    list[2] = list
    assert.equal("scan: init[2] must not contain itself", message(peri.scan, one, list, 3))
  end)

  it("what was changed before it is differentiated", function ()
    local x = peri.tensor { 1, 2 }
    local states = peri.scan(function (s, e) return w * s + e end, 0, x)
    x[1] = 5
    assert.matches("a tensor was changed after it was used", message(states:sum().backward, states:sum()))
  end)

  it("what f left elsewhere", function ()
    local left
    local states = peri.scan(function (s, e)
      left = w * s
      return left + e
    end, 0, { 1, 2 })
    assert.matches("a tensor was changed after it was used", message(left.backward, left))
    states:sum():backward()
    assert.equal(1, w.grad)
    w.grad = nil
  end)

  it("a trace in a step", function ()
    assert.equal("trace: not within another trace",
                 message(peri.scan, function (s) return s + peri.trace(function () return s * 1 end)() end, 0, 3))
  end)
end)
