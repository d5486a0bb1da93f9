--- Elementwise functions and operators: broadcasting, and the same bits for a
-- number, a table and a tensor.
local peri      = require "perilune"
local core      = require "perilune.core"
local functions = require "perilune.functions"
local model     = require "spec.support.reference_tensor"

local huge, nan = math.huge, 0 / 0
local HAS_NO_FLOATS = math.type(1.0) ~= "float"   -- but numbers: LuaJIT

local function message (fn, ...)
  local ok, text = pcall(fn, ...)
  assert.is_false(ok, "an error was expected")
  return (tostring(text):gsub("^[^:]+:%d+: ", ""))
end

local function one_if (condition) return condition and 1 or 0 end

local exact = {   -- rounded once, hence equal to the last bit
  add = function (x, y) return x + y end,
  sub = function (x, y) return x - y end,
  mul = function (x, y) return x * y end,
  div = function (x, y) return x / y end,
  mod = function (x, y) return x % y end,
  eq  = function (x, y) return one_if(x == y) end,
  ne  = function (x, y) return one_if(x ~= y) end,
  lt  = function (x, y) return one_if(x < y) end,
  le  = function (x, y) return one_if(x <= y) end,
  gt  = function (x, y) return one_if(x > y) end,
  ge  = function (x, y) return one_if(x >= y) end,
  maximum = function (x, y) return x > y and x or y end,
  minimum = function (x, y) return x < y and x or y end,
}

