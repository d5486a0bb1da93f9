--- Printing: a shape on the first line, aligned columns below, as wide as the window (80 columns in a pipe).
local peri = require "perilune"
local show = require "perilune.show"

describe("tostring of a tensor:", function ()
  local width = show.width
  setup(function () show.width = function () return 60 end end)
  teardown(function () show.width = width end)

  local cases = {
    { "a number alone", peri.tensor(3.25), "Tensor() 3.25" },
    { "fourteen digits of a number", peri.tensor(1 / 3), "Tensor() 0.33333333333333" },
    { "one line", peri.tensor { 1, 2.5, -3 }, "Tensor(3)\n    1  2.5   -3" },
    { "nothing", peri.zeros(0), "Tensor(0)" },
    { "no rows of three", peri.zeros(0, 3), "Tensor(0, 3)" },
    { "a matrix", peri.tensor { { 1, 2.5 }, { 3, -4 } }, "Tensor(2, 2)\n    1  2.5\n    3   -4" },
    { "a view", peri.tensor { { 1, 2 }, { 3, 4 } }:transpose(), "Tensor(2, 2)\n  1  3\n  2  4" },
    { "five digits", peri.tensor { 1 / 3, 1e-10, 0.1 }, "Tensor(3)\n  0.33333    1e-10      0.1" },
    { "whole numbers in full", peri.tensor { 100000, 100001, 123456789 },
      "Tensor(3)\n     100000     100001  123456789" },
    { "whole numbers too long for that", peri.tensor { 1e300, 1 }, "Tensor(2)\n  1e+300       1" },
    { "a digit behind the point of large numbers", peri.tensor { 250000.5, 1.5 }, "Tensor(2)\n  250000.5       1.5" },
    { "neighbours in a row differ", peri.tensor { 1.0000001, 1.0000002 }, "Tensor(2)\n  1.0000001  1.0000002" },
    { "neighbours in a column differ", peri.tensor { { 0.5 }, { 0.5 + 2.0 ^ -52 } },
      "Tensor(2, 1)\n                 0.5\n  0.5000000000000002" },
    { "others may look alike", peri.tensor { 1.0000001, 2, 1.0000002 }, "Tensor(3)\n  1  2  1" },
    { "infinities", peri.tensor { math.huge, -math.huge }, "Tensor(2)\n   inf  -inf" },
    { "NaN of either sign", peri.tensor { 0 / 0, -(0 / 0) }, "Tensor(2)\n  nan  nan" },
    { "a long line goes on below", peri.arange(20),
      "Tensor(20)\n   [1]  0   1   2   3   4   5   6   7   8   9  10  11  12\n  [14] 13  14  15  16  17  18  19" },
    { "of more than a thousand the middle is left out", peri.arange(1001),
      "Tensor(1001)\n     0     1     2     3   ...   997   998   999  1000" },
    { "many columns come in blocks", peri.full({ 2, 8 }, 12345.5),
      "Tensor(2, 8)\ncolumns 1 to 6\n" .. ("  12345.5  12345.5  12345.5  12345.5  12345.5  12345.5\n"):rep(2)
      .. "columns 7 to 8\n  12345.5  12345.5\n  12345.5  12345.5" },
    { "parameters say so", peri.param { 1, 2 }, "Tensor(2) param\n  1  2" },
    { "a parameter of one number, too", peri.param(3), "Tensor() param 3" },
    { "what is computed from one is none", peri.param(3) * 2, "Tensor() 6" },
    { "matrices under their indices", peri.arange(8):reshape(2, 2, 2),
      "Tensor(2, 2, 2)\n[1, :, :]  [2, :, :]\n  0  1       4  5\n  2  3       6  7" },
    { "rank 4", peri.arange(4):reshape(2, 2, 1, 1),
      "Tensor(2, 2, 1, 1)\n[1, 1, :, :]  [1, 2, :, :]\n  0             1\n"
      .. "[2, 1, :, :]  [2, 2, :, :]\n  2             3" },
  }
  for _, case in ipairs(cases) do
    it(case[1], function () assert.equal(case[3], tostring(case[2])) end)
  end

  local function lines_of (t)
    local lines = {}
    for line in tostring(t):gmatch "[^\n]+" do lines[#lines + 1] = line end
    return lines
  end

  it("a thousand elements are all there, within the window", function ()
    for _, t in ipairs { peri.linspace(-1, 1, 1000), peri.linspace(-1, 1, 1000):reshape(10, 100),
                         peri.linspace(-1, 1, 1000):reshape(5, 4, 5, 10) } do
      local text, n = tostring(t), 0
      assert.is_nil(text:find("...", 1, true))
      for _, line in ipairs(lines_of(t)) do
        assert.is_true(#line <= 60)
        if line:find "^  " then n = n + select(2, line:gsub("^ +%[%d+%]", ""):gsub("%S+", "")) end
      end
      assert.equal(1000, n)
    end
  end)

  it("many rows are cut in the middle, and columns where the window ends", function ()
    local lines = lines_of(peri.zeros(1000, 2))
    assert.equal(10, #lines)
    assert.equal("  ...  ...", lines[6])
    lines = lines_of(peri.linspace(0, 1, 10000):reshape(100, 100))
    assert.equal(10, #lines)
    for _, line in ipairs(lines) do assert.is_true(#line <= 60) end
  end)

  it("of many matrices the first and last are shown", function ()
    local text = tostring(peri.zeros(50, 50, 2, 2))
    local _, heads = text:gsub("%[%d", "")
    assert.equal(6, heads)
    assert.matches("\n%.%.%.\n%[50, 48, :, :%]", text)
  end)

  it("elements that exist only by repetition cost nothing", function ()
    assert.matches("^Tensor%(1099511627776%)", tostring(peri.ones(1):expand(1 << 40)))
    assert.matches("^Tensor%(1048576, 1048576%)", tostring(peri.ones(1, 1):expand(1 << 20, 1 << 20)))
  end)
end)

describe("a number that is nan prints without a sign:", function ()
  local calls = {
    ["a mean that is not there"] = function () return peri.Cauchy(0, 1):mean() end,
    ["a function of a number"]   = function () return peri.log(-1) end,
    ["an element"]               = function () return (peri.tensor { math.huge } - math.huge)[1] end,
    ["a list"]                   = function () return (peri.tensor { math.huge } - math.huge):totable()[1] end,
    ["a reduction"]              = function () return peri.tensor { math.huge, -math.huge }:sum() end,
    ["a divergence"]             = function ()
      return peri.kl_divergence(peri.Normal(0, 1), peri.Normal { loc = 0 / 0, scale = 1, validate = false })
    end,
  }
  for name, call in pairs(calls) do
    it(name, function () assert.equal("nan", tostring(call())) end)
  end
end)
