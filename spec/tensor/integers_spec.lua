--- Shapes and dimensions as arguments: integers, or one table of them, and nothing else.
local peri = require "perilune"

local function message (fn, ...)
  local ok, text = pcall(fn, ...)
  assert.is_false(ok, "an error was expected")
  return (tostring(text):gsub("^[^:]+:%d+: ", ""))
end

local t = peri.arange(6):reshape(1, 2, 3)
local rng = peri.rng(1)

-- Every function that takes a list of integers; integers that it takes; whether it takes them without a table.
local functions = {
  { "Tensor:reshape",  function (...) return t:reshape(...) end,             { 3, 2 },    true },
  { "Tensor:expand",   function (...) return t:expand(...) end,              { 4, 2, 3 }, true },
  { "Tensor:permute",  function (...) return t:permute(...) end,             { 3, 1, 2 }, true },
  { "zeros",           function (...) return peri.zeros(...) end,            { 3, 2 },    true },
  { "ones",            function (...) return peri.ones(...) end,             { 3, 2 },    true },
  { "rng:uniform",     function (...) return rng:uniform(...) end,           { 3, 2 },    true },
  { "Normal:sample",   function (list) return peri.Normal(0, 1):sample(list) end, { 3, 2 } },
  { "Categorical:sample", function (list) return peri.Categorical { .5, .5 }:sample(list) end, { 3, 2 } },
  { "Dirichlet:sample", function (list) return peri.Dirichlet { 1, 1 }:sample(list) end, { 3, 2 } },
  { "Tensor:sum",      function (list) return t:sum(list) end,               { 1, 3 } },
  { "Tensor:std",      function (list) return peri.param(t):std(list) end,   { 1, 3 } },
}

-- A table that answers whatever is asked, unless it is read raw.
local function talkative (list)
  return setmetatable({ table.unpack(list) }, {
    __len = function () return 1000000 end, __index = function () return 1 end,
    __pairs = function () error("raw, please") end,
  })
end

describe("integers, or one table of them:", function ()
  for _, case in ipairs(functions) do
    local who, f, list, spread = table.unpack(case, 1, 4)
    local shape = f(list).shape

    it(who .. " reads a table raw", function ()
      assert.same(shape, f(talkative(list)).shape)
    end)

    it(who .. " refuses anything else in the table", function ()
      assert.matches(" must be an integer, got a table of %d elements$", message(f, { list }))
      assert.matches(" must be an integer, got nil$", message(f, { table.unpack(list, 1, 1), nil, 1 }))
      assert.matches(" must be an integer, got 1.5$", message(f, { 1.5 }))
      assert.matches(": a table of integers must be a list without other keys, got the string \"size\"$",
                     message(f, { size = 1, table.unpack(list) }))
      assert.matches(" must be an integer or a table of integers, got a table with the key size$",
                     message(f, { size = 1 }))
    end)

    it(who .. " refuses more than there are dimensions", function ()
      local many = {}
      for i = 1, 100 do many[i] = 1 end
      assert.matches(": a shape has at most 16 dimensions, got 100$", message(f, many))
      if spread then
        assert.matches(": a shape has at most 16 dimensions, got 100$", message(f, table.unpack(many)))
      end
    end)

    if spread then
      it(who .. " takes integers without a table", function ()
        assert.same(shape, f(table.unpack(list)).shape)
      end)

      it(who .. " refuses what follows a table", function ()
        assert.equal(who .. ": what follows a table of integers must be nothing, got 1", message(f, list, 1))
        assert.equal(who .. ": what follows a table of integers must be nothing, got nil", message(f, list, nil))
      end)
    end
  end

  it("full takes its value last", function ()
    assert.same({ 2, 3 }, peri.full({ 2, 3 }, 7).shape)
    assert.equal("full: what follows a table of integers must be nothing, got 3", message(peri.full, { 2 }, 3, 7))
  end)

  it("reshape writes nowhere but into the shape", function ()
    local ones = {}
    for i = 1, 100 do ones[i] = 1 end
    ones[101] = -1
    assert.equal("Tensor:reshape: what follows a table of integers must be nothing, got a table of 1 element",
                 message(t.reshape, t, {}, { 6 }, table.unpack(ones)))
    assert.equal("Tensor:reshape: a shape has at most 16 dimensions, got 102",
                 message(t.reshape, t, { { 6 }, table.unpack(ones) }))
    assert.same({ 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 6 },
                t:reshape(1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1).shape)
  end)

  it("a dimension is named once", function ()
    assert.equal("Tensor:sum: dimension 3 is named twice", message(t.sum, t, { 3, -1 }))
    assert.equal("Tensor:permute: dimension 1 is named twice", message(t.permute, t, 1, 2, 1))
    assert.equal("Tensor:permute: each of the 3 dimensions must be named once", message(t.permute, t, { 1, 3 }))
    assert.same({ 1, 2, 3 }, t:sum {}.shape)
  end)
end)
