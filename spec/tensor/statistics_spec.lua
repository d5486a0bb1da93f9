--- histogram, unique, cov, corr.
local peri = require "perilune"
local core = require "perilune.core"

describe("histogram", function ()
  it("counts", function ()
    local counts, edges, outside = peri.histogram({ 1, 2, 2, 3, 0 / 0, 9, math.huge }, { 1, 2, 3 })
    assert.same({ 1, 3 }, counts:totable())
    assert.same({ 1, 2, 3 }, edges:totable())
    assert.are.equal(3, outside)
    assert.same({ 2, 0, 1 }, (peri.histogram({ 0, 1, 6 }, 3)):totable())
    assert.same({ 1, 0, 2 }, (peri.histogram({ 0.5, 8, 9 }, { 0, 1, 7, 10 })):totable())
    assert.same({ 2, 2 }, (peri.tensor { { 1, 2 }, { 3, 4 } }:histogram(2)):totable())
    local same, ends = peri.histogram { 5, 5, 5 }
    assert.same({ 3 }, same:totable())
    assert.is_true(ends[1] < 5 and ends[2] > 5)
  end)

  it("agrees with a count one by one", function ()
    local x = peri.Normal(0, 1):sample(1000, peri.rng(2))
    for _, bins in ipairs { 1, 7, 50, peri.tensor { -1, -0.5, -0.49, 0, 2 } } do
      local counts, edges = peri.histogram(x, bins)
      local m = core.numel(edges)
      for j = 1, m - 1 do
        local n = 0
        for i = 1, 1000 do
          local is_last = j == m - 1 and x[i] == edges[m]
          if x[i] >= edges[j] and (x[i] < edges[j + 1] or is_last) then n = n + 1 end
        end
        assert.are.equal(n, counts[j])
      end
    end
    assert.are.equal(1000, (peri.histogram(x)):sum())
    local many = peri.Normal(0, 1):sample(200000, peri.rng(2))
    assert.are.equal(200000, (peri.histogram(many)):sum())
  end)

  it("refuses what makes no bins", function ()
    assert.error_matches(function () peri.histogram({ 1 }, { 2, 1 }) end, "edges must rise")
    assert.error_matches(function () peri.histogram({ 1 }, 0) end, "positive integer")
    assert.error_matches(function () peri.histogram({ 0 / 0 }) end, "no finite elements")
    assert.error_matches(function () peri.histogram({ 1 }, { 2 }) end, "two or more edges")
  end)
end)

describe("a single number", function ()
  it("has a histogram, is distinct and can be described", function ()
    for _, x in ipairs { peri.tensor(3), peri.param(3), 3 } do
      assert.same({ 1 }, (peri.histogram(x)):totable())
      assert.same({ 3 }, (peri.unique(x)):totable())
    end
    assert.equal(3, peri.describe(peri.tensor(3)).median)
    local _, message = pcall(peri.histogram, { 1, 2 }, peri.tensor(3))
    assert.matches("histogram: bins must be a number of them, or a list of two or more edges, got a tensor", message)
  end)
end)

describe("unique", function ()
  it("finds distinct values and how often they come", function ()
    local values, counts = peri.unique { 3, 1, 3, 2, -0.0, 0, 0 / 0, 0 / 0 }
    assert.same({ 0, 1, 2, 3 }, values:narrow(1, 1, 4):totable())
    assert.is_true(values[5] ~= values[5])
    assert.same({ 2, 1, 1, 2, 2 }, counts:totable())
    assert.same({ 7 }, (peri.unique { { 7, 7 }, { 7, 7 } }):totable())
    assert.are.equal(0, core.numel((peri.unique {})))
    local rng = peri.rng(3)
    local wide = peri.Normal(0, 1):sample(20000, rng) * peri.exp(peri.Uniform(-700, 700):sample(20000, rng))
    values, counts = peri.unique(wide)
    assert.is_true(values:equal((wide:sort())) and counts:max() == 1)
    assert.same({ -math.huge, -5e-324, 0, 5e-324, math.huge },
                (peri.unique { 5e-324, math.huge, 0, -5e-324, -math.huge }):totable())
    values, counts = peri.Poisson(4):sample(1000, peri.rng(1)):unique()
    assert.are.equal(1000, counts:sum())
    assert.is_true(values:equal((values:sort())))
  end)
end)

describe("cov and corr", function ()
  it("are those of columns, or of two lists", function ()
    assert.are.equal(2.5, peri.cov({ 1, 2, 3 }, { 1, 2, 6 }))
    local x = peri.tensor { { 1, 2, 0 }, { 2, 5, 0 }, { 4, 4, 0 } }
    local c = x:cov()
    assert.near(7 / 3, c:at(1, 1), 1e-15)
    assert.near(7 / 6, c:at(1, 2), 1e-15)
    local r = x:corr()
    assert.are.equal(1, r:at(2, 2))
    assert.near(0.5, r:at(1, 2), 1e-15)
    assert.is_true(r:at(3, 1) ~= r:at(3, 1))
    assert.are.equal(1, peri.corr({ 1, 2, 3 }, { 2, 4, 6 }))
    assert.near(-1, peri.corr({ 1e200, 2e200, 4e200 }, { -1e-200, -2e-200, -4e-200 }), 1e-15)
    assert.near(1, peri.cov({ 1e9, 1e9 + 1, 1e9 + 2 }, { 1e9, 1e9 + 1, 1e9 + 2 }), 1e-15)   -- far from 0
  end)

  it("have gradients", function ()
    local x = peri.param { 1, 2, 4 }
    peri.corr(x, { 2, 5, 4 }):backward()
    local h, base = 1e-6, { 1, 2, 4 }
    for i = 1, 3 do
      local up, down = { table.unpack(base) }, { table.unpack(base) }
      up[i], down[i] = up[i] + h, down[i] - h
      assert.near((peri.corr(up, { 2, 5, 4 }) - peri.corr(down, { 2, 5, 4 })) / (2 * h), x.grad[i], 1e-8)
    end
  end)

  it("refuse other shapes", function ()
    assert.error_matches(function () peri.cov { 1, 2 } end, "two lists, or a matrix")
    assert.error_matches(function () peri.corr({ 1, 2 }, { 1 }) end, "lists of the same length")
  end)
end)
