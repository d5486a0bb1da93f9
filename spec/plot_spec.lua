--- Pictures: texts as they are, SVG as XML, and what must hold of any.
local bins       = require "perilune.plot.bins"
local length     = require "perilune.characters".length
local peri       = require "perilune"
local refusal_of = require "spec.support.refusal"
local ticks      = require "perilune.plot.ticks"
local xml        = require "spec.support.xml"

local Normal, INF, NAN = peri.Normal, math.huge, 0 / 0

local EIGHTHS = { ["▁"] = 1, ["▂"] = 2, ["▃"] = 3, ["▄"] = 4, ["▅"] = 5, ["▆"] = 6, ["▇"] = 7, ["█"] = 8 }

-- A picture in forty columns and four rows.
local function small (plot, ascii) return plot:text { width = 40, height = 4, ascii = ascii or false } end

-- Lines without the indentation of a literal, whose first and last line are not of it.
local function lines (literal)
  local indent = literal:match "^\n( *)"
  return (literal:gsub("\n" .. indent, "\n"):gsub("^\n", ""):gsub("\n *$", ""))
end

local function panel_of (plot) return plot.panels[1] end
local function mark_of (plot, i) return plot.panels[1].marks[i or 1] end

local function highest (list)
  local at = 1
  for i = 2, #list do
    if list[i] > list[at] then at = i end
  end
  return at
end

local function sum (list)
  local total = 0
  for _, x in ipairs(list) do total = total + x end
  return total
end


