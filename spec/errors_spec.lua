--- Errors: they name the place of the caller, no wrong argument does harm,
-- and neither does a script that swaps metatables or loads the module twice.
local peri = require "perilune"
local core = require "perilune.core"

local function message (fn, ...)
  local ok, text = pcall(fn, ...)
  assert.is_false(ok, "an error was expected")
  return (tostring(text):gsub("^[^:]+:%d+: ", ""))
end


describe("an error names the line of the call:", function ()
  local t, p = peri.zeros(2, 3), peri.Normal(0, 1)
  local q2, w = peri.Normal({ 1, 2 }, 1), peri.param { 1, 2 }
  local mixture = peri.MixtureSameFamily(peri.Categorical({ 0.5, 0.5 }), q2)
  local calls = {
    tensor        = function () local x = peri.tensor "x" return x end,
    exp           = function () local x = peri.exp "x" return x end,
    ["t + string"] = function () local x = t + "x" return x end,
    ["t[5]"]      = function () local x = t[5] return x end,
    ["t[5] = 1"]  = function () t[5] = 1 end,
    ["t < 1"]     = function () local x = t < 1 return x end,
    sum           = function () local x = t:sum(5) return x end,
    reshape       = function () local x = t:reshape(7) return x end,
    softmax       = function () local x = t:softmax(5) return x end,
    ["softmax of a string"] = function () local x = peri.softmax "x" return x end,
    cumsum        = function () local x = t:cumsum(5) return x end,
    squeeze       = function () local x = t:squeeze(5) return x end,
    unsqueeze     = function () local x = t:unsqueeze(5) return x end,
    matmul        = function () local x = t:matmul(t) return x end,
    ["matmul of vectors"] = function () local x = t[1]:matmul { 1, 2 } return x end,
    ["matmul of a string"] = function () local x = t:matmul "x" return x end,
    cat           = function () local x = peri.cat { { 1, 2 }, { { 1, 2 } } } return x end,
    ["cat of nothing"] = function () local x = peri.cat {} return x end,
    ["cat along 5"] = function () local x = peri.cat({ t }, 5) return x end,
    stack         = function () local x = peri.stack { { 1, 2 }, { 1 } } return x end,
    Normal        = function () local x = peri.Normal(0, -1) return x end,
    ["Normal, named"]    = function () local x = peri.Normal { scale = -1 } return x end,
    ["Normal, misnamed"] = function () local x = peri.Normal { scala = 1 } return x end,
    ["Normal, too many"] = function () local x = peri.Normal(1, 2, 3) return x end,
    ["Normal, a string"] = function () local x = peri.Normal "x" return x end,
    ["Normal, shapes"]   = function () local x = peri.Normal({ 1, 2 }, { 1, 2, 3 }) return x end,
    log_prob      = function () local x = p:log_prob "x" return x end,
    sample        = function () local x = p:sample "x" return x end,
    expand        = function () local x = peri.Normal({ 1, 2 }, 1):expand { 3 } return x end,
    ["expand to a string"] = function () local x = p:expand "x" return x end,
    ["expand of a part"] = function () local x = peri.Masked(peri.Normal({ 1, 2 }, 1), true):expand { 3 } return x end,
    ["expand, too small"] = function () local x = peri.Truncated(peri.Normal({ 1, 2 }, 1), 0):expand { 3 } return x end,
    ["no cdf"]    = function () local x = peri.Dirichlet({ 1, 2 }):log_cdf { 0.5, 0.5 } return x end,
    ["no rsample"] = function () local x = peri.Poisson(2):rsample() return x end,
    mode          = function () local x = peri.Distribution():mode() return x end,
    extend        = function () local x = peri.Normal:extend(5) return x end,
    validate      = function () peri.validate(3) end,
    kl_divergence = function () local x = peri.kl_divergence(p, 3) return x end,
    ["kl_divergence, no pair"] = function ()
      local x = peri.kl_divergence(p, peri.Distribution(), { fallback = false })
      return x
    end,
    register_kl   = function () peri.register_kl(3, peri.Normal, print) end,
    rng           = function () local x = peri.rng "x" return x end,
    ["rng:uniform"] = function () local x = peri.rng(1):uniform "x" return x end,
    set_threads   = function () peri.set_threads(0) end,
    -- found deep within the library
    ["kl_divergence, shapes"] = function () return (peri.kl_divergence(q2, peri.Normal({ 1, 2, 3 }, 1))) end,
    ["kl_divergence by a formula, shapes"] = function () return (peri.kl_divergence(q2, peri.Laplace({ 1, 2, 3 }))) end,
    ["kl_divergence, numerically, shapes"] = function () return (peri.kl_divergence(q2, peri.Cauchy({ 1, 2, 3 }))) end,
    ["js_divergence, shapes"] = function () return (peri.js_divergence(q2, peri.Laplace({ 1, 2, 3 }))) end,
    cross_entropy = function () return (q2:cross_entropy(peri.Laplace({ 1, 2, 3 }))) end,
    grad          = function () return (peri.grad(function (x) return x * 2 end)("x")) end,
    ["grad, called with nil"] = function () return (peri.grad(function (x) return x * 2 end)()) end,
    ["grad of a function in C"] = function () return (peri.grad(math.sin)(1)) end,
    ["expectation of a function in C"] = function () return (p:expectation(math.sin)) end,
    ["expectation of a function that returns nothing"] = function () return (p:expectation(function () end)) end,
    ["not within trace, from a method"] = function () return (peri.trace(function () return (w:prod():item()) end)) end,
    ["not within trace, from a mixture"] = function ()
      return (peri.trace(function () return (mixture:rsample() * w):sum() end))
    end,
    ["Independent of a bad number"] = function () return (peri.Independent(peri.Normal({ 1, 2 }, 1), 5)) end,
    Truncated     = function () return (peri.Truncated(p, 3, 1)) end,
    LogisticNormal = function () return (peri.LogisticNormal({ 0, 0 }, -1)) end,
    TransformedDistribution = function () return (peri.TransformedDistribution(p, 3)) end,
    ["MixtureSameFamily of unlike batches"] = function ()
      return (peri.MixtureSameFamily(peri.Categorical({ 0.5, 0.5 }), peri.Normal({ 1, 2, 3 }, 1)))
    end,
    ["mixture:log_prob"] = function () return (mixture:log_prob(peri.zeros(3, 4, 7)):sum(9)) end,
    ["Independent:log_prob"] = function () return (peri.Independent(q2, 1):log_prob(peri.zeros(3))) end,
    ["MultivariateNormal"] = function () return (peri.MultivariateNormal({ 0, 0 }, { { 1, 2 }, { 2, 1 } })) end,
    ["biject_to"] = function () return (peri.biject_to(peri.constraints.boolean)) end,
    ["Affine"]    = function () return (peri.transforms.Affine(0, 0)) end,
    ["schedules"] = function () return (peri.optim.schedules.step(0)) end,
    ["Adam"]      = function () return (peri.optim.Adam({ a = { 3 } })) end,
    ["vi.fit"]    = function () return (peri.vi.fit { log_joint = function () end, params = { x = {} } }) end,
    ["vi.fit, its params"] = function () return (peri.vi.fit { log_joint = math.sin, params = { x = "y" } }) end,
  }
  for name, call in pairs(calls) do
    it(name, function ()
      local ok, text = pcall(call)
      assert.is_false(ok)
      assert.matches("^[^:]*errors_spec%.lua:%d+: [^:]*%a.*", text)
      assert.is_nil(text:find("attempt to", 1, true), text)
      local line = debug.getinfo(call, "S")
      local at = tonumber(text:match ":(%d+): ")
      assert.is_true(at >= line.linedefined and at <= line.lastlinedefined, text)
    end)
  end
end)


