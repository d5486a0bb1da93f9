--- The fuzzer itself (spec/fuzz): it reaches everything, repeats itself, and notices bugs planted on purpose.
local peri    = require "perilune"
local Random  = require "spec.fuzz.random"
local case    = require "spec.fuzz.case"
local child   = require "spec.fuzz.child"
local fault   = require "spec.fuzz.fault"
local found_before = require "spec.fuzz.found"
local laws    = require "spec.fuzz.laws"
local public  = require "docs.names"
local params  = require "spec.fuzz.params"
local program = require "spec.fuzz.program"
local shrink  = require "spec.fuzz.shrink"
local surface = require "spec.fuzz.surface"
local text    = require "spec.fuzz.text"
local world   = require "spec.fuzz.world"

local function nothing () end

-- The fault that fn raises, as text.
local function fault_of (fn, ...)
  local ok, found = pcall(fn, ...)
  assert.is_false(ok, "a fault was expected")
  assert.is_true(fault.is(found), tostring(found))
  return tostring(found)
end

-- Calls fn with a function of peri replaced.
local function planted (name, bug, fn)
  local right = peri[name]
  rawset(peri, name, bug)
  local ok, message = pcall(fn)
  rawset(peri, name, right)
  assert(ok, message)
end

-- The statements of the first case, of at most n, that has a fault of which the text matches.
local function first_case (n, pattern)
  for seed = 1, n do
    local statements, found = case.run(seed, nothing)
    if found and found.text:find(pattern) then return statements end
  end
end


