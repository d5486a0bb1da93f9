--- What follows from a density alone: classes with log_prob and nothing else beside laws that know it all.
local peri = require "perilune"

-- The same law, of which only the density is known.
local function bare (name, ...)
  local law = peri[name](...)
  local Bare = peri.Distribution:extend("Bare" .. name, { params = peri[name].params, support = law.support })
  function Bare:log_prob (x) return self.whole:log_prob(x) end
  local d = Bare(...)
  d.whole = law
  return d, law
end

local cases = {
  { "Normal", 0, 1 }, { "Normal", 1000, 0.5 }, { "Cauchy", 3, 2 }, { "StudentT", 2.5, 0, 1 }, { "Gumbel", -4, 3 },
  { "Gamma", 0.1, 3 }, { "Gamma", 1e6, 1 }, { "LogNormal", 2, 3 }, { "Beta", 0.5, 30 }, { "Beta", 300, 2 },
  { "Uniform", 3, 4 }, { "Poisson", 7.5 }, { "Poisson", 1e4 }, { "Geometric", 0.01 }, { "Binomial", 40, 0.3 },
}

local function near (expected, got, tolerance, text)
  local fine = expected == got or expected ~= expected and got ~= got
               or math.abs(got - expected) <= tolerance * math.max(math.abs(expected), 1e-300)
               or expected == 0 and math.abs(got) < 1e-13
  assert(fine, string.format("%s: expected %.17g, got %.17g", text, expected, got))
end

local LEVELS = { 1e-200, 1e-10, 0.01, 0.3, 0.5, 0.9, 1 - 1e-9 }

describe("of a density alone", function ()
  it("tails follow", function ()
    for _, case in ipairs(cases) do
      local d, law = bare(table.unpack(case))
      for _, p in ipairs(LEVELS) do
        local x = law:icdf(p)
        for _, method in ipairs { "cdf", "sf", "log_cdf", "log_sf" } do
          local expected, got = law[method](law, x), d[method](d, x)
          local small = math.abs(expected) < 1e-290 and 1 or 1e-11
          if x ~= law:icdf(0) then near(expected, got, small, tostring(law) .. ":" .. method .. "(" .. x .. ")") end
        end
      end
    end
  end)

  it("quantiles follow", function ()
    for _, case in ipairs(cases) do
      local d, law = bare(table.unpack(case))
      for _, p in ipairs(LEVELS) do
        for _, method in ipairs { "icdf", "isf" } do
          local expected, got = law[method](law, p), d[method](d, p)
          local room = 1e-11 + (p < 1e-100 and 1e300 or 0) * (math.abs(expected) < 1e-250 and 1 or 0)
          near(expected, got, room, string.format("%s:%s(%g)", tostring(law), method, p))
        end
      end
      assert.equal(law:icdf(0), d:icdf(0))
      assert.equal(law:icdf(1), d:icdf(1))
      assert.is_true(d:icdf(1.1) ~= d:icdf(1.1))
      if not d.support.is_discrete then
        near(law:isf_log(-1000), d:isf_log(-1000), 1e-10, tostring(law) .. " isf_log")
      end
    end
  end)

  it("moments follow, with an error that covers what is wrong", function ()
    for _, case in ipairs(cases) do
      local d, law = bare(table.unpack(case))
      for _, method in ipairs { "mean", "variance", "entropy" } do
        local expected, got, error = law[method](law), d[method](d)
        if expected - expected == 0 then
          near(expected, got, 1e-9, tostring(law) .. ":" .. method)
          assert(math.abs(got - expected) <= 4 * error + 4e-15 * math.abs(expected),
                 tostring(law) .. ":" .. method .. " is off by " .. (got - expected) .. ", said " .. error)
        end
      end
      local top = law:log_prob(law:mode())
      local is_top = law:log_prob(d:mode()) >= top - 1e-9
      assert(is_top or d.support.is_discrete or top == math.huge, tostring(law) .. " mode")
    end
  end)

  it("draws follow", function ()
    local statistics = require "spec.support.statistics"
    for i, case in ipairs { cases[2], cases[6], cases[9], cases[12] } do
      local d, law = bare(table.unpack(case))
      local x = d:sample(20000, peri.rng(i))
      if law.support.is_discrete then
        assert.is_true((statistics.chi_square(x, law)))
        assert.equal("integer", math.type(d:sample()))
      else
        assert.is_true((statistics.ks(x, function (v) return law:cdf(v) end)), tostring(law))
      end
    end
  end)

  it("batches have a table for each element", function ()
    local d, law = bare("Normal", { 0, 5 }, { { 1 }, { 20 } })
    assert.is_true(d:cdf(2):allclose(law:cdf(2), 1e-12))
    assert.is_true(d:icdf(0.2):allclose(law:icdf(0.2), 1e-12))
    assert.is_true(d:mean():allclose(law:mean(), 1e-12, 1e-12))
    assert.same({ 3, 2, 2 }, d:sample(3).shape)
  end)

  local function message (fn, ...)
    local ok, text = pcall(fn, ...)
    assert.is_false(ok)
    return text
  end

  it("is refused where it does not integrate to 1", function ()
    local Twice = peri.Distribution:extend("Twice", { support = peri.constraints.real })
    function Twice:log_prob (x) return peri.Normal(0, 1):log_prob(x) + math.log(2) end   -- luacheck: ignore self
    local d = Twice()
    assert.matches("Twice has no cdf: as far as can be found its probabilities sum to 2, not to 1",
                   message(d.cdf, d, 0))
  end)

  it("is refused where a gradient is wanted", function ()
    local w = peri.param(1.0)
    local d = bare("Normal", 0, w)
    assert.matches("BareNormal has no cdf with a gradient; a subclass may define BareNormal:cdf", message(d.cdf, d, 0))
  end)

  it("has no gradient by x either, and no quantiles where outcomes were not looked at", function ()
    local d = bare("Poisson", 7)
    assert.matches("BarePoisson has no cdf with a gradient", message(d.cdf, d, peri.param(3.0)))
    assert.matches("BarePoisson has no quantiles of levels below e^%-690", message(d.isf, d, 1e-302))
    assert.equal(peri.Poisson(7):isf(1e-290), d:isf(1e-290))
  end)

  it("is nothing without a support", function ()
    local Nowhere = peri.Distribution:extend("Nowhere")
    function Nowhere:log_prob (x) return peri.Normal(0, 1):log_prob(x) end   -- luacheck: ignore self
    local d = Nowhere()
    assert.matches("Nowhere has no cdf; a subclass may define Nowhere:cdf", message(d.cdf, d, 0))
  end)
end)
