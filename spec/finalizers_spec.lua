--- Finalizers may do anything at any allocation: bring back what was given up, compute, write, differentiate.
local peri = require "perilune"
local core = require "perilune.core"
local finalized = require "spec.support.finalized"

-- What make() gives, given up and brought back by a finalizer.
local function brought_back (make)
  local found
  finalized({ make() }, function (box) found = box[1] end)
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
  return kept
end

-- Calls work() while the collector runs a whole cycle whenever anything is allocated, and act() in some of these:
-- from `first` to `last`. Returns whether that happened, and what pcall did.
local function disturbed (first, last, work, act)
  local cycle, acted, over = 0, false, false
  local function at_next_cycle ()
    cycle = cycle + 1
    if over or cycle > last then return end
    finalized({}, at_next_cycle)
    if cycle < first then return end
    acted = true
    act()
  end
  collectgarbage("incremental", 1, 100, 30)
  collectgarbage()
  finalized({}, at_next_cycle)
  local ok, message = pcall(work)
  over = true
  collectgarbage("incremental", 200, 100, 13)
  return acted, ok, message
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

describe("a finalizer that computes while something is written", function ()
  -- Results that wait for `x`, each with the value that it must have.
  local function waiting (x, most)
    local list, now = {}, peri.item(x:detach()[600])
    for i = 1, most do list[i] = { x * i, now * i } end
    return list
  end

  local function check (lists)
    for _, list in ipairs(lists) do
      for _, pair in ipairs(list) do
        assert.equal(pair[2], peri.item(pair[1]:detach()[600]))
      end
    end
  end

  local ways = {
    { "by copy",   function (w) w:copy(-1) end },
    { "in part",   function (w) w:narrow(1, 300, 301):copy(peri.full(301, -2)) end },
    { "by a step", function (w, opt) w.grad = peri.full(600, 3) opt:step() end },
    { "by a table", function (w)
        local row = {}
        for i = 1, 600 do row[i] = -i end
        w:copy(row)
      end },
  }
  for _, way in ipairs(ways) do
    local how, write = table.unpack(way)
    it(how .. " misses no result that waits", function ()
      for round = 1, 5 do
        local w = peri.param(peri.full(600, round))
        local opt = peri.optim.Adam({ w }, { lr = 0.5 })
        local lists = { waiting(w, 20) }
        local acted, ok, message = disturbed(1, 30, function () write(w, opt) end, function ()
          lists[#lists + 1] = waiting(w, 3)
        end)
        assert.is_true(acted)
        assert(ok, message)
        check(lists)
        assert.is_true(peri.item(w:detach()[600]) ~= round)
      end
    end)
  end

  it("misses none within a formula", function ()
    local x = peri.full(5000, 2)
    local lists = {}
    local acted, ok, message = disturbed(1, 200, function ()
      core.fused(function ()
        lists[1] = waiting(x, 20)
        x:copy(-1)
      end)
    end, function () lists[#lists + 1] = waiting(x, 3) end)
    assert.is_true(acted)
    assert(ok, message)
    check(lists)
  end)

  it("misses none that waits for what a trace computes again", function ()
    local w = peri.param(peri.full(600, 1))
    local seen
    local trace = peri.trace(function () seen = w * 2 return (seen * seen):sum() end)
    local lists = {}
    for round = 2, 6 do
      w:copy(round)
      local function watch () lists[#lists + 1] = waiting(seen, 3) end
      watch()
      assert(select(2, disturbed(1, 30, function () trace:backward() end, watch)))
    end
    check(lists)
  end)
end)

describe("a finalizer that writes", function ()
  it("changes no result that is being computed", function ()
    local number, acted = 0, true
    while acted do
      number = number + 1
      core.fused(function ()
        local x, value = peri.full(5000, 2), nil
        local parts = (x:reshape(1, 5000) + 2):expand(2, 5000) + peri.zeros(2, 1) + x
        local y = (parts - x):exp() * 0 + x * 3
        acted = disturbed(number, number, function () value = y:at(2, 5000) end, function () x:copy(-1) end)
        assert.equal(6, value)
      end)
    end
    assert.is_true(number > 2)
  end)

  it("changes no sum of what waits", function ()
    for number = 1, 8 do
      local w, v = peri.param(peri.full(600, 2)), peri.param(peri.full(600, 5))
      local product, sum = w * v, nil
      disturbed(number, number, function () sum = product:sum() end, function () w:copy(-1) end)
      assert.equal(6000, sum:item())
    end
  end)

  it("makes a backward pass over what it wrote to raise, and nothing else", function ()
    local raised, number, acted = 0, 0, true
    while acted do
      number = number + 1
      local w, v = peri.param(peri.full(3000, 0.5)), peri.param(peri.full(3000, 2))
      local loss, other = (w * v):exp():log():sum(), peri.param { 1, 2 }
      local ok, message
      acted, ok, message = disturbed(number, number, function () loss:backward() end, function ()
        other:copy(3)
        if number % 2 == 0 then v:copy(7) end
      end)
      if not ok then
        assert.matches("a tensor was changed after it was used", message, 1, true)
        raised = raised + 1
      else assert.near(2, w.grad[3000], 1e-12) end
      assert.is_true(ok or number % 2 == 0)
    end
    assert.is_true(raised > 0)
  end)
end)

describe("a finalizer that changes the number of threads", function ()
  it("disturbs neither rows nor the way back", function ()
    local n, g = 0, peri.rng(1)
    local w = peri.param(g:normal(6000, 4))
    local factor = peri.tensor { { 2, 0, 0, 0 }, { 1, 3, 0, 0 }, { 0, 1, 2, 0 }, { 1, 0, 1, 1 } }
    local function work ()
      w.grad = nil
      local law = peri.MultivariateNormal { loc = w, scale_tril = factor }
      local drawn = law:rsample(nil, peri.rng(2));
      (law:log_prob(w:detach() + 1):sum() + drawn:sum()):backward()
      return peri.stack { w.grad, drawn:detach() }
    end
    local expected, found = work(), nil
    local acted, ok, message = disturbed(1, 30, function () found = work() end, function ()
      n = n + 1
      peri.set_threads(n % 3 + 1)
    end)
    peri.set_threads(1)
    assert.is_true(acted)
    assert(ok, message)
    assert.is_true(found:equal(expected))
  end)
end)
