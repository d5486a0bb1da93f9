--- Two ways to an object: the short one (src/api/objects.c) and the full one (construction.lua). Whatever
-- is passed, both end with equal objects or with the same message at the same place.
local peri         = require "perilune"
local construction = require "perilune.construction"
local core         = require "perilune.core"

local pack, nan = table.pack, 0 / 0

-- The full constructor, called as the short one calls it.
local function full (c, ...) return construction.full(c, select("#", ...), ...) end

-- What a call ends with. All calls are made in the same line, which errors name.
local function outcome (call, ...)
  return pack(pcall(function (...) local object = call(...) return object end, ...))
end

local function same (a, b)
  if rawequal(a, b) then return math.type(a) == math.type(b) end
  if type(a) ~= type(b) then return false end
  if type(a) == "number" then return a == b and math.type(a) == math.type(b) or a ~= a and b ~= b end
  if core.is_tensor(a) then return core.is_tensor(b) and same(a.shape, b.shape) and same(a:totable(), b:totable()) end
  if type(a) ~= "table" or not rawequal(getmetatable(a), getmetatable(b)) then return false end
  for key, value in next, a do
    if not same(value, rawget(b, key)) then return false end
  end
  for key in next, b do
    if rawget(a, key) == nil then return false end
  end
  return true
end

