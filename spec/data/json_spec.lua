--- read_json.
local peri = require "perilune"
local core = require "perilune.core"

local function read (text) return peri.read_json { text = text } end

local function refusal (text)
  local ok, why = pcall(read, text)
  assert.is_false(ok, text)
  return why
end

describe("read_json", function ()
  it("makes tensors of arrays of numbers", function ()
    assert.same({ 1, 2.5, -3e10 }, read "[1, 2.5,\n-3e10]":totable())
    assert.same({ { 1, 2 }, { 3, 4 }, { 5, 6 } }, read "[[1,2],[3,4],[5,6]]":totable())
    assert.same({ 2, 1, 3 }, core.shape(read "[[[1,2,3]],[[4,5,6]]]"))
    assert.same({ 0 }, core.shape(read "[ ]"))
    assert.same({ 1, 0 }, read "[true, false]":totable())
    local d = read "[1, null]"
    assert.is_true(d[2] ~= d[2])
    assert.are.equal(0.30000000000000004, read "[0.30000000000000004]"[1])
  end)

  it("keeps the sign of -0", function ()
    for _, text in ipairs { "-0", "-0.0", " -0e5 " } do assert.equal(-math.huge, 1 / read(text)) end
    assert.equal(-math.huge, 1 / read '{"a": -0}'.a)
    assert.equal(-math.huge, 1 / read '[{"a": -0}, {"a": 1}]'.a[1])
    assert.equal("integer", math.type(read "0"))
  end)

  it("makes tables of objects", function ()
    local d = read '{"J": 8, "rate": 0.5, "y": [28, 8], "who": ["a", "b"], "ok": true, "o": {"z": [1]}, "n": null}'
    assert.are.equal(8, d.J)
    assert.are.equal("integer", math.type(d.J))
    assert.are.equal(0.5, d.rate)
    assert.same({ 28, 8 }, d.y:totable())
    assert.same({ "a", "b" }, d.who)
    assert.is_true(d.ok)
    assert.same({ 1 }, d.o.z:totable())
    assert.is_true(d.n ~= d.n)
    assert.matches("^data: 2 rows, 7 columns\n.*\n  J +number +0 +8\n", tostring(d))
    assert.is_nil(next(read "{}"))
  end)

  it("makes columns of an array of objects", function ()
    local d = read '[{"a": 1, "b": "x", "v": [1, 2]}, {"b": "y", "a": null, "v": [3, 4], "c": 3}]'
    assert.are.equal(1, d.a[1])
    assert.is_true(d.a[2] ~= d.a[2] and d.c[1] ~= d.c[1])
    assert.same({ "x", "y" }, d.b)
    assert.same({ { 1, 2 }, { 3, 4 } }, d.v:totable())
    assert.matches("a .*b .*v .*c ", (tostring(d):gsub("\n", " ")))
  end)

  it("reads strings", function ()
    assert.are.equal('é😀\n\t"\\/\0', read [["\u00e9\uD83D\uDE00\n\t\"\\\/\u0000"]])
    assert.are.equal("\127", read '"\127"')
    for code, bytes in pairs {
      ["0024"] = "$", ["007F"] = "\127", ["0080"] = "\194\128", ["07FF"] = "\223\191", ["0800"] = "\224\160\128",
      D7FF = "\237\159\191", E000 = "\238\128\128", FFFF = "\239\191\191",
    } do assert.are.equal(bytes, read('"\\u' .. code .. '"')) end
    assert.are.equal("\240\144\128\128\244\143\191\191", read [["\ud800\udc00\udbff\udfff"]])
    assert.same({ "a", "" }, read '["a", null]')
  end)

  it("says where something is wrong", function ()
    for text, why in pairs {
      [""] = "line 1, column 1: expected a value, found the end of the text",
      ["[1,2"] = "column 5: expected , or %], found the end",
      ["[1,\n 2,\n x]"] = "line 3, column 2: this is no JSON: x",
      ['{"a":1,}'] = "column 8: expected a key in quotes, found }",
      ['{"a" 1}'] = "column 6: expected :, found 1",
      ['{"a":1,"a":2}'] = "column 8: the key a comes twice",
      ["{a:1}"] = "expected a key in quotes, found a",
      ["[1,]"] = "column 4: this is no JSON: %]", ["[01]"] = "no JSON: 01", ["[1.]"] = "no JSON: 1%.",
      ["[.5]"] = "no JSON", ["[1e]"] = "no JSON: 1e", ["[+1]"] = "no JSON", ["[--1]"] = "no JSON", ["-"] = "no JSON",
      ["[NaN]"] = "no JSON", ["nul"] = "no JSON", ["01"] = "no JSON", ["1.e3"] = "no JSON", ["[1.5.2]"] = "no JSON",
      ["[0x10]"] = "expected , or %]", ["[1 2]"] = "column 4: expected , or %], found 2",
      ["1 2"] = "text after the value",
      ['"abc'] = "column 1: a string that never ends", ['"a\nb"'] = "column 3: a control character",
      [ [["\x"]] ] = "no \\x in JSON", [ [["\u12"]] ] = "four hexadecimal", [ [["\ud800"]] ] = "surrogates",
      [ [["\udc00\ud800"]] ] = "surrogates", ["\255"] = "no UTF%-8",
      ['[1,"a"]'] = "element 2 is string and others are number",
      ["[[1,2],[3]]"] = "element 2 has %(1%) and the first has %(2%)",
      ['[{"a":1},{"a":"x"}]'] = "a of element 2 is string",
      [("["):rep(300)] = "column 201: more than 200",
      [("["):rep(30) .. ("]"):rep(30)] = "more than 16 dimensions",
    } do assert.matches(why, refusal(text)) end
  end)

  it("takes what is deep, and no more", function ()
    local deep = ('{"a":'):rep(200) .. "1" .. ("}"):rep(200)
    assert.are.equal(1, read(deep).a.a.a and 1)
    assert.matches("more than 200", refusal('{"a":' .. deep .. "}"))
  end)

  it("is data for a model", function ()
    local posed = peri.model(function (m, d)
      m.mu = peri.Normal(0, 1)
      m.y = peri.Normal(m.mu, d.sigma):expand(d.J)
    end)(read '{"J": 2, "y": [1, 2], "sigma": [1, 3]}')
    assert.are.equal("number", type(posed:log_joint { mu = 0 }))
  end)
end)

it("empty arrays are read wherever they are", function ()
  local data = read '{ "a": [], "b": [ ], "c": { "d": [\n] } }'
  assert.same({ 0 }, data.a.shape)
  assert.same({ 0 }, data.b.shape)
  assert.same({ 0 }, data.c.d.shape)
  assert.matches("column 7: this is no JSON: ]", (select(2, pcall(read, '["x", ]'))))
end)

it("digits count however many there are", function ()   -- 1 + 2^-53 is halfway to the next number, and rounds to 1
  local halfway = "1.00000000000000011102230246251565404236316680908203125" .. ("0"):rep(1000)
  assert.equal(1, read("[" .. halfway .. "]")[1])
  assert.equal(1 + 2 ^ -52, read("[" .. halfway .. "1]")[1])
end)
