--- The contract that every distribution passes. A spec is data:
--
--   name      of the class
--   points    parameter tuples that span the family, at least one per regime
--   log_prob  {x, params..., value}: values from elsewhere, 50-digit reference
--   outside   {x, params...}: off the support
--   invalid   parameter tuples that must be refused
--   circular  true where variance is 1 - E cos(x - mean)
--
-- What is checked beyond those values needs no asking: see the titles below.
local busted     = require "busted"
local peri       = require "perilune"
local core       = require "perilune.core"
local golden     = require "spec.support.golden"
local quadrature = require "spec.support.quadrature"
local slopes     = require "spec.support.slopes"
local statistics = require "spec.support.statistics"

local contract = {}

local describe, it, assert = busted.describe, busted.it, require "luassert"
local unpack = table.unpack
local QUANTILES = { 1e-12, 1e-3, 0.1, 0.35, 0.5, 0.8, 0.99, 1 - 1e-9 }

local function close (a, b, tolerance)
  return a == b or math.abs(a - b) <= tolerance * math.max(math.abs(a), math.abs(b))
end

local function identical (a, b) return a == b or (a ~= a and b ~= b) end

local function assert_close (expected, got, tolerance, what)
  assert(close(expected, got, tolerance), string.format("%s: expected %.17g, got %.17g", what, expected, got))
end

-- Calls check(d, text) for a distribution at each point.
local function each_point (spec, check)
  for _, point in ipairs(spec.points) do
    local d = peri[spec.name](unpack(point))
    check(d, tostring(d), point)
  end
end

local function is_continuous (spec) return not peri[spec.name](unpack(spec.points[1])).support.is_discrete end