local names = {}
for name in pairs(exact) do names[#names + 1] = name end
table.sort(names)

-- A shape that broadcasts with `shape`: some dimensions one, some left out.
local function partner (source, shape)
  local other = { table.unpack(shape, source(#shape + 1)) }
  for d = 1, #other do if source(3) == 1 then other[d] = 1 end end
  return other
end


describe("broadcasting", function ()
  for place, name in ipairs(names) do
    it("of " .. name .. " agrees with the model, for random shapes and strides", function ()
      local source = model.source(place)
      for _ = 1, 60 do
        local shape = model.random_shape(source, source(5) - 1, 5)
        local a, b = shape, partner(source, shape)
        if source(2) == 1 then a, b = b, a end
        local t, m = model.random_view(peri, source, a)
        local u, n = model.random_view(peri, source, b)
        local wanted = model.map(exact[name], m, n)
        assert.is_nil(model.difference(functions[name](t, u), wanted))
        assert.is_nil(model.difference(t[name](t, u), wanted))
      end
    end)
  end

  local large = { { 513 }, { 1, 1030 }, { 3, 700 }, { 700, 3 }, { 33, 5, 7 }, { 2, 130, 9 }, { 9, 2, 130 } }
  for _, shape in ipairs(large) do
    it("crosses blocks in shape (" .. table.concat(shape, ", ") .. ")", function ()
      local source = model.source(#shape + shape[1])
      for _ = 1, 6 do
        local t, m = model.random_view(peri, source, shape)
        local u, n = model.random_view(peri, source, partner(source, shape))
        assert.is_nil(model.difference(t * u, model.map(exact.mul, m, n)))
        assert.is_nil(model.difference(u - t, model.map(exact.sub, n, m)))
      end
    end)
  end

  it("of three and four operands agrees with the model", function ()
    local source = model.source(99)
    local function where (c, x, y) return c ~= 0 and x or y end
    local function close (x, y, r, a) return one_if(math.abs(x - y) <= a + r * math.abs(y)) end
    for _ = 1, 60 do
      local shape = model.random_shape(source, source(5) - 1, 4)
      local t, m = {}, {}
      for k = 1, 4 do
        t[k], m[k] = model.random_view(peri, source, k == 2 and shape or partner(source, shape))
      end
      local condition = peri.gt(t[1], 0)
      assert.is_nil(model.difference(peri.where(condition, t[2], t[3]),
                    model.map(where, model.of(condition), m[2], m[3])))
      assert.is_nil(model.difference(peri.isclose(t[1], t[2], t[3], t[4]),
                    model.map(close, m[1], m[2], m[3], m[4])))
    end
  end)

  it("never writes to its operands", function ()
    local t, u = peri.arange(6):reshape(2, 3), peri.tensor { 1, 2, 3 }
    assert.same({ 2, 3 }, (t + u * t - (-t):exp()).shape)
    assert.same({ { 0, 1, 2 }, { 3, 4, 5 } }, t:totable())
    assert.same({ 1, 2, 3 }, u:totable())
  end)

  local refused = {
    { { 2, 3 }, { 2 }, "add: shapes (2, 3) and (2) do not broadcast" },
    { { 2, 0 }, { 2, 3 }, "add: shapes (2, 0) and (2, 3) do not broadcast" },
    { { 4, 1, 3 }, { 2, 2 }, "add: shapes (4, 1, 3) and (2, 2) do not broadcast" },
  }
  for _, case in ipairs(refused) do
    it("refuses: " .. case[3], function ()
      assert.equal(case[3], message(peri.add, peri.zeros(case[1]), peri.zeros(case[2])))
    end)
  end

  it("refuses a result that cannot be addressed", function ()
    local t, u = peri.zeros(1, 1):expand(0x10000000000, 1), peri.zeros(1, 1):expand(1, 0x10000000000)
    assert.matches("^add: shapes .* broadcast to too many elements$", message(peri.add, t, u))
  end)
end)


describe("every elementwise function", function ()
  local values = { 0.3, -2.5, 1, 7.25, 0.999, -0.0, 150.5, 1e-300, -1, 0, 2, 0.5, 1e300, huge, -huge, nan, 1e-9 }

  -- The operands with which round i of a function of n operands is called.
  local function operands (n, i)
    local x = {}
    for k = 1, n do x[k] = values[(i * (2 * k - 1) + 5 * k) % #values + 1] end
    return x
  end

  for _, file in ipairs(core.kernel_files()) do
    local kernels = core.kernels(file)
    if file:find("^op/") then
      for _, kernel in ipairs(kernels) do
        local name, n = kernel.name, kernel.n_in
        local fn = functions[name]

        it(name .. " gives a number for numbers, a tensor for tables and tensors", function ()
          for i = 1, #values do
            local x = operands(n, i)
            local number = fn(table.unpack(x))
            assert.is_true(math.type(number) == "float" or HAS_NO_FLOATS and type(number) == "number")
            local tables, tensors = { table.unpack(x) }, {}
            tables[i % n + 1] = { tables[i % n + 1] }
            for k = 1, n do tensors[k] = peri.tensor(x[k]) end
            local wanted = { shape = { 1 }, number }
            assert.is_nil(model.difference(fn(table.unpack(tables)), wanted))
            assert.is_nil(model.difference(fn(table.unpack(tensors)), model.reshape(wanted, {})))
            assert.is_nil(model.difference(tensors[1][name](table.unpack(tensors)), model.reshape(wanted, {})))
          end
        end)

        it(name .. " gives the bits of the number path at every place of 1 to 70 elements", function ()
          local known = {}
          for i = 1, #values do known[i] = fn(table.unpack(operands(n, i))) end
          for length = 1, 70 do
            local columns, wanted = {}, { shape = { length } }
            for k = 1, n do columns[k] = {} end
            for j = 1, length do
              local i = (j + length) % #values + 1
              for k, x in ipairs(operands(n, i)) do columns[k][j] = x end
              wanted[j] = known[i]
            end
            assert.is_nil(model.difference(fn(table.unpack(columns)), wanted))
          end
        end)

        it(name .. " gives one value for 1 to 70 copies", function ()
          local x = operands(n, 3)
          local number = fn(table.unpack(x))
          for length = 1, 70 do
            local copies = {}
            for k = 1, n do copies[k] = peri.full(length, x[k]) end
            local wanted = model.build({ length }, function () return number end)
            assert.is_nil(model.difference(fn(table.unpack(copies)), wanted))
          end
        end)
      end
    end
  end

  local refused = {
    { "a string", function () return peri.exp "1" end,
      "exp: x must be a number, a table of numbers or a tensor, got the string \"1\"" },
    { "nothing", function () return peri.exp() end,
      "exp: x must be a number, a table of numbers or a tensor, got nil" },
    { "one operand of two", function () return peri.add(1) end,
      "add: y must be a number, a table of numbers or a tensor, got nil" },
    { "an object", function () return peri.exp(setmetatable({}, { __index = {} })) end,
      "exp: x must be a number, a table of numbers or a tensor, got an object" },
    { "a ragged table", function () return peri.exp { { 1 }, { 2, 3 } } end,
      "exp: x is ragged: a row of 2 elements beside one of 1" },
    { "a generator", function () return peri.exp(peri.rng(1)) end,
      "exp: x must be a number, a table of numbers or a tensor, got a userdata" },
  }
  for _, case in ipairs(refused) do
    local what, fn, text = table.unpack(case)
    it("refuses " .. what, function () assert.equal(text, message(fn)) end)
  end
end)


describe("operators", function ()
  local t = peri.tensor { 7, -8, 2.5 }

  local cases = {
    { "t + 2",  t + 2,  { 9, -6, 4.5 } },       { "2 + t",  2 + t,  { 9, -6, 4.5 } },
    { "t - 2",  t - 2,  { 5, -10, 0.5 } },      { "2 - t",  2 - t,  { -5, 10, -0.5 } },
    { "t * 2",  t * 2,  { 14, -16, 5 } },       { "2 * t",  2 * t,  { 14, -16, 5 } },
    { "t / 2",  t / 2,  { 3.5, -4, 1.25 } },    { "2 / t",  2 / t,  { 2 / 7, -0.25, 0.8 } },
    { "t % 3",  t % 3,  { 1, 1, 2.5 } },        { "3 % t",  3 % t,  { 3, -5, 0.5 } },
    { "t ^ 2",  t ^ 2,  { 49, 64, 6.25 } },     { "2 ^ t",  2 ^ peri.tensor { 3, -2 }, { 8, 0.25 } },
    { "-t",     -t,     { -7, 8, -2.5 } },
    { "t + table", t + { 1, 2, 3 }, { 8, -6, 5.5 } },  { "table - t", { 1, 2, 3 } - t, { -6, 10, 0.5 } },
    { "t + t",  t + t,  { 14, -16, 5 } },
  }
  for _, case in ipairs(cases) do
    it(case[1], function () assert.same(case[3], case[2]:totable()) end)
  end

  it("% is Lua's, for every combination of signs and sizes", function ()
    local numbers = { 5.5, -5.5, 3.0, -3.0, 0.25, -0.25, 0.0, -0.0, huge, -huge, nan, 1e-200, -1e-200,
                      0.5e-200, -0.5e-200, 1e300, -1e300, 5e-324, -5e-324 }
    for _, x in ipairs(numbers) do
      for _, y in ipairs(numbers) do
        assert.is_nil(model.difference(peri.mod(x, y), { shape = {}, x % y }))
        assert.is_nil(model.difference(peri.tensor { x } % y, { shape = { 1 }, x % y }))
      end
    end
  end)

  it("^ agrees with Lua's within rounding", function ()
    local source, near = model.source(5), model.near(1e-13)
    for _ = 1, 200 do
      local x, y = source(10000) / 100, model.random_number(source) * 3
      assert.is_nil(model.difference(peri.tensor { x } ^ y, { shape = { 1 }, x ^ y }, near))
    end
    for _, case in ipairs { { 0, 0 }, { nan, 0 }, { 1, nan }, { -8, 3 }, { -8, 0.5 }, { 0, -1 }, { huge, -1 },
                            { -huge, 3 }, { 0.5, huge }, { 2, 1100 }, { 2, -1074 }, { -1, huge } } do
      local x, y = table.unpack(case)
      assert.is_nil(model.difference(peri.pow(x, y), { shape = {}, (x + 0.0) ^ y }, near))
    end
  end)

  it("== compares shapes and elements", function ()
    assert.is_true(peri.tensor { 1, 2 } == peri.tensor { 1, 2 })
    assert.is_false(peri.tensor { 1, 2 } == peri.tensor { 1, 3 })
    assert.is_false(peri.tensor { 1, 2 } == peri.tensor { { 1, 2 } })
    assert.is_false(peri.tensor { 1 } == peri.tensor { 1, 1 })
    assert.is_false(peri.tensor { nan } == peri.tensor { nan })
    assert.is_true(peri.tensor {} == peri.tensor {})
    assert.is_true(peri.zeros(2, 3) == peri.zeros(3, 2):transpose())
    assert.is_false(peri.tensor { 1 } == 1)
    assert.is_true(peri.equal({ 1, 2 }, peri.tensor { 1, 2 }))
    assert.is_true(peri.equal(3, 3))
  end)

  it("== with something else is false, not an error", function ()
    assert.is_false(peri.tensor { 1 } == io.stdout)
    assert.is_false(peri.rng(1) == peri.tensor { 1 })
    assert.is_false(peri.tensor { 1 } == { 1 })
    assert.is_false(peri.tensor { 1 } == "1")
  end)

  it("< and <= order tensors of one element", function ()
    local a, b = peri.tensor(1), peri.tensor { { 2 } }
    assert.is_true(a < b)
    assert.is_true(a <= b)
    assert.is_false(a > b)
    assert.is_true(b >= 2)
    assert.is_true(1 < b)
    assert.is_false(a < peri.tensor(nan))
    local rule = "only numbers and tensors of one element can be ordered; t:lt(u) compares element by element"
    assert.equal(rule, message(function () return t < 1 end))
    assert.equal(rule, message(function () return "a" < a end))
  end)

  it("# is the first dimension", function ()
    assert.equal(3, #t)
    assert.equal(0, #peri.zeros(0, 5))
    assert.equal(2, #peri.zeros(2, 5))
  end)

  it(".. joins what tostring gives", function ()
    assert.equal("x = Tensor() 3", "x = " .. peri.tensor(3))
    assert.equal("Tensor() 3!", peri.tensor(3) .. "!")
    assert.equal("Tensor() 31", peri.tensor(3) .. 1)
    assert.equal("Tensor() 3Tensor() 4", peri.tensor(3) .. peri.tensor(4))
  end)

  it("allclose", function ()
    assert.is_true(peri.allclose({ 1, 2 }, { 1, 2 + 1e-12 }))
    assert.is_false(peri.allclose({ 1, 2 }, { 1, 2 + 1e-6 }))
    assert.is_true(peri.allclose({ 1, 2 }, { 1, 2 + 1e-6 }, 1e-5))
    assert.is_true(peri.allclose({ 0 }, { 1e-6 }, 0, 1e-5))
    assert.is_true(peri.allclose(huge, huge))
    assert.is_false(peri.allclose(nan, nan))
    assert.is_false(peri.allclose(huge, 1))
    assert.is_false(peri.allclose(1, huge))
  end)

  it("maximum and minimum let NaN through", function ()
    for _, pair in ipairs { { nan, 1 }, { 1, nan }, { nan, nan }, { nan, huge }, { -huge, nan } } do
      assert.is_true(peri.isnan(peri.maximum(pair[1], pair[2])) == 1)
      assert.is_true(peri.isnan(peri.minimum(pair[1], pair[2])) == 1)
    end
  end)

  local steps = {   -- x, floor, ceil, round (ties to even), sign
    { 2.5, 2, 3, 2, 1 }, { 3.5, 3, 4, 4, 1 }, { -2.5, -3, -2, -2, -1 }, { 0.49999999999999994, 0, 1, 0, 1 },
    { 0.0, 0.0, 0.0, 0.0, 0.0 }, { -0.0, -0.0, -0.0, -0.0, -0.0 }, { -0.3, -1, -0.0, -0.0, -1 },
    { 4503599627370497.0, 4503599627370497.0, 4503599627370497.0, 4503599627370497.0, 1 },
    { 4503599627370495.5, 4503599627370495, 4503599627370496, 4503599627370496, 1 },
    { huge, huge, huge, huge, 1 }, { -huge, -huge, -huge, -huge, -1 }, { nan, nan, nan, nan, nan },
  }
  for _, case in ipairs(steps) do
    it("floor, ceil, round and sign of " .. case[1], function ()
      for k, name in ipairs { "floor", "ceil", "round", "sign" } do
        assert.is_nil(model.difference(peri[name](case[1]), { shape = {}, case[k + 1] }))
      end
    end)
  end
end)
