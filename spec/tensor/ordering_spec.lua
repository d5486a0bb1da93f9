-- sort, argsort, quantile, median and one_hot, against models in plain Lua.
local peri  = require "perilune"
local core  = require "perilune.core"
local check = require "spec.gradient.check"
local model = require "spec.support.reference_tensor"

local huge, nan = math.huge, 0 / 0

local function message (fn, ...)
  local ok, text = pcall(fn, ...)
  assert.is_false(ok, "an error was expected")
  return (tostring(text):gsub("^[^:]+:%d+: ", ""))
end

-- Few values, so that there are equal ones.
local specials = { nan, huge, -huge, 0.0, -0.0, 1, -1, 2.5, 2.5, 5e-324, -5e-324 }
local function number (source) return specials[source(#specials)] end

-- The places of a list's elements in order: by insertion, which is stable.
local function places (list)
  local order = {}
  for i, x in ipairs(list) do
    local at = #order + 1
    while at > 1 do
      local y = list[order[at - 1]]
      if not (x < y or (y ~= y and x == x)) then break end
      at = at - 1
    end
    table.insert(order, at, i)
  end
  return order
end

local function sorted (list)
  local out = {}
  for j, i in ipairs(places(list)) do out[j] = list[i] end
  return out
end

-- Of numbers, q in [0, 1].
local function quantile (list, q)
  local all = sorted(list)
  if all[#all] ~= all[#all] then return nan end
  local h = (#all - 1) * q
  local i = math.floor(h)
  local low, high = all[i + 1], all[i + 2] or all[i + 1]
  return low + (h - i) * (high - low)
end

local function wave (i) return peri.sin(i * i) end


describe("sort and argsort", function ()
  it("agree with the model in every dimension", function ()
    local source = model.source(7)
    for round = 1, 80 do
      local rank = source(4)
      local shape = model.random_shape(source, rank, 5)
      local t, m = model.random_view(peri, source, shape, round % 2 == 0 and number or nil)
      for d = 1, rank do
        local values, index = t:sort(d)
        assert.is_nil(model.difference(values, #m == 0 and m or model.along(sorted, m, d)))
        assert.is_nil(model.difference(index, #m == 0 and m or model.along(places, m, d)))
        assert.is_true(peri.equal(index, peri.argsort(t, d - rank - 1)))
      end
    end
    for _, shape in ipairs { { 1 }, { 15 }, { 16 }, { 17 }, { 31 }, { 33 }, { 64 }, { 700 }, { 3, 130 }, { 130, 3 } } do
      local t, m = model.random_view(peri, source, shape, number)
      for d = 1, #shape do
        local values, index = peri.sort(t, d)
        assert.is_nil(model.difference(values, model.along(sorted, m, d)))
        assert.is_nil(model.difference(index, model.along(places, m, d)))
      end
    end
  end)

  it("go along the last dimension unless told, and take tables", function ()
    local values, index = peri.sort { { 3, 1, 2 }, { -1, 5, 0 } }
    assert.same({ { 1, 2, 3 }, { -1, 0, 5 } }, values:totable())
    assert.same({ { 2, 3, 1 }, { 1, 3, 2 } }, index:totable())
    assert.same({ 2, 1 }, peri.argsort({ 4, 3 }):totable())
    assert.same({ 0 }, (peri.sort {}).shape)
    assert.same({ 2, 0 }, (peri.zeros(2, 0):sort()).shape)
    assert.same({ 0, 2 }, (peri.zeros(0, 2):sort(2)).shape)
  end)

  it("take no longer for rows made to be slow", function ()
    local n = 200000
    local i = peri.arange(n)
    local rows = { up = i, down = -i, equal = peri.zeros(n), pipe = -peri.abs(i - n / 2), saw = i % 7, wave = wave(i),
                   killer = peri.where((i % 2):eq(0), i, n - i), almost = peri.where(i:eq(0), huge, i) }
    for name, t in pairs(rows) do
      local values, index = t:sort()
      local before, after = values:narrow(1, 1, n - 1), values:narrow(1, 2, n - 1)
      assert.equal(1, peri.all(before:le(after)), name)
      assert.is_true(peri.equal(t[index], values))
      local first, second = index:narrow(1, 1, n - 1), index:narrow(1, 2, n - 1)
      assert.equal(1, peri.all(before:lt(after) + first:lt(second)), name .. " is not stable")
      assert.equal(n * (n + 1) / 2, index:sum())
    end
  end)

  it("have a gradient that goes back by the permutation", function ()
    local w = peri.param { 3, 1, 2 }
    ;(w:sort() * peri.tensor { 1, 10, 100 }):sum():backward()
    assert.same({ 100, 1, 10 }, w.grad:totable())
    local x = wave(peri.arange(24)):reshape(2, 3, 4)
    for d = 1, 3 do
      assert.is_nil(check.mismatch(function (a) return peri.exp((a:sort(d))) end, { x }))
      assert.is_nil(check.mismatch(function (a) return peri.exp((a:transpose(1, 2):sort(d))) end, { x }))
    end
    assert.is_false(core.tracked(w:argsort()))
    assert.is_false(core.tracked((select(2, w:sort()))))
  end)

  it("are replayed with the order of the moment", function ()
    local w, data = peri.param { 1, 2, 3 }, peri.tensor { 5, 7, 9 }
    local trace = peri.trace(function ()
      local values, index = w:sort()
      return (values * { 1, 10, 100 }):sum() + data[index]:matmul { 1, 0, 0 }
    end)
    assert.equal(321 + 5, trace())
    w:copy { 9, 4, 6 }
    assert.equal(964 + 7, trace:backward())
    assert.same({ 100, 1, 10 }, w.grad:totable())
  end)

  it("refuse what has no rows", function ()
    for _, name in ipairs { "sort", "argsort" } do
      assert.equal(name .. ": a tensor of rank 0 has no rows", message(peri[name], 3))
      assert.equal(name .. ": dim must be an integer between 1 and 2 (or -1 and -2), got 3",
                   message(peri[name], peri.zeros(2, 2), 3))
      assert.equal(name .. "(t, dim) takes no more arguments, got true", message(peri[name], { 1 }, 1, true))
      assert.equal(name .. ": the operand must be a number, a table of numbers or a tensor, got the string \"x\"",
                   message(peri[name], "x"))
    end
  end)
end)


describe("quantile and median", function ()
  -- R 4.2: quantile(c(2, 7, 1, 8, 2, 8), c(0, .1, .25, .5, .9, 1)), type 7
  it("agree with R", function ()
    assert.is_true(peri.quantile({ 2, 7, 1, 8, 2, 8 }, { 0, 0.1, 0.25, 0.5, 0.9, 1 })
                   :allclose({ 1, 1.5, 2, 4.5, 8, 8 }, 1e-15))
  end)

  it("agree with the model in every dimension", function ()
    local source, near = model.source(11), model.near(1e-14, 1)
    for _ = 1, 60 do
      local rank, shape = source(3), {}
      for d = 1, rank do shape[d] = source(5) end
      local t, m = model.random_view(peri, source, shape)
      local q = (source(101) - 1) / 100
      for d = 1, rank do
        local wanted = model.reduce(function (list) return quantile(list, q) end, m, { [d] = true })
        local kept = model.reduce(function (list) return quantile(list, q) end, m, { [d] = true }, true)
        assert.is_nil(model.difference(t:quantile(q, d), wanted, near))
        assert.is_nil(model.difference(t:quantile(q, d - rank - 1, true), kept, near))
        local several = t:quantile({ q, 1 - q, q }, d)
        assert.same({ 3, table.unpack(wanted.shape) }, several.shape)
        assert.is_nil(model.difference(several[3], wanted, near))
        assert.is_true(peri.equal(peri.tensor(several[2]), t:quantile(1 - q, d)))
        assert.is_true(peri.equal(several, t:quantile({ q, 1 - q, q }, d, true):select(d + 1, 1)))
      end
      local all = {}
      for d = 1, rank do all[d] = true end
      assert.is_nil(model.difference(t:quantile(q), model.reduce(function (list) return quantile(list, q) end, m, all),
                                     near))
    end
  end)

  it("give a number for a number, and a median in the middle", function ()
    assert.equal("number", type(peri.median { 3, 1, 2 }))
    assert.equal(2.5, peri.median { { 4, 1 }, { 2, 3 } })
    assert.equal(2.5, peri.quantile({ 1, 2, 3, 4 }, 0.5))
    assert.equal(7, peri.median(7))
    assert.same({ 3, 2.5 }, peri.median({ { 4, 1 }, { 2, 4 } }, 1):totable())
    assert.same({ 1, 1 }, peri.zeros(3, 2):median(nil, true).shape)
    assert.same({ 2, 1, 1 }, peri.zeros(3, 2):quantile({ 0, 1 }, nil, true).shape)
    assert.same({ 0 }, peri.zeros(3):quantile({}).shape)
    assert.same({ 0 }, peri.zeros(0, 3):median(2).shape)
  end)

  it("know infinities and NaN", function ()
    assert(peri.median { 1, nan, 2 } ~= peri.median { 1, nan, 2 })
    assert.equal(2, peri.median { -huge, 2, huge })
    assert.equal(huge, peri.median { 1, huge })
    assert.equal(-huge, peri.quantile({ -huge, 1, 2 }, 0.25))
    assert.equal(huge, peri.median { huge, huge })
    assert.equal(0, peri.median { -1.5e308, 1.5e308 })
    assert.equal(0.1, peri.quantile({ 0.1, 0.1, 0.1 }, 0.3))
  end)

  it("have gradients in values and q", function ()
    local w = peri.param { 9, 1, 4 }
    w:quantile(0.25):backward()
    assert.same({ 0, 0.5, 0.5 }, w.grad:totable())
    local x, q = wave(peri.arange(24)):reshape(2, 3, 4), peri.tensor { 0.21, 0.77 }
    for d = 1, 3 do
      assert.is_nil(check.mismatch(function (a, b) return peri.exp(a:quantile(b, d)) end, { x, q }))
    end
    assert.is_nil(check.mismatch(function (a) return peri.exp(a:median()) end, { x }))
    assert.is_nil(check.mismatch(function (a) return a:transpose():median(1, true) ^ 2 end, { x }))
  end)

  it("refuse other q, and nothing to choose from", function ()
    local t = peri.zeros(2, 3)
    assert.equal("quantile: q must be between 0 and 1, got 1.5", message(t.quantile, t, 1.5))
    assert.equal("quantile: q must be between 0 and 1, got nan at [2]", message(t.quantile, t, { 0, nan }))
    assert.equal("quantile: q must be a number or a list of them, got shape (1, 2)",
                 message(t.quantile, t, { { 0, 1 } }))
    assert.equal("quantile: dim must be an integer between 1 and 2 (or -1 and -2), got 3",
                 message(t.quantile, t, 0.5, 3))
    assert.equal("median: dim must be an integer between 1 and 2 (or -1 and -2), got 0", message(t.median, t, 0))
    assert.equal("median: there are no elements to choose from", message(peri.median, {}))
    assert.equal("quantile: there are no elements to choose from", message(peri.quantile, peri.zeros(3, 0), 0.5, 2))
    assert.equal("quantile(t, q, dim, keep) takes no more arguments, got 1", message(t.quantile, t, 0, 1, true, 1))
  end)
end)


describe("one_hot", function ()
  it("has a 1 at each index", function ()
    assert.same({ { 0, 1, 0 }, { 1, 0, 0 }, { 0, 0, 1 } }, peri.one_hot({ 2, 1, 3 }, 3):totable())
    assert.same({ 0, 0, 1, 0 }, peri.one_hot(3, 4):totable())
    assert.same({ { { 1 } }, { { 1 } } }, peri.one_hot({ { 1 }, { 1 } }, 1):totable())
    assert.same({ 0, 5 }, peri.one_hot({}, 5).shape)
    assert.same({ 0, 0 }, peri.one_hot({}, 0).shape)
    assert.same({ { 1, 0 }, { 0, 1 } }, peri.tensor { { 1, 2 }, { 2, 1 } }:select(2, 1):one_hot(2):totable())
  end)

  it("is computed anew in a trace", function ()
    local w = peri.param { 1, 5, 3 }
    local trace = peri.trace(function () return (w * w:argmax():one_hot(3)):sum() end)
    w:copy { 9, 1, 2 }
    assert.equal(9, trace:backward())
    assert.same({ 1, 0, 0 }, w.grad:totable())
  end)

  it("refuses what is no place", function ()
    local rule = "one_hot: an index must be an integer between 1 and 3, got "
    assert.equal(rule .. "4 at [2]", message(peri.one_hot, { 1, 4 }, 3))
    assert.equal(rule .. "0", message(peri.one_hot, 0, 3))
    assert.equal(rule .. "-1 at [1]", message(peri.one_hot, { -1 }, 3))
    assert.equal(rule .. "1.5", message(peri.one_hot, 1.5, 3))
    assert.equal("one_hot: n must be a non-negative integer, got -1", message(peri.one_hot, {}, -1))
    assert.equal("one_hot: n must be a non-negative integer, got nil", message(peri.one_hot, 1))
  end)
end)
