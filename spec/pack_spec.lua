--- Values as strings, and back.
local peri = require "perilune"

describe("pack and unpack", function ()
  it("keep values to the last bit", function ()
    local value = { 0.1, -0.0, math.huge, 7, "text\0", true, t = peri.tensor { { 0.1, 1e-310 } },
                    nested = { {}, { a = 1 } } }
    local back = peri.unpack(peri.pack(value))
    assert.equal(0.1, back[1])
    assert.equal(-math.huge, 1 / back[2])
    assert.equal("integer", math.type(back[4]))
    assert.same({ math.huge, 7, "text\0", true }, { table.unpack(back, 3, 6) })
    assert.same({ { 0.1, 1e-310 } }, back.t:totable())
    assert.same({ {}, { a = 1 } }, back.nested)
    assert.equal(5, peri.unpack(peri.pack(peri.param(5))))
  end)

  it("keep what occurs again as copies", function ()
    local row, rows = { 1, 2, 3 }, {}
    for i = 1, 1000 do rows[i] = row end
    local back = peri.unpack(peri.pack(rows))
    assert.equal(1000, #back)
    assert.same(row, back[1000])
    assert.is_false(rawequal(back[1], back[2]))
  end)

  it("take an optimiser, a generator and a fit over", function ()
    local w, rng = peri.param { 1, 2 }, peri.rng(3)
    local opt = peri.optim.Adam(w)
    local function step ()
      opt:zero_grad()
      peri.square(w - rng:normal(2)):sum():backward()
      opt:step()
    end
    step()
    local saved = peri.pack { w = w, rng = rng:state(), opt = opt:state() }
    step()
    local after = w:detach():totable()
    local back = assert(peri.unpack(saved))
    w:copy(back.w)
    rng:restore(back.rng)
    opt:restore(back.opt)
    step()
    assert.same(after, w:detach():totable())
  end)

  it("refuse what cannot be kept", function ()
    local circle = {}
    circle[1] = circle
    assert.error_matches(function () peri.pack(circle) end, "save: tables must not be nested deeper than 49")
    local doubled = {}
    for _ = 1, 40 do doubled = { doubled, doubled } end
    assert.error_matches(function () peri.pack(doubled) end, "save: tables that occur more than once must not have")
    assert.error_matches(function () peri.pack { [1.5] = 1 } end, "save: keys must be strings or integers, got 1.5")
    assert.error_matches(function () peri.pack { print } end, "save: cannot keep a function")
    assert.error_matches(function () peri.pack(1, 2) end, "takes no more arguments")
  end)

  it("refuse what was changed", function ()
    local text = peri.pack { 1, 2, "three" }
    for i = 1, #text do
      local byte = text:byte(i)
      local changed = text:sub(1, i - 1) .. string.char(byte % 2 == 0 and byte + 1 or byte - 1) .. text:sub(i + 1)
      local value, why = peri.unpack(changed)
      assert.is_nil(value)
      assert.is_string(why)
      assert.is_nil((peri.unpack(text:sub(1, i - 1))))
    end
    assert.is_nil((peri.unpack(3)))
  end)
end)
