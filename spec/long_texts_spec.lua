--- Long texts are read, shown and looked up in a time like their length. No hook interrupts a pattern: one that takes
-- time as the square of a million bytes would not end while these specs run.
local peri       = require "perilune"
local characters = require "perilune.characters"

local LONG = 1000000

local name, blanks = ("x"):rep(LONG), (" "):rep(LONG)

local function refusal (fn, ...)
  local ok, why = pcall(fn, ...)
  assert.is_false(ok)
  return why
end

describe("long texts", function ()
  it("end where their blanks begin", function ()
    assert.equal("", characters.trim_end "")
    assert.equal("", characters.trim_end(blanks))
    assert.equal(" a\n b", characters.trim_end " a\n b \t\r\n ")
    assert.equal("\226\160\160", characters.trim_end "\226\160\160 ")   -- 160 is a blank in Latin-1
    assert.equal(name .. blanks .. name, characters.trim_end(name .. blanks .. name .. blanks))
  end)

  it("are refused by read_json, with their column", function ()
    local why = refusal(peri.read_json, { text = '{"a":[' .. ("1,"):rep(LONG) })
    assert.matches("line 1, column 2000007: expected a value", why)
    assert.matches("line 3, column 3: expected a value", refusal(peri.read_json, { text = "[1,\n2,\n3," }))
  end)

  it("are names of columns and of families", function ()
    assert.matches("\n  xxx", tostring(peri.read_csv { text = name .. "\n1" }))
    assert.matches("^  name", tostring(peri.describe { [name] = { 1, 2 } }))
    assert.matches("Gumbel", tostring(peri.fit({ peri.Normal:extend(name), peri.Gumbel }, { 1, 2, 3, 4 })))
  end)

  it("have no help", function ()
    for _, text in ipairs { name .. ".", name .. ":" .. name, ("."):rep(LONG), ("("):rep(LONG), ("{"):rep(LONG) } do
      assert.is_nil(peri.help.entry(text))
      assert.matches("help: there is no entry for", refusal(peri.help, text))
    end
    assert.is_nil(peri.help.entry(setmetatable({}, { __name = name .. "." })))
    assert.equal("Model", peri.help.entry(setmetatable({}, { __name = "my posed model" })).name)
    assert.equal(peri.help "Normal:cdf", peri.help.entry "Normal(0, (1)):cdf(2)")
  end)

  it("are shown", function ()
    local readable = require "perilune.readable"
    assert.equal('"' .. blanks .. '."', readable.line(blanks .. "."))
    local lines = setmetatable({}, { __tostring = function () return "a \n\n  b\n c" end })
    assert.equal("a b c", readable.line(lines))
    for line in tostring(peri.plot({ 1, 2, 3 }, { title = "a" .. blanks .. "b" })):gmatch "[^\n]+" do
      assert.is_nil(line:find(" ", -1, true))
    end
  end)

  it("are asked about at the prompt", function ()
    local ask = require "perilune.repl.ask"
    local _, why = ask.about("qqq" .. blanks .. ":", function () end)
    assert.matches("^nothing is known about qqq ", why)
    assert.matches("^peri.Gamma", (ask.about("  Gamma(1, 2) ", function () end)))
  end)
end)
