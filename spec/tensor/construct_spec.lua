--- Constructors: what they make, and what they refuse.
local peri = require "perilune"

local huge = math.huge

-- The message of the error that fn raises, without its place.
local function message (fn, ...)
  local ok, text = pcall(fn, ...)
  assert.is_false(ok, "an error was expected")
  return (tostring(text):gsub("^[^:]+:%d+: ", ""))
end

local function nested (depth, x)
  for _ = 1, depth do x = { x } end
  return x
end

local function ones (n)
  local list = {}
  for i = 1, n do list[i] = 1 end
  return list
end


describe("what constructors make:", function ()
  local cases = {
    -- call, tensor, shape, elements
    { "tensor(2.5)",               peri.tensor(2.5),                 {},        2.5 },
    { "tensor{}",                  peri.tensor {},                   { 0 },     {} },
    { "tensor{7}",                 peri.tensor { 7 },                { 1 },     { 7 } },
    { "tensor{{1, 2}, {3, 4}}",    peri.tensor { { 1, 2 }, { 3, 4 } }, { 2, 2 }, { { 1, 2 }, { 3, 4 } } },
    { "tensor{{}, {}}",            peri.tensor { {}, {} },           { 2, 0 },  { {}, {} } },
    { "tensor{inf, -0.0}",         peri.tensor { huge, -0.0 },       { 2 },     { huge, -0.0 } },
    { "tensor of 2^53", peri.tensor { 0x20000000000000, -0x20000000000000 }, { 2 }, { 2.0 ^ 53, -2.0 ^ 53 } },
    { "tensor(tensor)",            peri.tensor(peri.tensor { 1, 2 }), { 2 },    { 1, 2 } },
    { "zeros()",                   peri.zeros(),                     {},        0 },
    { "zeros(2, 3)",               peri.zeros(2, 3),                 { 2, 3 },  { { 0, 0, 0 }, { 0, 0, 0 } } },
    { "zeros{2, 3}",               peri.zeros { 2, 3 },              { 2, 3 },  { { 0, 0, 0 }, { 0, 0, 0 } } },
    { "zeros(2, 0, 3)",            peri.zeros(2, 0, 3),              { 2, 0, 3 }, { {}, {} } },
    { "zeros(2.0)",                peri.zeros(2.0),                  { 2 },     { 0, 0 } },
    { "ones(2)",                   peri.ones(2),                     { 2 },     { 1, 1 } },
    { "ones{}",                    peri.ones {},                     {},        1 },
    { "full({2, 1}, 5)",           peri.full({ 2, 1 }, 5),           { 2, 1 },  { { 5 }, { 5 } } },
    { "full(2, 5)",                peri.full(2, 5),                  { 2 },     { 5, 5 } },
    { "full({}, 5)",               peri.full({}, 5),                 {},        5 },
    { "arange(3)",                 peri.arange(3),                   { 3 },     { 0, 1, 2 } },
    { "arange(2, 5)",              peri.arange(2, 5),                { 3 },     { 2, 3, 4 } },
    { "arange(1, 2, 0.25)",        peri.arange(1, 2, 0.25),          { 4 },     { 1, 1.25, 1.5, 1.75 } },
    { "arange(3, 0, -1)",          peri.arange(3, 0, -1),            { 3 },     { 3, 2, 1 } },
    { "arange(3, 0)",              peri.arange(3, 0),                { 0 },     {} },
    { "linspace(0, 1, 5)",         peri.linspace(0, 1, 5),           { 5 },     { 0, 0.25, 0.5, 0.75, 1 } },
    { "linspace(2, 3, 1)",         peri.linspace(2, 3, 1),           { 1 },     { 2 } },
    { "linspace(2, 3, 0)",         peri.linspace(2, 3, 0),           { 0 },     {} },
    { "linspace(-1e308, 1e308, 3)", peri.linspace(-1e308, 1e308, 3), { 3 },     { -1e308, 0, 1e308 } },
    { "eye(2)",                    peri.eye(2),                      { 2, 2 },  { { 1, 0 }, { 0, 1 } } },
    { "eye(2, 3)",                 peri.eye(2, 3),                   { 2, 3 },  { { 1, 0, 0 }, { 0, 1, 0 } } },
    { "eye(0)",                    peri.eye(0),                      { 0, 0 },  {} },
  }
  for _, case in ipairs(cases) do
    local call, t, shape, elements = table.unpack(case)
    it(call, function ()
      assert.is_true(peri.is_tensor(t))
      assert.same(shape, t.shape)
      assert.same(elements, t:totable())
    end)
  end

  it("the sign of zero survives", function ()
    assert.equal(-huge, 1 / peri.tensor { -0.0 }[1])
    assert.equal(huge, 1 / peri.tensor { 0.0 }[1])
  end)

  it("linspace ends exactly at its end", function ()
    for n = 2, 300 do
      local t = peri.linspace(0.1, 0.7, n)
      assert.equal(0.1, t[1])
      assert.equal(0.7, t[n])
    end
  end)

  it("a tensor made from a tensor or a table is a copy", function ()
    local list = { 1, 2 }
    local t = peri.tensor(list)
    local u = peri.tensor(t)
    list[1], t[2] = 10, 20
    assert.same({ 1, 20 }, t:totable())
    assert.same({ 1, 2 }, u:totable())
  end)

  it("a tensor made from a view is row-major", function ()
    local t = peri.tensor(peri.tensor { { 1, 2, 3 }, { 4, 5, 6 } }:transpose())
    assert.same({ { 1, 4 }, { 2, 5 }, { 3, 6 } }, t:totable())
    t:reshape(-1)[2] = 9   -- a view only if the elements lie in order
    assert.equal(9, t:at(1, 2))
  end)

  it("t.shape is a fresh table each time", function ()
    local t = peri.zeros(2, 3)
    t.shape[1] = 100
    assert.same({ 2, 3 }, t.shape)
  end)

  for rank = 0, 16 do
    it("rank " .. rank .. " goes to a table and back", function ()
      local data = nested(rank, 4.5)
      local t = peri.tensor(data)
      assert.equal(rank, #t.shape)
      assert.same(data, t:totable())
      assert.equal(4.5, peri.item(t))
      assert.equal(1, t:numel())
    end)
  end
end)


describe("what constructors refuse:", function ()
  local number = "a number, a table of numbers or a tensor"
  local cases = {
    { "tensor without data", function () return peri.tensor() end,
      "tensor: data is missing" },
    { "a string", function () return peri.tensor "1" end,
      "tensor: data must be " .. number .. ", got the string \"1\"" },
    { "a boolean", function () return peri.tensor(true) end,
      "tensor: data must be " .. number .. ", got true" },
    { "a function", function () return peri.tensor(print) end,
      "tensor: data must be " .. number .. ", got a function" },
    { "an object", function () return peri.tensor(peri.Normal(0, 1)) end,
      "tensor: data must be " .. number .. ", got a Normal" },
    { "a short row", function () return peri.tensor { { 1, 2 }, { 3 } } end,
      "tensor: data is ragged: a row of 1 elements beside one of 2" },
    { "a long row", function () return peri.tensor { { 1 }, { 2, 3 } } end,
      "tensor: data is ragged: a row of 2 elements beside one of 1" },
    { "a number beside a row", function () return peri.tensor { { 1 }, 2 } end,
      "tensor: data must be rectangular: an element of a row, got 2" },
    { "a row beside a number", function () return peri.tensor { 1, { 2 } } end,
      "tensor: data must hold numbers: an element must be a number, got a table of 1 element" },
    { "a string in a table", function () return peri.tensor { 1, "2" } end,
      "tensor: data must hold numbers: an element must be a number, got the string \"2\"" },
    { "a hole", function () return peri.tensor { 1, nil, 3 } end,
      "tensor: data must hold numbers: an element must be a number, got nil" },
    { "named elements", function () return peri.tensor { x = 1 } end,
      "tensor: data must be an array of numbers, got a table with other keys" },
    { "17 tables in one another", function () return peri.tensor(nested(17, 1)) end,
      "tensor: data is nested deeper than 16 tables" },
    { "a table that holds itself", function ()
        local list = {}
        list[1] = list
        return peri.tensor(list)
      end,
      "tensor: data is nested deeper than 16 tables" },
    { "2^53 + 1 in a table", function () return peri.tensor { 0x20000000000000 + 1 } end,
      "tensor: data holds 9007199254740993, an integer beyond 2^53 that no double holds exactly" },
    { "2^53 + 1 alone", function () return peri.tensor(0x20000000000000 + 1) end,
      "tensor: data holds 9007199254740993, an integer beyond 2^53 that no double holds exactly" },
    { "2^62 elements", function () return peri.zeros(0x80000000, 0x80000000) end,
      "zeros: shape (2147483648, 2147483648) has too many elements" },
    { "2^64 elements", function () return peri.ones(0x100000000, 0x100000000) end,
      "ones: shape (4294967296, 4294967296) has too many elements" },
    { "2^62 elements times none", function () return peri.zeros(0, 0x80000000, 0x80000000) end,
      "zeros: shape (0, 2147483648, 2147483648) has too many elements" },
    { "a negative dimension", function () return peri.zeros(2, -1) end,
      "zeros: a dimension must be a non-negative integer, got -1" },
    { "half a dimension", function () return peri.ones(1.5) end,
      "ones: a dimension must be an integer, got 1.5" },
    { "a string as dimension", function () return peri.zeros "3" end,
      "zeros: a dimension must be an integer, got the string \"3\"" },
    { "nil as dimension", function () return peri.zeros(2, nil) end,
      "zeros: a dimension must be an integer, got nil" },
    { "a negative dimension in a table", function () return peri.full({ 2, -3 }, 1) end,
      "full: a dimension must be a non-negative integer, got -3" },
    { "17 dimensions", function () return peri.zeros(ones(17)) end,
      "zeros: a shape has at most 16 dimensions, got 17" },
    { "full without anything", function () return peri.full() end,
      "full: the value is missing" },
    { "full with a string", function () return peri.full(2, "1") end,
      "full: the value must be a number, got the string \"1\"" },
    { "arange without end", function () return peri.arange() end,
      "arange: stop is missing" },
    { "arange by nothing", function () return peri.arange(0, 5, 0) end,
      "arange: step must be a number other than 0, got 0" },
    { "linspace without count", function () return peri.linspace(0, 1) end,
      "linspace: count is missing" },
    { "linspace of fewer than none", function () return peri.linspace(0, 1, -2) end,
      "linspace: count must be a non-negative integer, got -2" },
    { "eye of fewer than none", function () return peri.eye(-1) end,
      "eye: a dimension must be a non-negative integer, got -1" },
    { "eye of 2^80", function () return peri.eye(0x10000000000) end,
      "eye: shape (1099511627776, 1099511627776) has too many elements" },
  }
  for _, case in ipairs(cases) do
    local what, fn, text = table.unpack(case)
    it(what, function () assert.equal(text, message(fn)) end)
  end

  it("an endless arange, naming the value", function ()
    assert.matches("^arange: .*inf", message(peri.arange, huge))
    assert.matches("^arange: .*nan", message(peri.arange, 0, 0 / 0))
  end)

  it("a request that no memory can hold, as an ordinary error", function ()
    assert.equal("not enough memory", message(peri.zeros, 0x200000000000))
    assert.same({ 0, 0 }, peri.zeros(2):totable())
  end)
end)


describe("cat and stack", function ()
  local t, u = peri.tensor { { 1, 2 } }, peri.tensor { { 3, 4 }, { 5, 6 } }

  it("join along a dimension, or along a new one", function ()
    assert.same({ { 1, 2 }, { 3, 4 }, { 5, 6 } }, peri.cat { t, u }:totable())
    assert.same({ { 3, 4, 3, 4 }, { 5, 6, 5, 6 } }, peri.cat({ u, u }, 2):totable())
    assert.same({ { 3, 4, 3, 4 }, { 5, 6, 5, 6 } }, peri.cat({ u, u }, -1):totable())
    assert.same({ { 1, 2 }, { 3, 4 } }, peri.stack { { 1, 2 }, { 3, 4 } }:totable())
    assert.same({ { 1, 3 }, { 2, 4 } }, peri.stack({ { 1, 2 }, { 3, 4 } }, 2):totable())
    assert.same({ 7, 8 }, peri.stack { 7, 8 }:totable())
  end)

  it("take strided and empty operands", function ()
    assert.same({ { 3, 5 }, { 4, 6 }, { 3, 5 }, { 4, 6 } },
                peri.cat { u:transpose(), u:transpose() }:totable())
    assert.same({ { 1, 2 } }, peri.cat { peri.zeros(0, 2), t }:totable())
    assert.same({ 0, 2 }, peri.stack({ {}, {} }, 2).shape)
  end)

  local cases = {
    { "nothing", function () return peri.cat {} end,
      "cat: tensors must be a table of at least one tensor, got an empty table" },
    { "a number", function () return peri.stack(3) end,
      "stack: tensors must be a table of at least one tensor, got 3" },
    { "other shapes", function () return peri.cat { { 1, 2 }, { { 1, 2 } } } end,
      "cat: shapes (2) and (1, 2) do not fit" },
    { "other lengths", function () return peri.stack { { 1, 2 }, { 1 } } end,
      "stack: shapes (2) and (1) do not fit" },
    { "a dimension that is not there", function () return peri.cat({ { 1 } }, 2) end,
      "cat: dim must be between 1 and 1 (or -1 and -1), got 2" },
  }
  for _, case in ipairs(cases) do
    local what, fn, text = table.unpack(case)
    it("refuse " .. what, function () assert.equal(text, message(fn)) end)
  end
end)


describe("memory", function ()
  it("does not fill with large results that nobody has", function ()
    local x, most = peri.zeros(100000), 0   -- 0.8 MB
    collectgarbage()
    local before = collectgarbage "count"
    for _ = 1, 400 do
      local _ = x * x
      most = math.max(most, collectgarbage "count" - before)
    end
    assert.is_true(most < 100000, most)
  end)
end)