describe("pictures as text", function ()
  it("of a law", function ()
    assert.equal(lines [[

      Normal(loc=0, scale=1)
      density
      0.4 ┤             ⢀⡤⠒⠋⠉⠙⠒⢤⡀
      0.3 ┤           ⣠⠖⠁       ⠈⠲⣄
      0.2 ┤        ⢀⡴⠚⠁           ⠈⠑⢦⡀
      0.1 ┤  ⢀⣀⣀⡤⠴⠚⠁                 ⠈⠓⠦⢤⣀⣀⡀
        0 ┼──────┬──────────┬──────────┬──────
                -2          0          2
    ]], small(peri.plot(Normal(0, 1))))
  end)

  it("of the same in ASCII", function ()
    assert.equal(lines [[

      Normal(loc=0, scale=1)
      density
      0.4 +              *******
      0.3 +            ***     ***
      0.2 +         ***           ***
      0.1 +      ****               ****
        0 +------+----------+----------+------
                -2          0          2
    ]], small(peri.plot(Normal(0, 1)), true))
  end)

  it("of two laws, with both divergences", function ()
    assert.equal(lines [[

      density
      0.4 ┤            ⢀⡖⠉⠳⣄
      0.3 ┤           ⢠⠏   ⠈⢦
      0.2 ┤          ⣰⡃⢀⠠⠐ ⠁⠈⢧⡁⠐⠠⢀
      0.1 ┤    ⡀⢀ ⣀⡤⠞⠁        ⠙⢦⣀⡀⠈⠐ ⠂⠄⡀⢀
        0 ┼┬─────────────┬─────────────┬──────
          -5             0             5
      ⠤⠤⠤⠤ p = Normal(loc=0, scale=1)
      ⠄⠠ ⠄ q = Normal(loc=1, scale=2)
      KL(p || q) = 0.4431, KL(q || p) = 1.307
    ]], small(peri.plot { Normal(0, 1), Normal(1, 2) }))
  end)

  it("of probabilities", function ()
    assert.equal(lines [[

      Poisson(rate=2)
      probability
      0.3 ┤    ▆  ▆
      0.2 ┤ ▃  █  █  ▆
      0.1 ┤ █  █  █  █  ▇  ▃  ▁  ▁  ▁
        0 ┼─┬─────┬─────┬─────┬─────┬─
            0     2     4     6     8
    ]], small(peri.plot(peri.Poisson(2))))
  end)

  it("of a density that goes to infinity, cut off and marked", function ()
    assert.equal(lines [[

      Beta(concentration1=0.5,
      concentration0=0.5)
      density
      3 ┤ ↑⡀                               ⢀↑
      2 ┤  ⠳⣄⡀                           ⢀⣠⠞
      1 ┤    ⠉⠉⠙⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠋⠉⠉
      0 ┼─┬────────────────┬────────────────┬─
          0               0.5               1
      the density goes to infinity where it is
      cut off
    ]], small(peri.plot(peri.Beta(0.5, 0.5))))
  end)

  it("of draws: what is empty looks empty", function ()
    assert.equal(lines [[

      count
      2 ┤███                        ███
        │███                        ███
      1 ┤█████████                  ███
        │█████████                  ███
      0 ┼┬───────────┬───────────┬─────
         0           2           4
    ]], small(peri.hist({ 0.1, 0.15, 0.6, 1.1, 4.8, 4.85 }, { bins = 10, range = { 0, 5 } })))
  end)

  it("of whole numbers, which have a bin each", function ()
    assert.equal(lines [[

      count
      3 ┤           ███
      2 ┤      ███  ███
      1 ┤ ███  ███  ███                 ███
      0 ┼──┬────┬────┬────┬────┬────┬────┬──
           1    2    3    4    5    6    7
    ]], small(peri.hist { 1, 2, 2, 3, 3, 3, 7 }))
  end)

  it("of draws that are all the same, few, or at edges", function ()
    assert.equal(lines [[

      count
      3 ┤          █
      2 ┤          █
      1 ┤          █
      0 ┼──────────┬──────────
                  3.7
    ]], small(peri.hist { 3.7, 3.7, 3.7 }))
    assert.equal(lines [[

      count
      2 ┤███████
        │███████
      1 ┤███████                     ███████
        │███████                     ███████
      0 ┼┬────────────────┬────────────────┬
         0             500000        1000000
    ]], small(peri.hist { 0, 0.1, 1e6 }))
    assert.equal(lines [[

      count
      1 ┤████    ████    ████    ████████
        │████    ████    ████    ████████
        │████    ████    ████    ████████
        │████    ████    ████    ████████
      0 ┼┬───────┬───────┬───────┬──────┬
        0.1     0.2     0.3     0.4   0.5
    ]], small(peri.hist { 0.1, 0.2, 0.3, 0.4, 0.5 }))
  end)

  it("of numbers far from 0, written in full", function ()
    local at, words = ticks.of({ low = 999999998, high = 1000000000.5 }, 6)
    assert.same({ 999999998, 999999998.5, 999999999, 999999999.5, 1000000000, 1000000000.5 }, at)
    assert.same({ "999999998.0", "999999998.5", "999999999.0", "999999999.5", "1000000000.0", "1000000000.5" }, words)
  end)

  it("of many panels, whose titles are whole where there is room", function ()
    local panel = { title = "a site of a posterior", x = {}, y = { at = {} },
                    marks = { { kind = "line", x = { 1, 2 }, y = { 1, 2 }, series = 1 } } }
    local plot = require "perilune.plot".new { panels = { require "perilune.plot.scene".panel(panel) }, notes = {} }
    assert.matches("^a site of a posterior\n", plot:text { width = 21, height = 2, ascii = false })
  end)

  it("of a function on logarithmic axes, which say so", function ()
    assert.equal(lines [[

      log scale
      1000000 ┤                      ⣀⣀⡠⠤⠤⠖⠒⠚⠉
        10000 ┤           ⢀⣀⣀⡤⠤⠴⠒⠒⠋⠉⠉
          100 ┤⣀⣀⣀⣠⠤⠤⠔⠒⠒⠉⠉⠉
            1 ┼┬───┬─────┬────┬────┬─────┬────
               1   2     5   10   20    50
                          log scale
    ]], small(peri.plot(function (x) return x ^ 3 end, 1, 100, { log = "xy" })))
  end)

  it("of points", function ()
    assert.equal(lines [[

      5 ┤•
      4 ┤
      3 ┤                  •
      2 ┤                                    •
        └┬─────────────────┬─────────────────┬
         1                 2                 3
    ]], small(peri.plot({ 3, 1, 2 }, { 2, 5, 3 })))
  end)

  it("of a matrix, its first row above", function ()
    assert.equal(lines [[

      1 ┤    ░░░░▒▒▒▒
        │    ░░░░▒▒▒▒
      2 ┤▓▓▓▓████████
        │▓▓▓▓████████
        └──┬───┬───┬─
           1   2   3
      0 [ ░▒▓█] 5
    ]], small(peri.plot { { 0, 1, 2 }, { 3, 4, 5 } }))
  end)

  it("of nothing", function ()
    assert.matches("nothing to draw: there are no finite\nnumbers$", small(peri.hist {}))
    assert.matches("nothing to draw: there are no points$", small(peri.plot({}, {})))
    assert.matches("nothing to draw: no value is a finite", small(peri.plot(function () return NAN end, 0, 1)))
  end)

  it("in one line", function ()
    assert.equal("▁▂▄█ ▄▂▁", peri.plot { 1, 2, 4, 8, 0, 4, 2, 1 } :spark { ascii = false })
    assert.equal("..:# :..", peri.plot { 1, 2, 4, 8, 0, 4, 2, 1 } :spark { ascii = true })
    assert.equal("█ ▄", peri.hist({ 0, 0, 2 }):spark { ascii = false })
    assert.equal("▂▆", peri.plot(peri.Categorical { 0.25, 0.75 }, { yrange = { 0, 1 } }):spark { ascii = false })
    assert.equal(30, length(peri.plot(Normal(0, 1)):spark { width = 30, ascii = false }))
  end)

  it("in colour, if asked", function ()
    local plot = peri.plot { Normal(0, 1), Normal(3, 1) }
    assert.matches("\27%[38;5;39m.*\27%[38;5;208m", plot:text { colour = true, ascii = false })
    assert.equal(plot:text { width = 60, ascii = false },
                 (plot:text { width = 60, ascii = false, colour = true } :gsub("\27%[[%d;]*m", "")))
    assert.is_nil(tostring(plot):find "\27")
  end)

  it("as wide as the terminal, and in ASCII where there is no UTF-8", function ()
    local getenv, terminal, env = os.getenv, package.loaded["perilune.terminal"], {}
    finally(function ()
      rawset(os, "getenv", getenv)
      package.loaded["perilune.terminal"] = terminal
    end)
    rawset(os, "getenv", function (name) return env[name] end)
    local plot = peri.plot(Normal(0, 1))
    for _, columns in ipairs { 20, 57, 200 } do
      env.COLUMNS = tostring(columns)
      local widest = 0
      for line in tostring(plot):gmatch "[^\n]+" do widest = math.max(widest, length(line)) end
      assert.equal(columns, widest)
    end
    env.COLUMNS = "many"
    assert.equal(plot:text { width = 80 }, tostring(plot))
    local window = { is_terminal = function (fd) return fd == 1 end, size = function () return 50, 24 end }
    package.loaded["perilune.terminal"] = window
    assert.equal(plot:text { width = 50 }, tostring(plot))
    window.is_terminal = function () return false end
    assert.equal(plot:text { width = 80 }, tostring(plot))
    for value, is_ascii in pairs { C = true, POSIX = true, ["de_DE.ISO-8859-1"] = true, ["en_GB.UTF-8"] = false,
                                   ["C.utf8"] = false, [""] = false } do
      env = { LANG = value }
      assert.equal(is_ascii, tostring(plot):find "[\128-\255]" == nil, value)
      env = { LANG = "C", LC_ALL = "en_US.UTF-8" }
      assert.truthy(tostring(plot):find "[\128-\255]")
    end
  end)
end)


