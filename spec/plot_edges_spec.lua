--- Pictures of what is rarely drawn: windows, groups of bars, poles, crowds, nothing at all.
local length     = require "perilune.characters".length
local peri       = require "perilune"
local refusal_of = require "spec.support.refusal"

local Normal, INF, NAN = peri.Normal, math.huge, 0 / 0

local function panel_of (plot) return plot.panels[1] end
local function mark_of (plot, i) return plot.panels[1].marks[i or 1] end
local function notes_of (plot)
  local all = { table.concat(plot.notes or {}, "\n") }
  for _, panel in ipairs(plot.panels) do   -- false where there is none
    all[#all + 1] = table.concat(panel and panel.notes or {}, "\n")
  end
  return table.concat(all, "\n")
end

describe("a law on whole numbers", function ()
  it("is drawn where a range says", function ()
    local mark = mark_of(peri.plot(peri.Poisson(4), { range = { 1.5, 6.2 } }))
    local law, heights = peri.Poisson(4), mark.heights or mark.y
    assert.equal(5, #heights)   -- 2 to 6
    for i, height in ipairs(heights) do assert.near(law:prob(i + 1), height, 1e-15) end
  end)

  it("shares its places with another, each with bars of its own", function ()
    local text = peri.plot { peri.Poisson(2), peri.Poisson(3) } :text { width = 60, height = 6 }
    local wide = peri.plot(peri.Poisson(2)):text { width = 60, height = 6 }
    assert.is_true(#text > 0 and text ~= wide)
    for line in text:gmatch "[^\n]+" do assert.is_true(length(line) <= 60) end
  end)

  it("has bars of a column or two where there are many", function ()
    for _, width in ipairs { 30, 44, 60 } do
      for line in peri.plot(peri.Poisson(6)):text { width = width, height = 4 } :gmatch "[^\n]+" do
        assert.is_true(length(line) <= width)
      end
    end
  end)

  it("goes with a histogram, at the whole numbers", function ()
    local plot = peri.hist({ 0, 1, 2, 3, 3, 4 }, { law = peri.Poisson(2) })
    local found
    for _, mark in ipairs(panel_of(plot).marks) do
      if mark.kind ~= "bars" and mark.x then found = mark end
    end
    for i, x in ipairs(found.x) do
      assert.equal(x, math.floor(x))
      assert.near(peri.Poisson(2):prob(x), found.y[i], 1e-15)
    end
    assert.equal("hist: law must be a single distribution, got a batch of shape (2)",
                 refusal_of(peri.hist, { 1, 2 }, { law = Normal({ 0, 1 }, 1) }))
  end)
end)

describe("a law on an interval", function ()
  it("ends where each of a batch ends", function ()
    local panel = panel_of(peri.plot(peri.Uniform(peri.tensor { 0, 1 }, peri.tensor { 2, 4 })))
    for i, ends in ipairs { { 0, 2, 0.5 }, { 1, 4, 1 / 3 } } do
      local mark = panel.marks[i]
      for k, x in ipairs(mark.x) do
        if x > ends[1] and x < ends[2] then assert.near(ends[3], mark.y[k], 1e-12) end
        if x < ends[1] or x > ends[2] then assert.equal(0, mark.y[k]) end
      end
    end
  end)

  it("on a logarithmic axis begins above 0", function ()
    for _, d in ipairs { peri.Uniform(0, 1), Normal(0.1, 1), peri.Exponential(1) } do
      local panel = panel_of(peri.plot(d, { log = "x" }))
      assert.is_true(panel.x.low > 0 and panel.x.low < panel.x.high)
    end
  end)

  it("of a batch takes names", function ()
    local panel = panel_of(peri.plot(Normal({ 0, 1 }, 1), { names = { "first", "second" } }))
    assert.equal("first", panel.marks[1].name)
    assert.equal("second", panel.marks[2].name)
  end)
end)

describe("pictures of points", function ()
  it("draw a crowd as counts, and say what lies outside", function ()
    local x = Normal(0, 1):sample(20000, peri.rng(1))
    local y = Normal(0, 1):sample(20000, peri.rng(2))
    x[7] = 1e9
    local notes = notes_of(peri.plot(x, y))
    assert.matches("20000 points, as counts in", notes)
    assert.matches("%d+ of them lie outside", notes)
  end)

  it("draw some of a crowd on logarithmic axes", function ()
    local x = peri.LogNormal(0, 1):sample(9000, peri.rng(1))
    local plot = peri.plot(x, x:flip(1), { log = "x" })
    assert.matches("one of 3 points is drawn", notes_of(plot))
    assert.equal(3000, #mark_of(plot).x)
  end)

  it("keep the last points of a long line", function ()
    local n = 100003
    local mark = mark_of(peri.plot(peri.arange(n), peri.arange(n)))
    assert.equal(0, mark.x[1])
    assert.equal(n - 1, mark.x[#mark.x])
    assert.equal(n - 1, mark.y[#mark.y])
    assert.is_true(#mark.x < n)
  end)
end)

-- A law of vectors with this density and these draws.
local function vectors (size, log_prob, sample)
  local Own = peri.Distribution:extend("Own", { params = {}, event_dim = 1 })
  Own.log_prob, Own.sample = log_prob, sample
  local d = Own()
  d.event_shape = { size }
  return d
end

describe("laws of vectors", function ()
  it("have one shade where their density is infinite", function ()
    local base = peri.MultivariateNormal({ 0, 0 }, peri.eye(2))
    local d = vectors(2, function (_, x)
      return peri.where(x:select(-1, 1):abs():lt(0.3), INF, base:log_prob(x))
    end, function (_, shape, rng) return base:sample(shape, rng) end)
    local plot = peri.plot(d)
    assert.matches("densities above 0%.1%d*, some of them infinite, have one shade", notes_of(plot))
  end)

  it("need draws where there are many dimensions", function ()
    local d = vectors(4, function (_, x) return x:sum(-1) end)
    assert.matches("^plot: Own.* cannot be drawn from, and a picture of 4 dimensions needs draws",
                   refusal_of(peri.plot, d))
  end)

  it("say how many draws are not shown, and where there are none", function ()
    local wide = peri.plot(peri.MultivariateStudentT(1, peri.zeros(3), peri.eye(3)))
    assert.matches("of the draws, %d.* at most lie outside of a panel", notes_of(wide))
    local base = peri.MultivariateNormal(peri.zeros(4), peri.eye(4))
    local d = vectors(4, function (_, x) return base:log_prob(x) end, function (_, shape, rng)
      local x = base:sample(shape, rng)
      x:select(2, 2):copy(NAN)
      return x
    end)
    assert.matches("nothing to draw: there are no finite numbers", notes_of(peri.plot(d)))
  end)
end)

describe("two laws", function ()
  it("whose divergence is found by draws have its error beside it", function ()
    local function law (loc)
      local Own = peri.Distribution:extend("Own" .. loc, { params = {} })
      function Own.log_prob (_, x) return Normal(loc, 1):log_prob(x) end
      function Own.sample (_, shape, rng) return Normal(loc, 1):sample(shape, rng) end
      return Own()
    end
    local value, error = notes_of(peri.plot { law(0), law(1) }) :match "KL%(.-%) = (%S+) %+%- ([%d.e-]+)"
    assert.near(0.5, tonumber(value), 5 * tonumber(error))
  end)

  it("may share an end", function ()
    local mark = mark_of(peri.plot(peri.Uniform(peri.tensor { 0 }, peri.tensor { 2, 4 })))
    for k, x in ipairs(mark.x) do
      if x < 0 then assert.equal(0, mark.y[k]) end
    end
  end)
end)

describe("pictures of nothing", function ()
  it("say so", function ()
    assert.matches("nothing to draw: there are no elements", notes_of(peri.plot(peri.zeros(0, 3))))
  end)
end)

it("steps of axes are round, also of numbers below which the logarithm is rounded", function ()
  local ticks = require "perilune.plot.ticks"
  for _, x in ipairs { 1e-5, 0.999999999999, 1, 1000, 999.9999999999999, 3, 7 } do
    local step = ticks.nice_step(x)
    assert.is_true(step >= x * (1 - 1e-9) and step < 2.5 * x)
    local below = ticks.nice_step(x, true)
    assert.is_true(below <= x * (1 + 1e-9) and below > x / 2.6)
  end
end)
