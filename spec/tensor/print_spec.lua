--- Printing: a shape on the first line, aligned columns below.
local peri = require "perilune"

describe("tostring of a tensor:", function ()
  local cases = {
    { "a number alone", peri.tensor(3.25), "Tensor() 3.25" },
    { "fourteen digits of a number", peri.tensor(1 / 3), "Tensor() 0.33333333333333" },
    { "one line", peri.tensor { 1, 2.5, -3 }, "Tensor(3)\n    1  2.5   -3" },
    { "nothing", peri.zeros(0), "Tensor(0)" },
    { "no rows of three", peri.zeros(0, 3), "Tensor(0, 3)" },
    { "a matrix", peri.tensor { { 1, 2.5 }, { 3, -4 } }, "Tensor(2, 2)\n    1  2.5\n    3   -4" },
    { "a view", peri.tensor { { 1, 2 }, { 3, 4 } }:transpose(), "Tensor(2, 2)\n  1  3\n  2  4" },
    { "five digits", peri.tensor { 123456789, 1e-10, 0.1 }, "Tensor(3)\n  1.2346e+08       1e-10         0.1" },
    { "infinities", peri.tensor { math.huge, -math.huge }, "Tensor(2)\n   inf  -inf" },
    { "NaN of either sign", peri.tensor { 0 / 0, -(0 / 0) }, "Tensor(2)\n  nan  nan" },
    { "a long line", peri.arange(30), "Tensor(30)\n    0    1    2    3  ...   26   27   28   29" },
    { "ten are not long", peri.ones(10), "Tensor(10)\n  1  1  1  1  1  1  1  1  1  1" },
    { "matrices under their indices", peri.arange(8):reshape(2, 2, 2),
      "Tensor(2, 2, 2)\n[1, :, :]\n  0  1\n  2  3\n[2, :, :]\n  4  5\n  6  7" },
    { "rank 4", peri.arange(4):reshape(2, 2, 1, 1),
      "Tensor(2, 2, 1, 1)\n[1, 1, :, :]\n  0\n[1, 2, :, :]\n  1\n[2, 1, :, :]\n  2\n[2, 2, :, :]\n  3" },
  }
  for _, case in ipairs(cases) do
    it(case[1], function () assert.equal(case[3], tostring(case[2])) end)
  end

  it("many rows are cut in the middle", function ()
    local lines = {}
    for line in tostring(peri.zeros(100, 2)):gmatch "[^\n]+" do lines[#lines + 1] = line end
    assert.equal(10, #lines)
    assert.equal("  ...  ...", lines[6])
  end)

  it("many matrices are cut after six", function ()
    local _, heads = tostring(peri.zeros(9, 1, 1)):gsub("%[%d", "")
    assert.equal(6, heads)
    assert.matches("\n%.%.%.$", tostring(peri.zeros(9, 1, 1)))
    assert.is_true(#tostring(peri.zeros(50, 50, 2, 2)) < 400)
  end)

  it("six matrices are all there", function ()
    assert.is_nil(tostring(peri.zeros(6, 1, 1)):find("...", 1, true))
  end)

  it("elements that exist only by repetition cost nothing", function ()
    assert.matches("^Tensor%(1099511627776%)", tostring(peri.ones(1):expand(0x10000000000)))
    assert.matches("^Tensor%(1048576, 1048576%)", tostring(peri.ones(1, 1):expand(0x100000, 0x100000)))
  end)
end)
