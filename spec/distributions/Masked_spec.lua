--- Masked: nothing where the mask is 0, the base elsewhere.
local peri = require "perilune"

local Masked, Normal = peri.Masked, peri.Normal

describe("Masked", function ()
  it("scores and weighs nothing where the mask is 0", function ()
    local base = Normal({ 0, 1, 2 }, 1)
    local d = Masked(base, { true, false, true })
    local x = peri.tensor { 0.3, 0.4, 0.5 }
    local expected = base:log_prob(x):totable()
    expected[2] = 0
    assert.same(expected, d:log_prob(x):totable())
    expected = base:entropy():totable()
    expected[2] = 0
    assert.same(expected, d:entropy():totable())
    assert.equal(1, d:prob(x)[2])
    assert.is_true(Masked(base, peri.tensor { 1, 0, 1 }):log_prob(x):equal(d:log_prob(x)))
  end)

  it("does so whatever x is", function ()
    local d = Masked(peri.Gamma(2, 1), { 1, 0 })
    assert.same({ -math.huge, 0 }, d:log_prob(-1):totable())
    local value = d:log_prob(0 / 0)
    assert(value[1] ~= value[1])
    assert.equal(0, value[2])
  end)

  it("gives numbers for numbers", function ()
    assert.equal(Normal():log_prob(1), Masked(Normal(), true):log_prob(1))
    assert.equal(0, Masked(Normal(), false):log_prob(1))
    assert.equal(0, Masked(Normal(), 0):entropy())
    assert.equal("number", type(Masked(Normal(), true):sample()))
  end)

  it("passes the rest through", function ()
    local base = peri.Gamma({ 2, 3 }, 1)
    local d = Masked(base, { 1, 0 })
    for _, method in ipairs { "mean", "variance", "stddev", "mode", "median" } do
      assert.is_true(base[method](base):equal(d[method](d)), method)
    end
    for _, method in ipairs { "cdf", "log_cdf", "sf", "log_sf", "icdf", "isf" } do
      assert.is_true(base[method](base, 0.3):equal(d[method](d, 0.3)), method)
    end
    for _, method in ipairs { "sample", "rsample" } do
      assert.is_true(base[method](base, 4, peri.rng(1)):equal(d[method](d, 4, peri.rng(1))), method)
    end
    assert.is_true(d:expectation(peri.sqrt):equal((base:expectation(peri.sqrt))))
    assert.is_true(d.has_rsample)
    assert.equal(base.support, d.support)
    assert.same({ 0, 1 }, Masked(peri.Bernoulli(0.3), true):enumerate_support():totable())
    assert.is_false(Masked(peri.Bernoulli(0.3), true).has_rsample)
  end)

  it("broadcasts the mask against the batch, and expands", function ()
    local d = Masked(Normal({ 0, 1, 2 }, 1), { { 1 }, { 0 } })
    assert.same({ 2, 3 }, d.batch_shape)
    local t = d:log_prob({ 0.1, 0.2, 0.3 })
    assert.same({ 2, 3 }, t.shape)
    assert.equal(Normal(2, 1):log_prob(0.3), t:at(1, 3))
    assert.equal(0, t:at(2, 3))
    assert.same({ 5, 2, 3 }, d:sample(5).shape)
    assert.same({ 2, 3 }, d:mean().shape)
    local e = Masked(Normal(), { true, false }):expand { 3, 2 }
    assert.same({ 3, 2 }, e:log_prob(1).shape)
    assert.same({ Normal():log_prob(1), 0 }, e:log_prob(1)[3]:totable())
    assert.is_true(e:is_a(Masked))
  end)

  it("masks vectors as a whole", function ()
    local base = peri.MultivariateNormal({ 0, 0 }, { { 1, 0 }, { 0, 1 } })
    local d = Masked(base, { 1, 0, 1 })
    assert.same({ { 3 }, { 2 } }, { d.batch_shape, d.event_shape })
    local value = peri.item(base:log_prob({ 1, 1 }))
    assert.same({ value, 0, value }, d:log_prob({ 1, 1 }):totable())
    assert.same({ 4, 3, 2 }, d:sample(4).shape)
  end)

  it("refuses what is no distribution and what is no mask", function ()
    local function message (...) return select(2, pcall(Masked, ...)) end
    assert.matches("Masked: base must be a distribution, got 3", message(3, true))
    assert.matches("Masked: mask must be a boolean, or a table or tensor of them, got nil", message(Normal()))
    assert.matches("Masked: mask must be true or false, or 0 or 1, got 2", message(Normal(), { 1, 2 }))
    local endless = {}
    endless[1] = endless
    assert.matches("Masked: mask is nested deeper than 16 tables",
                   message(Normal(), endless))
    assert.matches("Masked: mask must be true or false, or 0 or 1, got nan", message(Normal(), 0 / 0))
    assert.matches("Masked: base and mask of shapes %(3%) and %(2%) do not broadcast",
                   message(Normal({ 0, 1, 2 }, 1), { 1, 0 }))
  end)

  it("ends where it became its own base", function ()
    local d = Masked(Normal(), true)
    d.base = d
    debug.sethook(function () error "it goes on for ever" end, "", 10000000)
    local ok, why = pcall(d.cdf, d, 0.3)
    debug.sethook()
    assert.is_false(ok)
    assert.matches("stack overflow", why)
  end)

  it("prints, takes names, and explains itself", function ()
    assert.equal("Masked(Normal(loc=0, scale=1), mask=1)", tostring(Masked { base = Normal(), mask = true }))
    assert.equal("Masked(Normal(loc={0, 1}, scale={1, 1}), mask={1, 0})",
                 tostring(Masked(Normal({ 0, 1 }, 1), { 1, 0 })))
    local help = Masked.help
    local code = "local peri = ...; local Masked = peri.Masked; return " .. help.example[1]
    assert(math.abs(help.example[2] - assert(load(code))(peri)) < 1e-15)
    assert.is_string(help.params.base and help.params.mask and help.formula)
  end)
end)
