-- t[index] and t:index_select(dim, index): rows by their numbers.
local peri  = require "perilune"
local check = require "spec.gradient.check"

local t = peri.arange(24):reshape(4, 3, 2)

-- What indexing one by one gives.
local function one_by_one (x, index)
  local rows = {}
  for i, k in ipairs(index) do rows[i] = x[k] end
  return peri.stack(rows)
end

describe("t[index]", function ()
  local indices = { { 1 }, { 4, 1, 1 }, { -1, 2, -4 }, { 2, 2, 2, 2, 2 } }
  for _, index in ipairs(indices) do
    it("gathers rows " .. table.concat(index, ", "), function ()
      for _, x in ipairs { t, peri.tensor { 5, 6, 7, 8 }, t:transpose(1, 2):contiguous():transpose(1, 2),
                           t:narrow(3, 2, 1), peri.tensor { { 1, 2 } }:expand(4, 2) } do
        assert.is_true(peri.equal(one_by_one(x, index), x[index]))
        assert.is_true(peri.equal(x[index], x[peri.tensor(index)]))
      end
    end)
  end

  it("has the shape of the index before that of a row", function ()
    local x = t[{ { 1, 2, 3 }, { 4, 3, 2 } }]
    assert.same({ 2, 3, 3, 2 }, x.shape)
    assert.is_true(peri.equal(t[2], x:at(2, 3)))
    assert.same({ 0, 3, 2 }, t[{}].shape)
    assert.same({ 0, 3 }, peri.zeros(0, 3)[{}].shape)
    assert.is_true(peri.equal(t[3], t[peri.tensor(3)]))
    assert.equal(6, peri.tensor { 5, 6 }[peri.tensor(2)])
  end)

  it("takes what argmax and Categorical give", function ()
    local names = peri.tensor { 10, 20, 30 }
    assert.same({ 30, 10 }, names[peri.tensor { { 1, 2, 9 }, { 3, 2, 1 } }:argmax(2)]:totable())
    assert.same({ 5 }, names[peri.Categorical { 0, 1, 0 }:sample(5, peri.rng(1))].shape)
  end)

  it("names an index that is none", function ()
    for value, text in pairs { [0] = "0", [5] = "5", [-5] = "-5", [1.5] = "1.5" } do
      assert.error_matches(function () return t[{ 1, value }] end,
        "Tensor[index]: an index must be an integer between 1 and 4 (or -1 and -4), got " .. text .. " at [2]", 1, true)
    end
    assert.error_matches(function () return t[{ 0 / 0 }] end, "got nan", 1, true)
    assert.error_matches(function () return peri.tensor(1)[{ 1 }] end, "a tensor of rank 0 has no rows", 1, true)
    assert.error_matches(function () return t[io.stdout] end, "must be a number, a table of numbers or a", 1, true)
  end)

  it("has a gradient, which sums over rows that come twice", function ()
    local w = peri.param { 1, 2, 3 }
    ;(w[{ 1, 1, 3 }] * peri.tensor { 1, 10, 100 }):sum():backward()
    assert.same({ 11, 0, 100 }, w.grad:totable())
    local x = peri.Normal(0, 1):sample({ 4, 3, 2 }, peri.rng(1))
    assert.is_nil(check.mismatch(function (a) return peri.exp(a[{ 1, -1, 2, 1 }]) end, { x }))
    assert.is_nil(check.mismatch(function (a) return peri.exp(a:index_select(-1, { 2, 2, 1 })) end, { x }))
  end)

  it("follows an index that changes between replays of a trace", function ()
    local w, index = peri.param { 1, 2, 3 }, peri.tensor { 1, 2 }
    local trace = peri.trace(function () return (w[index] ^ 2):sum() end)
    assert.equal(5, trace())
    index:copy { 3, -1 }
    assert.equal(18, trace:backward())
    assert.same({ 0, 0, 12 }, w.grad:totable())
    index:copy { 3, 4 }          -- of no row
    assert(trace() ~= trace())
  end)
end)

describe("index_select", function ()
  it("takes slices along a dimension", function ()
    assert.is_true(peri.equal(t[{ 3, 1 }], t:index_select(1, { 3, 1 })))
    assert.same({ { 3, 1 }, { 7, 5 }, { 11, 9 } },
                peri.arange(12):reshape(3, 4):index_select(2, peri.tensor { 4, -3 }):totable())
    assert.same({ 4, 3, 5 }, t:index_select(-1, { 1, 1, 2, 2, 1 }).shape)
  end)

  it("refuses what names no slice", function ()
    assert.error_matches(function () t:index_select(3, { 3 }) end,
      "Tensor:index_select: an index must be an integer between 1 and 2 (or -1 and -2), got 3 at [1]", 1, true)
    assert.error_matches(function () t:index_select(4, { 1 }) end,
      "Tensor:index_select: dim must be an integer between 1 and 3 (or -1 and -3), got 4", 1, true)
    assert.error_matches(function () t:index_select(1, 2) end,
      "Tensor:index_select: index must be a list of integers, got shape ()", 1, true)
  end)
end)