describe("functions of rows and lists name themselves:", function ()
  local calls = {
    softmax     = function () return peri.softmax "x" end,
    log_softmax = function () return peri.log_softmax "x" end,
    matmul      = function () return peri.matmul("x", { 1 }) end,
    cat         = function () return peri.cat { "x" } end,
    stack       = function () return peri.stack { "x" } end,
    equal       = function () return peri.equal({ 1 }, "x") end,
  }
  for name, call in pairs(calls) do
    it(name, function () assert.matches("^" .. name .. ": .*got the string \"x\"$", message(call)) end)
  end

  it("Normal:sample", function ()
    assert.equal("Normal:sample: shape must be an integer or a table of integers, got the string \"x\"",
                 message(function () return peri.Normal(0, 1):sample "x" end))
  end)

  it("where a vector or a matrix is wanted", function ()
    assert.equal("MultivariateNormal:log_prob: x must be a vector, or a batch of them, got 0.3",
                 message(function () return peri.MultivariateNormal({ 0, 0 }, peri.eye(2)):log_prob(0.3) end))
    assert.equal("Wishart:log_prob: x must be a matrix, or a batch of them, got a tensor of shape (2)",
                 message(function () return peri.Wishart(3, peri.eye(2)):log_prob(peri.ones(2)) end))
  end)
end)


