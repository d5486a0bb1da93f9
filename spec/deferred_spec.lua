-- Formulas run in one pass: core.fused(fn, ...) gives what fn(...) gives, to the last bit.
local peri = require "perilune"
local core = require "perilune.core"

local N = 6000   -- large enough to wait

local function draws (seed, ...) return peri.Normal(0, 1):sample({ ... }, peri.rng(seed)) end

local function same (formula, ...)
  local expected, got = formula(...), core.fused(formula, ...)
  assert.is_true(expected:equal(got))
  return got
end

describe("core.fused", function ()
  after_each(function () peri.set_threads(1) end)

  it("changes no bit of a formula", function ()
    local a, b = draws(1, N), peri.exp(draws(2, N))
    local function formula (x, s)
      local z = x / s
      return 0.5 * (z * z - 1) - peri.log(s) + peri.maximum(z, 0.25) ^ 2
    end
    local alone = same(formula, a, b)
    peri.set_threads(2)
    assert.is_true(alone:equal(same(formula, a, b)))
  end)

  it("takes numbers, rows, columns, transposed and smaller operands", function ()
    local m, row, column = draws(3, 90, 70), draws(4, 70), draws(5, 90, 1)
    same(function () return (m + row) * column - 2 * row end)
    same(function () return m:transpose(1, 2) + m:reshape(70, 90) * 3 end)
    same(function () return (row * row):sum() + m * row end)
    same(function () return m:narrow(1, 2, 80):exp() + 1 end)
  end)

  it("computes chains of any length, and formulas of any width", function ()
    local x = draws(6, N)
    same(function ()
      local y = x
      for i = 1, 200 do y = y * 0.99 + i end
      return y
    end)
    same(function ()
      local y = x
      for _ = 1, 20 do y = y + y end   -- each result is used twice
      return y
    end)
    local many = {}
    for i = 1, 40 do many[i] = draws(100 + i, N) end
    same(function ()
      local sums = {}
      for i = 1, 20 do sums[i] = many[i] * many[20 + i] end
      while #sums > 1 do
        local pairs_of = {}
        for i = 1, #sums - 1, 2 do pairs_of[#pairs_of + 1] = sums[i] - sums[i + 1] end
        if #sums % 2 == 1 then pairs_of[#pairs_of + 1] = sums[#sums] end
        sums = pairs_of
      end
      return sums[1]
    end)
  end)

  it("computes what is looked at on the way", function ()
    local x = draws(7, N)
    local function formula ()
      local y = peri.exp(x)
      local total, first, shape = peri.item(y:sum()), y[1], y.shape
      assert.equal(N, shape[1])
      local text = tostring(y)
      assert(#text > 0 and core.is_tensor(y))
      return y * total + first
    end
    same(formula)
  end)

  it("is not fooled by operands that change afterwards", function ()
    local x = draws(8, N)
    local before = x[1]
    local stashed
    local y = core.fused(function ()
      local doubled = 2 * x
      stashed = x + 1
      x[1] = 100
      return doubled
    end)
    assert.equal(2 * before, y[1])
    assert.equal(before + 1, stashed[1])
    core.fused(function () stashed = x + 2 end)
    x[1] = -5
    assert.equal(102.0, stashed[1])
  end)

  it("is not fooled by a result on the way that is looked at, and then changed", function ()
    local x = peri.zeros(6000)
    local b, c = core.fused(function ()
      local first = x + 1
      local second = first * 2
      assert.equal(1.0, first[5])
      first[5] = 100
      return first, second
    end)
    assert.same({ 100, 2, 1, 2 }, { b[5], c[5], b[6], c[6] })
  end)

  it("survives errors, nesting and collection", function ()
    local x = draws(9, N)
    local ok, message = pcall(core.fused, function () error({ x + 1 }) end)
    assert.is_false(ok)
    assert.equal(x[2] + 1, message[1][2])
    local plain = x + 1   -- nothing waits outside
    x[3] = 7
    assert(plain[3] ~= 8)
    local y = core.fused(function ()
      local inner = core.fused(function (t) return t * 2 end, x)
      collectgarbage()
      local z = inner + 1
      collectgarbage()
      return z
    end)
    assert.equal(15.0, y[3])
    assert.same({ 1, "two" }, { core.fused(function () return 1, "two" end) })
  end)

  it("names the operation whose operands do not fit", function ()
    local x = draws(10, N)
    local ok, message = pcall(core.fused, function () return peri.exp(x) + peri.zeros(N + 1) end)
    assert.is_false(ok)
    assert.matches("add: shapes %(6000%) and %(6001%) do not broadcast", message)
  end)

  it("runs registered formulas", function ()
    local My = peri.Normal:extend("My")
    peri.register_kl(My, My, function (p, q) return peri.log(q.scale / p.scale) + (p.loc - q.loc) ^ 2 end)
    local a, b = draws(11, N), draws(12, N)
    local kl = peri.kl_divergence(My(a, 2), My(b, 3))
    assert.is_true(kl:equal(peri.log(3 / 2) + (a - b) ^ 2))
  end)
end)
