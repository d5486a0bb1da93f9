-- A loss that waits gets its value while it is differentiated: the same number, and the same gradient, whichever is
-- asked for first, and whoever shares the work.
local peri = require "perilune"
local core = require "perilune.core"

local unpack = table.unpack

local HEIGHT, WIDTH = 9, 541   -- large enough, no multiple of a block, blocks end within rows
local FEW  = 3                                               -- columns, of files that take
local DEAR = { noncentralchi2 = true, noncentralf = true, noncentralt = true }   -- up to 20 ms for an element
local LETTERS = { "a", "b", "c", "d", "e", "f", "g", "h" }

local function is_same (a, b) return a == b or a ~= a and b ~= b end

-- Equal bits; one NaN is as good as another.
local function same_tensors (a, b)
  local numbers = 1 - peri.ne(a, a) * peri.ne(b, b)
  return peri.sum(peri.ne(a, b) * numbers) == 0
end

-- The value of loss(params...) and the gradients of the parameters, copies of `operands`.
local function differentiate (loss, operands, read_first)
  local params, grads = {}, {}
  for k, t in ipairs(operands) do params[k] = peri.param(t) end
  local result = loss(unpack(params))
  local value = read_first and peri.item(result)
  result:backward()
  for k, w in ipairs(params) do grads[k] = w.grad end
  return value or peri.item(result), grads
end

-- The same, having asserted that it is so in either order.
local function in_any_order (loss, operands)
  local value, grads = differentiate(loss, operands, true)
  local later, others = differentiate(loss, operands, false)
  assert(is_same(value, later), "the value")
  for k, g in ipairs(grads) do assert(same_tensors(g, others[k]), "gradient " .. k) end
  return value, grads
end

local function assert_near (expected, found, size)
  assert(is_same(expected, found) or math.abs(expected - found) <= 1e-13 * size,
         string.format("%.17g instead of %.17g", found, expected))
end

local function uniform (k, ...) return 0.1 + 0.8 * peri.rng(k):uniform(...) end

-- A whole tensor, a row and a column by turns.
local function broadcast_operands (n, width)
  local shapes, operands = { { HEIGHT, width }, { width }, { HEIGHT, 1 } }, {}
  for k = 1, n do operands[k] = uniform(k, unpack(shapes[(k - 1) % 3 + 1])) end
  return operands
end

-- A tensor, and single numbers; or tensors of those.
local function single_operands (n, width, expanded)
  local operands = { uniform(1, HEIGHT, width) }
  for k = 2, n do
    local number = 0.2 + 0.1 * k
    operands[k] = expanded and peri.full(HEIGHT, width, number) or number
  end
  return operands
end

local function check_broadcast (f, n, width)
  local operands = broadcast_operands(n, width)
  local value = in_any_order(function (...) return f(...):sum() end, operands)
  assert(is_same(peri.item(f(unpack(operands)):sum()), value), "the sum of what is stored")
end

local function check_singles (f, n, width)
  local operands, expanded = single_operands(n, width), single_operands(n, width, true)
  local values = f(unpack(operands))
  local value, grads = in_any_order(function (...) return f(...):sum() end, operands)
  local _, others = differentiate(function (...) return f(...):sum() end, expanded)
  assert_near(peri.item(values:sum()), value, peri.item(peri.abs(values):sum()))
  for k = 2, n do assert_near(peri.item(others[k]:sum()), peri.item(grads[k]), peri.item(peri.abs(others[k]):sum())) end
end

describe("value and gradient agree in any order for", function ()
  for _, file in ipairs(core.kernel_files()) do
    local kernels = core.kernels(file)
    for _, kernel in ipairs(kernels) do
      if kernel.has_partials and kernel.kind == "elementwise" then
        it(file .. "." .. kernel.name, function ()
          local takes = { unpack(LETTERS, 1, kernel.n_in) }
          local f = core.bind_value(file, kernel.name, kernel.name, takes, takes)
          local width = DEAR[file] and FEW or WIDTH
          check_broadcast(f, kernel.n_in, width)
          check_singles(f, kernel.n_in, width)
        end)
      end
    end
  end
end)


