-- logsumexp of many lines of few elements, which are taken side by side.
local peri  = require "perilune"
local check = require "spec.gradient.check"
local model = require "spec.support.reference_tensor"

local huge, nan = math.huge, 0 / 0
local specials = { nan, huge, -huge, 0, -0.0, 1, 700, -700, 1e308, -1e308, 1e-300, 3.25, 3.25 }

local function number (source)
  return source(3) == 1 and specials[source(#specials)] or model.random_number(source)
end

-- Row by row, where each is a reduction of its own.
local function one_by_one (t, dim)
  local rows, values = dim == 1 and t:transpose() or t, {}
  for i = 1, #rows do values[i] = rows[i]:logsumexp() end
  return peri.tensor(values)
end

-- The same lines 20 times, in front: so many are taken side by side.
local function many (t) return t:expand(20, table.unpack(t.shape)) end

describe("logsumexp of lines of", function ()
  for k = 2, 9 do
    it(k .. " elements has the bits of each line alone", function ()
      local source = model.source(k)
      for _ = 1, 40 do
        local t = model.random_view(peri, source, { 20, k }, number)
        assert.is_nil(model.difference(t:logsumexp(2), model.of(one_by_one(t))))
        assert.is_nil(model.difference(t:transpose():logsumexp(-2), model.of(one_by_one(t))))
        assert.same({ 20, 1 }, t:logsumexp(2, true).shape)
        assert.same({ 1, 9 * k }, peri.zeros(2, 9 * k):logsumexp(1, true).shape)
      end
      local t = model.random_view(peri, source, { 1500, k }, number)
      assert.is_nil(model.difference(t:logsumexp(2), model.of(one_by_one(t))))
    end)

    it(k .. " elements has gradients", function ()
      local x = peri.sin(peri.arange(20 * k) ^ 2):reshape(4, k, 5)
      assert.is_nil(check.mismatch(function (a) return a:logsumexp(2) ^ 2 end, { x }))
      assert.is_nil(check.mismatch(function (a) return a:transpose():logsumexp(3) ^ 2 end, { x }))
      local w = peri.param(peri.zeros(20, k))
      w:logsumexp(2):sum():backward()
      assert.is_true(w.grad:allclose(peri.full({ 20, k }, 1 / k), 1e-15))
    end)
  end
end)

describe("logsumexp", function ()
  it("keeps the digits of a sum that is near 1", function ()
    for _, lines in ipairs { { { 0, -50 }, { -50, 0 } }, { { 0, -50, -huge }, { -huge, -50, 0 } } } do
      local t = peri.tensor(lines)
      assert.is_true(many(t):logsumexp(3):allclose(peri.full({ 20, 2 }, math.exp(-50)), 1e-15))
      assert.is_true(peri.allclose(t[1]:logsumexp(), math.exp(-50), 1e-15))
    end
    local long = peri.full(2000, -50)
    long[1234] = 0
    assert.is_true(peri.allclose(long:logsumexp(), 1999 * math.exp(-50), 1e-14))
  end)

  it("knows infinities and NaN, and passes nothing on to -inf", function ()
    local lines = { { -huge, -huge }, { huge, 1 }, { huge, huge }, { -huge, 2 }, { nan, 1 }, { huge, nan },
                    { -huge, huge } }
    local values = { -huge, huge, huge, 2, nan, nan, huge }
    assert.is_nil(model.difference(many(peri.tensor(lines)):logsumexp(3)[20], { shape = { 7 }, table.unpack(values) }))
    local function near (x, y) return x ~= x and y ~= y or x == y or math.abs(x - y) < 1e-15 * x end
    for i, line in ipairs(lines) do
      local a, b = table.unpack(line)
      assert.is_nil(model.difference(peri.logsumexp(line), { shape = {}, values[i] }))
      local padded = many(peri.tensor { a, -huge, b }):logsumexp(2)
      assert.is_nil(model.difference(padded[1], { shape = {}, values[i] }, near))
    end
    local w = peri.param(many(peri.tensor { { -huge, -huge, -huge }, { -huge, 0, 0 }, { huge, 0, -huge } }))
    w:logsumexp(3):sum():backward()
    assert.same({ { 0, 0, 0 }, { 0, 0.5, 0.5 }, { 1, 0, 0 } }, w.grad[20]:totable())
  end)

  it("of a stack is that of its parts, as they were then", function ()
    local x, y = peri.arange(20) / 20, peri.cos(peri.arange(20))
    local a, b = peri.param(x), peri.param(y)
    local plain = peri.logaddexp(x, y)
    for dim = 1, 2 do
      local stack = peri.stack({ a * 1, b * 1 }, dim)
      assert.is_true(stack:logsumexp(dim):detach():allclose(plain, 1e-15))
      assert.is_nil(check.mismatch(function (u, v) return peri.stack({ u, v, u * v }, dim):logsumexp(dim) ^ 2 end,
                                   { x, y }))
    end
    local stack = peri.stack { a, b }
    a:copy(9)
    assert.is_true(stack:logsumexp(1):detach():allclose(plain, 1e-15))
    local cat = peri.cat({ b:reshape(20, 1), peri.param(x:expand(2, 20):transpose()) }, 2)
    assert.is_true(cat:logsumexp(2):detach():allclose(one_by_one(cat:detach()), 1e-15))
  end)

  it("refuses what others refuse", function ()
    local t = peri.zeros(40, 3)
    assert.error_matches(function () return t:logsumexp(3) end, "dim must be between 1 and 2 (or -1 and -2), got 3",
                         1, true)
    for _, more in ipairs { 1, false } do
      assert.error_matches(function () return t:logsumexp(2, true, more) end, "takes at most 2 arguments, got 3", 1,
                           true)
    end
    assert.error_matches(function () return t:logsumexp("2") end, "Tensor:logsumexp: ", 1, true)
  end)
end)