describe("pictures", function ()
  it("have their highest point where the mode is", function ()
    for _, d in ipairs { Normal(3, 2), peri.Gamma(3, 2), peri.Cauchy(-7, 0.1), peri.LogNormal(0, 1), peri.Beta(2, 5),
                         peri.Gumbel(1e6, 3), Normal(1e-200, 1e-201),
                         peri.MixtureSameFamily(peri.Categorical { 0.3, 0.7 }, Normal({ -2, 2 }, { 0.01, 1 })) } do
      local mark, mode = mark_of(peri.plot(d)), d:mode()
      local at = highest(mark.y)
      assert.is_true(mark.y[at] > 0.99 * d:prob(mode), tostring(d))
      assert.is_true(mark.x[at - 1] <= mode and mode <= mark.x[at + 1], tostring(d))
    end
  end)

  it("show densities whose area is the mass that is not said to be outside", function ()
    for _, d in ipairs { Normal(3, 2), peri.Exponential(2), peri.Uniform(-1, 4), peri.Cauchy(0, 1), peri.StudentT(2),
                         peri.Triangular(0, 3, 1) } do
      local panel = panel_of(peri.plot(d))
      local x, y, area = panel.marks[1].x, panel.marks[1].y, 0
      for i = 2, #x do area = area + (x[i] - x[i - 1]) * (y[i] + y[i - 1]) / 2 end
      local said = tonumber((panel.notes[1] or "0 %"):match "^([%d.]+) %%")
      assert.near(1 - said / 100, area, 0.006, tostring(d))
    end
  end)

  it("rise where a distribution function is asked for", function ()
    for _, d in ipairs { Normal(0, 1), peri.Beta(0.5, 0.5), peri.Poisson(3), peri.Cauchy(0, 1) } do
      local plot = peri.plot(d, { what = "cdf" })
      local y = mark_of(plot).y
      for i = 2, #y do assert.is_true(y[i] >= y[i - 1]) end
      assert.same({ 0, 1 }, { panel_of(plot).y.low, panel_of(plot).y.high })
      local falling = mark_of(peri.plot(d, { what = "sf" })).y
      assert.near(1, y[7] + falling[7], 1e-12)
    end
  end)

  it("have bars as high as the counts", function ()
    local x = Normal(0, 1):sample(5000, peri.rng(1))
    local mark = mark_of(peri.hist(x))
    assert.equal(5000, sum(mark.heights))
    for i, n in ipairs(mark.heights) do
      local low, high = mark.edges[i], mark.edges[i + 1]
      assert.equal(n, (x:ge(low) * x:lt(high)):sum())
    end
    local bars = {}   -- the blocks of each column, in eighths
    local text = peri.hist(peri.cat { peri.ones(80), peri.full({ 35 }, 2), peri.full({ 1 }, 3) }):text { height = 10,
                                                                                                        ascii = false }
    for line in text:gmatch "[^\n]+" do
      local column = 0
      for character in line:gmatch "[%z\1-\127\194-\244][\128-\191]*" do
        column = column + 1
        local eighths = EIGHTHS[character]
        if eighths then bars[column] = (bars[column] or 0) + eighths end
      end
    end
    local found = {}
    for _, height in pairs(bars) do found[height] = true end
    assert.same({ [96] = true, [42] = true, [1] = true }, found)   -- 80, 35 and 1 of 80, in 96 eighths
  end)

  it("count with weights, between edges, on logarithmic axes", function ()
    local x = peri.tensor { 1, 2, 2.5, 90, 1000 }
    assert.same({ 1, 2, 1 }, bins.count_between(x, { 0, 2, 3, 100 }))
    assert.same({ 3, 1, 0 }, bins.count(x, 0, 270, 3))
    assert.same({ 0.5, 0.25 }, bins.count(peri.tensor { 0, 1, 2, 9 }, 0, 2, 2,
                                          peri.tensor { 0.5, 0.125, 0.125, 0.25 }))
    local log = mark_of(peri.hist(x, { log = "x", bins = 3 }))
    assert.same({ 3, 1, 1 }, log.heights)
    assert.near(10, log.edges[2], 1e-9)
    local densities = mark_of(peri.hist(x, { bins = { 0, 2, 3, 100 } }))
    assert.near(0.1, densities.heights[1], 1e-12)   -- 1 of 5, on 2
    assert.near(0.4, densities.heights[2], 1e-12)
  end)

  it("say what they leave out", function ()
    local plot = peri.hist { 1, 2, NAN, INF, -INF, 3 }
    assert.equal(3, plot.n)
    assert.same({ "left out: 1 nan, 2 infinite of 6" }, panel_of(plot).notes)
    plot = peri.hist(peri.Cauchy(0, 1):sample(100000, peri.rng(1)))
    local mark, said = mark_of(plot), tonumber(panel_of(plot).notes[1]:match "^([%d.]+) %% of the draws outside")
    assert.near(said, 100 - 100 * sum(mark.heights) / 100000, 0.06)
    assert.is_true(mark.edges[1] > -20 and mark.edges[#mark.edges] < 20)
    assert.matches("^5%.3 %% of the mass lies outside$", panel_of(peri.plot(peri.Cauchy(0, 1))).notes[1])
    assert.same({}, panel_of(peri.plot(Normal(0, 1))).notes)
    assert.same({ "values below -20 or above 20 are cut off" }, panel_of(peri.plot(math.tan, 0, 10)).notes)
    assert.same({ "2 of 4 points left out: no finite numbers" },
                panel_of(peri.plot({ 1, 2, 3, 4 }, { 1, NAN, INF, 2 })).notes)
    assert.matches("1 more$", panel_of(peri.plot(Normal(peri.arange(1, 10), 1))).notes[1])
    assert.equal("... and 5992 more", panel_of(peri.plot(Normal(peri.ones(2, 3000), 1))).notes[1])
    assert.equal("of each 10 points the least and the largest are drawn",
                 panel_of(peri.plot(peri.arange(1, 10001))).notes[1])
    local turning = peri.linspace(0, 9, 9000)
    assert.equal("one of 5 points is drawn",
                 panel_of(peri.plot(turning:sin(), turning:cos(), { mark = "line" })).notes[1])
    local gappy = peri.where(peri.arange(1, 10001):eq(77), NAN, peri.arange(1, 10001))
    local y = mark_of(peri.plot(gappy)).y
    assert.same({ 71, 80 }, { y[15], y[16] })   -- the least and the largest of 71 to 80, without 77
    assert.same({ "each cell is the mean of 2 by 1 elements", "left out: the last 1 rows and 0 columns" },
                panel_of(peri.plot(peri.zeros(129, 3))).notes)
    plot = peri.plot(Normal(0, 1):sample(9000, peri.rng(1)), Normal(0, 1):sample(9000, peri.rng(2)))
    assert.equal("9000 points, as counts in 64 by 64 cells", panel_of(plot).notes[1])
    local counted = 0
    for _, row in ipairs(mark_of(plot).values) do counted = counted + sum(row) end
    assert.equal(9000, counted)
  end)

  it("call functions once with a tensor, or with numbers", function ()
    local calls = 0
    local function count (x)
      calls = calls + 1
      return x * x
    end
    local y = mark_of(peri.plot(count, -2, 2)).y
    assert.equal(1, calls)
    assert.same({ 4, 0, 4 }, { y[1], y[201], y[401] })
    assert.near(1, mark_of(peri.plot(math.sin, 0, math.pi)).y[201], 1e-12)
    assert.matches("must return a number, got nil", refusal_of(peri.plot, function () end, 0, 1))
    local heat = mark_of(peri.plot(function (a, b) return a + 10 * b end, { 0, 1 }, { 0, 1 }))
    assert.is_true(heat.values[1][72] < heat.values[72][1])
    assert.same(heat.values[30][40],
                mark_of(peri.plot(function (a, b) return tonumber(a) + 10 * b end, { 0, 1 }, { 0, 1 })).values[30][40])
  end)

  it("interrupt curves that jump from one end to the other", function ()
    local y, gaps = mark_of(peri.plot(math.tan, 0, 10)).y, 0
    for i = 1, #y do gaps = gaps + (y[i] ~= y[i] and 1 or 0) end
    assert.equal(3, gaps)
  end)

  it("of laws in batches and lists have a curve for each", function ()
    assert.equal(3, #panel_of(peri.plot(Normal({ 1, 2, 3 }, 1))).marks)
    local plot = peri.plot({ peri.Gamma(2, 1), Normal({ 0, 1 }, 1) }, { names = { "a", "b" } })
    assert.same({ "a", "b[1]", "b[2]" }, { mark_of(plot).name, mark_of(plot, 2).name, mark_of(plot, 3).name })
    assert.is_nil(small(plot):find("KL", 1, true))
    plot = peri.plot { peri.Poisson(3), peri.Binomial(10, 0.4) }
    assert.same({ 1, 2, 2 }, { mark_of(plot).place, mark_of(plot, 2).place, mark_of(plot).of })
    assert.near(peri.Poisson(3):prob(4), mark_of(plot).heights[5], 1e-15)
    assert.equal("KL(p || q) = inf,  KL(q || p) = 0.2086", panel_of(plot).notes[1])
  end)

  it("of laws of two dimensions are heat maps", function ()
    local plot = peri.plot(peri.MultivariateNormal({ 1, -2 }, { { 1, 0.8 }, { 0.8, 2 } }))
    local mark = mark_of(plot)
    local best, at = -INF, nil
    for j, row in ipairs(mark.values) do
      for i, v in ipairs(row) do
        if v > best then best, at = v, { (mark.xs[i] + mark.xs[i + 1]) / 2, (mark.ys[j] + mark.ys[j + 1]) / 2 } end
      end
    end
    assert.near(1, at[1], 0.1)
    assert.near(-2, at[2], 0.2)
    mark = mark_of(peri.plot(peri.Dirichlet { 2, 3, 4 }))
    assert.is_true(mark.values[72][72] ~= mark.values[72][72])   -- outside of the triangle
    assert.equal(9, #peri.plot(peri.MultivariateNormal(peri.zeros(3), peri.eye(3))).panels)
    assert.equal("bars", mark_of(peri.plot(peri.OneHotCategorical { 0.2, 0.3, 0.5 })).kind)
  end)

  it("draw a law over draws, as a density", function ()
    local x = peri.Gamma(3, 2):sample(2000, peri.rng(1))
    local plot = peri.hist(x, { law = peri.Gamma(3, 2) })
    local bars, line = mark_of(plot), mark_of(plot, 2)
    local area = 0
    for i, height in ipairs(bars.heights) do area = area + height * (bars.edges[i + 1] - bars.edges[i]) end
    assert.near(1, area, 1e-9)
    assert.near(peri.Gamma(3, 2):prob(line.x[100]), line.y[100], 1e-12)
  end)

  it("do not depend on gradients, and leave draws of others alone", function ()
    peri.seed(7)
    local before = Normal(0, 1):sample()
    peri.seed(7)
    local w = peri.param(1)
    peri.plot(Normal(w, 1))
    peri.plot(peri.MultivariateNormal(peri.zeros(2), peri.eye(2)))
    peri.hist(w * peri.tensor { 1, 2, 3 })
    assert.is_nil(w.grad)
    assert.equal(before, Normal(0, 1):sample())
  end)
end)


describe("pairs", function ()
  local figure, new = require "perilune.plot.pairs".figure, require "perilune.plot".new

  it("mark draws of their own kind, with a legend", function ()
    local x, marked = peri.tensor { 0, 1, 2, 3, 4, 4 }, peri.tensor { 0, 1, 0, 0, 1, 1 }
    local plot = figure(new, { x, x * 10 }, { "a", "b" }, false, "pairs", marked, "3 of them")
    local points = plot.panels[3].marks[2]
    assert.same({ { 1, 4, 4 }, { 10, 40, 40 } }, { points.x, points.y })
    assert.equal(lines [[

      pairs
        a
       │             █
       │             █
       │ █  █  █  █  █
       │ █  █  █  █  █
       └─┬─────┬─────┬─
         0     2     4

          b by a             b
      30 ┤       ▒ ×        │              ██
      20 ┤     ▒            │              ██
      10 ┤  ▒               │██  ██  ██  ████
       0 ┤▒ ×               │██  ██  ██  ████
         └┬────┬───┬        └┬───┬───┬───┬───
          0    2   4         0  10  20  30
              a
      × 3 of them
    ]], small(plot))
  end)

  it("of two quantities are larger in text than those of many", function ()
    local x = peri.linspace(0, 1, 50)
    local function height (columns)
      local names = { "a", "b", "c", "d" }
      local text = figure(new, columns, names, false):text { width = 100, ascii = false }
      return select(2, text:gsub("\n", "")) / #columns
    end
    assert.is_true(height { x, x } > height { x, x, x } and height { x, x, x } > height { x, x, x, x })
  end)

  it("of a posterior mark divergent trajectories", function ()
    local posed = peri.model(function (m)
      m.v = Normal(0, 3)
      m.x = Normal(0, peri.exp(m.v / 2)):expand(5)
    end) {}
    local post = posed:nuts { seed = 5, chains = 2, draws = 200, warmup = 100, noncentred = {} }
    local n = post.divergences
    assert.is_true(n > 0)
    local name = string.format("%d divergent trajector%s", n, n == 1 and "y" or "ies")
    for _, of in ipairs { post, peri.load(post:save(), posed) } do
      local plot = of:plot("pairs", { sites = { "v", "x" } })
      local points = plot.panels[6].marks[2]
      assert.equal(n, #points.x)
      local v, at = of:draws().v, 0
      for i, is_divergent in ipairs(of.stats.divergent:reshape(-1):totable()) do
        if is_divergent == 1 then
          at = at + 1
          assert.equal(v[i], points.x[at])
        end
      end
      assert.matches("×", plot:text { width = 100, ascii = false })
      assert.matches("\n× " .. name .. "\n", plot:text { width = 100, ascii = false })
      assert.matches("\nx " .. name .. "\n", plot:text { width = 100, ascii = true })
      local svg = plot:svg()
      assert.is_truthy(xml.parse(svg))
      assert.matches('<path class="l2" [^>]*/>\n<text [^>]*>' .. name .. "<", svg)
      local count = 0
      for path in svg:gmatch '<path class="l2" fill="none"[^>]* d="([^"]*)"' do
        count = count + select(2, path:gsub("h0", ""))
      end
      assert.is_true(count > 0)
    end
    assert.is_nil(peri.plot(peri.Dirichlet { 1, 2, 3 }).legend)
  end)

  it("say what they leave out", function ()
    local x = peri.tensor { 1, 2, NAN, 4 }
    local plot = require "perilune.plot.pairs".figure(require "perilune.plot".new, { x, x * 2 }, { "a", "b" }, false)
    assert.same({ "a: left out: 1 nan of 4", "b: left out: 1 nan of 4" }, plot.notes)
    assert.is_false(plot.panels[2])
    assert.matches("left out", tostring(plot))
  end)
end)


describe("axes", function ()
  it("have ticks within them, with texts that are exact and short", function ()
    for _, ends in ipairs { { 0, 1 }, { -3.09, 3.09 }, { 1e-9, 3e-9 }, { 1e300, 3e300 }, { 1e6, 1e6 + 1 },
                            { -1e308, 1e308 }, { 0.1, 0.10001 }, { 5, 123456 } } do
      local axis = { low = ticks.ends(ends[1], ends[2]), high = select(2, ticks.ends(ends[1], ends[2])) }
      local at, texts = ticks.of(axis, 6)
      assert.is_true(#at >= 2 and #at <= 8)
      for i, x in ipairs(at) do
        assert.is_true(x >= axis.low - 1e-9 * (axis.high - axis.low) and x <= axis.high + 1e-9 * (axis.high - axis.low))
        assert.near(x, tonumber(texts[i]), 1e-6 * (at[2] - at[1]))
      end
    end
    assert.same({ "0", "0.5", "1" }, select(2, ticks.of({ low = 0, high = 1 }, 2)))
    assert.same({ "1e-5", "1", "100000" }, select(2, ticks.of({ low = 1e-5, high = 1e5, log = true }, 2)))
    assert.same({ "2", "5", "10", "20" }, select(2, ticks.of({ low = 2, high = 20, log = true }, 5)))
    assert.same({ "9998000", "10000000", "10002000" }, select(2, ticks.of({ low = 9998000, high = 10002000 }, 2)))
    assert.same({ "0", "2e8", "4e8" }, select(2, ticks.of({ low = 0, high = 4e8 }, 2)))
    assert.same({ 1, 2, 3 }, (ticks.of({ low = 0.5, high = 3.5, integer = true }, 8)))
  end)

  it("write numbers as shortly as tells them apart", function ()
    for text, x in pairs { ["0.25"] = 0.25, ["1000000"] = 1e6, ["2.5e8"] = 2.5e8, ["1e-7"] = 1e-7, ["-0.001"] = -0.001,
                           ["123456"] = 123456, inf = INF, ["0"] = 0, ["1e300"] = 1e300 } do
      assert.equal(text, ticks.text(x))
    end
    assert.equal("nan", ticks.text(NAN))
    assert.equal("3.14", ticks.text(math.pi, 0.005))
    assert.equal("0", ticks.text(-1e-17, 1e-9))
  end)

  it("end where they are told", function ()
    local options = { range = { -5, 9 }, yrange = { 0, 2 }, xlabel = "x", ylabel = "y" }
    local panel = panel_of(peri.plot(Normal(0, 1), options))
    assert.same({ -5, 9, 0, 2, "x", "y" },
                { panel.x.low, panel.x.high, panel.y.low, panel.y.high, panel.x.label, panel.y.label })
  end)
end)


local function contents (path)
  local file = assert(io.open(path))
  local text = file:read "a"
  file:close()
  return text
end


describe("docs/plots.md", function ()
  it("shows what its programs print", function ()
    local n = 0
    for code, shown in contents "docs/plots.md" :gmatch "```lua\n(.-)```\n\n```\n(.-)\n```" do
      local printed
      local env = setmetatable({ print = function (x) printed = x end }, { __index = _G })
      code = code:gsub("height = 6", "height = 6, width = 80, ascii = false")
      assert(load(code, "plots.md", "t", env))()
      assert.equal(shown, type(printed) == "string" and printed or printed:text { width = 80, ascii = false })
      n = n + 1
    end
    assert.equal(2, n)
  end)

  it("has pictures that are drawn so", function ()
    for path, svg in pairs(assert(loadfile "docs/pictures.lua")("compare")) do
      local text = contents(path)
      assert(xml.parse(text))   -- that of a posterior may have other draws
      assert.is_true(text == svg or path:find "pairs" ~= nil, path .. " is not what make docs writes")
    end
  end)
end)


describe("pictures as SVG", function ()
  local plots = {
    law = peri.plot(Normal(0, 1)), pair = peri.plot { Normal(0, 1), Normal(1, 2) }, bars = peri.plot(peri.Poisson(4)),
    groups = peri.plot { peri.Poisson(3), peri.Binomial(10, 0.4) }, pole = peri.plot(peri.Beta(0.5, 0.5)),
    steps = peri.plot(peri.Poisson(3), { what = "cdf" }), line = peri.plot(math.tan, 0, 10),
    points = peri.plot({ 3, 1, 2 }, { 1, 5, 3 }), heat = peri.plot(peri.MultivariateNormal(peri.zeros(2), peri.eye(2))),
    matrix = peri.plot { { 1, -2 }, { NAN, 4 } }, hist = peri.hist { 1, 2, 2, 3 }, nothing = peri.hist {},
    several = peri.hist { peri.ones(3), peri.zeros(2) }, pairs = peri.plot(peri.Dirichlet { 1, 2, 3, 4 }),
    texts = peri.plot({ Normal(0, 1), Normal(1, 1) }, {
      names = { "<&\"'\0\27[31m", "\255\254ü€\237\160\128" }, title = "a\nb<c>&\1", xlabel = "\240\159\153\130",
      ylabel = "\239\191\191]]>",
    }),
  }

  -- Numbers of an attribute are numbers.
  local function check_numbers (element)
    for name, value in pairs(element.attributes) do
      if name == "d" or name == "x" or name == "y" or name == "width" or name == "height" then
        assert.is_nil(value:find "[^%dMLHVhvlz%. %-]", value)
      end
    end
  end

  for name, plot in pairs(plots) do
    it("are XML: " .. name, function ()
      for _, options in ipairs { {}, { theme = "dark" }, { width = 100, height = 60 }, { width = 2000 } } do
        local root, why = xml.parse(plot:svg(options))
        assert(root, why)
        assert.equal("svg", root.name)
        assert.equal("http://www.w3.org/2000/svg", root.attributes.xmlns)
        assert.equal(options.width or tonumber(root.attributes.width), tonumber(root.attributes.width))
        xml.each(root, check_numbers)
      end
    end)
  end

  it("are XML to xmllint as well, if it is there", function ()
    local function runs (command)
      local ok = os.execute(command)
      return ok == true or ok == 0   -- in Lua 5.1
    end
    if not runs "xmllint --version >/dev/null 2>&1" then return end
    local path = os.tmpname()
    os.remove(path)
    for name, plot in pairs(plots) do
      plot:save(path .. ".svg")
      local ok = runs("xmllint --noout " .. path .. ".svg")
      os.remove(path .. ".svg")
      assert.is_true(ok, name)
    end
  end)

  it("know light and dark", function ()
    local svg = plots.law:svg()
    assert.matches("@media %(prefers%-color%-scheme:dark%)", svg)
    for _, theme in ipairs { "light", "dark" } do
      assert.is_nil(plots.law:svg { theme = theme } :find("@media", 1, true))
    end
    assert.not_equal(plots.law:svg { theme = "light" }, plots.law:svg { theme = "dark" })
  end)

  -- Rectangles "M x y h w V base ..." of the path of bars: heights by their left sides.
  local function bars_of (svg, series)
    local found = {}
    xml.each(xml.parse(svg), function (element)
      if element.name == "path" and element.attributes.class == "f" .. series then
        for y, base in element.attributes.d:gmatch "M[%d.-]+ ([%d.-]+)h[%d.-]+V([%d.]+)" do
          found[#found + 1] = tonumber(base) - tonumber(y)
        end
      end
    end)
    return found
  end

  it("have bars in proportion, and none for empty bins", function ()
    local heights = bars_of(peri.hist({ 1, 1, 1, 1, 2, 2, 9 }):svg(), 1)
    assert.equal(3, #heights)
    assert.near(2, heights[1] / heights[2], 0.01)
    assert.near(2, heights[2] / heights[3], 0.01)
  end)

  it("are the same each time", function ()
    for name, plot in pairs(plots) do assert.equal(plot:svg(), plot:svg(), name) end
  end)

  it("name curves beside them, or above where there is no room", function ()
    local svg = peri.plot({ Normal(0, 1), Normal(5, 1) }, { names = { "left", "right" } }):svg()
    assert.matches('class="f1">left<', svg)
    assert.matches('class="f2">right<', svg)
    svg = peri.plot({ Normal(0, 1), Normal(0, 1), Normal(0, 1) }, { names = { "a", ("b"):rep(70), "c" } }):svg()
    assert.matches('class="ink">a<', svg)
  end)

  it("have faint cells that can be told from none", function ()
    local counts = peri.plot(peri.tensor { { 0, 1 }, { 40, 100 } })
    local least = 1
    for opacity in counts:svg():gmatch 'class="heat" fill%-opacity="([%d.]+)"' do
      least = math.min(least, tonumber(opacity))
    end
    assert.is_true(least > 0.12 and least < 0.2)
  end)

  it("write texts as texts", function ()
    local svg = plots.texts:svg()
    assert.matches("&lt;&amp;&quot;'  %[31m", svg)
    assert.matches("a b&lt;c&gt;&amp; ", svg)
    assert.is_nil(svg:find "[%z\1-\8\27]")
    assert.is_nil(plots.texts:text():find "[%z\1-\9\27]")
  end)
end)


describe("the reader of XML", function ()
  it("refuses what is none", function ()
    for text, why in pairs { ["<a>"] = "does not end", ["<a></b>"] = "is open", ["<a b=c/>"] = "bad attributes",
                             ["<a>&x;</a>"] = "entity", ["<a/><b/>"] = "two roots", ["<a>\255</a>"] = "UTF%-8",
                             ["<a b='1' b='2'/>"] = "twice", ["<a>\1</a>"] = "forbidden", [""] = "no element",
                             ["x<a/>"] = "outside", ["<a>& b</a>"] = "entity", ["<a x='<'/>"] = "a < in" } do
      local root, message = xml.parse(text)
      assert.is_nil(root, text)
      assert.matches(why, message)
    end
  end)
end)


describe("calls of plot", function ()
  it("refuse what they cannot draw, and say why", function ()
    for pattern, call in pairs {
      ["plot: there is no option titel; did you mean title%?"] = { Normal(0, 1), { titel = "x" } },
      ["plot: log must be \"x\", \"y\" or \"xy\", got the string \"z\""] = { Normal(0, 1), { log = "z" } },
      ["plot: range must be two finite numbers"] = { Normal(0, 1), { range = { 2, 1 } } },
      ["plot: there is no option bins"] = { { 1, 2 }, { bins = 3 } },
      ["plot: takes a distribution, a posterior, a function or numbers, got 3"] = { 3 },
      ["plot: class Normal is no distribution, but makes them"] = { Normal },
      ["plot: a must be less than b, got 1 and 0"] = { math.sin, 1, 0 },
      ["plot: %l must be a finite number"] = { math.sin },
      ["plot: b must be a finite number, got inf"] = { math.sin, 0, INF },
      ["plot: x must be a vector as long as y, 2, got shape %(3%)"] = { { 1, 2, 3 }, { 1, 2 } },
      ["plot: y must be a vector or a matrix"] = { { 1 }, peri.zeros(1, 1, 1) },
      ["plot%(law, options%) takes no more arguments"] = { Normal(0, 1), 3 },
      ["events of shape %(2%)"] = { { Normal(0, 1), peri.MultivariateNormal(peri.zeros(2), peri.eye(2)) } },
      ["plot: a batch of laws of vectors"] = { peri.MultivariateNormal(peri.zeros(3, 2), peri.eye(2)) },
      ["are matrices, of shape %(2, 2%)"] = { peri.Wishart(3, peri.eye(2)) },
      ["plot: range must hold a whole number"] = { peri.Poisson(3), { range = { 0.2, 0.8 } } },
      ["plot: a batch must have 10000 laws at most, got shape %(20000%)"] = { Normal(peri.zeros(20000), 1) },
      ["positive numbers only, got range = {%-1, 1}"] = { Normal(0, 1), { log = "x", range = { -1, 1 } } },
      ["positive numbers only, and this law has none"] = { peri.Uniform(-2, -1), { log = "x" } },
    } do
      assert.matches(pattern, refusal_of(peri.plot, table.unpack(call)))
    end
    assert.matches("plot: y must be numbers, got a table with names; choose a column",
                   refusal_of(peri.plot, peri.read_csv { text = "a,b\n1,2\n" }))
    assert.matches("hist: x must be numbers, got a table with names", refusal_of(peri.hist, { a = { 1 } }))
    assert.matches("hist: x must be numbers, got Normal%(loc=0, scale=1%); d:sample%(1000%) has some",
                   refusal_of(peri.hist, Normal(0, 1)))
    assert.matches("hist: bins must be an integer from 1 to 1000", refusal_of(peri.hist, { 1 }, { bins = 0 }))
    assert.matches("hist: bins must be", refusal_of(peri.hist, { 1 }, { bins = { 1, 1 } }))
    assert.matches("hist: law must be a distribution", refusal_of(peri.hist, { 1 }, { law = {} }))
    assert.matches("hist%(x, options%) takes no more", refusal_of(peri.hist, { 1 }, {}, 3))
    local plot = peri.hist { 1 }
    assert.matches("Plot:text: width must be an integer from 20", refusal_of(plot.text, plot, { width = 3 }))
    assert.matches("did you mean colour", refusal_of(plot.text, plot, { color = true }))
    assert.matches("Plot:svg: theme must be", refusal_of(plot.svg, plot, { theme = "red" }))
    assert.matches("Plot:save: path must end in .svg or .txt", refusal_of(plot.save, plot, "x.png"))
    assert.matches("Plot:save: .*No such file", refusal_of(plot.save, plot, "/no/such/folder/x.svg"))
  end)

  it("take what fit gives as the law that it found", function ()
    local fit = peri.fit(peri.Gamma, { 1, 2, 4 })
    assert.equal(tostring(peri.plot(fit.distribution)), tostring(peri.plot(fit)))
  end)

  it("take numbers, and functions that are objects", function ()
    assert.equal(1, peri.hist(3).n)
    assert.equal(1, peri.plot(peri.tensor(3)).n)
    local square = setmetatable({}, { __call = function (_, x) return x * x end })
    assert.equal(4, mark_of(peri.plot(square, 0, 2)).y[401])
  end)

  it("draw a law that has a density alone, where they are told", function ()
    local Bump = peri.Distribution:extend("Bump", { params = {}, support = peri.constraints.real })
    Bump.log_prob = function (_, x) return -x * x end
    assert.matches("Bump%(%) has neither icdf nor sample: give range", refusal_of(peri.plot, Bump()))
    local mark = mark_of(peri.plot(Bump(), { range = { -1, 2 } }))
    assert.near(0, mark.x[highest(mark.y)], 0.01)
  end)

  it("are not drawn on after an interruption, or without memory", function ()
    for _, message in ipairs { "interrupted!", "not enough memory" } do
      local calls = 0
      local function f () calls = calls + 1; error(message, 0) end
      assert.has_error(function () peri.plot(f, 0, 1) end, message)
      assert.equal(1, calls)
    end
  end)

  it("refuse what a user's class gives in place of numbers", function ()
    local Own = peri.Distribution:extend("Own", { support = peri.constraints.real,
                                                  params = { { "loc", peri.constraints.real } } })
    function Own.log_prob (_, x) return x * 0 end
    function Own.sample () return 3 end
    local ok, why = pcall(peri.plot, Own(0))
    assert.is_false(ok)
    assert.matches("plot: Own:sample must give a number for each of 4000 places, got 3$", why)
  end)

  it("pass on what a function of the user's raises", function ()
    local ok, why = pcall(peri.plot, function () error "mine" end, 0, 1)
    assert.is_false(ok)
    assert.matches("plot_spec.lua:%d+: mine$", why)
  end)

  it("save by the ending of a name", function ()
    local path = os.tmpname()
    os.remove(path)
    local plot = peri.hist({ 1, 2 })
    assert.equal(plot, plot:save(path .. ".svg"))
    plot:save(path .. ".TXT", { width = 30, ascii = true })
    finally(function ()
      os.remove(path .. ".svg")
      os.remove(path .. ".TXT")
    end)
    assert.equal(plot:svg(), contents(path .. ".svg"))
    assert.equal(plot:text { width = 30, ascii = true } .. "\n", contents(path .. ".TXT"))
  end)

  it("work where there is neither io nor os", function ()
    local kept_io, kept_os, loaded = io, os, {}
    for name, module in pairs(package.loaded) do
      if name:find "^perilune%.plot" then loaded[name], package.loaded[name] = module, nil end
    end
    finally(function ()
      rawset(_G, "io", kept_io)
      rawset(_G, "os", kept_os)
      for name, module in pairs(loaded) do package.loaded[name] = module end
    end)
    rawset(_G, "io", nil)
    rawset(_G, "os", nil)
    local plot = require "perilune.plot".plot(Normal(0, 1))
    local text, svg, refused = tostring(plot), plot:svg(), refusal_of(plot.save, plot, "x.svg")
    assert.matches("⠉", text)
    assert.matches("^<svg", svg)
    assert.matches("there is no io library here", refused)
  end)

  it("survive extremes", function ()
    local lists = { { 1 }, { NAN }, { INF, -INF }, { 1, 1, 1 }, { 1e300, -1e300 }, { 1.7e308, -1.7e308 }, { 5e-324 },
                    { 0, 1e-320 }, { 1e16, 1e16 + 2 }, { 0, 0, 0, 0, 0, 1 }, { 1e-300, 1e300 },
                    { 1.5, 1.5, 1.5, 1e300 } }
    local function check (plot)
      for _, panel in ipairs(plot.panels) do
        for _, axis in ipairs { panel.x, panel.y } do
          assert.is_true(axis.low < axis.high and axis.high - axis.low < INF)
        end
      end
      assert.truthy(length(plot:text { width = 20, height = 1, ascii = true }))
      assert.truthy(length(plot:text { ascii = false }))
      assert.truthy(length(plot:spark()))
      assert(xml.parse(plot:svg()))
    end
    for _, list in ipairs(lists) do
      for _, log in ipairs { false, "x", "y", "xy" } do
        local options = log and { log = log } or {}
        check(peri.hist(list, options))
        check(peri.plot(list, options))
        check(peri.plot(list, list, { log = log or nil, mark = "points" }))
      end
      check(peri.hist(list, { bins = 7 }))
      check(peri.plot { list, list })
    end
    for _, d in ipairs { peri.Poisson(1e15), peri.Geometric(1e-20), peri.DiscreteUniform(-1e300, 1e300),
                         Normal(1e308, 1), Normal(0, 1e300), Normal(0, 1e-300), peri.LogNormal(1e300, 1),
                         peri.Gamma(1e-5, 1), peri.Delta(3), peri.StudentT(0.01), peri.Binomial(1e300, 0.5),
                         peri.Dirichlet { 0.1, 0.1, 0.1 } } do
      for _, what in ipairs { "prob", "cdf", "log_prob" } do
        check(#d.event_shape > 0 and peri.plot(d) or peri.plot(d, { what = what }))
      end
    end
    check(peri.plot(function (x) return 1e300 * x end, -1e308, 1e308))
  end)

  it("have shades and ticks where differences overflow, or nearly vanish", function ()
    local svg = peri.plot { { 1.7e308, 0, -1.7e308 } }:svg()
    assert.matches(">1.7e308<", svg)
    assert.matches(">-1.7e308<", svg)
    assert.equal(2, select(2, svg:gsub('fill%-opacity="0.54"', "")))   -- of 0, and of the middle of the scale
    assert.truthy(peri.plot { { 5e-324 }, { 0 } }:svg())
    local axis = { low = 1e16, high = 1e16 + 8, log = true }
    assert.same({ 0, 0.5, 1 }, { ticks.place(axis, 1e16), ticks.place(axis, 1e16 + 4), ticks.place(axis, 1e16 + 8) })
  end)

  it("do not loop over draws in Lua", function ()
    local x, met = Normal(0, 1):sample(1000000, peri.rng(1)), 0
    debug.sethook(function () met = met + 1 end, "l")
    local text = tostring(peri.hist(x)) .. tostring(peri.plot(x, -x)) .. tostring(peri.plot(x))
    debug.sethook()
    assert.is_true(#text > 0 and met < 1000000, met)   -- for 3e6 draws
  end)
end)


describe("pictures of posteriors", function ()
  local model = peri.model(function (m, d)
    m.mu    = Normal(0, 5)
    m.theta = Normal(m.mu, 1):expand(3)
    m.y     = Normal(m.theta, d.sigma)
  end)
  local posed = model { y = { 1, 2, 3 }, sigma = { 1, 1, 1 } }
  local post = posed:nuts { chains = 2, draws = 300, warmup = 300, seed = 1 }

  it("show sites, traces, ranks and pairs", function ()
    local plot = peri.plot(post)
    assert.equal("marginals", plot.kind)
    assert.equal(2, #plot.panels)
    assert.equal(600, sum(mark_of(post:plot "mu").heights))
    assert.matches("^mu, median", panel_of(post:plot "mu").x.label)
    assert.same({ "theta[1]", "theta[2]", "theta[3]" }, panel_of(post:plot "theta").y.texts)
    local row = mark_of(post:plot "theta").rows[2]
    assert.is_true(row.outer[1] < row.inner[1] and row.inner[1] < row.middle and row.middle < row.inner[2])
    assert.near(post:quantile(0.5).theta[2], row.middle, 1e-12)
    plot = post:plot("trace", { sites = { "mu" } })
    assert.equal(2, #panel_of(plot).marks)
    assert.same(post:draws().mu:narrow(1, 301, 300):totable(), mark_of(plot, 2).y)
    plot = post:plot "ranks"
    assert.equal(8, #plot.panels)
    for _, panel in ipairs(plot.panels) do assert.equal(300, sum(panel.marks[1].heights)) end
    for i = 1, 15 do
      local both = plot.panels[1].marks[1].heights[i] + plot.panels[2].marks[1].heights[i]
      assert.near(40, both, 2)   -- equal draws share a rank
    end
    plot = post:plot "pairs"
    assert.equal(16, #plot.panels)
    assert.is_false(plot.panels[2])
    local counted = 0
    for _, line in ipairs(plot.panels[5].marks[1].values) do counted = counted + sum(line) end
    assert.is_true(counted > 590)
    for _, what in ipairs { "mu", "theta", "trace", "ranks", "pairs" } do
      assert(xml.parse(post:plot(what):svg()))
      for line in post:plot(what):text { width = 80, ascii = false } :gmatch "[^\n]+" do
        assert.is_true(length(line) <= 80)
      end
    end
  end)

  it("count with weights", function ()
    local vi = posed:vi { seed = 1 }
    assert.near(1, sum(mark_of(vi:plot "mu").heights), 0.01)
    assert.equal("share", panel_of(vi:plot "mu").y.label)
    assert.equal(4, #vi:plot("pairs", { sites = { "mu" } }).panels + 3)
  end)

  it("are texts too", function ()
    assert.matches("^look: .*median", "look: " .. post:plot "mu")
  end)

  it("refuse what there is not", function ()
    assert.matches("plot: there is no site nu; did you mean mu%?", refusal_of(post.plot, post, "nu"))
    assert.matches("there is no site nu", refusal_of(post.plot, post, "trace", { sites = "nu" }))
    assert.matches("traces are of Markov chains, and this posterior has none",
                   refusal_of(post.plot, posed:laplace { seed = 1 }, "trace"))
    assert.matches("what must be the name of a site", refusal_of(post.plot, post, 3))
    assert.matches("there is no option bins", refusal_of(post.plot, post, "trace", { bins = 3 }))
  end)
end)