describe("a loss that was differentiated", function ()
  local x = peri.rng(1):normal(40003)   -- shared out among threads
  local families = { Normal = peri.Normal, Laplace = peri.Laplace }

  after_each(function () peri.set_threads(1) end)

  local function likelihood (class, data)
    return function (loc, scale) return class(loc, scale):log_prob(data):sum() end
  end

  it("is the same with any number of threads", function ()
    local p = { uniform(1, 40003), uniform(2, 40003), uniform(3, 40003), uniform(4, 40003) }
    local function kl (class)
      return function (a, b, c, d) return peri.kl_divergence(class(a, b), class(c, d)):mean() end
    end
    for _, case in ipairs {
      { kl(peri.Normal), p }, { kl(peri.Gamma), p }, { kl(peri.Normal), { p[1], p[2], 0.3, 0.4 } },
      { likelihood(peri.Normal, x), { 0.1, 1.2 } }, { likelihood(peri.Cauchy, x), { 0.1, 1.2 } },
      { function (loc, data) return peri.Normal(loc, 2):log_prob(data):mean() end, { 0.1, x } },
      { function (w) return (peri.exp(w[1] * x) * w:narrow(1, 1, 1)):sum() end, { peri.tensor { 0.3, 0.2 } } },
    } do
      local value, grads
      for threads = 1, 3 do
        peri.set_threads(threads)
        local v, g = in_any_order(unpack(case))
        value, grads = value or v, grads or g
        assert.equal(value, v)
        for k in ipairs(g) do assert.is_true(peri.equal(g[k], grads[k])) end
      end
    end
  end)

  it("has its digits whatever the scale", function ()
    for _, class in pairs(families) do
      for _, scale in ipairs { 1e-310, 1e-303, 1e-200, 1e-3, 1, 1e3, 1e200, 1.7e308 } do
        local data, loc = x * (0.1 * scale), 0.025 * scale
        local value, grads = in_any_order(likelihood(class, data), { loc, scale })
        local unit, slopes = in_any_order(likelihood(class, (data - loc) / scale), { 0, 1 })
        local expected = unit - 40003 * math.log(scale)
        assert_near(expected, value, 1e5 + math.abs(expected))
        for k = 1, scale > 1e-304 and 2 or 0 do   -- below, slopes are too large for a double
          assert_near(peri.item(slopes[k]) / scale, peri.item(grads[k]), 1e5 / scale)
        end
      end
    end
  end)

  it("knows infinities and NaN", function ()
    for _, class in pairs(families) do
      for _, odd in ipairs { math.huge, -math.huge, 0/0 } do
        local data = x:clone()
        data[777] = odd
        local value, grads = in_any_order(likelihood(class, data), { 0.5, 2 })
        assert(is_same(odd == odd and -math.huge or odd, value))
        assert(is_same(peri.item(class(0.5, 2):log_prob(data):sum()), value))
        assert.equal(odd ~= odd, peri.item(grads[1]) ~= peri.item(grads[1]))
      end
    end
  end)

  it("keeps its value when operands change, and what was made of it too", function ()
    local data, w = x:clone(), peri.param { 0.5, 2 }
    local function loss () return -likelihood(peri.Normal, data)(w[1], w[2]) / 3 end
    local expected, late = peri.item(loss()), loss()
    late:backward { retain = true }
    late:backward()
    data:copy(0)
    w:copy(1)
    collectgarbage()
    assert.equal(expected, peri.item(late))
  end)

  it("keeps its value when the pass fails", function ()
    local w = peri.param(x)
    local fail = peri.func { forward = function (y) return y * 1 end, backward = function () error "no" end }
    local loss = peri.Normal(fail(w), 1):log_prob(x):sum()
    local expected = peri.item(peri.Normal(w:detach(), 1):log_prob(x):sum())
    assert.matches("no", select(2, pcall(loss.backward, loss)))
    assert.is_nil(w.grad)
    assert.equal(expected, peri.item(loss))
  end)

  it("may lie across memory", function ()
    local function loss (p, q)
      return peri.kl_divergence(peri.Normal(0, p:transpose()), peri.Normal(0, q:reshape(97, 1))):sum()
    end
    for seed = 1, 9 do
      local a, b = uniform(seed, 83, 97), uniform(-seed, 97)
      assert.equal(peri.item(loss(a, b)), in_any_order(loss, { a, b }))
    end
  end)
end)
