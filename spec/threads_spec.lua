--- Threads: any number of them, the same bits.
local peri  = require "perilune"
local core  = require "perilune.core"
local model = require "spec.support.reference_tensor"
local finalized = require "spec.support.finalized"

local function message (fn, ...)
  local ok, text = pcall(fn, ...)
  assert.is_false(ok, "an error was expected")
  return (tostring(text):gsub("^[^:]+:%d+: ", ""))
end

-- The smallest loops that are shared out have 2 * 16384 elements, and rows
-- are shared out by their work: sizes on both sides of such thresholds.
local sizes = { 16383, 16384, 32767, 32768, 32769, 49153, 65536, 100003 }


describe("with two, three and five threads", function ()
  after_each(function () peri.set_threads(1) end)

  local function data (n) return peri.rng(n):normal(n) end

  local work = {
    log_prob      = function (n) return peri.Normal(data(n), 2):log_prob(data(n):cumsum()) end,
    kl_divergence = function (n)
      return peri.kl_divergence(peri.Normal(data(n), data(n):exp()), peri.Normal(1, 2))
    end,
    sample        = function (n) return peri.Normal(data(n), 3):sample(nil, peri.rng(1)) end,
    ["sample of a broadcast"] = function (n) return peri.Normal({ 1, 2, 3 }, 3):sample(n, peri.rng(1)) end,
    exp           = function (n) return data(n):exp() end,
    ["a strided sum of two"] = function (n)
      return data(2 * n):reshape(n, 2):transpose() + data(2 * n):reshape(2, n)
    end,
    sum           = function (n) return data(n):sum() end,
    var           = function (n) return data(n):var() end,
    argmax        = function (n) return data(n):argmax() end,
    logsumexp     = function (n) return data(n):logsumexp() end,
    ["logsumexp of short lines"] = function (n) return data(3 * n):reshape(n, 3):logsumexp(2) end,
    ["sum of short lines"] = function (n) return data(3 * n):reshape(n, 3):sum(2) end,
    ["sum of long lines"]  = function (n) return data(3 * n):reshape(3, n):sum(2) end,
    ["sum of columns"]     = function (n) return data(3 * n):reshape(n, 3):sum(1) end,
    softmax       = function (n) return data(4 * n):reshape(n, 4):softmax() end,
    ["softmax of long rows"] = function (n) return data(3 * n):reshape(3, n):softmax() end,
    cumsum        = function (n) return data(2 * n):reshape(n, 2):cumsum(1) end,
    cumprod       = function (n) return data(2 * n):reshape(n, 2):cumprod(2) end,
    sort          = function (n) return (data(3 * n):reshape(3, n):sort()) end,
    ["sort of short rows"] = function (n) return data(3 * n):reshape(n, 3):argsort() end,
    quantile      = function (n) return data(4 * n):reshape(n, 4):quantile({ 0.2, 0.9 }, 2) end,
    logdet        = function (n) return (data(9 * n):reshape(n, 3, 3):tril() ^ 2 + peri.eye(3)):logdet() end,
    solve_triangular = function (n)
      return (data(4 * n):reshape(n, 2, 2) ^ 2 + 1):solve_triangular(data(2 * n):reshape(n, 2, 1))
    end,
    one_hot       = function (n) return (data(n):gt(0) + 1):one_hot(2) end,
    matmul        = function (n) return data(4 * n):reshape(n, 2, 2):matmul { { 1, 2 }, { 3, 4 } } end,
    ["matmul of large matrices"] = function (n)
      local m = math.floor(math.sqrt(n))
      return data(2 * m * m):reshape(2, m, m):narrow(3, 1, 40):matmul(data(40 * 30):reshape(40, 30))
    end,
    ["rows with scratch"] = function (n)
      local function dirichlet () return peri.Dirichlet(data(4 * n):exp():reshape(n, 4)) end
      return peri.kl_divergence(dirichlet(), dirichlet())
    end,
    ["slopes of rows with scratch"] = function (n)
      local m, lower = math.floor(n / 9), peri.tensor { { 1, 0, 0 }, { 1, 1, 0 }, { 1, 1, 1 } }
      local L = peri.param(data(9 * m):reshape(m, 3, 3):abs() * lower + peri.eye(3))
      local p = peri.MultivariateNormal { loc = data(3 * m):reshape(m, 3), scale_tril = L }
      p:log_prob(peri.zeros(3)):sum():backward()
      return L.grad
    end,
    where         = function (n) return peri.where(data(n):gt(0), data(n), -1) end,
    ["a formula"] = function (n)
      local x, y = data(n), data(n + 1):narrow(1, 2, n)
      return core.fused(function () return peri.exp(x * y) - peri.abs(x) / 3 end)
    end,
    ["a sum that waits"] = function (n) return peri.Normal(0, 2):log_prob(peri.param(data(n))):sum():detach() end,
  }
  for name, fn in pairs(work) do
    it(name .. " gives the bits of one thread", function ()
      for _, n in ipairs(sizes) do
        peri.set_threads(1)
        local alone = fn(n)
        for _, threads in ipairs { 2, 3, 5 } do
          peri.set_threads(threads)
          local together = fn(n)
          assert.same(core.shape(alone), core.shape(together))
          assert.equal(0, peri.sum(peri.ne(together, alone)), n .. " elements, " .. threads .. " threads")
        end
      end
    end)
  end

  it("parameters are checked as ever", function ()
    peri.set_threads(3)
    local scale = peri.ones(100000)
    scale[77777] = -2
    assert.equal("Normal: scale must be positive, got -2 at [77777]", message(peri.Normal, 0, scale))
  end)

  it("work goes on after the number is changed, often", function ()
    local t = peri.arange(100000)
    for i = 1, 40 do
      peri.set_threads(i % 4 + 1)
      assert.equal(4999950000, peri.item(t:sum()))
      assert.is_nil(model.difference((t + 1):narrow(1, 99999, 2), { shape = { 2 }, 99999, 100000 }))
    end
  end)

  it("a pool that is forgotten is joined by the collector", function ()
    peri.set_threads(3)
    peri.set_threads(2)
    collectgarbage()
    collectgarbage()
    assert.equal(100000, peri.item(peri.ones(100000):sum()))
  end)

  it("an error on the way leaves the threads usable", function ()
    peri.set_threads(2)
    for _ = 1, 5 do
      assert.is_false(pcall(peri.add, peri.ones(100000), peri.ones(99999)))
      assert.equal(200000, peri.item((peri.ones(100000) + 1):sum()))
    end
  end)
end)


