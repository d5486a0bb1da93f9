--- Pairs that are closed for some parameters, and Zipf: kl_more.jsonl has their values.
local peri   = require "perilune"
local core   = require "perilune.core"
local slopes = require "spec.support.slopes"

local CLOSED = {
  { peri.Burr(2, 3, 1.5), peri.Burr(2, 4, 1.5) },
  { peri.Gompertz(0.5, 2), peri.Gompertz(0.7, 2) },
  { peri.Gompertz(0.5, 2), peri.Gompertz(0.7, 3) },
  { peri.JohnsonSU(1, 2, 0.5, 3), peri.JohnsonSU(-1, 4, 0.5, 3) },
  { peri.GeneralizedExtremeValue(0, 1, 0), peri.GeneralizedExtremeValue(1, 2, 0) },
  { peri.GeneralizedExtremeValue(0, 1, 0.5), peri.GeneralizedExtremeValue(-1, 0.25, 0.25) },
  { peri.GeneralizedExtremeValue(0, 1, 0), peri.Gumbel(1, 2) },
  { peri.Zipf(3), peri.Zipf(2) },
  { peri.Zipf(3), peri.Geometric(0.3) },
}

local NUMERIC = {
  { peri.Burr(2, 3, 1.5), peri.Burr(2.1, 4, 1.5) },
  { peri.Gompertz(0.5, 2), peri.Gompertz(0.5, 2.01) },
  { peri.Gompertz(500, 2), peri.Gompertz(0.5, 3) },
  { peri.JohnsonSU(1, 2, 0.5, 3), peri.JohnsonSU(-1, 4, 0.6, 3) },
  { peri.GeneralizedExtremeValue(0, 1, 0.5), peri.GeneralizedExtremeValue(-2, 1, 0.25) },
  { peri.GeneralizedExtremeValue(0, 1, -1e-9), peri.Gumbel(1, 2) },
}

describe("KL where shapes are the same", function ()
  it("is closed, and elsewhere it is not", function ()
    for _, pair in ipairs(CLOSED) do assert.equal("closed form", peri.kl_explain(pair[1], pair[2]).method) end
    for _, pair in ipairs(NUMERIC) do assert.are_not.equal("closed form", peri.kl_explain(pair[1], pair[2]).method) end
  end)

  it("has slopes by what must be the same", function ()
    local function slope_of (kl, at)
      local w = peri.param(at)
      kl(w):backward()
      local h = 1e-4
      return peri.item(w.grad), (kl(at + h) - kl(at - h)) / (2 * h)
    end
    for at, kl in pairs {
      [1.5] = function (scale) return peri.kl_divergence(peri.Burr(2, 3, 1.5), peri.Burr(2, 4, scale)) end,
      [2]   = function (rate) return peri.kl_divergence(peri.Gompertz(0.5, 2), peri.Gompertz(0.7, rate)) end,
      [0.5] = function (loc) return peri.kl_divergence(peri.JohnsonSU(1, 2, 0.5, 3), peri.JohnsonSU(-1, 4, loc, 3)) end,
      [0]   = function (c) return peri.kl_divergence(peri.GeneralizedExtremeValue(0, 1, c), peri.Gumbel(1, 2)) end,
      [3]   = function (n) return peri.kl_divergence(peri.NegativeBinomial(3, 0.3), peri.NegativeBinomial(n, 0.4)) end,
    } do
      local found, expected = slope_of(kl, at)
      assert.near(1, found / expected, 1e-6)
    end
  end)

  it("is exactly 0 for p against itself", function ()
    for _, pair in ipairs(CLOSED) do assert.equal(0.0, peri.kl_divergence(pair[1], pair[1])) end
  end)

  it("goes on smoothly where it becomes numeric", function ()
    for _, r in ipairs { 1.0999999, 1.1000001 } do
      local kl = peri.kl_divergence(peri.Gompertz(0.5, 1), peri.Gompertz(0.6, r))
      assert.near(peri.kl_divergence(peri.Gompertz(0.5, 1), peri.Gompertz(0.6, 1.1)), kl, 1e-7)
    end
  end)

  it("is differentiable", function ()
    local function gompertz (c, r, k, s)
      return peri.item(peri.kl_divergence(peri.Gompertz(c, r), peri.Gompertz(k, s)))
    end
    local at = { 0.5, 2, 0.7, 3 }
    local w = peri.param(at)
    peri.kl_divergence(peri.Gompertz(w[1], w[2]), peri.Gompertz(w[3], w[4])):backward()
    assert.is_nil(slopes.mismatch(gompertz, at, w.grad:totable(), 1e-6))
  end)

  it("of Zipf has the right partials", function ()
    local partials = core.bind_partials("kl/zipf", "Zipf", "Zipf", { "a", "b" }, { "a", "b" })
    local function value (s, t) return peri.kl_divergence(peri.Zipf(s), peri.Zipf(t)) end
    for _, at in ipairs { { 2, 3 }, { 3, 2.9 }, { 1.1, 5 }, { 6, 1.05 } } do
      assert.is_nil(slopes.mismatch(value, at, { partials(table.unpack(at)) }, 1e-6))
    end
  end)
end)