describe("no wrong argument does harm:", function ()
  -- Whatever a function is given, it returns or raises a message.
  local values = {
    nil, false, 0, -1, 1.5, 0 / 0, math.huge, math.mininteger, math.maxinteger, "", "x", "1", {}, { {} }, { 1, 2 },
    { "x" }, { x = 1 }, setmetatable({}, { __index = function () error "index" end }), rawequal, io.stdout,
    coroutine.create(rawequal), peri.zeros(0), peri.zeros(2, 3), peri.tensor(1), peri.rng(1), peri.Normal(0, 1),
    peri.Normal,
  }
  local n = 27   -- the first is nil

  local function call_all (fn)
    for i = 1, n do
      for j = 1, n do
        local ok, text = pcall(fn, values[i], values[j], values[(i + j) % n + 1])
        if not ok then assert.equal("string", type(text)) end
      end
    end
  end

  local functions = {}
  for name, fn in pairs(core) do
    if type(fn) == "function" and name ~= "set_threads" and name ~= "tensor_metatable" then
      functions["core." .. name] = fn
    end
  end
  local t, rng, p = peri.zeros(2, 3), peri.rng(1), peri.Normal(0, 1)
  for _, name in ipairs { "sum", "argmax", "logsumexp", "var", "softmax", "log_softmax", "cumsum", "matmul", "squeeze",
                          "unsqueeze", "flatten", "equal", "allclose", "exp", "add", "where", "isclose" } do
    functions["t:" .. name] = t[name]
  end
  for _, name in ipairs { "state", "restore", "split", "uniform", "normal", "exponential" } do
    functions["rng:" .. name] = rng[name]
  end
  for _, name in ipairs { "log_prob", "cdf", "icdf", "entropy", "sample", "rsample", "expand", "mean", "variance",
                          "is_a", "batched", "prob" } do
    functions["Normal:" .. name] = p[name]
  end
  for _, name in ipairs { "cat", "stack", "kl_divergence", "register_kl", "Normal" } do
    functions["peri." .. name] = peri[name]
  end

  for name, fn in pairs(functions) do
    it(name, function () call_all(fn) end)
  end
end)


