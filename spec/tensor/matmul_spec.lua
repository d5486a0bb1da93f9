--- The product of matrices, against three plain loops.
local peri  = require "perilune"
local model = require "spec.support.reference_tensor"

local function message (fn, ...)
  local ok, text = pcall(fn, ...)
  assert.is_false(ok, "an error was expected")
  return (tostring(text):gsub("^[^:]+:%d+: ", ""))
end

-- Products and sums of these are exact, in any order.
local function small_integer (source) return source(9) - 5 end


describe("matmul", function ()
  it("multiplies", function ()
    local a, b = peri.tensor { { 1, 2 }, { 3, 4 } }, peri.tensor { { 5, 6 }, { 7, 8 } }
    assert.same({ { 19, 22 }, { 43, 50 } }, a:matmul(b):totable())
    assert.same({ { 19, 22 }, { 43, 50 } }, peri.matmul({ { 1, 2 }, { 3, 4 } }, b):totable())
    assert.same({ { 19, 43 }, { 22, 50 } }, b:transpose():matmul(a:transpose()):totable())
  end)

  it("takes a vector as a row on the left and a column on the right", function ()
    local a = peri.tensor { { 1, 2, 3 }, { 4, 5, 6 } }
    assert.same({ 14, 32 }, a:matmul { 1, 2, 3 }:totable())
    assert.same({ 9, 12, 15 }, peri.matmul({ 1, 2 }, a):totable())
    local dot = peri.matmul({ 1, 2, 3 }, { 4, 5, 6 })
    assert.equal(32, dot)
    assert.same({ { 14, 32 } }, peri.matmul(a:unsqueeze(1), { 1, 2, 3 }):totable())
    assert.same({ { 9, 12, 15 } }, peri.matmul({ 1, 2 }, a:unsqueeze(1)):totable())
  end)

  local sizes = { 0, 1, 2, 3, 4, 5, 7, 8, 9, 12, 17 }
  for _, m in ipairs(sizes) do
    it("is exact on integers, for " .. m .. " rows", function ()
      local source = model.source(m + 1)
      for _, k in ipairs(sizes) do
        for _, n in ipairs(sizes) do
          local t, a = model.random_view(peri, source, { m, k }, small_integer)
          local u, b = model.random_view(peri, source, { k, n }, small_integer)
          assert.is_nil(model.difference(t:matmul(u) + 0, model.matmul(a, b)))
        end
      end
    end)
  end

  for _, k in ipairs { 255, 256, 257, 600 } do
    it("crosses panels: inner size " .. k, function ()
      local source = model.source(k)
      local t, a = model.random_view(peri, source, { 5, k }, small_integer)
      local u, b = model.random_view(peri, source, { k, 9 }, small_integer)
      assert.is_nil(model.difference(t:matmul(u), model.matmul(a, b)))
    end)
  end

  it("agrees within rounding on other numbers, batches broadcast", function ()
    local source = model.source(4)
    for _ = 1, 120 do
      local batch = model.random_shape(source, source(3) - 1, 3)
      local other = { table.unpack(batch, source(#batch + 1)) }
      for d = 1, #other do if source(2) == 1 then other[d] = 1 end end
      local m, k, n = source(6) - 1, source(6) - 1, source(6) - 1
      local left, right = { table.unpack(batch) }, other
      left[#left + 1], left[#left + 2] = m, k
      right[#right + 1], right[#right + 2] = k, n
      local t, a = model.random_view(peri, source, left)
      local u, b = model.random_view(peri, source, right)
      assert.is_nil(model.difference(t:matmul(u), model.matmul(a, b), model.near(1e-13, 10)))
    end
  end)

  it("lets infinities and NaN through where they belong, and nowhere else", function ()
    local a = peri.ones(6, 9)
    a:at(3):copy(math.huge)
    local c = a:matmul(peri.ones(9, 10))
    assert.equal(10, peri.item(c:isinf():sum()))
    assert.equal(math.huge, c:at(3, 7))
    a:at(3)[4] = 0 / 0
    assert.equal(10, peri.item(a:matmul(peri.ones(9, 10)):isnan():sum()))
  end)

  local refused = {
    { { 2, 3 }, { 2, 3 }, "matmul: shapes (2, 3) and (2, 3) do not fit" },
    { { 2, 2, 3 }, { 4, 3, 1 }, "matmul: shapes (2, 2, 3) and (4, 3, 1) do not broadcast" },
    { {}, { 2 }, "matmul: both operands need at least one dimension" },
    { { 3 }, {}, "matmul: both operands need at least one dimension" },
    { { 3 }, { 4 }, "matmul: shapes (3) and (4) do not fit" },
    { { 2, 3 }, { 4 }, "matmul: shapes (2, 3) and (4) do not fit" },
  }
  for _, case in ipairs(refused) do
    it("refuses: " .. case[3], function ()
      assert.equal(case[3], message(peri.matmul, peri.zeros(case[1]), peri.zeros(case[2])))
    end)
  end

  it("refuses what is no tensor, by its own name", function ()
    assert.matches("^matmul: .* got the string \"x\"$", message(peri.matmul, peri.zeros(2, 2), "x"))
    assert.matches("^matmul: .* got nil$", message(peri.matmul, peri.zeros(2, 2)))
  end)
end)
