local peri        = require "perilune"
local constraints = peri.constraints

local function message (f, ...)
  local ok, text = pcall(f, ...)
  assert.is_false(ok)
  return (text:gsub("^[^ ]+:%d+: ", ""))
end

describe("Independent", function ()
  local loc, scale = peri.tensor { { 0, 1, -2 }, { 3, 0.5, 7 } }, peri.tensor { 1, 2, 0.25 }
  local base = peri.Normal(loc, scale)
  local d = peri.Independent(base, 1)

  it("moves dimensions of the batch into the event", function ()
    assert.same({ 2 }, d.batch_shape)
    assert.same({ 3 }, d.event_shape)
    assert.equal(constraints.real_vector, d.support)
    assert.is_true(d.has_rsample)
    assert.equal(base, d.base_dist)
    local all = peri.Independent(base, 2)
    assert.same({}, all.batch_shape)
    assert.same({ 2, 3 }, all.event_shape)
    local none = peri.Independent(base, 0)
    assert.same({ 2, 3 }, none.batch_shape)
    assert.same({}, none.event_shape)
    local rows = peri.Independent(peri.Dirichlet { { 1, 2, 3 }, { 4, 5, 6 } }, 1)
    assert.same({ 2, 3 }, rows.event_shape)
    assert.is_false(peri.Independent(peri.Bernoulli { 0.5, 0.5 }, 1).has_rsample)
    assert.is_true(peri.Independent(peri.Bernoulli { 0.5, 0.5 }, 1).support.is_discrete)
  end)

  it("sums densities and entropies", function ()
    local x = peri.tensor { 0.5, -1, -2.25 }
    for i = 1, 2 do
      local log_prob, entropy = 0, 0
      for j = 1, 3 do
        local z = (x[j] - loc:at(i, j)) / scale[j]
        log_prob = log_prob - z * z / 2 - math.log(2 * math.pi) / 2 - math.log(scale[j])
        entropy = entropy + 0.5 + math.log(2 * math.pi) / 2 + math.log(scale[j])
      end
      assert(math.abs(log_prob - d:log_prob(x)[i]) < 1e-13 * math.abs(log_prob))
      assert(math.abs(entropy - d:entropy()[i]) < 1e-14 * entropy)
      assert(math.abs(math.exp(log_prob) - d:prob(x)[i]) <= 1e-12 * math.exp(log_prob))
    end
    assert.same({ 4, 2 }, d:log_prob(peri.zeros(4, 1, 3)).shape)
    local rows = peri.Independent(peri.Dirichlet { { 1, 2, 3 }, { 4, 5, 6 } }, 1)
    local shares = peri.tensor { 0.25, 0.25, 0.5 }
    assert.equal(peri.item(rows.base_dist:log_prob(shares):sum()), peri.item(rows:log_prob(shares)))
  end)

  it("refuses events of more parts than it has", function ()
    local one = peri.Independent(peri.Normal({ 0 }, 1), 1)
    for shape, x in pairs { ["(2)"] = peri.zeros(2), ["(1, 3)"] = peri.zeros(1, 3) } do
      assert.has_error(function () one:log_prob(x) end,
        "Independent:log_prob: x must be an event of shape (1), or a batch of them, got a tensor of shape " .. shape)
    end
    assert.equal(one:log_prob { 0.5 }, one:log_prob(0.5))
    assert.same({ 2 }, one:log_prob(peri.zeros(2, 1)).shape)
  end)

  it("passes moments and draws through", function ()
    for _, name in ipairs { "mean", "variance", "stddev", "mode" } do
      assert.is_true(d[name](d):equal(base[name](base)))
    end
    assert.is_true(d:sample({ 4, 5 }, peri.rng(3)):equal(base:sample({ 4, 5 }, peri.rng(3))))
    assert.is_true(d:rsample(4, peri.rng(3)):equal(base:rsample(4, peri.rng(3))))
  end)

  it("expands its batch", function ()
    local e = d:expand { 5, 2 }
    assert.same({ 5, 2 }, e.batch_shape)
    assert.same({ 3 }, e.event_shape)
    assert.same({ 4, 5, 2, 3 }, e:sample(4).shape)
    assert.equal(d:log_prob({ 1, 2, 3 })[2], e:log_prob({ 1, 2, 3 }):at(4, 2))
    assert.same({ 6 }, peri.Independent(peri.Normal({ 0, 1 }, 1), 1):expand(6).batch_shape)
    assert.equal("Independent:expand: shape must be an integer or a table of integers, got the string \"x\"",
                 message(d.expand, d, "x"))
  end)

  it("enumerates all combinations", function ()
    local bits = peri.Independent(peri.Bernoulli { 0.25, 0.5, 0.875 }, 1)
    local support = bits:enumerate_support()
    assert.same({ 8, 3 }, support.shape)
    assert.same({ 1, 0, 1 }, support[6]:totable())
    assert(math.abs(peri.item(bits:prob(support):sum()) - 1) < 1e-15)
    local dice = peri.Independent(peri.Categorical(peri.ones(4, 2, 3)), 1)
    assert.same({ 9, 4, 2 }, dice:enumerate_support().shape)
    assert.same({ 1, 3 }, dice:enumerate_support()[3][4]:totable())
    local function moved (by, times)
      return peri.TransformedDistribution(peri.Bernoulli { 0.25, 0.5 }, peri.transforms.Affine(by, times))
    end
    assert.same({ { 0, 0 }, { 0, 2 }, { 2, 0 }, { 2, 2 } },
                peri.Independent(moved(0, 2), 1):enumerate_support():totable())
    local batch = peri.Independent(moved(peri.tensor { { 0, 10 }, { 20, 30 } }, -0.5), 1)
    assert.same({ { 0, 10 }, { 20, 30 } }, batch:enumerate_support()[1]:totable())
    assert.same({ { -0.5, 10 }, { 19.5, 30 } }, batch:enumerate_support()[3]:totable())
    assert.is_true(batch:prob(batch:enumerate_support()):sum(1):allclose(peri.ones(2), 1e-15, 0))
    local counts = peri.Multinomial(2, { { { 1, 2, 3 }, { 3, 2, 1 } }, { { 1, 1, 1 }, { 5, 1, 1 } } })
    local rows = peri.Independent(counts, 1)
    assert.same({ 36, 2, 2, 3 }, rows:enumerate_support().shape)
    assert.is_true(rows:prob(rows:enumerate_support()):sum(1):allclose(peri.ones(2), 1e-14, 0))
    assert.equal("sum", peri.kl_explain(rows, peri.Independent(peri.Poisson(peri.ones(2, 3)), 2)).method)
    assert.equal("Independent:enumerate_support: there must be a million combinations of single outcomes at most",
                 message(bits.enumerate_support, peri.Independent(peri.Bernoulli(peri.full({ 30 }, 0.5)), 1)))
  end)

  it("keeps numbers", function ()
    local one = peri.Independent(peri.Normal(0, 1), 0)
    assert.equal(peri.Normal(0, 1):log_prob(0.5), one:log_prob(0.5))
    assert.equal("number", type(one:sample()))
  end)

  it("refuses what makes no sense, and prints itself", function ()
    local rule = "reinterpreted_batch_ndims must be an integer between 0 and %d, the dimensions of the batch, got %s"
    for _, case in ipairs {
      { "base_distribution must be a distribution, got 3", 3, 1 },
      { rule:format(2, "3"), base, 3 },
      { rule:format(2, "-1"), base, -1 },
      { rule:format(0, "nil"), peri.Normal(0, 1) },
    } do
      assert.equal("Independent: " .. case[1], message(peri.Independent, table.unpack(case, 2)))
    end
    assert.equal("Independent(Normal(loc={0, 1}, scale=1), 1)", tostring(peri.Independent(peri.Normal({ 0, 1 }, 1), 1)))
    assert.equal(tostring(d), tostring(peri.Independent { base_distribution = base, reinterpreted_batch_ndims = 1 }))
    assert.matches("Independent has no cdf", message(d.cdf, d, 1))
  end)

  it("explains itself, with an example that is right", function ()
    local help = peri.Independent.help
    local value = load("local Independent = ...; return " .. help.example[1])(peri.Independent)
    assert(math.abs(value - help.example[2]) < 1e-12)
  end)
end)
