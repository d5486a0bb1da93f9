--- What our own Lua asks of C, asked wrongly: an error each time, nothing worse.
local peri       = require "perilune"
local core       = require "perilune.core"
local refusal_of = require "spec.support.refusal"

describe("binding a kernel", function ()
  local three = { "a", "b", "c" }
  local function refuses (expected, bind, ...) assert.equal(expected, refusal_of(core[bind], ...)) end

  it("refuses names that are none", function ()
    refuses("bind: there is no kernel normal.nothing", "bind", "normal", "nothing", "f", three, three)
    refuses("bind: there is no file nothing", "bind_functions", {}, "nothing")
    refuses("bind: names must be strings", "bind", "normal", "log_prob", "f", { 1 }, three)
    refuses("bind: operand b comes from no argument", "bind", "normal", "log_prob", "f", { "a" }, three)
    refuses("f: its kernel does not take 1 operands", "bind", "normal", "log_prob", "f", { "a" }, { "a" })
  end)

  it("refuses kernels of another kind", function ()
    refuses("bind: kernel sample is no function of its operands", "bind_value", "categorical", "sample", "f", three,
            three)
    refuses("bind: kernel log_prob is not elementwise", "bind_sum", "categorical", "log_prob", "f", three, three)
    refuses("bind: kernel log_prob has no partials", "bind_partials", "categorical", "log_prob", "f", three, three)
    refuses("bind: kernel log_prob has no adjoint", "bind_adjoint", "normal", "log_prob", "f", three, three)
  end)
end)

describe("chains", function ()
  local x = peri.param(peri.zeros(2))
  local trace = peri.trace(function () return -(x * x):sum() end)

  local function new (changes, sources, starts)
    local options = { warmup = 0, draws = 0, max_depth = 5, steps = 0, target = 0.8, step = 0.1, dense = false }
    for name, value in pairs(changes) do options[name] = value end
    return core.chains(sources or { trace, x }, starts or peri.zeros(3, 2), { 1, 2, 3 }, options)
  end

  it("without draws are done at once", function ()
    local chains = new {}
    assert.is_true(chains:run())
    assert.same({ 3, 0, 2 }, chains:draws().shape)
    assert.same({ 0, 0, 0 }, (chains:counts()))
  end)

  it("refuse what does not fit", function ()
    assert.equal("chains: draws must be an integer from 0 to 1099511627776", refusal_of(new, { draws = 0.5 }))
    assert.matches("^chains: target must be between 0", refusal_of(new, { target = 1 }))
    assert.equal("chains: scale must be a factor of the metric", refusal_of(new, { scale = peri.ones(3) }))
    assert.equal("chains: parameter 1 must have 2 elements", refusal_of(new, {}, { trace, peri.param(1) }))
    assert.equal("chains: takes from 1 to 256 traces", refusal_of(new, {}, {}))
    assert.matches("^chains: starts must be a matrix of 1 to 1024 rows", refusal_of(new, {}, nil, peri.zeros(2)))
    assert.matches("^chains:run: self must be chains", refusal_of(new {}.run, peri.rng(1)))
    local drawn = peri.trace(function () return (x * peri.Normal(0, 1):rsample(2)):sum() end)
    assert.equal("chains: the trace must not draw random numbers", refusal_of(new, {}, { drawn, x }))
  end)

  it("take up no states that are not theirs", function ()
    local chains = new { draws = 2 }
    chains:run()
    local draws, stats = chains:draws()
    assert.is_true(chains:restore(chains:state(), draws, stats))
    assert.is_false(chains:restore(chains:state(), draws:narrow(2, 1, 1), stats))
    assert.is_false(chains:restore({ "state" }, draws, stats))
    assert.is_false(chains:restore({}, draws, stats))
  end)
end)

describe("a scan", function ()
  local function scan (init, xs, f) return core.scan(f or function (leaves) return leaves end, 3, init, xs, { "s" }) end

  it("refuses what does not fit", function ()
    local one = {}
    for i = 1, 16 do one[i] = 1 end
    assert.equal("scan: init has too many dimensions", refusal_of(scan, { peri.zeros(one) }, {}))
    assert.equal("scan: xs must have 3 rows", refusal_of(scan, { 1 }, { peri.ones(2) }))
    local many = {}
    for i = 1, 300 do many[i] = peri.param(i) end
    assert.equal("scan: init and xs may have 255 tensors", refusal_of(scan, many, {}))
    assert.equal("scan: f, init and xs have 301 tensors, and there may be 255",
                 refusal_of(scan, { 1 }, {}, function (leaves)
                   local sum = leaves[1]
                   for _, w in ipairs(many) do sum = sum + w end
                   return { sum }
                 end))
  end)
end)

it("a constructor of more parameters than there is room for is the one in Lua", function ()
  local params, full = {}, function () end
  for i = 1, 40 do params[i] = { "p" .. i, peri.constraints.real } end
  assert.equal(full, core.constructor(params, full))
end)

it("gradients of nothing are not forgotten", function ()
  local optimiser = peri.optim.Adam({ peri.param(1) }, { lr = 1 })
  assert.equal("zero_grad: params must be a table of parameters, got 3",
               refusal_of(optimiser.zero_grad, { params = 3 }))
end)

it("a table with other keys than names is no list", function ()
  assert.equal("kl_divergence: p must be a distribution, got a table that is no list",
               refusal_of(peri.kl_divergence, { [true] = 1 }, peri.Normal(0, 1)))
end)

it("a draw has at most 16 dimensions", function ()
  local shape, d = {}, peri.Normal(peri.zeros(1, 1), 1)
  for i = 1, 14 do shape[i] = 1 end
  assert.equal(16, #d:sample(shape).shape)
  shape[15] = 1
  assert.equal("Normal:sample: a sample has at most 16 dimensions", refusal_of(d.sample, d, shape))
end)

it("draws with a gradient are the others, however their parameters lie in memory", function ()
  local loc = peri.param(peri.arange(12):reshape(3, 4))
  for _, scale in ipairs { peri.ones(4, 1), peri.arange(1, 13):reshape(3, 4):transpose() } do
    local d, plain = peri.Normal(loc:transpose(), scale), peri.Normal(loc:detach():transpose(), scale)
    for _, shape in ipairs { {}, { 2 }, { 5, 2 } } do
      local draws = d:rsample(shape, peri.rng(1))
      assert.is_true(draws:detach():equal(plain:sample(shape, peri.rng(1))))
      loc.grad = nil
      draws:sum():backward()
      assert.is_true(loc.grad:equal(peri.full({ 3, 4 }, (shape[1] or 1) * (shape[2] or 1))))
    end
  end
end)

it("a replay finds no rows at places that are none", function ()
  local rows, index = peri.param { { 1, 2 }, { 3, 4 } }, peri.tensor { 2, 1 }
  local trace = peri.trace(function () return (rows[index] * peri.tensor { { 1, 10 }, { 100, 1000 } }):sum() end)
  assert.equal(2143, trace:value())
  index:copy { 1, 2 }
  assert.equal(4321, trace:value())
  index:copy { 1, 3 }
  assert.is_true(trace:value() ~= trace:value())
end)
