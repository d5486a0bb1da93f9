--- Reductions, running sums and softmax, against a slow model.
local peri  = require "perilune"
local model = require "spec.support.reference_tensor"

local huge, nan = math.huge, 0 / 0
local near = model.near(1e-13, 1)

local function message (fn, ...)
  local ok, text = pcall(fn, ...)
  assert.is_false(ok, "an error was expected")
  return (tostring(text):gsub("^[^:]+:%d+: ", ""))
end


-- The reductions on a list, straight from their definitions -----------------------

local function sum (list)
  local s, c = 0, 0              -- with what rounding lost, after Neumaier
  for _, x in ipairs(list) do
    local t = s + x
    c = c + (math.abs(s) >= math.abs(x) and s - t + x or x - t + s)
    s = t
  end
  return c == c and s + c or s
end

local function choose (better)
  return function (list)
    local at = 1
    for i, x in ipairs(list) do
      local best = list[at]
      if better(x, best) or (x ~= x and best == best) then at = i end
    end
    return at
  end
end

local argmax = choose(function (x, y) return x > y end)
local argmin = choose(function (x, y) return x < y end)

local function mean (list) return sum(list) / #list end

local function var (list)
  if #list < 2 then return nan end
  local shifted, squares = {}, {}
  for i, x in ipairs(list) do shifted[i] = x - list[1] end
  local m = mean(shifted)
  for i, x in ipairs(shifted) do squares[i] = (x - m) * (x - m) end
  return sum(squares) / (#list - 1)
end

local function logsumexp (list)
  if #list == 0 then return -huge end
  local largest, terms = list[argmax(list)], {}
  if math.abs(largest) == huge then return largest end
  for i, x in ipairs(list) do terms[i] = math.exp(x - largest) end
  return largest + math.log(sum(terms))
end

local reductions = {
  sum  = sum,
  mean = mean,
  prod = function (list)
    local p = 1
    for _, x in ipairs(list) do p = p * x end
    return p
  end,
  max = function (list) return list[argmax(list)] end,
  min = function (list) return list[argmin(list)] end,
  argmax = argmax,
  argmin = argmin,
  logsumexp = logsumexp,
  var = var,
  std = function (list) return math.sqrt(var(list)) end,
  all = function (list)
    for _, x in ipairs(list) do if x == 0 then return 0 end end
    return 1
  end,
  any = function (list)
    for _, x in ipairs(list) do if x ~= 0 then return 1 end end
    return 0
  end,
}

local chooses = { max = true, min = true, argmax = true, argmin = true }

local names = {}
for name in pairs(reductions) do names[#names + 1] = name end
table.sort(names)

-- Numbers with many ties and zeros for the reductions that can tell.
local function lumpy (source) return (source(7) - 4) / 2 end

local function all_dimensions (rank)
  local dims = {}
  for d = 1, rank do dims[d] = true end
  return dims
end


describe("a reduction:", function ()
  for place, name in ipairs(names) do
    local number = (name == "all" or name == "any" or name:find "^arg") and lumpy or nil

    it(name .. " over everything, one dimension or several, kept or not", function ()
      local source = model.source(100 + place)
      for round = 1, 60 do
        local rank = source(5) - 1
        local shape = model.random_shape(source, rank, 5)
        if chooses[name] then for d = 1, rank do shape[d] = math.max(shape[d], 1) end end
        local t, m = model.random_view(peri, source, shape, number)
        local function check (argument, dims)
          for _, keep in ipairs { false, true } do
            local wanted = model.reduce(reductions[name], m, dims, keep)
            assert.is_nil(model.difference(t[name](t, argument, keep), wanted, near))
          end
        end
        check(nil, all_dimensions(rank))
        for d = 1, rank do
          check(d, { [d] = true })
          check(d - rank - 1, { [d] = true })
        end
        local list, dims = {}, {}
        for d = rank, 1, -1 do
          if source(2) == 1 then
            list[#list + 1] = round % 2 == 0 and d or d - rank - 1
            dims[d] = true
          end
        end
        if #list > 0 then check(list, dims) end
      end
    end)
  end

  -- over 512 elements there are several blocks, over 32768 several chunks
  local large = { { 511 }, { 512 }, { 513 }, { 1025 }, { 4, 600 }, { 600, 4 }, { 32768 }, { 32769 }, { 40001 },
                  { 2, 33000 }, { 33000, 2 }, { 3, 50, 40 } }
  for _, shape in ipairs(large) do
    it("all of them in shape (" .. table.concat(shape, ", ") .. ")", function ()
      local source = model.source(shape[1])
      local t, m = model.random_view(peri, source, shape)
      local agree = model.near(1e-13, 10)
      for dim = 0, #shape do
        if dim == 0 or shape[dim] > 2 then
          local lines = model.reduce(function (list) return list end, m,
                                     dim == 0 and all_dimensions(#shape) or { [dim] = true })
          for _, name in ipairs(names) do
            local wanted = { shape = lines.shape }
            for i, list in ipairs(lines) do wanted[i] = reductions[name](list) end
            if name ~= "prod" then
              assert.is_nil(model.difference(t[name](t, dim > 0 and dim or nil), wanted, agree))
            end
          end
        end
      end
    end)
  end

  it("prod over blocks is exact where it can be", function ()
    local t = peri.full(2000, 2)
    t:narrow(1, 1, 1000):copy(0.5)
    assert.equal(1, peri.item(t:prod()))
    t[1500] = -3
    assert.equal(-1.5, peri.item(t:prod()))
  end)

  it("depends on the elements alone, not on how they lie in memory", function ()
    local source = model.source(3)
    for _, shape in ipairs { { 70, 50 }, { 3, 17, 40 }, { 200, 200 } } do
      local t = model.random_view(peri, source, shape)
      local u = t:clone()
      local v = t:transpose(1, -1):clone():transpose(1, -1)
      for _, name in ipairs(names) do
        for _, dim in ipairs { false, 1, 2 } do
          local wanted = model.of(t[name](t, dim or nil))
          assert.is_nil(model.difference(u[name](u, dim or nil), wanted))
          assert.is_nil(model.difference(v[name](v, dim or nil), wanted))
        end
      end
    end
  end)

  local nothing = { sum = 0, mean = nan, prod = 1, logsumexp = -huge, std = nan, var = nan, all = 1, any = 0 }
  for _, name in ipairs(names) do
    it(name .. " of nothing", function ()
      local t = peri.zeros(3, 0)
      if chooses[name] then
        local text = "Tensor:" .. name .. ": there are no elements to choose from"
        assert.equal(text, message(t[name], t))
        assert.equal(text, message(t[name], t, 2))
      else
        local x = nothing[name]
        assert.is_nil(model.difference(t[name](t), { shape = {}, x }))
        assert.is_nil(model.difference(t[name](t, 2), { shape = { 3 }, x, x, x }))
      end
      assert.same({ 0 }, t[name](t, 1).shape)
    end)
  end

  it("takes a table or a number as well", function ()
    assert.equal(3, peri.item(peri.logsumexp(3)))
    assert.equal(-huge, peri.item(peri.logsumexp({})))
    assert.is_nil(model.difference(peri.logsumexp { { 0, 0 }, { 0, 0 } }, { shape = {}, math.log(4) }, near))
  end)

  local t = peri.zeros(2, 3)
  local refused = {
    { "dimension 3 of 2", function () return t:sum(3) end,
      "Tensor:sum: dim must be between 1 and 2 (or -1 and -2), got 3" },
    { "dimension 0", function () return t:max(0) end,
      "Tensor:max: dim must be between 1 and 2 (or -1 and -2), got 0" },
    { "a string", function () return t:mean "1" end, "Tensor:mean: dim must be an integer, got the string \"1\"" },
    { "a string in a table", function () return t:mean { 1, "x" } end,
      "Tensor:mean: dim must be an integer, got the string \"x\"" },
    { "something else than a tensor", function () return t.sum "x" end,
      "Tensor:sum: self must be a number, a table of numbers or a tensor, got the string \"x\"" },
  }
  for _, case in ipairs(refused) do
    it("refuses " .. case[1], function () assert.equal(case[3], message(case[2])) end)
  end
end)


describe("infinities and NaN in", function ()
  -- what happens to 1200 elements, all 0.5 but for some, so that they fall
  -- into blocks of their own
  local cases = {   -- places and values, then the results
    { { [700] = nan },                max = nan, min = nan, argmax = 700, argmin = 700, sum = nan, mean = nan,
      logsumexp = nan, var = nan, std = nan, prod = nan, all = 1, any = 1 },
    { { [2] = huge, [1100] = nan },   max = nan, min = nan, argmax = 1100, argmin = 1100, logsumexp = nan },
    { { [2] = nan, [1100] = nan },    argmax = 2, argmin = 2 },
    { { [600] = huge },               max = huge, min = 0.5, argmax = 600, argmin = 1, sum = huge,
      logsumexp = huge, var = nan, std = nan },
    { { [600] = -huge },              max = 0.5, min = -huge, argmax = 1, argmin = 600, sum = -huge,
      logsumexp = 0.5 + math.log(1199), var = nan },
    { { [3] = huge, [900] = -huge },  max = huge, min = -huge, argmax = 3, argmin = 900, sum = nan, logsumexp = huge },
    { { [3] = huge, [900] = huge },   argmax = 3, argmin = 1, logsumexp = huge },
    { { [3] = 1e308, [900] = -1e308 }, argmax = 3, argmin = 900, max = 1e308, logsumexp = 1e308 },
    { { [1] = 0, [1200] = 0 },        all = 0, any = 1, argmin = 1, prod = 0 },
  }
  for i, case in ipairs(cases) do
    for name, wanted in pairs(case) do
      if name ~= 1 then
        it(name .. ", case " .. i, function ()
          local t = peri.full(1200, 0.5)
          for place, x in pairs(case[1]) do t[place] = x end
          assert.is_nil(model.difference(t[name](t), { shape = {}, wanted }, near))
        end)
      end
    end
  end

  it("logsumexp of nothing but -inf is -inf, over blocks too", function ()
    assert.equal(-huge, peri.item(peri.full(3, -huge):logsumexp()))
    assert.equal(-huge, peri.item(peri.full(2000, -huge):logsumexp()))
    local t = peri.full(2000, -huge)
    t[1999] = 3
    assert.equal(3, peri.item(t:logsumexp()))
  end)

  it("logsumexp of extreme numbers neither overflows nor vanishes", function ()
    assert.is_nil(model.difference(peri.logsumexp { 1000, 1000 }, { shape = {}, 1000 + math.log(2) }, near))
    assert.is_nil(model.difference(peri.logsumexp { -1000, -1000 }, { shape = {}, -1000 + math.log(2) }, near))
  end)

  it("var of equal numbers is exactly 0, however many and whatever they are", function ()
    for _, x in ipairs { 0.1, -1 / 3, 1e16, 1e-300, 12345.678 } do
      for _, n in ipairs { 2, 3, 7, 511, 513, 5000, 40001 } do
        assert.equal(0, peri.item(peri.full(n, x):var()))
      end
    end
  end)

  it("var does not lose the digits of numbers far from 0", function ()
    local t = peri.arange(1000) + 1e9
    assert.is_nil(model.difference(t:var(), { shape = {}, 1000 * 1001 / 12 }, near))
  end)

  it("sum keeps what a running sum would lose", function ()
    local t = peri.full(40000, 0.1)
    assert.is_true(math.abs(peri.item(t:sum()) - 4000) < 1e-11)
  end)
end)


describe("along rows,", function ()
  local functions = {
    cumsum = function (list)
      local s = 0
      for i, x in ipairs(list) do
        s = s + x
        list[i] = s
      end
      return list
    end,
    softmax = function (list)
      local total = logsumexp(list)
      for i, x in ipairs(list) do list[i] = math.exp(x - total) end
      return list
    end,
    log_softmax = function (list)
      local total = logsumexp(list)
      for i, x in ipairs(list) do list[i] = x - total end
      return list
    end,
  }

  for name, fn in pairs(functions) do
    it(name .. " agrees with the model in every dimension", function ()
      local agree = name == "softmax" and model.near(1e-13) or near   -- sums may cancel, these cannot
      local source = model.source(#name)
      for _ = 1, 60 do
        local rank = source(4)
        local t, m = model.random_view(peri, source, model.random_shape(source, rank, 5))
        for d = 1, rank do
          local wanted = #m == 0 and m or model.along(fn, m, d)
          assert.is_nil(model.difference(t[name](t, d), wanted, agree))
          assert.is_nil(model.difference(t[name](t, d - rank - 1), wanted, agree))
        end
      end
      for _, shape in ipairs { { 1500 }, { 3, 700 }, { 700, 3 }, { 90, 2, 80 } } do
        local t, m = model.random_view(peri, source, shape)
        for d = 1, #shape do
          assert.is_nil(model.difference(t[name](t, d), model.along(fn, m, d), agree))
        end
      end
    end)

    it(name .. " refuses what has no rows", function ()
      assert.equal(name .. ": a tensor of rank 0 has no rows",
                   message(peri.zeros(1)[name], peri.tensor(1), name == "cumsum" and 1 or nil))
      assert.equal(name .. ": dim must be an integer between 1 and 2 (or -1 and -2), got 3",
                   message(peri.zeros(1)[name], peri.zeros(2, 2), 3))
    end)
  end

  it("cumsum without a dimension goes through everything", function ()
    assert.same({ 1, 3, 6, 10 }, peri.tensor { { 1, 2 }, { 3, 4 } }:cumsum():totable())
    assert.same({ 1, 4, 6, 10 }, peri.tensor { { 1, 2 }, { 3, 4 } }:transpose():cumsum():totable())
    assert.same({ 5 }, peri.tensor(5):cumsum():totable())
  end)

  it("softmax works on the last dimension unless told, and on a table", function ()
    assert.same({ { 0.5, 0.5 }, { 1, 0 } }, peri.softmax { { 3, 3 }, { 800, 0 } }:totable())
    assert.same({ { -huge, 0 } }, peri.log_softmax { { -huge, 0 } }:totable())
  end)

  it("softmax sums to one, and large or small numbers do no harm", function ()
    for _, shift in ipairs { 0, 700, -700, 1e300, -1e300 } do
      assert.is_nil(model.difference(peri.softmax { shift, shift, -huge }, { shape = { 3 }, 0.5, 0.5, 0 }, near))
    end
    assert.equal(1, peri.isnan(peri.softmax { 1, nan })[1])
    assert.equal(1, peri.isnan(peri.log_softmax { 1, nan })[2])
  end)
end)

it("products and any of many elements are those of their parts", function ()
  for _, threads in ipairs { 1, 2 } do
    peri.set_threads(threads)
    finally(function () peri.set_threads(1) end)
    local x = peri.stack { peri.full({ 500000 }, 2), peri.full({ 500000 }, 0.5) }:transpose():reshape(-1)
    x[999999] = 6   -- a 2 that became 6
    assert.equal(3, x:prod())
    local flags = peri.zeros(1000000)
    assert.equal(0, flags:any())
    flags[999999] = 1
    assert.equal(1, flags:any())
  end
end)
