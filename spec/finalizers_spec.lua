--- Finalizers may do anything at any allocation: bring back what was given up, compute, write, differentiate.
local peri = require "perilune"

-- What make() gives, given up and brought back by a finalizer.
local function brought_back (make)
  local found
  setmetatable({ make() }, { __gc = function (box) found = box[1] end })
  collectgarbage()
  collectgarbage()
  return found
end

-- Uses memory again that was freed.
local function churn ()
  collectgarbage()
  local kept = {}
  for i = 1, 200 do kept[i] = peri.full(3, -7) end
  collectgarbage()
end

describe("what a finalizer brought back", function ()
  it("is a parameter that gets its gradients", function ()
    local w = brought_back(function () return peri.param { 1, 2, 3 } end)
    for k = 1, 3 do
      (w * w):sum():backward()
      churn()
      assert.same({ 2 * k, 4 * k, 6 * k }, w.grad:totable())
    end
    w.grad = nil
    w:sum():backward()
    churn()
    assert.same({ 1, 1, 1 }, w.grad:totable())
  end)

  it("is a parameter that an optimiser moves", function ()
    local w = brought_back(function () return peri.param { 1, 2, 3 } end)
    local opt = peri.optim.SGD({ w }, { lr = 0.25 })
    for _ = 1, 3 do
      opt:zero_grad();
      (w * w):sum():backward();
      (w * w):sum():backward()
      churn()
      opt:step()
    end
    assert.same({ 0, 0, 0 }, w:totable())
  end)

  it("is a loss, a view or a draw that can be differentiated", function ()
    local v = peri.param { 1, 2, 3 }
    local loss = brought_back(function () return (peri.param { 1, 2, 3 } * v):sum() end)
    local row = brought_back(function () return peri.param { { 1, 2, 3 }, { 4, 5, 6 } }[2] end)
    local draw = brought_back(function () return peri.Normal(v, peri.param { 1, 1, 1 }):rsample() end)
    loss:backward();
    (row * v):sum():backward()
    draw:sum():backward()
    churn()
    assert.same({ 1 + 4 + 1, 2 + 5 + 1, 3 + 6 + 1 }, v.grad:totable())
  end)

  it("is the result of a function with a gradient of its own", function ()
    local w = peri.param { 1, 2, 3 }
    local triple = peri.func {
      forward  = function (x) return x * 3 end,
      backward = function (above) churn() return above * 3 end,
    }
    local y = brought_back(function () return triple(w) end)
    local inner = brought_back(function () return triple(triple(w) * 2)[2] end)
    y:sum():backward();
    (inner + 1):backward()
    churn()
    assert.same({ 3, 21, 3 }, w.grad:totable())
  end)

  it("is a trace that replays", function ()
    local w = brought_back(function () return peri.param { 1, 2, 3 } end)
    local trace = brought_back(function () return peri.trace(function () return (w * w):sum() end) end)
    for k = 1, 3 do
      assert.equal(14, trace:backward())
      churn()
      assert.same({ 2 * k, 4 * k, 6 * k }, w.grad:totable())
    end
  end)
end)
