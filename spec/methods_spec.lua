--- Every distribution has every method that exists for it, in the right shapes; those that do not are refused
-- by name, at the line of the call. An instance of each class is the one its help shows.
local peri        = require "perilune"
local constraints = require "perilune.constraints"
local core        = require "perilune.core"

local function instance (name)
  local help = peri[name].help
  local text = help.example[1]:match("^%u%w*%b()") or help.example[1]:match("^%u%w*%b{}")
  return load("local peri, " .. name .. " = ...; return " .. text)(peri, peri[name])
end

local function shape_of (x) return core.is_tensor(x) and x.shape or {} end

local function joined (...)
  local whole = {}
  for _, shape in ipairs { ... } do
    for _, n in ipairs(shape) do whole[#whole + 1] = n end
  end
  return whole
end

local function refusal (d, name, ...)
  local ok, text = pcall(function (...) local x = d[name](d, ...) return x end, ...)
  assert.is_false(ok, name .. " was to be refused")
  assert.matches("^[^:]*methods_spec%.lua:%d+: ", text)
  return text
end

local ORDERED = { "cdf", "log_cdf", "sf", "log_sf" }

local function is_finite (support)
  local low, high = support.low or 0, support.high or 0   -- rows of counts have no ends
  return support.is_discrete and type(low) == "number" and low > -math.huge and high < math.huge
end

-- Laws without a total have a density and nothing else that is asked for here; Flat_spec.lua has the rest.
local IMPROPER = { Flat = true }

-- What a law has no formula for, and says so.
local LACKS = { HiddenMarkov = { mode = true, entropy = true } }

for _, name in ipairs(peri.distributions()) do
  describe(name, function ()
    local lacks = LACKS[name] or {}
    local d = instance(name)
    if IMPROPER[name] then
      it("has no draws", function ()
        assert.matches("%u%w+ has no draws: it is improper", refusal(d, "sample"))
        assert.matches("%u%w+ has no draws: it is improper", refusal(d, "rsample"))
      end)
      return
    end
    local batch, event = joined({ 4 }, d.batch_shape), { table.unpack(d.event_shape) }
    local e = d:expand(batch)
    local x = e:sample(3, peri.rng(1))

    it("says what it is", function ()
      local help = peri[name].help
      assert.is_string(help.summary)
      assert.is_string(help.formula)
      assert.is_number(help.example[2])
      for _, param in ipairs(peri[name].params) do assert.is_string(help.params[param[1]], param[1]) end
      assert.equal(name .. "(", tostring(d):sub(1, #name + 1))
      assert.is_nil(tostring(d):find("0x", 1, true))
      assert.equal("class " .. name, tostring(peri[name]))
    end)

    it("has its support", function ()
      assert.is_true(constraints.is_constraint(d.support))
      assert.equal(#event, d.support.event_dim)
      assert.is_true(e.support:check(x))
    end)

    it("has moments, mode and entropy", function ()
      for _, method in ipairs { "mean", "variance", "stddev", "mode" } do
        if not lacks[method] then
          assert.same(joined(batch, event), shape_of(e[method](e)), method)
          assert.same(joined(d.batch_shape, event), shape_of(d[method](d)), method)
        end
      end
      if not lacks.entropy then assert.same(batch, shape_of(e:entropy())) end
      for method in pairs(lacks) do assert.matches(name .. " has no " .. method, refusal(d, method)) end
    end)

    it("has a density of its samples", function ()
      assert.same(joined({ 3 }, batch, event), shape_of(x))
      for _, method in ipairs { "log_prob", "prob" } do
        assert.same(joined({ 3 }, batch), shape_of(e[method](e, x)))
        assert.same(joined({ 3 }, batch), shape_of(d[method](d, x)))
      end
      assert(peri.item(e:log_prob(x):min()) > -math.huge)
    end)

    it("has tails and quantiles of single numbers", function ()
      for _, method in ipairs(ORDERED) do
        if #event == 0 then assert.same(joined({ 3 }, batch), shape_of(e[method](e, x)))
        else assert.matches("%u%w+ has no " .. method .. ": an event has shape", refusal(d, method, x)) end
      end
      for _, method in ipairs { "icdf", "isf" } do
        if #event == 0 then assert.same(batch, shape_of(e[method](e, 0.3)))
        else assert.matches("%u%w+ has no " .. method .. ": an event has shape", refusal(d, method, 0.3)) end
      end
      if #event == 0 then assert.same(batch, shape_of(e:median()))
      else assert.matches("%u%w+ has no median: an event has shape", refusal(d, "median")) end
    end)

    it("has numbers where there is one number", function ()
      if #d.batch_shape > 0 then return end
      local outcome, methods = d:sample(nil, peri.rng(2)), { "entropy" }
      if #event == 0 then methods = { "entropy", "mean", "variance", "stddev", "mode", "median" } end
      for _, method in ipairs(methods) do
        if not lacks[method] then assert.equal("number", type(d[method](d)), method) end
      end
      for _, method in ipairs { "log_prob", "prob" } do
        assert.equal("number", type(d[method](d, outcome)), method)
      end
      if #event > 0 then return end
      for _, method in ipairs(ORDERED) do assert.equal("number", type(d[method](d, outcome)), method) end
      for _, method in ipairs { "icdf", "isf" } do assert.equal("number", type(d[method](d, 0.3)), method) end
      if d.support.is_discrete then assert.equal("integer", math.type(outcome))
      elseif math.type(1.0) == "float" then assert.equal("float", math.type(outcome))   -- not in LuaJIT
      end
    end)

    it("draws with slopes where it says so", function ()
      if not d.has_rsample then
        assert.matches("%u%w+ has no rsample", refusal(d, "rsample"))
        return
      end
      assert.same(joined({ 3 }, batch, event), shape_of(e:rsample(3)))
      assert.is_false(core.tracked(e:sample(3)))
    end)

    it("lists a finite support", function ()
      if not is_finite(d.support) and name ~= "Delta" then
        assert.matches("enumerate_support: the support must be finite", refusal(d, "enumerate_support"))
        return
      end
      for _, law in ipairs { d, e } do
        local total = law:prob(law:enumerate_support()):sum(1)
        assert.is_true(peri.allclose(total, core.ones(law.batch_shape), 1e-13, 0))
      end
    end)

    it("gives numbers for numbers", function ()
      if rawget(d, "batch_shape") or #event > 0 then return end
      assert.equal("number", type(d:sample()))
      if d.support.is_discrete then assert.equal("integer", math.type(d:sample())) end
      for _, method in ipairs { "mean", "variance", "stddev", "mode", "median", "entropy" } do
        assert.equal("number", type(d[method](d)), method)
      end
      for _, method in ipairs { "log_prob", "prob", "cdf", "log_cdf", "sf", "log_sf", "icdf", "isf" } do
        assert.equal("number", type(d[method](d, 0.3)), method)
      end
    end)
  end)
end
