-- One number is a Lua number: every result of rank 0 that carries no gradient.
local peri = require "perilune"

local t, m, one = peri.tensor { 1, 5, 2 }, peri.tensor { { 1, 2 }, { 3, 4 } }, peri.tensor(3)

local numbers = {
  ["a sum"]                  = { 8, function () return t:sum() end },
  ["a mean of a dimension"]  = { 2.5, function () return t:narrow(1, 1, 2):var(1) - 5.5 end },
  ["a product"]              = { 10, function () return peri.prod(t) end },
  ["the largest"]            = { 5, function () return t:max(1) end },
  ["an element"]             = { 5, function () return t[2] end },
  ["a selected element"]     = { 3, function () return m:select(1, 2):select(1, 1) end },
  ["a squeezed tensor"]      = { 3, function () return peri.tensor { { 3 } }:squeeze() end },
  ["a reshaped tensor"]      = { 3, function () return peri.tensor { 3 }:reshape({}) end },
  ["a copy"]                 = { 3, function () return one:clone() end },
  ["an operator"]            = { 4, function () return one + 1 end },
  ["a function"]             = { 9, function () return peri.square(one) end },
  ["a comparison"]           = { 1, function () return one:gt(2) end },
  ["a product of vectors"]   = { 30, function () return t:matmul(t) end },
  ["a sum of table entries"] = { 6, function () return peri.sum { 1, 2, 3 } end },
  ["a number's own sum"]     = { 7, function () return peri.max(7) end },
  ["what is detached"]       = { 3, function () return peri.param(3):detach() end },
  ["what no_grad computes"]  = { 6, function () return peri.no_grad(function () return peri.param(3) * 2 end) end },
  ["a KL of Categoricals"]   = { 0, function ()
    return peri.kl_divergence(peri.Categorical { 1, 1 }, peri.Categorical { 2, 2 })
  end },
  ["a mixture's quantile"]   = { 0, function ()
    return peri.MixtureSameFamily(peri.Categorical { 1, 1 }, peri.Normal({ -1, 1 }, 1)):icdf(0.5)
  end },
  ["a gradient"]             = { 6, function ()
    local w = peri.param(3)
    ;(w * w):backward()
    return w.grad
  end },
}
for name, case in pairs(numbers) do
  it(name .. " is a number", function ()
    local value = case[2]()
    assert.equal("number", type(value))
    assert.near(case[1], value, 1e-12)
  end)
end

it("places are integers, so that they name things", function ()
  local names = { "one", "five", "two" }
  assert.equal("five", names[t:argmax()])
  assert.equal("one", names[t:argmin(1)])
  assert.equal("integer", math.type(t:argmax()))
  assert.equal("integer", math.type(peri.Categorical { 1, 2 }:mode()))
  assert.equal("three", ({ "one", "two", "three" })[peri.Categorical { 0, 0, 1 }:sample()])
end)

it("numbers serve wherever Lua wants one", function ()
  assert.is_true(t:sum() == 8)
  assert.equal("8.0", string.format("%.1f", t:sum()))
  assert.equal(9, #peri.linspace(t:min(), t:max(), 9))
  assert.equal(5, math.max(t:max(), 2))
end)

it("tensors of rank 0 are what was asked for, or carries a gradient", function ()
  local w = peri.param { 1, 2 }
  for _, x in ipairs { peri.tensor(3), peri.param(3), w:sum(), w[2], w:max(), w:select(1, 1), peri.zeros({}) } do
    assert.is_true(peri.is_tensor(x))
    assert.same({}, x.shape)
    assert.equal("number", type(peri.item(x)))
  end
  assert.equal("Tensor() 3", tostring(w:sum()))
  assert.equal("Normal(loc=3, scale=1)", tostring(peri.Normal(w:sum(), 1)))
end)