describe("a metatable grafted with debug.setmetatable", function ()
  local t, rng = peri.zeros(4), peri.rng(1)
  local of_tensor, of_rng = debug.getmetatable(t), debug.getmetatable(rng)

  it("is hidden from getmetatable", function ()
    assert.is_false(type(getmetatable(t)) == "table")
    assert.is_false(type(getmetatable(rng)) == "table")
    assert.is_false(pcall(setmetatable, t, {}))
  end)

  it("of tensors, on a file, makes no tensor of it", function ()
    local file = io.tmpfile()
    local own = debug.getmetatable(file)
    debug.setmetatable(file, of_tensor)
    assert.is_false(peri.is_tensor(file))
    for name, method in pairs { sum = t.sum, reshape = t.reshape, at = t.at, totable = t.totable, item = t.item,
                                clone = t.clone, softmax = t.softmax, exp = t.exp, matmul = t.matmul } do
      assert.matches("got a userdata$", message(method, file), name)
    end
    local operators = {
      function () return file + 1 end, function () return -file end, function () return file[1] end,
      function () file[1] = 2 end, function () return #file end, function () return file < 1 end,
      function () return tostring(file) end, function () return file.shape end,
    }
    for _, operator in ipairs(operators) do assert.equal("string", type(message(operator))) end
    assert.is_false(file == t)
    debug.setmetatable(file, own)
    file:close()
  end)

  it("of tensors, on a generator, makes no tensor of it", function ()
    local other = peri.rng(1)
    debug.setmetatable(other, of_tensor)
    assert.matches("got a userdata$", message(t.sum, other))
    assert.matches("got a userdata$", message(function () return other + 1 end))
    debug.setmetatable(other, of_rng)
    assert.equal(peri.rng(1):uniform(), other:uniform())
  end)

  it("of generators, on a tensor or a file, makes no generator of it", function ()
    local tensor, file = peri.zeros(4), io.tmpfile()
    local own = debug.getmetatable(file)
    for _, x in ipairs { tensor, file } do
      debug.setmetatable(x, of_rng)
      for _, name in ipairs { "state", "restore", "split", "uniform" } do
        assert.matches("must be a generator %(peri.rng%), got a ", message(x[name], x))
      end
      assert.matches("must be a generator", message(tostring, x))
    end
    debug.setmetatable(tensor, of_tensor)
    debug.setmetatable(file, own)
    file:close()
    assert.same({ 0, 0, 0, 0 }, tensor:totable())
  end)
end)


describe("loaded a second time in the same state,", function ()
  local old, fresh, saved = peri, nil, {}
  local t, p, rng

  setup(function ()
    t, p, rng = old.tensor { 1, 2 }, old.Normal({ 0, 1 }, 1), old.rng(4)
    old.seed(21)
    for name, module in pairs(package.loaded) do
      if name:find "^perilune" then
        saved[name] = module
        package.loaded[name] = nil
      end
    end
    fresh = require "perilune"
  end)

  teardown(function ()
    for name in pairs(package.loaded) do
      if name:find "^perilune" then package.loaded[name] = nil end
    end
    for name, module in pairs(saved) do package.loaded[name] = module end
    old.seed(0)
  end)

  it("the module is another, tensors are the same", function ()
    assert.is_false(rawequal(old, fresh))
    assert.is_true(fresh.is_tensor(t))
    assert.is_true(old.is_tensor(fresh.zeros(2)))
  end)

  it("old tensors work with new functions, and the other way round", function ()
    assert.same({ 2, 4 }, (t + fresh.tensor { 1, 2 }):totable())
    assert.same({ 2, 4 }, fresh.add(t, t):totable())
    assert.same({ 2, 4 }, old.add(fresh.tensor { 1, 2 }, t):totable())
    assert.equal(3, peri.item(t:sum()))
    assert.equal(fresh.Normal(0, 1):log_prob(t)[2], p:log_prob(t)[2] - 1.5)
  end)

  it("old generators work with new functions, and the default one goes on", function ()
    assert.is_true(fresh.Normal(0, 1):sample(3, rng) == old.rng(4):normal(3))
    local first = old.Normal(0, 1):sample()
    assert.equal(first, old.rng(21):normal())
    assert.is_false(first == fresh.Normal(0, 1):sample())
  end)

  it("old distributions work with new functions", function ()
    assert.same({ 0, 0.5 }, fresh.kl_divergence(p, fresh.Normal(0, 1)):totable())
    assert.same({ 0, 0.5 }, fresh.kl_divergence(fresh.Normal({ 0, 1 }, 1), old.Normal(0, 1)):totable())
    assert.is_true(p:is_a(fresh.Normal))
  end)
end)