describe("the fuzzer", function ()
  after_each(world.reset)

  it("finds names where the library looks them up", function ()
    for list, names in pairs {
      face = { "zeros", "cat", "grad", "trace", "kl_divergence", "renyi_divergence", "biject_to", "rng" },
      methods = { "sum", "reshape", "matmul", "backward", "lgamma" }, elementwise = { "exp", "betainc", "where" },
      generator = { "uniform", "split", "restore" }, transforms = { "Exp", "Cat" }, optimisers = { "Adam", "LBFGS" },
    } do
      local known = {}
      for _, name in ipairs(surface[list]) do known[name] = true end
      for _, name in ipairs(names) do assert.is_true(known[name], list .. ": " .. name) end
    end
    assert.same(peri.distributions(), surface.classes)
  end)

  -- A name is fuzzed if statements pick it from a list of all there are, or if one of them writes it out.
  it("calls every public name", function ()
    local texts, left = {}, {}
    for _, file in ipairs { "calls", "checks", "learning", "objects", "surprises", "values", "world" } do
      local opened = assert(io.open("spec/fuzz/" .. file .. ".lua"))
      texts[#texts + 1] = opened:read "a"
      opened:close()
    end
    local all = table.concat(texts, "\n")
    for path, value in pairs(public.all()) do
      local last = path:match "[^.:]+$"
      local is_written = all:find(path .. "%f[^%w_]") or all:find(":" .. last .. "%f[^%w_]")
                         or path:find "^peri%.optim%." and all:find('"' .. last .. '"', 1, true)
      if type(value) ~= "string" and not surface.is_picked(path) and not is_written then left[#left + 1] = path end
    end
    assert.same({}, left)
  end)

  it("does not take other names for called", function ()
    assert.is_true(surface.is_picked "peri.zeros")
    assert.is_true(surface.is_picked "Model:nuts")
    assert.is_true(surface.is_picked "LinearGaussian:filter")
    assert.is_false(surface.is_picked "peri.nothing")
    assert.is_false(surface.is_picked "Model:nothing")
    assert.is_false(surface.is_picked "Nothing:nuts")
  end)

  it("has parameters for every class", function ()
    local random = Random.new(1)
    for _, name in ipairs(peri.distributions()) do
      local class = peri[name]
      for _ = 1, 20 do
        local given, lists = params.named(random, class), params.batch(random, class, 3)
        if given and next(given) then assert(pcall(class, given), name .. text.value(given)) end
        if lists then assert.same({ 3 }, class(lists).batch_shape) end
      end
    end
  end)

  it("writes numbers that read back", function ()
    for _, x in ipairs { 0.1, -0.0, 1 / 3, 5e-324, 2 ^ 53 + 1, math.maxinteger, math.mininteger, math.huge, 1e22, 3 } do
      local back = load("return " .. text.number(x))()
      assert.equal(string.format("%a", x), string.format("%a", back))
      assert.equal(math.type(x), math.type(back))
    end
  end)

  it("makes the same case of a seed, and its text does the same again", function ()
    for seed = 1, 5 do
      local statements = case.run(seed, nothing)
      assert.same(statements, (case.run(seed, nothing)))
      assert.same(statements, (program.parse(program.text(statements, "a title"))))
    end
  end)

  it("leaves the library as it was", function ()
    for seed = 1, 10 do case.run(seed, nothing) end
    world.reset()
    assert.equal(0.5, peri.Normal(0, 1):cdf(0))
    assert.is_false(pcall(peri.Normal, 0, -1))
  end)
end)


describe("what was found before is found no more:", function ()
  after_each(world.reset)

  for _, one in ipairs(found_before) do
    it(one[1], function ()
      local found = case.replay { table.unpack(one, 2) }
      assert(found == nil, tostring(found and found.text))
    end)
  end
end)


describe("a call is watched:", function ()
  local usual = world.limits
  setup(function () world.limits = { seconds = 0.1, kilobytes = collectgarbage "count" + 50000 } end)
  teardown(function () world.limits = usual end)
  after_each(world.reset)

  it("errors of the library pass, and so do the case's own", function ()
    world.try(function () peri.Normal(0, -1) end)
    world.try(function () error(world.own_error, 0) end)
    world.try(function () local x = nil; return x + 1 end)
  end)

  local bugs = {
    ["fault raw: .*attempt to index a nil value"] = function () return (nil).x end,
    ["fault raw: .*bad argument #1 to 'rep'"] = function () return string.rep() end,
    ["fault object: the error is a table"] = function () error({}) end,
    ["fault position: lua/perilune/kl.lua:12: p"] = function () error("lua/perilune/kl.lua:12: p is wrong", 0) end,
    ["fault tostring: a table cannot be printed"] = function ()
      return setmetatable({}, { __tostring = function () error "no" end })
    end,
    ["fault memory: a call takes too much"] = function ()
      local list = {}
      while #list >= 0 do list[#list + 1] = {} end
    end,
  }
  for pattern, bug in pairs(bugs) do
    it(pattern, function ()
      assert.matches(pattern, fault_of(world.set, 1, load("local bug = ... return function () return bug() end")(bug)))
    end)
  end

  it("one that does not end is stopped", function ()
    local forever = load("return function () while true do end end")()
    assert.matches("fault hang: a call does not end", fault_of(world.try, forever))
  end)
end)


describe("a law notices", function ()
  local function wrong_where (is_odd)
    return function (x) return peri.exp(x) + (is_odd(x) and 1 or 0) end
  end
  local x = peri.tensor { { 1, 2, 3 }, { 4, 5, 6 } }

  it("a density that is wrong for strided x", function ()
    local Odd = peri.Normal:extend "Odd"
    local plain
    function Odd:log_prob (at)   -- one unit in the last place
      plain = plain or at
      return peri.Normal.log_prob(self, at) * (rawequal(at, plain) and 1 or 1 + 2 ^ -52)
    end
    local function density (at) return Odd(0, 1):log_prob(at) end
    assert.matches("fault law: operand laid out", fault_of(laws.layouts, density, x))
    laws.layouts(function (at) return peri.Normal(0, 1):log_prob(at) end, x)
  end)

  it("what depends on the size of a batch", function ()
    assert.matches("element 1 by itself: element 1 is", fault_of(laws.elements,
      wrong_where(function (at) return type(at) == "number" end), peri.tensor { 1, 2 }))
  end)

  it("what depends on being recorded", function ()
    local core = require "perilune.core"
    assert.matches("recorded: element 1 is", fault_of(laws.recorded, wrong_where(core.tracked), x))
  end)

  it("a gradient that is no slope", function ()
    local square = peri.func { forward = function (at) return at * at end,
                               backward = function (above, _, at) return above * at end }
    assert.matches("fault law: slope: partial 1", fault_of(laws.slope, square, 1.5))
  end)

  it("draws outside the support, and a density that is NaN there", function ()
    local Odd = peri.Exponential:extend "Odd"
    function Odd.sample () return peri.tensor { -1, 2 } end
    assert.matches("a draw outside the support: %-1", fault_of(laws.draws, Odd(1), 1))
    function Odd.sample () return peri.tensor { 1, 2 } end
    function Odd.log_prob (_, at) return at * (0 / 0) end
    assert.matches("log_prob of a draw: element 1", fault_of(laws.draws, Odd(1), 1))
  end)

  it("probabilities that fall or leave [0, 1], and quantiles that fall", function ()
    local Odd = peri.Exponential:extend "Odd"
    function Odd.cdf (_, at) return 0.5 - at / 10 end
    assert.matches("cdf falls to", fault_of(laws.tails, Odd(1), { 1, 2 }))
    assert.matches("cdf at 20", fault_of(laws.tails, Odd(1), { 20 }))
    function Odd.icdf (_, u) return 2 - u end
    assert.matches("icdf falls at", fault_of(laws.quantiles, Odd(1), { 0.1, 0.5 }))
  end)

  it("a batch that is not its elements", function ()
    local Odd = peri.Normal:extend "Odd"
    function Odd:mean () return peri.add(self.loc, #self.batch_shape) end
    assert.matches("mean of element 1", fault_of(laws.batch, Odd, { loc = { 1, 2 } }, { 0, 0 }))
  end)
end)


describe("end to end,", function ()
  after_each(world.reset)

  it("a bug planted in a function is found and shrunk to the call", function ()
    local raw = load("return function () return nil + 1 end", "=lua/perilune/planted.lua")()
    planted("ones", raw, function ()
      local least = shrink(first_case(400, "planted%.lua"), function (list)
        local found = case.replay(list)
        return found ~= nil and found.text:find "planted%.lua" ~= nil
      end)
      assert.equal(1, #least)
      assert.matches("peri%.ones", least[1])
    end)
  end)

  it("a process that crashes, hangs or finds a fault is told from one that is well", function ()
    assert.is_nil((child.run("-e 'return 1'", 5)))
    assert.equal("crash", (child.run("-e 'os.exit(7)'", 5)))
    assert.equal("timeout", (child.run("-e 'while true do end'", 1)))
    assert.equal("law", (child.run("-e 'io.stderr:write [[fault law: 1 is 2]] os.exit(1)'", 5)))
  end)

  it("shrinking keeps what a fault needs, in order", function ()
    local function fails (list)
      local joined = table.concat(list)
      return joined:find "3.*7" ~= nil
    end
    assert.same({ "3", "7" }, shrink({ "1", "2", "3", "4", "5", "6", "7", "8", "9" }, fails))
  end)
end)
