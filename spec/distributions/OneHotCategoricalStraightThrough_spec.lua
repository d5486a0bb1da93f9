local peri   = require "perilune"
local core   = require "perilune.core"
local slopes = require "spec.support.slopes"

local FILE = "onehotcategoricalstraightthrough"

describe("OneHotCategoricalStraightThrough", function ()
  local d = peri.OneHotCategoricalStraightThrough { { 1, 2, 5 }, { 0, 1, 1 } }
  local parent = peri.OneHotCategorical { { 1, 2, 5 }, { 0, 1, 1 } }

  it("is a OneHotCategorical in all but its draws' slopes", function ()
    assert.is_true(d:is_a(peri.OneHotCategorical))
    assert.is_true(peri.OneHotCategoricalStraightThrough.has_rsample)
    assert.is_false(peri.OneHotCategorical.has_rsample)
    assert.same({ 3 }, d.event_shape)
    assert.same({ 2 }, d.batch_shape)
    for _, name in ipairs { "mean", "variance", "mode", "entropy", "enumerate_support" } do
      assert.is_true(d[name](d):equal(parent[name](parent)))
    end
    assert.is_true(d:log_prob({ 0, 1, 0 }):equal(parent:log_prob({ 0, 1, 0 })))
  end)

  it("draws the same rows, by either name", function ()
    local draws = parent:sample(1000, peri.rng(5))
    assert.is_true(d:rsample(1000, peri.rng(5)):equal(draws))
    assert.is_true(d:sample(1000, peri.rng(5)):equal(draws))
    assert.same({ 4, 2, 3 }, d:expand({ 4, 2 }):rsample().shape)
  end)

  it("has draws with the slopes of its probabilities, whatever was drawn", function ()
    local operands = { "u", "l" }
    local adjoint = core.bind_adjoint(FILE, "rsample", "rsample", operands, operands)
    local l, up = peri.tensor { 0.3, -1.2, 2, 0 }, peri.tensor { 0.7, -1.1, 2, 0.4 }
    for _, u in ipairs { 0.01, 0.5, 0.99 } do
      local function pulled (logits, upstream) return select(2, adjoint(u, logits, upstream)) end
      assert.is_nil(slopes.adjoint_mismatch(peri.softmax, pulled, { l }, up, 1e-8))
      assert.equal(0.0, peri.item(adjoint(u, l, up)))
    end
  end)

  it("explains itself, with an example that is right", function ()
    local class = peri.OneHotCategoricalStraightThrough
    local got = load("local OneHotCategoricalStraightThrough = ...; return " .. class.help.example[1])(class)
    assert(math.abs(got - class.help.example[2]) < 1e-12)
    assert.equal("OneHotCategoricalStraightThrough(probs={0.25, 0.75})", tostring(class { 1, 3 }))
  end)
end)
