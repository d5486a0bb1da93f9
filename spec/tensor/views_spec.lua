--- Views and indexing: what shares memory, what is written where.
local peri  = require "perilune"
local model = require "spec.support.reference_tensor"

local function message (fn, ...)
  local ok, text = pcall(fn, ...)
  assert.is_false(ok, "an error was expected")
  return (tostring(text):gsub("^[^:]+:%d+: ", ""))
end

local function block () return peri.arange(1, 25):reshape(2, 3, 4) end


describe("a view", function ()
  -- what is done to a tensor of shape (2, 3, 4), the shape that gives, whether
  -- memory is shared, and the first and last element
  local cases = {
    { "t[2]",               function (t) return t[2] end,                   { 3, 4 },       true,  13, 24 },
    { "t[-1]",              function (t) return t[-1] end,                  { 3, 4 },       true,  13, 24 },
    { "t[1][3]",            function (t) return t[1][3] end,                { 4 },          true,  9, 12 },
    { "at(2)",              function (t) return t:at(2) end,                { 3, 4 },       true,  13, 24 },
    { "at(2, -1)",          function (t) return t:at(2, -1) end,            { 4 },          true,  21, 24 },
    { "at()",               function (t) return t:at() end,                 { 2, 3, 4 },    true,  1, 24 },
    { "select(2, 3)",       function (t) return t:select(2, 3) end,         { 2, 4 },       true,  9, 24 },
    { "select(-1, -4)",     function (t) return t:select(-1, -4) end,       { 2, 3 },       true,  1, 21 },
    { "narrow(2, 2, 2)",    function (t) return t:narrow(2, 2, 2) end,      { 2, 2, 4 },    true,  5, 24 },
    { "transpose()",        function (t) return t:transpose() end,          { 2, 4, 3 },    true,  1, 24 },
    { "transpose(1, 3)",    function (t) return t:transpose(1, 3) end,      { 4, 3, 2 },    true,  1, 24 },
    { "transpose(1, -2)",   function (t) return t:transpose(1, -2) end,     { 3, 2, 4 },    true,  1, 24 },
    { "permute(2, 3, 1)",   function (t) return t:permute(2, 3, 1) end,     { 3, 4, 2 },    true,  1, 24 },
    { "reshape(6, 4)",      function (t) return t:reshape(6, 4) end,        { 6, 4 },       true,  1, 24 },
    { "reshape{4, -1}",     function (t) return t:reshape { 4, -1 } end,    { 4, 6 },       true,  1, 24 },
    { "flatten()",          function (t) return t:flatten() end,            { 24 },         true,  1, 24 },
    { "expand(5, 2, 3, 4)", function (t) return t:expand(5, 2, 3, 4) end,   { 5, 2, 3, 4 }, true,  1, 24 },
    { "unsqueeze(1)",       function (t) return t:unsqueeze(1) end,         { 1, 2, 3, 4 }, true,  1, 24 },
    { "unsqueeze(-1)",      function (t) return t:unsqueeze(-1) end,        { 2, 3, 4, 1 }, true,  1, 24 },
    { "squeeze of ones",    function (t) return t:reshape(2, 1, 12, 1):squeeze() end, { 2, 12 }, true, 1, 24 },
    { "squeeze(2)",         function (t) return t:reshape(2, 1, 12):squeeze(2) end,   { 2, 12 }, true, 1, 24 },
    { "squeeze(1) of two",  function (t) return t:squeeze(1) end,           { 2, 3, 4 },    true,  1, 24 },
    { "contiguous()",       function (t) return t:contiguous() end,         { 2, 3, 4 },    true,  1, 24 },
    { "clone()",            function (t) return t:clone() end,              { 2, 3, 4 },    false, 1, 24 },
    { "transpose, contiguous", function (t) return t:transpose():contiguous() end, { 2, 4, 3 }, false, 1, 24 },
    { "transpose, reshape", function (t) return t:transpose():reshape(-1) end, { 24 },      false, 1, 24 },
    { "transpose, unsqueeze", function (t) return t:transpose():unsqueeze(2) end, { 2, 1, 4, 3 }, true, 1, 24 },
    { "narrow, squeeze",    function (t) return t:narrow(2, 3, 1):squeeze() end, { 2, 4 },  true,  9, 24 },
    { "narrow, squeeze(2)", function (t) return t:narrow(2, 3, 1):squeeze(2) end, { 2, 4 }, true,  9, 24 },
    { "view of view of view", function (t) return t:transpose(1, 3)[4]:narrow(1, 2, 2):transpose() end,
      { 2, 2 }, true, 8, 24 },
  }
  for _, case in ipairs(cases) do
    local what, view_of, shape, shares, first, last = table.unpack(case)
    it(what .. (shares and " shares memory" or " is a copy"), function ()
      local t = block()
      local view = view_of(t)
      assert.same(shape, view.shape)
      local before = model.of(view)
      assert.equal(first, before[1])
      assert.equal(last, before[#before])
      t:copy(t + 100)
      local after = model.of(view)
      assert.equal(shares and first + 100 or first, after[1])
      assert.equal(shares and last + 100 or last, after[#after])
    end)
  end

  it("of its base keeps the base's elements after the base is forgotten", function ()
    local views = {}
    for i = 1, 200 do
      local t = peri.full({ 50, 20 }, i)
      views[i] = t:transpose()[3]:narrow(1, 10, 5)
    end
    for _ = 1, 3 do collectgarbage() end
    for _ = 1, 200 do peri.zeros(50, 20) end
    for i = 1, 200 do assert.same({ i, i, i, i, i }, views[i]:totable()) end
  end)

  it("of rank 16 works at every index", function ()
    local shape = {}
    for d = 1, 16 do shape[d] = d % 4 == 0 and 2 or 1 end
    local t = peri.arange(16):reshape(shape)
    local order = {}
    for d = 1, 16 do order[d] = 17 - d end
    local view = t:permute(table.unpack(order))
    assert.equal(16, #view.shape)
    assert.equal(1, view:at(2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1))
    assert.equal(120, peri.item(view:sum()))
    assert.matches("a shape has at most 16 dimensions, got 17$", message(t.unsqueeze, t, 1))
  end)

  it("of nothing is fine", function ()
    assert.same({ 0, 4 }, peri.zeros(3, 4):narrow(1, 4, 0).shape)
    assert.same({ 4, 0 }, peri.zeros(0, 4):transpose().shape)
    assert.same({ 0 }, peri.zeros(0, 4):select(2, 3).shape)
    assert.same({ 0, 7 }, peri.zeros(0, 4):reshape(0, 7).shape)
    assert.same({ 0, 3 }, peri.zeros(0, 4):reshape(-1, 3).shape)
    assert.same({ 2, 0 }, peri.zeros(1, 0):expand(2, 0).shape)
    assert.same({ 0 }, peri.zeros(1):expand(0).shape)
    assert.same({ 2, 0, 3 }, (peri.zeros(2, 0, 3) + 1).shape)
  end)

  it("agrees with the model, for random chains of views", function ()
    local source = model.source(7)
    for _ = 1, 300 do
      local t, m = model.random_view(peri, source, model.random_shape(source, source(5) - 1, 4))
      assert.is_nil(model.difference(t, m))
      for _ = 1, 3 do
        local rank = #m.shape
        if rank < 1 then break end
        local a, b, kind = source(rank), source(rank), source(4)
        local n = m.shape[a]
        if kind == 1 then
          t, m = t:transpose(a, b), model.transpose(m, a, b)
        elseif kind == 2 then
          local first = source(n + 1)
          local length = source(n + 2 - first) - 1
          t, m = t:narrow(a, first, length), model.narrow(m, a, first, length)
        elseif kind == 3 and n > 0 then
          local i = source(n)
          t, m = t:select(a, source(2) == 1 and i or i - n - 1), model.select(m, a, i)
        else
          t, m = t:reshape(-1, 1), model.reshape(m, { #m, 1 })
        end
        assert.is_nil(model.difference(t, m))
      end
    end
  end)
end)


describe("writing", function ()
  -- what is done to zeros(2, 3), and what comes of it
  local cases = {
    { "t[1] = number", function (t) t[1] = 5 end,                       { { 5, 5, 5 }, { 0, 0, 0 } } },
    { "t[-1] = number", function (t) t[-1] = 5 end,                     { { 0, 0, 0 }, { 5, 5, 5 } } },
    { "t[1] = table", function (t) t[1] = { 1, 2, 3 } end,              { { 1, 2, 3 }, { 0, 0, 0 } } },
    { "t[1] = tensor of one", function (t) t[1] = peri.tensor { 4 } end, { { 4, 4, 4 }, { 0, 0, 0 } } },
    { "t[1][2] = number", function (t) t[1][2] = 5 end,                 { { 0, 5, 0 }, { 0, 0, 0 } } },
    { "t:select(2, 3):copy", function (t) t:select(2, 3):copy { 1, 2 } end, { { 0, 0, 1 }, { 0, 0, 2 } } },
    { "t:transpose()[2] =", function (t) t:transpose()[2] = { 1, 2 } end, { { 0, 1, 0 }, { 0, 2, 0 } } },
    { "t:narrow():copy(number)", function (t) t:narrow(2, 2, 2):copy(7) end, { { 0, 7, 7 }, { 0, 7, 7 } } },
    { "t:copy(row)", function (t) t:copy { 1, 2, 3 } end,               { { 1, 2, 3 }, { 1, 2, 3 } } },
    { "t:copy(column)", function (t) t:copy { { 1 }, { 2 } } end,       { { 1, 1, 1 }, { 2, 2, 2 } } },
    { "t:copy(strided)", function (t) t:copy(peri.tensor { { 1, 4 }, { 2, 5 }, { 3, 6 } }:transpose()) end,
      { { 1, 2, 3 }, { 4, 5, 6 } } },
    { "t:at(2):copy", function (t) t:at(2):copy { 1, 2, 3 } end,        { { 0, 0, 0 }, { 1, 2, 3 } } },
    { "a clone", function (t) t:clone():copy(9) end,                    { { 0, 0, 0 }, { 0, 0, 0 } } },
  }
  for _, case in ipairs(cases) do
    local what, write, result = table.unpack(case)
    it(what, function ()
      local t = peri.zeros(2, 3)
      write(t)
      assert.same(result, t:totable())
    end)
  end

  it("t:copy returns t", function ()
    local t = peri.zeros(2)
    assert.is_true(rawequal(t, t:copy(1)))
  end)

  it("reads all of an overlapping source before it writes", function ()
    local t = peri.arange(1, 7)
    t:narrow(1, 2, 5):copy(t:narrow(1, 1, 5))
    assert.same({ 1, 1, 2, 3, 4, 5 }, t:totable())
    t = peri.arange(1, 7)
    t:narrow(1, 1, 5):copy(t:narrow(1, 2, 5))
    assert.same({ 2, 3, 4, 5, 6, 6 }, t:totable())
    t = peri.arange(1, 10):reshape(3, 3)
    t:copy(t:transpose())
    assert.same({ { 1, 4, 7 }, { 2, 5, 8 }, { 3, 6, 9 } }, t:totable())
    t = peri.arange(1, 10):reshape(3, 3)
    t:copy(t:select(2, 2))
    assert.same({ { 2, 5, 8 }, { 2, 5, 8 }, { 2, 5, 8 } }, t:totable())
    t = peri.arange(1, 1001)
    t:copy(t:narrow(1, 600, 1))
    assert.same({ 600, 600 }, { peri.item(t:min()), peri.item(t:max()) })
  end)

  it("to random views agrees with the model", function ()
    local source = model.source(11)
    for _ = 1, 200 do
      local shape = model.random_shape(source, source(4) - 1, 4)
      local target = peri.zeros(shape)
      local order = {}
      for d = 1, #shape do table.insert(order, source(d), d) end
      if #shape > 0 then target = target:permute(table.unpack(order)) end
      local value, m = model.random_view(peri, source, target.shape)
      target:copy(value)
      assert.is_nil(model.difference(target, m))
    end
  end)

  it("crosses blocks", function ()
    local t = peri.zeros(40, 50)
    t:transpose():copy(peri.arange(2000):reshape(50, 40))
    assert.equal(40 * 7 + 13, t:at(14, 8))
    assert.equal(1999 * 1000, peri.item(t:sum()))
  end)

  it("to an empty result of arithmetic changes nothing", function ()
    local t = peri.zeros(2, 0) + peri.zeros(2, 0)
    assert.same({ 2, 0 }, t:copy(3).shape)
  end)
end)


describe("indexing", function ()
  it("gives numbers from rank 1, rows from above", function ()
    local t = peri.tensor { { 1, 2, 3 }, { 4, 5, 6 } }
    assert.equal(6, t[2][3])
    assert.equal(5, t[-1][-2])
    assert.equal("float", math.type(t[1][1]))
    assert.equal(4, t:at(2, 1))
    assert.equal(6, t:at(-1, -1))
    assert.equal(5, peri.tensor(5):at())
    assert.equal(2, t[1.0][2.0])
  end)

  it("ends for ipairs", function ()
    local seen = {}
    for i, x in ipairs(peri.tensor { 7, 8, 9 }) do seen[i] = x end
    assert.same({ 7, 8, 9 }, seen)
    seen = {}
    for i, row in ipairs(peri.tensor { { 7, 8 }, { 9, 10 } }) do seen[i] = row:totable() end
    assert.same({ { 7, 8 }, { 9, 10 } }, seen)
    for _ in ipairs(peri.zeros(0)) do error("there is no row") end
  end)

  it("of an unknown name is nil", function ()
    assert.is_nil(peri.zeros(2).nonsense)
    assert.is_nil(peri.zeros(2)[true])
  end)

  local t = peri.zeros(2, 3)
  local wide = peri.zeros(3):expand(2, 3)
  local cases = {
    { "t[0]", function () return t[0] end,
      "Tensor[i]: index 0 is out of range: dimension 1 has 2 elements" },
    { "t[4]", function () return t[4] end,
      "Tensor[i]: index 4 is out of range: dimension 1 has 2 elements" },
    { "t[-3]", function () return t[-3] end,
      "Tensor[i]: index -3 is out of range: dimension 1 has 2 elements" },
    { "t[1.5]", function () return t[1.5] end, "Tensor[i]: an index must be an integer, got 1.5" },
    { "t[mininteger]", function () return t[math.mininteger] end,
      "Tensor[i]: index -9223372036854775808 is out of range: dimension 1 has 2 elements" },
    { "a row of a number", function () return peri.tensor(1)[1] end,
      "Tensor[i]: a tensor of rank 0 has no rows; use item()" },
    { "t[3] = 1", function () t[3] = 1 end,
      "Tensor[i] = value: index 3 is out of range: dimension 1 has 2 elements" },
    { "t.x = 1", function () t.x = 1 end,
      "Tensor[i] = value: an index must be an integer, got the string \"x\"" },
    { "t[1] = nil", function () t[1] = nil end,
      "Tensor[i] = value: the value must be a number, a table of numbers or a tensor, got nil" },
    { "t[1] = string", function () t[1] = "1" end,
      "Tensor[i] = value: the value must be a number, a table of numbers or a tensor, got the string \"1\"" },
    { "t[1] = too long", function () t[1] = { 1, 2 } end,
      "Tensor[i] = value: shapes (2) and (3) do not fit one into the other" },
    { "t:copy of a higher rank", function () t:copy(peri.zeros(1, 2, 3)) end,
      "Tensor:copy: shapes (1, 2, 3) and (2, 3) do not fit one into the other" },
    { "a row of a number written", function () peri.tensor(1)[1] = 2 end,
      "Tensor[i] = value: a tensor of rank 0 has no rows; use copy()" },
    { "an expanded tensor written", function () wide:copy(1) end,
      "Tensor:copy: an expanded tensor cannot be written to; clone it first" },
    { "a row of an expanded tensor written, which others have", function () peri.zeros(1, 2):expand(3, 2)[1] = 1 end,
      "Tensor[i] = value: an expanded tensor cannot be written to; clone it first" },
    { "at(3, 1)", function () return t:at(3, 1) end,
      "Tensor:at: index 3 is out of range: dimension 1 has 2 elements" },
    { "at(1, 4)", function () return t:at(1, 4) end,
      "Tensor:at: index 4 is out of range: dimension 2 has 3 elements" },
    { "at(1, 1, 1)", function () return t:at(1, 1, 1) end, "Tensor:at: 3 indices for 2 dimensions" },
    { "at(nil)", function () return t:at(nil) end, "Tensor:at: an index must be an integer, got nil" },
    { "select(3, 1)", function () return t:select(3, 1) end,
      "Tensor:select: dim must be between 1 and 2 (or -1 and -2), got 3" },
    { "select(1)", function () return t:select(1) end,
      "Tensor:select: an index is missing" },
    { "narrow too far", function () return t:narrow(2, 2, 3) end,
      "Tensor:narrow: 3 elements from 2 on are out of range: dimension 2 has 3 elements" },
    { "narrow before the start", function () return t:narrow(2, 0, 1) end,
      "Tensor:narrow: 1 elements from 0 on are out of range: dimension 2 has 3 elements" },
    { "narrow by a string", function () return t:narrow(2, "1", 1) end,
      "Tensor:narrow: first must be an integer, got the string \"1\"" },
    { "narrow for half an element", function () return t:narrow(2, 1, 0.5) end,
      "Tensor:narrow: length must be an integer, got 0.5" },
    { "transpose of a vector", function () return t[1]:transpose() end,
      "Tensor:transpose: a tensor of 1 dimensions has none to swap" },
    { "permute of too few", function () return t:permute(1) end,
      "Tensor:permute: each of the 2 dimensions must be named once" },
    { "permute of one twice", function () return t:permute(1, 1) end,
      "Tensor:permute: dimension 1 is named twice" },
    { "permute of too many", function () return t:permute(2, 1, 1) end,
      "Tensor:permute: dimension 1 is named twice" },
    { "expand of 3 to 4", function () return t:expand(2, 4) end,
      "Tensor:expand: shape (2, 3) does not expand to (2, 4)" },
    { "expand to fewer dimensions", function () return t:expand(3) end,
      "Tensor:expand: shape (2, 3) does not expand to (3)" },
    { "reshape to more", function () return t:reshape(7) end,
      "Tensor:reshape: 6 elements of shape (2, 3) do not make shape (7)" },
    { "reshape with two open", function () return t:reshape(-1, -1) end,
      "Tensor:reshape: only one dimension may be -1" },
    { "reshape to -2", function () return t:reshape(-2) end,
      "Tensor:reshape: a dimension must be a non-negative integer, got -2" },
    { "squeeze(3)", function () return t:squeeze(3) end,
      "Tensor:squeeze: dim must be an integer between 1 and 2 (or -1 and -2), got 3" },
    { "unsqueeze()", function () return t:unsqueeze() end,
      "Tensor:unsqueeze: dim is missing" },
    { "item of many", function () return peri.item(t) end,
      "Tensor:item: only a tensor of one element has an item, this one has shape (2, 3)" },
    { "length of a number", function () return #peri.tensor(1) end,
      "#Tensor: a tensor of rank 0 has no length" },
  }
  for _, case in ipairs(cases) do
    local what, fn, text = table.unpack(case)
    it("refuses " .. what, function () assert.equal(text, message(fn)) end)
  end

  it("refuses narrow beyond all integers", function ()
    local text = message(t.narrow, t, 1, math.maxinteger, math.maxinteger)
    assert.matches("^Tensor:narrow: .*9223372036854775807", text)
  end)

  it("refuses an open dimension that nothing determines", function ()
    assert.matches("^Tensor:reshape: ", message(peri.zeros(0).reshape, peri.zeros(0), 0, -1))
  end)
end)