local function check_values (spec)
  it("gives the listed values", function ()
    for _, row in ipairs(spec.log_prob) do
      local x, value = row[1], row[#row]
      local d = peri[spec.name](unpack(row, 2, #row - 1))
      assert_close(value, d:log_prob(x), 1e-14, tostring(d) .. ":log_prob(" .. x .. ")")
    end
  end)

  it("passes every line of the reference tables, of which there are some", function ()
    assert.equal("", golden.family_failures(spec.name))
  end)
end


-- A sampler that draws by itself: dx/d parameter at fixed probability, the
-- slope of the quantile.
local function check_pathwise (spec, partials)
  each_point(spec, function (d, _, point)
    for _, u in ipairs { 0.03, 0.4, 0.75 } do
      local function quantile (...) return peri[spec.name](...):icdf(u) end
      assert.is_nil(slopes.mismatch(quantile, point, { select(2, partials(d:icdf(u), unpack(point))) }, 1e-6))
    end
  end)
end

local function check_partials (spec)
  local class = peri[spec.name]
  for _, kernel in ipairs(core.kernels(class.kernels)) do
    if kernel.has_partials then
      it("has the right partials of " .. kernel.name, function ()
        local names = { unpack({ "a", "b", "c", "d", "e", "f", "g", "h" }, 1, kernel.n_in) }
        local partials = core.bind_partials(class.kernels, kernel.name, kernel.name, names, names)
        if kernel.kind == "sampler" and not kernel.noise then return check_pathwise(spec, partials) end
        local value = contract.kernel_value(class.kernels, kernel)
        each_point(spec, function (d)
          for _, at in ipairs(contract.kernel_points(d, kernel)) do
            local f, analytic, finite = value, { partials(unpack(at)) }, math.abs(value(unpack(at))) < math.huge
            if d.support.is_discrete and #at > #class.operands then   -- x takes no small steps
              local x = table.remove(at, 1)
              table.remove(analytic, 1)
              f = function (...) return value(x, ...) end
            end
            assert.is_nil(finite and slopes.mismatch(f, at, analytic, 1e-6) or nil)
          end
        end)
      end)
    end
  end
end

--- A kernel as a plain function of numbers, a sampler's noise included.
function contract.kernel_value (file, kernel)
  local names = { unpack({ "a", "b", "c", "d", "e", "f", "g", "h" }, 1, kernel.n_in) }
  return core.bind_value(file, kernel.name, kernel.name, names, names)
end

--- Points at which to compare a kernel's partials: quantiles of d for x,
-- probabilities for icdf and isf, plain numbers for noise; then d's operands.
function contract.kernel_points (d, kernel)
  local point = {}
  for i, name in ipairs(d.operands) do point[i] = d[name] end
  if kernel.n_in == #point then return { point } end
  local points = {}
  for _, u in ipairs { 0.03, 0.4, 0.75 } do
    local x = d:icdf(u)
    if kernel.name == "icdf" or kernel.name == "isf" or kernel.kind == "sampler" then x = u end
    points[#points + 1] = { x, unpack(point) }
  end
  return points
end


local function check_shapes (spec)
  it("broadcasts x against parameters", function ()
    local a, b = spec.points[1], spec.points[2] or spec.points[1]
    local params = {}
    for k = 1, #a do params[k] = peri.tensor { a[k], b[k] } end
    local d1, d2 = peri[spec.name](unpack(a)), peri[spec.name](unpack(b))
    local d = peri[spec.name](unpack(params))
    local x = { { d1:icdf(0.2) }, { d2:icdf(0.6) }, { d1:icdf(0.9) } }
    for _, method in ipairs { "log_prob", "prob", "cdf", "sf", "log_cdf", "log_sf" } do
      local t = d[method](d, x)
      assert.same({ 3, 2 }, t.shape)
      for i = 1, 3 do
        assert.equal(d1[method](d1, x[i][1]), t:at(i, 1))
        assert.equal(d2[method](d2, x[i][1]), t:at(i, 2))
      end
    end
    for _, method in ipairs { "mean", "variance", "stddev", "mode", "median", "entropy" } do
      local t = d[method](d)
      assert.same({ 2 }, t.shape)
      assert(identical(d1[method](d1), t[1]), method)
      assert(identical(d2[method](d2), t[2]), method)
    end
  end)

  it("expands without changing values", function ()
    each_point(spec, function (d)
      local e = d:expand { 2, 3 }
      assert.same({ 2, 3 }, e.batch_shape)
      assert.is_true(e:is_a(peri[spec.name]))
      assert.same({ 2, 3 }, e:mean().shape)
      local x = d:icdf(0.3)
      assert.equal(d:log_prob(x), e:log_prob(x):at(2, 3))
      assert.same({ 4, 2, 3 }, e:sample(4).shape)
    end)
  end)

  it("gives numbers for numbers", function ()
    each_point(spec, function (d)
      local x = d:icdf(0.3)
      for _, method in ipairs { "log_prob", "prob", "cdf", "sf", "log_cdf", "log_sf" } do
        assert.equal("number", type(d[method](d, x)))
      end
      for _, method in ipairs { "mean", "variance", "stddev", "entropy", "sample" } do
        assert.equal("number", type(d[method](d)))
      end
    end)
  end)
end


local function check_edges (spec)
  it("is -inf, 0 or 1 outside the support and never raises", function ()
    for _, row in ipairs(spec.outside or {}) do
      local d, x = peri[spec.name](unpack(row, 2)), row[1]
      local below = x < d:mean()
      assert.equal(-math.huge, d:log_prob(x))
      assert.equal(0.0, d:prob(x))
      assert.equal(below and 0.0 or 1.0, d:cdf(x))
      assert.equal(below and 1.0 or 0.0, d:sf(x))
    end
  end)

  it("has tails that no parameter changes at infinity", function ()
    local class = peri[spec.name]
    for _, kernel in ipairs(core.kernels(class.kernels)) do
      if (kernel.name == "cdf" or kernel.name == "sf") and kernel.has_partials then
        local names = { unpack({ "a", "b", "c", "d", "e", "f" }, 1, kernel.n_in) }
        local partials = core.bind_partials(class.kernels, kernel.name, kernel.name, names, names)
        each_point(spec, function (d, text)
          local operands = {}
          for i, name in ipairs(d.operands) do operands[i] = d[name] end
          for _, x in ipairs { -math.huge, math.huge } do
            for _, slope in ipairs { partials(x, unpack(operands)) } do assert.equal(0, slope, text) end
          end
        end)
      end
    end
  end)

  it("passes NaN on", function ()
    each_point(spec, function (d)
      for _, method in ipairs { "log_prob", "prob", "cdf", "sf", "log_cdf", "log_sf", "icdf", "isf" } do
        local value = d[method](d, 0 / 0)
        assert(value ~= value, method .. "(nan) is " .. value)
      end
    end)
  end)

  it("reaches the ends of the support with icdf and is NaN beyond", function ()
    each_point(spec, function (d)
      if not d.support.is_discrete then assert.equal(0.0, d:cdf(d:icdf(0))) end
      assert.equal(1.0, d:cdf(d:icdf(1)))
      assert.equal(d:icdf(1), d:isf(0))
      for _, p in ipairs { -0.1, 1.1 } do
        local x = d:icdf(p)
        assert(x ~= x, "icdf(" .. p .. ") is " .. x)
      end
    end)
  end)

  it("refuses bad parameters by name, rule and value", function ()
    for _, point in ipairs(spec.invalid) do
      local ok, message = pcall(peri[spec.name], unpack(point))
      assert.is_false(ok)
      assert.matches(spec.name .. ": [%w_]+ must be .+, got ", message)
    end
  end)

  it("prints its name and parameters", function ()
    each_point(spec, function (d, text)
      assert.equal(spec.name .. "(", text:sub(1, #spec.name + 1))
      for _, param in ipairs(peri[spec.name].params) do
        local shown = text:find(param[1] .. "=" .. string.format("%.14g", d[param[1]]), 1, true)
        assert.truthy(shown or param.gives)
      end
    end)
  end)
end


-- log p, from whichever of p and 1 - p is the smaller
local function log_of (p, complement) return p < 0.5 and math.log(p) or peri.log1p(-complement) end

local function check_continuous_inverse (spec)
  it("inverts its cdf, and its upper tail", function ()
    each_point(spec, function (d, text)
      for _, u in ipairs(QUANTILES) do
        local back, slack = d:icdf(u), 1e-12
        -- x is rounded: allow what half an ulp of x does to the cdf
        local room = slack * u + 4e-16 * math.abs(back) * d:prob(back)
        assert(math.abs(d:cdf(back) - u) <= room, text .. " cdf(icdf(" .. u .. ")) is " .. d:cdf(back))
        local x = d:isf(u)
        room = slack * u + 4e-16 * math.abs(x) * d:prob(x)
        assert(math.abs(d:sf(x) - u) <= room, text .. " sf(isf(" .. u .. ")) is " .. d:sf(x))
      end
    end)
  end)

end

local function check_tails (spec)
  it("has cdf + sf = 1 and logarithms that agree with them", function ()
    each_point(spec, function (d, text)
      for _, u in ipairs(QUANTILES) do
        local x = d:icdf(u)
        assert_close(1, d:cdf(x) + d:sf(x), 4e-16, text .. " cdf + sf")
        assert_close(log_of(d:cdf(x), d:sf(x)), d:log_cdf(x), 1e-12, text .. " log_cdf")
        assert_close(log_of(d:sf(x), d:cdf(x)), d:log_sf(x), 1e-12, text .. " log_sf")
        assert_close(math.exp(d:log_prob(x)), d:prob(x), 1e-13, text .. " prob")
      end
    end)
  end)

end

local function check_continuous (spec)
  it("has prob as the derivative of cdf", function ()
    each_point(spec, function (d, text)
      for _, u in ipairs { 0.05, 0.3, 0.6, 0.95 } do
        local x, width = d:icdf(u), d:icdf(u + 0.02) - d:icdf(u - 0.02)
        local slope, error = slopes.derivative(function (v) return d:cdf(v) end, x, width / 2)
        assert(math.abs(slope - d:prob(x)) <= 1e-8 * slope + 4 * error,
               string.format("%s at %g: slope %.12g, prob %.12g", text, x, slope, d:prob(x)))
      end
    end)
  end)

  it("has moments and entropy that agree with quadrature", function ()
    each_point(spec, function (d, text)
      local mean, variance = d:mean(), d:variance()
      if math.abs(mean) < math.huge and variance < math.huge then
        local sd = math.sqrt(variance)
        local m = quadrature.expectation(d, function (x) return (x - mean) / sd end)
        local v = quadrature.expectation(d, function (x)
          if spec.circular then return 2 * math.sin((x - mean) / 2) ^ 2 / variance end
          return ((x - mean) / sd) ^ 2
        end)
        local room = 1e-9 + 4e-16 * math.abs(mean) / sd   -- x is rounded
        assert(math.abs(m) <= room, text .. " mean is off by " .. m .. " standard deviations")
        assert_close(1, v, 1e-9, text .. " variance ratio")
        assert_close(sd, d:stddev(), 1e-14, text .. " stddev")
      end
      local h = -quadrature.expectation(d, function (x) return d:log_prob(x) end)
      assert(math.abs(h - d:entropy()) <= 1e-9 * math.max(1, math.abs(h)),
             string.format("%s entropy %.12g, by quadrature %.12g", text, d:entropy(), h))
      local median = d:median()   -- rounded: allow what half an ulp of it does to the cdf
      assert(math.abs(d:cdf(median) - 0.5) <= 5e-13 + 4e-16 * math.abs(median) * d:prob(median), text .. " cdf(median)")
    end)
  end)

  it("has its largest density at the mode", function ()
    each_point(spec, function (d, text)
      local top = d:log_prob(d:mode())
      for _, u in ipairs(QUANTILES) do
        assert(d:log_prob(d:icdf(u)) <= top + 1e-12 * math.abs(top), text .. " mode")
      end
    end)
  end)
end


-- The outcomes that matter, as a tensor: all but 1e-18 of either tail.
local function outcomes (d) return peri.arange(d:icdf(1e-18), d:isf(1e-18) + 1) end

local function check_discrete (spec)
  it("inverts its cdf to the smallest outcome that reaches it", function ()
    each_point(spec, function (d, text)
      for _, u in ipairs(QUANTILES) do
        local k, first = d:icdf(u), d:icdf(0)
        assert(d:cdf(k) >= u * (1 - 1e-12), text .. " icdf(" .. u .. ") is too small: " .. k)
        assert(k == first or d:cdf(k - 1) < u * (1 + 1e-12), text .. " icdf(" .. u .. ") is too large: " .. k)
        local j = d:isf(u)
        assert(d:sf(j) <= u * (1 + 1e-12), text .. " isf(" .. u .. ") is too small: " .. j)
        assert(j == first or d:sf(j - 1) > u * (1 - 1e-12), text .. " isf(" .. u .. ") is too large: " .. j)
      end
    end)
  end)

  it("has probabilities that sum to 1 and to the cdf", function ()
    each_point(spec, function (d, text)
      local k = outcomes(d)
      assert_close(1, peri.item(d:prob(k):sum()), 1e-12, text .. " sum")
      for _, u in ipairs { 0.2, 0.7 } do
        local x = d:icdf(u)
        local below = peri.item((k:le(x) * d:prob(k)):sum())
        assert_close(below, d:cdf(x), 1e-11, text .. " cdf by summation")
        assert.equal(d:cdf(x), d:cdf(x + 0.5))
        assert.equal(-math.huge, d:log_prob(x + 0.5))
      end
    end)
  end)

  it("has moments and entropy that agree with summation", function ()
    each_point(spec, function (d, text)
      local k = outcomes(d)
      local p = d:prob(k)
      local mean = peri.item((p * k):sum())
      assert_close(mean, d:mean(), 1e-11, text .. " mean")
      assert_close(peri.item((p * (k - mean) ^ 2):sum()), d:variance(), 1e-10, text .. " variance")
      assert_close(-peri.where(p:gt(0), p * d:log_prob(k), 0):sum(), d:entropy(), 1e-10, text .. " entropy")
      assert.equal(d:icdf(0.5), d:median())
      assert(d:prob(d:mode()) >= peri.item(p:max()) * (1 - 1e-12), text .. " mode")
    end)
  end)

  it("samples from its own law", function ()   -- false alarm 1e-6 a test, seeds fixed
    for seed, point in ipairs(spec.points) do
      local d = peri[spec.name](unpack(point))
      local x = d:sample(100000, peri.rng(1000 + seed))
      local ok, statistic = statistics.chi_square(x, d)
      assert(ok, tostring(d) .. " chi-square is off by " .. statistic .. " standard deviations")
      local fine, z = statistics.mean(x, d:mean(), d:variance())
      assert(fine, tostring(d) .. " mean is off by " .. z .. " standard errors")
      assert.equal("integer", math.type(d:sample()))
    end
  end)
end

local function check_help (spec)
  it("explains itself, with an example that is right", function ()
    local class = peri[spec.name]
    local help = rawget(class, "help")
    assert.is_string(help.summary)
    assert.is_string(help.formula)
    for _, param in ipairs(class.params) do assert.is_string(help.params[param[1]]) end
    local code = "local peri = ...; local " .. spec.name .. " = peri." .. spec.name .. "; return " .. help.example[1]
    assert_close(help.example[2], assert(load(code))(peri), 1e-12, help.example[1])
  end)
end

local function check_continuous_sampling (spec)
  it("samples from its own law", function ()   -- false alarm 1e-6 a test, seeds fixed
    for seed, point in ipairs(spec.points) do
      local d = peri[spec.name](unpack(point))
      local x = d:sample(100000, peri.rng(1000 + seed))
      assert.same({ 100000 }, x.shape)
      local ok, statistic = statistics.ks(x, function (v) return d:cdf(v) end)
      assert(ok, tostring(d) .. " KS statistic " .. statistic)
      if d:variance() < math.huge and not spec.circular then
        local fine, z = statistics.mean(x, d:mean(), d:variance())
        assert(fine, tostring(d) .. " mean is off by " .. z .. " standard errors")
      end
    end
  end)

end

local function check_draws (spec)
  it("draws the same numbers however they are asked for", function ()
    each_point(spec, function (d)
      local all = d:sample(7, peri.rng(5))
      local rng = peri.rng(5)
      local parts = { d:sample(3, rng), d:sample(1, rng), d:sample({ 3, 1 }, rng):reshape(3) }
      assert.is_true(all:equal(peri.cat(parts)))
      assert.equal(all[1], d:sample(nil, peri.rng(5)))
    end)
  end)
end


--- Runs the contract as a busted block.
function contract.distribution (spec)
  describe(spec.name, function ()
    check_values(spec)
    check_partials(spec)
    check_shapes(spec)
    check_edges(spec)
    check_tails(spec)
    if is_continuous(spec) then
      check_continuous_inverse(spec)
      check_continuous(spec)
      check_continuous_sampling(spec)
    else check_discrete(spec) end
    check_draws(spec)
    check_help(spec)
  end)
end

--- What the spec of a distribution gives to the contract; empty, if it gives nothing.
function contract.of (name)
  local given = {}
  local function ignore () end
  local env = setmetatable({ describe = ignore, it = ignore }, { __index = _G })
  function env.require (module)
    if module ~= "spec.support.contract" then return require(module) end
    return setmetatable({ distribution = function (spec) given = spec end }, { __index = contract })
  end
  local chunk = loadfile("spec/distributions/" .. name .. "_spec.lua", "t", env)
  if chunk then chunk() end
  return given
end

return contract