-- 16537 elements: enough to be shared out, no multiple of a block, and shares begin within a row.
local HEIGHT, WIDTH = 23, 719
local LETTERS = { "a", "b", "c", "d", "e", "f", "g", "h" }
local FEW  = 3                                               -- columns, of files that take
local DEAR = { noncentralchi2 = true, noncentralf = true, noncentralt = true }   -- up to 20 ms for an element

-- Equal bits; one NaN is as good as another.
local function same (a, b)
  local numbers = 1 - peri.ne(a, a) * peri.ne(b, b)
  return peri.sum((peri.ne(a, b) + peri.ne(1 / a, 1 / b)) * numbers) == 0
end

-- Asserts that fn() gives the same tensors with three threads, which share less evenly than two, as with one; says
-- whether some element is a number.
local function assert_same (fn)
  local numbers = 0
  peri.set_threads(1)
  local alone = { fn() }
  peri.set_threads(3)
  for i, together in ipairs { fn() } do
    assert(same(alone[i], together), "result " .. i)
    numbers = numbers + peri.sum(peri.eq(together, together))
  end
  return numbers > 0
end

-- Operands of an elementwise kernel: in turn a column, whole and a row, so that blocks end with rows and threads cut
-- them elsewhere. Some elements are whole numbers, for kernels that count.
local function elementwise_operands (n, width)
  local shapes, operands = { { HEIGHT, 1 }, { HEIGHT, width }, { width } }, {}
  for k = 1, n do
    local u = peri.rng(k):uniform(table.unpack(shapes[k % 3 + 1]))
    operands[k] = peri.where(u:lt(0.6), u, peri.floor(10 * u) - 5)
  end
  return operands
