--- Classes: construction and its messages, inheritance, and the dispatch of KL
-- on it.
local peri = require "perilune"
local core = require "perilune.core"

local Normal, Distribution = peri.Normal, peri.Distribution
local kl = peri.kl_divergence

local function message (fn, ...)
  local ok, text = pcall(fn, ...)
  assert.is_false(ok, "an error was expected")
  return (tostring(text):gsub("^[^:]+:%d+: ", ""))
end

-- A class that nothing has been registered for.
local function new_class (name, parent, spec) return (parent or Distribution):extend(name, spec) end

local function constant (x) return function () return x end end

-- What fn returns, and the messages given to warn meanwhile.
local function warnings (fn, ...)
  local said, original = {}, _G.warn
  _G.warn = function (text) said[#said + 1] = text end
  local results = table.pack(pcall(fn, ...))
  _G.warn = original
  assert.is_true(results[1], results[2])
  return results[2], said
end


describe("construction", function ()
  local cases = {
    { "positional",            Normal(1, 2),                     1, 2 },
    { "named",                 Normal { loc = 1, scale = 2 },    1, 2 },
    { "by default",            Normal(),                         0, 1 },
    { "half by default",       Normal(3),                        3, 1 },
    { "named, half by default", Normal { scale = 4 },            0, 4 },
    { "a nil too many",        Normal(1, 2, nil),                1, 2 },
    { "integers stay integers", Normal(1, 2),                    1, 2 },
    { "unchecked",             Normal { loc = 1, scale = -2, validate = false }, 1, -2 },
    { "checked although told twice", Normal { loc = 1, scale = 2, validate = true }, 1, 2 },
  }
  for _, case in ipairs(cases) do
    it(case[1], function ()
      assert.equal(case[3], case[2].loc)
      assert.equal(case[4], case[2].scale)
      assert.is_true(getmetatable(case[2]) == Normal)
      assert.same({}, case[2].batch_shape)
      assert.same({}, case[2].event_shape)
    end)
  end

  it("keeps integers", function ()
    assert.equal("integer", math.type(Normal(1, 2).loc))
    assert.equal("integer", math.type(Normal { loc = 1 }.loc))
  end)

  it("takes an array as data of the first parameter", function ()
    local p = Normal { 0.5, 1 }
    assert.is_true(peri.is_tensor(p.loc))
    assert.same({ 0.5, 1 }, p.loc:totable())
    assert.same({ 2 }, p.batch_shape)
    assert.same({ 0 }, Normal({}, 1).batch_shape)
  end)

  local shapes = {
    { Normal({ 1, 2, 3 }, 1),                      { 3 } },
    { Normal(0, { { 1 }, { 2 } }),                 { 2, 1 } },
    { Normal({ 1, 2, 3 }, { { 1 }, { 2 } }),       { 2, 3 } },
    { Normal(peri.zeros(4, 1, 2), peri.ones(3, 1)), { 4, 3, 2 } },
    { Normal(peri.tensor(1), 2),                   {} },
  }
  for i, case in ipairs(shapes) do
    it("broadcasts its parameters to the batch shape, case " .. i, function ()
      assert.same(case[2], case[1].batch_shape)
      assert.same({}, case[1].event_shape)
      for _, method in ipairs { "entropy", "mean", "stddev", "sample" } do
        local value = case[1][method](case[1])
        assert.same(case[2], core.shape(value))
        assert.equal(#case[2] == 0, type(value) == "number")
      end
    end)
  end

  it("uses a tensor as it is, and copies a table", function ()
    local t = peri.tensor { 1, 2 }
    assert.is_true(rawequal(t, Normal(t, 1).loc))
    local list = { 1, 2 }
    local p = Normal(list, 1)
    list[1] = 9
    assert.equal(1, p.loc[1])
  end)

  it("does not let the shape of single numbers be changed", function ()
    assert.is_false(pcall(function () Normal(0, 1).batch_shape[1] = 3 end))
    assert.same({}, Normal(0, 1).batch_shape)
  end)

  local nan = 0 / 0
  local refused = {
    { "a negative scale",  function () Normal(0, -1) end, "Normal: scale must be positive, got -1" },
    { "a named negative scale", function () Normal { scale = -1.5 } end, "Normal: scale must be positive, got -1.5" },
    { "a scale of 0",      function () Normal(0, 0) end, "Normal: scale must be positive, got 0" },
    { "a scale of NaN",    function () Normal(0, nan) end, "Normal: scale must be positive, got nan" },
    { "a loc of NaN",      function () Normal(-nan, 1) end, "Normal: loc must be a real number, got nan" },
    { "one of a table",    function () Normal(0, { 1, -2, 3 }) end, "Normal: scale must be positive, got -2 at [2]" },
    { "one of a matrix",   function () Normal(0, { { 1, 2 }, { 3, -4 } }) end,
      "Normal: scale must be positive, got -4 at [2, 2]" },
    { "one of a view",     function () Normal(0, peri.tensor { { 1, 2 }, { -3, 4 } }:transpose()) end,
      "Normal: scale must be positive, got -3 at [1, 2]" },
    { "a string",          function () Normal("0", 1) end,
      "Normal: loc must be a number, a table of numbers or a tensor, got the string \"0\"" },
    { "a boolean",         function () Normal(0, true) end,
      "Normal: scale must be a number, a table of numbers or a tensor, got true" },
    { "a distribution",    function () Normal(Normal(0, 1), 1) end,
      "Normal: loc must be a number, a table of numbers or a tensor, got a Normal" },
    { "a ragged table",    function () Normal({ { 1 }, { 2, 3 } }, 1) end,
      "Normal: loc is ragged: a row of 2 elements beside one of 1" },
    { "too many",          function () Normal(0, 1, 2) end, "Normal: takes 2 parameters, got 3" },
    { "far too many",      function () Normal(0, 1, nil, nil, 3) end, "Normal: takes 2 parameters, got 5" },
    { "nil",               function () Normal(5, nil) end, "Normal: scale is nil (argument 2)" },
    { "nil in the first place", function () Normal(nil, 5) end, "Normal: loc is nil (argument 1)" },
    { "nil for an alternative", function () peri.Bernoulli(nil, 0) end, "Bernoulli: probs is nil (argument 1)" },
    { "an unknown name",   function () Normal { scala = 1 } end,
      "Normal: there is no parameter scala; did you mean scale? There are loc, scale, validate" },
    { "a name that is like no other", function () Normal { mu = 1 } end,
      "Normal: there is no parameter mu; there are loc, scale, validate" },
    { "names and positions", function () Normal({ loc = 1 }, 2) end,
      "Normal: named parameters come alone, in one table" },
    { "shapes that do not fit", function () Normal({ 1, 2 }, { 1, 2, 3 }) end,
      "Normal: parameters of shapes (2) and (3) do not broadcast" },
  }
  for _, case in ipairs(refused) do
    it("refuses " .. case[1], function () assert.equal(case[3], message(case[2])) end)
  end

  it("refuses nothing of it when peri.validate(false), and again when true", function ()
    peri.validate(false)
    local ok, p = pcall(Normal, 0, -1)
    local checked = pcall(Normal, { loc = 0, scale = -1, validate = true })
    peri.validate(true)
    assert.is_true(ok)
    assert.equal(-1, p.scale)
    assert.is_false(checked)
    assert.is_false(pcall(Normal, 0, -1))
  end)

  it("validate takes a boolean", function ()
    assert.equal("validate: on must be true or false, got 3", message(peri.validate, 3))
    assert.equal("validate: on must be true or false, got nil", message(peri.validate))
  end)
end)


describe("a class", function ()
  it("has a name, a parent, parameters and a support", function ()
    assert.equal("Normal", Normal.__name)
    assert.equal("class Normal", tostring(Normal))
    assert.is_true(Normal.super == Distribution)
    assert.equal("loc", Normal.params[1][1])
    assert.is_true(Normal.has_rsample)
    assert.is_true(Normal.support:check(1))
    assert.is_false(Normal.support:check(0 / 0))
    assert.is_false(peri.has "NoSuchClass")
  end)

  it("prints its instances with their parameters", function ()
    assert.equal("Normal(loc=0, scale=1)", tostring(Normal(0, 1)))
    assert.equal("Normal(loc=0.33333333333333, scale=1e-300)", tostring(Normal(1 / 3, 1e-300)))
    assert.equal("Normal(loc={1, 2}, scale=3)", tostring(Normal({ 1, 2 }, 3)))
    assert.equal("Normal(loc=Tensor(2, 2), scale=1)", tostring(Normal(peri.zeros(2, 2), 1)))
    assert.equal("Normal(loc=Tensor(7), scale=1)", tostring(Normal(peri.zeros(7), 1)))
  end)

  it("extended is called as its parent, and keeps the methods", function ()
    local My = Normal:extend "My"
    local p = My(1, 2)
    assert.equal("My(loc=1, scale=2)", tostring(p))
    assert.is_true(My.super == Normal)
    assert.equal("class My", tostring(My))
    assert.equal(Normal(1, 2):log_prob(0.3), p:log_prob(0.3))
    assert.equal("My: scale must be positive, got -1", message(My, 0, -1))
    assert.is_true(p:is_a(My))
    assert.is_true(p:is_a(Normal))
    assert.is_true(p:is_a(Distribution))
    assert.is_false(Normal(0, 1):is_a(My))
    assert.is_false(p:is_a {})
    assert.is_false(p:is_a(nil))
  end)

  it("extended may override, and reach its parent through super", function ()
    local Shifted = Normal:extend "Shifted"
    function Shifted:log_prob (x) return Shifted.super.log_prob(self, x) + 100 end
    assert.equal(Normal(0, 1):log_prob(0.3) + 100, Shifted(0, 1):log_prob(0.3))
    assert.equal(math.exp(5), Normal:extend("Five", { log_prob = constant(5) })(0, 1):prob(0))
  end)

  it("extended copies metamethods, and inherits those of the description", function ()
    local Shouting = Normal:extend("Shouting", { __tostring = constant "HELLO", __len = constant(7) })
    local Child = Shouting:extend "Child"
    assert.equal("HELLO", tostring(Child(0, 1)))
    assert.equal(7, #Child(0, 1))
  end)

  it("of one's own has parameters, defaults and checks", function ()
    local Rate = Distribution:extend("Rate", {
      params = { { "rate", peri.constraints.positive, default = 1 }, { "start", peri.constraints.real } },
      support = peri.constraints.real,
      log_prob = function (self, x) return peri.log(self.rate) - self.rate * (x - self.start) end,
    })
    assert.equal("Rate(rate=2, start=3)", tostring(Rate(2, 3)))
    assert.equal(-4, Rate(1, 3):log_prob(7))
    assert.equal(1, Rate { start = 3 }.rate)
    assert.same({ -1, -2 }, Rate(1, { 0, 0 }):log_prob({ 1, 2 } + peri.tensor(0)):totable())
    assert.equal("Rate: start is missing", message(Rate, 2))
    assert.equal("Rate: rate must be positive, got 0", message(Rate, 0, 1))
    assert.equal("Rate has no rsample; a subclass may define Rate:rsample",
                 message(function () return Rate(1, 1):rsample() end))
    assert.equal("Rate has no sample: as far as can be found its probabilities sum to inf, not to 1",
                 message(function () return Rate(1, 1):sample() end))
  end)

  it("with init completes its instances, and children inherit that", function ()
    local Twice = Normal:extend("Twice", { init = function (self) self.twice = 2 * self.loc end })
    local Child = Twice:extend "Child"
    assert.equal(6, Twice(3, 1).twice)
    assert.equal(6, Child(3, 1).twice)
    assert.equal(8, Child { loc = 4 }.twice)
  end)

  it("tells init whether parameters were checked", function ()
    local seen
    local Told = Normal:extend("Told", { init = function (_, checking) seen = checking end })
    for _, case in ipairs { { 0, 1 }, { { loc = 0 } }, { peri.zeros(2), 1 }, { { 0, 1 }, 1 } } do
      seen = nil
      Told(table.unpack(case))
      assert.is_true(seen)
    end
    Told { loc = 0, validate = false }
    assert.is_false(seen)
    peri.validate(false)
    seen = nil
    local ok, text = pcall(Told, 0, 1)
    peri.validate(true)
    assert(ok, text)
    assert.is_false(seen)
    Told.init = function () error("no", 0) end
    assert.equal("no", message(Told, 0, 1))
  end)

  it("makes plain instances with init in few steps", function ()
    local Pareto, sethook, steps = peri.Pareto, debug.sethook, 0
    sethook(function () steps = steps + 1 end, "", 1)
    Pareto(0.6, 1.1)
    sethook()
    assert.is_true(steps < 100, steps .. " instructions")
  end)

  it("may be given init later, or lose it", function ()
    local Late = Normal:extend "Late"
    local Child = Late:extend "Child"
    assert.is_nil(Late(3, 1).twice)
    function Late:init () self.twice = 2 * self.loc end
    assert.equal(6, Late(3, 1).twice)
    assert.equal(8, Late { loc = 4 }.twice)
    assert.equal(6, Late:extend "Later" (3, 1).twice)
    assert.is_nil(Child(3, 1).twice)
    assert.is_nil(Normal(3, 1).twice)
    Late.init = nil
    assert.is_nil(Late(3, 1).twice)
    Late.init = function (self) self.twice = 0 end
    assert.equal(0, Late(3, 1).twice)
  end)

  it("may be given init later where it makes its instances itself", function ()
    local Own = Distribution:extend("Own", { construct = function (c) return setmetatable({}, c) end })
    function Own:init () self.twice = 2 end
    assert.is_nil(Own().twice)
  end)

  it("may see to the writing of fields, from the first or later", function ()
    local function note (self, key, value) rawset(self, key .. "_noted", value) end
    local Late = Normal:extend "Late"
    assert.is_nil(Late(3, 1).loc_noted)
    Late.__newindex = note
    for _, c in ipairs { Late, Normal:extend("First", { __newindex = note }) } do
      for _, d in ipairs { c(3, 1), c { loc = 3 }, c(peri.tensor(3), 1) } do
        assert.equal(3, peri.item(peri.tensor(d.loc_noted)))
        assert.is_nil(rawget(d, "loc"))
      end
    end
  end)

  it("keeps what is written to it as a table does", function ()
    local Plain = Normal:extend "Plain"
    Plain.x, Plain[1] = 1, 2
    assert.equal(1, rawget(Plain, "x"))
    assert.equal(2, rawget(Plain, 1))
    function Plain:mean () return self.loc + 1 end
    assert.equal(4, Plain(3, 1):mean())
    assert.is_nil(rawget(Normal, "x"))
  end)

  it("with six parameters is constructed as one with two", function ()
    local params = {}
    for i = 1, 6 do params[i] = { "p" .. i, peri.constraints.real } end
    local Six = Distribution:extend("Six", { params = params })
    local d = Six(1, 2, 3, 4, 5, 6)
    assert.equal("Six(p1=1, p2=2, p3=3, p4=4, p5=5, p6=6)", tostring(d))
    assert.equal("Six: takes 6 parameters, got 7", message(Six, 1, 2, 3, 4, 5, 6, 7))
    assert.equal("Six: p6 is missing", message(Six, 1, 2, 3, 4, 5))
    assert.equal(6, Six { p1 = 1, p2 = 2, p3 = 3, p4 = 4, p5 = 5, p6 = 6 }.p6)
  end)

  it("with seven parameters takes them all, positional or named, or is refused", function ()
    local params, named = {}, {}
    for i = 1, 7 do
      params[i] = { "p" .. i, peri.constraints.real }
      named["p" .. i] = i
    end
    local ok, Seven = pcall(Distribution.extend, Distribution, "Seven", { params = params })
    if ok then
      assert.equal(7, Seven(1, 2, 3, 4, 5, 6, 7).p7)
      assert.equal(7, Seven(named).p7)
    else
      assert.matches("extend: .*Seven", Seven)
    end
  end)

  local constraints = peri.constraints
  local rules = {
    { constraints.greater_than(2), 2.5, 2, "greater than 2" },
    { constraints.interval(-1, 1), 1, 1.5, "in the interval [-1, 1]" },
    { constraints.unit_interval, 0, -0.1, "in the interval [0, 1]" },
    { constraints.boolean, 1, 0.5, "an integer in [0, 1]" },
    { constraints.nonnegative, 0, -1, "non-negative" },
    { constraints.nonnegative_integer, 7, 1.5, "an integer in [0, inf]" },
    { constraints.nonnegative_integer, 7, math.huge, "an integer in [0, inf]" },
    { constraints.integer_interval(2, 4), 4, 5, "an integer in [2, 4]" },
  }
  for _, case in ipairs(rules) do
    it("can demand that x is " .. case[4] .. ", not " .. case[3], function ()
      local C = Distribution:extend("C", { params = { { "x", case[1] } } })
      assert.equal(case[2], C(case[2]).x)
      assert.equal("C: x must be " .. case[4] .. ", got " .. string.format("%.14g", case[3]), message(C, case[3]))
      assert.equal("C: x must be " .. case[4] .. ", got " .. string.format("%.14g", case[3]) .. " at [2]",
                   message(C, { case[2], case[3] }))
    end)
  end

  -- A description that was an instance had the kernels of its class, and a class of the same name was made anew.
  it("extend takes no instance for a class or a description", function ()
    local d, own = peri.TruncatedNormal({ 0 }, 1, 2, 3), peri.Normal
    assert.matches("^extend: a class is extended, got ", message(Normal.extend, d, "Normal"))
    assert.matches("^extend: the description of Normal must be a plain table, got ",
                   message(Normal.extend, Normal, "Normal", d))
    assert.equal(own, peri.Normal)
    assert.equal(3, peri.Normal(3, 1):mean())
  end)

  it("extend refuses a name that is no string and a description that is no table", function ()
    assert.equal("extend: name must be a string, got 5", message(Normal.extend, Normal, 5))
    assert.equal("extend: name must be a string, got nil", message(Normal.extend, Normal))
    assert.equal("extend: the description of X must be a plain table, got 3", message(Normal.extend, Normal, "X", 3))
    assert.equal("extend: X: support must be a constraint, as peri.constraints.real is, got 3",
                 message(Normal.extend, Normal, "X", { support = 3 }))
    assert.equal("X: there is no file of kernels named nonsense",
                 message(Distribution.extend, Distribution, "X", { kernels = "nonsense" }))
  end)

  local descriptions = {
    ["params that are no table"]  = { params = 5 },
    ["a parameter that is no table"] = { params = { 5 } },
    ["a parameter without a constraint"] = { params = { { "a" } } },
    ["a constraint that is none"] = { params = { { "a", 5 } } },
    ["a parameter without a name"] = { params = { { peri.constraints.real } } },
  }
  for what, description in pairs(descriptions) do
    it("extend refuses " .. what, function ()
      assert.matches("^extend: .*Odd.*param", message(Distribution.extend, Distribution, "Odd", description))
    end)
  end

  it("made by hand counts as well as any", function ()
    local My = setmetatable({ __name = "My" }, { __index = Normal })
    My.__index = My
    local p = setmetatable(Normal(1, 2), My)
    assert.is_true(p:is_a(Normal))
    assert.is_true(p:is_a(My))
    assert.equal(Normal(1, 2):log_prob(0.3), p:log_prob(0.3))
    assert.equal(kl(Normal(1, 2), Normal(0, 1)), kl(p, Normal(0, 1)))
    assert.equal(kl(Normal(0, 1), Normal(1, 2)), kl(Normal(0, 1), p))
    assert.equal(0, kl(p, p))
    peri.register_kl(My, Normal, constant(7))
    assert.equal(7, kl(p, Normal(0, 1)))
    assert.equal(0, kl(Normal(0, 1), Normal(0, 1)))
  end)

  it("made by hand without a name works, and messages say so", function ()
    local My = setmetatable({}, { __index = Distribution })
    My.__index = My
    local p = setmetatable({}, My)
    assert.matches("a class without __name", message(kl, p, p, { fallback = false }))
    assert.matches("a class without __name has no mode", message(p.mode, p))
  end)
end)


describe("expand", function ()
  it("makes the batch larger, and copies nothing", function ()
    local p = Normal({ 1, 2 }, 3)
    local q = p:expand { 4, 2 }
    assert.same({ 4, 2 }, q.batch_shape)
    assert.same({ 2 }, p.batch_shape)
    assert.same({ 4, 2 }, q:log_prob(0).shape)
    assert.same({ 3, 4, 2 }, q:sample(3).shape)
    assert.is_true(q:is_a(Normal))
    p.loc[1] = 10
    assert.equal(10, q.loc:at(4, 1))
    assert.same({ 5 }, Normal(0, 1):expand(5):mean().shape)
  end)

  it("keeps the class", function ()
    local My = Normal:extend "My"
    assert.is_true(getmetatable(My(0, 1):expand(3)) == My)
  end)

  it("does not hand its own shape table out for changing", function ()
    local shape = { 3 }
    local q = Normal(0, 1):expand(shape)
    shape[1] = 9
    assert.same({ 3 }, q.batch_shape)
  end)

  it("refuses what does not fit", function ()
    assert.equal("Normal:expand: shape must be an integer or a table of integers, got nil",
                 message(function () return Normal(0, 1):expand() end))
    assert.matches("shape %(2%) does not expand to %(3%)",
                   message(function () return Normal({ 1, 2 }, 1):expand(3) end))
  end)
end)


describe("register_kl", function ()
  local refused = {
    { "a number for P", function () peri.register_kl(1, Normal, print) end,
      "register_kl: P must be a class of distributions, got 1" },
    { "nil for Q", function () peri.register_kl(Normal, nil, print) end,
      "register_kl: Q must be a class of distributions, got nil" },
    { "a plain table", function () peri.register_kl({}, Normal, print) end,
      "register_kl: P must be a class of distributions, got an empty table" },
    { "an instance", function () peri.register_kl(Normal(0, 1), Normal, print) end,
      "register_kl: P must be a class of distributions, got a Normal" },
    { "a tensor", function () peri.register_kl(Normal, peri.zeros(2), print) end,
      "register_kl: Q must be a class of distributions, got a tensor of shape (2)" },
    { "no function", function () peri.register_kl(Normal, Normal:extend "X", nil) end,
      "register_kl: fn must be a function of p and q, got nil" },
    { "options that are no table", function () peri.register_kl(Normal, Normal:extend "X", print, 5) end,
      "register_kl: options must be a table, got 5" },
    { "a pair that is there", function () peri.register_kl(Normal, Normal, print) end,
      "register_kl: the pair (Normal, Normal) is registered already; { override = true } replaces it" },
  }
  for _, case in ipairs(refused) do
    it("refuses " .. case[1], function () assert.equal(case[3], message(case[2])) end)
  end

  it("refuses a second time, replaces when told", function ()
    local A, B = new_class "A", new_class "B"
    peri.register_kl(A, B, constant(1))
    assert.equal(1, kl(A(), B()))
    assert.equal("register_kl: the pair (A, B) is registered already; { override = true } replaces it",
                 message(peri.register_kl, A, B, constant(2)))
    assert.equal(1, kl(A(), B()))
    peri.register_kl(A, B, constant(3), { override = true })
    assert.equal(3, kl(A(), B()))
  end)

  it("can replace a closed form for a subclass alone", function ()
    local My = Normal:extend "My"
    assert.equal(0, kl(My(0, 1), My(0, 1)))
    peri.register_kl(My, My, constant(42))
    assert.equal(42, kl(My(0, 1), My(0, 1)))
    assert.equal(0, kl(Normal(0, 1), Normal(0, 1)))
  end)
end)


describe("dispatch", function ()
  it("gives fn the very p and q", function ()
    local A = new_class "A"
    local p, q, got = A(), A(), nil
    peri.register_kl(A, A, function (...)
      got = { ... }
      return 1
    end)
    kl(p, q)
    assert.is_true(rawequal(got[1], p))
    assert.is_true(rawequal(got[2], q))
  end)

  it("to a kernel takes numbers of any kind, tensors, and fields of the class", function ()
    local Sub = Normal:extend "Sub"
    local expected = kl(Normal(1.0, 2.0), Normal(0.5, 1.0))
    Sub.loc = 1
    local p, q = Sub(7, 2), Normal(0.5, 1)
    p.loc = nil
    for _ = 1, 2 do assert.equal(expected, kl(p, q)) end
    p.loc = 1
    assert.equal(expected, kl(p, q))
    assert.equal(expected, kl(p, q, {}))
    p.loc = peri.tensor { 1, 1 }
    assert.same({ expected, expected }, kl(p, q):totable())
    p.loc = "1"
    assert.equal("kl_divergence(Normal, Normal): loc must be a number, a table of numbers or a tensor, "
                 .. 'got the string "1"', message(kl, p, q))
  end)

  it("refuses a number that has the metatable of a distribution", function ()
    local q, meta = Normal(0, 1), debug.getmetatable(0)
    assert.equal(0, kl(q, q))
    debug.setmetatable(0, Normal)
    local first, second = pcall(kl, 0.5, q), pcall(kl, q, 0.5)
    debug.setmetatable(0, meta)
    assert.is_false(first)
    assert.is_false(second)
  end)

  it("takes the nearest pair over both chains", function ()
    local A = new_class "A"
    local B = new_class("B", A)
    local C = new_class("C", B)
    peri.register_kl(A, A, constant(11))
    assert.equal(11, kl(C(), C()))
    peri.register_kl(A, B, constant(12))
    assert.equal(12, kl(A(), C()))
    assert.equal(12, kl(C(), C()))
    peri.register_kl(B, B, constant(22))
    assert.equal(22, kl(C(), C()))
    assert.equal(11, kl(C(), A()))
    peri.register_kl(C, C, constant(33))
    assert.equal(33, kl(C(), C()))
    assert.equal(22, kl(C(), B()))
    assert.equal(22, kl(B(), C()))
  end)

  it("lets P's specificity decide between equally near pairs, and warns each time", function ()
    local A = new_class "A"
    local B = new_class("B", A)
    peri.register_kl(A, B, constant(12))
    peri.register_kl(B, A, constant(21))
    for _ = 1, 3 do
      local value, said = warnings(kl, B(), B())
      assert.equal(21, value)
      assert.equal(1, #said)
      assert.equal("kl_divergence(B, B) is ambiguous: (B, A) is used, (A, B) is as near; register_kl(B, B, fn) decides",
                   said[1])
    end
    local value, said = warnings(kl, A(), B())
    assert.equal(12, value)
    assert.same({}, said)
    peri.register_kl(B, B, constant(22))
    value, said = warnings(kl, B(), B())
    assert.equal(22, value)
    assert.same({}, said)
  end)

  it("does without warn", function ()
    local A = new_class "A"
    local B = new_class("B", A)
    peri.register_kl(A, B, constant(12))
    peri.register_kl(B, A, constant(21))
    local original = _G.warn
    _G.warn = nil
    local ok, value = pcall(kl, B(), B())
    _G.warn = original
    assert.is_true(ok)
    assert.equal(21, value)
  end)

  it("stops at a class whose density is not its parent's", function ()
    local Other = Normal:extend("Other", { inherit_kl = false })
    assert.matches("Other", message(kl, Other(0, 1), Normal(0, 1), { fallback = false }))
    local Child = Other:extend "Child"
    peri.register_kl(Other, Normal, constant(5))
    assert.equal(5, kl(Other(0, 1), Normal(0, 1)))
    assert.equal(5, kl(Child(0, 1), Normal(0, 1)))
  end)

  it("lets errors inside fn reach the caller unchanged", function ()
    local A, thrown = new_class "A", { code = 7 }
    peri.register_kl(A, A, function () error(thrown) end)
    for _ = 1, 2 do
      local ok, e = pcall(kl, A(), A())
      assert.is_false(ok)
      assert.is_true(rawequal(thrown, e))
    end
    local B = new_class "B"
    peri.register_kl(B, B, function () error("text", 0) end)
    for _ = 1, 2 do assert.equal("text", select(2, pcall(kl, B(), B()))) end
  end)

  it("says which registered function returned no value", function ()
    for _, case in ipairs { { "nil" }, { "a table of 2 elements", { 1, 2 } }, { 'the string "0"', "0" },
                            { "true", true } } do
      local A, B = new_class "A", new_class("B", Normal)
      peri.register_kl(A, Normal, constant(case[2]))
      local expected = "kl_divergence: the function registered for (A, Normal) returned " .. case[1]
                       .. ", not a number or a tensor"
      for _ = 1, 2 do assert.equal(expected, message(kl, A(), B(0, 1))) end
      assert.equal(expected, message(peri.kl_explain, A(), B(0, 1)))
    end
  end)

  it("blames whoever called it for a function that returns nothing", function ()
    local A = new_class "A"
    peri.register_kl(A, A, function () end)
    for _ = 1, 2 do
      local _, text = pcall(function () local value = kl(A(), A()) return value end)
      assert.matches("classes_spec.lua:%d+: kl_divergence: the function", text)
    end
  end)

  it("takes what fn returns as it is: a number for a batch, a tensor of any shape", function ()
    local A = new_class("A", Normal)
    peri.register_kl(A, A, constant(0))
    assert.equal(0, kl(A({ 1, 2 }, 1), A(0, 1)))
    peri.register_kl(A, A, function (p) return p.loc * 2 end, { override = true })
    assert.same({ 2, 4 }, kl(A({ 1, 2 }, 1), A(0, 1)):totable())
  end)

  it("lets fn call kl_divergence again", function ()
    local A = new_class "A"
    peri.register_kl(A, A, function () return kl(Normal(1, 1), Normal(0, 1)) + 1 end)
    assert.equal(1.5, kl(A(), A()))
  end)

  it("names both classes and the remedy when there is no pair", function ()
    local A, B = new_class "A", new_class "B"
    local text = message(kl, A(), B(), { fallback = false })
    assert.matches("%f[%w]A%f[%W]", text)
    assert.matches("%f[%w]B%f[%W]", text)
    assert.matches("register_kl", text)
  end)

  local refused = {
    { "a number", 1 }, { "nil", nil }, { "the string \"x\"", "x" }, { "an empty table", {} }, { "a function", print },
    { "a tensor of shape (2)", peri.zeros(2) }, { "the class Normal", Normal },
    { "an object", setmetatable({}, { __index = {} }) },
  }
  for i, case in ipairs(refused) do
    it("refuses what is no distribution, case " .. i, function ()
      local got = case[1] == "a number" and "1" or case[1]
      assert.equal("kl_divergence: p must be a distribution, got " .. got, message(kl, case[2], Normal(0, 1)))
      assert.equal("kl_divergence: q must be a distribution, got " .. got, message(kl, Normal(0, 1), case[2]))
    end)
  end

  it("forgets classes that nobody uses", function ()
    local weak = setmetatable({}, { __mode = "k" })
    for _ = 1, 20 do
      local A = new_class "Passing"
      peri.register_kl(A, Normal, constant(1))
      assert.equal(1, kl(A(), Normal(0, 1)))
      weak[A] = true
    end
    collectgarbage()
    collectgarbage()
    assert.is_nil(next(weak))
  end)
end)


describe("class tables that were tampered with", function ()
  -- Whatever is done to a class, a call ends: with a value or a message.
  local function ends (fn, ...)
    local ok, text = pcall(fn, ...)
    if not ok then assert.equal("string", type(text)) end
  end

  local function cycle ()
    local A = { __name = "A" }
    local B = { __name = "B" }
    setmetatable(A, { __index = B })
    setmetatable(B, { __index = A })
    return A, B
  end

  it("a cycle does not hang dispatch", function ()
    local A, B = cycle()
    local p = setmetatable({}, A)
    assert.equal("kl_divergence: p must be a distribution, got an A", message(kl, p, Normal(0, 1)))
    assert.equal("register_kl: P must be a class of distributions, got the class B",
                 message(peri.register_kl, B, Normal, print))
    assert.is_false(Distribution.is_a(p, Normal))
    assert.is_true(Distribution.is_a(p, B))
  end)

  it("a class that is its own parent does not hang dispatch", function ()
    local Own = Normal:extend "Own"
    local p = Own(0, 1)
    setmetatable(Own, { __index = Own })
    assert.equal("kl_divergence: p must be a distribution, got an Own", message(kl, p, p))
  end)

  it("a class extended from itself by hand does not hang", function ()
    local A = Normal:extend "A"
    local B = A:extend "B"
    local p = B(0, 1)
    setmetatable(A, { __index = B })
    ends(kl, p, p)
    ends(Distribution.is_a, p, Normal)
    ends(tostring, p)
  end)

  it("a chain of ninety classes is walked, of many more ended", function ()
    local C = Normal
    for _ = 1, 90 do C = C:extend "C" end
    assert.equal(0, kl(C(0, 1), C(0, 1)))
    for _ = 1, 1500 do C = C:extend "C" end
    ends(function () return kl(C(0, 1), C(0, 1)) end)
  end)

  local garbage = { 1, "x", true, {}, math.abs, setmetatable({}, { __index = function () error "index" end }) }
  for _, field in ipairs { "__index", "__name", "params", "kernels", "super", "batch_shape", "init", "log_prob",
                           "inherit_kl", "__tostring" } do
    it("garbage in " .. field .. " gives a message or a value", function ()
      for _, value in ipairs(garbage) do
        local A = Normal:extend "A"
        local p = A(0, 1)
        A[field] = value
        ends(kl, p, p)
        ends(kl, p, Normal(0, 1))
        ends(A, 0, 1)
        ends(A, { 1, 2 }, 1)
        ends(tostring, p)
        ends(function () return p:log_prob(1) end)
        ends(function () return p:sample(3) end)
        ends(function () return p:expand(3) end)
        ends(function () return A:extend "B" (0, 1) end)
        ends(peri.register_kl, A, A, constant(1))
        ends(peri.register_kl, A, Normal, constant(1), value)
      end
    end)
  end

  it("garbage in an instance gives a message", function ()
    for _, value in ipairs(garbage) do
      if type(value) ~= "number" and value ~= garbage[4] then
        local p = Normal(0, 1)
        p.scale = value
        assert.matches("scale must be a number, a table of numbers or a tensor, got ",
                       message(function () return p:log_prob(1) end))
        assert.is_false(pcall(kl, p, Normal(0, 1)))
      end
    end
  end)
end)

describe("peri.distributions()", function ()
  it("names every class, each found under its own name and explained", function ()
    local names = peri.distributions()
    assert.is_true(#names > 5)
    for _, name in ipairs(names) do
      local class = peri[name]
      assert.equal(name, class.__name)
      assert.is_true(#class.params > 0 or class.construct ~= nil)
      assert.is_string(class.help.summary)
    end
  end)
end)

describe("a class where an instance belongs", function ()
  local transforms, constraints, n = peri.transforms, peri.constraints, Normal(0, 1)

  local calls = {   -- what is refused, and by which rule
    { "transforms must be", function () return peri.TransformedDistribution(n, transforms.Affine) end },
    { "transforms must be",
      function () return peri.TransformedDistribution(n, { transforms.Exp(), transforms.Affine }) end },
    { "must be a distribution", function () return peri.TransformedDistribution(Normal, transforms.Exp()) end },
    { "must be a distribution", function () return peri.Independent(Normal, 1) end },
    { "must be a distribution", function () return peri.Truncated(Normal, 0, 1) end },
    { "must be a distribution", function () return peri.Masked(Normal, true) end },
    { "must be a Categorical", function () return peri.MixtureSameFamily(peri.Categorical, Normal({ 0, 1 }, 1)) end },
    { "must be a distribution", function () return peri.MixtureSameFamily(peri.Categorical { 1, 1 }, Normal) end },
    { "must be a distribution", function () return kl(Normal, n) end },
    { "must be a distribution", function () return kl(n, Normal) end },
    { "must be a distribution", function () return peri.kl_explain(n, Normal) end },
    { "must be a distribution", function () return peri.js_divergence(n, Normal) end },
    { "must be a distribution", function () return peri.renyi_divergence(Normal, n, 2) end },
    { "must be a distribution", function () return peri.wasserstein(n, Normal) end },
    { "must be a distribution", function () return n:cross_entropy(Normal) end },
    { "is no distribution", function () return Normal:expand(3) end },
    { "must be a transform", function () return transforms.Compose { transforms.Exp, transforms.Affine(1, 2) } end },
    { "must be a transform", function () return transforms.Exp() .. transforms.Affine end },
    { "must be a transform", function () return transforms.Independent(transforms.Exp, 1) end },
    { "must be a transform", function () return transforms.Cat({ transforms.Exp }, 1) end },
    { "must be a transform", function () return transforms.Stack({ transforms.Exp }, 1) end },
    { "must be a distribution", function () return transforms.CumulativeDistribution(Normal) end },
    { "is no transform", function () return transforms.Exp:inv() end },
    { "must be a constraint", function () return constraints.independent(constraints.greater_than, 1) end },
    { "must be a constraint", function () return constraints.cat { constraints.greater_than } end },
    { "must be a constraint", function () return constraints.stack { constraints.greater_than } end },
    { "must be a constraint", function () return transforms.biject_to(constraints.greater_than) end },
    { "parameter 1 must be",
      function () return Distribution:extend("My", { params = { { "a", constraints.greater_than } } }) end },
  }

  for i, call in ipairs(calls) do
    it("is refused at once: " .. i .. ", " .. call[1], function ()
      assert.matches(call[1], message(call[2]), 1, true)
    end)
  end
end)

describe("fields of classes", function ()
  local set = getmetatable(peri.Normal).__newindex

  it("are set in tables only, by keys that tables have", function ()
    assert.error_matches(function () set(5, "mean", print) end, "table expected")
    assert.error(function () set(peri.Normal:extend("Own", {}), nil, 1) end)
    assert.error(function () set(peri.Normal:extend("Own", {}), 0 / 0, 1) end)
  end)

  it("are counted as methods where they are functions of ours, whatever the class is called", function ()
    local c = setmetatable({ __name = 5 }, { __newindex = set })
    c.own = function () return 1 end
    c[1], c.number = print, 3
    assert.equal(1, c.own())
    assert.equal(print, c[1])
    assert.equal(3, c.number)
  end)
end)

it("methods may yield, in what a caller gives them and in methods of a class of one's own", function ()
  local Own = peri.Distribution:extend("Own", { params = {}, support = peri.constraints.real })
  function Own.log_prob (_, x)
    coroutine.yield "asked"
    return peri.Normal(3, 1):log_prob(x)
  end
  local function yielding (x)
    coroutine.yield "asked"
    return x
  end
  for expected, call in pairs {
    [3] = function () return (peri.Normal(3, 1):expectation(yielding)) end,
    [peri.Normal(3, 1):prob(2)] = function () return Own():prob(2) end,
  } do
    local routine, asked = coroutine.wrap(function () return "done", call() end), 0
    local word, value = routine()
    while word ~= "done" do
      asked = asked + 1
      word, value = routine()
    end
    assert.is_true(asked > 0)
    assert.near(expected, value, 1e-12)
  end
end)
