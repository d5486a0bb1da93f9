local peri = require "perilune"
local core = require "perilune.core"

-- A point mass has no density to integrate and no cdf to invert, which is what
-- the contract is about: what it is, is said here.
describe("Delta", function ()
  it("has all of its mass at v", function ()
    for _, v in ipairs { 0, -2.5, 1e300, 5e-324 } do
      local d = peri.Delta(v)
      assert.equal(0.0, d:log_prob(v))
      assert.equal(1.0, d:prob(v))
      assert.equal(1.0, d:cdf(v))
      assert.equal(0.0, d:sf(v))
      assert.equal(0.0, d:log_cdf(v))
      assert.equal(-math.huge, d:log_sf(v))
    end
  end)

  it("has none elsewhere", function ()
    local d = peri.Delta(2)
    for _, x in ipairs { 1.9999999999999998, -math.huge } do
      assert.equal(-math.huge, d:log_prob(x))
      assert.equal(0.0, d:cdf(x))
      assert.equal(1.0, d:sf(x))
      assert.equal(-math.huge, d:log_cdf(x))
      assert.equal(0.0, d:log_sf(x))
    end
    assert.equal(-math.huge, d:log_prob(2.0000000000000004))
    assert.equal(1.0, d:cdf(math.huge))
  end)

  it("has v for every quantile, and NaN beyond [0, 1]", function ()
    local d = peri.Delta(2)
    for _, p in ipairs { 0, 0.3, 1 } do
      assert.equal(2.0, d:icdf(p))
      assert.equal(2.0, d:isf(p))
    end
    for _, p in ipairs { -0.1, 1.1, 0 / 0 } do
      local x = d:icdf(p)
      assert.is_true(x ~= x)
    end
  end)

  it("passes NaN on", function ()
    for _, method in ipairs { "log_prob", "prob", "cdf", "sf", "log_cdf", "log_sf" } do
      local d = peri.Delta(2)
      local value = d[method](d, 0 / 0)
      assert.is_true(value ~= value)
    end
  end)

  it("has v for its mean, median and mode, and no spread", function ()
    local d = peri.Delta { { 1, 2 }, { 3, 4 } }
    for _, method in ipairs { "mean", "median", "mode" } do
      assert.same({ { 1, 2 }, { 3, 4 } }, d[method](d):totable())
    end
    for _, method in ipairs { "variance", "stddev", "entropy" } do
      assert.same({ { 0, 0 }, { 0, 0 } }, d[method](d):totable())
      assert.equal(0.0, peri.Delta(7)[method](peri.Delta(7)))
    end
  end)

  it("draws v, and the draw moves with v", function ()
    local d = peri.Delta { 1, 2 }
    assert.same({ { 1, 2 }, { 1, 2 }, { 1, 2 } }, d:sample(3, peri.rng(1)):totable())
    assert.same({ 1, 2 }, d:rsample(nil, peri.rng(1)):totable())
    assert.is_true(d.has_rsample)
    local _, dv = core.bind_partials("delta", "rsample", "rsample", { "x", "v" }, { "x", "v" })(5, 5)
    assert.equal(1.0, dv)
  end)

  it("broadcasts, expands and prints", function ()
    assert.same({ { 0, -math.huge }, { -math.huge, 0 } }, peri.Delta({ 1, 2 }):log_prob({ { 1 }, { 2 } }):totable())
    assert.same({ 2, 3 }, peri.Delta(1):expand({ 2, 3 }):mean().shape)
    assert.equal("Delta(v=2.5)", tostring(peri.Delta(2.5)))
    assert.is_true(peri.Delta(3).support:check(3))
    assert.is_false(peri.Delta(3).support:check(2))
  end)

  it("refuses NaN, and nothing at all", function ()
    assert.has_error(function () peri.Delta(0 / 0) end, "Delta: v must be a real number, got nan")
    assert.has_error(function () peri.Delta() end, "Delta: v is missing")
  end)

  it("explains itself", function ()
    local help = peri.Delta.help
    assert.is_string(help.summary)
    assert.is_string(help.params.v)
    assert.equal(help.example[2], peri.Delta(2):cdf(1))
  end)
end)