end

-- Operands of a row kernel: as many rows as are shared out even if they are short.
local function row_operands (signature)
  local size_of, operands = { k = 5, n = 4, p = 2 }, {}
  for letters in signature:match("^(.*)%->"):gmatch("%(([%a,]*)%)") do
    local shape = { 9001 }
    for letter in letters:gmatch("%a") do shape[#shape + 1] = size_of[letter] or 3 end
    local x = peri.rng(#operands + 1):normal(table.unpack(shape))
    local first, second = letters:match("^(%a),(%a)$")
    operands[#operands + 1] = first ~= nil and first == second
      and x:matmul(x:transpose(-1, -2)) + 3 * peri.eye(shape[2]) or peri.exp(x)
  end
  return operands
end

describe("threads change no bit of", function ()
  teardown(function () peri.set_threads(1) end)

  local function check_elementwise (bind, file, kernel)
    local takes = { table.unpack(LETTERS, 1, kernel.n_in) }
    local f = bind(file, kernel.name, kernel.name, takes, takes)
    local operands = elementwise_operands(kernel.n_in, DEAR[file] and FEW or WIDTH)
    assert_same(function () return f(table.unpack(operands)) end)
  end

  local function check_rows (file, kernel)
    local takes, operands = { table.unpack(LETTERS, 1, kernel.n_in) }, row_operands(kernel.signature)
    local value = core.bind_value(file, kernel.name, kernel.name, takes, takes)
    assert_same(function () return value(table.unpack(operands)) end)
    if not kernel.has_adjoint then return end
    local adjoint = core.bind_adjoint(file, kernel.name, kernel.name, takes, takes)
    operands[#operands + 1] = value(table.unpack(operands))
    assert_same(function () return adjoint(table.unpack(operands)) end)
  end

  for _, file in ipairs(core.kernel_files()) do
    local kernels = core.kernels(file)
    for _, kernel in ipairs(kernels) do
      local name = file .. "." .. kernel.name
      if kernel.signature and (kernel.kind == "rows" or kernel.noise) then
        it(name, function () check_rows(file, kernel) end)
      elseif kernel.kind == "elementwise" or kernel.noise then
        it(name, function () check_elementwise(core.bind_value, file, kernel) end)
      end
      if kernel.has_partials then
        it("the partials of " .. name, function () check_elementwise(core.bind_partials, file, kernel) end)
      end
    end
  end

  for _, kernel in ipairs(core.kernels "reduce") do
    it("the reduction " .. kernel.name, function ()
      local x = peri.rng(1):normal(70001)
      local matrix = x:narrow(1, 1, 70000)
      for _, shape in ipairs { { 70000 }, { 10000, 7 }, { 7, 10000 }, { 2, 35000 } } do
        local t = matrix:reshape(table.unpack(shape))
        local method = t[kernel.name]
        assert(assert_same(function () return method(t), method(t, 1), method(t, #shape) end))
      end
      assert(assert_same(function () return x[kernel.name](x) end))
    end)
  end

  -- Of each class, the instance that its own help makes.
  for _, name in ipairs(peri.distributions()) do
    local made = peri[name].help.example[1]:match("^(.-[%)}]):%l[%w_]*%(")
    local make = made and load("local peri = ...; local " .. name .. " = peri." .. name .. "; return " .. made)
    local ok, d = pcall(make or error, peri)
    if ok and d.sample and name ~= "Flat" then   -- which has no draws
      it("draws of " .. tostring(made), function ()
        assert(assert_same(function () return d:sample(17001, peri.rng(5)) end))
      end)
    end
  end

  it("gradients", function ()
    local g = peri.rng(8)
    local function positive (...) return peri.param(g:uniform(...) + 0.5) end
    local a, b, c, d = positive(HEIGHT, WIDTH), positive(HEIGHT, WIDTH), positive(WIDTH), positive(1)
    local logits, five = peri.param(g:normal(9001, 5)), peri.Categorical { logits = { 1, 2, 3, 4, 5 } }
    local losses = {
      function () return peri.kl_divergence(peri.Gamma(a, b), peri.Gamma(b, a)):sum() end,
      function () return peri.kl_divergence(peri.Gamma(a, c), peri.Gamma(c, d)):sum() end,
      function () return peri.Normal(c, d):log_prob(a * b):mean() end,
      function () return (a:transpose() * b:transpose():exp()):sum(1):square():sum() end,
      function () return peri.kl_divergence(peri.Categorical { logits = logits }, five):square():sum() end,
      function () return (logits:softmax() * logits:logsumexp(2):unsqueeze(-1)):sum() end,
    }
    for _, loss in ipairs(losses) do
      assert(assert_same(function ()
        local grads = {}
        for _, w in ipairs { a, b, c, d, logits } do w.grad = nil end
        loss():backward()
        for _, w in ipairs { a, b, c, d, logits } do grads[#grads + 1] = w.grad end
        return table.unpack(grads)
      end))
    end
  end)
end)


describe("the number of threads is changed", function ()
  after_each(function () peri.set_threads(1) end)

  local x = peri.rng(1):normal(40000)
  local expected = peri.exp(x) * x

  it("within a formula, between its steps", function ()
    for threads = 1, 4 do
      local got = core.fused(function ()
        local y = peri.exp(x)
        peri.set_threads(threads)
        return y * x
      end)
      assert.is_true(got:equal(expected))
    end
  end)

  it("within the formula of a divergence, and within the function that an expectation is of", function ()
    local A = peri.Normal:extend "A"
    local p = A(x, 1)
    peri.register_kl(A, A, function (a, b)
      peri.set_threads(3)
      return (a.loc - b.loc) * 2
    end)
    assert.is_true(peri.kl_divergence(p, A(0, 1)):equal(x * 2))
    local e = peri.Normal(0, 1):expectation(function (y) peri.set_threads(2) return y * y end)
    assert(math.abs(tonumber(type(e) == "number" and e or peri.item(e)) - 1) < 1e-9)
  end)

  it("by finalizers that run in the middle of work", function ()
    local rows, changes = x:reshape(8000, 5), 0
    local softmax = rows:softmax()
    local function change ()
      changes = changes + 1
      peri.set_threads(changes % 3 + 1)
    end
    for _ = 1, 200 do
      finalized({}, change)
      assert(rows:softmax():equal(softmax) and (peri.exp(x) * x):equal(expected))
    end
    collectgarbage()
    assert(changes > 100)
  end)

  it("to far more than there are cores", function ()
    local sum = peri.item(x:sum())
    for _, threads in ipairs { 256, 17, 255 } do
      peri.set_threads(threads)
      for _ = 1, 10 do
        assert.is_true((peri.exp(x) * x):equal(expected))
        assert.equal(sum, peri.item(x:sum()))
      end
    end
  end)
end)


describe("set_threads", function ()
  local refused = {
    { "0", 0 }, { "-1", -1 }, { "257", 257 }, { ("%d"):format(math.maxinteger), math.maxinteger }, { "1.5", 1.5 },
    { "inf", math.huge }, { "the string \"2\"", "2" }, { "true", true }, { "nil", nil }, { "an empty table", {} },
  }
  for _, case in ipairs(refused) do
    it("refuses " .. case[1], function ()
      assert.equal("set_threads: n must be an integer from 1 to 256, got " .. case[1],
                   message(peri.set_threads, case[2]))
    end)
  end
end)
