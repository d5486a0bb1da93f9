local peri   = require "perilune"
local core   = require "perilune.core"
local slopes = require "spec.support.slopes"

local INF = math.huge
local input, target = { { -1, -0.5 }, { -2, -0.2 } }, { { 0.4, 0.6 }, { 0.1, 0.9 } }

local function close (expected, got) assert(math.abs(expected - got) < 1e-14, expected .. " is not " .. got) end

-- By the definition.
local function term (x, t) return t == 0 and 0 or t * (math.log(t) - x) end

local function warnings_of (fn)
  local heard, old = {}, warn
  _G.warn = function (message) heard[#heard + 1] = message end
  local ok, why = pcall(fn)
  _G.warn = old
  assert(ok, why)
  return heard
end

describe("kl_div", function ()
  it("is target times the difference of logarithms", function ()
    local each, sum = peri.kl_div(input, target, { reduction = "none" }), 0
    for i = 1, 2 do
      for j = 1, 2 do
        close(term(input[i][j], target[i][j]), each:at(i, j))
        sum = sum + term(input[i][j], target[i][j])
      end
    end
    close(sum, peri.item(peri.kl_div(input, target, { reduction = "sum" })))
    close(sum / 4, peri.item(peri.kl_div(input, target)))
    close(sum / 4, peri.item(peri.kl_div(input, target, { reduction = "mean" })))
    close(sum / 2, peri.item(peri.kl_div(input, target, { reduction = "batchmean" })))
  end)

  it("takes logarithms of targets", function ()
    local logs = peri.log(peri.tensor(target))
    for _, reduction in ipairs { "none", "sum", "mean", "batchmean" } do
      assert(peri.allclose(peri.kl_div(input, target, { reduction = reduction }),
                           peri.kl_div(input, logs, { reduction = reduction, log_target = true }), 1e-14, 1e-16))
    end
  end)

  it("takes logits, which it normalises on the way", function ()
    local g = peri.rng(3)
    local logits, t = g:normal(30, 100), peri.softmax(g:normal(30, 100))
    for _, reduction in ipairs { "none", "sum", "mean", "batchmean" } do
      assert(peri.allclose(peri.kl_div(peri.log_softmax(logits), t, { reduction = reduction }),
                           peri.kl_div(logits, t, { reduction = reduction, logits = true }), 1e-12, 1e-15))
    end
    assert(peri.allclose(peri.kl_div(peri.log_softmax(logits), t[1], { reduction = "sum" }),
                         peri.kl_div(logits, t[1], { reduction = "sum", logits = true }), 1e-12))
    assert.equal(0.0, peri.item(peri.kl_div({ 0, -INF }, { 1, 0 }, { reduction = "sum", logits = true })))
    assert.equal(INF, peri.item(peri.kl_div({ 0, -INF }, { 0.5, 0.5 }, { reduction = "sum", logits = true })))
    local names = { "x", "t" }
    local value = core.bind_value("loss", "kl_div_logits", "kl_div", names, names)
    local adjoint = core.bind_adjoint("loss", "kl_div_logits", "kl_div", names, names)
    assert.is_nil(slopes.adjoint_mismatch(value, adjoint, { logits[1]:narrow(1, 1, 5), t[1]:narrow(1, 1, 5) },
                                          peri.tensor(1.3), 1e-7))
    local w = peri.param(logits)
    peri.kl_div(w, t, { reduction = "sum", logits = true }):backward()
    local v = peri.param(logits)
    peri.kl_div(peri.log_softmax(v), t, { reduction = "sum" }):backward()
    assert(peri.allclose(w.grad, v.grad, 1e-11, 1e-15))
  end)

  it("finds the largest logit wherever it is", function ()
    local t = peri.softmax(peri.rng(5):normal(300))
    local low, high = peri.tensor { -INF }:expand { 70 }, peri.rng(6):normal(230)
    for name, x in pairs {
      ["the first are impossible"]   = peri.cat({ low, high }, 1),
      ["the first are much smaller"] = peri.cat({ peri.rng(7):normal(70), high + 90 }, 1),
      ["so much that they are lost"] = peri.cat({ peri.rng(7):normal(70), high + 2000 }, 1),
      ["the first are much larger"]  = peri.cat({ peri.rng(7):normal(70) + 800, high }, 1),
      ["all are large"]              = peri.rng(8):normal(300) + 1e6,
      ["all are small"]              = peri.rng(8):normal(300) - 1e6,
    } do
      local likely = peri.where(x:gt(-INF), t, 0)
      local w, v = peri.param(x), peri.param(x)
      local got = peri.kl_div(w, likely, { reduction = "sum", logits = true })
      local expected = peri.kl_div(peri.log_softmax(v), likely, { reduction = "sum" })
      assert(peri.allclose(expected, got, 1e-13), name)
      got:backward()
      expected:backward()
      assert(peri.allclose(v.grad, w.grad, 1e-9, 1e-15), name)
    end
    local none = peri.kl_div(peri.cat({ high, peri.tensor { INF } }, 1), peri.softmax(peri.rng(5):normal(231)),
                             { reduction = "sum", logits = true })
    assert(none ~= none)
  end)

  it("gives each element what it gives it alone", function ()
    local odd = { 0, -0.0, 5e-324, 1e-310, 2.3e-308, 1e-300, 0.5, 1, 1.9999, 2, 3, 1e300, INF, -0.5, 0 / 0 }
    local inputs = { -1, -0.5, 0, -INF, INF, 0 / 0, 3, -1e300 }
    local x, t = {}, {}
    for i = 1, 300 do x[i], t[i] = -i / 100, i / 300 end
    for _, a in ipairs(odd) do
      for _, b in ipairs(inputs) do x[#x + 1], t[#t + 1] = b, a end
    end
    local each = peri.kl_div(x, t, { reduction = "none" })
    for i = 1, #x do
      local alone, got = peri.kl_div(x[i], t[i]), each:at(i)
      assert(alone == got or alone ~= alone and got ~= got, x[i] .. " " .. t[i])
      if t[i] >= 0 and t[i] < INF and math.abs(x[i]) < INF then
        local expected = term(x[i], t[i])
        assert(got == expected or math.abs(got - expected) <= 4e-16 * (math.abs(t[i] * x[i]) + math.abs(got)))
      end
    end
  end)

  it("gives numbers for numbers", function ()
    close(term(-1, 0.5), peri.kl_div(-1, 0.5))
    close(term(-1, 0.5), peri.kl_div(-1, 0.5, { reduction = "batchmean" }))
    close(term(-1, 0.5), peri.kl_div(-1, math.log(0.5), { log_target = true }))
  end)

  it("is 0 where the target is, infinite where input alone says never", function ()
    assert.same({ 0, 0, INF }, peri.kl_div({ -1, -INF, -INF }, { 0, 0, 0.5 }, { reduction = "none" }):totable())
    assert.same({ 0, 0, INF }, peri.kl_div({ -1, -INF, -INF }, { -INF, -INF, -1 },
                                           { reduction = "none", log_target = true }):totable())
    local negative = peri.kl_div(-1, -0.5)
    assert(negative ~= negative)
    local unknown = peri.kl_div(0 / 0, 0)
    assert(unknown ~= unknown)
  end)

  it("broadcasts, and sums without a detour", function ()
    local x = peri.log_softmax(peri.Normal(0, 1):sample({ 300, 70 }, peri.rng(1)))
    local t = peri.softmax(peri.Normal(0, 1):sample({ 70 }, peri.rng(2)))
    local each = peri.kl_div(x, t, { reduction = "none" })
    assert.same({ 300, 70 }, each.shape)
    assert.equal(peri.item(each:sum()), peri.item(peri.kl_div(x, t, { reduction = "sum" })))
    assert.equal(peri.item(each:sum()) / 300, peri.item(peri.kl_div(x, t, { reduction = "batchmean" })))
    peri.set_threads(2)
    local threaded = peri.item(peri.kl_div(x, t, { reduction = "sum" }))
    peri.set_threads(1)
    assert.equal(peri.item(each:sum()), threaded)
  end)

  it("has the right partials", function ()
    for _, name in ipairs { "kl_div", "kl_div_log" } do
      local value = core.bind_value("loss", name, name, { "x", "t" }, { "x", "t" })
      local partials = core.bind_partials("loss", name, name, { "x", "t" }, { "x", "t" })
      for _, at in ipairs { { -1, 0.3 }, { -4, 0.9 }, { 0.5, 2 } } do
        assert.is_nil(slopes.mismatch(value, at, { partials(table.unpack(at)) }, 1e-7))
      end
    end
  end)

  it("refuses what it does not know", function ()
    for _, case in ipairs {
      { function () peri.kl_div(input, target, { reduction = "foo" }) end,
        'kl_div: reduction must be "mean", "sum", "none" or "batchmean", got the string "foo"' },
      { function () peri.kl_div(input, target, "sum") end, 'kl_div: options must be a table, got the string "sum"' },
      { function () peri.KLDivLoss { reduction = 3 } end,
        'KLDivLoss: reduction must be "mean", "sum", "none" or "batchmean", got 3' },
      { function () peri.kl_div({ 1, 2 }, { 1, 2, 3 }) end, "kl_div: shapes (2) and (3) do not broadcast" },
      { function () peri.kl_div("x", 1) end,
        'kl_div: input must be a number, a table of numbers or a tensor, got the string "x"' },
    } do
      local ok, message = pcall(case[1])
      assert.is_false(ok)
      assert.matches("kl_div_spec.lua:%d+: " .. case[2]:gsub("%p", "%%%0") .. "$", message)
    end
  end)

  it("warns of the classic mistakes on request", function ()
    local function heard (x, t, opts) return warnings_of(function () peri.kl_div(x, t, opts) end) end
    local logits, shares = { 1, 2 }, { 0.5, 0.5 }
    local logs = peri.log(peri.tensor(shares))
    assert.same({}, heard(logits, { 3, 4 }))
    assert.same({}, heard(logs, shares, { check = true }))
    assert.same({}, heard(logs, logs, { check = true, log_target = true }))
    assert.same({ "kl_div: rows of target should be probabilities that sum to 1; one is off by 6" },
                heard(logs, { 3, 4 }, { check = true }))
    assert.matches("^kl_div: input should be log%-probabilities", heard(logits, shares, { check = true })[1])
  end)
end)

describe("KLDivLoss", function ()
  it("is kl_div with its options", function ()
    local loss = peri.KLDivLoss { reduction = "batchmean", log_target = true }
    assert.equal('KLDivLoss(reduction="batchmean", log_target=true)', tostring(loss))
    local logs = peri.log(peri.tensor(target))
    local same = peri.kl_div(input, logs, { reduction = "batchmean", log_target = true })
    assert.equal(peri.item(same), peri.item(loss(input, logs)))
    assert.equal(peri.item(peri.kl_div(input, target)), peri.item(peri.KLDivLoss()(input, target)))
  end)
end)
