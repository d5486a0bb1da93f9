-- What is constant but for jumps has the derivative 0 and says nothing: quantiles, modes and draws of counts.
local peri     = require "perilune"
local core     = require "perilune.core"
local contract = require "spec.support.contract"

local unpack = table.unpack

-- Laws on more than single numbers, as functions of a tensor.
local rows = {
  Categorical       = { function (l) return peri.Categorical { logits = l } end, "icdf", "isf", "median", "mode" },
  OneHotCategorical = { function (l) return peri.OneHotCategorical { logits = l } end, "mode" },
  Multinomial       = { function (l) return peri.Multinomial { total_count = 5, logits = l } end, "mode" },
}

-- The method at 0.4, or of the law alone; what depends on 0.4 has it as one more parameter.
local takes = { icdf = true, isf = true }
local function value_of (d, method, p)
  if takes[method] then return d[method](d, p) end
  return d[method](d)
end

-- Gradients with respect to all arguments of f, beside something whose gradient is 1.
local function gradients (f, arguments)
  local tracked, loss = {}, 0
  for k, x in ipairs(arguments) do
    tracked[k] = peri.param(x)
    loss = loss + tracked[k]:sum()
  end
  loss = loss + core.tensor(f(unpack(tracked))):sum()
  loss:backward()
  return tracked
end

local function assert_flat (f, arguments)
  for k, w in ipairs(gradients(f, arguments)) do
    assert(peri.all(peri.eq(w.grad, 1)) == 1, "argument " .. k .. " has a gradient")
  end
end

local discrete = 0
for _, name in ipairs(core.classes()) do
  local class, points = peri[name], contract.of(name).points
  local d = points and class(unpack(points[1]))
  if d and d.support and d.support.is_discrete then
    discrete = discrete + 1
    for _, method in ipairs { "icdf", "isf", "median", "mode", "sample" } do
      it(name .. ":" .. method, function ()
        for _, point in ipairs(points) do
          assert_flat(function (p, ...) return value_of(class(...), method, p) end, { 0.4, unpack(point) })
        end
      end)
    end
  end
end

it("is asked of all families of counts", function () assert(discrete >= 9, discrete) end)

for name, row in pairs(rows) do
  for _, method in ipairs { "sample", unpack(row, 2) } do
    it(name .. ":" .. method, function ()
      local logits = { { 0.3, -0.2, 1.1 }, { 2, 1, 0 } }
      assert_flat(function (p, l) return value_of(row[1](l), method, p) end, { 0.4, logits })
    end)
  end
end

it("is 0 for grad as well", function ()
  assert.equal(0, peri.grad(function (rate) return peri.Poisson(rate):icdf(0.7) end)(3.5))
  assert.equal(0, peri.grad(function (p) return peri.Binomial(9, 0.3):isf(p) end)(0.7))
end)

it("jumps where the quantile does", function ()
  local d = peri.Poisson(peri.param(3.5))
  assert.same({ 2, 5 }, { peri.item(d:icdf(0.3)), peri.item(d:icdf(0.8)) })
end)