local function described (result)
  if not result[1] then return tostring(result[2]) end
  local fields = {}
  for key, value in next, result[2] do
    fields[#fields + 1] = tostring(key) .. "=" .. (core.is_tensor(value) and "tensor" or tostring(value))
  end
  table.sort(fields)
  return "an object of " .. table.concat(fields, ", ")
end

-- Both ways end alike; what they end with.
local function agree (c, ...)
  local short, long = outcome(c, ...), outcome(full, c, ...)
  if not (short[1] == long[1] and same(short[2], long[2])) then
    error("the short way gave " .. described(short) .. ", the full one " .. described(long), 2)
  end
  return long[1], long[2]
end

local function by_name (c, values)
  local named = {}
  for i, param in ipairs(c.params) do named[param[1]] = values[i] end
  return named
end

-- The place of the last value, and whether one is missing before it.
local function last_of (values, n)
  while n > 0 and values[n] == nil do n = n - 1 end
  for i = 1, n do
    if values[i] == nil then return n, true end
  end
  return n, false
end

-- In their places and by name, with the same end; but nil in a place is refused.
local function agree_all (c, values)
  local n, has_nil = last_of(values, #c.params)
  local ok, object = agree(c, table.unpack(values, 1, n))
  local named = by_name(c, values)
  if next(named) == nil then return ok, object end
  local also, other = agree(c, named)
  assert.is_true(same(named, by_name(c, values)), "the table of names is left alone")
  if has_nil then
    assert.matches("%w+ is nil %(argument %d%)$", object)
    return also, other
  end
  assert.equal(ok, also)
  assert.is_true(same(object, other))
  return ok, object
end

-- Parameters of the object that the help of a class shows: all of them, alternatives included.
local function example_values (name)
  local example = peri[name].help.example[1]
  local text = example:match("^%u%w*%b()") or example:match("^%u%w*%b{}")
  local d = load("local peri, " .. name .. " = ...; return " .. text)(peri, peri[name])
  local values = {}
  for i, param in ipairs(peri[name].params) do values[i] = d[param[1]] end
  return values
end

-- One value of each group of alternatives; of its own, that in place i.
local function choose (params, values, i)
  local chosen, given = {}, {}
  local function take (k)
    if given[params[k][1]] then return end
    chosen[k] = values[k]
    for other in pairs(params[k].gives or {}) do given[other] = true end
  end
  take(i)
  for k = 1, #params do take(k) end
  return chosen
end

local function is_plain (c) return #c.params > 0 and not c.construct end

for _, name in ipairs(peri.distributions()) do
  local c = peri[name]
  if is_plain(c) then
    describe(name, function ()
      local params, values, n = c.params, example_values(name), #c.params

      it("is the same from numbers and tensors, for each alternative", function ()
        for i, param in ipairs(params) do
          local chosen = choose(params, values, i)
          assert.is_true(agree_all(c, chosen))
          local value = chosen[i]
          if type(value) == "number" and not param.event then
            for _, kind in ipairs { value * 1.0, peri.full(3, value), peri.param(peri.full({ 2, 1 }, value)) } do
              chosen[i] = kind
              agree_all(c, chosen)
            end
          end
        end
      end)

      it("is the same from defaults, or refused for what is missing", function ()
        agree_all(c, {})
        for i = 1, n do
          local chosen = choose(params, values, i)
          agree_all(c, { [i] = chosen[i] })
          chosen[i] = nil
          agree_all(c, chosen)
        end
        agree(c, {})
      end)

      it("refuses the same", function ()
        local odd = { nan, -1e300, -1, 0, math.huge, "1", true, print, {}, { 1, "x" }, { loc = 1 }, { { 1 }, { 2, 3 } },
                      peri.Normal(0, 1), peri.full(3, nan), peri.zeros(0), peri.zeros(5, 2), peri.zeros(3), c }
        for i = 1, n do
          for _, value in ipairs(odd) do
            local chosen = choose(params, values, i)
            chosen[i] = value
            agree(c, table.unpack(chosen, 1, n))
            agree(c, by_name(c, chosen))
          end
        end
      end)

      it("refuses too much", function ()
        local chosen = choose(params, values, n)
        local named = by_name(c, chosen)
        chosen[n + 1] = 1
        assert.is_false(agree(c, table.unpack(chosen, 1, n + 1)))
        agree(c, table.unpack(values, 1, n))
        agree(c, by_name(c, values))
        assert.is_false(agree(c, named, 1))
        agree(c, named, nil)
        agree(c, named, nil, 1)
        for _, key in ipairs { "no_such_parameter", "validate", 1, 2, 1.5, true } do
          local more = by_name(c, chosen)
          more[key] = 1
          agree(c, more)
          more[key] = false
          agree(c, more)
        end
        agree(c, setmetatable(named, {}))
      end)

      it("is the same unchecked", function ()
        peri.validate(false)
        local ok, text = pcall(function ()
          for i = 1, n do
            for _, value in ipairs { nan, -1, peri.full(3, -1), "x" } do
              local chosen = choose(params, values, i)
              chosen[i] = params[i].event and chosen[i] or value
              agree(c, table.unpack(chosen, 1, n))
              agree(c, by_name(c, chosen))
            end
          end
        end)
        peri.validate(true)
        assert.is_true(ok, text)
      end)
    end)
  end
end


describe("the short way", function ()
  local real, positive = peri.constraints.real, peri.constraints.positive
  local params = {
    { "a", real, default = 2 }, { "b", positive },
    { "p", real, gives = { q = print } }, { "q", real, gives = { p = print } },
  }
  local C = { __name = "C", params = params }
  C.__index = C
  local got = nil   -- what the full constructor was called with
  local function note (...)
    got = pack(...)
    return "full"
  end
  local short = core.constructor(params, note, { [params[3]] = true }, C)

  local function taken (...)
    got = nil
    return short(...), got == nil
  end

  local t = peri.param(peri.ones(3))
  local plain = {
    { "names",             { { a = 1, b = 2, q = 3 } },             { a = 1, b = 2, q = 3 } },
    { "floats",            { { a = 1.0, b = 2.5, q = -0.0 } },      { a = 1.0, b = 2.5, q = -0.0 } },
    { "defaults by name",  { { q = 3, b = 2 } },                    { a = 2, b = 2, q = 3 } },
    { "a tensor",          { { b = t, q = 3 } },                    { a = 2, b = t, q = 3, batch_shape = t.shape } },
    { "tensors",           { { a = peri.zeros(2, 1), b = t, q = t } },
      { a = peri.zeros(2, 1), b = t, q = t, batch_shape = peri.zeros(2, 3).shape } },
  }
  for _, case in ipairs(plain) do
    it("is taken for " .. case[1], function ()
      local object, is_short = taken(C, case[2][1])
      assert.is_true(is_short)
      assert.is_true(same(setmetatable(case[3], C), object))
      for key, value in pairs(case[3]) do
        if key ~= "batch_shape" and case[1] ~= "tensors" then assert.is_true(rawequal(value, rawget(object, key))) end
      end
    end)
  end

  it("is taken for places, the last of which may be left out", function ()
    local firsts = { params[2], params[1] }
    local by_place = core.constructor(firsts, note, nil, C)
    for _, given in ipairs { { 2, 1 }, { 2 }, { t, t } } do
      got = nil
      local object = by_place(C, table.unpack(given))
      assert.is_nil(got)
      assert.is_true(rawequal(given[1], object.b) and rawequal(given[2] or 2, object.a))
    end
    assert.equal("full", by_place(C, nil, 1))
    assert.equal("full", by_place(C, 2, nil))
  end)

  local D = { __name = "D", params = params }
  local other = {
    { "another class",         pack(D, 1, 2, nil, 3) },
    { "names of another class", pack(D, { a = 1, b = 2, q = 3 }) },
    { "no class",              pack(5, 1, 2, nil, 3) },
    { "nothing",               pack() },
    { "what breaks a rule",    pack(C, 1, -2, nil, 3) },
    { "a tensor that does",    pack(C, 1, peri.zeros(3), nil, 3) },
    { "shapes that do not fit", pack(C, peri.zeros(2), t, nil, 3) },
    { "a string",              pack(C, "1", 2, nil, 3) },
    { "a table",               pack(C, { 1 }, 2, nil, 3) },
    { "an alternative that must be derived", pack(C, 1, 2, 3) },
    { "both alternatives",     pack(C, 1, 2, 3, 3) },
    { "neither",               pack(C, 1, 2) },
    { "one too many",          pack(C, 1, 2, nil, 3, 4) },
    { "names and more",        pack(C, { a = 1, b = 2, q = 3 }, 5) },
    { "an unknown name",       pack(C, { a = 1, b = 2, q = 3, c = 1 }) },
    { "an unknown name instead", pack(C, { a = 1, b = 2, c = 1 }) },
    { "validate",              pack(C, { a = 1, b = 2, q = 3, validate = true }) },
    { "an array part",         pack(C, { 7, b = 2, q = 3 }) },
    { "a table that has a metatable", pack(C, setmetatable({ a = 1, b = 2, q = 3 }, {})) },
    { "an empty table",        pack(C, {}) },
    { "names in the first place", pack(C, { a = { b = 1 }, b = 2, q = 3 }) },
  }
  for _, case in ipairs(other) do
    it("is left for " .. case[1] .. ", with the arguments as they were", function ()
      local result, is_short = taken(table.unpack(case[2], 1, case[2].n))
      assert.is_false(is_short)
      assert.equal("full", result)
      assert.is_true(rawequal(case[2][1], got[1]))
      assert.equal(case[2].n - 1, got[2])
      for i = 2, 6 do assert.is_true(rawequal(case[2][i], got[1 + i])) end
    end)
  end

  local row = { 1 }
  local placed = {
    { { b = -2, q = 3 },        { 2, -2, nil, 3 } },   -- none of them given by position
    { { a = 1, b = 2, p = 3 },  { 1, 2, 3 } },
    { { a = 1, q = row },       { 1, nil, nil, row } },
  }
  for i, case in ipairs(placed) do
    it("is left, with names in their places, for what only the full one can do, case " .. i, function ()
      assert.is_false(select(2, taken(C, case[1])))
      assert.equal(C, got[1])
      assert.equal(0, got[2])
      for k = 1, 4 do assert.is_true(rawequal(case[2][k], got[2 + k])) end
    end)
  end

  it("is taken for a class with init, which completes the object", function ()
    local completed = core.constructor(params, note, { [params[3]] = true }, C, true)
    local calls = {}
    C.init = function (...) calls[#calls + 1] = pack(...) end
    got = nil
    local object = completed(C, { a = 1, b = 2, q = 3 })
    local empty = core.constructor({}, note, nil, C, true)(C)
    assert.equal("full", completed(C, 1, -2, nil, 3))
    C.init = nil
    assert.is_true(same(setmetatable({ a = 1, b = 2, q = 3 }, C), object))
    assert.is_true(same(setmetatable({}, C), empty))
    assert.equal(2, #calls)
    assert.is_true(rawequal(object, calls[1][1]) and rawequal(empty, calls[2][1]))
    assert.is_true(calls[1][2])
    assert.is_true(same(object, completed(C, { a = 1, b = 2, q = 3 })))   -- init was taken away
  end)

  -- Tensors of ones, but for one element that breaks the rule of b; and views that do not show it.
  local function broken (at, ...)
    local x = peri.ones(...)
    x:reshape(-1)[at] = -1
    return x
  end
  local line, pairs_of, matrix = broken(1300, 1300), broken(3, 650, 2), broken(3, 2, 3)
  for what, case in pairs {
    ["the last element of many"]    = { line, false },
    ["all but the last"]            = { line:narrow(1, 1, 1299), true },
    ["every other"]                 = { pairs_of:select(2, 2), true },
    ["the others"]                  = { pairs_of:select(2, 1), false },
    ["columns"]                     = { matrix:transpose(1, 2), false },
    ["columns without the last"]    = { matrix:narrow(2, 1, 2), true },
    ["the last column"]             = { matrix:select(2, 3), false },
    ["one element, repeated"]       = { matrix:select(2, 3):narrow(1, 1, 1):expand(1000), false },
    ["another, repeated"]           = { matrix:select(2, 3):narrow(1, 2, 1):expand(1000), true },
    ["nothing"]                     = { line:narrow(1, 1300, 0), true },
  } do
    it("looks at the elements of a view and at no others: " .. what, function ()
      assert.equal(case[2], select(2, taken(C, { a = 1, b = case[1], q = 3 })))
    end)
  end

  it("knows no alternatives and no names unless told", function ()
    local untold = core.constructor(params, note)
    assert.equal("full", untold(C, 1, 2, nil, 3))
    assert.equal("full", untold(C, { a = 1, b = 2, q = 3 }))
    assert.equal("full", core.constructor({ params[1], params[2] }, note)(C, { a = 1, b = 2 }))
    assert.equal("full", untold(5, 1, 2, nil, 3))
    assert.equal("full", core.constructor({ params[1] }, note)(C, 1))
    assert.equal("full", core.constructor({}, note)(5))
  end)
end)


describe("classes of one's own", function ()
  local real, positive = peri.constraints.real, peri.constraints.positive

  local function twice (x) return 2 * x end
  local function half (x) return x / 2 end

  -- a and b are alternatives, in several ways that are none of the usual
  local odd = {
    ["no operand among them"] = { operands = { "c" }, gives = { { b = twice }, { a = half } } },
    ["both operands"]         = { operands = { "a", "b" }, gives = { { b = twice }, { a = half } } },
    ["one that gives nothing"] = { operands = { "b" }, gives = { { b = twice }, {} } },
    ["one without gives"]     = { operands = { "b" }, gives = { { b = twice } } },
    ["one without gives, first"] = { operands = { "a" }, gives = { nil, { a = half } } },
    ["one with a default"]    = { operands = { "b" }, gives = { { b = twice }, { a = half } }, defaults = { 1 } },
    ["the operand by default"] = { operands = { "b" }, gives = { { b = twice }, { a = half } }, defaults = { nil, 1 } },
    ["an operand that is no parameter"] = { operands = { "z" }, gives = { { b = twice, z = twice }, { a = half } } },
  }
  for what, case in pairs(odd) do
    it("have alternatives: " .. what, function ()
      local defaults = case.defaults or {}
      local Odd = peri.Distribution:extend("Odd", {
        params = {
          { "a", real, gives = case.gives[1], default = defaults[1] },
          { "b", real, gives = case.gives[2], default = defaults[2] }, { "c", positive, default = 1 },
        },
        operands = case.operands,
      })
      for _, values in ipairs { {}, { 3 }, { nil, 4 }, { 3, 4 }, { 3, nil, 5 }, { nil, 4, 5 }, { nil, 4, -5 },
                                { nil, peri.ones(2) }, { peri.ones(2), nil, peri.ones(3, 1) } } do
        agree(Odd, table.unpack(values, 1, 3))
        agree(Odd, by_name(Odd, values))
      end
    end)
  end

  it("derive what was not passed when it is asked for", function ()
    local d = peri.Bernoulli { logits = 0 }
    assert.is_nil(rawget(d, "probs"))
    assert.equal(0.5, d.probs)
    assert.equal("integer", math.type(d.logits))
    assert.equal("Bernoulli(logits=0)", tostring(d))
  end)

  it("may be children with operands or parameters of their own", function ()
    local Mean = peri.Bernoulli:extend("Mean", { operands = { "probs" } })
    for _, values in ipairs { { 0.3 }, { nil, 0.3 }, { peri.full(2, 0.3) }, { nil, peri.ones(2) } } do
      agree_all(Mean, values)
    end
    assert.equal(0.5, rawget(Mean { logits = 0 }, "probs"))
    local Own = peri.Normal:extend("Own", { params = { { "rate", positive } } })
    agree_all(Own, { 3 })
    agree_all(Own, { -3 })
    assert.is_false(agree(Own, { loc = 3 }))
  end)

  it("made by hand have the parameters they say, by name", function ()
    local Hand = setmetatable({ __name = "Hand", params = { { "rate", positive }, { "loc", real } } },
                              getmetatable(peri.Normal))
    Hand.__index = Hand
    assert.is_true(agree(Hand, { rate = 2, loc = 1 }))
    assert.is_false(agree(Hand, { scale = 2, loc = 1 }))
  end)

  it("see to the writing of fields if they want", function ()
    local Noting = peri.Normal:extend("Noting", {
      __newindex = function (self, key, value) rawset(self, key .. "_noted", value) end,
    })
    assert.is_true(agree(Noting, { loc = 1, scale = 2 }))
  end)

  it("cannot be called as what they are not", function ()
    for _, name in ipairs { "Normal", "Bernoulli", "Categorical", "Distribution" } do
      local call = getmetatable(peri[name]).__call
      for _, value in ipairs { 5, "x", true, print, peri.zeros(2), io.stdout } do
        assert.is_false(pcall(call, value, 0, 1))
        assert.is_false(pcall(call, value, { loc = 0 }))
      end
      assert.is_false(pcall(call))
    end
  end)
end)
