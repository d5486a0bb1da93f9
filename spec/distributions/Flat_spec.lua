--- Flat: a density of 1 on a support. Without a total there are no draws, tails or moments, and no contract on them.
local peri = require "perilune"

local Flat, constraints = peri.Flat, peri.constraints
local INF = math.huge

local function message (fn, ...) return (select(2, pcall(fn, ...))) end

describe("Flat", function ()
  it("has log density 0 on its support and -inf outside", function ()
    assert.equal(0, Flat():log_prob(-3))
    assert.equal(0, Flat(constraints.positive):log_prob(3))
    assert.equal(-INF, Flat(constraints.positive):log_prob(0))
    assert.equal(-INF, Flat(constraints.interval(0, 2)):log_prob(2.5))
    assert.equal(-INF, Flat(constraints.integer):log_prob(2.5))
    local value = Flat(constraints.positive):log_prob(0 / 0)
    assert(value ~= value)
  end)

  it("counts an event of rows or matrices once", function ()
    local d = Flat(constraints.ordered, 3)
    assert.same({ {}, { 3 } }, { { table.unpack(d.batch_shape) }, d.event_shape })
    assert.equal(0, d:log_prob { 1, 2, 3 })
    assert.same({ -INF, 0 }, d:log_prob { { 1, 3, 3 }, { 1, 2, 3 } }:totable())
    local value = d:log_prob { 1, 0 / 0, 3 }
    assert(value ~= value)
    assert.same({ 0, 0 }, Flat(constraints.simplex, { 2, 4 }):log_prob { 0.1, 0.2, 0.3, 0.4 }:totable())
    d = Flat(constraints.corr_cholesky, { 5, 2, 2 })
    assert.same({ { 5 }, { 2, 2 } }, { d.batch_shape, d.event_shape })
    assert.same({ 0, 0, 0, 0, 0 }, d:log_prob { { 1, 0 }, { 0.6, 0.8 } }:totable())
    d = Flat(constraints.cat({ constraints.real, constraints.positive }, 1, { 1, 2 }), 3)
    assert.same({ 0, 0, -INF }, d:log_prob { -1, 1, -1 }:totable())
  end)

  it("has the shape that is asked for, with or without a constraint", function ()
    assert.same({ 3 }, Flat(3).batch_shape)
    assert.same({ 2, 3 }, Flat({ 2, 3 }).batch_shape)
    assert.same({ 0, 0 }, Flat { shape = 2 }:log_prob(1):totable())
    assert.same({ 3, 2 }, Flat { constraint = constraints.positive, shape = { 3, 2 } }:log_prob(1).shape)
    assert.same({ 4, 2 }, Flat(constraints.interval({ 0, 1 }, 2), { 4, 1 }).batch_shape)
    assert.same({ 0, -INF }, Flat(constraints.interval({ 0, 1 }, 2)):log_prob(0.5):totable())
  end)

  it("expands", function ()
    local d = Flat(constraints.ordered, 3):expand { 2 }
    assert.same({ { 2 }, { 3 } }, { d.batch_shape, d.event_shape })
    assert.same({ 0, 0 }, d:log_prob { 1, 2, 3 }:totable())
    assert.same({ 5, 3 }, Flat(3):expand({ 5, 3 }).batch_shape)
    assert.matches("shape %(3%) does not expand to %(2%)", message(function () return Flat(3):expand(2) end))
  end)

  it("follows ends that have a gradient, in a trace as well", function ()
    local alpha, x = peri.param(0.3), peri.param(0.5)
    local function joint () return Flat(constraints.interval(0, 1 - alpha)):log_prob(x) + 2 * x end
    local trace = peri.trace(joint)
    assert.equal(1, trace:backward())
    assert.equal(2, peri.item(x.grad))
    alpha:copy(0.6)
    assert.equal(-INF, trace())
    x:copy(0.3)
    assert.equal(0.6, trace())
    assert.equal(peri.item(joint()), trace())
    assert.same({ 0, 0, 0 }, peri.grad(function (v) return Flat(constraints.ordered, 3):log_prob(v) end)
                             { 1, 2, 3 }:totable())
  end)

  it("is the support of a transform", function ()
    assert.equal("Exp", tostring(peri.biject_to(Flat(constraints.positive).support)))
    assert.equal(constraints.ordered_vector, constraints.ordered)
  end)

  it("has no draws and no moments", function ()
    local d = Flat(constraints.positive)
    assert.is_false(d.has_rsample)
    assert.matches("^[^:]+:%d+: Flat has no draws: it is improper$", message(d.sample, d, 3))
    assert.matches("Flat has no draws: it is improper", message(d.rsample, d))
    assert.matches("Flat has no expectation: it is improper", message(d.expectation, d, peri.exp))
    for _, method in ipairs { "mean", "variance", "stddev", "mode", "entropy", "median" } do
      assert.matches("Flat has no " .. method, message(d[method], d))
    end
    assert.matches("Flat has no cdf", message(d.cdf, d, 1))
    assert.matches("Flat has no", message(peri.kl_divergence, d, d))
  end)

  it("is what minus an entropy is a divergence to", function ()
    local gamma = peri.Gamma({ 2, 3 }, 1)
    assert.same((-gamma:entropy()):totable(), peri.kl_divergence(gamma, Flat(constraints.positive)):totable())
    assert.equal(-peri.Normal():entropy(), peri.kl_divergence(peri.Normal(), Flat()))
    assert.same({ 2, 3 }, peri.kl_divergence(peri.Normal(), Flat { 2, 3 }).shape)
    assert.equal(INF, peri.kl_divergence(peri.Normal(), Flat(constraints.positive)))
    local row = peri.Independent(peri.Normal({ 0, 1 }, 1), 1)
    assert.equal(-row:entropy(), peri.kl_divergence(row, Flat(constraints.real_vector, 2)))
    local cut = peri.Truncated(peri.Normal(), 0, 1)
    local found = peri.kl_explain(cut, Flat())
    assert.equal("quadrature", found.method)
    assert(math.abs(found.value + cut:entropy()) < 1e-14)
    assert.equal(-peri.Normal():entropy(), peri.kl_divergence(peri.Masked(peri.Normal(), true), Flat()))
    assert.equal(0, peri.kl_divergence(peri.Delta(2), Flat()))
  end)

  it("refuses what is no constraint, no shape, or what does not fit", function ()
    assert.matches("Flat: constraint must be a constraint, got 3", message(Flat, 3, 4))
    assert.matches("Flat: shape must be an integer or a table of integers, got the string \"x\"", message(Flat, "x"))
    assert.matches("Flat: constraint is nil %(argument 1%)", message(Flat, nil))
    assert.matches("Flat: shape must have at least 2 dimensions for the constraint corr_cholesky, got %(3%)",
                   message(Flat, constraints.corr_cholesky, 3))
    assert.matches("Flat: shape %(3, 4%) does not suit the constraint corr_cholesky",
                   message(Flat, constraints.corr_cholesky, { 3, 4 }))
    assert.matches("Flat: shape and the ends of the constraint of shapes %(3%) and %(2%) do not broadcast",
                   message(Flat, constraints.interval({ 0, 0 }, 1), 3))
    assert.matches("Flat:log_prob: x must be an event of shape %(3%)",
                   message(function () return Flat(constraints.ordered, 3):log_prob { 1, 2 } end))
  end)

  it("prints, and explains itself", function ()
    assert.equal("Flat(constraint=real)", tostring(Flat()))
    assert.equal("Flat(constraint=interval(0, 2), shape={3})", tostring(Flat(constraints.interval(0, 2), 3)))
    local help = Flat.help
    local code = "local peri = ...; local Flat = peri.Flat; return " .. help.example[1]
    assert.equal(help.example[2], assert(load(code))(peri))
    assert.is_string(help.params.constraint and help.params.shape and help.formula)
  end)
end)
